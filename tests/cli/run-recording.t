#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What clients that keep no prompts send is recorded against a loopback endpoint, repeatably; how fast clients are by themselves is measured there, too.
# Nothing of it reaches the server.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
mkdir scratch
TMPDIR=$T/scratch
export TMPDIR
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10

# study NAME COMMAND [SEED-LINE]
study() {
    mkdir -p "$1"
    cat > "$1/contract.yaml" << EOT
study: $1
model: {id: some/model}
serving: {endpoint: "$url/v1"}
workloads:
  - {name: drawn, record: true, seed: 3}
groups:
  - name: g
    workload: drawn
    load: closed
    matrix: {cap: [1, 4]}
    repeats: 2
    command: [$2]
    cache: {evidence: {engine: vllm, metrics_url: "$url/metrics"}}
    timeout: 30s
EOT
}
rec() { ib-run --no-capture --plan "$1/contract.yaml" --record-workload > "$T/.out" 2> "$T/.err"; }
kinds() { python3 -c 'import json, sys; print(" ".join(json.loads(l)["kind"] for l in open(sys.argv[1] + "/ledger.jsonl")))' "$1"; }
head1() { python3 -c 'import json, sys; print(eval(sys.argv[2], {"h": json.loads(open(sys.argv[1]).readline())}))' "$1" "$2"; }
load="ib-load, --url, \"$url\", -n, \"30\", -c, \"{cap}\", --input-tokens, \"64\", --output-tokens, \"8\", -o, \"{output_dir}/r.jsonl\""

study good "$load, --seed, \"3\""
status 0 "a workload is recorded" ib-run --no-capture --plan good/contract.yaml --record-workload
is "one file for each cell, known to the ledger" "$(kinds good) $(find good/workload -type f | wc -l | tr -d ' ')" "contract recording recording 2"
is "all requests are in it" "$(head1 good/workload/recorded/g.cap-4.jsonl '[h["requests"], h["unique"], h["unique_prompts"]]')" "[30, 30, 30]"
is "in order of arrival" "$(sed 1d good/workload/recorded/g.cap-1.jsonl | python3 -c 'import json, sys; print([json.loads(l)["n"] for l in sys.stdin] == list(range(30)))')" True
ok "two cells with one seed sent the same requests" test "$(head1 good/workload/recorded/g.cap-1.jsonl 'h["set_sha256"]')" = "$(head1 good/workload/recorded/g.cap-4.jsonl 'h["set_sha256"]')"
is "no prompt is kept" "$(sed 1d good/workload/recorded/g.cap-1.jsonl | grep -c '"prompt":')" 0
is "the server saw nothing of it" "$(wc -l < one.truth | tr -d ' ')" 0
ok "the study verifies" ib-verify --unsigned-ok good
rec good
like "recorded again it is the same" "$(cat "$T/.err")" "g.cap-4: recorded again, the same 30 requests"
is "and nothing is added" "$(kinds good)" "contract recording recording"
ib-load --url "$url" -n 30 --seed 3 --input-tokens 64 --output-tokens 8 -o sent.jsonl > /dev/null
is "its digests are those of the prompts that a server gets" "$(python3 -c '
import json
want = sorted(json.loads(l)["prompt_sha256"] for l in open("one.truth"))
got = sorted(json.loads(l)["prompt_sha256"] for l in list(open("good/workload/recorded/g.cap-1.jsonl"))[1:])
print(want == got)')" True
lines=$(wc -l < one.truth | tr -d ' ')

