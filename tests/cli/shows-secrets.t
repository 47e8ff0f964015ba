#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One secret planted in every place at once, carried along the whole path: environment, arguments, URLs, git remote, contract, what the
# endpoint says of itself. It is in no file that a tool writes but the byte-exact logs and what lies under output/, and no tool prints it;
# ib-pack finds it there, names file and line, and packs only what was allowed by name.
. "$(dirname "$0")/lib.sh"
command -v python3 > /dev/null && command -v git > /dev/null || skip_all "python3 and git are needed"
cd "$T" || exit 99

# made here, so that no file of the source holds anything that looks like a secret
rand() { head -c 64 /dev/urandom | sha256sum | cut -c1-"$1"; }
hf=hf_$(rand 34) key=sk-proj-$(rand 40) remote=ghp_$(rand 36) password=$(rand 20)
printf '%s\n' "$hf" "$key" "$remote" "$password" > planted
export HF_TOKEN="$hf" OPENAI_API_KEY="$key" LLAMA_ARG_API_KEY="$key" DB_PASSWORD="$password" VLLM_NOTE="https://u:$password@h.example/?key=$key"
holds() { find "$@" -type f -exec grep -l -F -f "$T/planted" {} + 2> /dev/null | LC_ALL=C sort | tr '\n' ' '; }

# an endpoint that tells its own secrets
cat > endpoint.py <<'PY'
import http.server, sys
secret, password, n = sys.argv[1], sys.argv[2], [0]
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        n[0] += 1
        body = {"/health": "ok", "/version": '{"version":"1.0","api_key":"%s"}' % secret,
                "/v1/models": '{"object":"list","data":[{"id":"m","url":"http://u:%s@h.example/"}]}' % password,
                "/metrics": 'vllm:prefix_cache_queries_total{key="%s"} %d\nvllm:prefix_cache_hits_total 0\n' % (secret, n[0])}.get(self.path.split("?")[0])
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write((body or "no").encode())
    do_POST = do_GET
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
open("port", "w").write(str(s.server_port))
s.serve_forever()
PY
python3 endpoint.py "$key" "$password" &
server=$!
trap 'kill $server 2> /dev/null; cleanup' EXIT
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat port)

git init -q repo
git -C repo -c user.email=a@example.org -c user.name=a commit -q --allow-empty -m x
git -C repo remote add origin "https://deploy:$remote@git.example.org/team/repo.git"
cd repo || exit 99

# the contract itself may not hold it; a run that needs it names a variable
mkdir ../refused
printf 'study: refused\nserving: {endpoint: "http://u:%s@127.0.0.1:1/"}\ngroups:\n  - {name: g, repeats: 1, command: ["true"]}\n' "$password" > ../refused/contract.yaml
status 2 "a contract with a secret in a URL is refused" ib-run --plan ../refused/contract.yaml
is "without showing it" "$(holds "$T/.out" "$T/.err")" ""
is "and nothing is written" "$(ls ../refused)" contract.yaml
mkdir ../study
cat > ../study/contract.yaml <<EOT
study: study
serving: {endpoint: "$url"}
readiness: {url: "$url/health", timeout: 10s}
groups:
  - name: g
    repeats: 1
    command: [sh, -c, "echo measured", client, --api-key, "\${env:OPENAI_API_KEY}", "--url=http://u:\${env:DB_PASSWORD}@127.0.0.1/v1?token=\${env:HF_TOKEN}"]
    cache:
      condition: reset
      reset: {http: "$url/health?key=\${env:OPENAI_API_KEY}"}
      evidence: {engine: vllm, metrics_url: "$url/metrics"}
EOT
ib-run --plan ../study/contract.yaml > ../plan.out 2> ../plan.err
status 0 "an unplanned run" ib-run -C ../study -- sh -c 'echo quiet' client --api-key "$key" --header "Authorization: Bearer $hf" "http://u:$password@127.0.0.1/"
is "two runs" "$(ls ../study/runs | wc -l | tr -d ' ')" 2
ok "what the endpoint says was kept" sh -c 'ls ../study/runs/*/endpoint/version.json ../study/runs/*/endpoint/models.json ../study/runs/*/endpoint/metrics-before.txt ../study/runs/*/endpoint/metrics-after.txt'
ok "the remote was recorded" grep -q '"remote": "https://git.example.org/team/repo.git"' ../study/captures/*.json
ib-capture -o ../capture.json
ib-capture --record ../machine -o ../capture2.json
ib-verify --json ../study > ../findings.json
ib-verify ../study > ../screen.txt 2>&1
ib-report -C ../study > ../report.txt 2>&1
ib-report -C ../study --format md -o ../report.md > /dev/null 2>&1
ib-report -C ../study --format json -o ../report.json > /dev/null 2>&1
is "no tool has written or shown it" \
    "$(holds ../study ../capture.json ../capture2.json ../machine ../findings.json ../screen.txt ../report.txt ../report.md ../report.json ../plan.out ../plan.err)" ""

# what a command itself writes is kept byte for byte
# shellcheck disable=SC2016
ib-run -q -C ../study --no-capture -- sh -c 'echo one; echo "$HF_TOKEN"; echo "$OPENAI_API_KEY" >&2; printf "a\nb\n%s\n" "$HF_TOKEN" > {output_dir}/result.txt' > /dev/null 2>&1
run=$(basename "$(dirname "$(dirname ../study/runs/*/output/result.txt)")") # several runs may share a second
is "logs and output hold it, nothing else does" "$(holds ../study)" \
    "../study/runs/$run/output/result.txt ../study/runs/$run/stderr.log ../study/runs/$run/stdout.log "
ib-pack --new-key ../me > /dev/null
status 2 "ib-pack refuses" ib-pack -C ../study --key ../me.pem -o ../p.tar
like "naming the output and its line" "$(cat "$T/.err")" "'runs/$run/output/result.txt' line 3"
like "and a log" "$(cat "$T/.err")" "'runs/$run/stderr.log' line 1"
like "and the other" "$(cat "$T/.err")" "'runs/$run/stdout.log' line 2"
is "without showing it" "$(holds "$T/.out" "$T/.err")" ""
status 2 "one allowed name does not allow another" ib-pack -C ../study --key ../me.pem --allow-secret "runs/$run/stdout.log" \
    --allow-secret "runs/$run/stderr.log" -o ../p.tar
ok "no packet was left" sh -c '! ls ../p.tar* 2> /dev/null'
status 0 "each allowed by name" ib-pack -C ../study --key ../me.pem --allow-secret "runs/$run/stdout.log" --allow-secret "runs/$run/stderr.log" \
    --allow-secret "runs/$run/output/result.txt" -o ../p.tar
mkdir ../x && tar xf ../p.tar -C ../x
is "the packet holds it in these alone" "$(cd ../x/* && holds .)" \
    "./data/runs/$run/output/result.txt ./data/runs/$run/stderr.log ./data/runs/$run/stdout.log "
cd "$T" || exit 99
done_testing
