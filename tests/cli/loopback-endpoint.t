#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loopback endpoint answers as OpenAI's API and vLLM's server do, says that it is synthetic, and ends cleanly.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v curl > /dev/null || skip_all "curl is not installed"

start_endpoint one --seed 3
pid=$lb_pid
get() { curl -sS --max-time 10 "$@"; }
code() { get -o /dev/null -w '%{http_code}' "$@"; }
metric() { get "$url/metrics" | sed -n "s/^$1\({[^}]*}\)\{0,1\} //p"; }

is "health is 200" "$(code "$url/health")" 200
like "version says synthetic" "$(get "$url/version")" '^\{"version":"ib-loopback-synthetic-[^"]*","synthetic":true,"system_fingerprint":"ib-loopback-synthetic-'
like "models lists one" "$(get "$url/v1/models")" '"id":"ib-loopback-synthetic","object":"model".*"max_model_len":8192'
like "tokenize counts words" "$(get "$url/tokenize" -d '{"prompt":"one two thirteenbytes"}')" '^\{"count":4,"max_model_len":8192,"tokens":\[[0-9]+,[0-9]+,[0-9]+,[0-9]+\]'
like "tokenize counts a chat" "$(get "$url/tokenize" -d '{"messages":[{"role":"user","content":"one two"}]}')" '^\{"count":4,'
is "load is idle" "$(get "$url/load")" '{"server_load":0}'

body='{"prompt":"one two three","max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}'
get "$url/v1/completions" -d "$body" > "$T/stream"
is "a stream has one chunk a token, usage and the end mark" "$(grep -c '^data: ' "$T/stream")" 5
is "the end mark is last" "$(grep '^data: ' "$T/stream" | tail -n 1)" "data: [DONE]"
is "every chunk carries the fingerprint" "$(grep -c '"system_fingerprint":"ib-loopback-synthetic-' "$T/stream")" 4
is "the last token carries the reason" "$(grep -c '"finish_reason":"length"' "$T/stream")" 1
like "usage counts both sides" "$(grep '"choices":\[\]' "$T/stream")" '"usage":\{"prompt_tokens":3,"completion_tokens":3,"total_tokens":6'
get "$url/v1/completions" -d "$body" > "$T/stream2"
is "the same prompt gives the same words" "$(grep -o '"text":"[^"]*"' "$T/stream")" "$(grep -o '"text":"[^"]*"' "$T/stream2")"
is "without asking there is no usage" "$(get "$url/v1/completions" -d '{"prompt":"a","max_tokens":2,"stream":true}' | grep -c usage)" 0
is "continuous usage is in every chunk" \
    "$(get "$url/v1/completions" -d '{"prompt":"a","max_tokens":2,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}' | grep -c '"usage":{')" 3

get "$url/v1/chat/completions" -d '{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_tokens":2,"stream":true}' > "$T/chat"
like "a chat opens with the role" "$(grep '^data: ' "$T/chat" | head -n 1)" '"delta":\{"role":"assistant","content":""\}'
is "a chat has role, two tokens and the end mark" "$(grep -c '^data: ' "$T/chat")" 4
like "an answer in one piece" "$(get "$url/v1/chat/completions" -d '{"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":2}')" \
    '"object":"chat.completion".*"message":\{"role":"assistant","content":"[a-z]+ [a-z]+"\}.*"completion_tokens":2'
like "token ids are a prompt" "$(get "$url/v1/completions" -d '{"prompt":[1,2,3],"max_tokens":1}')" '"prompt_tokens":3,"completion_tokens":1'
get -0 "$url/v1/completions" -d "$body" > "$T/old"
is "HTTP/1.0 gets the same stream without chunks" "$(grep -c '^data: ' "$T/old")" 5

