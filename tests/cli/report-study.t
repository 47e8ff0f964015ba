#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-report over studies: every run has a row, damaged evidence gives no number, nothing is overwritten.
. "$(dirname "$0")/lib.sh"

MAKE=$IB_BUILDDIR/tests/unit/make_study
[ -x "$MAKE" ] || skip_all "tests/unit/make_study is not built (CUnit is missing)"

mkdir "$T/s" "$T/sealed" "$T/adhoc"
"$MAKE" "$T/s" 3 contradicted unfinished || exit 99
"$MAKE" "$T/sealed" 2 sealed || exit 99
"$MAKE" "$T/adhoc" 1 ad_hoc || exit 99

status 0 "a study is reported" ib-report "$T/s"
out=$(cat "$T/.out")
is "nothing on standard error" "$(cat "$T/.err")" ""
is "every run of the ledger has a row" "$(printf '%s\n' "$out" | grep -c '^2026')" "$(grep -c '"kind":"start"' "$T/s/ledger.jsonl")"
like "a run without an end is listed as abandoned" "$out" '^2026[^ ]* +— +— +— +— +— +— +abandoned'
like "a contradicted cache label shows" "$out" '24/24/0 .*reset: contradicted'
like "what is synthetic is labelled" "$out" '^SYNTHETIC: 3 of 4 rows'
like "the window stands beside the rate" "$out" ' 45\.45 \(0\.528 s\) '
status 0 "output goes to a new file" ib-report -f md -o "$T/report.md" "$T/s"
is "and not to standard output" "$(cat "$T/.out")" ""
like "the file holds a Markdown table" "$(cat "$T/report.md")" '^\| 2026.* \| 24/24/0 \|'
cp "$T/report.md" "$T/copy.md"
status 2 "an existing file is not overwritten" ib-report -f md -o "$T/report.md" "$T/sealed"
like "the message names it" "$(cat "$T/.err")" "report.md' exists and is not overwritten"
ok "and the file is as it was" cmp "$T/report.md" "$T/copy.md"
ln -s nowhere "$T/dangling"
status 2 "nor is a link followed" ib-report -o "$T/dangling" "$T/s"
status 0 "a second report is the same, byte for byte, in another locale and place" \
    sh -c 'cd / && LC_ALL=C TZ=Asia/Tokyo COLUMNS=40 ib-report -f md "$1" | cmp - "$2"' sh "$T/s" "$T/copy.md"
status 0 "without an operand the current directory is taken" sh -c 'cd "$1" && ib-report' sh "$T/adhoc"
status 0 "or the one of -C" ib-report -C "$T/adhoc"
like "an ad-hoc study has a table, too" "$(cat "$T/.out")" '24/24/0'

for s in s sealed adhoc; do
    ib-report --format json "$T/$s" > "$T/$s.json"
    if python3 -c 'import jsonschema' 2> /dev/null; then
        ok "the JSON of $s fits its schema" python3 -c '
import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' \
            "$IB_SRCDIR/schemas/report-v1.schema.json" "$T/$s.json"
    else
        skip "the JSON of $s fits its schema" "python3-jsonschema is missing"
    fi
done

# damage: the last run's output, then the ledger
last=$(ls "$T/sealed/runs" | tail -n 1)
chmod -R u+w "$T/sealed"
printf '\n' >> "$T/sealed/runs/$last/stdout.log"
status 1 "a study with a damaged run" ib-report "$T/sealed"
out=$(cat "$T/.out")
like "is said not to be intact" "$out" 'NOT INTACT'
like "the damaged run has no numbers" "$out" "^$last +— +— +— +— +— +— +completed, not established"
sed -i '2s/"seq":2/"seq":3/' "$T/s/ledger.jsonl"
status 1 "a study with a damaged ledger" ib-report "$T/s"
is "has no number of any run" "$(grep -c '24/24/0' "$T/.out")" 0

status 3 "what is no study" ib-report "$T/copy.md"
status 3 "what does not exist" ib-report "$T/none"
like "is named" "$(cat "$T/.err")" "$T/none"
status 2 "an unknown format" ib-report -f html "$T/adhoc"
status 2 "two operands" ib-report "$T/adhoc" "$T/s"
status 2 "an unknown option" ib-report --fromat md "$T/adhoc"
like "with the nearest known one" "$(cat "$T/.err")" "did you mean '--format'"
if [ -w /dev/full ]; then
    status 3 "a full disk on standard output" sh -c 'ib-report "$1" > /dev/full' sh "$T/adhoc"
else
    skip "a full disk on standard output" "no /dev/full"
fi
done_testing
