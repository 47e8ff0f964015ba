#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Modules include only what build-aux/layers.txt allows, and each third-party library has one home. Prints TAP.
set -u
cd "${IB_SRCDIR:-$(dirname "$0")/..}" || exit 99
echo 1..2
files=$(find src collectors -name '*.[ch]' | sort)
[ -n "$files" ] || { echo "Bail out! no sources found"; exit 99; }

# shellcheck disable=SC2086
bad=$(awk '
    FNR == NR { if ($0 ~ /^#/ || $0 ~ /^home /) next
                split($0, p, ":"); allowed[p[1]] = " " p[1] p[2] " "; next }
    /^#[ \t]*include[ \t]*"/ {
        module = FILENAME; if (module ~ /^src\//) { sub(/^src\//, "", module) }
        sub(/\/.*/, "", module)
        target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
        if (target !~ /\//) { print FILENAME ":" FNR ": include \"" target "\" must be written \"module/file.h\""; next }
        sub(/\/.*/, "", target)
        if (!(module in allowed)) print FILENAME ":" FNR ": module " module " is not in layers.txt"
        else if (index(allowed[module], " " target " ") == 0) print FILENAME ":" FNR ": " module " must not include " target
    }' build-aux/layers.txt $files)
if [ -z "$bad" ]; then echo "ok 1 - modules include only lower ones"; else echo "not ok 1 - modules include only lower ones"; echo "$bad" | sed 's/^/# /'; fi

bad2=
while read -r word header homes; do
    [ "$word" = home ] || continue
    header=${header%:}
    for f in $(grep -lE "^#[[:space:]]*include[[:space:]]*<$header" $files); do
        found=
        for h in $homes; do
            case $f in "$h" | "$h"/*) found=1 ;; esac
        done
        [ -n "$found" ] || bad2="$bad2$f includes <$header>, whose home is $homes
"
    done
done < build-aux/layers.txt
if [ -z "$bad2" ]; then echo "ok 2 - each library has one home"; else echo "not ok 2 - each library has one home"; printf '%s' "$bad2" | sed 's/^/# /'; fi
[ -z "$bad$bad2" ]
