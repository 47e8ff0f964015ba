#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify on packets: trust in all its forms, tampering with and without new manifests, what a sound container with a wrong study says.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
make=$IB_BUILDDIR/tests/unit/make_study
cd "$T" || exit 99

mkdir loopback
"$make" loopback 4
ib-pack --new-key me > me.txt 2>&1 && ib-pack --new-key other > other.txt 2>&1 || { echo "Bail out! no keys"; exit 99; }
ok "pack" ib-pack -C loopback --key me.pem -o p.tar
ok "pack, compressed" ib-pack -C loopback --key me.pem -o p.tar.zst
fp=$(sed -n 's/.*\(SHA256:[A-Za-z0-9+/]*\).*/\1/p' me.txt | head -n 1)
other=$(sed -n 's/.*\(SHA256:[A-Za-z0-9+/]*\).*/\1/p' other.txt | head -n 1)

for p in p.tar p.tar.zst; do
    status 0 "$p: trusted key" ib-verify --trust me.pub.pem $p
    like "$p: the verdict comes first" "$(head -n 1 .out)" "^HOLDS: packet $p\$"
    is "$p: at most 25 lines" "$(awk 'END { print NR <= 25 }' .out)" 1
    status 3 "$p: no key" ib-verify $p
    like "$p: says first what holds" "$(head -n 1 .out)" "^SIGNER NOT ESTABLISHED, ALL ELSE HOLDS"
    like "$p: the command that finishes the job" "$(tail -n 1 .out)" "ib-verify --fingerprint $(printf %s "$fp" | sed 's/[+]/[+]/g') $p"
done
sh -c "$(tail -n 1 .out)" > /dev/null 2>&1
is "that command holds" $? 0
status 0 "a fingerprint" ib-verify --fingerprint "$fp" p.tar
status 3 "another key" ib-verify --trust other.pub.pem p.tar
status 3 "another fingerprint" ib-verify --fingerprint "$other" p.tar
status 3 "a second key that does not apply" ib-verify --trust me.pub.pem --trust other.pub.pem p.tar
like "it is said" "$(cat .out)" "'--trust other.pub.pem' does not apply"
cat other.pub.pem me.pub.pem > both.pem
status 0 "a file of two keys, one of which applies" ib-verify --trust both.pem p.tar
status 0 "a key on standard input" sh -c 'ib-verify --trust - p.tar < me.pub.pem'
status 0 "no signature required" ib-verify --unsigned-ok p.tar
status 3 "no signature required, yet a key that does not apply" ib-verify --unsigned-ok --trust other.pub.pem p.tar
status 3 "a trust file that is not there" ib-verify --trust nope.pem p.tar
status 2 "a trust file that holds no key" ib-verify --trust /etc/passwd p.tar
status 2 "a private key as trust" ib-verify --trust me.pem p.tar
status 2 "a fingerprint that is none" ib-verify --fingerprint 12:34 p.tar
if command -v ssh-keygen > /dev/null && ssh-keygen -i -m PKCS8 -f me.pub.pem > me.ssh 2> /dev/null; then
    status 0 "a key in the form of authorized_keys" ib-verify --trust me.ssh p.tar
    { printf 'alice@example.org '; cat me.ssh; } > signers
    status 0 "a key in the form of allowed_signers" ib-verify --trust signers p.tar
    like "with its principal" "$(cat .out)" "of alice@example.org"
else
    for i in 1 2 3; do skip "OpenSSH form $i" "ssh-keygen does not convert PEM"; done
fi

mkdir unsigned
"$make" unsigned 2
ok "pack unsigned" ib-pack -C unsigned --unsigned -o u.tar
status 3 "unsigned" ib-verify u.tar
like "unsigned: the command that takes it" "$(cat .out)" "ib-verify --unsigned-ok u.tar"
status 0 "unsigned, and no signature required" ib-verify --unsigned-ok u.tar
status 3 "unsigned, with a key" ib-verify --unsigned-ok --trust me.pub.pem u.tar

head=$(ib-verify --json --trust me.pub.pem p.tar | sed -n 's/.*"ledger_head": "\([0-9a-f]*\)".*/\1/p')
status 0 "the expected head" ib-verify --trust me.pub.pem --expect-head "$head" p.tar
status 1 "another head" ib-verify --trust me.pub.pem --expect-head "$(printf %064d 1)" p.tar

size=$(wc -c < p.tar)
head -c $((size / 2)) p.tar > cut.tar
status 4 "cut" ib-verify --trust me.pub.pem cut.tar
{ cat p.tar; printf x; } > more.tar
status 4 "a byte behind the end" ib-verify --trust me.pub.pem more.tar
head -c 100 p.tar.zst > cut.tar.zst
status 4 "a cut frame" ib-verify --trust me.pub.pem cut.tar.zst
like "refused" "$(head -n 1 .out)" "^REFUSED"

if ! python3 -c 'import tarfile' 2> /dev/null; then
    skip "tampering inside a packet" "python3 is not installed"
    done_testing
