#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real clients from PyPI (GuideLLM, vLLM's client) under ib-run --plan against the loopback endpoint: what the records say is what the endpoint's truth log
# says. The log is read as a server log, so that each run holds its own slice of it. IBTOOLS_REAL_DIR names a directory to keep; otherwise all is removed.
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=../cli/loopback.sh
. "$(dirname "$0")/../cli/loopback.sh"
here=$IB_SRCDIR/tests/real
out=${IBTOOLS_REAL_DIR:+$IBTOOLS_REAL_DIR/clients}
out=${out:-$T/clients}
cache=${IBTOOLS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ibtools}

"$here/clients.sh" > "$T/setup.log" 2>&1
rc=$?
[ $rc -ne 77 ] || skip_all "registries cannot be reached"
sed 's/^/# /' "$T/setup.log"
is "the clients are there" $rc 0
[ $rc -eq 0 ] || done_testing

mkdir -p "$out" && cd "$out" || exit 99
chmod -R u+w sound faulty 2> /dev/null
rm -rf sound faulty bytes words
# GuideLLM makes its prompts with the tokenizer, vLLM's client counts the prompt's tokens with it
python3 "$here/tokenizer.py" bytes bytes && python3 "$here/tokenizer.py" words words || exit 99
python3 -c '
import random
r = random.Random(7)
for i in range(12):
    print("{\"prompt\": \"%s\", \"output_tokens\": 8}" % " ".join("%d.%04d" % (i, r.randrange(10000)) for _ in range(48)))' > prompts.jsonl

# write_plan NAME GROUP...: a study with these groups against $url, whose truth log is $truth
write_plan() {
    mkdir -p "$1/workload"
    cp prompts.jsonl "$1/workload/"
    cat > "$1/contract.yaml" << EOT
study: real-clients-$1
question: Do the records say what the endpoint says, whatever the client says?
serving: {engine: ib-loopback, endpoint: "$url"}
readiness: {url: "$url/health", timeout: 20s}
server_logs:
  - {name: truth, file: "$truth"}
stop: {failed_runs: 0}
workloads:
  - {name: prompts, file: workload/prompts.jsonl}
groups:
EOT
    plan_file=$1/contract.yaml
    shift
    for g in "$@"; do
        client=${g%%-*}
        case $g in
        *-reset) condition=reset reset="reset: {http: \"$url/reset_prefix_cache\"}" repeats=2 expect=', success_rate_min: 1' ;;
        *-cold) condition=cold reset='' repeats=1 expect=', success_rate_min: 1' ;;
        *) condition=cold reset='' repeats=1 expect='' ;; # nobody says how many may fail
        esac
        case $client in
        guidellm) command="[env, USE_TORCH=0, HF_HUB_OFFLINE=1, \"PYTHONPATH=$here:$cache/guidellm\", PYTHONDONTWRITEBYTECODE=1, python3, -s, \"$cache/guidellm/bin/guidellm\", run,
      --backend, \"kind=openai_http,target=$url,model=ib-loopback-synthetic,request_format=/v1/completions\", --profile, \"kind=concurrent,streams=2\",
      --constraint, \"kind=max_requests,count=12\", --tokenizer, \"kind=huggingface_auto,model=$out/bytes\",
      --data, \"kind=synthetic_text,prompt_tokens=400,output_tokens=8\", --seed, \"kind=static,value=7\", --label, \"run_id={run_id}\",
      --disable-console-interactive, --output, \"kind=json,path={output_dir}/benchmarks.json\"]" ;;
        vllm) command="[\"$cache/smollm2/bin/vllm-rs\", bench, serve, --backend, openai, --host, 127.0.0.1, --port, \"${url##*:}\", --endpoint, /v1/completions,
      --model, ib-loopback-synthetic, --tokenizer, \"$out/words\", --dataset-name, custom, --dataset-path, workload/prompts.jsonl, --custom-output-len, \"-1\",
      --disable-shuffle, --num-prompts, \"12\", --seed, \"7\", --request-rate, inf, --max-concurrency, \"2\", --num-warmups, \"0\", --ignore-eos,
      --temperature, \"0\", --header, Connection=close, --disable-tqdm, --percentile-metrics, \"ttft,tpot,itl,e2el\", --metric-percentiles, \"50,90,99\",
      --save-result, --save-detailed, --result-dir, \"{output_dir}\", --result-filename, result.json]" ;;
        esac
        cat >> "$plan_file" << EOT
  - name: $g
    client: $client
    workload: prompts
    repeats: $repeats
    timeout: 3m
    command: $command
    cache:
      condition: $condition
      evidence: {engine: vllm, metrics_url: "$url/metrics"}
      $reset
    expect: {attempts: 12, server_output_tokens: true$expect}
