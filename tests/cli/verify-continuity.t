#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A33: counters continue from run to run, also where a reset by HTTP lies between them; what nobody ran for the study is found.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
# study NAME [COMMAND FOR BETWEEN THE RUNS…]
study() {
    name=$1; shift
    mkdir "$name"
    cat > "$name/contract.yaml" << EOT
study: $name
groups:
  - name: g
    repeats: 2
    command: [ib-load, --url, "$url", --seed, "9", -n, "6", -c, "2", --input-tokens, "64", --output-tokens, "4", -o, "{output_dir}/r.jsonl"]
    cache: {condition: reset, reset: {http: "$url/reset_prefix_cache"}, evidence: {engine: vllm, metrics_url: "$url/metrics"}}
EOT
    ib-run --no-capture --no-sample --plan "$name/contract.yaml" --only g.all.r1 > "$name.out" 2> "$name.err"
    [ $# -eq 0 ] || "$@" > /dev/null 2>&1
    ib-run --no-capture --no-sample --plan "$name/contract.yaml" >> "$name.out" 2>> "$name.err"
    ib-verify --json "$name" > "$name.json" 2> /dev/null
    python3 -c '
import json, sys
f = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "A33"]
print([x["status"] for x in f], [x["message"] for x in f if x["status"] == "fail"])' "$name.json"
}
like "two runs one after another: passed" "$(study sound)" "^\['pass'"
like "requests between them that are in no run: found, with their number" "$(study between ib-load --url "$url" -n 3 --input-tokens 32 --output-tokens 2 -o "$T/other.jsonl")" \
    "^\['fail.*the server finished 3 requests \(6 output tokens\) that are in no run"
done_testing
