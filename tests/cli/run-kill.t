#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of ib-run and of its command at random moments (IB_KILLS of them): the ledger stays valid, every run is finished or
# abandoned, no byte that the command wrote is lost, and the next run works and reports survivors.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
kills=${IB_KILLS:-40}

cat > writer.sh <<'END'
# Writes numbered lines; after each, the number goes to the truth file.
echo $$ > "$1.pid"
i=0
while [ $i -lt 150 ]; do
    i=$((i + 1))
    echo "line $i"
    echo $i > "$1"
done
END

# Chain, accounts and logs of the study s; prints "ok" or what is wrong.
cat > judge.py <<'END'
import hashlib, json, os, sys
prev, runs, bad = None, {}, []
for n, line in enumerate(open("s/ledger.jsonl", "rb"), 1):
    e = json.loads(line)
    if e["seq"] != n or e["prev"] != prev: bad.append("chain breaks at line %d" % n)
    if not line.endswith(b"\n"): bad.append("torn")
    prev = hashlib.sha256(line[:-1]).hexdigest()
    if e["kind"] == "start":
        if e["run"] in runs: bad.append("started twice")
        runs[e["run"]] = "open"
    elif e["kind"] in ("finish", "abandoned"):
        if runs.get(e["run"]) != "open": bad.append(e["kind"] + " of a run that is not open")
        runs[e["run"]] = e["kind"]
        if e["kind"] == "finish":
            data = open("s/runs/%s/record.json" % e["run"], "rb").read()
            if hashlib.sha256(data).hexdigest() != e["record_sha256"]: bad.append("record of " + e["run"])
            for f in json.loads(data)["files"]:
                got = open("s/runs/%s/%s" % (e["run"], f["path"]), "rb").read()
                if hashlib.sha256(got).hexdigest() != f["sha256"]: bad.append(f["path"] + " of " + e["run"])
for run, end in runs.items():
    if end == "open" and run != (sys.argv[1:] or [None])[0]: bad.append(run + " has no end")
for run in os.listdir("s/runs"):
    if run not in runs: bad.append(run + " is not in the ledger")
for truth in [f for f in os.listdir("t") if not f.endswith(".pid")]:
    text = open("t/" + truth).read().strip()
    want = int(text) if text else 0
    found = [r for r in os.listdir("s/runs") if r.split("-")[1] == "k" + truth]
    if want and len(found) != 1: bad.append("run %s: %r" % (truth, found)); continue
    got = open("s/runs/%s/stdout.log" % found[0]).read().splitlines() if want else []
    if got != ["line %d" % i for i in range(1, len(got) + 1)] or len(got) < want:
        bad.append("run %s wrote %d lines, the log has %d" % (truth, want, len(got)))
print("; ".join(bad[:5]) if bad else "ok")
print(len([1 for e in runs.values() if e == "abandoned"]), len(runs), file=sys.stderr)
END

mkdir t
seed=${IB_SEED:-$$}
echo "# IB_SEED=$seed IB_KILLS=$kills"
# moments are spread over what an undisturbed run takes here and now
ib-run -q -C s --no-capture --group k0 -- sh writer.sh t/0 > /dev/null 2>&1
from=$(date +%s%N)
ib-run -q -C s --no-capture --group k00 -- sh writer.sh t/00 > /dev/null 2>&1
took=$(( ($(date +%s%N) - from) / 1000000 ))
[ "$took" -le 300 ] || took=300
echo "# a run takes $took ms"
awk -v seed="$seed" -v n="$kills" -v ms="$took" 'BEGIN { srand(seed); for (i = 1; i <= n; i++) printf "%d %.4f %s\n", i, rand() * ms / 1000, rand() < 0.5 ? "run" : "child" }' > moments
while read -r i moment who; do
    ib-run -q -C s --no-capture --group "k$i" -- sh writer.sh "t/$i" > /dev/null 2>&1 &
    pid=$!
    sleep "$moment"
    if [ "$who" = run ]; then
        kill -9 $pid 2> /dev/null
    elif [ -s "t/$i.pid" ]; then
        kill -9 "$(cat "t/$i.pid")" 2> /dev/null
    fi
    wait $pid 2> /dev/null
done < moments
# commands that lost their ib-run end by themselves, and so do their loggers
for _ in $(seq 100); do
    left=0
    for f in t/*.pid; do [ -s "$f" ] && kill -0 "$(cat "$f")" 2> /dev/null && left=1; done
    [ $left = 0 ] && break
    sleep 0.1
done
sleep 0.3
status 0 "the next run works" ib-run -C s --no-capture --group last -- true
is "ledger, records and logs hold" "$(python3 judge.py 2> counts)" ok
cat counts | sed 's/^/# abandoned, started: /'
is "a run after it has nothing left to do" "$(ib-run -C s --no-capture --group last -- true 2>&1 | grep -c abandoned)" 0

# survivors
ib-run -q -C s2 --no-capture --group lost -- sh -c 'echo $$ > survivor.pid; exec sleep 300' &
pid=$!
for _ in $(seq 100); do [ -s survivor.pid ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2> /dev/null
ib-run -C s2 --no-capture -- true 2> err
like "the next run says what was abandoned" "$(cat err)" '1 earlier run did not end: recorded as abandoned'
like "and what is still alive" "$(cat err)" "still alive from abandoned runs.*1 process .*lost"
is "its record counts the survivor" "$(cat s2/runs/*-r01-*/record.json | grep '"survivors"' | tail -1 | tr -dc 0-9)" 1
kill "$(cat survivor.pid)"
for _ in $(seq 40); do kill -0 "$(cat survivor.pid)" 2> /dev/null || break; sleep 0.05; done
ib-run -C s2 --no-capture -- true 2> err
is "without the survivor nothing is said" "$(grep -c alive err)" 0
chmod -R u+w s; rm -rf s; mkdir t2 && rm -rf t && mv t2 t && mv s2 s
is "that ledger holds too" "$(python3 judge.py 2> /dev/null)" ok
done_testing
