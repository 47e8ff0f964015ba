#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nodes and archives that mean harm, or are only poor: what the recorder does on such a machine, what ib-capture --root - says of such an archive.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
mkdir tmp && TMPDIR=$T/tmp && export TMPDIR
ib-capture --recorder > rec.sh
cat > env.py << 'END'
import json, sys
e = json.load(open(sys.argv[1]))["collectors"]["environment"]["data"]
print(json.dumps(e["values"], sort_keys=True), e["present"])
END

# --- archives: each with its reason ---
python3 - << 'END'
import gzip, io, tarfile
R, D = tarfile.REGTYPE, tarfile.DIRTYPE
def make(name, *members, fmt=tarfile.USTAR_FORMAT, pax=None, end=b"\0" * 1024):
    out = []
    for n, kind, data in members:
        i = tarfile.TarInfo(n)
        i.type = kind
        if kind == R: i.size = len(data)
        elif data: i.linkname = data.decode()
        if pax: i.pax_headers = pax
        out.append(i.tobuf(fmt))
        if kind == R: out.append(data + b"\0" * (-len(data) % 512))
    out = b"".join(out) + end
    open(name, "wb").write(out)
    return out
def bend(name, data, at, new):
    h = bytearray(data)
    h[at:at + len(new)] = new
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h[:512])
    open(name, "wb").write(bytes(h))
one = make("a-good", ("proc/stat", R, b"cpu 1 2 3 4\n"))
make("a-absolute", ("/etc/os-release", R, b"x"))
make("a-up", ("proc/../../x", R, b"x"))
make("a-dot", ("proc/./stat", R, b"x"))
make("a-empty-part", ("proc//stat", R, b"x"))
make("a-link", ("etc", tarfile.SYMTYPE, b"/etc"), ("etc/passwd", R, b"x"))
make("a-hard", ("proc/stat", tarfile.LNKTYPE, b"/etc/passwd"))
for name, kind in (("char", tarfile.CHRTYPE), ("block", tarfile.BLKTYPE), ("fifo", tarfile.FIFOTYPE)):
    make("a-" + name, ("proc/stat", kind, b""))
for name, kind in (("sparse", b"S"), ("volume", b"V"), ("more", b"M"), ("dump", b"D"), ("unknown", b"9")):
    bend("a-" + name, one, 156, kind)
