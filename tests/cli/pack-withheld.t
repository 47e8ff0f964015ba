#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the contract withholds is listed in withheld.json with size, digest and reason, and is not in the packet.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me
mkdir -p study/workload
echo "licensed words" > study/workload/private.txt
echo "free words" > study/workload/public.txt
cat > study/contract.yaml <<'EOC'
study: held-back
question: does what is withheld stay at home?
groups:
  - name: base
    order: sequential
    repeats: 2
    command: [sh, -c, 'echo out; echo raw > "$IB_OUTPUT_DIR/raw.bin"; echo sum > "$IB_OUTPUT_DIR/sum.txt"']
withhold:
  - path: workload/private.*
    reason: licensed
  - path: runs/*/output/*.bin
    reason: too large
  - path: workload/nothing*
    reason: not there
EOC
(cd study && ib-run --plan contract.yaml) > plan.out 2>&1
rc=$?
is "a planned study" "$rc" 0
[ $rc -eq 0 ] || sed 's/^/# /' plan.out
status 0 "is packed" ib-pack -C study --key me.pem -o a.tar
like "the screen counts what is withheld" "$(cat "$T/.out")" "3 withheld"
like "and names a pattern that matches nothing" "$(cat "$T/.err")" "workload/nothing"
status 0 "and holds" ib-verify --trust me.pub.pem a.tar
tar tf a.tar > names
ok "what is withheld is not in it" sh -c '! grep -q -e private.txt -e raw.bin names'
ok "the rest is" sh -c 'grep -q public.txt names && grep -q sum.txt names'
ok "withheld.json says what, how much and why" python3 - <<'PY'
import glob, hashlib, json
d = json.load(open("study/withheld.json"))
assert d["schema"] == "urn:ibtools:withheld:v1"
w = d["withheld"]
assert [x["path"] for x in w] == sorted(x["path"] for x in w)
assert len(w) == 3 and {x["reason"] for x in w} == {"licensed", "too large"}
for x in w:
    b = open("study/" + x["path"], "rb").read()
    assert x["bytes"] == len(b) and x["sha256"] == hashlib.sha256(b).hexdigest()
PY
ok "the Statement holds its digest, and the question" python3 - <<'PY'
import base64, hashlib, json, tarfile
t = tarfile.open("a.tar")
top = t.next().name.split("/")[0]
b = json.load(t.extractfile(top + "/signatures/1.sigstore.json"))
p = json.loads(base64.b64decode(b["dsseEnvelope"]["payload"]))["predicate"]
assert p["withheld"]["sha256"] == hashlib.sha256(open("study/withheld.json", "rb").read()).hexdigest()
assert p["contract"]["sha256"] == hashlib.sha256(open("study/contract.yaml", "rb").read()).hexdigest()
assert p["study"] == {"name": "held-back", "question": "does what is withheld stay at home?"}
assert p["runs"]["planned"] == p["runs"]["completed"] == 2
PY
ok "the other reader takes it" python3 "$ORACLE" check a.tar --trust me.pub.pem
ib-pack -C study --key me.pem -o b.tar > /dev/null
ok "packing again gives the same bytes" cmp a.tar b.tar
mkdir x
tar xf a.tar -C x
echo changed > study/workload/private.txt
status 0 "a changed withheld file is a new list and a new seal" ib-pack -C study --key me.pem -o c.tar
is "so two seals" "$(grep -c '"kind":"seal"' study/ledger.jsonl)" 2
# one list decides on both sides what cannot be withheld: what is merely named like it can
mkdir other
cat > other/contract.yaml <<'EOC'
study: named-alike
question: is contracted.txt a contract?
groups:
  - name: base
    order: sequential
    repeats: 1
    command: [sh, -c, 'echo out > "$IB_OUTPUT_DIR/a.txt"']
withhold:
  - path: contracted.txt
    reason: personal
EOC
echo names > other/contracted.txt
(cd other && ib-run --plan contract.yaml) > /dev/null 2>&1
status 0 "a file named like a contract is withheld" ib-pack -C other --key me.pem -o other.tar
status 0 "and the packet holds" ib-verify --trust me.pub.pem other.tar
done_testing
