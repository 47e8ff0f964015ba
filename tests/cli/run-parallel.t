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
done_testing
