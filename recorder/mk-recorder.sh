#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The agentless recorder, made from its template and what ib-capture says it reads: the two cannot differ.
# usage: mk-recorder.sh IB-CAPTURE TEMPLATE VERSION
set -eu
list=$("$1" --list)

# Files: not what speaks of the recorder's own process, and not where the file systems of the machine come from; with what a node's label is made of
reads() {
    { printf '%s\n' /etc/machine-id /proc/sys/kernel/random/boot_id; printf '%s\n' "$list" | sed -n 's/^    \(\/.*\)/\1/p'; } |
        grep -vE '^/proc/(self/|mounts$)' | sort -u | sed -e 's#^\(.*\)/\*\*$#    below \1#' -e 't' -e 's#^#    each #'
}

# names SED-EXPRESSION: the arms of a case
names() {
    printf '%s\n' "$list" | sed -n "$1" | sort -u | sed 's/_$/_*/' | paste -sd '|' | sed 's/|/ | /g' | fold -s -w 140 |
        sed -e 's/^/    /' -e 's/ $//' -e 's/\(.*|\)$/\1 \\/'
}

part=$(mktemp -d)
trap 'rm -rf "$part"' EXIT
reads > "$part/reads"
names 's/^    environ(7): //p' > "$part/values"
names 's/^    environ(7), presence: //p' > "$part/present"
[ -s "$part/reads" ] && [ -s "$part/values" ] && [ -s "$part/present" ] || { echo "mk-recorder.sh: '$1 --list' tells too little" >&2; exit 1; }
awk -v part="$part" -v version="$3" -v mark="ib-record-node 1" '
    function insert(name, tail,    line, last) {
        while ((getline line < (part "/" name)) > 0) { if (last != "") print last; last = line }
        print last tail
    }
    /^@READS@/ { insert("reads", ""); next }
    /^@VALUES@/ { insert("values", substr($0, 9)); next }
    /^@PRESENT@/ { insert("present", substr($0, 10)); next }
    { gsub(/@VERSION@/, version); gsub(/@MARK@/, mark); print }' "$2"
