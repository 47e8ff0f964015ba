#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The quality check of a contract: before and after the runs of a plan, kept apart from them, known to the ledger.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
body='{\"prompt\":\"one two three\",\"max_tokens\":3}'

# study NAME QUALITY: lines of YAML flow maps
study() {
    mkdir -p "$1"
    cat > "$1/contract.yaml" << EOT
study: $1
serving: {endpoint: "$url"}
readiness: {url: "$url/health", timeout: 2s}
workloads:
  - {name: tasks, file: tasks.txt}
quality: $2
groups:
  - {name: g, repeats: 2, command: [sh, -c, "echo measured"]}
EOT
    echo a task > "$1/tasks.txt"
    run "$1"
}
run() {
    ib-run --no-capture --plan "$1/contract.yaml" > "$T/.out" 2> "$1.err"
    echo $? > "$1.status"
}
# result NAME N EXPRESSION: of the Nth quality check
result() { python3 -c '
import json, sys, glob
q = sorted((json.load(open(f)) for f in glob.glob(sys.argv[1] + "/quality/*/result.json")), key=lambda r: r["finished_at"])
r = q[int(sys.argv[2])]
print(eval(sys.argv[3]))' "$1" "$2" "$3"; }
kinds() { python3 -c 'import json, sys; print(" ".join(json.loads(l)["kind"] for l in open(sys.argv[1] + "/ledger.jsonl")))' "$1"; }

printf 'echo chatter\necho "{\\"acc\\": 0.75}"\n' > acc.sh
study good "{when: both, workload: tasks, command: [sh, $T/acc.sh], metric: acc, minimum: 0.7, cases: [
  {name: tokens, http: \"$url/v1/completions\", body: \"$body\", json: /usage/completion_tokens, near: 3, tolerance: 0},
  {name: text, http: \"$url/v1/completions\", body: \"$body\", json: /choices/0/text, regex: '^[a-z]+ [a-z]+ [a-z]+\$'},
  {name: sum, command: [sh, -c, 'echo \$((2 + 2))'], exact: '4'}]}"
is "a quality check that passes lets the plan be run" "$(cat good.status)" 0
is "before and after" "$(kinds good)" "contract quality start finish start finish quality"
is "all cases are judged" "$(result good 0 '[c["status"] for c in r["cases"]]')" "['passed', 'passed', 'passed']"
is "so is the command's metric" "$(result good 0 '[r["command"][k] for k in ("status", "metric", "minimum", "found")]')" "['passed', 'acc', 0.7, 0.75]"
is "the whole passed" "$(result good 0 'r["status"] + " " + r["when"]')" "passed before"
is "and again after" "$(result good 1 'r["status"] + " " + r["when"]')" "passed after"
is "the workload stands by digest" "$(result good 0 'r["workload"]["sha256"]')" "$(sha256sum good/tasks.txt | cut -c1-64)"
is "outputs are kept and listed" "$(result good 0 '[f["path"] for f in r["files"]][:2] + [len(r["files"])]')" "['cases/sum.err', 'cases/sum.out', 8]"
ok "the study verifies" ib-verify --unsigned-ok good
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "results are as the schema says" python3 -c '
import json, glob, sys, jsonschema
s = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(s)
for f in glob.glob(sys.argv[2]): jsonschema.validate(json.load(open(f)), s)' "$IB_SRCDIR/schemas/quality-v1.schema.json" 'good/quality/*/result.json'
else
    skip "results are as the schema says" "python3-jsonschema is not installed"
fi
run good
is "a plan that is complete is not checked again" "$(kinds good)" "contract quality start finish start finish quality"
is "status 0" "$(cat good.status)" 0
cp -R good changed
chmod -R u+w changed
for f in changed/quality/*-before-*/cases/sum.out; do echo 5 > "$f"; done
status 1 "an output changed afterwards is found" ib-verify --unsigned-ok changed
like "by name" "$(cat "$T/.out")" 'E_HASH.*cases/sum.out'

study wrong '{cases: [{name: sum, command: [echo, "5"], exact: "4"}, {name: word, command: [echo, yes], contains: [yes]}]}'
is "a check that fails stops the plan" "$(cat wrong.status) $(kinds wrong)" "1 contract quality"
like "saying which case" "$(cat wrong.err)" "quality case 'sum': expected exact '4', found '5"
is "what was found is in the result" "$(result wrong 0 '[c["status"] for c in r["cases"]] + [r["status"]]')" "['failed', 'passed', 'failed']"
like "ib-verify says so" "$(ib-verify --unsigned-ok --json wrong)" "1 of 2 cases did not pass"
run wrong
is "the same command makes it again" "$(kinds wrong)" "contract quality quality"
study late '{when: after, cases: [{name: sum, command: [echo, "5"], exact: "4"}]}'
is "one after the runs fails the plan, and keeps them" "$(cat late.status) $(kinds late)" "1 contract start finish start finish quality"
study low '{command: [echo, "0.5"], metric: acc, minimum: 0.7}'
is "a metric below its minimum fails" "$(result low 0 'r["command"]["status"] + ": " + r["command"]["why"]')" "failed: 'acc' is 0.5, less than 0.7"
study mute '{command: [echo, nothing], metric: acc}'
is "no metric is no pass" "$(result mute 0 'r["status"]') $(cat mute.status)" "not_judged 1"
study broken '{command: [sh, -c, "echo 0.9; exit 2"], metric: acc, minimum: 0.7}'
is "nor is a number of a command that failed" "$(result broken 0 'r["status"] + " " + r["command"]["why"]')" "not_judged ended with status 2: see 'command.err'"
study hang '{command: [sleep, "20"], timeout: 200ms}'
is "nor is one that does not end" "$(result hang 0 'r["status"] + " " + r["command"]["why"]')" "not_judged did not end in time"
mkdir unlike
echo another > unlike/x
sed 's/study: good/study: unlike/' good/contract.yaml | sed "s/file: tasks.txt/file: tasks.txt, sha256: $(sha256sum unlike/x | cut -c1-64)/" > unlike/contract.yaml
echo a task > unlike/tasks.txt
run unlike
is "another workload is no quality check" "$(result unlike 0 'r["status"] + " " + str(len(r["cases"]))') $(cat unlike.status)" "not_judged 0 1"

# an ib-run that is killed within its quality check
mkdir killed
cat > killed/contract.yaml << 'EOT'
study: killed
quality: {command: [sh, -c, "echo begun; test -e done && exit; echo $$ > waiting; exec sleep 60"], cases: [{name: one, command: [echo, "1"], exact: "1"}]}
groups:
  - {name: g, repeats: 1, command: ["true"]}
EOT
ib-run --no-capture --plan killed/contract.yaml > /dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do [ -s killed/waiting ] && break; sleep 0.1; done
kill -9 $pid
wait $pid 2> /dev/null
kill "$(cat killed/waiting)"
status 1 "a check that did not end leaves files that nothing vouches for" ib-verify --unsigned-ok killed
touch killed/done
run killed
is "the next ib-run records it and goes on" "$(cat killed.status) $(kinds killed)" "0 contract quality quality start finish"
is "as abandoned" "$(result killed 0 'r["status"]') $(result killed 1 'r["status"]')" "abandoned passed"
ok "and the study verifies" ib-verify --unsigned-ok killed
done_testing
