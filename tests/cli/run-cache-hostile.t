#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages of metrics that lie, lack, break or count twice: never confirmed for the wrong reason, and the verdict has the endpoint and the numbers.
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
evidence="engine: vllm, metrics_url: \"$url/metrics\""

# page Q H [MORE]: of a server that has counted Q prompt tokens, H of them from its cache
page() {
    printf '# TYPE vllm:prefix_cache_queries_total counter\nvllm:prefix_cache_queries_total{engine="0",model_name="m"} %s\nvllm:prefix_cache_hits_total{engine="0",model_name="m"} %s\n' "$1" "$2"
    printf 'vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:generation_tokens_total 5\n%b' "${3:-}"
}
# judge NAME: the page before is in ./before, that after in ./after, what goes wrong with it in ./mode; 100 prompt tokens are expected
judge() {
    rm -f server/mode
    cp before server/page
    mkdir "$1"
    printf '%s\n' "study: $1" "groups:" "  - name: g" "    repeats: 1" "    command: [sh, -c, \"cp $T/after $T/server/page; [ ! -s $T/mode ] || cp $T/mode $T/server/mode\"]" \
        "    cache: {condition: cold, evidence: {$evidence, queries: 100}}" > "$1/contract.yaml"
    ib-run --no-capture --no-sample --plan "$1/contract.yaml" > "$1.out" 2> "$1.err"
    : > mode
    python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
print("%s %s: %s" % (r["state"], r["cache"]["evidence"], r["cache"]["why"]))' "$1"
}
: > mode

page 1000 10 > before
page 1100 10 > after; like "the sound one: confirmed" "$(judge sound)" "^completed confirmed: 0 of 100"
page 1100 11 > after; like "one hit: contradicted" "$(judge hit)" "^completed contradicted: 1 of 100 prompt tokens \(1.0 %\).*at most 0 may"
page NaN 10 > after; like "NaN" "$(judge nan)" "^completed unconfirmed: endpoint 1: its metrics do not hold 'vllm:prefix_cache_queries_total'"
page 1100 NaN > after; like "NaN for the hits" "$(judge nan-hits)" "^completed unconfirmed: endpoint 1: .*hits_total'"
page 1100 +Inf > after; like "infinity" "$(judge inf)" "^completed unconfirmed"
page 1e400 10 > after; like "1e400" "$(judge huge-number)" "^completed unconfirmed: endpoint 1: its metrics do not hold"
page 0x44c 10 > after; like "a hexadecimal number" "$(judge hex)" "^completed unconfirmed"
page 1100.4 10 > after; like "part of a token" "$(judge fraction)" "^completed unconfirmed: the server's counters make no sense"
page 1100 -10 > after; like "a negative count" "$(judge negative)" "^completed unconfirmed: "
page -1000 -10 > before; page -900 -10 > after; like "both negative" "$(judge both-negative)" "^completed unconfirmed: 'vllm:prefix_cache_queries_total' is no count: it is negative"
page 1e300 1e300 > before; page 1e300 1e300 > after; like "too large for single tokens" "$(judge large)" "^completed unconfirmed"
page 1000 1e17 > before; page 1100 1e17 > after; like "hits too large for single tokens" "$(judge large-hits)" "^completed unconfirmed: .*is no count"
page 1000 10 > before
page 100 0 > after; like "counters that fall: restarted" "$(judge falls)" "^completed unconfirmed: endpoint 1: the server was restarted during the run, by counters that are lower than before"
page 1100 0 > after; like "hits that fall" "$(judge hits-fall)" "^completed unconfirmed: endpoint 1: 'vllm:prefix_cache_hits_total' went down"
page 500 10 'vllm:prefix_cache_queries_total{model_name="m",engine="0"} 500\n' > before
page 550 10 'vllm:prefix_cache_queries_total{model_name="m",engine="0"} 550\n' > after
like "one series twice, 50 tokens counted as 100" "$(judge twice)" "^completed unconfirmed: endpoint 1: its metrics hold 'vllm:prefix_cache_queries_total' twice with the same labels"
page 1000 10 'vllm:prefix_cache_queries_total{engine="1",model_name="m"} 500\nvllm:prefix_cache_hits_total{engine="1",model_name="m"} 0\n' > before
page 1060 10 'vllm:prefix_cache_queries_total{engine="1",model_name="m"} 540\nvllm:prefix_cache_hits_total{engine="1",model_name="m"} 0\n' > after
like "two engines behind one page: added up, confirmed" "$(judge engines)" "^completed confirmed: 0 of 100"
page 1060 10 'vllm:prefix_cache_queries_total{engine="1",model_name="m"} 540\nvllm:prefix_cache_hits_total{engine="1",model_name="m"} 7\n' > after
like "hits of the second: contradicted" "$(judge second)" "^completed contradicted: 7 of 100"
page 1560 10 'vllm:prefix_cache_queries_total{engine="1",model_name="m"} 40\nvllm:prefix_cache_hits_total{engine="1",model_name="m"} 0\n' > after
like "one of them restarted, though the sum is right" "$(judge part)" "^completed unconfirmed: endpoint 1: 'vllm:prefix_cache_queries_total' went down or away in one of its series"
page 1600 10 > after
like "one of them gone, though the sum is right" "$(judge gone)" "^completed unconfirmed: endpoint 1: .*went down or away"
page 1000 10 'vllm:prefix_cache_queries_total{engine="0",model_name="other"} 5\nvllm:prefix_cache_hits_total{engine="0",model_name="other"} 0\n' > before
page 1100 10 'vllm:prefix_cache_queries_total{engine="0",model_name="other"} 77\nvllm:prefix_cache_hits_total{engine="0",model_name="other"} 0\n' > after
like "another model of the same server was used" "$(judge models)" "^completed unconfirmed: the server counted 172 prompt tokens, more than the 100 expected: someone else used it"
page 1000 10 > before; page 1099 10 > after; like "a token too few" "$(judge fewer)" "^completed unconfirmed: the server counted 99 prompt tokens, fewer than the 100 expected"
page 1100 10 > after
printf 'python_gc_objects_collected_total 1\nvllm:num_requests_running 0\nvllm:num_requests_waiting 0\n' > before
like "counters that appear with the first request" "$(judge late)" "^completed unconfirmed: endpoint 1: its metrics do not hold 'vllm:prefix_cache_queries_total'"
page 1000 10 > before
printf '<html><body>Please log in. vllm:prefix_cache_queries_total 1100 vllm:prefix_cache_hits_total 10</body></html>\n' > after
echo html > mode; like "a page to log in" "$(judge login)" "^completed unconfirmed: endpoint 1: its metrics do not hold"
page 1100 10 > after
echo gzip > mode; like "compressed, though nobody asked for that" "$(judge gzip)" "^completed unconfirmed: endpoint 1: its metrics could not be read after the command: the answer is no text"
echo huge > mode; like "20 MB" "$(judge huge)" "^completed unconfirmed: endpoint 1: its metrics could not be read after the command: the answer is too large"
echo 500 > mode; like "status 500" "$(judge status)" "^completed unconfirmed: endpoint 1: its metrics could not be read after the command: the answer's status is not 200"
rm -f server/mode
page 1000 10 '# vllm:prefix_cache_hits_total{engine="0",model_name="m"} 99\nvllm:prefix_cache_hits_total_created 5\n' > before
page 1100 10 '# HELP vllm:prefix_cache_hits_total x\nvllm:prefix_cache_hits_totals 70\n vllm:prefix_cache_hits_total 99\n' > after
like "comments and other names are not counted" "$(judge comments)" "^completed confirmed: 0 of 100"

