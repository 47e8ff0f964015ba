#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Care for processes: as PID 1, with what escapes, with what is started elsewhere, with closed descriptors, when the machine is taken away.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
run() { study=$1; shift; ib-run -q -C "$study" --no-capture "$@"; }
cat > look.py << 'END'
import glob, json, os, sys
paths = sorted(glob.glob(sys.argv[1] + "/runs/*/record.json"), key=os.path.getmtime)
r = json.load(open(paths[-1]))
for key in sys.argv[2:]:
    v = r
    for part in key.split("."): v = v[part]
    print("|".join(v) if isinstance(v, list) else "-" if v is None else v, end=" ")
print()
END
look() { python3 look.py "$@" | sed 's/ *$//'; }
alive() { ps -eo args | grep -c "[s]leep $1\$"; }
wait_for() { for _ in $(seq 200); do [ -s "$1" ] && return 0; sleep 0.1; done; return 1; }
sound() { ib-verify --json "$1" > verdict.json; python3 -c 'import json; print([f["id"] for f in json.load(open("verdict.json"))["findings"] if f["status"] == "fail" and f["id"].startswith("S")])'; }

# --- PID 1: what its parents leave behind is everybody's ---
if unshare --fork --pid --mount-proc true 2> /dev/null; then pid1="unshare --fork --pid --mount-proc"
elif unshare -Ur --fork --pid --mount-proc true 2> /dev/null; then pid1="unshare -Ur --fork --pid --mount-proc"
else pid1=; fi
cat > forks.py << 'END'
import os, sys, time
# So many double forks: the middle process ends at once, its child a moment later, as an orphan.
for i in range(int(sys.argv[1])):
    p = os.fork()
    if p == 0:
        if os.fork() == 0:
            time.sleep(0.01)
            os._exit(0)
        os._exit(0)
    os.waitpid(p, 0)
print("forked", flush=True)
time.sleep(1.5)
states = [open("/proc/%s/stat" % d).read().rsplit(")", 1)[1].split()[0] for d in os.listdir("/proc") if d.isdigit()]
print("zombies", states.count("Z"), "parent", os.getppid())
END
if [ -n "$pid1" ]; then
    $pid1 ib-run -q -C one --no-capture -- python3 forks.py 1000 > out 2>&1
    is "PID 1: the status passes" "$?" 0
    is "PID 1: 1000 double forks leave no zombie while the command runs" "$(tr '\n' ' ' < out)" "forked zombies 0 parent 1 "
    is "PID 1: the run has completed, and nothing is left behind" "$(look one state left_behind)" "completed 0"
    cat > inside.sh << 'END'
# a child of PID 1 that is no ib-run: what it leaves is seen after the end
ib-run -q -C two --no-capture -- python3 forks.py 1000 > out2 2>&1
ps -eo stat= | grep -c '^Z' > zombies
END
    $pid1 sh inside.sh
    is "nor after it" "$(cat zombies) $(look two state left_behind)" "0 completed 0"
    $pid1 ib-run -q -C one --no-capture --timeout 1s --grace 500ms -- sh -c 'setsid sleep 900 & (setsid sleep 900 &); wait' > out 2>&1
    is "PID 1: a time limit" "$? $(look one state)" "124 timed_out"
    $pid1 sh -c 'ib-run -q -C one --no-capture --grace 1s -- sleep 900 & p=$!; while ! ps -eo args= | grep -q "^sleep 900"; do sleep 0.1; done; kill -TERM $p; wait $p' > out 2>&1
    is "in a namespace of processes: a signal" "$? $(look one state)" "143 interrupted"
    $pid1 ib-run -q -C one --no-capture -- sh -c '(sleep 0.3; kill -TERM 1) & sleep 900' > out 2>&1
    is "PID 1: a signal, for which it has a handler" "$? $(look one state)" "143 interrupted"
else
    skip "PID 1" "no namespace of processes can be made here"
fi

# --- what has a session of its own ---
n=91$$
status 124 "a process in a session of its own does not escape a time limit" run esc --timeout 2s --grace 1s -- sh -c "setsid sleep $n & wait"
is "it is ended" "$(alive $n)" 0
is "the run has timed out" "$(look esc state)" timed_out
status 0 "one that is left behind" run esc --grace 1s -- sh -c "setsid sleep $n > /dev/null 2>&1 & setsid setsid sleep $n > /dev/null 2>&1 & sleep 0.2"
is "is found, counted and ended" "$(look esc left_behind) $(alive $n)" "2 0"
like "and reported" "$(look esc notes)" "2 processes outlived the command and were ended"

