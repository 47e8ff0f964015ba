#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The agentless recorder: what it sends, under which shells, and what ib-capture --root - takes and refuses.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
mkdir tmp && TMPDIR=$T/tmp && export TMPDIR
path=$PATH

ok "the recorder is printed" ib-capture --recorder
cp "$T/.out" rec.sh
if command -v shellcheck > /dev/null; then
    ok "shellcheck finds nothing" shellcheck -s sh rec.sh
else
    skip "shellcheck finds nothing" "shellcheck is not installed"
fi

# --- the list is the collectors' ---
ok "every file that a collector may read is in it, but for the recorder's own process and the mounts" python3 -c '
import json, subprocess, re
lines = open("rec.sh").read().split("\n")
there = {l.split()[1] for l in lines if re.match(r" +each /", l)} | {l.split()[1] + "/**" for l in lines if re.match(r" +below /", l)}
listed = {p for c in json.loads(subprocess.check_output(["ib-capture", "--list", "--json"])) for p in c["reads"] if p.startswith("/")}
left_out = {p for p in listed if p == "/proc/mounts" or p.startswith("/proc/self/")}
assert there == listed - left_out | {"/etc/machine-id", "/proc/sys/kernel/random/boot_id"}, there ^ listed'
ok "so is every allowed variable" python3 -c '
import json, subprocess
text = open("rec.sh").read().replace("\\\n", "").replace("\n", " ")
arms = {w.rstrip(")") for w in text.replace("|", " ").split()}
for c in json.loads(subprocess.check_output(["ib-capture", "--list", "--json"])):
    for r in c["reads"]:
        if r.startswith("environ(7): ") or r.startswith("environ(7), presence: "):
            n = r.split(": ")[1]
            assert n + "*" * n.endswith("_") in arms, n'

# --- a recording describes this machine as the machine does itself ---
cat > facts.py <<'EOF'
import json, sys
c = json.load(open(sys.argv[1]))
o = [c["node"], c["boot"]]
for k, v in c["collectors"].items():
    if k in ("os", "kernel", "cpu", "topology", "memory"):
        drop = {"xml_sha256", "available_bytes", "free_bytes", "cached_bytes", "dirty_bytes", "swap_free_bytes", "huge_pages_free"}
        o.append((k, v["status"], {a: b for a, b in v["data"].items() if a not in drop}, {a: b["status"] for a, b in v["missing"].items() if a not in drop}))
print(json.dumps(o, sort_keys=True))
EOF
ib-capture -o live.json
record() { # SHELL [LIMIT]
    # shellcheck disable=SC2086
    env -i PATH="$path" TMPDIR="$TMPDIR" NCCL_DEBUG=INFO VLLM_API_KEY=canary-one-11111 HF_TOKEN=hf_canarytwocanarytwocanarytwo FOO=canary-three \
        http_proxy=http://user:canary-four@proxy:1 CUDA_VISIBLE_DEVICES=0 VLLM_apikey=canary-five MULTI="a
CUDA_FAKE=canary-six" $1 -s ${2:+-- $2} < rec.sh
}
for sh in dash "busybox sh" bash sh; do
    # shellcheck disable=SC2086
    command -v ${sh%% *} > /dev/null || { skip "recorded by $sh" "there is no ${sh%% *}"; continue; }
    record "$sh" > node.tar 2> node.err
    is "$sh says nothing else" "$(cat node.err)" ""
    ib-capture --root - < node.tar > got.json
    is "and the capture is the machine's own" "$(python3 facts.py got.json)" "$(python3 facts.py live.json)"
done
is "the recorder left nothing behind" "$(ls -A tmp)" ""
for canary in one two three four five six; do
    ok "canary $canary is not sent" sh -c '! grep -aq "canary-*$1" node.tar' _ "$canary"
done
if unshare -u true 2> /dev/null; then
    unshare -u sh -c 'echo canary-host > /proc/sys/kernel/hostname && exec env -i PATH="$PATH" TMPDIR="$TMPDIR" HOSTNAME=canary-host sh -s < rec.sh' > host.tar
    ok "nor is the host's name" sh -c 'ib-capture --root - --only os < host.tar && ! grep -aq canary-host host.tar'
