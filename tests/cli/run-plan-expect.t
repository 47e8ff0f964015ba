#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Expectations are compared with the client's own result; what cannot be checked is not met. Gates wait for what was expected.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

# client OK FAILED DIR: a result of that many requests, 8 output tokens each
cat > client << 'EOT'
#!/bin/sh
{
    echo '{"schema":"urn:ibtools:requests:v1","client":{"name":"fake","version":"1"},"origin_at":null,"window":{"start_ns":0,"end_ns":1000000000},"complete":true,"synthetic":null}'
    awk -v ok="$1" -v bad="$2" 'BEGIN {
        for (i = 0; i < ok + bad; i++)
            printf("{\"index\":%d,\"start_ns\":%d,\"ttft_ns\":1000,\"itl_ns\":[1000],\"e2e_ns\":2000,\"input_tokens\":4,\"output_tokens\":%s,\"outcome\":\"%s\",\"error_class\":%s}\n",
                i, i * 1000, (i < ok ? 8 : 0), (i < ok ? "ok" : "error"), (i < ok ? "null" : "\"connect\""))
    }'
} > "$3/requests.jsonl"
EOT
chmod +x client

# try NAME EXPECT COMMAND…: one run in study NAME
try() {
    try_name=$1 try_expect=$2; shift 2
    mkdir "$try_name"
    cat > "$try_name/contract.yaml" << EOT
study: $try_name
groups:
  - name: g
    repeats: 1
    command: [$*]
    expect: {$try_expect}
EOT
    ib-run -q --no-capture --plan "$try_name/contract.yaml" > "$T/.out" 2> "$T/.err"
    echo $? > "$try_name/status"
}
record() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
print(r["state"], ",".join(r["reasons"]) or "-", " ".join(e["key"] + "=" + e["status"] for e in r["expectations"]))' "$1"; }
command -v python3 > /dev/null || skip_all "python3 is not installed"
c="\"$T/client\""

try met 'attempts: 5, success_rate_min: 1, output_tokens: 40, output_tokens_min: 40, output_files_min: 1' "$c, \"5\", \"0\", \"{output_dir}\""
is "everything met" "$(record met)" "completed - exit_status=met attempts=met success_rate_min=met output_tokens=met output_tokens_min=met output_files_min=met"
is "gives 0" "$(cat met/status)" 0
try few 'attempts: 6' "$c, \"5\", \"0\", \"{output_dir}\""
is "fewer attempts" "$(record few)" "failed expectation:attempts exit_status=met attempts=unmet"
is "give 1" "$(cat few/status)" 1
try rate 'success_rate_min: 0.9' "$c, \"8\", \"2\", \"{output_dir}\""
is "too many failures" "$(record rate)" "failed expectation:success_rate_min exit_status=met success_rate_min=unmet"
try allowed 'success_rate_min: 0.8' "$c, \"8\", \"2\", \"{output_dir}\""
is "failures that were allowed" "$(record allowed)" "completed - exit_status=met success_rate_min=met"
try silent 'attempts: 10' "$c, \"8\", \"2\", \"{output_dir}\""
is "failures behind status 0 that nobody allowed" "$(record silent)" "failed errors_with_status_0 exit_status=met attempts=met"
try tokens 'output_tokens: 41' "$c, \"5\", \"0\", \"{output_dir}\""
is "other output tokens" "$(record tokens)" "failed expectation:output_tokens exit_status=met output_tokens=unmet"
try none 'attempts: 5, output_files_min: 1' true
is "no result at all" "$(record none)" "failed expectation:attempts,expectation:output_files_min exit_status=met attempts=unknown output_files_min=unmet"
try torn 'attempts: 5' "sh, -c, \"$T/client 5 0 {output_dir}; truncate -s -9 {output_dir}/requests.jsonl\""
is "a torn result" "$(record torn)" "failed truncated_output,expectation:attempts exit_status=met attempts=unknown"
try status 'exit_status: 3' 'sh, -c, "exit 3"'
is "another status that was expected" "$(record status)" "completed - exit_status=met"
try wrong 'exit_status: 3' 'true'
is "the usual status where another was expected" "$(record wrong)" "failed exit_status exit_status=unmet"
try quiet 'exit_status: 0' 'echo, "{output_dir}"'
is "a command that was told where to write and did not" "$(record quiet)" "failed no_output exit_status=met"

mkdir gate
cat > gate/contract.yaml << EOT
study: gate
stop: {failed_runs: 0}
groups:
  - name: first
    repeats: 2
    command: [$c, "2", "0", "{output_dir}"]
    expect: {attempts: 3}
  - name: second
    gate: first
    repeats: 1
    command: [true]
EOT
status 1 "a gate stays shut behind runs that are not as expected" ib-run --no-capture --plan gate/contract.yaml
like "saying so" "$(cat "$T/.err")" "group 'second' waits for 'first', of which 2 runs are missing or not as expected"
is "its group is not run" "$(find gate/runs -mindepth 1 -maxdepth 1 -name '*second*' | wc -l | tr -d ' ')" 0
mkdir open
sed -e 's/study: gate/study: open/' -e 's/attempts: 3/attempts: 2/' gate/contract.yaml > open/contract.yaml
status 0 "and open behind others" ib-run -q --no-capture --plan open/contract.yaml
is "its group is run" "$(find open/runs -mindepth 1 -maxdepth 1 -name '*second*' | wc -l | tr -d ' ')" 1

ib-run -q --no-capture -C adhoc -- ./client 3 1 '{output_dir}'
is "without a contract the client's failures count, too" "$(record adhoc)" "failed errors_with_status_0 "
done_testing
