#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loopback study's plan, from end to end: every run as expected, every cache label confirmed, every count the endpoint's own.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
ib-run --help | grep -q -e --plan || skip_all "ib-run has no plan mode"

IB_LOOPBACK_ONLY_RUN=1
export IB_LOOPBACK_ONLY_RUN
ok "the plan runs" "$IB_SRCDIR/examples/loopback/study.sh" "$T/out"
cat > "$T/check.py" <<'PY'
import glob, json, os, sys
out, what = sys.argv[1:]
runs = [json.load(open(p)) for p in glob.glob(out + "/study/runs/*/record.json")]
truth = [json.loads(l) for l in open(out + "/endpoint/truth.jsonl")]
assert runs and truth, "nothing to look at"
def delta(r, name):
    return next(c["delta"] for c in r["cache"]["counters"] if name in c["name"])
def slots():
    assert len(runs) == 18, len(runs)
    assert all(r["state"] == "completed" and r["reasons"] == [] for r in runs), [(r["state"], r["reasons"]) for r in runs]
    cells = sorted((r["group"], r["cell"], r["repeat"]) for r in runs)
    assert len(set(cells)) == 18, cells
def counts():
    for r in runs:
        q = r["requests"]
        assert (q["attempted"], q["succeeded"], q["failed"], q["output_tokens"]) == (40, 40, 0, 640), q
        assert r["server"]["output_tokens"] == 640, r["server"]
        assert r["expectations"] and all(e["status"] == "met" for e in r["expectations"]), r["expectations"]
def cache():
    for r in runs:
        assert r["cache"]["evidence"] == "confirmed", r["cache"]
        hits, queries = delta(r, "prefix_cache_hits"), delta(r, "prefix_cache_queries")
        assert queries == r["cache"]["expected_queries"] > 0
        if r["cache"]["condition"] == "reuse":
            assert hits > 0.8 * queries, (hits, queries)
        else:
            assert r["cache"]["condition"] == "reset" and hits == 0, (r["cache"], hits)
    assert sum(r["cache"]["condition"] == "reuse" for r in runs) == 3
def synthetic():
    assert all(r["synthetic"] is True and "ib-loopback-synthetic" in r["synthetic_why"] for r in runs)
def truth_agrees():
    sent = [t for t in truth if t["what"] == "completion"]
    measured = [t for t in sent if t["output_tokens_asked"] == 16]
    assert len(measured) == 18 * 40 and len(sent) == 18 * 40 + 3 * 40, (len(measured), len(sent))
    assert all(t["status"] == 200 and t["finish_reason"] == "length" for t in sent)
    assert sum(t["output_tokens"] for t in measured) == sum(r["requests"]["output_tokens"] for r in runs)
    assert sum(t["cached_tokens"] for t in measured) == sum(delta(r, "prefix_cache_hits") for r in runs)
    assert sum(t["what"] == "reset_prefix_cache" for t in truth) == 18
def cheaper():
    # what the endpoint had to compute, by its counters: time itself would depend on the machine
    def computed(condition):
        return [delta(r, "prefix_cache_queries") - delta(r, "prefix_cache_hits") for r in runs
                if r["group"] == "cache-control" and r["cache"]["condition"] == condition]
    reuse, reset = computed("reuse"), computed("reset")
    assert len(reuse) == len(reset) == 3 and max(reuse) * 5 < min(reset), (reuse, reset)
def no_faster_than_sent():
    # each first token is seen no earlier than the endpoint's log says it was made
    made = {}
    for t in truth:
        if t["what"] == "completion" and t["output_tokens_asked"] == 16:
            made.setdefault(t["prompt_sha256"], []).append(t["first_token_ns"])
    for r in runs:
        rows = [json.loads(l) for l in open(glob.glob(f"{out}/study/runs/{r['run_id']}/output/*.jsonl")[0])][1:]
        assert len(rows) == 40 and all(x["ttft_ns"] >= min(made[x["prompt_sha256"]]) > 0 for x in rows), r["run_id"]
globals()[what]()
PY
check() { python3 "$T/check.py" "$T/out" "$1"; }
ok "18 runs, each slot once, all completed" check slots
ok "attempts, successes and tokens are the client's and the server's" check counts
ok "cache labels are confirmed by counters" check cache
ok "everything is labelled synthetic" check synthetic
ok "the endpoint's own log agrees" check truth_agrees
ok "reuse leaves less to compute than reset" check cheaper
ok "no first token was seen before it was made" check no_faster_than_sent
ok "the endpoint has ended" sh -c "test -s '$T/out/endpoint/port' && ! curl -s --max-time 2 http://127.0.0.1:\$(cat '$T/out/endpoint/port')/health"
status 1 "a study is not run into a used directory" "$IB_SRCDIR/examples/loopback/study.sh" "$T/out"

# the same plan where a quarter of the requests fails: the first run says so and stops the plan, although ib-load ends with 0
start_endpoint bad --seed 11 --fault http500=0.25
mkdir -p "$T/faulty"
cp -R "$T/out/study/workload" "$T/faulty/workload"
sed "s/\\b8391\\b/$(cat "$T/bad.port")/g" "$IB_SRCDIR/examples/loopback/contract.yaml" > "$T/faulty/contract.yaml"
status 1 "failing requests fail the plan" ib-run -C "$T/faulty" --plan "$T/faulty/contract.yaml"
set -- "$T/faulty/runs"/*/record.json
is "the plan stops at the first failed run" $# 1
like "the client ended with 0" "$(tr -d ' \n' < "$1")" '"exit":\{"status":0,'
like "the run failed by what it was expected to do" "$(tr -d ' \n' < "$1")" '"state":"failed","reasons":\[[^]]*"expectation:success_rate_min"'
like "its failures are counted" "$(tr -d ' \n' < "$1")" '"attempted":40,"succeeded":30,"failed":10,'
like "it is synthetic all the same" "$(tr -d ' \n' < "$1")" '"synthetic":true'
done_testing
