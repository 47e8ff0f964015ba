#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The sampler beside a run: what it sees, what disturbs it, and that it disturbs nothing.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99

# one STUDY EXPRESSION: r the record, s the samples, h their header
one() { python3 -c '
import json, sys, glob
d = glob.glob(sys.argv[1] + "/runs/*")[0]
r = json.load(open(d + "/record.json"))
try:
    lines = [json.loads(x) for x in open(d + "/samples.jsonl").read().split("\n")[:-1]]
except FileNotFoundError:
    lines = [None]
h, s = lines[0], lines[1:]
print(eval(sys.argv[2]))' "$1" "$2"; }

# plan STUDY INTERVAL COMMAND [MORE]: a plan of one run
plan_of() {
    mkdir "$1"
    cat > "$1/contract.yaml" << EOT
study: $1
sampling: {interval: $2}
${4:-}
groups:
  - name: g
    repeats: 1
    ${5:-}
    command: [sh, -c, "$3"]
EOT
    ib-run --no-capture --plan "$1/contract.yaml" > "$T/.out" 2> "$1.err"
    echo $? > "$1.status"
}

# --- what it sees ---
plan_of busy 200ms 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sleep 0.5'
is "the command ends as it would" "$(cat busy.status)" 0
is "samples were taken" "$(one busy 'r["sampler"]["status"] == "ok" and r["sampler"]["samples"] == len(s) and len(s) >= 3')" True
is "the first has no rates, the others do" "$(one busy 's[0]["client_cores"] is None and s[1]["busy_cores"] > 0')" True
is "the command's time is seen" "$(one busy 'r["load"]["client_cores"]["max"] > 0.05 and r["load"]["client_cores"]["mean"] <= r["load"]["busy_cores"]["max"] + 0.2')" True
is "their file is in the record" "$(one busy 'sum(f["path"] == "samples.jsonl" for f in r["files"])')" 1
is "what it cost is known" "$(one busy '0 < r["sampler"]["own_cpu_ns"] < 200e6 and 0 < r["sampler"]["cpu_share"] < 1')" True
is "nobody was left behind" "$(one busy 'r["left_behind"]')" 0
is "what cannot be read has a status and is null" \
    "$(one busy 'all(v["status"] in ("ok", "absent", "denied", "unsupported", "error") for v in h["fields"].values()) and all(x[k] is None for x in s for k, v in h["fields"].items() if v["status"] != "ok")')" True
is "no endpoint, no word on where it is" "$(one busy 'r["load"]["colocated"], r["load"]["colocated_why"]')" "(None, 'no endpoint is known')"
mkdir off
ib-run -q -C off --no-capture --no-sample -- true
is "without sampling there is no file" "$(one off '(r["sampler"]["status"], r["load"], h)')" "('off', None, None)"

# --- server and GPUs ---
lib=$IB_BUILDDIR/tests/fake-nvml/full/.libs
start_endpoint one --seed 5 --prefill-base-us 20000 --decode-token-us 5000
gpu() { LD_LIBRARY_PATH=$lib IB_FAKE_NVML_SCENE=$IB_SRCDIR/tests/fake-nvml/scenes/$1.txt; export LD_LIBRARY_PATH IB_FAKE_NVML_SCENE; }
load="exec ib-load --url $url --seed 9 -n 24 -c 4 --input-tokens 64 --output-tokens 16"
evidence="cache: {condition: unspecified, evidence: {engine: vllm, metrics_url: '$url/metrics'}}"
gpu two-gpus
plan_of server 100ms "$load" "serving: {endpoint: '$url'}" "$evidence"
unset LD_LIBRARY_PATH IB_FAKE_NVML_SCENE
is "the server's load is seen" "$(one server '1 <= r["load"]["server"]["running_max"] <= 4 and any(x["server"] for x in s)')" True
is "its counters grow" "$(one server '(lambda t: t == sorted(t) and t[-1] > t[0])([x["server"]["generation_tokens"] for x in s if x["server"]])')" True
is "client and server are on one machine" "$(one server 'r["load"]["colocated"]')" True
is "its helper answered" "$(one server '[x["status"] for x in r["sampler"]["helpers"]][0]')" ok
if [ -e "$lib/libnvidia-ml.so.1" ]; then
    is "GPUs are seen" "$(one server '[[g["index"], g["utilisation_pct"], g["power_mw"], g["sm_clock_hz"], g["temperature_c"], g["throttle_reasons"]] for g in [x for x in s if x["gpus"]][0]["gpus"]]')" \
        "[[0, 42, 250000, 1500000000, 61, 4], [1, 42, 250000, 1500000000, 61, 4]]"
    is "their energy is what their counters moved by" "$(one server '(lambda e, n: e[0]["source"] == "NVML total energy" and e[0]["joules"] == 2.0 * (n - 1))([e for e in r["load"]["energy"] if "NVML" in e["source"]], sum(x["gpus"] is not None for x in s))')" True
    gpu crash-sample
    plan_of crash 100ms 'sleep 1'
    is "a helper that dies is dropped" "$(one crash '(r["state"], r["sampler"]["status"], [x["status"] for x in r["sampler"]["helpers"]], len(s) >= 6)')" "('completed', 'ok', ['error'], True)"
    gpu hang-sample
    plan_of hang 100ms 'sleep 1'
    is "one that hangs holds up nothing" "$(one hang '(r["state"], r["sampler"]["status"], [x["status"] for x in r["sampler"]["helpers"]], len(s) >= 3, all(x["gpus"] is None for x in s))')" "('completed', 'ok', ['unanswered'], True, True)"
    unset LD_LIBRARY_PATH IB_FAKE_NVML_SCENE
else
    for i in 1 2 3 4; do skip "GPUs ($i)" "the stand-in library is not built"; done
fi
is "without a GPU library its helper is let go" "$(one busy '[x["status"] for x in r["sampler"]["helpers"]]')" "['absent']"

# a page that is not given while the file "hold" is there
cat > holding.py << 'EOT'
import http.server, os, sys, time
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        while os.path.exists("hold"):
            time.sleep(0.05)
        body = b'vllm:num_requests_running{engine="0"} 0.0\nvllm:num_requests_waiting{engine="0"} NaN\n'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
s.daemon_threads = True
open("holding.port", "w").write(str(s.server_address[1]))
s.serve_forever()
EOT
timeout 120 python3 holding.py &
endpoints="$endpoints $!"
for i in $(seq 100); do [ -s holding.port ] && break; sleep 0.05; done
url=http://127.0.0.1:$(cat holding.port)
evidence="cache: {condition: unspecified, evidence: {engine: vllm, metrics_url: '$url/metrics'}}"
plan_of held 100ms "touch '$T/hold'; sleep 1.2; rm '$T/hold'" "serving: {endpoint: '$url'}" "$evidence"
is "a page that does not come holds up nothing" "$(one held '(r["state"], r["sampler"]["status"], len(s) >= 4, r["time"]["monotonic_ns"] < 3e9)')" "('completed', 'ok', True, True)"
is "what is no number is null" "$(one held 'all(x["server"]["waiting"] is None for x in s if x["server"])')" True

# --- what disturbs it ---
(ulimit -f 40 && plan_of full 100ms 'sleep 4') # blocks of 512 bytes: the limit comes within the samples
is "a file that cannot grow ends the sampler, not the run" "$(one full '(r["state"], r["sampler"]["status"])')" "('completed', 'error')"
like "and says why" "$(one full 'r["sampler"]["why"]')" "samples.jsonl.*cannot be written"
is "it holds whole lines" "$(tail -c 1 full/runs/*/samples.jsonl | od -An -c | tr -d ' ')" '\n'

mkdir killed
ib-run -q -C killed --no-capture -- sleep 30 2> /dev/null &
pid=$!
for i in $(seq 100); do
    sampler=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null | tr ' ' '\n' | while read -r c; do [ "$(cat "/proc/$c/comm" 2> /dev/null)" = ib-run-sampler ] && echo "$c"; done)
    [ -n "$sampler" ] && [ "$(cat killed/runs/*/samples.jsonl 2> /dev/null | wc -l)" -ge 2 ] && break
    sleep 0.05
