#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A changed packet is refused, naming what: single bytes, files, ledger lines; also after the manifests were made again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me
make_study study || skip_all "no study"
mkdir study/analysis
head -c 200000 /dev/urandom > study/analysis/noise.bin
ok "a packet" ib-pack -C study --key me.pem --allow-secret analysis/noise.bin -o good.tar
ok "a compressed one" ib-pack -C study --key me.pem --allow-secret analysis/noise.bin -o good.tar.zst
is "larger than 48 KiB" "$([ "$(stat -c %s good.tar)" -gt 49152 ] && echo yes)" yes
forge() { python3 "$IB_SRCDIR/tests/cli/forge.py" good.tar forged.tar "$@"; }
class() { ib-verify --json --trust me.pub.pem forged.tar 2> /dev/null | python3 -c '
import json, sys
print(*sorted({f["id"] for f in json.load(sys.stdin)["findings"] if f["status"] == "fail" and f["id"].startswith("E_")}))'; }

forge drop-last-line
status 1 "the last ledger line dropped" ib-verify --trust me.pub.pem forged.tar
like "and named" "$(cat "$T/.out")" "ledger.jsonl"
forge drop-last-line --rebuild
status 1 "the same with new manifests" ib-verify --trust me.pub.pem forged.tar
is "the signed digests differ" "$(class)" E_HASH
for n in 0 1 2; do
    forge drop-run $n
    status 1 "run $n taken out of the ledger" ib-verify --trust me.pub.pem forged.tar
    forge drop-run-rechained $n --rebuild
    status 1 "the same with a new chain and new manifests" ib-verify --trust me.pub.pem forged.tar
    is "the signed digests differ" "$(class)" E_HASH
done
for file in record.json stdout.log result.txt ledger.jsonl withheld.json; do
    forge edit $file
    status 1 "$file edited" ib-verify --trust me.pub.pem forged.tar
    like "and named" "$(cat "$T/.out")" "$file"
    forge edit $file --rebuild
    status 1 "the same with new manifests" ib-verify --trust me.pub.pem forged.tar
    is "the signed digests differ" "$(class)" E_HASH
done
forge remove stdout.log
status 1 "a file removed" ib-verify --trust me.pub.pem forged.tar
like "and named" "$(cat "$T/.out")" "stdout.log"
forge rename stdout.log
status 1 "a file renamed" ib-verify --trust me.pub.pem forged.tar
like "and named" "$(cat "$T/.out")" "stdout.log"
forge add
status 1 "a file added" ib-verify --trust me.pub.pem forged.tar
like "and named" "$(cat "$T/.out")" "zz.txt"
forge retime
status 1 "all files a second later, under the good signature" ib-verify --trust me.pub.pem forged.tar
is "the time is not the seal's" "$(class)" E_BINDING
forge retop --rebuild --unsigned
status 1 "another seal in the name of an unsigned packet" ib-verify --unsigned-ok forged.tar
like "is named" "$(cat "$T/.out")" "name of the top directory"
forge edit withheld.json --rebuild
ib-verify --json --trust me.pub.pem forged.tar > forged.json 2> /dev/null
is "a good signature under something else signs nothing" "$(python3 -c '
import json
d = json.load(open("forged.json"))
print(d["verdicts"]["signed"], d["verdicts"]["trusted"], len(d["signers"]))')" "no not_checkable 0"
head -c 100000 good.tar > forged.tar
status 4 "cut" ib-verify --trust me.pub.pem forged.tar
head -c 100000 good.tar.zst > forged.tar.zst
status 4 "a frame cut" ib-verify --trust me.pub.pem forged.tar.zst
echo "not a packet" > forged.tar
status 4 "not a packet" ib-verify --trust me.pub.pem forged.tar

# one byte at 200 places of each
cat > flip.py <<'PY'
import random, subprocess, sys
data = bytearray(open(sys.argv[1], "rb").read())
rnd = random.Random(20261130)
bad = 0
for i in range(200):
    at = rnd.randrange(len(data))
    old, data[at] = data[at], data[at] ^ (1 << rnd.randrange(8))
    name = "flipped" + sys.argv[2]
    open(name, "wb").write(data)
    rc = subprocess.run(["ib-verify", "--trust", "me.pub.pem", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    same = sys.argv[2].endswith("zst") and rc == 0 and subprocess.run(["zstd", "-dcq", name], stdout=subprocess.PIPE).stdout == open("good.tar", "rb").read()
    if rc not in (1, 4) and not same: # two frames may hold the same bytes
        print("byte", at, "gives", rc)
        bad = 1
    data[at] = old
sys.exit(bad)
PY
ok "200 changed bytes are refused" python3 flip.py good.tar .tar
ok "200 changed bytes of a frame are refused" python3 flip.py good.tar.zst .tar.zst
status 0 "and the packet itself holds" ib-verify --trust me.pub.pem good.tar
done_testing
