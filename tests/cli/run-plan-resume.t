#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A plan is resumed where it stopped: what failed fills its slot, what was refused, interrupted or abandoned is run again.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

plan() { ib-run --no-capture --plan "$1/contract.yaml"; }
runs() { find "$1/runs" -mindepth 1 -maxdepth 1 2> /dev/null | wc -l | tr -d ' '; }
states() { grep -h '"state"' "$1"/runs/*/record.json | cut -d'"' -f4 | sort | uniq -c | awk '{ printf("%s%s %s", (NR > 1 ? ", " : ""), $1, $2) }'; }

# a: everything as expected
mkdir a
cat > a/contract.yaml << 'EOT'
study: a
groups:
  - name: g
    repeats: 3
    command: [sh, -c, "echo {repeat} > {output_dir}/x; pwd"]
EOT
status 0 "a plan without trouble gives 0" plan a
is "it made a run for each slot" "$(states a)" "3 completed"
is "commands run in the study directory" "$(cat a/runs/*r02*/stdout.log)" "$(cd a && pwd -P)"
is "placeholders are replaced" "$(cat a/runs/*r02*/output/x)" 2
status 0 "resumed, it has nothing to do" plan a
is "and makes no run" "$(runs a)" 3
ok "the contract's bytes are kept" cmp a/contract.yaml a/contracts/*.yaml
is "under their digest" "$(basename a/contracts/*.yaml)" "$(sha256sum < a/contract.yaml | cut -d' ' -f1).yaml"
like "the ledger starts with both digests" "$(head -n 1 a/ledger.jsonl)" \
    "\"kind\":\"contract\",\"study\":\"a\",\"contract\":\\{\"source_sha256\":\"$(sha256sum < a/contract.yaml | cut -d' ' -f1)\",\"json_sha256\":\"$(cat a/contracts/*.json | sha256sum | cut -d' ' -f1)\"\\}"

# b: the second repeat fails; the contract stops the plan after it
mkdir b
cat > b/contract.yaml << 'EOT'
study: b
groups:
  - name: g
    repeats: 3
    command: [sh, -c, "exit $0", "{code}"]
    matrix: {code: [0, 7]}
    order: interleaved
EOT
status 1 "an unexpected failure gives 1" plan b
is "and stops the plan" "$(states b)" "1 completed, 1 failed"
like "saying so" "$(cat "$T/.err")" "1 of the runs did not end as expected: the contract stops the plan here"
status 1 "the failed run fills its slot" plan b
is "the plan goes on behind it" "$(states b)" "2 completed, 2 failed"
sed -i '/^study/a stop: {failed_runs: 0}' b/contract.yaml
status 2 "a contract that changed after results is refused" plan b
like "with the way out" "$(cat "$T/.err")" "the contract changed after 4 runs: with --amend --reason TEXT"
is "and nothing is run" "$(runs b)" 4
is "nor is its contract kept as if it were in force" "$(ls b/contracts | wc -l | tr -d ' ')" 2

# c: failed_runs 0 goes on whatever fails
mkdir c
sed -e 's/study: b/study: c/' b/contract.yaml > c/contract.yaml
status 1 "with failed_runs 0 the plan goes on" plan c
is "to its end" "$(states c)" "3 completed, 3 failed"
status 1 "and stays not as expected" plan c
is "without new runs" "$(runs c)" 6

# d: not ready, so refused; then ready
mkdir d
cat > d/contract.yaml << 'EOT'
study: d
readiness: {command: [test, -e, ready], timeout: 300ms, interval: 50ms}
groups:
  - name: g
    repeats: 2
    command: [sh, -c, "echo x > {output_dir}/made"]
EOT
status 1 "a server that is not ready gives 1" plan d
is "and a refused run" "$(states d)" "1 refused"
like "whose record says why" "$(cat d/runs/*/record.json)" 'not ready after 0.3 s and [0-9]+ attempts: the readiness command ended with status 1'
is "nothing was measured" "$(find d/runs -name made | wc -l | tr -d ' ')" 0
touch d/ready
status 0 "once it is ready the same command goes on" plan d
is "the refused slot is run again" "$(states d)" "2 completed, 1 refused"
is "as the second attempt" "$(grep -h '"attempt": 2' d/runs/*r01*/record.json | wc -l | tr -d ' ')" 1