# --- a pipe's status is that of its last command ---
ib-run -C pipe --no-capture -- sh -c 'false | tee x' > /dev/null 2> err
is "false | tee: its status is tee's" "$? $(look pipe state)" "0 completed"
like "the record warns" "$(look pipe notes)" "a pipe of a shell without pipefail"
like "and so does the screen" "$(cat err)" "a pipe of a shell without pipefail"
like "the argv is recorded" "$(cat pipe/runs/*/command.json)" "false \| tee x"
if command -v bash > /dev/null; then
    ib-run -C pipe --no-capture -- bash -o pipefail -c 'false | tee x' > /dev/null 2> err
    is "with pipefail it fails, without a warning" "$? $(look pipe state) $(grep -c pipefail err)" "1 failed 0"
fi

# --- work that is done elsewhere: a client of a daemon ---
mkdir bin
cat > bin/daemon.py << 'END'
import os, subprocess, sys
# Takes one order from a named pipe and carries it out: no descendant of who has given it.
with open("orders") as f: line = f.read().strip()
p = subprocess.Popen(["sleep", line])
open("worker.pid", "w").write(str(p.pid))
p.wait()
END
cat > bin/docker << 'END'
#!/bin/sh
# docker exec CONTAINER sleep N
echo "$4" > orders
exec sleep 901
END
cp bin/docker bin/kubectl
chmod +x bin/docker bin/kubectl
for client in docker kubectl; do
    n=92$$
    rm -f orders worker.pid; mkfifo orders
    python3 bin/daemon.py & daemon=$!
    PATH=$T/bin:$PATH ib-run -C else --no-capture --timeout 2s --grace 500ms -- $client exec c sleep $n > out 2> err
    is "$client exec: its own end is ended at the time limit" "$? $(look else state)" "124 timed_out"
    is "$client exec: the work goes on" "$(alive $n)" 1
    like "$client exec: the record says what was not done" "$(look else notes)" "'$client exec' has its work done in a [a-z]+ by [a-zA-Z ]+: signals and time limits reach only this end of it, what it leaves there is not ended, and what it uses there is not counted"
    like "$client exec: so does the screen" "$(cat err)" "signals and time limits reach only this end"
    kill "$(cat worker.pid)"
    wait $daemon 2> /dev/null
done

# --- closed descriptors: no file of the study takes their place ---
i=0
for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '1>&- 2>&-' '0<&- 2>&-' '0<&- 1>&- 2>&-'; do
    i=$((i + 1))
    sh -c "exec ib-run -C closed$i --no-capture -- sh -c 'echo to-out; echo to-err >&2; cat' $(echo "$closed" | sed 's/0<&-//') $(case $closed in *0\<*) echo '0<&-' ;; *) echo '< /dev/null' ;; esac)" > out 2> err
    is "closed $closed: the status" "$?" 0
    is "closed $closed: each log has its own" "$(cat closed$i/runs/*/stdout.log) $(cat closed$i/runs/*/stderr.log)" "to-out to-err"
    is "closed $closed: nothing of the study has other text in it" "$(sound closed$i) $(grep -rlE '^(to-out|to-err)|ib-run: ' closed$i | grep -vE '/std(out|err)\.log$' | wc -l | tr -d ' ')" "[] 0"
done

# --- our own output is full ---
status 3 "a full standard output of ib-run: the status passes" sh -c 'ib-run -q -C full --no-capture -- sh -c "echo kept; exit 3" > /dev/full'
is "the log has all" "$(cat full/runs/*/stdout.log) $(sound full)" "kept []"
status 0 "a full standard error too" sh -c 'ib-run -C full --no-capture -- sh -c "echo kept >&2" 2> /dev/full'
is "the log has it" "$(look full state) $(sound full)" "completed []"
sh -c 'ib-run --help > /dev/full' 2> err
is "help that cannot be written is an error" "$(($? != 0)) $(grep -c 'No space left' err)" "1 1"
mkdir small
if unshare -Urm mount -t tmpfs -o size=3m none small 2> /dev/null; then
    cat > small.sh << 'END'
