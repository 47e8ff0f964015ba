#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A contract may change freely before the first run, and by amendment after it.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

write() {
    mkdir -p s
    cat > s/contract.yaml << EOT
study: ${2:-s}
groups:
  - name: g
    repeats: $1
    command: [true]
EOT
}
kinds() { sed 's/.*"kind":"\([a-z]*\)".*/\1/' s/ledger.jsonl | tr '\n' ' '; }

write 1
status 0 "a first contract" ib-run -q --no-capture --plan s/contract.yaml
write 2
status 2 "changed after results" ib-run -q --no-capture --plan s/contract.yaml
status 2 "--amend alone is not enough" ib-run -q --no-capture --plan s/contract.yaml --amend
is "nothing was entered" "$(kinds)" "contract start finish "
status 0 "an amendment with its reason" ib-run -q --no-capture --plan s/contract.yaml --amend --reason "one repeat says nothing"
is "stands in the ledger; runs before it fill no slot after it" "$(kinds)" "contract start finish amendment start finish start finish "
like "with reason, digest and that results were known" "$(grep '"amendment"' s/ledger.jsonl)" '"source_sha256":"[0-9a-f]{64}".*"reason":"one repeat says nothing","results_known":true'
is "both versions are kept" "$(find s/contracts -name '*.yaml' | wc -l | tr -d ' ')" 2
status 0 "the amended plan is done" ib-run -q --no-capture --plan s/contract.yaml
ib-verify s > verdict 2> /dev/null
like "the verdict counts runs from before the amendment apart" "$(grep '^complete' verdict)" "yes +planned 2 = completed 3 .* - before the amendment 1"
is "and shows them in a row of their own" "$(grep -E '^g all' verdict | awk '{ print $3, $4 }' | tr '\n' ';')" "(before) 1;2 -;"
write 1
status 2 "back to the first version is a change, too" ib-run -q --no-capture --plan s/contract.yaml
mkdir early
cp -R s/contracts early/
head -n 1 s/ledger.jsonl > early/ledger.jsonl
write 2
status 0 "before the first run a contract may change" ib-run -q --no-capture -C early --plan s/contract.yaml
like "and the ledger says that no result was known" "$(sed -n 2p early/ledger.jsonl)" '"kind":"amendment".*"reason":"changed before the first run","results_known":false'
write 2 other
status 2 "another study's contract is refused" ib-run -q --no-capture --plan s/contract.yaml
like "saying so" "$(cat "$T/.err")" "is called 's', the contract's is 'other'"
mkdir adhoc
ib-run -q --no-capture -C adhoc -- true
status 2 "so is a study of ad-hoc runs" ib-run -q --no-capture -C adhoc --plan s/contract.yaml
like "saying so" "$(cat "$T/.err")" "holds runs without a contract"
status 0 "-C names the study" ib-run -q --no-capture -C "$T/elsewhere" --plan s/contract.yaml
ok "which is made" test -f elsewhere/ledger.jsonl
chmod u+w elsewhere/contracts/*.json
echo >> "$(ls elsewhere/contracts/*.json)"
status 3 "a kept contract that was changed is noticed" ib-run -q --no-capture -C elsewhere --plan s/contract.yaml
like "and named" "$(cat "$T/.err")" "contracts/[0-9a-f]{64}.json' is there with other content"
done_testing
