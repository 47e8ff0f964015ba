#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the sampler costs. First its own processor time beside an idle command, without a server and with one whose page of metrics has the size of a real one
# (IBTOOLS_VECTORS, else made up). Then a client that does nothing but load: ib-load against the loopback endpoint, both as fast as they can; bare, under
# ib-run without the sampler, and with it, in turn. IB_SECONDS: of the idle command (default 60); IB_REPEATS: rounds (default 9).
set -u
: "${IB_BUILDDIR:=$PWD}"
seconds=${IB_SECONDS:-60} rounds=${IB_REPEATS:-9}
command -v python3 > /dev/null || { echo "sampler-cost: skipped, python3 is not installed"; exit 0; }
dir=$(mktemp -d /dev/shm/ib-bench-XXXXXX 2> /dev/null || mktemp -d) || exit 99
PATH=$IB_BUILDDIR:$PATH
page=${IBTOOLS_VECTORS:-}/fixtures/clients/vllm/server/metrics_start.body
[ -r "$page" ] || page=
ib-loopback --port-file "$dir/port" --lifetime 30m --prefill-base-us 0 --prefill-token-us 0 --decode-token-us 0 > "$dir/endpoint.log" 2>&1 &
endpoint=$!
trap 'kill $endpoint 2> /dev/null; chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
tries=0
while [ ! -s "$dir/port" ] && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
XDG_STATE_HOME=$dir/state python3 - "$dir" "$seconds" "$rounds" "http://127.0.0.1:$(cat "$dir/port")" "$page" << 'END'
import glob, http.server, json, os, statistics, subprocess, sys, threading
d, seconds, rounds, url, page = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
if page:
    body = open(page, "rb").read()
else:
    body = "".join("# HELP vllm:made_up_%d Nothing.\n# TYPE vllm:made_up_%d gauge\nvllm:made_up_%d{engine=\"0\",model_name=\"m\"} %d.0\n" % (i, i, i, i)
                   for i in range(450)).encode() + b'vllm:num_requests_running{engine="0"} 1.0\n'

class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()

def cost(name, evidence):
    study = "%s/%s" % (d, name)
    os.mkdir(study)
    with open(study + "/contract.yaml", "w") as f:
        f.write("study: %s\ngroups:\n  - name: g\n    repeats: 1\n    command: [sleep, \"%s\"]\n%s" % (name, seconds, evidence))
    subprocess.run(["ib-run", "-q", "--no-capture", "--plan", study + "/contract.yaml"], check=True, stdout=subprocess.DEVNULL)
    r = json.load(open(glob.glob(study + "/runs/*/record.json")[0]))["sampler"]
    cpu = r["own_cpu_ns"] + r["helpers_cpu_ns"]
    print("%-40s %.3f %% of a processor (%d samples, %.2f ms each: sampler %.2f, helpers %.2f; target: 0.2 %%)"
          % (name + ":", 100 * cpu / r["wall_ns"], r["samples"], cpu / 1e6 / r["samples"], r["own_cpu_ns"] / 1e6 / r["samples"], r["helpers_cpu_ns"] / 1e6 / r["samples"]))

cost("machine-only", "")
cost("with-metrics", "    cache: {condition: unspecified, evidence: {engine: vllm, metrics_url: \"http://127.0.0.1:%d/metrics\"}}\n" % server.server_address[1])
print("the page of metrics has %d bytes%s" % (len(body), "" if page else " and is made up"))

load = ["ib-load", "--url", url, "-n", "8000", "-c", "8", "--input-tokens", "16", "--output-tokens", "8", "-o"]
made = 0

def rate(words):
    global made
    made += 1
    out = "%s/%d.jsonl" % (d, made)
    subprocess.run(words + load + [out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out) as f:
        window = json.loads(f.readline())["window"]
    return 8000e9 / (window["end_ns"] - window["start_ns"])

run = ["ib-run", "-q", "--no-capture", "-C", d + "/load"]
ways = {"bare": [], "bare, once more": [], "ib-run --no-sample": run + ["--no-sample", "--"], "ib-run": run + ["--"]}
got = {w: [] for w in ways}
for i in range(rounds + 1):
    for w in list(ways) if i % 2 else list(reversed(ways)):
        r = rate(ways[w])
        if i:
            got[w].append(r)
bare = got["bare"]
print("bare: %.0f requests/s (median of %d; %.0f to %.0f)" % (statistics.median(bare), rounds, min(bare), max(bare)))
for w in list(ways)[1:]:
    ratios = [a / b for a, b in zip(got[w], bare)]
    print("%-20s %.0f requests/s; %.3f of the bare command's of its round (%.3f to %.3f)" % (w + ":", statistics.median(got[w]), statistics.median(ratios), min(ratios), max(ratios)))
ratios = [a / b for a, b in zip(got["ib-run"], got["ib-run --no-sample"])]
print("with the sampler against without: %.3f (%.3f to %.3f)" % (statistics.median(ratios), min(ratios), max(ratios)))
END
