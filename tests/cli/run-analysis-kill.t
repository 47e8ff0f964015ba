#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of an ib-run that carries out an analysis, at random moments (IB_KILLS of them): every analysis has one entry afterwards, with the
# document that was there, and nothing is overwritten.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/pack.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
kills=${IB_KILLS:-30}
seed=${IB_SEED:-$$}
echo "# IB_SEED=$seed IB_KILLS=$kills"
ib-run -q -C s --no-capture -- true || exit 99

# findings FILTER: status and text of S18
s18() { ib-verify --json "$1" | python3 -c 'import json, sys
for f in json.load(sys.stdin)["findings"]:
    if f["id"] == "S18": print(f["level"], f["status"], f["file"], f["message"])'; }

cat > judge.py << 'END'
import glob, hashlib, json, os, sys
bad, prev, known = [], None, {}
for n, line in enumerate(open("s/ledger.jsonl", "rb"), 1):
    e = json.loads(line)
    if e["seq"] != n or e["prev"] != prev: bad.append("chain breaks at line %d" % n)
    prev = hashlib.sha256(line[:-1]).hexdigest()
    if e["kind"] == "analysis":
        id = e["file"].split("/")[1]
        if id in known: bad.append(id + " has two entries")
        known[id] = e["file"]
        data = open("s/" + e["file"], "rb").read()
        if hashlib.sha256(data).hexdigest() != e["sha256"] or len(data) != e["bytes"]: bad.append(e["file"] + " is another")
        if json.loads(data)["status"] != {"analysis.json": "ended", "begun.json": "begun"}[e["file"].split("/")[2]]: bad.append(e["file"] + " says otherwise")
ended = 0
for d in os.listdir("s/analysis"):
    have = sorted(set(os.listdir("s/analysis/" + d)) & {"begun.json", "analysis.json"})
    if d not in known: bad.append(d + " has no entry")
    elif have != [known[d].split("/")[2]]: bad.append("%s holds %r" % (d, have))
    ended += have == ["analysis.json"]
print("; ".join(bad[:5]) if bad else "ok")
print("# ended, all: %d, %d" % (ended, len(known)), file=sys.stderr)
END
# every file below analysis/, by its digest; a begun.json beside an analysis.json goes
sums() { (cd s/analysis && find . -type f ! -name begun.json -exec sha256sum {} + | sort -k 2); }

cat > draw.sh << 'END'
for i in 1 2 3 4 5; do echo "$i" >> "$IB_ANALYSIS_DIR/table.csv"; echo "line $i"; done
END
from=$(date +%s%N)
ib-run -q --analysis -C s -- sh draw.sh > /dev/null || exit 99
took=$(( ($(date +%s%N) - from) / 1000000 ))
[ "$took" -le 300 ] || took=300
echo "# an analysis takes $took ms"
awk -v seed="$seed" -v n="$kills" -v ms="$took" 'BEGIN { srand(seed); for (i = 1; i <= n; i++) printf "%.4f\n", rand() * ms / 1000 }' > moments
while read -r moment; do
    ib-run -q --analysis -C s -- sh draw.sh > /dev/null 2>&1 &
    pid=$!
    sleep "$moment"
    kill -9 $pid 2> /dev/null
    wait $pid 2> /dev/null
done < moments
sleep 0.5
sums > before
status 0 "the next run works" ib-run -C s --no-capture -- true
is "each analysis has one entry, with its document" "$(python3 judge.py 2> counts)" ok
cat counts
sums > after
ok "nothing was overwritten or removed" diff before after
lines=$(wc -l < s/ledger.jsonl)
ib-run -q --analysis -C s -- true
is "a start after it has nothing left to do" "$(($(wc -l < s/ledger.jsonl) - lines))" 1
status 0 "the study is consistent" ib-verify s

# one that is killed for certain, and one at work
ib-run -q -C k --no-capture -- true
ib-run -q --analysis -C k -- sh -c 'echo $$ > "$IB_ANALYSIS_DIR/pid"; exec sleep 30' &
pid=$!
for _ in $(seq 100); do [ -s k/analysis/*/pid ] && break; sleep 0.05; done
ib-run -q -C k --no-capture -- true
is "an analysis at work has no entry" "$(grep -c '"kind":"analysis"' k/ledger.jsonl)" 0
like "and is not checkable" "$(s18 k)" '^I not_checkable analysis/[^/]*/begun.json this analysis has no entry in the ledger: it is at work'
kill -9 $pid
wait $pid 2> /dev/null
kill "$(cat k/analysis/*/pid)"
like "so is one that was killed" "$(s18 k)" 'or its ib-run did not end'
mkdir k/analysis/20261130T160000Z-00000001 k/analysis/own
echo mine > k/analysis/own/notes
like "the next start says so" "$(ib-run -C k --no-capture -- true 2>&1)" '1 earlier analysis did not end: recorded as abandoned'
ok "a directory in which nothing was begun is gone" test ! -e k/analysis/20261130T160000Z-00000001
is "the author's own stay" "$(cat k/analysis/own/notes)" mine
is "the command is known" "$(python3 -c 'import glob, json; print(json.load(open(glob.glob("k/analysis/*/begun.json")[0]))["argv"][0])')" sh
like "its end is not" "$(s18 k)" '^I not_checkable analysis/[^/]*/begun.json this analysis was abandoned'
status 0 "the study holds" ib-verify k
new_key me
cp -a k packed
status 0 "and is packed" ib-pack -C packed --key me.pem -o k.tar
status 0 "and holds as a packet" ib-verify --trust me.pub.pem k.tar
cp -a k edited
sed -i 's/sleep 30/sleep 31/' edited/analysis/*/begun.json
status 1 "what was begun cannot be changed" ib-verify edited
cp -a k gone
rm gone/analysis/*/begun.json
status 1 "nor removed" ib-verify gone

# ib-pack records it too, and what ended without its entry is adopted
ib-run -q -C p --no-capture -- true
ib-run -q --analysis -C p -- true
chmod -R u+w p/analysis
sed '$d' p/ledger.jsonl > p/cut && mv p/cut p/ledger.jsonl
sed 's/"status":"ended"/"status":"begun"/' p/analysis/*/analysis.json > begun && cp begun "$(echo p/analysis/*)/begun.json"
like "a whole analysis without an entry is told" "$(s18 p)" '^W fail analysis/[^/]*/analysis.json no entry of the ledger knows'
status 0 "ib-pack gives it one" ib-pack -C p --key me.pem -o p.tar
like "as it stands" "$(grep '"kind":"analysis"' p/ledger.jsonl)" 'analysis.json'
ok "and takes away what it had begun with" sh -c '! ls p/analysis/*/begun.json'
status 0 "the packet holds" ib-verify --strict --trust me.pub.pem p.tar
if python3 -c 'import jsonschema' 2> /dev/null; then
    schema() { python3 -c '
import glob, json, sys, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1] + "/schemas/analysis-v1.schema.json")))
for p in glob.glob("[skp]/analysis/*/*.json"): v.validate(json.load(open(p)))' "$IB_SRCDIR"; }
    ok "all documents are as the schema says" schema
else
    skip "all documents are as the schema says" "python3-jsonschema is not installed"
fi
done_testing
