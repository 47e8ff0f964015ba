#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every fault of the loopback endpoint: what goes over the wire, what its log says, what ib-load makes of it, request by request.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
command -v curl > /dev/null || skip_all "curl is not installed"
get() { curl -sS --max-time 5 "$@"; }

# agree RECORDS TRUTH FAULT SHARE: each faulty request was counted as what it was, each other one as a success
cat > "$T/agree.py" <<'PY'
import json, sys
records, truth, fault, share = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
rows = [json.loads(l) for l in open(records)][1:]
truth = {t["prompt_sha256"]: t for t in map(json.loads, open(truth)) if t["what"] in ("completion", "chat")}
want = {
    "http500": ("error", "http_status"), "http503": ("error", "http_status"), "stream_error": ("error", "stream_error"),
    "stream_cut": ("error", "stream_cut"), "early_stop": ("ok", None), "bundled": ("ok", None), "no_usage": ("ok", None),
    "hang": ("timeout", "timeout"), "late": ("ok", None), "slow_start": ("error", "http_status"),
}
assert len(truth) == len(rows) == 20, (len(truth), len(rows))
hit = 0
for r in rows:
    t = truth[r["prompt_sha256"]]
    assert t["fault"] in (None, fault), t
    outcome = want[fault] if t["fault"] else ("ok", None)
    hit += t["fault"] is not None
    assert (r["outcome"], r["error_class"]) == outcome, (t, r)
    assert r["http_status"] == t["status"], (t, r)
    assert r["output_tokens_asked"] == 16
    if t["status"] == 200:
        assert t["output_tokens_asked"] == 16 and r["output_tokens"] == t["output_tokens"] > 0, (t, r)
        assert t["chunks"] == len(r["itl_ns"]) + 1, (t, r)
    else:
        assert t["output_tokens"] == 0 and r["output_tokens"] is None and r["ttft_ns"] is None, (t, r)
    short = t["fault"] in ("stream_error", "stream_cut", "early_stop")
    assert t["output_tokens"] == (8 if short else 16 if t["status"] == 200 else 0), t
    assert r["finish_reason"] == {"early_stop": "stop", "stream_error": None, "stream_cut": None}.get(t["fault"], "length") or t["status"] != 200, (t, r)
    assert t["chunks"] == (4 if t["fault"] == "bundled" else t["output_tokens"]), t
    assert r["token_source"] == (None if t["status"] != 200 else "chunks" if t["fault"] in ("no_usage", "stream_error", "stream_cut") else "usage"), (t, r)
    assert t["client_gone"] == (t["fault"] == "hang"), t
    if t["fault"] == "late":
        assert r["ttft_ns"] > 200_000_000, r
assert hit == round(20 * share), hit
PY
fault() { # NAME SHARE OPTION…
    name=$1 share=$2; shift 2
    start_endpoint "$name" --seed 5 --fault "$name=$share" "$@"
    ok "$name: ib-load ends with 0" ib-load --url "$url" -c 2 -n 20 --input-tokens 32 --timeout 700ms -o "$T/$name.jsonl"
    end_endpoint "$lb_pid"
    is "$name: the endpoint ends well" "$lb_status" 0
    ok "$name: records agree with the truth, request by request" python3 "$T/agree.py" "$T/$name.jsonl" "$T/$name.truth" "$name" "$share"
}
for f in http500 http503 stream_error stream_cut early_stop bundled no_usage; do fault $f 0.25; done
fault hang 0.1
fault late 0.1 --late 200ms

