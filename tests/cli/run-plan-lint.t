#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --dry-run ends with lints: what makes a plan's numbers weaker than they look. Each lint is seen, and not seen where there is nothing to say.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

# a plan that is as it should be: every lint below is one change to it
clean() {
    cat << 'EOT'
study: s
question: q
boundary: b
decision: d
limitations: [few]
metrics: [ttft_p50, "p95 ttft"]
workloads:
  - {name: w, file: w.jsonl, sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}
groups:
  - name: base
    fixed: {prompts: "40"}
    matrix: {cap: [1, 4]}
    repeats: 3
    workload: w
    cache: {condition: reset, reset: {http: "http://127.0.0.1:9/r"}, evidence: {engine: vllm, metrics_url: "http://127.0.0.1:9/m"}}
    command: [vllm, bench, serve, --model, m, --num-prompts, "40", --max-concurrency, "{cap}", --save-result, --save-detailed, --percentile-metrics, "ttft,e2el", --result-dir, "{output_dir}"]
    timeout: 60s
    expect: {attempts: 40, success_rate_min: 1}
  - name: later
    gate: base
    fixed: {prompts: "40"}
    matrix: {cap: [1, 4]}
    repeats: 3
    workload: w
    cache: {condition: reset, reset: {http: "http://127.0.0.1:9/r"}, evidence: {engine: vllm, metrics_url: "http://127.0.0.1:9/m"}}
    command: [vllm, bench, serve, --model, m, --num-prompts, "40", --max-concurrency, "{cap}", --save-result, --save-detailed, --percentile-metrics, "ttft,e2el", --result-dir, "{output_dir}"]
    timeout: 60s
    expect: {attempts: 40, success_rate_min: 1}
EOT
}
lints() { ib-run --plan "$1" --dry-run | sed -n 's/^# //p'; }
# lint ID NAME ERE SED…: after the change there is that lint, matching
lint() {
    lint_id=$1 lint_name=$2 lint_want=$3; shift 3
    clean | sed "$@" > c.yaml
    lint_got=$(lints c.yaml)
    like "$lint_id: $lint_name" "$(printf '%s\n' "$lint_got" | grep "^$lint_id ")" "$lint_want"
}

clean > clean.yaml
status 0 "a plan as it should be" ib-run --plan clean.yaml --dry-run
is "has no lint" "$(lints clean.yaml)" ""
lint L01 "a variable that is not in 'varies'" "base: 'top' varies too" -e '/name: base/,/name: later/s/matrix: {cap: \[1, 4\]}/matrix: {cap: [1, 4], top: [a, b]}\n    varies: [cap]/' -e 's/--model, m,/--model, "m{{",/'
lint L02 "a variable that no command has" "later: no command has '\{cap\}': its cells are the same" -e '/name: later/,$s/"{cap}"/"4"/'
lint L03 "another timeout than the gate" "later: its timeout is 90 s and that of 'base' 60 s" -e '/name: later/,$s/timeout: 60s/timeout: 90s/'
is "L03: unless it is said" "$(sed '/name: later/,$s/fixed: {/fixed: {timeout: longer, /' c.yaml > d.yaml; lints d.yaml)" ""
lint L03 "another workload" "later: its workload is '-' and that of 'base' 'w'" -e '/name: later/,$s/    workload: w//'
lint L03 "another cache condition" "later: its cache condition is 'cold' and that of 'base' 'reset'" -e '/name: later/,$s/condition: reset/condition: cold/'
lint L03 "other expectations" "later: it expects other attempts" -e '/name: later/,$s/attempts: 40/attempts: 20/'
lint L04 "another model in the command" "later: 'model' is n in its command and m in that of 'base'" -e '/name: later/,$s/--model, m/--model, n/'
lint L04 "another client" "later: its client is another program and that of 'base' vllm-bench" -e '/name: later/,$s/vllm, bench, serve/mine/'
is "L04: a number that both call fixed is meant" "$(clean | sed -e '/name: later/,$s/"40"/"20"/g' -e '/name: later/,$s/attempts: 40/attempts: 20/' > d.yaml; lints d.yaml)" ""
lint L05 "a rate and a cap" "base.cap-4: at 2 requests/s the cap of 4 is reached only when requests take longer than 2 s" -e 's/--max-concurrency/--request-rate, "2", --max-concurrency/'
is "L05: an infinite rate is none" "$(sed 's/"2"/inf/' c.yaml > d.yaml; lints d.yaml)" ""
lint L06 "too few requests for a percentile" "base.cap-1: 40 requests are too few for 'p99 ttft': p99 takes 100" -e 's/p95 ttft/p99 ttft/'
is "L06: gaps between tokens are more than requests" "$(sed 's/p99 ttft/p99 itl/' c.yaml > d.yaml; lints d.yaml)" ""
lint L07 "a single repeat" "base: each cell is run once" -e 's/repeats: 3/repeats: 1/'
lint L08 "the default seed, cold and no reset" "base.cap-1: seed 0 is the same in every repeat and nothing resets the cache: from the second one on it is not 'cold'" \
    -e 's/condition: reset, reset: {[^}]*}/condition: cold/'