make("a-twice", ("proc/stat", R, b"x"), ("./proc/stat", R, b"y"))
make("a-below-file", ("proc", R, b"x"), ("proc/stat", R, b"y"))
make("a-over-dir", ("proc/stat", R, b"x"), ("proc", R, b"y"))
make("a-gnu-name", ("a" * 150, R, b"x"), fmt=tarfile.GNU_FORMAT)
make("a-pax-name", ("b" * 300, R, b"x"), fmt=tarfile.PAX_FORMAT)
make("a-pax-sparse", ("proc/stat", R, b"x"), fmt=tarfile.PAX_FORMAT, pax={"GNU.sparse.major": "1", "GNU.sparse.realsize": "10737418240"})
make("a-pax-size", ("proc/stat", R, b"x"), fmt=tarfile.PAX_FORMAT, pax={"size": "10737418240"})
make("a-pax-huge", ("proc/stat", R, b"x"), fmt=tarfile.PAX_FORMAT, pax={"comment": "c" * 70000})
make("a-deep", ("a/" * 40 + "x", R, b"x"))
bend("a-ten-gb", one, 124, b"%011o\0" % 10737418240 if 10737418240 < 8 ** 11 else b"77777777777\0")
bend("a-negative", one, 124, b"\xff" * 12)
bend("a-base256", one, 124, b"\x80" + b"\0" * 10 + b"\x0c")
bend("a-control", one, 0, b"proc/st\x1b[31m")
bend("a-utf8", one, 0, "proc/st\u00e9".encode())
bend("a-dir-size", one, 156, b"5")
bend("a-no-name", one, 0, b"\0" * 9)
open("a-cut-header", "wb").write(one[:300])
open("a-cut-file", "wb").write(one[:600])
open("a-cut-end", "wb").write(one[:1536])
open("a-behind", "wb").write(one + one)
open("a-gzip", "wb").write(gzip.compress(one))
open("a-zstd", "wb").write(bytes.fromhex("28b52ffd0400") + b"x" * 600)
open("a-xz", "wb").write(bytes.fromhex("fd377a585a00") + b"x" * 600)
open("a-zip", "wb").write(b"PK\3\4" + b"x" * 600)
open("a-html", "wb").write(b"<html><title>502 Bad Gateway</title></html>\n")
make("a-many", *[("proc", D, b"")] * 100001)
open("a-mark-twice", "wb").write(b"ib-record-node 1\nib-record-node 1\n" + one)
END
status 0 "a small archive is taken" sh -c 'ib-capture --root - --only load < a-good'
refused() { # CASE TEXT
    status 4 "refused: $1" sh -c 'ib-capture --root - < "$1" > got.out' _ "a-$1"
    like "$1: it says why" "$(cat "$T/.err")" "$2"
    is "$1: nothing is printed or left" "$(cat got.out; ls -A tmp)" ""
}
path_odd="a name is absolute, too deep, not printable ASCII, or has an empty, '.' or '..' part"
kinds='neither a file nor a directory: a recorded machine has no links and no devices'
for case in absolute up dot empty-part deep control utf8; do refused $case "$path_odd"; done
for case in link hard char block fifo sparse volume more dump unknown; do refused $case "$kinds"; done
refused twice "byte [0-9]+, 'proc/stat': the name occurs twice"
refused below-file "'proc/stat': a file stands where a directory is needed"
refused over-dir "'proc': the name occurs twice"
refused gnu-name 'a name of more than 100 bytes'
for case in pax-name pax-sparse pax-size; do refused $case 'a pax header for more than times and owners'; done
refused pax-huge 'a pax header of more than 64 KiB'
refused ten-gb 'larger than a recorded machine may be \(16 MiB a file, 256 MiB in all\)'
for case in negative base256; do refused $case 'the size is no octal number'; done
refused dir-size 'a directory with a size'
refused no-name "a name is empty or '/'"
for case in cut-header cut-file cut-end; do refused $case 'it is cut off|neither a tar header'; done
refused behind 'something stands behind its end'
for case in gzip zstd xz zip; do refused $case 'compressed'; done
refused html "neither a tar header nor the recorder's first line"
refused many 'more than 100000 entries'
refused mark-twice "the header's checksum does not hold, or it is no ustar header"
ok "no name is shown with bytes that a terminal obeys" sh -c 'ib-capture --root - < a-control 2>&1 | cat -v | grep -vq "\^\["'
ok "nothing was written anywhere else" sh -c '[ ! -e x ] && [ ! -e etc ] && [ ! -e proc ]'

