#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The typed form of real contracts, as an independent validator sees it.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2> /dev/null || skip_all "python3-jsonschema is not installed: the typed form is not validated"
cd "$T" || exit 99

mkdir manual
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$IB_SRCDIR/man/ib-contract.5" | sed '1d;$d' > manual/contract.yaml
mkdir small
printf 'study: small\ngroups:\n  - {name: g, repeats: 1, command: [true]}\n' > small/contract.yaml
for example in loopback smollm2; do
    mkdir $example
    cp "$IB_SRCDIR/examples/$example/contract.yaml" $example/
done
cat > check.py << 'PY'
import glob, json, sys
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
doc = json.load(open(glob.glob(sys.argv[2] + "/contracts/*.json")[0]))
errors = [e.json_path + ": " + e.message for e in Draft202012Validator(schema).iter_errors(doc)]
# every object is total and holds nothing that the schema does not know
def closed(s):
    s = dict(s)
    for k in ("properties", "$defs"):
        if k in s: s[k] = {n: closed(v) for n, v in s[k].items()}
    if "properties" in s: s["additionalProperties"] = False
    return s
errors += [e.json_path + ": " + e.message for e in Draft202012Validator(closed(schema)).iter_errors(doc)]
print("\n".join(errors))
sys.exit(bool(errors))
PY
for study in manual small loopback smollm2; do
    # the runs fail, since there is no server; the contract is registered all the same
    ib-run -q --no-capture --plan $study/contract.yaml > out 2> err &
    pid=$!
    try=0
    while [ ! -s $study/ledger.jsonl ] && [ $try -lt 200 ] && kill -0 $pid 2> /dev/null; do
        sleep 0.05
        try=$((try + 1))
    done
    kill -TERM $pid 2> /dev/null
    wait $pid
    ok "$study: the typed form is valid" python3 check.py "$IB_SRCDIR/schemas/contract-v1.schema.json" $study
done
done_testing