fi
cat > tamper.py << 'PY'
"""tamper.py IN OUT WHAT: one change inside a packet; with -fresh, the manifests are made anew, as an attacker would."""
import hashlib, sys
def members(data):
    at, out = 0, []
    while data[at:at + 512].strip(b"\0"):
        size = int(data[at + 124:at + 135], 8)
        name = (data[at + 345:at + 500].rstrip(b"\0") + b"/" if data[at + 345:at + 500].rstrip(b"\0") else b"") + data[at:at + 100].rstrip(b"\0")
        out.append([name, data[at:at + 512], data[at + 512:at + 512 + size]])
        at += 512 + (size + 511) // 512 * 512
    return out
def header(h, size=None, name=None):
    h = bytearray(h)
    if size is not None:
        h[124:136] = b"%011o\0" % size
    if name is not None:
        h[0:100] = name.ljust(100, b"\0"); h[345:500] = bytes(155)
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)
def write(ms):
    out = b""
    for _, h, body in ms:
        out += h + body + bytes(-len(body) % 512)
    return out + bytes(1024)
def find(ms, end):
    return next(m for m in ms if m[0].endswith(end))
ms = members(open(sys.argv[1], "rb").read())
what, fresh = sys.argv[3].removesuffix("-fresh"), sys.argv[3].endswith("-fresh")
top = ms[0][0].split(b"/")[0] + b"/"
log = find(ms, b"-9f3a0001/stdout.log")
def set_body(m, body):
    m[2] = body; m[1] = header(m[1], size=len(body))
if what == "edit": set_body(log, b"run 9\n")
elif what == "remove": ms.remove(log)
elif what == "add":
    i = ms.index(log); name = log[0] + b"2"
    h = bytearray(log[1]); h[0:100] = log[1][0:100].rstrip(b"\0").__add__(b"2").ljust(100, b"\0")
    ms.insert(i + 1, [name, header(h), log[2]])
elif what == "reorder":
    i = ms.index(log); ms[i - 1], ms[i] = ms[i], ms[i - 1]
elif what == "ledger": # the last line before the seal is dropped
    m = find(ms, b"data/ledger.jsonl"); lines = m[2].splitlines(True); set_body(m, b"".join(lines[:-2] + lines[-1:]))
elif what == "run": # a whole run is dropped
    d = log[0].rsplit(b"/", 1)[0] + b"/"; ms = [m for m in ms if not m[0].startswith(d)]
if fresh:
    manifest = b"".join(sorted((hashlib.sha256(m[2]).hexdigest().encode() + b"  " + m[0][len(top):] + b"\n" for m in ms if m[0].startswith(top + b"data/")),
                               key=lambda l: l[66:]))
    set_body(find(ms, b"manifest-sha256.txt"), manifest)
    data = [m for m in ms if m[0].startswith(top + b"data/")]
    info = find(ms, b"bag-info.txt")
    set_body(info, b"".join(b"Payload-Oxum: %d.%d\n" % (sum(len(m[2]) for m in data), len(data)) if l.startswith(b"Payload-Oxum") else l for l in info[2].splitlines(True)))
    tags = [b"VERIFY.md", b"bag-info.txt", b"bagit.txt", b"manifest-sha256.txt"]
    set_body(find(ms, b"tagmanifest-sha256.txt"), b"".join(hashlib.sha256(find(ms, b"/" + t)[2]).hexdigest().encode() + b"  " + t + b"\n" for t in tags))
open(sys.argv[2], "wb").write(write(ms))
PY
python3 tamper.py p.tar same.tar nothing
ok "the tampering tool changes nothing by itself" cmp p.tar same.tar
python3 tamper.py p.tar same.tar nothing-fresh
ok "and makes the same manifests" cmp p.tar same.tar
for w in "edit 1 E_HASH" "remove 1 E_MISSING" "add 1 E_EXTRA" "reorder 4 E_TAR" "ledger 1 E_HASH" "run 1 E_MISSING"; do
    set -- $w
    python3 tamper.py p.tar t.tar "$1"
    status "$2" "inside a packet: $1" ib-verify --trust me.pub.pem t.tar
    like "inside a packet: $1 is named" "$(cat .out)" "$3 .*(9f3a0001|ledger.jsonl)"
    is "inside a packet: $1: no number is shown" "$(grep -c 'TTFT' .out)" 0
done
for w in edit remove add ledger run; do
    python3 tamper.py p.tar t.tar $w-fresh
    status 1 "with new manifests: $w" ib-verify --trust me.pub.pem t.tar
    like "with new manifests: $w: the signed digest differs" "$(cat .out)" "E_(HASH|SIG) "
    status 1 "with new manifests: $w, no signature required" ib-verify --unsigned-ok t.tar
    python3 tamper.py u.tar t.tar $w-fresh
    status 1 "unsigned, with new manifests: $w" ib-verify --unsigned-ok t.tar
    like "unsigned, with new manifests: $w: the study does not hold" "$(cat .out)" "(S01|S05|S07|S08|S12|E_LEDGER)"
done
if python3 -c 'import jsonschema' 2> /dev/null; then
    ib-verify --json --trust me.pub.pem p.tar > good.json
    ib-verify --json t.tar > bad.json
    ib-verify --json cut.tar > cut.json
    ok "the findings documents fit their schema" python3 -c '
import json, sys, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
for n in sys.argv[2:]: v.validate(json.load(open(n)))' "$IB_SRCDIR/schemas/findings-v1.schema.json" good.json bad.json cut.json
else
    skip "the findings documents fit their schema" "python3-jsonschema is not installed"
fi
done_testing