# --- what an archive says of the machine is a stranger's word, too ---
mkdir -p base/ib-node base/proc base/etc
printf 'Linux\n6.1\n#1\nx86_64\n' > base/ib-node/uname
printf 'cpu 1 2 3 4\n' > base/proc/stat
said() { # NAME STATUS TEXT COMMANDS…: in a copy of the base
    rm -rf m && cp -r base m
    (cd m && eval "$4") || exit 99
    status "$2" "$1" sh -c 'tar -cf - -C m . | timeout 60 ib-capture --root - > got.json'
    [ -z "$3" ] || like "$1: it says why" "$(cat "$T/.err")" "$3"
}
said "no notes at all" 0 '' 'rm -r ib-node'
said "notes that are noise" 0 '' 'head -c 5000 /dev/urandom > ib-node/uname; head -c 500 /dev/urandom > ib-node/libc; head -c 500 /dev/urandom > ib-node/recorder'
said "a status that is none" 4 "has a line that is no status" 'echo hello > ib-node/status'
said "a number that is none" 4 "of the recorded machine" 'echo "denied 99999999999999999999 /proc/stat" > ib-node/status'
said "environment without ends and without names" 0 '' 'printf "=x\0\0\0NCCL_DEBUG\0A=B\0NCCL_ALGO=Ring" > ib-node/environ'
is "what is no variable is none" "$(python3 env.py got.json)" '{"NCCL_ALGO": "Ring"} []'
said "names that are not allowed" 0 '' 'printf "FOO=canary-a\0VLLM_API_KEY=canary-b\0NCCL_AUTH=canary-c\0http_proxy=http://u:canary-d@p\0" > ib-node/environ'
ok "have no value in the capture" sh -c '! grep -q canary got.json'
said "an environment of two megabytes" 0 '' '{ printf "NCCL_BIG="; head -c 2000000 /dev/zero | tr "\0" x; } > ib-node/environ'
said "files that are noise" 0 '' 'for f in meminfo stat loadavg cpuinfo cmdline; do head -c 60000 /dev/urandom > proc/$f; done; head -c 9000 /dev/urandom > etc/os-release'
said "one line of ten megabytes" 0 '' 'head -c 10000000 /dev/zero | tr "\0" 9 > proc/meminfo; cp proc/meminfo proc/cpuinfo'
said "a directory where a file is expected" 0 '' 'mkdir proc/meminfo proc/cpuinfo etc/os-release'
said "a command line with a password" 0 '' 'echo "quiet password=canary-pass-123456 token=hf_abcdefghijklmnopqrstuvwxyzabcdef" > proc/cmdline'
ok "has none in the capture" sh -c '! grep -q "canary-pass\|hf_abcdef" got.json'

# --- secrets in variables that are allowed by name ---
record() { # SHELL NAME=VALUE…
    record_shell=$1
    shift
    # shellcheck disable=SC2086
    env -i PATH="$PATH" TMPDIR="$TMPDIR" "$@" $record_shell -s < rec.sh
}
cat > canaries << 'END'
hf_canarycanarycanarycanarycanaryca
sk-proj-canary0123456789canary0123456789
AKIACANARY0CANARY0CA
ghp_canarycanarycanarycanarycanarycanary
canary-user-info
canary-multi-line
END
for sh in "dash" "bash" "bash --posix" "busybox sh" "mksh" "ksh93" "yash" "zsh"; do
    # shellcheck disable=SC2086
    command -v ${sh%% *} > /dev/null || { skip "secrets under $sh" "there is no ${sh%% *}"; continue; }
    record "$sh" NCCL_DEBUG=hf_canarycanarycanarycanarycanaryca "VLLM_USE=sk-proj-canary0123456789canary0123456789" CUDA_X=AKIACANARY0CANARY0CA \
        TORCH_URL=https://user:canary-user-info@host/x "OMP_A=--token ghp_canarycanarycanarycanarycanarycanary" "NCCL_B=1