mount -t tmpfs -o size=3m none small || exit 99
ib-run -q -C small/s --no-capture -- sh -c 'head -c 9000000 /dev/zero > "$IB_OUTPUT_DIR/result" || exit 4' > /dev/null 2> err
echo "$? $(python3 look.py small/s state reasons)"
ls small/s/runs/*/record.json > /dev/null && tail -n 1 small/s/ledger.jsonl | grep -c '"kind":"finish"'
END
    unshare -Urm sh small.sh > result 2>&1
    is "a disk that the command fills: its status, its record and the ledger" "$(tr '\n' ' ' < result | sed 's/  */ /g')" "4 failed exit_status 1 "
else
    skip "a disk that the command fills" "no file system can be mounted here"
fi

# --- preemption: TERM, and KILL while it still ends ---
cat > contract.yaml << END
study: care
groups:
  - name: g
    repeats: 2
    command: [sh, -c, "if [ -e $T/slow ]; then trap '' TERM INT; echo x > $T/ready; sleep 60 & wait; sleep 60; else echo done > \$1/f; fi", x, "{output_dir}"]
END
mkdir plan && cp contract.yaml plan/ && touch slow
sh -c 'exec ib-run -q -C plan --no-capture --plan contract.yaml' > out 2>&1 & p=$!
wait_for ready
kill -TERM $p
sleep 2
kill -KILL $p
wait $p 2> /dev/null
is "preempted: the run has no record" "$(ls plan/runs | wc -l | tr -d ' ') $(ls plan/runs/*/record.json 2> /dev/null | wc -l | tr -d ' ')" "1 0"
for f in plan/runs/*; do first=$(basename "$f"); done
for q in $(grep -lz "IB_RUN_ID=$first" /proc/[0-9]*/environ 2> /dev/null | cut -d/ -f3); do kill -KILL "$q" 2> /dev/null; done
rm -f slow
SLURM_RESTART_COUNT=1 ib-run -C plan --no-capture --plan contract.yaml > out 2> err
is "requeued: the plan is carried out" "$?" 0
like "the lost run is told" "$(cat err)" "1 earlier run did not end: recorded as abandoned"
is "and counted in the ledger under its own name" "$(grep -c "\"kind\":\"abandoned\".*\"run\":\"$first\"\|\"run\":\"$first\".*\"kind\":\"abandoned\"" plan/ledger.jsonl)" 1
is "its slot was run again as a second attempt, the other once" "$(cat plan/runs/*/record.json | grep -E '"(repeat|attempt)"' | tr -dc '0-9\n' | paste -d/ - - | sort | tr '\n' ' ')" "1/2 2/1 "
like "the record says that the job was requeued" "$(look plan notes)" "requeued: SLURM_RESTART_COUNT is 1"
is "the study holds" "$(sound plan)" "[]"
is "a plan that is done runs nothing more" "$(ib-run -q -C plan --no-capture --plan contract.yaml > /dev/null 2>&1; ls plan/runs | wc -l | tr -d ' ')" 3

# --- much output, in bounded memory: 10 GiB with IB_BIG_OUTPUT=1 ---
mib=256
[ "${IB_BIG_OUTPUT:-0}" = 1 ] && mib=10240
free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1024) }')
if [ "$free" -lt $((mib + mib / 4 + 64)) ]; then
    skip "$mib MiB of output" "the disk has only $free MiB left"
else
    cat > big.sh << 'END'
dd if=/dev/zero bs=1048576 count="$1" 2> /dev/null | tr '\0' x
for p in $(pgrep -x ib-run-logger) $PPID; do grep -h VmHWM /proc/$p/status; done >&2
END
    run big -- sh big.sh $mib > /dev/null 2> err
    is "$mib MiB of output: the run has completed" "$? $(look big state)" "0 completed"
    if grep -q __asan_init "$IB_BUILDDIR/ib-run"; then
        skip "its memory is bounded" "built with sanitizers"
    else
        is "its memory is bounded" "$(awk '$1 == "VmHWM:" { n++; if ($2 > max) max = $2 } END { print (n >= 2 && max < 30000) ? "ok" : n " max " max }' err)" ok
    fi
    log=$(echo big/runs/*/stdout.log)
    is "its size" "$(wc -c < "$log" | tr -d ' ')" $((mib * 1048576))
    is "its digest is that of the log" "$(cat big/runs/*/record.json | tr -d ' \n' | grep -o '"path":"stdout.log","bytes":[0-9]*,"sha256":"[0-9a-f]*"' | sed 's/.*"sha256":"//; s/"//')" "$(sha256sum < "$log" | cut -d' ' -f1)"
    is "the study holds" "$(sound big)" "[]"
fi
done_testing
