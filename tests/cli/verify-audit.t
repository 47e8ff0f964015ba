#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify's options around the audit: explanations, clients, a reviewer's own levels.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
make=$IB_BUILDDIR/tests/unit/make_study
cd "$T" || exit 99
mkdir s && "$make" s 4 contradicted

# explanations and the manual
status 0 "--explain of a check needs no evidence" ib-verify --explain A20
like "--explain: title" "$(head -n 1 .out)" "^A20  "
like "--explain: level" "$(cat .out)" "^  level +E: "
status 0 "--explain takes any case" ib-verify -e a20
status 0 "--explain of a formula" ib-verify --explain tpot_excl_first
like "--explain: population" "$(cat .out)" "^  population  succeeded requests"
status 0 "--explain of a metric" ib-verify --explain ttft
is "--explain of a metric: all its formulas" "$(grep -c '^ttft_' .out)" "$(ib-verify --explain TTFT | grep -c '^ttft_')"
ok "--explain of a metric: more than one" test "$(grep -c '^ttft_' .out)" -gt 1
is "--explain is at most 80 columns wide" "$(awk 'length($0) > 80' .out)" ""
status 2 "--explain of what there is not" ib-verify --explain tpot_excl_frist
like "the nearest name is offered" "$(cat .err)" "did you mean 'tpot_excl_first'"
status 2 "--explain of nothing" ib-verify --explain ""
status 2 "--explain without a name" ib-verify --explain
status 0 "--list-clients" ib-verify --list-clients
like "--list-clients: names" "$(cat .out)" "^vllm-bench$"
like "--list-clients: schemas" "$(cat .out)" "vllm-bench/python-0.32"
sh "$IB_SRCDIR/build-aux/mk-audit-page.sh" ib-verify "$IB_SRCDIR/man/ib-audit.7" > page
ok "ib-audit(7) says of each check what --explain says (else: build-aux/mk-audit-page.sh)" diff "$IB_SRCDIR/man/ib-audit.7" page
silent=
for n in $(seq 1 99); do
    id=$(printf 'A%02d' "$n")
    ib-verify --explain "$id" > one 2> /dev/null || continue
    [ "$(grep -Ec '^  (reads|a failure|what to do) ' one)" -eq 3 ] || silent="$silent $id"
done
is "every check says what it reads, what a failure means and what to do" "$silent" ""

# a reviewer's own levels
rules() { printf '%s\n' "$1" > rules.json; }
status 0 "a warning does not decide" ib-verify s
rules '{"schema":"urn:ibtools:rules:v1","why":"cache","levels":{"A19":"E","A20":"E"}}'
status 1 "--rules: now it decides" ib-verify --rules rules.json s
like "--rules: on the screen, those that change a level" "$(cat .out)" "^rules +rules.json changes 1 level$"
like "--rules: still listed" "$(cat .out)" "^FAILS +A19 "
rules '{"schema":"urn:ibtools:rules:v1","levels":{"A19":"I"}}'
status 0 "--rules: a note" ib-verify --strict --rules rules.json s
ib-verify --json --rules rules.json s > doc.json
like "--rules: nothing is hidden" "$(tr -d '\n ' < doc.json)" '"id":"A19","level":"I","status":"fail"'
like "--rules: their digest" "$(cat doc.json)" "\"sha256\": \"$(sha256sum < rules.json | cut -d ' ' -f 1)\""
refused() { # NAME DOCUMENT ERE
    rules "$2"
    status 2 "$1" ib-verify --rules rules.json s
    like "$1: named" "$(cat .err)" "$3"
}
refused "--rules: an unknown check" '{"schema":"urn:ibtools:rules:v1","levels":{"A99":"E"}}' "/levels/A99: there is no such check"
refused "--rules: an unknown level" '{"schema":"urn:ibtools:rules:v1","levels":{"A19":"hide"}}' '/levels/A19: a level is'
refused "--rules: no level for the structure" '{"schema":"urn:ibtools:rules:v1","levels":{"S01":"I"}}' "/levels/S01: levels of checks A01 to A37"
refused "--rules: an unknown key" '{"schema":"urn:ibtools:rules:v1","hide":["A19"],"levels":{}}' "unknown key '/hide'"
refused "--rules: another schema" '{"schema":"urn:ibtools:rules:v2","levels":{}}' "schema"
refused "--rules: a key twice" '{"schema":"urn:ibtools:rules:v1","levels":{"A19":"I","A19":"E"}}' "rules.json"
refused "--rules: no object" '[]' "rules.json"
status 2 "--rules: no such file" ib-verify --rules nowhere.json s

