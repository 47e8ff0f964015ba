#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run cannot be made to disappear: its directory and its ledger lines taken out of a sealed study or of a packet, with the old chain
# or a new one, with the old manifests or new ones, are refused, naming what. So is a file cut, or moved to another place.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
new_key me
make_study study || skip_all "no study"
ok "a packet" ib-pack -C study --key me.pem -o good.tar
status 0 "the study holds" ib-verify study
status 0 "the packet holds" ib-verify --trust me.pub.pem good.tar

# remove DIR RUN-NUMBER [rechain]: the run's directory and ledger lines
cat > remove.py <<'PY'
import hashlib, json, os, shutil, sys
study, n = sys.argv[1], int(sys.argv[2])
lines = open(study + "/ledger.jsonl", "rb").read().splitlines()
run = [json.loads(x)["run"] for x in lines if json.loads(x)["kind"] == "start"][n]
lines = [x for x in lines if json.loads(x).get("run") != run]
if len(sys.argv) > 3:
    prev, out = None, []
    for i, x in enumerate(lines):
        e = json.loads(x)
        e["seq"], e["prev"] = i + 1, prev
        out.append(json.dumps(e, separators=(",", ":")).encode())
        prev = hashlib.sha256(out[-1]).hexdigest()
    lines = out
open(study + "/ledger.jsonl", "wb").write(b"".join(x + b"\n" for x in lines))
shutil.rmtree(study + "/runs/" + run)
PY
remove() {
    chmod -R u+w s 2> /dev/null
    rm -rf s
    cp -r study s && chmod -R u+w s && python3 remove.py s "$@"
}
forge() { python3 "$IB_SRCDIR/tests/cli/forge.py" good.tar forged.tar "$@"; }
class() { ib-verify --json --trust me.pub.pem forged.tar 2> /dev/null | python3 -c '
import json, sys
print(*sorted({f["id"] for f in json.load(sys.stdin)["findings"] if f["status"] == "fail" and f["id"].startswith("E_")}))'; }
for n in 0 1 2; do
    remove $n
    status 1 "study: run $n and its ledger lines taken out" ib-verify s
    like "study: the place is named" "$(cat .out)" "S01 E_LEDGER ledger.jsonl: .*line $((n * 2 + 2))"
    status 1 "study: it is not packed" ib-pack -C s --key me.pem -o x.tar
    remove $n rechain
    status 1 "study: the same with a new chain" ib-verify s
    like "study: the seal tells" "$(cat .out)" "S12 E_[A-Z]+ ledger.jsonl"
    like "study: and its count of runs" "$(cat .out)" "S04 E_LEDGER ledger.jsonl: .*seal counts 3 started runs, and the ledger before it 2"
    status 1 "study: it is not packed either" ib-pack -C s --key me.pem -o x.tar
    run=$(python3 -c 'import json, sys
print([json.loads(x)["run"] for x in open("study/ledger.jsonl") if json.loads(x)["kind"] == "start"][int(sys.argv[1])])' $n)
    for how in drop-run-whole drop-run-whole-rechained; do
        forge $how $n
        status 1 "packet: $how $n" ib-verify --trust me.pub.pem forged.tar
        like "packet: $how $n: what is named" "$(cat .out)" "ledger.jsonl|$run"
        forge $how $n --rebuild
        status 1 "packet: $how $n, with new manifests" ib-verify --trust me.pub.pem forged.tar
        is "packet: the signed digests differ" "$(class)" E_HASH
        like "packet: and one is named" "$(cat .out)" "E_HASH .*the signed digest of 'tagmanifest-sha256.txt' differs"
    done
done

forge cut record.json
status 1 "packet: a file shorter by a byte" ib-verify --trust me.pub.pem forged.tar
like "packet: it is named" "$(cat .out)" "record.json"
forge cut record.json --rebuild
status 1 "packet: the same with new manifests" ib-verify --trust me.pub.pem forged.tar
is "packet: the signed digests differ" "$(class)" E_HASH
forge swap stdout.log
status 4 "packet: two files in the wrong order" ib-verify --trust me.pub.pem forged.tar
like "packet: one is named" "$(cat .out)" "stdout.log|stderr.log"
forge rename stdout.log --rebuild
status 1 "packet: a renamed file, with new manifests" ib-verify --trust me.pub.pem forged.tar
is "packet: the signed digests differ" "$(class)" E_HASH
forge remove stdout.log --rebuild
status 1 "packet: a removed file, with new manifests" ib-verify --trust me.pub.pem forged.tar
is "packet: the signed digests differ" "$(class)" E_HASH
done_testing