else
    skip "nor is the host's name" "this needs the right to set one"
fi
ok "allowed variables are, and what was not sent is unsupported" python3 -c '
import json
e = json.load(open("got.json"))["collectors"]["environment"]
assert e["data"]["values"] == {"CUDA_VISIBLE_DEVICES": "0", "NCCL_DEBUG": "INFO"}, e
assert e["data"]["present"] == ["http_proxy"] and e["data"]["others"] is None and e["missing"]["others"]["status"] == "unsupported"'
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "it fits the schema" python3 -c '
import json, jsonschema, sys
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open("got.json")))' "$IB_SRCDIR/schemas/capture-v1.schema.json"
else
    skip "it fits the schema" "python3-jsonschema is not installed"
fi

# --- what cannot be read ---
mkdir bin && printf '#!/bin/sh\nexit 1\n' > bin/cp
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase $1 in\n/proc/meminfo) echo "cat: $1: Permission denied" >&2; exit 1 ;;\n/proc/stat) echo "cat: $1: Input/output error" >&2; exit 1 ;;\nesac\nexec %s "$@"\n' "$(command -v cat)" > bin/cat
chmod +x bin/cp bin/cat
path=$T/bin:$PATH
record sh > poor.tar
ib-capture --root - < poor.tar > poor.json
ok "says why, leaf by leaf" python3 -c '
import json
c = json.load(open("poor.json"))["collectors"]
assert c["memory"]["missing"]["total_bytes"] == {"status": "denied", "errno": "EACCES"}, c["memory"]["missing"]
assert c["load"]["missing"]["ticks/user"] == {"status": "error", "errno": "EIO"}
assert c["cpu"]["data"]["models"]'
printf '#!/bin/sh\nexec sleep 60\n' > bin/cp
start=$(date +%s)
record sh 1 > hung.tar 2> /dev/null
is "a read that hangs ends the recorder at its limit" "$([ $(($(date +%s) - start)) -lt 20 ] && echo soon)" soon
is "with nothing sent and nothing left behind" "$(cat hung.tar; ls -A tmp)" ""
rm bin/cp && mkdir few && for t in sh cat rm mkdir sed env od tr sleep uname cp find sort; do ln -s "$(command -v $t)" few/; done
path=$T/few
record sh > none.tar 2> none.err
is "a machine without tar" "$(cat none.err)" "ib-record-node: 'tar' is missing on this machine"
path=$PATH
head -c 4000 rec.sh > part.sh
is "half a script does nothing" "$(sh -s < part.sh 2> /dev/null; ls -A tmp)" ""

