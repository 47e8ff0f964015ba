#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hostile packets and contracts, each one change away from one that holds: the right class, the right exit, in little time and memory.
# IB_HOSTILE_CASES=PREFIX: some of them; IB_HOSTILE_KEEP=DIR: leave them there; IB_HOSTILE_ASAN=1
# with a build with --enable-sanitizers: time and memory are not judged.
. "$(dirname "$0")/../cli/lib.sh"
python3 -c 'import hashlib' 2> /dev/null || skip_all "python3 is not installed"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
here=$IB_SRCDIR/tests/hostile
out=${IB_HOSTILE_KEEP:-$T/cases}
cd "$T" || exit 99
{
    mkdir -p study/report "$out" && "$IB_BUILDDIR/tests/unit/make_study" study 4 && mkdir -p study/report &&
        echo alpha > study/report/a.txt && echo "bravo bravo" > study/report/b.txt &&
        ib-pack --new-key k && ib-pack -C study --key k.pem -o good.tar
} > log 2>&1 || { cat log; echo "Bail out! no good packet"; exit 99; }
ib-verify --quiet --trust k.pub.pem good.tar || { echo "Bail out! the good packet does not hold"; exit 99; }
python3 "$here/make_hostile.py" good.tar k.pem "$out" ${IB_HOSTILE_CASES:+"$IB_HOSTILE_CASES"} > log || { echo "Bail out! make_hostile.py"; exit 99; }
sed 's/^/# /' log
python3 "$here/run_cases.py" "$out" "$here/overrides.json" ${IB_HOSTILE_CASES:+"$IB_HOSTILE_CASES"}
