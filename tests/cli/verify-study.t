#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify on studies: every sort of tampering has its class and exit status and is named; what cannot be looked at says why.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
make=$IB_BUILDDIR/tests/unit/make_study

fresh() {
    rm -rf "$T/s"
    mkdir "$T/s"
    "$make" "$T/s" 4 "$@"
    run1=$(ls -d "$T"/s/runs/*-9f3a0001)
    run2=$(ls -d "$T"/s/runs/*-9f3a0002)
}
# tampered NAME EXIT ERE: verdict on the study as it lies there
tampered() {
    status "$2" "$1" ib-verify "$T/s"
    like "$1: named" "$(cat "$T/.out")" "$3"
}

fresh
status 0 "a sound study holds" ib-verify "$T/s"
like "the verdict comes first" "$(head -n 1 "$T/.out")" "^HOLDS: study "
is "the screen has at most 25 lines" "$(awk 'END { print NR <= 25 }' "$T/.out")" 1
is "nothing is on standard error" "$(cat "$T/.err")" ""
status 0 "one run holds" ib-verify "$run1"
status 0 "--quiet says nothing" ib-verify -q "$T/s"
is "--quiet: no output" "$(cat "$T/.out")" ""
status 0 "--show one run" ib-verify --show "$(basename "$run1")" "$T/s"
like "--show: its numbers" "$(cat "$T/.out")" "p50 19.15 ms \(n 24, 95 % interval [0-9.]+ to [0-9.]+\)"
status 2 "--show of an unknown run" ib-verify --show nope "$T/s"
before=$(cd "$T/s" && find . -exec stat -c '%n %s %Y %Z' {} + | sort)
ib-verify "$T/s" > /dev/null
is "verifying writes nothing" "$(cd "$T/s" && find . -exec stat -c '%n %s %Y %Z' {} + | sort)" "$before"

echo "run 7" > "$run1/stdout.log"
tampered "an edited file" 1 "ALTERED.*|S07 E_HASH runs/.*-9f3a0001/stdout.log"
fresh
head -c 100 "$run1/output/requests.jsonl" > "$T/x" && mv "$T/x" "$run1/output/requests.jsonl"
tampered "a truncated file" 1 "S07 E_HASH runs/.*-9f3a0001/output/requests.jsonl"
fresh
mv "$run1/stdout.log" "$run1/stdout.txt"
tampered "a renamed file" 1 "S07 E_MISSING runs/.*-9f3a0001/stdout.log"
like "a renamed file: its new name" "$(cat "$T/.out")" "S07 E_EXTRA runs/.*-9f3a0001/stdout.txt"
fresh
cp -r "$run1" "$T/s/runs/20261130T160102Z-copy-r01-00000000"
tampered "a copied run" 1 "S08 E_EXTRA runs/20261130T160102Z-copy-r01-00000000"
fresh
rm -r "$run1"
tampered "a removed run" 1 "S08 E_MISSING runs/.*-9f3a0001"
fresh
mv "$run1" "$T/t" && mv "$run2" "$run1" && mv "$T/t" "$run2"
tampered "swapped runs" 1 "S05 E_HASH runs/.*-9f3a000[12]/record.json"
fresh
ln -sf /etc/passwd "$run1/stdout.log"
tampered "a symbolic link" 4 "REFUSED|S00 E_TYPE runs/.*stdout.log: is a symbolic link"
fresh
mkfifo "$run1/output/pipe"
tampered "a named pipe does not block" 4 "S00 E_TYPE runs/.*/output/pipe"
fresh
sed -i '4d' "$T/s/ledger.jsonl"
tampered "a removed ledger line" 1 "S01 E_LEDGER ledger.jsonl: .*line 4"
fresh
"$make" --rechain "$T/s" 4
tampered "a removed start, chained anew" 1 "S08 E_EXTRA runs/"
fresh
sed -i '4{h;d};5{G}' "$T/s/ledger.jsonl"
tampered "reordered ledger lines" 1 "S01 E_LEDGER ledger.jsonl"
fresh
printf 'study: other\n' > "$T/s/contract.yaml"
tampered "a changed contract" 1 "S09 E_BINDING contract.yaml"
fresh sealed
echo x > "$T/s/late.txt"
tampered "a file added after the seal" 1 "S12 E_HASH"

fresh
head=$(ib-verify --json "$T/s" | sed -n 's/.*"ledger_head": "\([0-9a-f]*\)".*/\1/p')
status 0 "the expected head" ib-verify --expect-head "$head" "$T/s"
"$make" --rechain "$T/s" 9
status 0 "a cut tail alone is not seen" ib-verify "$T/s"
like "a cut tail: not anchored" "$(cat "$T/.out")" "not anchored"
status 1 "a cut tail, against the expected head" ib-verify --expect-head "$head" "$T/s"
like "a cut tail is named" "$(cat "$T/.out")" "S14 E_LEDGER ledger.jsonl"
status 2 "a head that is none" ib-verify --expect-head 123 "$T/s"

fresh overlapping
status 0 "warnings do not decide" ib-verify "$T/s"
like "warnings are counted" "$(head -n 1 "$T/.out")" "^HOLDS, WITH 3 WARNINGS"
status 1 "--strict lets them" ib-verify --strict "$T/s"
fresh wrong_requests
status 1 "a record that its client contradicts" ib-verify "$T/s"
like "the first line says so" "$(head -n 1 "$T/.out")" "^DOES NOT HOLD"

fresh
printf 'x' > "$run1/$(printf 'a\033[31m\nFAILS b')"
status 1 "a hostile name" ib-verify "$T/s"
is "a hostile name reaches no terminal" "$(LC_ALL=C tr -d '\n\040-\176' < "$T/.out" | wc -c)" 0
like "a hostile name is shown escaped" "$(cat "$T/.out")" 'a\\x1B\[31m\\x0AFAILS b'

fresh
mv "$run1" "$T/alone-$$" && mkdir -p "$T/r" && mv "$T/alone-$$" "$T/r/$(basename "$run1")"
status 3 "a run without its ledger" ib-verify "$T/r/$(basename "$run1")"
like "it says what is missing" "$(cat "$T/.out")" "no ledger vouches"
status 3 "a path that is not there" ib-verify "$T/nope"
like "one line about it" "$(cat "$T/.err")" "^ib-verify: cannot open '.*nope': No such file"
status 0 "a client's result by itself" ib-verify "$run2/output/requests.jsonl"
status 4 "not a packet" ib-verify /etc/passwd
status 4 "an empty file" ib-verify /dev/null
: > "$T/empty"
status 4 "an empty regular file" ib-verify "$T/empty"
status 2 "no argument" ib-verify
status 2 "two arguments" ib-verify "$T/s" "$T/s"
status 2 "an unknown option" ib-verify --strickt "$T/s"
like "the nearest option" "$(cat "$T/.err")" "did you mean '--strict'"
fresh
status 3 "trust for a study does not apply" ib-verify --fingerprint "SHA256:YMCt1796qdM9GyR6cT19Ayy+L9cys3DkCTLUh0bSj5Y" "$T/s"
like "it says so" "$(cat "$T/.out")" "do not apply"
status 3 "a full disk on standard output" sh -c 'ib-verify "$1" > /dev/full' sh "$T/s"

if python3 -c 'import jsonschema' 2> /dev/null; then
    cat > "$T/validate.py" << 'PY'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    doc = json.load(open(name))
    jsonschema.Draft202012Validator(schema).validate(doc)
    tally = {"pass": 0, "fail": 0, "not_checkable": 0}
    for f in doc["findings"]:
        tally[f["status"]] += 1
    assert tally == doc["tally"], (tally, doc["tally"])
PY
    fresh
    ib-verify --json "$T/s" > "$T/good.json"
    ib-verify --json "$run1" > "$T/run.json"
    echo x > "$run1/$(printf '\377')"
    ib-verify --json "$T/s" > "$T/bad.json"
    ib-verify --json /etc/passwd > "$T/none.json"
    ok "the findings documents fit their schema" python3 "$T/validate.py" "$IB_SRCDIR/schemas/findings-v1.schema.json" "$T/good.json" "$T/run.json" "$T/bad.json" "$T/none.json"
else
    skip "the findings documents fit their schema" "python3-jsonschema is not installed"
fi
done_testing
