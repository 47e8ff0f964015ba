#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify on results that were made to look better than they are: none may end like one that was left alone.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v jq > /dev/null || skip_all "jq is not installed"
sets=$IB_SRCDIR/tests/data/clients/sets
vllm=$(echo "$sets"/vllm/04_repeat_1/openai*.json)
cd "$T" || exit 1

# forged JQ-PROGRAM [FILE]: the result of vllm, changed, by itself
forged() {
    rm -rf f
    mkdir f
    jq "$1" "${2:-$vllm}" > f/result.json
}

strip='del(.ttfts, .itls, .latencies, .start_times, .queue_times, .input_lens, .output_lens, .generated_texts, .errors)'
forged "$strip"
status 0 "records left out" ib-verify f
like "not all numbers are said to derive" "$(head -n 1 .out)" "^[0-9]+ OF [0-9]+ NUMBERS RE-DERIVE"
forged "$strip | .p99_ttft_ms = 1"
status 1 "records left out, a percentile below the one before it" ib-verify f
like "it is named" "$(cat .out)" "A10 result.json: 'p95_ttft_ms' is [0-9.]+ and 'p99_ttft_ms' is 1.0: no times have both"
forged "$strip | .median_ttft_ms = 3"
status 1 "records left out, two medians" ib-verify f
forged "$strip | .mean_ttft_ms = 3"
status 1 "records left out, a mean too far from the median" ib-verify f

guidellm=$sets/guidellm-0.8.1/conc4/benchmarks.json
version='(.metadata | .. | select(type == "object" and has("guidellm_version")) | .guidellm_version) = "99.0" | .metadata.version = 99'
forged ".benchmarks[0].metrics.request_latency.successful.mean *= 0.5" "$guidellm"
status 1 "an edited headline" ib-verify f
forged ".benchmarks[0].metrics.request_latency.successful.mean *= 0.5 | $version" "$guidellm"
status 3 "an edited headline and an edited version" ib-verify f
like "it is undecided" "$(cat .out)" "^NOT DECIDED.*"
like "and why" "$(cat .out)" "A03 .*result.json: cannot be judged here"

forged .
mkdir g && jq '.date = "20261130-172440"' "$vllm" > f/second.json
status 0 "the same records twice in one directory" ib-verify f
like "it is a warning" "$(cat .out)" "A05 second.json: the times of all 30 requests are those of 'result.json'"
mkdir f/run2 && mv f/second.json f/run2/
status 1 "the same records as another run" ib-verify f

# what is no result of a known client, and looks as if it could be one, is not passed over in silence
forged .
jq '.Completed = .completed | del(.completed)' "$vllm" > f/renamed.json
printf 'PK\003\004....' > f/more.zip
jq . "$vllm" | iconv -t UTF-16 > f/wide.json
status 0 "files that nobody knows beside a good result" ib-verify --json f
is "they are counted" "$(jq -r '.findings[] | select(.id == "A03" and .status == "not_checkable") | .message' .out | cut -d' ' -f1)" 3

forged '.duration = -1 | del(.start_times)'
ib-verify --json f > .out
is "a negative duration gives no negative number in flight" "$(jq -r '.findings[] | select(.id == "A15") | .status' .out)" not_checkable

# a study's compressed output is not read, and that is said
gzip -c "$vllm" > r.json.gz
ib-run -q -C packed --no-capture -- sh -c 'cp r.json.gz "$IB_OUTPUT_DIR"' > /dev/null
status 0 "a study with a compressed output" ib-verify --json packed
like "it is named" "$(jq -r '.findings[] | select(.id == "A03" and .status == "not_checkable") | .file' .out)" "output/r.json.gz$"

ib-verify "$sets/vllm/31_all_fail" > .out
ok "no byte of our own words is escaped" sh -c '! grep -q "\\\\x" .out'
done_testing
