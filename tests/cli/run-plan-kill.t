#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of ib-run at random moments (IB_KILLS of them) anywhere in a plan of 30 runs, each time resumed, then carried out to its end: no run is lost or
# renamed, no filled slot is run again, the ledger's chain holds, every start has an end. So too when a queue preempts it (TERM, then KILL).
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
kills=${IB_KILLS:-30}

mkdir s
cat > s/contract.yaml << EOT
study: s
stop: {failed_runs: 0}
groups:
  - name: a
    repeats: 5
    matrix: {v: [x, y]}
    order: interleaved
    command: [sh, "$T/work.sh", "{group}.{cell}.{repeat}", "{output_dir}"]
  - name: b
    gate: a
    repeats: 10
    matrix: {v: [x, y]}
    order: shuffled
    seed: 3
    command: [sh, "$T/work.sh", "{group}.{cell}.{repeat}", "{output_dir}"]
EOT
# says when it begins and when it has done its work
cat > work.sh << EOT
echo "begin \$1" >> "$T/truth"
echo "line of \$1"
echo result > "\$2/result.txt"
echo "end \$1" >> "$T/truth"
EOT

cat > judge.py << 'EOT'
import collections, hashlib, json, os, sys
d, complete = sys.argv[1], sys.argv[2] == "complete"
prev, runs, order, bad = None, {}, [], []
for n, line in enumerate(open(d + "/ledger.jsonl", "rb"), 1):
    e = json.loads(line)
    if e["seq"] != n or e["prev"] != prev or not line.endswith(b"\n"): bad.append("the chain breaks at line %d" % n)
    prev = hashlib.sha256(line[:-1]).hexdigest()
    if e["kind"] == "start":
        if e["run"] in runs: bad.append("started twice: " + e["run"])
        runs[e["run"]] = dict(e, end=None)
        order.append(e["run"])
    elif e["kind"] in ("finish", "abandoned"):
        r = runs[e["run"]]
        if r["end"]: bad.append("two ends: " + e["run"])
        r["end"] = e["state"] if e["kind"] == "finish" else "abandoned"
        if e["kind"] == "finish":
            data = open("%s/runs/%s/record.json" % (d, e["run"]), "rb").read()
            if hashlib.sha256(data).hexdigest() != e["record_sha256"]: bad.append("another record: " + e["run"])
            for f in json.loads(data)["files"]:
                got = open("%s/runs/%s/%s" % (d, e["run"], f["path"]), "rb").read()
                if hashlib.sha256(got).hexdigest() != f["sha256"]: bad.append("%s of %s" % (f["path"], e["run"]))
slots = collections.defaultdict(list)
for name in order:
    r = runs[name]
    slots[(r["group"], r["cell"], r["repeat"])].append(r)
    if not r["end"]: bad.append("no end: " + name)
    if not name.split("-", 1)[1].startswith("%s.%s-r%02d-" % (r["group"], r["cell"], r["repeat"])): bad.append("renamed: " + name)
for slot, made in slots.items():
    if [r["attempt"] for r in made] != list(range(1, len(made) + 1)): bad.append("attempts of %s: %s" % (slot, [r["attempt"] for r in made]))
    full = [i for i, r in enumerate(made) if r["end"] in ("completed", "failed", "timed_out")]
    if len(full) > 1 or (full and full[0] != len(made) - 1): bad.append("run again although it was filled: %s" % (slot,))
    if complete and not full: bad.append("never filled: %s" % (slot,))
if complete and len(slots) != int(sys.argv[3]): bad.append("%d slots" % len(slots))
for name in os.listdir(d + "/runs"):
    if name not in runs: bad.append("a directory that the ledger does not name: " + name)
for name, r in runs.items():
    if r["end"] != "abandoned" and not os.path.isdir("%s/runs/%s" % (d, name)): bad.append("lost: " + name)
# what the commands say that they did; a slot whose command ended may have been killed before its record was there
if complete and os.path.exists("truth"):
    said = collections.Counter(open("truth").read().splitlines())
    for slot, made in slots.items():
        if slot[0] in "ab" and said["begin %s.%s.%d" % slot] > len(made): bad.append("more commands than runs: %s" % (slot,))
print("; ".join(bad[:5]) if bad else "ok")
print("# %d runs, %d abandoned" % (len(runs), sum(r["end"] == "abandoned" for r in runs.values())), file=sys.stderr)
EOT