is "L08: a seed of each repeat's own" "$(sed 's/--model, m/--seed, "{repeat}", --model, m/' c.yaml > d.yaml; lints d.yaml)" ""
lint L09 "warm-ups of the client" "base.cap-1: the client sends 5 warm-up requests" -e 's/--model, m/--num-warmups, "5", --model, m/'
lint L09 "its ready check" "base.cap-1: the client's ready check sends the first measured prompt" -e 's/--model, m/--ready-check-timeout-sec, "60", --model, m/'
is "L09: a ready check of 0 s is off" "$(sed 's/"60"/"0"/' c.yaml > d.yaml; lints d.yaml)" ""
lint L10 "a condition without evidence" "base: nothing in 'evidence' shows its cache condition" -e 's/, evidence: {[^}]*}//'
lint L11 "no detailed results" "base: --save-detailed is missing" -e 's/--save-detailed, //'
lint L11 "results of all runs in one directory" "base: --result-dir \{output_dir\} is missing" -e 's/"{output_dir}"/results/'
lint L12 "nothing for the run's own directory" "base: neither command nor 'convert' uses \{output_dir\}" -e 's/"{output_dir}"/results/'
lint L13 "one file for all repeats" "base: every repeat writes 'r.json'" -e 's/--result-dir, "{output_dir}"/--result-filename, r.json/'
lint L14 "two clients in one run" "base.cap-1: its command starts a client more than once" \
    -e 's/command: .*/command: [sh, -c, "cd {output_dir}; vllm bench serve --save-result --save-detailed --percentile-metrics e2el; vllm bench serve --save-result --max-concurrency {cap}"]/'
lint L14 "a result appended to another" "base.cap-1: --append-result adds to a file" -e 's/--save-result/--save-result, --append-result/'
lint L15 "no timeout" "base: no timeout" -e '/timeout: 60s/d'
lint L16 "no expectations" "base: it expects nothing but an exit status" -e '/expect:/d'
lint L17 "no gate" "later: no gate: it is run although 'base' may have failed" -e '/gate:/d'
lint L18 "a diagnostic gate" "later: its gate 'base' is diagnostic" -e 's/- name: base/- name: base\n    diagnostic: true/'
lint L19 "a workload without a digest" "^L19 workload 'w' has no sha256" -e 's/, sha256: [0-9a-f]*//'
lint L20 "a client that is another" "base: 'client' is guidellm and the command that of vllm-bench" -e 's/- name: base/- name: base\n    client: guidellm/'
lint L21 "nothing said about its limits" "^L21 the contract does not say boundary limitations" -e '/^boundary/d' -e '/^limitations/d'
for c in sglang aiperf guidellm; do
    case $c in
    sglang) cmd='python3, -m, sglang.bench_serving' want='--output-details is missing' ;;
    aiperf) cmd='aiperf, profile' want='--output-artifact-dir \{output_dir\} is missing' ;;
    guidellm) cmd='guidellm, benchmark, run' want='--output \{output_dir\} is missing' ;;
    esac
    lint L11 "$c" "base: $want" -e "s/command: .*/command: [$cmd, --x, \"{cap}\"]/"
