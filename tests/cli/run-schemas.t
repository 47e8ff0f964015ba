#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ib-run writes follows the schemas, in every state.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
python3 -c 'import jsonschema' 2> /dev/null || skip_all "python3-jsonschema is not installed"
cd "$T" || exit 99
run() { ib-run -q -C s "$@" > /dev/null 2>&1; }
run --group ok --cache reset --repeat 3 -- sh -c 'echo x > "$IB_OUTPUT_DIR/r.json"; echo out; echo err >&2'
run --no-capture -- sh -c 'exit 4'
run --no-capture -- no-such-command
run --no-capture -- sh -c 'kill -9 $$'
run --no-capture --timeout 100ms -- sleep 9
timeout -s INT 0.3 ib-run -q -C s --no-capture -- sleep 9
printf 'torn' >> s/ledger.jsonl
run --no-capture -- true
cat > validate.py <<'END'
import glob, json, sys
from jsonschema import Draft202012Validator as V
src = sys.argv[1]
def schema(name):
    s = json.load(open("%s/schemas/%s-v1.schema.json" % (src, name)))
    V.check_schema(s)
    return V(s)
record, entry, command, samples = schema("record"), schema("entry"), schema("command"), schema("samples")
def check(v, doc, where):
    for e in v.iter_errors(doc):
        print(where, list(e.path), e.message[:120])
states, kinds = set(), set()
for f in glob.glob("s/runs/*/record.json"):
    d = json.load(open(f)); check(record, d, f); states.add(d["state"])
for f in glob.glob("s/runs/*/samples.jsonl"):
    for n, line in enumerate(open(f)):
        check(samples, json.loads(line), "%s line %d" % (f, n + 1))
for f in glob.glob("s/runs/*/command.json"):
    check(command, json.load(open(f)), f)
for n, line in enumerate(open("s/ledger.jsonl"), 1):
    d = json.loads(line); check(entry, d, "line %d" % n); kinds.add(d["kind"])
print(sorted(states), sorted(kinds))
# the schemas must be able to say no
d = json.load(open(sorted(glob.glob("s/runs/*/record.json"))[0]))
no = 0
for key in d:
    e = dict(d); del e[key]
    no += any(record.iter_errors(e))
print("refused without any one key:", no == len(d))
END
is "records, commands and entries are valid" "$(python3 validate.py "$IB_SRCDIR" 2>&1)" \
"['completed', 'failed', 'interrupted', 'timed_out'] ['contract', 'finish', 'start', 'torn']
refused without any one key: True"
done_testing
