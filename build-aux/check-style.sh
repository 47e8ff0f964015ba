#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lengths, complexity, SPDX lines, "return -" and the words of the project. Prints TAP.
set -u
cd "${IB_SRCDIR:-$(dirname "$0")/..}" || exit 99
echo 1..7
n=0 status=0
files=$(find src collectors examples include -name '*.[ch]' | sort)
[ -n "$files" ] || { echo "Bail out! no sources found"; exit 99; }

verdict() { # NAME LIST-OF-FAULTS
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
        status=1
    fi
}

# shellcheck disable=SC2086
{
    verdict "every source file opens with an SPDX line" "$(for f in $files; do head -n 1 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f"; done)"
    verdict "files have at most 500 lines" "$(wc -l $files | awk '$2 != "total" && $1 > 500')"
    verdict "lines have at most 160 columns, no trailing blanks" "$(awk 'length($0) > 160 || /[ \t]$/ { print FILENAME ":" FNR }' $files)"
    if command -v pmccabe > /dev/null; then
        verdict "functions have at most 80 lines and a complexity of at most 15" \
            "$(find src collectors examples -name '*.c' -print0 | xargs -0 pmccabe | awk '$1 > 15 || $5 > 80')"
    else
        n=$((n + 1))
        echo "ok $n - functions have at most 80 lines and a complexity of at most 15 # SKIP pmccabe is not installed"
    fi
    verdict "only ib_fail makes a negative" "$(grep -nE 'return[[:space:]]*\(?-[0-9A-Za-z_]' $files | grep -v 'err.c:')"
    words=$(grep -vE '^(#|$)' build-aux/badwords.txt | paste -sd '|')
    verdict "no other words for what the project has names for" \
        "$(grep -nEiw -e "$words" $(find src collectors schemas man examples -name '*.[ch157]' -o -name '*.json') README.md 2> /dev/null)"
    verdict "texts are ASCII: the screen shows any other byte as \\xHH" \
        "$(for f in $files; do sed -e 's@/\*.*\*/@@g' -e 's@/\*.*@@' -e '/^[[:space:]]*\*/d' "$f" | LC_ALL=C grep -nP '[^\x00-\x7F]' | sed "s@^@$f: @"; done)"
}
exit $status