done
lint L09 "sglang warms up by itself" "base.cap-1: the client sends 1 warm-up requests" -e 's/command: .*/command: [python3, -m, sglang.bench_serving, "{cap}"]/'
lint L14 "a sweep is many results" "base.cap-1: a sweep is several" -e 's/command: .*/command: [guidellm, benchmark, run, --rate-type, sweep, "{cap}"]/'
echo 'report: {request_lifecycle: {summary: true}}' > ip.yaml
lint L11 "inference-perf without records" "base: --storage|'ip.yaml' does not set 'per_request: true'" -e 's/command: .*/command: [inference-perf, -c, ip.yaml, "{cap}"]/'
echo 'per_request: true' > ip.yaml
is "L11: and with them" "$(lints c.yaml | grep -c per_request)" 0

missing=
for n in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21; do
    grep -q "^\.It Li L$n\$" "$IB_SRCDIR/man/ib-run.1" || missing="$missing L$n"
done
is "the manual has them all" "$missing" ""

# many cells: a lint says so once and counts
clean | sed -e 's/matrix: {cap: \[1, 4\]}/matrix: {cap: [1, 2, 3, 4, 5, 6, 7, 8]}/' -e 's/--model, m/--num-warmups, "5", --model, m/' > c.yaml
is "a lint is bounded" "$(lints c.yaml | grep -c '^L09')" 5
like "and says how many more" "$(lints c.yaml)" "^L09 and 12 more like this"
clean | sed -e 's/--model, m/--model, "a\\u001b[31mb"/' -e '/name: later/,$s/u001b\[31mb/u001b[32mb/' > c.yaml
is "no byte of a contract reaches the terminal raw" "$(ib-run --plan c.yaml --dry-run | tr -dc '\033' | wc -c | tr -d ' ')" 0
status 0 "lints stop nothing" ib-run -q --no-capture -C fresh --plan d.yaml --dry-run
# with results of the gate at hand, its end-to-end time tells what a rate does to a cap
. "$IB_SRCDIR/tests/cli/loopback.sh"
start_endpoint one --seed 5 --prefill-base-us 1000 --prefill-token-us 1 --decode-token-us 1000
mkdir known
known() {
    cat > known/contract.yaml << EOT
study: known
groups:
  - name: base
    repeats: 1
    command: [ib-load, --url, "$url", --seed, "9", -n, "8", -c, "1", --input-tokens, "8", --output-tokens, "16", -o, "{output_dir}/r.jsonl"]
  - name: rated
    gate: base
    repeats: 1
    matrix: {rate: [$1]}
    command: [mine, --request-rate, "{rate}", --max-concurrency, "4", "{output_dir}"]
EOT
}
known "2, 100000"
like "L05: before there are results" "$(lints known/contract.yaml | grep '^L05')" "rated.rate-2: at 2 requests/s the cap of 4 is reached only when"
ib-run -q --no-capture --plan known/contract.yaml --only base > out 2>&1 || cat out
lints known/contract.yaml | grep '^L05' > out
like "L05: the cap will stay unused" "$(cat out)" "rated.rate-2: 2 requests/s will leave the cap of 4 unused: at the 0\.[0-9]+ s that a request took in run '[^']*-base.all-r01-[0-9a-f]{8}'"
like "L05: or keep the rate from being reached" "$(cat out)" "rated.rate-100000: the cap of 4 will keep 100000 requests/s from being reached"
is "L05: a run that is excluded tells nothing" "$(ib-run -q -C known --exclude "$(basename known/runs/*)" --reason "a pilot" 2> /dev/null; lints known/contract.yaml | grep -c 'at 2 requests/s the cap')" 1
for e in loopback smollm2; do
    is "the example '$e' has none" "$(lints "$IB_SRCDIR/examples/$e/contract.yaml")" ""
done
done_testing
