#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The entries of man/ib-audit.7, from what ib-verify --explain says of each check: one truth for both.
# usage: mk-audit-page.sh IB-VERIFY PAGE     prints PAGE with its entries made anew; redirect to a new file and move it
set -eu
LC_ALL=C
export LC_ALL
entries() {
    echo '.Bl -tag -width Ds'
    for n in $(seq 1 99); do
        id=$(printf 'A%02d' "$n")
        "$1" --explain "$id" 2> /dev/null || continue
    done | awk '
        function flush() { if (text != "") print text "."; text = "" }
        /^A[0-9][0-9]  / { flush(); title = substr($0, 6); id = substr($0, 1, 3); next }
        /^  level / { print ".It " id " (" substr($2, 1, 1) ") " title; next }
        /^  (reads|a failure|what to do)/ {
            flush(); word = substr($0, 3, 12); sub(/ +$/, "", word); rest = substr($0, 15)
            text = (word == "reads" ? "Reads: " : word == "a failure" ? "A failure: " : "What to do: ") rest; next }
        /^ +[^ ]/ && text != "" { sub(/^ +/, ""); text = text " " $0; next }
        END { flush() }' | sed -e 's/\\/\\e/g' -e 's/^\(Reads\|A failure\|What to do\): /.Em \1 :\n/' |
        sed -e 's/\([a-z)0-9]\)\. \([A-Z]\)/\1.\n\2/g'
    echo '.El'
}
sed '/^\.\\" begin of checks/q' "$2"
entries "$1"
sed -n '/^\.\\" end of checks/,$p' "$2"
