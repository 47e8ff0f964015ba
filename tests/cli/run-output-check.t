#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The output check before each run: an output that is not what the contract says refuses the run, before anything is reset or measured.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10

# study NAME ANSWER: lines of a YAML flow map
study() {
    mkdir "$1"
    cat > "$1/contract.yaml" << EOT
study: $1
serving: {endpoint: "$url"}
readiness: {url: "$url/health", timeout: 5s}
groups:
  - name: g
    matrix: {cap: [1]}
    repeats: 1
    command: [sh, -c, "echo measured > {output_dir}/r.txt"]
    output_check: $2
    cache: {condition: reset, reset: {command: [touch, reset-was-run]}}
EOT
    ib-run --no-capture --plan "$1/contract.yaml" > "$T/.out" 2> "$1.err"
    echo $? > "$1.status"
}
record() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
c = r["output_check"]
print(eval(sys.argv[2]))' "$1" "$2"; }
body='{\"prompt\":\"one two three\",\"max_tokens\":3,\"temperature\":0}'

study good "{http: \"$url/v1/completions\", body: \"$body\", json: /usage/prompt_tokens, equals: \"3\"}"
is "a right answer lets the run be made" "$(record good 'r["state"] + " " + c["status"]')" "completed passed"
is "status 0" "$(cat good.status)" 0
is "what was found stands beside what was expected" "$(record good '[c["conditions"][0][k] for k in ("kind", "expected", "found")]')" "['equals', '3', '3']"
ok "the output is kept" grep -q text_completion good/runs/*/hooks/output-check.out
is "by digest" "$(record good 'c["output"]["sha256"]')" "$(sha256sum good/runs/*/hooks/output-check.out | cut -c1-64)"
ok "and the study verifies" ib-verify --unsigned-ok good
is "the endpoint got one request, as JSON" "$(grep -c '"status":200' one.truth)" 1
study wrong "{http: \"$url/v1/completions\", body: \"$body\", json: /choices/0/text, exact: Paris}"
is "a wrong answer refuses the run" "$(record wrong 'r["state"] + " " + r["reasons"][0]')" "refused output_check"
like "and says what was found" "$(record wrong 'r["notes"][0]')" "^the output check failed: expected exact 'Paris', found '[a-z ]+'"
is "status 1" "$(cat wrong.status)" 1
is "nothing was measured" "$(find wrong/runs -name r.txt | wc -l | tr -d ' ')" 0
ok "nothing was reset" test ! -e wrong/reset-was-run
study refuses "{http: \"$url/nothing\", body: \"$body\", contains: [a]}"
is "no answer refuses it too" "$(record refuses 'r["reasons"][0] + " " + c["status"]')" "output_check not_judged"
like "and says why" "$(record refuses 'c["why"]')" "status is not 200 to 299: see 'hooks/output-check.err'"
study command '{command: [echo, "cap {cap} of {cell}"], exact: cap 1 of cap-1}'
is "a command is an answer, with its variables" "$(record command 'r["state"] + " " + c["how"]')" "completed command"
study fails '{command: [sh, -c, "echo right; exit 3"], exact: right}'
is "a command that fails gives none" "$(record fails 'r["state"] + " " + c["why"]')" "refused ended with status 3: see 'hooks/output-check.err'"
study slow '{command: [sleep, "20"], timeout: 200ms, exact: x}'
is "one that does not end gives none" "$(record slow 'r["state"] + " " + c["why"]')" "refused no output in time"
study large '{command: [head, -c, "2000000", /dev/zero], exact: x}'
is "an endless output is not judged" "$(record large 'r["state"] + " " + c["why"]')" "refused the output is larger than 1048576 bytes"
IB_TEST_KEY=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH
export IB_TEST_KEY
study secret "{http: \"$url/v1/completions\", body: '{\"prompt\":\"\${env:IB_TEST_KEY} two\",\"max_tokens\":1}', json: /usage/prompt_tokens, near: 6, tolerance: 3}"
is "a secret in a body is posted" "$(record secret 'r["state"]')" completed
ok "and is in no file" sh -c '! grep -rq sk-proj-abcdef secret'
mkdir bad
for bad in 'regex: "a("|is no POSIX extended regular expression' 'json: choices, equals: x|is no JSON Pointer' 'timeout: 5s|nothing is expected'; do
    printf 'study: s\ngroups:\n  - name: g\n    repeats: 1\n    command: [true]\n    output_check: {command: [x], %s}\n' "${bad%|*}" > bad/contract.yaml
    status 2 "refused with the contract: ${bad%|*}" ib-run --no-capture --plan bad/contract.yaml
    like "saying: ${bad#*|}" "$(cat "$T/.err")" "${bad#*|}"
done
study_remote='{http: "http://203.0.113.7/v1/completions", body: "{}", exact: x}'
study remote "$study_remote"
is "another's endpoint needs permission" "$(cat remote.status)" 2
like "and is named" "$(cat remote.err)" "203.0.113.7.* neither this machine nor on a private network"
done_testing