# several at once: each its share, none twice, seeded
start_endpoint mix --seed 5 --fault http503=0.2 --fault stream_cut=0.2 --fault early_stop=0.2
ib-load --url "$url" -c 1 -n 50 -o "$T/mix.jsonl" > /dev/null
end_endpoint "$lb_pid"
start_endpoint again --seed 5 --fault early_stop=0.2 --fault stream_cut=0.2 --fault http503=0.2
ib-load --url "$url" -c 1 -n 50 -o "$T/again.jsonl" > /dev/null
end_endpoint "$lb_pid"
order() { sed 's/.*"fault":\([^,]*\),.*/\1/' "$1"; }
for f in http503 stream_cut early_stop; do
    n=$(grep -c "\"fault\":\"$f\"" "$T/mix.truth")
    ok "several faults: $f takes a fifth ($n of 50)" test "$n" -ge 9 -a "$n" -le 11
done
is "several faults: the seed alone says which" "$(order "$T/mix.truth")" "$(order "$T/again.truth")"

# on the wire
start_endpoint wire --fault http503=1
like "503 without a reason phrase" "$(get -i "$url/v1/completions" -d '{"prompt":"a"}' | head -1 | tr -d '\r')" '^HTTP/1.1 503 $'
end_endpoint "$lb_pid"
start_endpoint inband --fault stream_error=1
get -w '%{http_code}' "$url/v1/completions" -d '{"prompt":"a","max_tokens":8,"stream":true}' > "$T/inband"
is "an error within a stream comes with status 200, behind half the tokens" "$(grep -c '"text":' "$T/inband") $(tail -n 1 "$T/inband")" "4 200"
like "the error is an event" "$(cat "$T/inband")" '^data: \{"error":\{"message":"made-up failure"'
is "the end mark follows it" "$(grep -c '^data: \[DONE\]' "$T/inband")" 1
like "in one piece it is the answer" "$(get "$url/v1/completions" -d '{"prompt":"a","max_tokens":8}')" '^\{"error":\{'
like "the counters know of it" "$(get "$url/metrics")" 'finished_reason="error".* 2.0'
end_endpoint "$lb_pid"
start_endpoint nousage --fault no_usage=1
ok "no usage in one piece" sh -c "! curl -sS '$url/v1/completions' -d '{\"prompt\":\"a\"}' | grep -q usage"
end_endpoint "$lb_pid"
start_endpoint cutpiece --fault stream_cut=1
status 52 "an answer in one piece that is cut is none" get "$url/v1/completions" -d '{"prompt":"a"}'
end_endpoint "$lb_pid"
start_endpoint one --fault early_stop=1
like "one asked token cannot be cut short" "$(get "$url/v1/completions" -d '{"prompt":"a","max_tokens":1}')" '"finish_reason":"length"'
end_endpoint "$lb_pid"
like "and its log tells of no fault" "$(cat "$T/one.truth")" '"fault":null,.*"output_tokens":1,'

# start-up
start_endpoint starting --slow-start 600ms
is "while it starts, every path says 503" "$(get -o /dev/null -w '%{http_code}' "$url/health")" 503
is "a request too" "$(get -o /dev/null -w '%{http_code}' "$url/v1/completions" -d '{"prompt":"a"}')" 503
like "which the log tells" "$(cat "$T/starting.truth")" '"status":503,"fault":"slow_start"'
sleep 0.7
is "then it is ready" "$(get -o /dev/null -w '%{http_code}' "$url/health")" 200
end_endpoint "$lb_pid"
start_endpoint refusing --slow-listen 700ms
status 7 "before it listens connections are refused" get "$url/health"
sleep 0.8
is "then it answers" "$(get -o /dev/null -w '%{http_code}' "$url/health")" 200
end_endpoint "$lb_pid"
start_endpoint brief --slow-listen 60s --lifetime 300ms
sleep 0.6
end_endpoint "$lb_pid"
is "its lifetime ends it before it ever listens" "$lb_status" 0
start_endpoint hanging --fault hang=1 --lifetime 1s
status 52 "a hang ends with the endpoint" get "$url/v1/completions" -d '{"prompt":"a"}'
like "the log says that nobody went away" "$(cat "$T/hanging.truth")" '"status":null,"fault":"hang",.*"client_gone":false'
done_testing
