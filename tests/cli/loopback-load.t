#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-load: fresh files, schema, outcomes; what it records agrees with what the endpoint says it sent.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"

# agree RECORDS TRUTH WANT-OK WANT-ERROR: every request once in both, with the same status, tokens and possible times
agree() {
    python3 - "$@" <<'PY'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
truth = [json.loads(l) for l in open(sys.argv[2])]
truth = {t["prompt_sha256"]: t for t in truth if t["what"] != "reset_prefix_cache"}
head, rows = lines[0], [r for r in lines[1:]]
assert head["schema"] == "urn:ibtools:requests:v1" and head["complete"] is True
assert len(rows) == head["args"]["num_prompts"] + head["args"]["num_warmups"]
assert len({(r["warmup"], r["index"]) for r in rows}) == len(rows)
assert len({r["prompt_sha256"] for r in rows}) == len(rows), "prompts repeat"
assert len(truth) == len(rows), (len(truth), len(rows))
count = {"ok": 0, "error": 0}
for r in rows:
    t = truth[r["prompt_sha256"]]
    assert t["status"] == r["http_status"], (t, r)
    if r["outcome"] == "ok":
        assert t["output_tokens"] == r["output_tokens"] == r["output_tokens_asked"] == 1 + len(r["itl_ns"]) == t["chunks"], (t, r)
        assert t["prompt_tokens"] == r["input_tokens"] and t["finish_reason"] == r["finish_reason"] == "length", (t, r)
        assert r["ttft_ns"] >= t["first_token_ns"] and r["e2e_ns"] >= t["last_token_ns"], (t, r)
        assert r["ttft_ns"] + sum(r["itl_ns"]) == r["e2e_ns"]
    else:
        assert t["fault"] == "http500" and r["error_class"] == "http_status" and r["http_status"] == 500
        assert r["ttft_ns"] is None and r["itl_ns"] is None and r["e2e_ns"] is None and r["output_tokens"] is None, r
    if not r["warmup"]:
        count[r["outcome"]] += 1
        assert r["start_ns"] >= head["window"]["start_ns"]
assert [count["ok"], count["error"]] == [int(sys.argv[3]), int(sys.argv[4])], count
PY
}
valid() {
    python3 - "$IB_SRCDIR/schemas/requests-v1.schema.json" "$@" <<'PY'
import json, sys, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
for path in sys.argv[2:]:
    for line in open(path):
        v.validate(json.loads(line))
PY
}
field() { python3 -c 'import json,sys; v=json.loads(open(sys.argv[1]).readline())
for k in sys.argv[2].split("."): v=v[k]
print(json.dumps(v))' "$1" "$2"; }
outcomes() { sed 1d "$1" | grep -c "\"outcome\":\"$2\""; }

start_endpoint one --seed 3
ok "a closed loop of one" ib-load --url "$url" -c 1 -n 10 -o "$T/a.jsonl"
like "the summary names the endpoint as synthetic" "$(cat "$T/.out")" '^endpoint .* ib-loopback-synthetic-'
is "the header says synthetic" "$(field "$T/a.jsonl" synthetic)" true
like "the header holds the fingerprint" "$(field "$T/a.jsonl" endpoint.system_fingerprints)" '^\["ib-loopback-synthetic-[^",]*"\]$'
end_endpoint "$lb_pid"
ok "records agree with the truth" agree "$T/a.jsonl" "$T/one.truth" 10 0

start_endpoint two --seed 3 --fault http500=0.25
ok "faults do not end the client" ib-load --url "$url" -c 4 -n 40 --num-warmups 4 --seed 9 -o "$T/b.jsonl"
end_endpoint "$lb_pid"
is "the share of faults is exact" "$(grep -c '"fault":"http500"' "$T/two.truth")" 11
is "warm-ups are marked" "$(grep -c '"warmup":true' "$T/b.jsonl")" 4
bad=$(grep '"warmup":false' "$T/b.jsonl" | grep -c '"outcome":"error"')
ok "records agree with the truth, failures too" agree "$T/b.jsonl" "$T/two.truth" $((40 - bad)) "$bad"

start_endpoint three --seed 3 --fault http500=0.25
ib-load --url "$url" -c 1 -n 40 -o "$T/c.jsonl" > /dev/null
start_endpoint four --seed 3 --fault http500=0.25
ib-load --url "$url" -c 1 -n 40 -o "$T/d.jsonl" > /dev/null
start_endpoint five --seed 4 --fault http500=0.25
ib-load --url "$url" -c 1 -n 40 -o "$T/e.jsonl" > /dev/null
failed() { sed -n 's/^{"index":\([0-9]*\),.*"outcome":"error".*/\1/p' "$1" | tr '\n' ' '; }
is "ten of forty fail" "$(outcomes "$T/c.jsonl" error)" 10
is "the seed says which" "$(failed "$T/c.jsonl")" "$(failed "$T/d.jsonl")"
ok "another seed says others" test "$(failed "$T/c.jsonl")" != "$(failed "$T/e.jsonl")"
is "another seed fails as many" "$(outcomes "$T/e.jsonl" error)" 10

start_endpoint six
ok "arrivals at a rate, in chat" ib-load --url "$url" -c 4 -n 30 --request-rate 100 --api chat -o "$T/f.jsonl"
is "queueing is recorded" "$(sed 1d "$T/f.jsonl" | grep -c '"queue_ns":[0-9]')" 30
is "without a rate nothing is due" "$(sed 1d "$T/a.jsonl" | grep -c '"queue_ns":null')" 10
ok "a workload is written" ib-load --write-workload "$T/w.jsonl" --seed 5 -n 20 --input-tokens 100
is "its digest is printed" "$(cut -d ' ' -f 1 < "$T/.out")" "$(sha256sum < "$T/w.jsonl" | cut -d ' ' -f 1)"
status 2 "a workload is never overwritten" ib-load --write-workload "$T/w.jsonl" --seed 5
ib-load --write-workload "$T/w2.jsonl" --seed 5 -n 20 --input-tokens 100 > /dev/null
ok "the same seed writes the same workload" cmp "$T/w.jsonl" "$T/w2.jsonl"
ok "warm-up by itself" ib-load --url "$url" -w "$T/w.jsonl" -c 4 --warm-only
ok "a workload is sent" ib-load --url "$url" -w "$T/w.jsonl" -c 2 -o "$T/g.jsonl"
is "its digest is recorded" "$(field "$T/g.jsonl" workload.sha256)" "\"$(sha256sum < "$T/w.jsonl" | cut -d ' ' -f 1)\""
is "input tokens are what was asked" "$(sed 1d "$T/g.jsonl" | grep -c '"input_tokens_asked":100,"input_tokens":100,')" 20
status 2 "more prompts than the workload holds" ib-load --url "$url" -w "$T/w.jsonl" -n 21
printf '{"prompt":"a"}\n{"prompt":7}\n' > "$T/bad.jsonl"
"ib-load" --url "$url" -w "$T/bad.jsonl" > "$T/.out" 2> "$T/.err"
like "a wrong line is named" "$(cat "$T/.err")" 'line 2.*prompt'
status 2 "results go into a new file" ib-load --url "$url" -n 1 -o "$T/g.jsonl"
status 2 "an address with user information is refused" ib-load --url http://me:pw@127.0.0.1:1 -n 1

ib-load --url "$url" -c 2 -n 400 -o "$T/h.jsonl" > "$T/h.out" 2>&1 &
client=$!
sleep 0.7
kill -INT $client
wait $client
is "SIGINT ends it as a signal does" $? 130
is "the interrupted records say so" "$(field "$T/h.jsonl" complete)" false
is "every request has its line" "$(sed 1d "$T/h.jsonl" | wc -l | tr -d ' ')" 400
done_n=$(outcomes "$T/h.jsonl" ok) cut_n=$(outcomes "$T/h.jsonl" incomplete)
ok "some were done, the rest is incomplete" test "$done_n" -gt 0 -a "$cut_n" -gt 0 -a $((done_n + cut_n)) -eq 400
ok "what was not sent has no start" sh -c "tail -n 1 '$T/h.jsonl' | grep -q '\"start_ns\":null'"
ok "a timeout is an outcome" ib-load --url "$url" -n 1 --input-tokens 4000 --timeout 50ms -o "$T/i.jsonl"
is "one timed out" "$(outcomes "$T/i.jsonl" timeout)" 1
end_endpoint "$lb_pid"
ok "an endpoint that is down does not end the client" ib-load --url "$url" -n 3 --model m -o "$T/j.jsonl"
is "its requests failed to connect" "$(grep -c '"error_class":"connect"' "$T/j.jsonl")" 3
is "it is not known to be synthetic" "$(field "$T/j.jsonl" synthetic)" null
status 1 "a warm-up that fails says so" ib-load --url "$url" -n 3 --model m --warm-only
status 3 "an unwritable directory is an error" ib-load --url "$url" -n 1 --model m -o "$T/none/x.jsonl"
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "all records fit the schema" valid "$T/a.jsonl" "$T/b.jsonl" "$T/c.jsonl" "$T/f.jsonl" "$T/g.jsonl" "$T/h.jsonl" "$T/i.jsonl" "$T/j.jsonl"
else
    skip "all records fit the schema" "python3-jsonschema is not installed"
fi
done_testing
