#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-run --analysis: script, inputs and figures by digest; what was changed afterwards is found, what is withheld is known.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/pack.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
mkdir -p study/workload
echo "some words" > study/workload/words.txt
cat > study/contract.yaml << 'EOT'
study: looked-at
groups:
  - name: base
    repeats: 2
    command: [sh, -c, 'echo "$IB_RUN_ID,1" > "$IB_OUTPUT_DIR/numbers.csv"; echo raw > "$IB_OUTPUT_DIR/raw.bin"']
withhold:
  - path: runs/*/output/*.bin
    reason: too large
EOT
(cd study && ib-run -q --no-capture --plan contract.yaml) > plan.out 2>&1 || sed 's/^/# /' plan.out
mkdir study/analysis study/report
cat > study/analysis/plot.sh << 'EOT'
#!/bin/sh
# reads in children, writes a figure and a table
set -e
cd "$IB_STUDY_DIR"
sort runs/*/output/numbers.csv > "$IB_ANALYSIS_DIR/table.csv"
(cat workload/words.txt runs/*/output/raw.bin) | tr a-z A-Z > report/figure.svg
echo drawn
echo careful >&2
EOT
# doc EXPRESSION [N]: of the last analysis, or the Nth
doc() { python3 -c '
import glob, json, sys
d = [json.loads(l) for l in open("study/ledger.jsonl")]
d = [json.load(open("study/" + e["file"])) for e in d if e["kind"] == "analysis"][int(sys.argv[2])]
print(eval(sys.argv[1]))' "$1" "${2:--1}"; }
paths='" ".join(f["path"].replace(d["id"], "ID") for f in %s)'
# shellcheck disable=SC2059
list() { doc "$(printf "$paths" "$1")" | sed 's/[0-9TZ]*-base.all-r0\([12]\)-[0-9a-f]*/RUN\1/g'; }

status 0 "an analysis runs" ib-run --analysis -C study -- sh study/analysis/plot.sh --words={study_dir}/workload/words.txt
is "its output is shown" "$(cat "$T/.out")" drawn
like "and its errors" "$(cat "$T/.err")" '^careful'
is "the script is known by its digest" "$(doc 'd["scripts"][0]["path"] + d["scripts"][0]["sha256"]')" "analysis/plot.sh$(sha256sum < study/analysis/plot.sh | cut -d ' ' -f 1)"
is "so is a file behind an option" "$(list 'd["scripts"]')" "analysis/plot.sh workload/words.txt"
is "the inputs are what it and its children read" "$(list 'd["inputs"]["files"]')" "runs/RUN1/output/numbers.csv runs/RUN1/output/raw.bin runs/RUN2/output/numbers.csv runs/RUN2/output/raw.bin"
is "all of them" "$(doc 'd["inputs"]["status"]')" ok
is "the outputs are what it wrote" "$(list 'd["outputs"]')" "analysis/ID/table.csv report/figure.svg"
is "by digest" "$(doc 'd["outputs"][1]["sha256"]')" "$(sha256sum < study/report/figure.svg | cut -d ' ' -f 1)"
is "nothing else changed" "$(doc 'd["elsewhere"] + d["removed"] + d["notes"]')" "[]"
is "the command is kept as it was given" "$(doc 'd["argv"][2]')" "--words={study_dir}/workload/words.txt"
is "its logs are kept" "$(cat study/analysis/*/stdout.log study/analysis/*/stderr.log | tr '\n' ' ')" "drawn careful "
status 0 "the study is consistent" ib-verify study
if python3 -c 'import jsonschema' 2> /dev/null; then
    schema() { python3 -c '
import glob, json, sys, jsonschema
for s, lines in (("analysis", [open(p).read() for p in glob.glob("study/analysis/*/analysis.json")]), ("entry", open("study/ledger.jsonl"))):
    v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1] + "/schemas/%s-v1.schema.json" % s)))
    for l in lines: v.validate(json.loads(l))' "$IB_SRCDIR"; }
    ok "analysis.json and the ledger are as their schemas say" schema
else
    skip "analysis.json and the ledger are as their schemas say" "python3-jsonschema is not installed"
fi

