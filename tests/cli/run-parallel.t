#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several ib-run may share a study: one chain, every run in it, nothing lost.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
pids=
for i in 1 2 3 4 5 6 7 8 9 10; do
    ib-run -q -C s --no-capture --group "g$i" -- sh -c "echo $i; sleep 0.0$i" > "out$i" &
    pids="$pids $!"
done
bad=0
for p in $pids; do wait "$p" || bad=1; done
is "ten at once end well, also when they make the study" "$bad" 0
is "each shows its own output" "$(cat out1 out2 out10 | tr '\n' ' ')" "1 2 10 "
ok "one chain holds ten starts and ten finishes" python3 - <<'END'
import hashlib, json
prev, kinds = None, []
for n, line in enumerate(open("s/ledger.jsonl", "rb"), 1):
    e = json.loads(line)
    assert e["seq"] == n and e["prev"] == prev, n
    prev = hashlib.sha256(line[:-1]).hexdigest()
    kinds.append(e["kind"])
assert kinds[0] == "contract" and kinds.count("contract") == 1, kinds
assert kinds.count("start") == 10 and kinds.count("finish") == 10 and len(kinds) == 21, kinds
END
is "nobody took another's run for abandoned" "$(grep -c abandoned s/ledger.jsonl)" 0
is "run IDs differ" "$(ls s/runs | sort -u | wc -l | tr -d ' ')" 10

# two at once in one study: both complete, and who reads the study is told
both() { grep -c '"state":"completed"' "$1/ledger.jsonl"; }
overlap() { ib-verify "$1" --json | python3 -c '
import json, sys
print(" ".join(sorted({f["status"] + ":" + f["message"].split(" while")[0] for f in json.load(sys.stdin)["findings"] if f["id"] == "A35"})))'; }
ib-run -q -C two --no-capture --group a -- sh -c 'touch one; while [ ! -e two.there ]; do sleep 0.02; done' &
pid=$!
for _ in $(seq 200); do [ -e one ] && break; sleep 0.02; done
ib-run -q -C two --no-capture --group b -- touch two.there
wait $pid
is "two ad-hoc runs at once both complete" "$(both two)" 2
is "their overlap is flagged" "$(overlap two)" "fail:was measured"
ib-run -q -C after --no-capture --group a -- true
ib-run -q -C after --no-capture --group a -- true
is "one after the other there is none" "$(overlap after | cut -d: -f1)" pass

# a plan and an ad-hoc run at once; a second plan has to wait
mkdir p
cat > p/contract.yaml <<EOT
study: p
groups:
  - name: g
    repeats: 2
    command: [sh, -c, "touch $T/began; while [ ! -e $T/go ]; do sleep 0.02; done"]
EOT
ib-run -q --no-capture --plan p/contract.yaml &
pid=$!
for _ in $(seq 200); do [ -e began ] && break; sleep 0.02; done
status 3 "a second plan is refused while the first is carried out" ib-run --no-capture --plan p/contract.yaml
like "saying what to do" "$(cat "$T/.err")" "another ib-run carries out a plan in the study .*: wait for its end"
is "and leaves nothing behind" "$(grep -c '"kind":"start"' p/ledger.jsonl)" 1
status 0 "an ad-hoc run beside the plan" ib-run -q -C p --no-capture --group other -- true
touch go
wait $pid
is "the plan comes to its end" $? 0
is "all complete" "$(both p)" 3
is "the overlap is flagged" "$(overlap p)" "fail:was measured"
status 0 "then a plan may be carried out again" ib-run -q --no-capture --plan p/contract.yaml
is "which has nothing to do" "$(both p)" 3
done_testing
