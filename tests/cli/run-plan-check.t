#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --check looks whether a plan can be carried out: each thing it looks at holds, fails, or cannot be told. It runs nothing of the plan and resets nothing.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
mkdir bin s
PATH=$T/bin:$PATH
export PATH

# a client that tells its version and help, slowly, and says if it is started for anything else
cat > bin/vllm << 'EOT'
#!/bin/sh
case "$*" in
--version) sleep 0.2; echo "some warning"; echo "0.32.0" ;;
"bench serve --help") sleep 0.2; echo "use --help=all for all of them" ;;
"bench serve --help=all") printf '%s\n' "usage: vllm bench serve" "  --model M" "  --base_url URL" "  --num-prompts N" "  --served-model-name NAME" "  --seed N" ;;
*) echo "$*" >> "$STARTED" ;;
esac
EOT
chmod +x bin/vllm
STARTED=$T/started
export STARTED
printf '#!/bin/sh\necho "$*" >> "$STARTED"\n' > bin/mystery
chmod +x bin/mystery

# a server of the routes of vLLM; what it is asked is in asked
cat > server.py << 'EOT'
import http.server, json, sys
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def reply(self, status, body=b"", kind="application/json"):
        self.send_response(status); self.send_header("Content-Type", kind); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def note(self): open(sys.argv[1] + "/asked", "a").write("%s %s\n" % (self.command, self.path))
    def do_GET(self):
        self.note()
        if self.path == "/health": self.reply(200)
        elif self.path == "/v1/models": self.reply(200, json.dumps({"object": "list", "data": [{"id": "m", "max_model_len": 1024}]}).encode())
        elif self.path == "/metrics": self.reply(200, b"vllm:prefix_cache_queries_total 0\nvllm:prefix_cache_hits_total 0\n", "text/plain")
        elif self.path == "/empty": self.reply(200, b"process_start_time_seconds 1\n", "text/plain")
        elif self.path == "/reset_prefix_cache": self.reply(405)
        else: self.reply(404)
    def do_POST(self):
        self.note()
        n = int(self.headers.get("Content-Length", 0)); q = json.loads(self.rfile.read(n) or b"{}")
        if self.path == "/tokenize": self.reply(200, json.dumps({"count": len(q["prompt"].split()), "tokens": [1]}).encode())
        else: self.reply(404)
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
open(sys.argv[1] + "/port.part", "w").write(str(s.server_address[1]))
import os; os.rename(sys.argv[1] + "/port.part", sys.argv[1] + "/port")
s.serve_forever()
EOT
python3 server.py "$T" &
endpoints="$endpoints $!"
for _ in $(seq 200); do [ -s port ] && break; sleep 0.05; done
base=http://127.0.0.1:$(cat port)
mkdir -p s/workload
echo '{"prompt":"a"}' > s/workload/p.jsonl

write() {
    cat << EOT
study: s
question: q
boundary: b
decision: d
limitations: [l]
model: {id: m}
serving: {endpoint: "$base", context_length: 1024}
readiness: {url: "$base/health"}
workloads:
  - {name: p, file: workload/p.jsonl, sha256: $(sha256sum < s/workload/p.jsonl | cut -d' ' -f1)}
groups:
  - name: g
    repeats: 3
    workload: p
    cache:
      condition: reset
      reset: {http: "$base/reset_prefix_cache"}
      evidence: {engine: vllm, metrics_url: "$base/metrics"}
    command: [vllm, bench, serve, --model, m, --base-url, "$base", --num-prompts, "10", --seed, "{repeat}", "{output_dir}"]
    timeout: 60s
    expect: {attempts: 10}
EOT
}
check() { ib-run -q --plan s/contract.yaml --check; }
# line STATUS CHECK NAME ERE SED…: after the change that check says so
line() {
    line_how=$1 line_check=$2 line_name=$3 line_want=$4; shift 4
    write | sed "$@" > s/contract.yaml
    check > out 2> err
    like "$line_check: $line_name" "$(grep "^$line_how  *$line_check " out)" "$line_want"
}

write > s/contract.yaml
status 0 "a plan that can be carried out" check
cp .out good
is "nothing fails" "$(grep -c '^FAIL' good)" 0
for c in address environment workload disk programs readiness model reset metrics client flags; do
    is "'$c' is looked at, and holds" "$(grep -c "^ok  *$c " good | sed 's/^[1-9].*/yes/')" yes
done
like "the client's version is told" "$(cat good)" "'vllm' is vllm-bench; --version says: 0.32.0"
like "its flags are looked up in all of its help" "$(cat good)" "the help of 'vllm' knows all 4 flags of g.all"
like "the tokenizer is not called equal without one to compare with" "$(cat good)" "not checkable +tokenizer +the server makes [0-9]+ tokens of a known text; .*names no tokenizer.json"
like "nor the machine healthy" "$(cat good)" "not checkable +machine"
like "lints follow, as notes" "$(cat good)" "^note +lint +L11 g: --save-result is missing"
like "and a sum" "$(tail -n 1 good)" "^1[0-9] ok, 0 FAIL, 2 not checkable, [0-9]+ notes"
is "no client was started" "$(cat started 2> /dev/null)" ""
is "nothing was reset" "$(grep -c 'POST /reset' asked)" 0
is "the reset route was asked in a way that resets nothing" "$(grep reset_prefix_cache asked)" "GET /reset_prefix_cache"
is "nothing was written" "$(ls s | tr '\n' ' ')" "contract.yaml workload "

