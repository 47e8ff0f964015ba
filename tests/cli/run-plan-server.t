#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Readiness, reset, warm-up and the evidence of a cache condition, against the loopback endpoint.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10

load="ib-load, --url, \"$url\", --seed, \"9\", -n, \"6\", -c, \"2\", --input-tokens, \"64\", --output-tokens, \"4\""
# study NAME CONDITION [RESET [WARM-UP [READINESS]]]: lines of YAML flow maps; COMMAND overrides the command
study() {
    mkdir "$1"
    cat > "$1/contract.yaml" << EOT
study: $1
serving: {endpoint: "$url"}
readiness: ${5:-"{url: \"$url/health\", timeout: 5s}"}
groups:
  - name: g
    repeats: 1
    command: [${COMMAND:-$load, -o, \"{output_dir\}/r.jsonl\"}]
    cache:
      condition: $2
      reset: ${3:-"{http: \"$url/reset_prefix_cache\"}"}
      ${4:+warmup: $4}
      reason: it is the test
      evidence: {engine: vllm, metrics_url: "$url/metrics", hit_share_min: 0.5}
    expect: {attempts: 6, success_rate_min: 1, server_output_tokens: true}
EOT
    ib-run --no-capture --plan "$1/contract.yaml" > "$T/.out" 2> "$1.err"
    echo $? > "$1.status"
}
record() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
print(eval(sys.argv[2]))' "$1" "$2"; }
short='"%s %s" % (r["state"], r["cache"]["evidence"])'
warm="{command: [$load]}"

study reset reset
is "a reset is confirmed" "$(record reset "$short")" "completed confirmed"
is "status 0" "$(cat reset.status)" 0
is "its hook is in the record" "$(record reset '[h["name"] + str(h["exit_status"]) for h in r["hooks"]]')" "['00-reset0']"
like "and its answer kept" "$(cat reset/runs/*/hooks/00-reset.out)" 'success": ?true'
is "readiness is in the record" "$(record reset 'r["readiness"]["status"]')" ready
is "the server counted what the client did" "$(record reset 'r["server"]["output_tokens"] == r["requests"]["output_tokens"] == 24')" True
ok "metrics are kept" grep -q vllm:prefix_cache_queries_total reset/runs/*/endpoint/metrics-after.txt
ok "so is what the endpoint says of itself" grep -q ib-loopback-synthetic reset/runs/*/endpoint/version.json
is "and that it is synthetic" "$(record reset 'r["synthetic"]')" True
study reuse reuse '' "$warm"
is "reuse after a warm-up is confirmed" "$(record reuse "$short")" "completed confirmed"
is "both hooks ran, in order" "$(record reuse '[h["name"] for h in r["hooks"]]')" "['00-reset', '01-warmup']"
study cold reuse
is "reuse without a warm-up is contradicted" "$(record cold "$short")" "completed contradicted"
like "and says why" "$(record cold 'r["cache"]["why"]')" "^0 of [0-9]+ prompt tokens .* came from the cache, where at least 50 % must"
study stale reset '{command: [true]}'
is "a reset that does nothing is contradicted" "$(record stale "$short")" "completed contradicted"
printf '#!/bin/sh\nib-load --url %s --seed 99 -n 2 --input-tokens 64 --output-tokens 4\nexec "$@"\n' "$url" > both
chmod +x both
COMMAND="\"$T/both\", $load, -o, \"{output_dir}/r.jsonl\""
study shared reset
is "somebody else on the server leaves it unconfirmed" "$(record shared 'r["cache"]["evidence"]')" unconfirmed
like "and says so" "$(record shared 'r["cache"]["why"]')" "someone else used it"
is "tokens that the client does not know are unmet" "$(record shared 'r["reasons"]')" "['expectation:server_output_tokens']"
COMMAND=true
study idle reset
is "nothing measured is not confirmed" "$(record idle 'r["cache"]["evidence"]')" unconfirmed
COMMAND=
study notfound reset "{http: \"$url/nothing\"}"
is "a reset that is not found refuses the run" "$(record notfound 'r["state"] + " " + r["reasons"][0]')" "refused reset"
like "saying so" "$(record notfound 'r["notes"][0]')" "answer's status is not 200 to 299"
is "nothing was measured" "$(find notfound/runs -name r.jsonl | wc -l | tr -d ' ')" 0
is "status 1" "$(cat notfound.status)" 1
study failing reset '{command: [sh, -c, "echo no >&2; exit 4"]}'
like "a reset command that fails refuses the run" "$(record failing 'r["state"] + " " + r["notes"][0]')" "^refused '00-reset' ended with status 4: see hooks/00-reset.err"
is "its words are kept" "$(cat failing/runs/*/hooks/00-reset.err)" no
study slow reset '{command: [sleep, "20"], timeout: 200ms}'
like "a reset that does not end refuses the run" "$(record slow 'r["state"] + " " + r["notes"][0]')" "^refused '00-reset' did not end in time"
study nowarm reuse '' '{command: [false]}'
is "a warm-up that fails refuses the run" "$(record nowarm 'r["state"] + " " + r["reasons"][0]')" "refused warm_up"
study notready reset '' '' '{url: "http://127.0.0.1:9/health", timeout: 300ms, interval: 100ms}'
like "an endpoint that is not there refuses the run" "$(record notready 'r["state"] + " " + r["notes"][0]')" "^refused not ready after 0.3 s and [0-9]+ attempts: no answer"
is "readiness says so" "$(record notready 'r["readiness"]["status"]')" not_ready
done_testing