# packed, with what it read withheld
new_key me
cp -a study packed
status 0 "the study is packed" ib-pack -C packed --key me.pem -o a.tar
status 0 "and holds, its withheld inputs known by their digests" ib-verify --strict --trust me.pub.pem a.tar
ok "no warning of analyses" sh -c "ib-verify --json --trust me.pub.pem a.tar | python3 -c '
import json, sys
s = {f[\"status\"] for f in json.load(sys.stdin)[\"findings\"] if f[\"id\"] == \"S18\"}
assert s == {\"pass\"}, s'"

# what is changed afterwards; every case in a copy
n=0
# changed STATUS NAME PATTERN COMMAND…
changed() {
    ch_status=$1 ch_name=$2 ch_pattern=$3
    shift 3
    n=$((n + 1))
    cp -a study copy$n
    chmod -R u+w copy$n
    (cd copy$n && "$@")
    status "$ch_status" "$ch_name" ib-verify --strict copy$n
    ib-verify --json copy$n > copy.json
    like "$ch_name, in these words" "$(python3 -c '
import json
for f in json.load(open("copy.json"))["findings"]:
    if f["id"] == "S18": print(f["level"], f["status"], f["file"], f["message"])')" "$ch_pattern"
}
in_dir() { for d in analysis/2*; do (cd "$d" && sh -c "$1"); done; }
changed 1 "a figure that was drawn over" '^W fail report/figure.svg is not what the analysis wrote' sh -c 'echo better > report/figure.svg'
changed 1 "a figure that was removed" '^W fail report/figure.svg an analysis wrote this file' rm report/figure.svg
changed 1 "a table in its directory" '^W fail analysis/[^/]*/table.csv is not what' in_dir 'echo 1 > table.csv'
changed 1 "data that were exchanged afterwards" '^W fail workload/words.txt an analysis read other bytes' sh -c 'echo others > workload/words.txt'
changed 1 "data that are gone" '^W fail workload/words.txt an analysis read this file' rm workload/words.txt
changed 1 "a script that was edited" '^W fail analysis/plot.sh an analysis read other bytes' sh -c 'echo true > analysis/plot.sh'
changed 1 "a log that was edited" '^E fail analysis/[^/]*/stdout.log its bytes are not' in_dir 'echo drawn well > stdout.log'
changed 1 "an analysis.json that was edited" '^E fail analysis/[^/]*/analysis.json its bytes are not' in_dir 'sed -i s/figure/fugure/ analysis.json'
changed 1 "an analysis that is gone" '^E fail analysis/[^/]*/analysis.json the ledger holds this analysis' sh -c 'rm -r analysis/2*'
changed 1 "an analysis that nobody ran" '^W fail analysis/mine/analysis.json no entry of the ledger' sh -c 'mkdir analysis/mine; echo "{}" > analysis/mine/analysis.json'
cp -a study later
chmod -R u+w later
echo notes > later/analysis/notes.txt
echo more > later/report/other.txt
status 0 "files of the author's own are no findings" ib-verify --strict later

# a second analysis
cat > study/analysis/bad.py << 'EOT'
import os, sys
s = os.environ["IB_STUDY_DIR"]
open(s + "/report/figure.svg").read()
open(s + "/report/figure.svg", "w").write("drawn anew")
open(s + "/workload/made.txt", "w").write("not here")
os.remove(s + "/analysis/plot.sh")
print(open(sys.argv[1]).read())
sys.exit(7)
EOT
echo "token hf_abcdefghijklmnopqrstuvwxyzABCDEFGH" > outside.txt
cp study/analysis/plot.sh plot.sh
status 7 "an analysis that fails passes its status on" ib-run --analysis -C study -- python3 study/analysis/bad.py outside.txt --hub-token=correct-horse-battery
like "what it changed outside its place is said" "$(cat "$T/.err")" 'warning: the analysis changed 1 file of the study outside'
is "and kept" "$(doc 'd["exit"]["status"], d["elsewhere"], d["removed"]')" "(7, [{'path': 'workload/made.txt', 'change': 'created'}], [{'path': 'analysis/plot.sh'}])"
is "a file outside the study is known where it is named" "$(doc '[(s["argument"], s["in_study"]) for s in d["scripts"]]')" "[(1, True), (2, False)]"
is "what it read and wrote is both, as it was and as it is" "$(doc 'd["inputs"]["files"][0]["sha256"] == d["outputs"][0]["was_sha256"] != d["outputs"][0]["sha256"] == "'"$(sha256sum < study/report/figure.svg | cut -d ' ' -f 1)"'"')" True
ok "a secret of the command line is not" sh -c '! grep -r correct-horse study/analysis study/ledger.jsonl'
status 0 "an older figure that a later analysis drew anew is no fault" ib-verify study
like "but what a later one removed, and what changed elsewhere, is told" "$(cat "$T/.out")" 'S18'
cp plot.sh study/analysis/plot.sh
status 127 "a command that is not there" ib-run -q --analysis -C study -- ib-there-is-no-such-program
is "is kept too" "$(doc 'd["exit"]["status"], d["time"]')" "(None, None)"
status 124 "one that takes too long" ib-run -q --analysis -C study --timeout 300ms -- sleep 20
is "is kept as such" "$(doc 'd["exit"]["timed_out"]')" True
status 125 "no study, no analysis" ib-run -q --analysis -C nowhere -- true
ok "and none is made" test ! -e nowhere
ok "analyses have no runs" sh -c 'test "$(ls study/runs | wc -l)" -eq 2'

# another ib-run at work meanwhile
ib-run -q --no-capture -C study -- sleep 2 &
other=$!
sleep 0.5
status 0 "an analysis beside a run" ib-run -q --analysis -C study -- sh -c 'sleep 3'
wait $other
is "does not blame it for that" "$(doc 'd["elsewhere"]')" "[]"
like "but says so" "$(doc 'd["notes"]')" 'another ib-run worked in the study'
[ "$(type schema 2> /dev/null)" = "" ] || ok "all of them are as the schemas say" schema
done_testing