# --requests
sets=$IB_SRCDIR/tests/data/clients/sets
mkdir f && cp -r "$sets/vllm/04_repeat_1" "$sets/vllm/04_repeat_2" "$sets/vllm/04_repeat_3" f
status 0 "--requests writes the records of the one result" ib-verify --requests one.jsonl f/04_repeat_1
is "--requests: a header and a line a request" "$(awk 'END { print NR }' one.jsonl)" 31
status 0 "--requests: what it wrote is a result" ib-verify one.jsonl
status 2 "--requests never overwrites" ib-verify --requests one.jsonl f/04_repeat_1
status 0 "--requests as CSV" ib-verify --requests one.csv f/04_repeat_1
status 2 "--requests of several results asks which" ib-verify --requests two.jsonl f
like "--requests of several: named" "$(cat .err)" "3 results hold records.*--show"
status 0 "--requests with --show: by its run" ib-verify --show 04_repeat_2 --requests two.jsonl f
like "--requests: of that run" "$(head -n 1 two.jsonl)" '04_repeat_2'
status 2 "--requests: another form" ib-verify --requests two.txt f/04_repeat_1
status 2 "--requests: no such run" ib-verify --show nope --requests three.jsonl f
is "--requests: nothing is left" "$(ls three.jsonl 2> /dev/null)" ""

# the screen of a folder
status 0 "a folder of repeats" ib-verify f
like "its first line" "$(head -n 1 .out)" "^([0-9]+ OF [0-9]+ )?NUMBERS RE-DERIVE, WITH [0-9]+ WARNINGS?; WHAT THEY MEASURED CANNOT BE ESTABLISHED"
like "its gates" "$(cat .out)" "^gates +contract -, baseline yes, comparison no \(apart\), trade-off yes, evidence -"
like "one row a result" "$(cat .out)" "^04_repeat_2 +1 +30/30 +89.3 \[73.8..95.2\] +111 +2.38 +1920/1920  hits 14.3 %"
like "repeats in other cache states are apart" "$(cat .out)" "^apart .*2 of 3 repeats not taken together with the first, NC_CACHE"
like "what to ask for" "$(cat .out)" "^ask for .*versions of client and server"
is "at most 25 lines" "$(awk 'END { print NR <= 25 }' .out)" 1
is "at most 100 columns" "$(awk 'length($0) > 100' .out)" ""
status 0 "--show of one result of a folder" ib-verify --show 04_repeat_2 f
like "--show: what it was told to do" "$(cat .out)" "^  seed +21 "
like "--show: what is said of it" "$(cat .out)" "^warning +A19 04_repeat_2/metrics_after.txt: 640 of 4485"
status 2 "--show of what is not in the folder" ib-verify --show nope f
status 0 "an unused cap" ib-verify "$sets/vllm/05_cap_unused"
like "an unused cap: said" "$(cat .out)" "cap 4 unused, peak 2"
mkdir n && "$make" n 6
ib-verify n > .out
is "a study: at most 25 lines" "$(awk 'END { print NR <= 25 }' .out)" 1
is "a study: at most 100 columns" "$(awk 'length($0) > 100' .out)" ""
like "a study: cells that cannot be told apart" "$(cat .out)" "^compared +cap-4 : cap-1, TTFT p50 not separable"

if python3 -c 'import jsonschema' 2> /dev/null; then
    cat > validate.py << 'PY'
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    jsonschema.Draft202012Validator(schema).validate(json.load(open(name)))
PY
    ib-verify --json f > f.json
    ib-verify --json "$sets/vllm/09_append" > one.json
    rules '{"schema":"urn:ibtools:rules:v1","levels":{"A19":"I"}}'
    ok "rules fit their schema" python3 validate.py "$IB_SRCDIR/schemas/rules-v1.schema.json" rules.json
    ok "findings with rules fit their schema" python3 validate.py "$IB_SRCDIR/schemas/findings-v1.schema.json" doc.json f.json one.json
else
    skip "rules fit their schema" "python3-jsonschema is not installed"
    skip "findings with rules fit their schema" "python3-jsonschema is not installed"
fi
done_testing