EOT
    done
}

start_endpoint sound --seed 3 --lifetime 20m
truth=$T/sound.truth
write_plan sound guidellm-reset guidellm-cold vllm-reset vllm-cold
start_endpoint faulty --seed 3 --lifetime 20m --fault http500=0.25
truth=$T/faulty.truth
write_plan faulty guidellm-faults vllm-faults
status 0 "every run against the sound endpoint is as expected" ib-run -q --plan sound/contract.yaml
status 1 "runs against the faulty one are not" ib-run -q --plan faulty/contract.yaml

# of each run: state and reasons, exit status, cache verdict; counts of record, of the client's endpoint; result file
cat > runs.py << 'EOT'
import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/runs/*/record.json"), key=lambda p: json.load(open(p))["run_id"]):
    r, d = json.load(open(path)), path[:-len("record.json")]
    name, q = "%s r%d" % (r["group"], r["repeat"]), r["requests"]
    truth = [json.loads(l) for l in open(d + "server/truth.log")]
    truth = [t for t in truth if t["what"] == "completion"]
    ok = [t for t in truth if t["status"] == 200]
    counters = {c["name"]: c["after"] - c["before"] for c in r["cache"]["counters"]}
    fault = "faults" in name
    print("%s: the run ends as it was|%s %s %s|%s" % (name, r["state"], ",".join(r["reasons"]), r["exit"]["status"],
          "failed errors_with_status_0 0" if fault else "completed  0"))
    print("%s: attempts, successes and failures are the endpoint's|%s|%s" % (name, (q["attempted"], q["succeeded"], q["failed"]),
          (len(truth), len(ok), len(truth) - len(ok))))
    print("%s: there are as many as asked for|%d %d|12 %d" % (name, len(truth), len(ok), 9 if fault else 12))
    print("%s: output tokens are the endpoint's|%s %s|%s %s" % (name, q["output_tokens"], r["server"]["output_tokens"],
          sum(t["output_tokens"] for t in ok), sum(t["output_tokens"] for t in truth)))
    print("%s: prompt tokens looked up in its cache are the endpoint's|%s|%s" % (name, int(counters["vllm:prefix_cache_queries_total"]), sum(t["prompt_tokens"] for t in ok)))
    print("%s: hits are the endpoint's|%s|%s" % (name, int(counters["vllm:prefix_cache_hits_total"]), sum(t["cached_tokens"] for t in ok)))
    if not fault:
        print("%s: the cache verdict|%s|%s" % (name, r["cache"]["evidence"], "confirmed" if r["cache"]["condition"] == "reset" else "contradicted"))
    files = [f["path"] for f in r["files"] if f["path"].startswith("output/")]
    print("%s: its result is in its directory|%s|%s" % (name, files, ["output/benchmarks.json" if "guidellm" in name else "output/result.json"]))
EOT
for s in sound faulty; do
    python3 runs.py $s > "$T/runs.txt" 2> "$T/runs.err"
    is "the $s runs can be read" "$?$(cat "$T/runs.err")" 0
    while IFS='|' read -r name got want; do
        is "$name" "$got" "$want"
    done < "$T/runs.txt"
    status 0 "the $s study is consistent" ib-verify $s
    sed -n '1,12s/^/# /p' "$T/.out"
done
is "every run is there" "$(find sound/runs faulty/runs -name record.json | wc -l | tr -d ' ')" 8
done_testing
