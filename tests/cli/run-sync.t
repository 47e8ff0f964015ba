#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a record names is on the disk before the record, and the record before its finish entry.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
command -v strace > /dev/null || skip_all "there is no strace(1)"
strace -o probe -e trace=none true 2> /dev/null || skip_all "processes may not be traced here"

ok "a run under trace" strace -o trace -s 200 -y -e trace=fsync,fdatasync,renameat,write ib-run -q -C s --no-capture -- sh -c 'mkdir "$IB_OUTPUT_DIR/d"; echo x > "$IB_OUTPUT_DIR/d/result"'
# at ERE: number of the first line of the trace that matches
at() { grep -nE "$1" trace | head -n 1 | cut -d: -f1; }
# before NAME FIRST SECOND: both are there, in this order
before() {
    b_first=$(at "$2") b_second=$(at "$3")
    ok "$1" test "${b_first:-0}" -gt 0 -a "${b_second:-0}" -gt "${b_first:-0}"
}
before "the study's entry of the ledger, before the run starts" 'fsync\([0-9]+<.*/s>\)' '"kind\\":\\"start'
before "the run's directory, before the command's output" 'fsync\([0-9]+<.*/s/runs>\)' 'fdatasync\([0-9]+<.*/output/d/result>\)'
before "an output, before the record" 'fdatasync\([0-9]+<.*/output/d/result>\)' 'renameat\(.*"record.json"'
before "its directory too" 'fsync\([0-9]+<.*/output/d>\)' 'renameat\(.*"record.json"'
before "the record, before its name" 'fsync\([0-9]+<.*record.json.part>\)' 'renameat\(.*"record.json"'
before "its name, before the finish entry" 'renameat\(.*"record.json"' '"kind\\":\\"finish'
done_testing
