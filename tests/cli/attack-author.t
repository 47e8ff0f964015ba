#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an author can write before the seal, with every digest made again: what contradicts the client's own files is found, the rest is not
# claimed to be proved.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
python3 -c 'import hashlib' 2> /dev/null || skip_all "python3 is not installed"
make=$IB_BUILDDIR/tests/unit/make_study

# remade NAME EXIT ERE: the study changed by the statements on standard input
remade() {
    rm -rf "$T/s"
    mkdir "$T/s"
    "$make" "$T/s" 4
    cat > "$T/statements"
    python3 "$IB_SRCDIR/tests/cli/remake.py" "$T/s" < "$T/statements" || echo "Bail out! remake.py"
    status "$2" "$1" ib-verify "$T/s"
    like "$1: said" "$(cat "$T/.out")" "$3"
}

remade "nothing changed" 0 "^HOLDS: " < /dev/null
remade "it is said that the author could have changed it" 0 "^Does not prove: .*author changed nothing" < /dev/null
like "and the other two" "$(cat "$T/.out")" "^Does not prove: machine as described; .*; no study left out\$"
remade "other counts" 1 "S16 .*'succeeded'" << 'PY'
r = record(0); r["requests"]["succeeded"] += 1; put(0, r)
PY
remade "counts, and no client that counted" 1 "S16 .*names no client" << 'PY'
r = record(0); r["requests"]["client"] = None; r["requests"]["schema_id"] = None; put(0, r)
PY
remade "no counts, though there is a result" 0 "^HOLDS" << 'PY'
r = record(0); r["requests"] = {k: None for k in r["requests"]}; put(0, r)
PY
like "is not called checked" "$(ib-verify --json "$T/s")" "does not count the requests"
remade "a second result that nobody counted" 1 "S16 .*'attempted'" << 'PY'
import shutil
shutil.copy(path(f"runs/{runs[1]}/output/requests.jsonl"), path(f"runs/{runs[0]}/output/a.jsonl"))
put(0, record(0))
PY
remade "synthetic data that the record calls real" 1 "S16 .*synthetic" << 'PY'
import re
p = path(f"runs/{runs[0]}/output/requests.jsonl")
head, rest = open(p).read().split("\n", 1)
head = json.loads(head); head["synthetic"] = True
open(p, "w").write(json.dumps(head) + "\n" + rest)
r = record(0); r["synthetic"] = False; r["synthetic_why"] = None; put(0, r)
PY
done_testing