line FAIL model "another model" "the contract says 'n', and 'm' is served" -e 's/model: {id: m}/model: {id: n}/'
line FAIL model "another one in the command" "the command of g.all says 'x', and 'm' is served" -e 's/--model, m/--model, x/'
line ok model "the name under which it is served counts" "'m' is served, as the contract says" -e 's/--model, m/--model, x, --served-model-name, m/'
is "model: and not that of its files" "$(grep -c '^FAIL' out)" 0
line FAIL model "another context" "the contract says a context of 2048 tokens, the server has 1024" -e 's/context_length: 1024/context_length: 2048/'
line FAIL address "a command that sends elsewhere" "the command of g.all sends to http://127.0.0.1:9, the contract's endpoint is $base" -e 's/--base-url, "[^"]*"/--base-url, "http:\/\/127.0.0.1:9"/'
line ok address "a permitted address" "http://203.0.113.9 is permitted: by its owner" -e 's/--base-url, "[^"]*"/--base-url, "http:\/\/203.0.113.9"/' -e '/^study/a permission: by its owner'
line FAIL workload "another workload" "has SHA-256 [0-9a-f]{64}, the contract says 0000" -e 's/sha256: [0-9a-f]*/sha256: 0000000000000000000000000000000000000000000000000000000000000000/'
line FAIL workload "a workload that is not there" "'workload/q.jsonl' cannot be opened" -e 's/p.jsonl/q.jsonl/'
line FAIL environment "a variable that is not set" "uses ..env:NOT_SET., which is not set" -e 's/--model, m/--model, m, "${env:NOT_SET}"/'
line FAIL programs "a program that is not there" "'vllmm' of command of group 'g' is not there" -e 's/\[vllm,/[vllmm,/'
line FAIL programs "nor the one that reaches a node" "'nossh' of launch of node 'n1' is not there" -e '/^study/a nodes: [{name: n1, launch: [nossh, n1]}]'
line "not checkable" client "a program that is not known is not started" "'mystery' is no client that is known: it is not started" -e 's/\[vllm,/[mystery,/'
is "client: indeed not" "$(cat started 2> /dev/null)" ""
line FAIL flags "a flag that the client does not have" "the help of 'vllm' does not know '--num-promts' of g.all" -e 's/--num-prompts/--num-promts/'
line FAIL reset "a route that is not there" "the reset route is not there \(404\); vLLM has it only with VLLM_SERVER_DEV_MODE=1" -e 's/reset: {http: "[^"]*"/reset: {http: "http:\/\/127.0.0.1:9\/reset_mm_cache"/' -e "s|http://127.0.0.1:9/reset_mm_cache|$base/reset_mm_cache|"
line "not checkable" reset "a route that might reset on any request is not asked" "cannot be asked without perhaps resetting" -e "s|$base/reset_prefix_cache|$base/flush_cache|"
is "reset: indeed not" "$(grep -c flush_cache asked)" 0
line FAIL metrics "metrics without the engine's counters" "the metrics do not hold 'vllm:prefix_cache_queries_total' of engine vllm" -e "s|$base/metrics|$base/empty|"
line FAIL metrics "no metrics there" "the metrics are answered with status 404" -e "s|$base/metrics|$base/none|"
line FAIL readiness "a server that is not there" "no answer: nothing listens there" -e "s|$base/health|http://127.0.0.1:9/health|"
line FAIL readiness "a server that is not ready" "the answer's status is 404: runs are refused" -e "s|$base/health|$base/nothing|"
line "not checkable" model "a server that is not there serves nothing that is known" "what is served is not known: no answer" -e "s|endpoint: \"[^\"]*\"|endpoint: \"http://127.0.0.1:9\"|"
write > s/contract.yaml
status 1 "something that fails gives 1" env PATH="$(dirname "$(command -v ib-run)"):/usr/bin:/bin" ib-run -q --plan s/contract.yaml --check
echo 'study: [' > s/contract.yaml
status 2 "a contract error gives 2" check

# the tokenizer, where there is a library for it: a stand-in that counts words, and one that counts twice as many
mkdir -p lib/tokenizers
cat > lib/tokenizers/__init__.py << 'EOT'
import json
class T:
    def __init__(self, n): self.n = n
    def encode(self, text):
        self.ids = [0] * (self.n * len(text.split())); return self
class Tokenizer:
    @staticmethod
    def from_file(path): return T(json.load(open(path))["n"])
EOT
PYTHONPATH=$T/lib
export PYTHONPATH
echo '{"n": 1}' > s/tokenizer.json
line ok tokenizer "server and client count alike" "server and client make the same [0-9]+ tokens" -e '/^model/a tokenizer: {id: t, files: [{path: tokenizer.json}]}'
echo '{"n": 2}' > s/tokenizer.json
line FAIL tokenizer "or not" "the server makes 16 tokens and the client.s tokenizer 32" -e '/^model/a tokenizer: {id: t, files: [{path: tokenizer.json}]}'

# the loopback endpoint is a server like that
start_endpoint one --seed 5
write | sed -e "s|$base|$url|g" -e 's/model: {id: m}/model: {id: ib-loopback-synthetic}/' -e 's/--model, m/--model, ib-loopback-synthetic/' -e 's/context_length: 1024/context_length: 8192/' > s/contract.yaml
check > out 2> err
is "the loopback endpoint fails nothing" "$(grep '^FAIL' out)" ""
like "and was not reset" "$(grep -c reset_prefix_cache one.truth)" "^0$"
done_testing
