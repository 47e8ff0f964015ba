#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The three groups of ib-init against an endpoint with each fault: every run ends in its right class, with the counts that the endpoint's own log gives.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99

# study NAME: one repeat of each cell, no gates, no stopping: all six runs, whatever comes of them; ib-load as the client
study() {
    ib-init "$1" --server vllm --endpoint "$url" --model ib-loopback-synthetic --prompts 8 --input-tokens 32 --output-tokens 8 -- \
        ib-load --url '{endpoint}' --seed '{seed}' --num-prompts '{prompts}' --input-tokens '{input_tokens}' --output-tokens '{output_tokens}' \
        --max-concurrency '{cap}' --timeout "${limit:-5s}" --output '{output_dir}/requests.jsonl' > /dev/null || return 1
    sed -i -e 's/^    repeats: 3/    repeats: 1/' -e '/^    gate: /d' -e 's/_runs: 1/_runs: 0/' -e 's/^  timeout: 10m/  timeout: 10s\n  interval: 50ms/' "$1/contract.yaml"
}
plan() { timeout 60 ib-run -q --no-capture -C "$1" --plan "$1/contract.yaml" > "$1.out" 2>&1; }

cat > check.py << 'EOF'
import collections, glob, json, sys
name, truth_file, fault = sys.argv[1:4]
runs = [json.load(open(p)) for p in sorted(glob.glob(name + "/runs/*/record.json"))]
truth = [t for t in map(json.loads, open(truth_file)) if t["what"] == "completion"]
rows_of = lambda path: [json.loads(l) for l in open(path)][1:]
where = lambda r: f"{name}/runs/{r['run_id']}"

# what a faulty request must look like to the client: outcome, error class, output tokens
SEEN = {
    "http500": ("error", "http_status", None), "http503": ("error", "http_status", None), "stream_error": ("error", "stream_error", 4),
    "stream_cut": ("error", "stream_cut", 4), "early_stop": ("ok", None, 4), "bundled": ("ok", None, 8), "no_usage": ("ok", None, 8),
    "hang": ("timeout", "timeout", None), "late": ("ok", None, 8),
}
# what a run of 8 with 2 of them must be: state, reasons, succeeded, failed, timed out, output tokens, short
SUCCESS, TOKENS, SERVER = "expectation:success_rate_min", "expectation:output_tokens", "expectation:server_output_tokens"
RUN = {
    "none": ("completed", [], 8, 0, 0, 64, 0),
    "http500": ("failed", [SUCCESS, TOKENS], 6, 2, 0, 48, 0), "http503": ("failed", [SUCCESS, TOKENS], 6, 2, 0, 48, 0),
    "stream_error": ("failed", [SUCCESS, TOKENS, SERVER], 6, 2, 0, 48, 0), "stream_cut": ("failed", [SUCCESS, TOKENS, SERVER], 6, 2, 0, 48, 0),
    "early_stop": ("failed", [TOKENS], 8, 0, 0, 56, 2), "bundled": ("completed", [], 8, 0, 0, 64, 0), "no_usage": ("completed", [], 8, 0, 0, 64, 0),
    "hang": ("failed", [SUCCESS, TOKENS], 6, 0, 2, 48, 0), "late": ("completed", [], 8, 0, 0, 64, 0),
}

def classes():
    assert len(runs) == 6, len(runs)
    for r in runs:
        q = r["requests"]
        got = (r["state"], r["reasons"], q["succeeded"], q["failed"], q["timed_out"], q["output_tokens"], q["short_output"])
        assert got == RUN[fault], (r["cell"], got)
        assert q["attempted"] == 8 and q["unaccounted"] == 0 and q["incomplete"] == 0, q
        assert r["exit"]["status"] == 0, r["exit"] # the client never says so
        assert bool(r["reasons"]) == (r["state"] != "completed")

def counts():
    measured = [x for r in runs for x in rows_of(where(r) + "/output/requests.jsonl")]
    warm = [x for p in glob.glob(name + "/runs/*/hooks/requests.jsonl") for x in rows_of(p)]
    assert len(measured) == 48 and len(warm) == 8, (len(measured), len(warm))
    seen = collections.Counter((x["prompt_sha256"], x["outcome"], x["error_class"], x["output_tokens"]) for x in measured + warm)
    told = collections.Counter((t["prompt_sha256"], *(SEEN[t["fault"]] if t["fault"] else ("ok", None, 8))) for t in truth)
    assert seen == told, (seen - told, told - seen)
    assert sum(t["fault"] is not None for t in truth) == (0 if fault == "none" else 14), collections.Counter(t["fault"] for t in truth)
    assert all(t["output_tokens_asked"] == 8 for t in truth)
    total = lambda key: sum(r["requests"][key] for r in runs)
    ok = [t for t in truth if t["fault"] is None or SEEN[t["fault"]][0] == "ok"]
    warm_ok = [x for x in warm if x["outcome"] == "ok"]
    assert total("succeeded") == len(ok) - len(warm_ok)
    assert total("output_tokens") == sum(t["output_tokens"] for t in ok) - sum(x["output_tokens"] for x in warm_ok)