seed=${IB_SEED:-$$}
echo "# IB_SEED=$seed IB_KILLS=$kills"
plan="ib-run -q --no-capture --plan s/contract.yaml"
# how long a plan of so many runs takes here and now
mkdir m
sed 's/study: s/study: m/' s/contract.yaml > m/contract.yaml
from=$(date +%s%N)
ib-run -q --no-capture --plan m/contract.yaml > /dev/null 2>&1
took=$(( ($(date +%s%N) - from) / 1000000 ))
is "undisturbed, the plan is filled" "$(python3 judge.py m complete 30 2> /dev/null)" ok
echo "# 30 runs take $took ms"
: > truth
# each attempt gets a share of that, so that the kills are spread over the whole plan
awk -v seed="$seed" -v n="$kills" -v ms="$took" 'BEGIN { srand(seed); for (i = 1; i <= n; i++) printf "%.4f\n", rand() * 2 * (1.2 * ms / n + 6) / 1000 }' > moments
while read -r moment; do
    $plan > /dev/null 2>&1 &
    pid=$!
    sleep "$moment"
    kill -9 $pid 2> /dev/null
    wait $pid 2> /dev/null
done < moments
tries=0
while [ $tries -lt 5 ]; do
    tries=$((tries + 1))
    ib-run --no-capture --plan s/contract.yaml > last 2>&1 && break
    sed 's/^/# /' last
done
is "then it is carried out to its end" "$tries" 1
is "nothing lost, renamed or run twice" "$(python3 judge.py s complete 30 2> counts)" ok
cat counts
status 0 "once more there is nothing to do" $plan
is "and nothing is done" "$(python3 judge.py s complete 30 2> /dev/null)" ok
status 0 "the study holds" ib-verify s
like "with its abandoned runs in sight" "$(ib-verify s | grep complete)" "planned 30 = completed 30"

# a queue that preempts: TERM, and KILL a moment later; then the job is started again
mkdir q
cat > q/contract.yaml << EOT
study: q
groups:
  - name: g
    repeats: 6
    command: [sh, -c, "trap '' TERM; echo x > {output_dir}/x; sleep 0.2"]
EOT
again=0
while [ $again -lt 12 ]; do
    again=$((again + 1))
    ib-run -q --no-capture --plan q/contract.yaml > /dev/null 2>&1 &
    pid=$!
    sleep 0.5
    kill -TERM $pid 2> /dev/null
    sleep 0.05
    kill -KILL $pid 2> /dev/null
    wait $pid 2> /dev/null
    [ "$(grep -c '"state":"completed"' q/ledger.jsonl)" -ge 6 ] && break
done
status 0 "a plan that is preempted again and again comes to its end" ib-run -q --no-capture --plan q/contract.yaml
is "with nothing lost or run twice" "$(python3 judge.py q complete 6 2> counts)" ok
cat counts

# what a killed ib-run leaves running holds up nothing
mkdir l
cat > l/contract.yaml << EOT
study: l
groups:
  - name: g
    repeats: 2
    command: [sh, -c, "test -e $T/go && exit 0; echo \$\$ > $T/survivor; exec sleep 60"]
EOT
ib-run -q --no-capture --plan l/contract.yaml > /dev/null 2>&1 &
pid=$!
for _ in $(seq 200); do [ -s survivor ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2> /dev/null
touch go
status 0 "a plan goes on beside what its killed predecessor left running" timeout 30 ib-run --no-capture --plan l/contract.yaml
like "and says so" "$(cat "$T/.err")" "still alive from abandoned runs"
kill "$(cat survivor)"
is "its slots are filled" "$(python3 judge.py l complete 2 2> /dev/null)" ok

# files of a contract that was never registered
cp s/contract.yaml "s/contracts/$(printf '%064d' 0).yaml"
: > "s/contracts/$(printf '%064d' 1).json.0123abcd.part"
: > "s/contracts/$(basename "$(ls s/contracts/*.json | tail -n 1)").89abcdef.part"
is "what a killed ib-run left of a contract is noticed" "$(ib-verify s --json | grep -c 'no entry of the ledger registers this contract')" 3
status 0 "and removed by the next one" ib-run --no-capture --plan s/contract.yaml
like "which says so" "$(cat "$T/.err")" "'contracts/0{64}.yaml' was left by an ib-run that was killed before it was registered: removed"
status 0 "so that the study holds" ib-verify s
done_testing