done
left=$(tr ' ' '\n' < "/proc/$pid/task/$pid/children" | while read -r c; do [ "$(cat "/proc/$c/comm" 2> /dev/null)" = sleep ] && echo "$c"; done)
kill -9 "$pid"
wait "$pid" 2> /dev/null
for i in $(seq 60); do [ -n "$sampler" ] && [ -d "/proc/$sampler" ] || break; sleep 0.05; done
if [ -n "$sampler" ]; then
    is "it ends with an ib-run that is killed" "$([ -d "/proc/$sampler" ] && [ "$(cut -d' ' -f3 "/proc/$sampler/stat")" != Z ] && echo there || echo gone)" gone
else
    skip "it ends with an ib-run that is killed" "the kernel does not list children"
fi
is "and leaves whole lines" "$(tail -c 1 killed/runs/*/samples.jsonl | od -An -c | tr -d ' ')" '\n'
[ -z "$left" ] || kill "$left"
ib-run -q -C killed --no-capture -- true
is "that run is abandoned at once: nobody holds it" "$(grep -c '"abandoned"' killed/ledger.jsonl)" 1

mkdir dead
ib-run -q -C dead --no-capture -- sh -c 'sleep 0.3; for c in $(cat /proc/$PPID/task/$PPID/children); do [ "$(cat /proc/$c/comm)" = ib-run-sampler ] && kill -9 $c; done; exit 0'
is "a sampler that is killed does not hurt the run" "$(one dead '(r["state"], r["exit"]["status"])')" "('completed', 0)"
if [ -n "$sampler" ]; then
    is "the record says so, and makes no numbers up" "$(one dead '(r["sampler"]["status"], r["sampler"]["samples"], r["load"])')" "('error', None, None)"