# any order, any number at a time, keys in any order, a new ID for each request: the same work
cat > shuffle.py << 'EOT'
import concurrent.futures, json, os, random, sys, urllib.request
def send(i):
    body = [("model", "some/model"), ("prompt", "prompt number %d" % (i // 2)), ("max_tokens", 2 + i), ("user", os.urandom(8).hex()), ("stream", False)]
    random.shuffle(body)
    r = urllib.request.Request(sys.argv[1] + "/v1/completions", json.dumps(dict(body), indent=random.choice([None, 1])).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(r).read()
order = list(range(24))
random.shuffle(order)
print(*order, file=open(sys.argv[2], "a"))
with concurrent.futures.ThreadPoolExecutor(int(sys.argv[3])) as p: list(p.map(send, order))
EOT
study shuffled "python3, $T/shuffle.py, \"$url\", $T/orders, \"{cap}\""
rec shuffled
cp shuffled/workload/recorded/g.cap-4.jsonl first.jsonl
rec shuffled
is "a client that shuffles and runs several at a time sends the same requests each time" "$(grep -c 'recorded again, the same 24 requests' "$T/.err") $(kinds shuffled)" "2 contract recording recording"
is "in another order each time" "$(sort -u orders | wc -l | tr -d ' ')" 4
is "whatever the concurrency" "$(head1 first.jsonl 'h["set_sha256"]')" "$(head1 shuffled/workload/recorded/g.cap-1.jsonl 'h["set_sha256"]')"
is "requests that differ only in their length share a prompt" "$(head1 first.jsonl '[h["requests"], h["unique"], h["unique_prompts"]]')" "[24, 24, 12]"

cat > client.sh << 'EOT'
# another prompt each time it is run
n=$(cat "$1/count" 2> /dev/null || echo 0)
echo $((n + 1)) > "$1/count"
exec ib-load --url "$2" -n 5 --seed "$((n / 2))" --input-tokens 8 --output-tokens 2
EOT
mkdir count
study other "sh, $T/client.sh, $T/count, \"$url\""
rec other
is "a client that draws anew is recorded" "$(kinds other)" "contract recording recording"
status 1 "and found out" ib-run --no-capture --plan other/contract.yaml --record-workload
like "with where it differs" "$(cat "$T/.err")" "g.cap-1: recorded again, and 5 of 5 requests are others than before, the first of them request 0"
ok "both are kept" test -s other/workload/recorded/g.cap-1.jsonl -a -s other/workload/recorded/g.cap-1.2.jsonl
study each "$load, --seed, \"{repeat}\""
rec each
is "repeats with other seeds are recorded one by one" "$(find each/workload -type f | LC_ALL=C sort | tr '\n' ' ')" \
    "each/workload/recorded/g.cap-1.r01.jsonl each/workload/recorded/g.cap-1.r02.jsonl each/workload/recorded/g.cap-4.r01.jsonl each/workload/recorded/g.cap-4.r02.jsonl "
study bodies "$load, --seed, \"3\""
status 0 "bodies are kept where asked for" ib-run --no-capture --plan bodies/contract.yaml --record-workload --record-bodies
is "with their prompts" "$(sed 1d bodies/workload/recorded/g.cap-1.jsonl | grep -c '"prompt":')" 30
is "and have the recorded digest" "$(sed 1d bodies/workload/recorded/g.cap-1.jsonl | python3 -c '
import hashlib, json, sys
rows = [json.loads(l) for l in sys.stdin]
print(all(hashlib.sha256(json.dumps(r["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest() == r["sha256"] for r in rows))')" True

# nothing that could send its load elsewhere is run
study hidden 'sh, -c, "touch was-run; exit 0"'
status 2 "a command that does not name the endpoint is not run" ib-run --no-capture --plan hidden/contract.yaml --record-workload
like "and says so" "$(cat "$T/.err")" "no argument names the endpoint 127.0.0.1:[0-9]+: the client would send its load to the server itself"
ok "not at all" test ! -e hidden/was-run
study pair "sh, -c, \"touch was-run\", x, --host, 127.0.0.1"
status 2 "nor is one that names it by half" ib-run --no-capture --plan pair/contract.yaml --record-workload
ok "either" test ! -e pair/was-run
study failing "sh, -c, \"echo boom >&2; exit 3\", \"$url\""
status 1 "a client that fails is not recorded" ib-run --no-capture --plan failing/contract.yaml --record-workload
like "with its words" "$(cat "$T/.err")" "g.cap-1: not recorded: ended with status 3: boom"
study silent "\"true\", \"$url\""
status 1 "nor is one that sends nothing" ib-run --no-capture --plan silent/contract.yaml --record-workload
like "which is said" "$(cat "$T/.err")" "ended well, but sent no request"
port=${url##*:}
printf 'exec ib-load --url http://127.0.0.1:$(cat %s/one.port) -n 2 --input-tokens 8 --output-tokens 2\n' "$T" > sneak.sh
study sneak "sh, $T/sneak.sh, \"$url\""
status 1 "a client that finds the server by another way is found out" ib-run --no-capture --plan sneak/contract.yaml --record-workload
like "by the server's counters" "$(cat "$T/.err")" "the server itself counted [0-9]+ prompt tokens"
is "nothing of it is kept" "$(kinds sneak)" contract
study env "sh, -c, 'exec ib-load --url \"\$IB_TEST_SERVER\" -n 3 --seed 1 --input-tokens 8 --output-tokens 2', \"127.0.0.1:$port\""
IB_TEST_SERVER=$url ib-run --no-capture --plan env/contract.yaml --record-workload > /dev/null 2>&1
is "an address in the environment is replaced, too" "$(head1 env/workload/recorded/g.cap-1.jsonl 'h["requests"]')" 3
sed 's/record: true, //; s/seed: 3/generator: [x]/' good/contract.yaml | sed 's/study: good/study: none/' > none.yaml
status 2 "what is not marked is not recorded" ib-run --no-capture -C none --plan none.yaml --record-workload
like "saying what to write" "$(cat "$T/.err")" "no workload of these groups has 'record: true'"
is "a plan without --plan is refused" "$(ib-run --record-workload true 2>&1 > /dev/null | head -1)" "ib-run: --record-workload and --ceiling belong to --plan; try 'ib-run --help'"

before=$(wc -l < one.truth | tr -d ' ')
study fast "$load, --seed, \"3\""
status 0 "a client's ceiling is measured" ib-run --no-capture --plan fast/contract.yaml --ceiling
is "for each distinct command" "$(cat fast/ceiling/*.json | python3 -c 'import json, sys; print([(c["cell"], c["status"], c["succeeded"], c["output_tokens"]) for c in json.load(sys.stdin)["cells"]])')" \
    "[('cap-1', 'measured', 30, 240), ('cap-4', 'measured', 30, 240)]"
ok "as rates by the endpoint's log" python3 -c '
import glob, json
for c in json.load(open(glob.glob("fast/ceiling/*.json")[0]))["cells"]:
    assert abs(c["requests_per_s"] - c["succeeded"] / c["window_ns"] * 1e9) < 1e-6 * c["requests_per_s"] and c["requests_per_s"] > 30, c'
is "the ledger knows it" "$(kinds fast)" "contract ceiling"
is "the server saw nothing of it, either" "$(wc -l < one.truth | tr -d ' ')" "$before"
ok "the study verifies" ib-verify --unsigned-ok fast
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "both are as the schemas say" python3 -c '
import glob, json, sys, jsonschema
def check(name, document):
    schema = json.load(open(sys.argv[1] + "/schemas/" + name))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
check("ceiling-v1.schema.json", json.load(open(glob.glob("fast/ceiling/*.json")[0])))
for f in glob.glob("*/workload/recorded/*.jsonl"):
    for line in open(f): check("recorded-workload-v1.schema.json", json.loads(line))' "$IB_SRCDIR"
else
    skip "both are as the schemas say" "python3-jsonschema is not installed"
fi
is "no scratch directory is left" "$(find scratch -mindepth 1 | wc -l | tr -d ' ')" 0
[ "$lines" -gt 0 ] || exit 99
done_testing
