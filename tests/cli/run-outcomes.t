#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A client's exit status is not trusted: its results are counted and read. What people were hurt by, each as a run.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
sets=$IB_SRCDIR/tests/data/clients/sets

# run NAME COMMAND…: an ad hoc run in a study of that name, in whose files record.json is looked at
run() {
    run_name=$1; shift
    ib-run -q --no-capture -C "$run_name" -- "$@" > "$T/.out" 2> "$T/.err"
    run_status=$?
    ls -td "$run_name"/runs/*/ | head -n 1 > "$run_name.dir"
}
cat > look.py << 'EOF'
import json, sys
r = json.load(open(sys.argv[1] + "/record.json"))
what = sys.argv[2]
q = r["requests"]
n = lambda v: "-" if v is None else str(v)
if what == "state":
    print(r["state"], ",".join(r["reasons"]) or "-")
elif what == "counts":
    print("/".join(n(q[k]) for k in ("attempted", "succeeded", "failed", "timed_out", "incomplete", "unaccounted")))
elif what == "notes":
    print("\n".join(r["notes"]))
else:
    print(n(q[what]))
EOF
state() { python3 look.py "$(cat "$1.dir")" state; }
counts() { python3 look.py "$(cat "$1.dir")" counts; }
notes() { python3 look.py "$(cat "$1.dir")" notes; }
number() { python3 look.py "$(cat "$1.dir")" "$2"; }
cat > give << 'EOF'
#!/bin/sh
for f; do cp "$f" "$IB_OUTPUT_DIR/"; done
EOF
chmod +x give
# result OUT PYTHON: a result of vllm bench serve, changed by Python over d
cat > result.py << 'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))
EOF
detail=$(ls "$sets"/vllm/01_c1/*.json)
plain=$(ls "$sets"/vllm/08_no_detail/*.json)
result() { python3 result.py "$1" "$2" "$3"; }

# --- failures left out: 17 of 1000, and no key that counts the others ---
result "$plain" hidden.json 'd.update(num_prompts=1000, completed=17, total_output_tokens=272); [d.pop(k) for k in ("failed", "latencies", "queue_times")]'
run hidden ./give hidden.json
is "17 of 1000: the run has failed" "$(state hidden)" "failed errors_with_status_0"
is "17 of 1000: counted" "$(counts hidden)" "1000/17/-/-/-/983"
like "17 of 1000: said" "$(notes hidden)" "17 of 1000 requests succeeded: 983 unaccounted for"
is "17 of 1000: the command's own status is handed on" "$run_status" 0

# --- lost requests: 97 of 100 and no error anywhere ---
result "$plain" lost.json 'd.update(num_prompts=100, completed=97, total_output_tokens=1552); [d.pop(k) for k in ("failed", "latencies", "queue_times")]'
run lost ./give lost.json
is "97 of 100: 3 are unaccounted for, none has failed" "$(counts lost)" "100/97/-/-/-/3"
is "97 of 100: the run has failed" "$(state lost)" "failed errors_with_status_0"
like "97 of 100: said" "$(notes lost)" "97 of 100 requests succeeded: 3 unaccounted for"
ok "97 of 100: nobody says that 3 failed" sh -c '! grep -q "3 failed" "$1/record.json"' x "$(cat lost.dir)"
# the same where only the command line says how many
mkdir bin
cat > bin/vllm << 'EOF'
#!/bin/sh
# stands for the client: leaves the file named by FILE
cp "$FILE" "$IB_OUTPUT_DIR/result.json"
EOF
chmod +x bin/vllm
PATH=$T/bin:$PATH
result "$plain" fewer.json 'd.update(completed=10, num_prompts=10)'
FILE=fewer.json run asked vllm bench serve --model m --dataset-name random --num-prompts 12 --result-dir x
is "the file's own number of requests stands first" "$(counts asked)" "10/10/0/-/-/0"

# --- 503 counted as success: the log says otherwise ---
i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo "INFO: 127.0.0.1 - \"POST /v1/completions HTTP/1.1\" 503"; done > server.log
run log503 sh -c 'cat server.log; ./give "$1"' x "$plain"
is "a log full of 503 is no failure by itself" "$(state log503)" "completed -"
like "but it is said" "$(notes log503)" "warning: 'stdout.log' tells of HTTP errors in 40 lines, the results of 0 failed requests"
run log503out sh -c './give "$1" server.log' x "$plain"
like "in a log among the output, too" "$(notes log503out)" "warning: 'output/server.log' tells of HTTP errors in 40 lines"
printf 'Mean TTFT (ms): 503.2\nSuccessful requests: 500\np99 504 ms\nbytes 1500\nid=x503y http\n' > harmless.log
run harmless sh -c 'cat harmless.log; ./give "$1"' x "$plain"
is "numbers that are no status are not taken for one" "$(notes harmless)" ""
run told sh -c 'printf "HTTP 500\nHTTP 500\n"; ./give "$1"' x "$(ls "$sets"/vllm/20_mix_http500/*.json)"
is "errors that the results count as well are not said again" "$(notes told | grep -c warning)" 0

# --- 0.0 for "not measured": 5 % of the times to the first token ---
result "$detail" zeros.json 'd["ttfts"][3] = 0.0; d["ttfts"][7] = 0.0'
run zeros ./give zeros.json
like "zero times are counted" "$(notes zeros)" "2 of 30 successful requests have no time to the first token; statistics leave them out"
is "and are no failure of the run" "$(state zeros)" "completed -"

# --- stale output ---
cp "$plain" old.json
touch -d '2 days ago' old.json
run stale sh -c 'cp -p old.json "$IB_OUTPUT_DIR/out.json"; false'
is "yesterday's export is no product of today's crash" "$(state stale)" "failed exit_status,no_output"
is "nothing of it is counted" "$(counts stale)" "-/-/-/-/-/-"
like "said why" "$(notes stale)" "the command has produced nothing: 'output/out.json' was written before it started"
run stale0 sh -c 'cp -p old.json "$IB_OUTPUT_DIR/out.json"'
is "nor with status 0" "$(state stale0)" "failed no_output"
run mixed sh -c 'cp -p old.json "$IB_OUTPUT_DIR/old.json"; ./give "$1"' x "$(ls "$sets"/vllm/20_mix_http500/*.json)"
is "beside a new result the old one is not counted" "$(counts mixed)" "30/21/9/-/-/0"
like "the old one is marked in the record" "$(cat "$(cat mixed.dir)/record.json" | tr -d ' \n')" '"path":"output/old.json","bytes":[0-9]+,"sha256":"[0-9a-f]+","older":true'
ok "verify counts likewise" sh -c 'ib-verify --json mixed > mixed.json; ! jq -e ".findings[] | select(.id == \"S16\" and .status == \"fail\")" mixed.json'
ok "verify takes a run without a product" sh -c 'ib-verify --json stale0 > stale0.json; ! jq -e ".findings[] | select((.id | startswith(\"S\")) and .status == \"fail\")" stale0.json'

# --- two runs, one asked: each counts its own files, whatever it points at ---
run pair ./give "$plain"
first=$(cat pair.dir)
run pair sh -c 'ln -s "../../$(basename "$1")/output" "$IB_OUTPUT_DIR/previous"; ln -s "$2" "$IB_OUTPUT_DIR/also.json"; ./give "$3"' x "$first" "$detail" \
    "$(ls "$sets"/vllm/20_mix_http500/*.json)"
is "another run's results behind a link are not mixed in" "$(counts pair)" "30/21/9/-/-/0"
like "the links are gone, and said" "$(notes pair)" "was a link to .* and was removed"

# --- an empty product ---
run empty sh -c ': > "$IB_OUTPUT_DIR/result.json"'
is "an empty result is a failure" "$(state empty)" "failed no_output"
ok "and is kept" test -f "$(cat empty.dir)/output/result.json"
like "said which" "$(notes empty)" "'output/result.json' is empty"
run emptyold sh -c 'cp -p old.json "$IB_OUTPUT_DIR/result.json"; : > "$IB_OUTPUT_DIR/result.json"'
is "never the old one" "$(state emptyold) $(counts emptyold)" "failed no_output -/-/-/-/-/-"
run emptyone sh -c 'echo done > "$IB_OUTPUT_DIR/run.txt"; : > "$IB_OUTPUT_DIR/result.json"'
like "an empty one beside others is said" "$(notes emptyone)" "'output/result.json' is empty, and no result of a known client is there"
run nothing sh -c 'true "{output_dir}"'
is "told where to write and wrote nothing" "$(state nothing)" "failed no_output"

# --- torn, cut off ---
head -c 700 "$plain" > torn.json
run torn ./give torn.json
is "half a file" "$(state torn) $(counts torn)" "failed truncated_output -/-/-/-/-/-"
mkdir aiperf && cp -R "$sets"/aiperf-0.13.0/sigint/artifacts aiperf/
run cancelled sh -c 'cp -R aiperf/artifacts "$IB_OUTPUT_DIR/"'
like "a client that was cancelled and ends with 0" "$(state cancelled)" "^failed .*truncated_output"
like "said in its words" "$(notes cancelled)" "the client's result says that it is not complete: the run was cancelled"
header='{"schema":"urn:ibtools:requests:v1","client":{"name":"c","version":"1"},"origin_at":null,"window":null,"complete":false,"synthetic":null}'
printf '%s\n' "$header" '{"index":0,"start_ns":0,"ttft_ns":1,"itl_ns":[1],"e2e_ns":2,"output_tokens":2,"outcome":"ok","error_class":null}' \
    '{"index":1,"start_ns":null,"outcome":"incomplete","error_class":"cancelled"}' '{"index":2,"start_ns":9,"outcome":"timeout","error_class":"timeout"}' > cut.jsonl
run cut ./give cut.jsonl
is "timeouts and what was cut off are counted apart" "$(counts cut)" "3/1/0/1/1/0"
is "both are reasons" "$(state cut)" "failed truncated_output,errors_with_status_0"

# --- real results of clients that ended with 0 ---
case_of() { # SET FILES WANT-STATE WANT-COUNTS
    name=$(printf %s "$1" | tr '/.' '--')
    # shellcheck disable=SC2086
    run "$name" ./give $(ls -d $sets/$1/$2)
    is "$1: state" "$(state "$name")" "$3"
    is "$1: counts" "$(counts "$name")" "$4"
}
case_of vllm/01_c1 '*.json' "completed -" "30/30/0/-/-/0"
case_of vllm/20_mix_http500 '*.json' "failed errors_with_status_0" "30/21/9/-/-/0"
case_of vllm/31_all_fail '*.json' "failed errors_with_status_0" "30/0/30/-/-/0"
case_of vllm/23_stream_cut '*.json' "failed errors_with_status_0" "30/21/9/-/-/0"
case_of guidellm-0.8.1/allfail '*.json' "failed errors_with_status_0" "20/0/20/0/0/0"
case_of guidellm-0.8.1/sse_error '*.json' "failed errors_with_status_0" "40/30/10/0/0/0"
case_of sglang-bench-0.5.23/midstream '*.jsonl' "failed errors_with_status_0" "40/30/10/-/-/0"
FILE=$(ls "$sets"/vllm/22_stream_error_event/*.json) run short vllm bench serve --model m --dataset-name random --random-input-len 128 --random-output-len 64 \
    --num-prompts 30 --ignore-eos --save-result --save-detailed --result-dir x
is "streams that an error cut count as successes of this client" "$(counts short)" "30/30/0/-/-/0"
is "but are short" "$(number short short_output)" 9
like "which is said" "$(notes short)" "9 of 30 successful requests have fewer output tokens than were asked for"

# --- with a contract: tokens that it expects, attempts, the share of successes ---
plan() { # NAME EXPECT FILE
    mkdir "$1"
    printf 'study: s\ngroups:\n  - name: g\n    repeats: 1\n    command: [sh, -c, "cp %s {output_dir}/result.json"]\n    expect: {%s}\n' "$3" "$2" > "$1/contract.yaml"
    ib-run -q --no-capture -C "$1" --plan "$1/contract.yaml" > "$T/.out" 2> "$T/.err"
    run_status=$?
    ls -d "$1"/runs/*/ > "$1.dir"
}
plan p-short 'output_tokens: 1920' "$(ls "$sets"/vllm/22_stream_error_event/*.json)"
is "short outputs where the contract expects tokens" "$(state p-short)" "failed expectation:output_tokens"
is "the plan's status" "$run_status" 1
plan p-lost 'attempts: 100, success_rate_min: 1' "$T/lost.json"
is "97 of 100 is no success rate of 1" "$(state p-lost)" "failed expectation:success_rate_min"
plan p-allowed 'attempts: 100, success_rate_min: 0.9' "$T/lost.json"
is "where 0.9 is enough it is as expected" "$(state p-allowed) $run_status" "completed - 0"
is "and the 3 are recorded all the same" "$(number p-allowed unaccounted)" 3
plan p-files 'output_files_min: 1' "-p $T/old.json"
is "an old file does not count as produced" "$(state p-files)" "failed no_output,expectation:output_files_min"

if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "all records are valid" python3 -c '
import glob, json, sys, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1] + "/schemas/record-v1.schema.json")))
paths = glob.glob("*/runs/*/record.json")
assert len(paths) > 25, len(paths)
for p in paths: v.validate(json.load(open(p)))' "$IB_SRCDIR"
else
    skip "all records are valid" "python3-jsonschema is not installed"
fi
done_testing