NCCL_API_KEY=canary-multi-line" "NCCL_C=\$(touch $T/executed)\`touch $T/executed\`'\"\\" "NCCL_D=$(printf 'a\377b')" NCCL_E=plain "NCCL_F=a  b*?[" > env.tar 2> env.err
    is "$sh: the recorder says nothing" "$(cat env.err)" ""
    status 0 "$sh: it is taken" sh -c 'ib-capture --root - --only environment < env.tar > env.json'
    is "$sh: no secret is in the capture" "$(grep -c -F -f canaries env.json)" 0
    like "$sh: it says that something was" "$(cat env.json)" '<redacted:[a-z-]*:[0-9]+:[0-9a-f]{16}>'
    ok "$sh: plain values are what they are, nothing was carried out" python3 -c '
import json, os, sys
v = json.load(open("env.json"))["collectors"]["environment"]["data"]["values"]
assert v["NCCL_E"] == "plain" and v["NCCL_F"] == "a  b*?[", v
assert v["NCCL_C"].endswith("\x27\"\\") and not os.path.exists("executed"), v
assert "NCCL_D" not in v and "NCCL_API_KEY" not in v, v'
done
record sh TAR_OPTIONS="--gzip --transform=s/proc/evil/" POSIXLY_CORRECT=1 TAPE=/dev/null "IFS=/" CDPATH=/ > options.tar
status 0 "options of tar in the environment change nothing" sh -c 'ib-capture --root - --only load < options.tar'

# --- poor machines ---
mkdir few busy
for t in sh cat rm mkdir sed env od tr sleep uname cp find sort getconf; do ln -s "$(command -v $t)" few/; done
without() { # TOOL
    mkdir "no-$1" && cp -P few/* "no-$1/" && ln -s "$(command -v tar)" "no-$1/tar" && rm -f "no-$1/$1"
    status 1 "without $1" sh -c 'env -i PATH="$1" TMPDIR="$TMPDIR" sh -s < rec.sh > none.tar' _ "$T/no-$1"
    is "without $1: that is what it says" "$(cat "$T/.err")" "ib-record-node: '$1' is missing on this machine"
    is "without $1: nothing is sent or left" "$(cat none.tar; ls -A tmp)" ""
}
for t in tar cp find; do without $t; done
if command -v busybox > /dev/null; then
    for t in sh cat rm mkdir sed env od tr sleep uname cp find sort tar; do ln -s "$(command -v busybox)" busy/$t; done
    env -i PATH="$T/busy" TMPDIR="$TMPDIR" NCCL_E=1 "$T/busy/sh" -s < rec.sh > busy.tar 2> busy.err
    is "a machine of BusyBox alone says nothing" "$(cat busy.err)" ""
    status 0 "its tar is taken" sh -c 'ib-capture --root - < busy.tar > busy.json'
    ok "and it is described" python3 -c '
import json
c = json.load(open("busy.json"))["collectors"]
assert c["cpu"]["data"]["models"] and c["environment"]["data"]["values"] == {"NCCL_E": "1"} and c["memory"]["data"]["total_bytes"] > 0'
else
    skip "a machine of BusyBox alone" "busybox is not installed"
fi
mkdir "tmp/a dir"
status 0 "a temporary directory with a blank in its name" sh -c 'TMPDIR="$TMPDIR/a dir" sh -s < rec.sh | ib-capture --root - --only load'
is "which is left empty" "$(ls -A "tmp/a dir")" ""
rmdir "tmp/a dir"
status 0 "one that is not there" sh -c 'TMPDIR=/nonexistent sh -s < rec.sh | ib-capture --root - --only load'
status 0 "one that looks like an option" sh -c 'TMPDIR=-p sh -s < rec.sh | ib-capture --root - --only load'

# in a mount name space: file systems of other kinds where temporary files go
if unshare -m true 2> /dev/null && unshare -m sh -c "mount -t tmpfs none '$T/tmp'" 2> /dev/null; then
    places="$TMPDIR /dev/shm /tmp /var/tmp"
    cp rec.sh /dev/shm/ib-rec-$$ && mv /dev/shm/ib-rec-$$ rec.sh
    mounted() { # OPTIONS…: runs the recorder where all places for temporary files are mounted so; its input and output were opened before
        # shellcheck disable=SC2016
        unshare -m sh -c 'options=$1; shift; for d; do mount -t tmpfs -o "$options" none "$d" || exit 99; done; exec sh -s' _ "$1" $places < rec.sh
    }
    mounted noexec,nosuid,nodev > noexec.tar 2> noexec.err
    is "where nothing can be executed it says nothing" "$(cat noexec.err)" ""
    status 0 "and the archive is taken" sh -c 'ib-capture --root - --only cpu,load < noexec.tar'
    mounted ro > ro.tar 2> ro.err
    is "where nothing can be written, that is what it says" "$(cat ro.tar ro.err)" \
        "ib-record-node: no directory can be written (tried TMPDIR, /dev/shm, /tmp and /var/tmp)"
    mounted size=64k > full.tar 2> full.err
    like "where there is too little room, too" "$(cat full.err)" "^ib-record-node: no room below '"
    is "and nothing is sent" "$(wc -c < full.tar)" 0
else
    skip "file systems of other kinds" "this needs the right to mount"
fi
is "nothing is left in temporary directories" "$(ls -A tmp)" ""
done_testing