def cache():
    verdict = lambda r: (r["group"], r["cache"]["condition"], r["cache"]["evidence"])
    got = collections.Counter(map(verdict, runs))
    # a token count that the client lacks, or work that it does not count as done, leaves the expected queries open
    want = "unconfirmed" if fault in ("no_usage", "stream_error", "stream_cut") else "confirmed"
    for r in runs:
        if r["cache"]["condition"] == "reset":
            assert r["cache"]["evidence"] == want, (r["cell"], r["cache"])
        elif fault in ("none", "bundled", "late", "early_stop"):
            assert r["cache"]["evidence"] == "confirmed", (r["cell"], r["cache"])
        assert "contradicted" not in r["cache"]["evidence"] or fault in ("http500", "http503", "hang"), (r["cell"], r["cache"])
    assert sum(n for v, n in got.items() if v[1] == "reuse") == 1, got
globals()[sys.argv[4]]()
EOF
check() { python3 check.py "$@"; }

try() { # FAULT SHARE OPTION…
    fault=$1; shift
    start_endpoint "$fault" --seed 5 "$@"
    ok "$fault: a study is begun" study "study-$fault"
    plan "study-$fault"
    plan_status=$?
    end_endpoint "$lb_pid"
    case $fault in none | bundled | no_usage | late) want=0 ;; *) want=1 ;; esac
    is "$fault: the plan's status" "$plan_status" "$want"
    ok "$fault: each run ends in its class, with its counts" check "study-$fault" "$fault.truth" "$fault" classes
    ok "$fault: the counts are those of the endpoint's log" check "study-$fault" "$fault.truth" "$fault" counts
    ok "$fault: the cache verdicts are right" check "study-$fault" "$fault.truth" "$fault" cache
}
try none
for f in http500 http503 stream_error stream_cut early_stop bundled no_usage; do try $f --fault $f=0.25; done
try late --fault late=0.25 --late 60ms
limit=500ms try hang --fault hang=0.25
ok "a faulty study is evidence like any other" sh -c 'ib-verify --json study-hang > v.json; ! jq -e ".findings[] | select(.level == \"E\" and .status == \"fail\" and (.id | startswith(\"S\")))" v.json'

# readiness, refusal, a client that hangs
only() { sed -i '/^  - name: longer-input/,/^# quality/{/^# quality/!d}; s/cap: \[1, 4\]/cap: [1]/' "$1/contract.yaml"; }
state() { python3 -c 'import glob, json, sys
for p in sorted(glob.glob(sys.argv[1] + "/runs/*/record.json")):
    r = json.load(open(p)); print(r["state"], ",".join(r["reasons"]) or "-")' "$1"; }
field() { python3 -c 'import glob, json, sys
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0])); print(eval(sys.argv[2]))' "$1" "$2"; }
start_endpoint starting --slow-start 1s
study starting && only starting && plan starting
is "a server that still starts is waited for" "$(state starting)" "completed -"
is "and that it was" "$(field starting 'r["readiness"]["attempts"] > 3')" True
is "no request came too early" "$(grep -c slow_start starting.truth)" 0
end_endpoint "$lb_pid"
start_endpoint refusing --slow-listen 1s
study refusing && only refusing && plan refusing
is "one that refuses connections, too" "$(state refusing)" "completed -"
end_endpoint "$lb_pid"
start_endpoint never --slow-start 60s
study never && only never && sed -i 's/^  timeout: 10s/  timeout: 300ms/' never/contract.yaml
plan never
is "one that does not come up: refused, nothing was measured" "$? $(state never)" "1 refused readiness"
is "and nothing is counted" "$(field never 'r["requests"]["attempted"]')" None
end_endpoint "$lb_pid"
start_endpoint hung --fault hang=1
limit=60s study hung && only hung && sed -i 's/^    timeout: 30m/    timeout: 1s/' hung/contract.yaml
plan hung
is "a client that hangs is ended: timed out" "$(state hung | cut -d ' ' -f 1)" timed_out
is "what it had begun is incomplete, no failure and no success" "$(field hung '[r["requests"][k] for k in ("attempted", "succeeded", "failed", "incomplete")]')" "[8, 0, 0, 8]"
end_endpoint "$lb_pid"

# a label is a claim: without a reset the second "cold" repeat is none
start_endpoint label
study label && only label
sed -i -e 's/^    repeats: 1/    repeats: 2/' -e 's/condition: reset/condition: cold/' -e '/^      reset:/d' -e '/^        http: /d' label/contract.yaml
plan label
is "a cold repeat without reset is contradicted" "$(python3 -c 'import glob, json
for r in sorted((json.load(open(p)) for p in glob.glob("label/runs/*/record.json")), key=lambda r: r["repeat"]):
    print(r["repeat"], r["cache"]["condition"], r["cache"]["evidence"], end="; ")')" "1 cold confirmed; 2 cold contradicted; "
study again && only again
sed -i 's/^    repeats: 1/    repeats: 2/' again/contract.yaml
plan again
is "with a reset both are confirmed" "$(python3 -c 'import glob, json
for r in sorted((json.load(open(p)) for p in glob.glob("again/runs/*/record.json")), key=lambda r: r["repeat"]):
    print(r["repeat"], r["cache"]["condition"], r["cache"]["evidence"], end="; ")')" "1 reset confirmed; 2 reset confirmed; "
end_endpoint "$lb_pid"
done_testing