# --- what comes in ---
{ printf 'Welcome to node 7\r\nLast login: today\n'; cat node.tar; } > banner.tar
ok "a login's greeting is passed over" sh -c 'ib-capture --root - --only os < banner.tar'
ok "a plain tar of a recording" sh -c 'ib-capture --record machine --only os -o a.json && tar -cf - -C machine . | ib-capture --root - --only os -o b.json'
is "gives the same leaves" "$(python3 facts.py b.json)" "$(python3 facts.py a.json)"
ok "with pax headers, too" sh -c 'tar --format=pax -cf - -C machine . | ib-capture --root - --only os'
ok "written by busybox, too" sh -c 'busybox tar -cf - -C machine . | ib-capture --root - --only os'
ok "a recording made by ib-capture itself comes the same way" sh -c 'ib-capture --record - -o c.json | ib-capture --root - -o d.json'
is "with the same leaves" "$(python3 facts.py d.json)" "$(python3 facts.py c.json)"
ok "libraries' answers included" python3 -c '
import json
c, d = (json.load(open(f + ".json"))["collectors"] for f in "cd")
assert c["topology"]["data"] == d["topology"]["data"] and c["gpu_nvidia"]["data"] == d["gpu_nvidia"]["data"]'
status 2 "but standard output has room for one thing" ib-capture --record - --store .
refused() { # NAME FILE TEXT
    status 4 "$1" sh -c 'ib-capture --root - < "$1" > got.out' _ "$2"
    like "and it says why" "$(cat "$T/.err")" "$3"
    is "nothing is printed, nothing left behind" "$(cat got.out; ls -A tmp)" ""
}
: > empty
refused "nothing at all" empty 'not a byte'
echo "ssh: connect to host: refused" > garbage
refused "no archive" garbage "neither a tar header nor the recorder's first line"
head -c 100000 /dev/zero | tr '\0' x > noise
refused "a greeting without end" noise "neither a tar header"
head -c 30000 node.tar > cut.tar
refused "cut off" cut.tar 'it is cut off'
size=$(wc -c < node.tar)
sed 's/$/\r/' node.tar > terminal.tar
refused "through a terminal" terminal.tar 'the archive is refused'
{ cat node.tar; echo logout; } > behind.tar
refused "something behind its end" behind.tar 'behind its end'
python3 - <<'EOF'
import io, tarfile
def make(name, *members, end=True, fmt=tarfile.USTAR_FORMAT):
    b = io.BytesIO()
    with tarfile.open(fileobj=b, mode="w", format=fmt) as t:
        for n, kind, data in members:
            i = tarfile.TarInfo(n)
            i.type = kind
            if kind == tarfile.REGTYPE: i.size = len(data)
            elif data: i.linkname = data.decode()
            t.addfile(i, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    open(name, "wb").write(b.getvalue())
    return b.getvalue()
R, D = tarfile.REGTYPE, tarfile.DIRTYPE
make("h-up.tar", ("../etc/os-release", R, b"x"))
make("h-up2.tar", ("etc/../../x", R, b"x"))
make("h-absolute.tar", ("/etc/os-release", R, b"x"))
make("h-link.tar", ("etc", tarfile.SYMTYPE, b"/etc"), ("etc/os-release", R, b"x"))
make("h-hard.tar", ("etc/os-release", tarfile.LNKTYPE, b"/etc/passwd"))
make("h-device.tar", ("dev", tarfile.CHRTYPE, b""))
make("h-fifo.tar", ("proc/stat", tarfile.FIFOTYPE, b""))
make("h-twice.tar", ("proc/stat", R, b"x"), ("proc/stat", R, b"y"))
make("h-file-dir.tar", ("proc", R, b"x"), ("proc/stat", R, b"y"))
make("h-long.tar", ("a" * 150, R, b"x"), fmt=tarfile.GNU_FORMAT)
make("h-pax-path.tar", ("b" * 300, R, b"x"), fmt=tarfile.PAX_FORMAT)
make("h-deep.tar", ("a/" * 40 + "x", R, b"x"))
make("h-odd.tar", ("a\nb", R, b"x"))
b = bytearray(make("h-sum.tar", ("proc/stat", R, b"x")))
b[0] ^= 1
open("h-sum.tar", "wb").write(b)
b = bytearray(make("h-large.tar", ("proc/stat", R, b"x")))
b[124:136] = b"77777777777\0"
b[148:156] = b" " * 8
b[148:156] = b"%06o\0 " % sum(b[:512])
open("h-large.tar", "wb").write(b)
open("h-one-block.tar", "wb").write(make("x.tar", ("proc/stat", R, b"x"))[:1024 + 512])
EOF
for case in up:PATH up2:PATH absolute:PATH link:TYPE hard:TYPE device:TYPE fifo:TYPE twice:DUP file-dir:DUP long:PATH pax-path:TAR deep:PATH odd:PATH sum:TAR large:LIMIT \
    one-block:TRUNC; do
    status 4 "refused: ${case%:*}" sh -c 'ib-capture --root - < "$1"' _ "h-${case%:*}.tar"
done
is "none of them wrote anything" "$(ls -A tmp; ls x etc a dev proc 2> /dev/null)" ""

# --- a reader that is killed ---
mkfifo pipe
ib-capture --root - < pipe > /dev/null 2>&1 &
pid=$!
{ head -c $((size / 2)) node.tar; sleep 1; ls tmp > while; kill -9 $pid; } > pipe 2> /dev/null
wait $pid 2> /dev/null
is "while it reads there is one directory" "$(wc -l < while)" 1
i=0
while [ -n "$(ls -A tmp)" ] && [ $i -lt 50 ]; do sleep 0.1; i=$((i + 1)); done
is "which is gone when it is killed" "$(ls -A tmp)" ""
done_testing