# names of the contract: the record against its pages
evidence="engine: custom, metrics_url: \"$url/metrics\", counters: {queries: [my_prompts], hits: [my_hits]}"
printf 'my_prompts 10\nmy_hits 3\n' > before; printf 'my_prompts 110\nmy_hits 43\n' > after
like "names of the contract" "$(judge custom)" "^completed contradicted: 40 of 100"
cp -r custom forged && chmod -R u+w forged
python3 - << 'EOT'
import glob, hashlib, json
p = glob.glob("forged/runs/*/record.json")[0]
old = open(p, "rb").read()
r = json.loads(old)
for c in r["cache"]["counters"]:
    if c["name"] == "my_hits":
        c["after"], c["delta"] = c["before"], 0
r["cache"]["evidence"], r["cache"]["why"] = "confirmed", "0 of 100 prompt tokens (0.0 %) came from the cache, all as expected"
new = json.dumps(r, indent=2).encode() + b"\n"
open(p, "wb").write(new)
lines, prev = [], None
for line in open("forged/ledger.jsonl", "rb").read().splitlines():
    line = line.replace(hashlib.sha256(old).hexdigest().encode(), hashlib.sha256(new).hexdigest().encode())
    if prev is not None:
        line = line.replace(json.loads(line)["prev"].encode(), hashlib.sha256(prev).hexdigest().encode())
    lines.append(line)
    prev = line
open("forged/ledger.jsonl", "wb").write(b"\n".join(lines) + b"\n")
EOT
findings() {
    ib-verify --json "$1" > "$1.json" 2> /dev/null
    python3 -c '
import json, sys
print([(f["message"], f["expected"], f["found"]) for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "A19" and f["status"] == "fail"])' "$1.json"
}
like "a counter of the contract's own name that is not that of the page is found" "$(findings forged)" \
    "the record's counter 'my_hits' is not that of its pages of metrics\", '3 before, 43 after', '3 before, 3 after'"
is "the sound one has no such finding" "$(findings sound)" "[]"
is "nor one of two engines" "$(findings engines)" "[]"
done_testing
