#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The order of a run's steps, as the commands themselves see it; the workload is looked at before every run, and another one is never measured.
. "$(dirname "$0")/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5

# what a step finds: last ledger entry's kind and run, files of the run directory, whether its lock is held
cat > look.py <<'PY'
import fcntl, json, os, sys
d = os.environ["IB_RUN_DIR"]
study = os.path.dirname(os.path.dirname(d))
last = json.loads(open(study + "/ledger.jsonl").read().splitlines()[-1])
assert last["run"] == os.environ["IB_RUN_ID"] == os.path.basename(d), last
fd = os.open(d, os.O_RDONLY)
try:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lock = "free"
except OSError:
    lock = "held"
names = sorted(os.path.relpath(os.path.join(p, n), d) for p, _, ns in os.walk(d) for n in ns)
names = [n for n in names if not n.startswith("endpoint/") or n.startswith("endpoint/metrics")]
open(sys.argv[1], "a").write("%s: %s %s %s\n" % (sys.argv[2], last["kind"], lock, " ".join(names)))
if len(sys.argv) > 3:
    open(os.path.join(os.environ["IB_OUTPUT_DIR"], "r.txt"), "w").write("result\n")
PY
mkdir s
cat > s/contract.yaml <<EOT
study: s
serving: {endpoint: "$url"}
groups:
  - name: g
    repeats: 1
    command: [python3, "$T/look.py", "$T/seen", command, "{output_dir}"]
    convert: [python3, "$T/look.py", "$T/seen", convert]
    cache:
      condition: reuse
      reset: {command: [python3, "$T/look.py", "$T/seen", reset]}
      warmup: {command: [python3, "$T/look.py", "$T/seen", warmup]}
      reason: it is the test
      evidence: {engine: vllm, metrics_url: "$url/metrics"}
EOT
status 0 "a plan" ib-run -q --plan s/contract.yaml
line() { sed -n "s/^$1: //p" seen; }
is "reset, warm-up, command and conversion, in this order" "$(cut -d: -f1 seen | tr '\n' ' ')" "reset warmup command convert "
like "reset: the start is in the ledger and the lock is held; nothing is captured yet" "$(line reset)" "^start held [^b]*$"
like "warm-up: the reset's output is there" "$(line warmup)" "^start held .*hooks/00-reset.out"
like "command: before.json and the metrics before are there" "$(line command)" "^start held before.json .*endpoint/metrics-before.txt"
is "command: neither record nor after.json" "$(line command | grep -cE ' (record|after).json( |$)')" 0
like "conversion: after.json and the metrics after are there, the record is not" "$(line convert)" "^start held after.json before.json .*endpoint/metrics-after.txt"
is "conversion: no record" "$(line convert | grep -cE ' record.json( |$)')" 0
r=$(echo s/runs/*)
is "the finish is the last entry" "$(tail -n 1 s/ledger.jsonl | grep -c '"kind":"finish"')" 1
is "everything is read-only" "$(find "$r" -perm /222 | wc -l | tr -d ' ')" 0
ok "every file is in the record, with its digest" python3 -c '
import hashlib, json, os, sys
d = sys.argv[1]
have = {os.path.relpath(os.path.join(p, n), d): hashlib.sha256(open(os.path.join(p, n), "rb").read()).hexdigest() for p, _, ns in os.walk(d) for n in ns}
have.pop("record.json")
r = json.load(open(d + "/record.json"))
assert {f["path"]: f["sha256"] for f in r["files"]} == have
assert "output/r.txt" in have
t = r["time"]
assert t["wall_ns"] > 0 and t["monotonic_ns"] > 0 and r["rusage"]["user_ns"] > 0 and r["rusage"]["max_rss_bytes"] > 1 << 20' "$r"

# the workload
mkdir -p w/workload
echo '{"prompt":"a"}' > w/workload/p.jsonl
cat > w/contract.yaml <<EOT
study: w
workloads:
  - {name: p, file: workload/p.jsonl, sha256: $(sha256sum < w/workload/p.jsonl | cut -d' ' -f1)}
groups:
  - name: g
    repeats: 3
    workload: p
    command: [sh, -c, "echo measured >> $T/measured; [ {repeat} != 2 ] || echo more >> $T/w/workload/p.jsonl"]
EOT
status 1 "a plan whose workload changes on the way" ib-run -q --no-capture --plan w/contract.yaml
is "two runs were measured" "$(grep -c measured measured)" 2
state() { python3 -c '
import glob, json, sys
rs = sorted((json.load(open(p)) for p in glob.glob("w/runs/*/record.json")), key=lambda r: (r["repeat"], r["attempt"]))
for r in rs: print(r["repeat"], r["state"], *r["reasons"], *[x["status"] for x in r["workloads"]])'; }
is "the third was refused, with the reason" "$(state)" "$(printf '1 completed ok\n2 completed ok\n3 refused workload mismatch')"
ok "the ledger has all three ends" test "$(grep -c '"kind":"finish"' w/ledger.jsonl)" = 3
rm w/workload/p.jsonl
status 1 "the plan goes on; the workload is gone" ib-run -q --no-capture --plan w/contract.yaml
is "which is another refusal" "$(state | tail -n 1)" "3 refused workload missing"
echo '{"prompt":"a"}' > w/workload/p.jsonl
status 0 "with the workload back the slot is filled" ib-run -q --no-capture --plan w/contract.yaml
is "by a third attempt" "$(state | tail -n 1)" "3 completed ok"
status 0 "the study holds" ib-verify w
like "with its refusals in sight" "$(cat .out)" "refused 2"
done_testing