is "an unknown path is 404" "$(code "$url/nothing")" 404
is "a wrong method is 405" "$(code "$url/v1/completions")" 405
is "an unknown model is 404" "$(code "$url/v1/completions" -d '{"model":"other","prompt":"a"}')" 404
is "a duplicate key is 400" "$(code "$url/v1/completions" -d '{"prompt":"a","prompt":"b"}')" 400
is "more than the context is 400" "$(code "$url/v1/completions" -d '{"prompt":"a","max_tokens":8192}')" 400
is "two choices are 400, not silently one" "$(code "$url/v1/completions" -d '{"prompt":"a","n":2}')" 400
is "an empty prompt is 400" "$(code "$url/v1/completions" -d '{"prompt":" "}')" 400
is "a body over 4 MiB is 413" "$(head -c 4200000 /dev/zero | code -H 'Expect:' "$url/v1/completions" --data-binary @-)" 413

# 256 words: 16 blocks, of which the last holds the token that is always computed
long=$(awk 'BEGIN { for (i = 0; i < 256; i++) printf "word%d ", i }')
q=$(metric vllm:prefix_cache_queries_total) h=$(metric vllm:prefix_cache_hits_total)
get "$url/v1/completions" -d "{\"prompt\":\"$long\",\"max_tokens\":1}" > /dev/null
is "a new prompt hits nothing" "$(metric vllm:prefix_cache_hits_total)" "$h"
get "$url/v1/completions" -d "{\"prompt\":\"$long\",\"max_tokens\":1}" > "$T/again"
is "a known prompt hits all blocks but the last" "$(metric vllm:prefix_cache_hits_total)" "$(awk "BEGIN { printf \"%.1f\", $h + 240 }")"
is "queries count prompt tokens" "$(metric vllm:prefix_cache_queries_total)" "$(awk "BEGIN { printf \"%.1f\", $q + 512 }")"
like "usage tells the cached tokens" "$(cat "$T/again")" '"cached_tokens":240'
is "reset is done when idle" "$(get -X POST "$url/reset_prefix_cache")" '{"success":true}'
get "$url/v1/completions" -d "{\"prompt\":\"$long\",\"max_tokens\":1}" > /dev/null
is "after a reset nothing is hit" "$(metric vllm:prefix_cache_hits_total)" "$(awk "BEGIN { printf \"%.1f\", $h + 240 }")"
curl -sS --max-time 10 "$url/v1/completions" -d '{"prompt":"a","max_tokens":2000,"stream":true}' > "$T/slow" &
slow=$!
sleep 0.15
is "reset is refused while a request runs" "$(get -X POST -w ' %{http_code}' "$url/reset_prefix_cache")" '{"success":false} 409'
is "the running request is counted" "$(metric vllm:num_requests_running)" 1.0
kill $slow
wait $slow 2> /dev/null
n=0
while [ "$(metric vllm:num_requests_running)" != 0.0 ] && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); done
is "a client that goes away aborts its request" "$(get "$url/metrics" | sed -n 's/^vllm:request_success_total{.*finished_reason="abort".*} //p')" 1.0
like "the cache's settings are a metric" "$(get "$url/metrics")" '^vllm:cache_config_info\{block_size="16",enable_prefix_caching="True"'
like "start time is a metric" "$(metric process_start_time_seconds)" '^[0-9]+\.[0-9]{3}$'

curl -sS --max-time 10 "$url/v1/completions" -d '{"prompt":"a","max_tokens":4000,"stream":true}' > "$T/cut" 2> /dev/null &
cut=$!
sleep 0.15
end_endpoint "$pid"
wait $cut
is "SIGTERM ends it with status 0" "$lb_status" 0
is "a running stream breaks off without the end mark" "$(grep -c '\[DONE\]' "$T/cut")" 0
like "the truth log tells of the broken answer" "$(tail -n 1 "$T/one.truth")" '"output_tokens":[1-9][0-9]*,.*"finish_reason":"abort"'
status 2 "a truth log is never overwritten" ib-loopback --truth "$T/one.truth"
status 2 "a wrong fault is a usage error" ib-loopback --fault http500=2
status 2 "an unknown fault is a usage error" ib-loopback --fault slow=1
like "the known ones are named" "$(cat "$T/.err")" 'http500, http503, .*late'
status 2 "a fault without a share is a usage error" ib-loopback --fault hang
status 2 "shares above 1 together are a usage error" ib-loopback --fault hang=0.6 --fault late=0.6
done_testing
