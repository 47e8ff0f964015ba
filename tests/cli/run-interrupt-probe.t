#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C while an endpoint that never answers is asked: the run ends at once, as interrupted.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
mkdir server
python3 "$IB_SRCDIR/tests/cli/metrics_server.py" server &
endpoints="$endpoints $!"
try=0
while [ ! -s server/port ] && [ $try -lt 200 ]; do sleep 0.05; try=$((try + 1)); done
url=http://127.0.0.1:$(cat server/port)
printf 'vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:prefix_cache_queries_total 1\nvllm:prefix_cache_hits_total 0\n' > server/page
now() { date +%s%3N; }

# interrupt NAME YAML: ib-run gets SIGINT once the server has been asked and hangs; took is how many ms it needed to end
interrupt() {
    mkdir "$1"
    printf '%s\n' "study: $1" "$2" > "$1/contract.yaml"
    rm -f server/asked
    python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' ib-run --no-capture --no-sample --plan "$1/contract.yaml" > "$1.out" 2> "$1.err" &
    pid=$!
    try=0
    while [ ! -e server/asked ] && [ $try -lt 200 ]; do sleep 0.05; try=$((try + 1)); done
    sleep 0.2
    began=$(now)
    kill -INT "$pid"
    wait "$pid"
    got=$?
    took=$(($(now) - began))
}
state() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
print(r["state"], " ".join(r["reasons"]))' "$1"; }
quick() { [ "$took" -lt 3000 ]; }

echo hang > server/mode
interrupt ready "readiness: {url: \"$url/metrics\", timeout: 60s}
groups: [{name: g, repeats: 1, command: [true]}]"
is "during readiness: status" "$got" 1
ok "it ends at once ($took ms)" quick
is "it is interrupted" "$(state ready)" "interrupted readiness"
interrupt idle "groups: [{name: g, repeats: 1, command: [true], cache: {condition: cold, evidence: {engine: vllm, metrics_url: \"$url/metrics\"}}}]"
is "while it is to be idle: status" "$got" 1
ok "it ends at once ($took ms)" quick
is "it is interrupted" "$(state idle)" "interrupted quiescence"
rm server/mode
interrupt after "groups: [{name: g, repeats: 1, command: [sh, -c, \"echo hang > $T/server/mode\"], cache: {condition: cold, evidence: {engine: vllm, metrics_url: \"$url/metrics\"}}}]"
is "while the counters after the command are asked: status" "$got" 1
ok "it ends at once ($took ms)" quick
like "it is interrupted" "$(state after)" "^interrupted"
rm server/mode
interrupt command "groups: [{name: g, repeats: 1, command: [sh, -c, \"trap '' INT; : > $T/server/asked; echo hang > $T/server/mode; sleep 1\"], cache: {condition: cold, evidence: {engine: vllm, metrics_url: \"$url/metrics\"}}}]"
is "during the command, with a server that hangs afterwards: status" "$got" 1
ok "nobody waits long for its counters ($took ms)" [ "$took" -lt 9000 ]
done_testing
