#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A reset that must restart the server: really restarted, only pretended, a server whose metrics know nothing of their start, one restarted during the run.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
# restarted servers are no children of this test
stop_restarted() {
    for p in "$T"/*.pid; do [ -s "$p" ] && kill "$(cat "$p")" 2> /dev/null; done
    stop_endpoints
}
trap stop_restarted EXIT

cat > restart.sh << 'EOT'
#!/bin/sh
# restart.sh NAME PORT COMMAND…: ends the server whose process ID is in NAME.pid, starts it again at the same port
name=$1; shift
if [ -s "$name.pid" ]; then
    old=$(cat "$name.pid")
    kill "$old"
    i=0; while kill -0 "$old" 2> /dev/null && [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done
fi
rm -f "$name.port"
setsid "$@" > "$name.log" 2>&1 &
echo $! > "$name.pid"
i=0; while [ ! -s "$name.port" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
[ -s "$name.port" ]
EOT
chmod +x restart.sh
fast="--seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10 --lifetime 120s"

# study NAME RESET EVIDENCE COMMAND
study() {
    mkdir "$1"
    printf '%s\n' "study: $1" "groups:" "  - name: g" "    repeats: 1" "    command: [$4]" "    cache: {condition: reset, reset: $2, evidence: $3}" > "$1/contract.yaml"
    ib-run --no-capture --no-sample --plan "$1/contract.yaml" > "$1.out" 2> "$1.err"
}
record() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
e = (r["server_identity"] or {}).get("endpoints") or []
i = (r["server_identity"] or {}).get("reset") or []
print(eval(sys.argv[2]))' "$1" "$2"; }
short='"%s %s" % (r["state"], r["cache"]["evidence"])'

# shellcheck disable=SC2086
./restart.sh one ib-loopback --port-file "$T/one.port" $fast
port=$(cat one.port)
url=http://127.0.0.1:$port
load="ib-load, --url, \"$url\", --seed, \"9\", -n, \"6\", -c, \"2\", --input-tokens, \"64\", --output-tokens, \"4\", -o, \"{output_dir}/r.jsonl\""
again="[$T/restart.sh, $T/one, ib-loopback, --port, \"$port\", --port-file, $T/one.port, $(echo "$fast" | sed 's/ /, /g')]"
vllm="{engine: vllm, metrics_url: \"$url/metrics\"}"
first=$(cat one.pid)
study real "{command: $again, restart: true}" "$vllm" "$load"
is "a server that was really restarted: confirmed" "$(record real "$short")" "completed confirmed"
is "the process is another" "$(record real 'i[0]["process_before"]["pid"] != i[0]["process_after"]["pid"] and i[0]["process_before"]["pid"]')" "$first"
is "its start is another, and the record says by what that is told" "$(record real 'i[0]["restarted"], i[0]["told_by"], i[0]["started_after_s"] > i[0]["started_before_s"]')" \
    "(True, 'process_start_time_seconds', True)"
is "it stayed the same during the run" "$(record real 'e[0]["restarted"], e[0]["process_before"] == e[0]["process_after"], e[0]["process_after"]["name"]')" \
    "(False, True, 'ib-loopback')"
is "its process is the one that was started" "$(record real 'e[0]["process_after"]["pid"]')" "$(cat one.pid)"
study pretended "{command: [true], restart: true}" "$vllm" "$load"
is "a hook that restarts nothing: refused" "$(record pretended 'r["state"], r["reasons"]')" "('refused', ['reset'])"
like "saying so" "$(record pretended 'r["notes"][-1]')" "endpoint 1: the server is the same process after the reset as before, by process_start_time_seconds"
study killed "{command: [sh, -c, \"kill \$(cat $T/one.pid)\"], restart: true}" "$vllm" "$load"
is "a hook that only ends the server: refused" "$(record killed 'r["state"], r["reasons"]')" "('refused', ['reset'])"
like "saying so" "$(record killed 'r["notes"][-1]')" "endpoint 1: its metrics cannot be read after the reset: no answer"
study dead "{command: $again, restart: true}" "$vllm" "$load"
is "a server that was not there before and is now: confirmed" "$(record dead "$short")" "completed confirmed"
# by somebody else: what the command starts ends with it
cat > midway.sh << EOT
#!/bin/sh
: > "$T/go"
i=0; while [ ! -e "$T/went" ] && [ \$i -lt 200 ]; do sleep 0.05; i=\$((i + 1)); done
exec ib-load --url "$url" -n 4 --input-tokens 64 --output-tokens 4 -o "\$IB_OUTPUT_DIR/r.jsonl"
EOT
chmod +x midway.sh
# shellcheck disable=SC2086
(
    i=0; while [ ! -e go ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
    ./restart.sh "$T/one" ib-loopback --port "$port" --port-file "$T/one.port" $fast
    : > went
) &
study midway "{http: \"$url/reset_prefix_cache\"}" "$vllm" "$T/midway.sh"
is "a server that was restarted during the run: unconfirmed" "$(record midway "$short")" "completed unconfirmed"
like "saying so" "$(record midway 'r["cache"]["why"]')" "endpoint 1: the server was restarted during the run, by process_start_time_seconds"

# llama.cpp: nothing in its metrics tells one start from another
mkdir two
printf 'llamacpp:prompt_tokens_total 0\nllamacpp:prompt_tokens_cached_total 0\nllamacpp:tokens_predicted_total 0\nllamacpp:requests_processing 0\nllamacpp:requests_deferred 0\n' > two/page
sed 's/prompt_tokens_total 0/prompt_tokens_total 100/' two/page > two/after
server="python3 $IB_SRCDIR/tests/cli/metrics_server.py $T/two"
cat > restart-two.sh << EOT
#!/bin/sh
[ -s two.pid ] && { kill \$(cat two.pid); sleep 0.3; }
cp two/port two/port.old 2> /dev/null
[ -s two/port ] || echo 0 > two/port
echo 0 > two/fresh
setsid $server > two.log 2>&1 &
echo \$! > two.pid
sleep 0.1
i=0; while ! python3 -c "import socket; socket.create_connection(('127.0.0.1', int(open('$T/two/port').read())), 1)" 2> /dev/null && [ \$i -lt 100 ]; do sleep 0.05; i=\$((i + 1)); done
EOT
chmod +x restart-two.sh
./restart-two.sh
two=http://127.0.0.1:$(cat two/port)
llama="{engine: llamacpp, metrics_url: \"$two/metrics\", queries: 100}"
study llama "{command: [sh, -c, \"cd $T; ./restart-two.sh\"], restart: true}" "$llama" "cp, $T/two/after, $T/two/page"
is "a server without a start time in its metrics: its process tells, confirmed" "$(record llama "$short")" "completed confirmed"
is "by the process that listens" "$(record llama 'i[0]["restarted"], i[0]["told_by"], i[0]["started_after_s"]')" "(True, 'the process that listens', None)"
study llama-same "{command: [true], restart: true}" "$llama" "true"
is "not restarted: refused" "$(record llama-same 'r["state"], r["reasons"]')" "('refused', ['reset'])"
like "by the process that listens" "$(record llama-same 'r["notes"][-1]')" "endpoint 1: the server is the same process after the reset as before, by the process that listens"
named="{engine: llamacpp, metrics_url: \"http://$(hostname):$(cat two/port)/metrics\", queries: 100}"
study llama-name "{command: [true], restart: true}" "$named" "true"
is "an endpoint that cannot be seen: refused" "$(record llama-name 'r["state"], r["reasons"]')" "('refused', ['reset'])"
like "with the reason" "$(record llama-name 'r["notes"][-1]')" "endpoint 1: (nothing tells whether the reset has started another server.*not looked up|its metrics cannot be read)"
status 0 "the records are as their schema says" python3 -c '
import glob, json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(0)
s = json.load(open(sys.argv[1]))
for f in glob.glob("*/runs/*/record.json"):
    jsonschema.Draft202012Validator(s).validate(json.load(open(f)))' "$IB_SRCDIR/schemas/record-v1.schema.json"
done_testing