# e: interrupted, then killed, then resumed
mkdir e
cat > e/contract.yaml << 'EOT'
study: e
groups:
  - name: g
    repeats: 2
    command: [sh, -c, "test -e go || exec sleep 20"]
EOT
started() {
    e_try=0
    while [ "$(find e/runs -name command.json 2> /dev/null | wc -l)" -lt "$1" ] && [ $e_try -lt 200 ]; do
        sleep 0.05
        e_try=$((e_try + 1))
    done
    sleep 0.3
}
ib-run --no-capture --plan e/contract.yaml 2> e.err &
pid=$!
started 1
status 3 "a second plan in the same study is refused" plan e
like "saying so" "$(cat "$T/.err")" "another ib-run carries out a plan in the study"
kill -TERM $pid
wait $pid
is "interrupted gives 1" $? 1
like "and says how to go on" "$(cat e.err)" "interrupted: the same command resumes the plan"
is "its run is interrupted" "$(states e)" "1 interrupted"
ib-run --no-capture --plan e/contract.yaml 2> e.err &
pid=$!
started 2
kill -KILL $pid
wait $pid 2> /dev/null
touch e/go
for p in $(grep -l "IB_RUN_DIR=$(cd e && pwd -P)/" /proc/[0-9]*/environ 2> /dev/null | cut -d/ -f3); do kill -KILL "$p" 2> /dev/null; done
status 0 "after a kill the same command goes on" plan e
is "the slots are filled" "$(grep -c '"state":"completed"' e/ledger.jsonl)" 2
is "the killed run is abandoned" "$(grep -c '"kind":"abandoned"' e/ledger.jsonl)" 1
is "the first slot took three attempts" "$(grep -h '"attempt": 3' e/runs/*r01*/record.json | wc -l | tr -d ' ')" 1

# f: a signal while the result is converted
mkdir f
cat > f/contract.yaml << 'EOT'
study: f
groups:
  - name: g
    repeats: 1
    command: ["true"]
    convert: [sh, -c, "test -e go || (kill -INT $PPID; exec sleep 20)"]
EOT
status 1 "a signal during the conversion stops the plan" plan f
is "the run is interrupted, not failed" "$(states f)" "1 interrupted"
touch f/go
status 0 "so that its slot is run again" plan f

# g: a long plan that is filled is seen to be so without reading the ledger once for each slot
mkdir g
cat > g/contract.yaml << 'EOT'
study: g
groups:
  - name: g
    repeats: 1000
    matrix: {a: [x, y]}
    command: [test, -e, stop]
EOT
status 1 "a long plan is begun" plan g
head -n 1 g/ledger.jsonl > g/first
awk 'BEGIN {
    at = "\"at\":{\"wall_at\":\"2026-11-30T16:01:02.000000000Z\",\"monotonic_ns\":1,\"boot\":null}"
    zero = sprintf("%064d", 0)
    for (i = 0; i < 2000; i++) {
        run = sprintf("20261130T160102Z-g.a-%s-r%02d-%08x", i < 1000 ? "x" : "y", i % 1000 + 1, i)
        printf("{\"seq\":%d,%s,\"kind\":\"start\",\"run\":\"%s\",\"group\":\"g\",\"cell\":\"a-%s\",\"repeat\":%d,\"attempt\":1,\"capture\":null,\"prev\":\"%s\"}\n", 2 * i + 2, at, run, i < 1000 ? "x" : "y", i % 1000 + 1, zero)
        printf("{\"seq\":%d,%s,\"kind\":\"finish\",\"run\":\"%s\",\"state\":\"completed\",\"record_sha256\":\"%s\",\"captures\":[],\"prev\":\"%s\"}\n", 2 * i + 3, at, run, zero, zero)
    }
}' | cat g/first - > g/ledger.jsonl
# seconds of processor time, whatever else the machine does
status 0 "a plan of 2000 filled slots has nothing to do, and says so soon" sh -c 'ulimit -t 5; exec ib-run --no-capture --plan g/contract.yaml'
is "it appends nothing" "$(wc -l < g/ledger.jsonl | tr -d ' ')" 4001
done_testing
