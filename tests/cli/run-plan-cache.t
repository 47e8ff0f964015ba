#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cache conditions proved: several endpoints, names of the contract, files in the page cache, a reset that must restart; the verifier draws the verdict again.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint two --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
other=$url
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
load="ib-load, --url, \"$url\", --seed, \"9\", -n, \"6\", -c, \"2\", --input-tokens, \"64\", --output-tokens, \"4\", -o, \"{output_dir}/r.jsonl\""

# study NAME CONDITION RESET EVIDENCE [COMMAND]: lines of YAML flow maps
study() {
    mkdir "$1"
    cat > "$1/contract.yaml" << EOT
study: $1
groups:
  - name: g
    repeats: 1
    command: [${5:-$load}]
    cache: {condition: $2, reason: it is the test, ${3:+reset: $3,} evidence: $4}
EOT
    ib-run --no-capture --no-sample --plan "$1/contract.yaml" > "$1.out" 2> "$1.err"
}
record() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
print(eval(sys.argv[2]))' "$1" "$2"; }
short='"%s %s" % (r["state"], r["cache"]["evidence"])'
reset="{http: \"$url/reset_prefix_cache\"}"
both="{engine: vllm, metrics_urls: [\"$url/metrics\", \"$other/metrics\"]}"

study both reset "$reset" "$both"
is "counters of two endpoints are added up" "$(record both "$short")" "completed confirmed"
is "each page is kept" "$(cd both/runs/*/endpoint && ls metrics-*)" "metrics-after-2.txt
metrics-after.txt
metrics-before-2.txt
metrics-before.txt"
is "each is the same process as before" "$(record both '[e["restarted"] for e in r["server_identity"]["endpoints"]]')" "[False, False]"
ib-verify --json both > both.json 2> /dev/null
is "the audit has nothing against it" "$(python3 -c '
import json
print([f["message"] for f in json.load(open("both.json"))["findings"] if f["id"] == "A19" and f["status"] == "fail"])')" "[]"
study stale cold '' "$both"
is "cold without a reset is contradicted" "$(record stale "$short")" "completed contradicted"
study gone reset "$reset" "{engine: vllm, metrics_urls: [\"$url/metrics\", \"http://127.0.0.1:9/secret-path\"]}"
is "an endpoint that does not answer leaves it unconfirmed" "$(record gone 'r["cache"]["evidence"]')" unconfirmed
like "and is named by its number" "$(record gone '" ".join(r["notes"])')" "endpoint 2: no answer"
ok "its address is nowhere in the record" sh -c '! grep -q secret-path gone/runs/*/record.json'
study named reset "$reset" "{engine: custom, metrics_url: \"$url/metrics\", counters: {queries: [\"vllm:prefix_cache_queries_total\"], hits: [\"vllm:prefix_cache_hits_total\"], busy: [\"vllm:num_requests_running\"]}}"
is "counters under names of the contract" "$(record named "$short")" "completed confirmed"
study restart reset "{command: [true], restart: true}" "{engine: vllm, metrics_url: \"$url/metrics\"}"
is "a reset that was to restart the server and did not refuses the run" "$(record restart 'r["state"] + " " + r["reasons"][0]')" "refused reset"
like "saying so" "$(record restart 'r["notes"][-1]')" "endpoint 1: (the server is the same process after the reset as before|its metrics do not tell)"

dd if=/dev/zero of=model.bin bs=65536 count=64 2> /dev/null
sync model.bin 2> /dev/null
kind=$(stat -f -c %T "$T")
study dropped cold "{page_cache: [\"$T/model.bin\"]}" "{files: [\"$T/model.bin\"], resident_share_max: 0.01}" "cat, \"$T/model.bin\""
study kept cold '' "{files: [\"$T/model.bin\"], resident_share_max: 0.01}" "cat, \"$T/model.bin\""
is "a file that was just read is in the page cache: contradicted" "$(record kept "$short")" "completed contradicted"
if [ "$kind" = tmpfs ] || [ "$kind" = overlayfs ]; then
    skip "a dropped file" "$kind keeps its pages"
else
    is "a dropped file is not there: confirmed" "$(record dropped "$short")" "completed confirmed"
    is "after the command it is" "$(record dropped 'r["residency"][0]["resident_after_bytes"]')" 4194304
fi
study absent cold "{page_cache: [\"$T/nothing\"]}" "{files: [\"$T/model.bin\"], resident_share_max: 0.01}" true
is "a file to drop that is not there refuses the run" "$(record absent 'r["state"] + " " + r["reasons"][0]')" "refused reset"

# the author calls it confirmed, in the record and in the ledger
cp -r stale forged && chmod -R u+w forged
if python3 - << 'EOT'
import glob, hashlib, json
p = glob.glob("forged/runs/*/record.json")[0]
old = open(p, "rb").read()
new = old.replace(b'"evidence": "contradicted"', b'"evidence": "confirmed"')
assert new != old
open(p, "wb").write(new)
lines, prev = [], None
for line in open("forged/ledger.jsonl", "rb").read().splitlines():
    line = line.replace(hashlib.sha256(old).hexdigest().encode(), hashlib.sha256(new).hexdigest().encode())
    if prev is not None:
        had = json.loads(line)["prev"].encode()
        line = line.replace(had, hashlib.sha256(prev).hexdigest().encode())
    lines.append(line)
    prev = line
open("forged/ledger.jsonl", "wb").write(b"\n".join(lines) + b"\n")
EOT
then
    ib-verify --json forged > forged.json 2> /dev/null
    like "a label against its own counters is found" "$(python3 -c '
import json
print([f["message"] for f in json.load(open("forged.json"))["findings"] if f["id"] == "A19" and f["status"] == "fail"])')" "is called confirmed, but its own counters say: [0-9]+ of"
else
    is "a label against its own counters is found" "not forged" ""
fi
done_testing