else
    skip "the record says so, and makes no numbers up" "the kernel does not list children"
fi

# --- its file is evidence ---
status 0 "a study with samples verifies" ib-verify server
chmod -R u+w server
for f in server/runs/*/samples.jsonl; do sed -i 's/"busy_cores":null/"busy_cores":1/' "$f"; done
status 1 "changed samples are found" ib-verify server
# a record that says something else than its samples: made with the ledger's line for it, as its author could
cat > retell.py << 'EOT'
import glob, hashlib, json, os, subprocess, sys
study, change = sys.argv[1], sys.argv[2]
subprocess.run(["chmod", "-R", "u+w", study])
f = glob.glob(study + "/runs/*/record.json")[0]
r = json.load(open(f))
exec(change)
open(f, "w").write(json.dumps(r, indent=2) + "\n")
lines = open(study + "/ledger.jsonl").read().split("\n")[:-1]
out, prev = [], None
for line in lines:
    e = json.loads(line)
    if prev is not None:
        e["prev"] = prev
    if e["kind"] == "finish":
        def walk(o):
            for k in o:
                if k == "record_sha256":
                    o[k] = hashlib.sha256(open(f, "rb").read()).hexdigest()
                elif isinstance(o[k], dict):
                    walk(o[k])
        walk(e)
    text = json.dumps(e, separators=(",", ":"), ensure_ascii=False)
    prev = hashlib.sha256(text.encode()).hexdigest()
    out.append(text)
open(study + "/ledger.jsonl", "w").write("\n".join(out) + "\n")
EOT
s19() { ib-verify --json "$1" | python3 -c 'import json, sys; print([x["status"] for x in json.load(sys.stdin)["findings"] if x["id"] == "S19"])'; }
is "what the record says of the load is held against them" "$(s19 busy)" "['pass']"
cp -r busy told
python3 retell.py told 'pass'
is "telling it again changes nothing" "$(s19 told)" "['pass']"
python3 retell.py told 'r["load"]["client_cores"]["max"] *= 0.5'
is "another share of the client is found" "$(s19 told)" "['fail']"
python3 retell.py told 'r["load"]["client_cores"]["max"] *= 2; r["sampler"]["samples"] -= 1'
is "so is another number of samples" "$(s19 told)" "['fail']"
ok "every line follows its schema" python3 - "$IB_SRCDIR" << 'EOT'
import glob, json, sys
try:
    from jsonschema import Draft202012Validator as V
except ImportError:
    sys.exit(0)
v = V(json.load(open(sys.argv[1] + "/schemas/samples-v1.schema.json")))
bad = [(f, n, e.message) for f in glob.glob("*/runs/*/samples.jsonl") for n, line in enumerate(open(f)) for e in v.iter_errors(json.loads(line))]
assert not bad, bad[:3]
assert not v.is_valid({"monotonic_ns": 1})
EOT
done_testing
