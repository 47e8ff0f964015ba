#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Manual pages are clean mdoc, and the options of each tool's --help are those of its page. Prints TAP.
set -u
: "${IB_BUILDDIR:=$PWD}" "${IB_SRCDIR:=$(dirname "$0")/..}"
pages=$(find "$IB_SRCDIR/man" -name '*.[157]' | sort)
tools=$(grep -vE '^(#|$)' "$IB_SRCDIR/build-aux/needed.txt" | sed 's/:.*//' | grep -vE '^ib-(probe|sample-gpu)$') # internal, without a page
[ -n "$pages" ] || { echo "Bail out! no manual pages"; exit 99; }
# shellcheck disable=SC2086
set -- $pages
echo "1..$(($# + $(printf '%s\n' "$tools" | wc -l) * 3))"
n=0 status=0
verdict() {
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
        status=1
    fi
}
for page in "$@"; do
    name=$(basename "$page")
    if command -v mandoc > /dev/null; then
        verdict "$name has no warning" "$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'outdated mandoc.db')"
    else
        n=$((n + 1))
        echo "ok $n - $name has no warning # SKIP mandoc is not installed"
    fi
done
for tool in $tools; do
    help=$("$IB_BUILDDIR/$tool" --help 2>&1)
    in_help=$(printf '%s\n' "$help" | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' | sort -u)
    in_page=$(sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/p; /^\.Sh DESCRIPTION/,/^\.Sh [^D]/p' "$IB_SRCDIR/man/$tool.1" 2> /dev/null |
        sed -n 's/^\.It.* Fl \\*-*\(Fl \)\{0,1\}-\([a-z0-9-]*\).*/\2/p' | sort -u)
    [ -n "$in_help" ] && [ -n "$in_page" ] || in_help="$in_help (help or page of $tool lists no option)"
    differ=
    [ "$in_help" = "$in_page" ] || differ=$(printf '%s\n' "--help:" "$in_help" "page:" "$in_page")
    verdict "options of $tool --help are those of its page" "$differ"
    verdict "$tool --help is at most 80 columns wide" "$(printf '%s\n' "$help" | awk 'length($0) > 80')"
    verdict "$tool.1 has all sections" "$(for s in NAME SYNOPSIS DESCRIPTION FILES ENVIRONMENT 'EXIT STATUS' EXAMPLES DIAGNOSTICS 'SEE ALSO' 'SECURITY CONSIDERATIONS'; do
        grep -q "^\.Sh $s" "$IB_SRCDIR/man/$tool.1" || echo "$s is missing"
    done)"
done
exit $status
