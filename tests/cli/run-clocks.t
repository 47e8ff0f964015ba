#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A wall clock that is set while a command runs, a machine that sleeps: durations stay right, and the record says what happened.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cc=${CC:-cc}
cd "$T" || exit 99
$cc -shared -fPIC -o shim.so "$IB_SRCDIR/tests/cli/clock_shim.c" 2> cc.err || skip_all "no C compiler makes a shared library here"
export CLOCK_SHIM="$T/clocks"
ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
export ASAN_OPTIONS

# run NAME "WALL BOOT" [OPTION…]: in study NAME; the clocks move so many seconds in the middle of the command
run() {
    name=$1 jump=$2; shift 2
    rm -f clocks
    LD_PRELOAD=$T/shim.so ib-run -q -C "$name" --no-capture "$@" -- sh -c 'sleep 0.3; echo "$1" > "$2.part"; mv "$2.part" "$2"; sleep "$3"' x "$jump" "$CLOCK_SHIM" "${REST:-0.7}" > "$T/.out" 2>&1
    echo $? > status
    rm -f clocks
}
cat > look.py << 'END'
import glob, json, sys
path = glob.glob(sys.argv[1] + "/runs/*/record.json")[0]
r = json.load(open(path))
t = r["time"]
def negative(v, key=""):
    if isinstance(v, dict): return [n for k in v for n in negative(v[k], k)]
    if isinstance(v, list): return [n for w in v for n in negative(w, key)]
    return [key] if isinstance(v, (int, float)) and v < 0 and key != "clock_step_ns" else []
s = [json.loads(l) for l in open(path.replace("record.json", "samples.jsonl"))]
what = {"state": r["state"], "step": round(t["clock_step_ns"] / 1e9), "asleep": round(t["suspended_ns"] / 1e9),
        "took": "short" if 9e8 < t["monotonic_ns"] < 3e10 else "%.3f s" % (t["monotonic_ns"] / 1e9),
        "minutes": round(t["monotonic_ns"] / 60e9), "wall": t["wall_ns"] if t["wall_ns"] is None else "known",
        "negative": negative(r) + negative(s), "notes": "|".join(r["notes"])}
print(*[what[k] for k in sys.argv[2:]])
END
look() { python3 look.py "$@"; }

run quiet "0 0"
is "clocks that agree" "$(look quiet state step asleep took wall)" "completed 0 0 short known"
is "of them nothing is noted" "$(look quiet notes | grep -cE "clock|suspended")" 0
run back "-3600 0"
is "an hour back: the duration is right, the step is told" "$(look back state step asleep took)" "completed -3600 0 short"
like "in words too" "$(look back notes)" "the wall clock stepped by -3600.[0-9] s while the command ran: durations are not affected"
is "no time is negative: that of a clock set back is null" "$(look back negative wall)" "[] None"
run forth "7200 0"
is "two hours forth" "$(look forth state step asleep took wall negative)" "completed 7200 0 short known []"
like "is said" "$(look forth notes)" "the wall clock stepped by (7200.0|7199.9) s"
run asleep "600 600"
is "asleep for ten minutes: no step of the clock, and the duration holds it" "$(look asleep state step asleep minutes wall negative)" "completed 0 600 10 known []"
like "is said" "$(look asleep notes)" "the machine was suspended for 600.0 s while the command ran"
is "nor is a step noted" "$(look asleep notes | grep -c stepped)" 0
REST=2.5 run late "600 600" --timeout 5m --no-progress 5m
is "no limit goes on while the machine sleeps" "$(look late state asleep) $(cat status)" "completed 600 0"
run limit "-3600 0" --timeout 60
is "a clock set back lengthens no time limit, set forth shortens none" "$(look limit state)" completed
run limit2 "3600 0" --timeout 60
is "as said" "$(look limit2 state)" completed
rm -f clocks
for s in back forth asleep; do
    ib-verify --json $s > verdict.json
    is "$s: the study verifies" "$(python3 -c 'import json; print([f["id"] for f in json.load(open("verdict.json"))["findings"] if f["status"] == "fail" and f["level"] == "E"])')" "[]"
done
# the next run starts before the last one has ended, by the clock
run back "0 0"
status 0 "and so does one whose clock goes back from run to run" sh -c 'ib-verify --json back > v.json; ! jq -e ".findings[] | select(.level == \"E\" and .status == \"fail\")" v.json'
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "all records are valid" python3 -c '
import glob, json, sys, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1] + "/schemas/record-v1.schema.json")))
paths = glob.glob("*/runs/*/record.json")
assert len(paths) > 6, len(paths)
for p in paths: v.validate(json.load(open(p)))' "$IB_SRCDIR"
else
    skip "all records are valid" "python3-jsonschema is not installed"
fi
done_testing
