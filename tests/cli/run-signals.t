#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Signals to ib-run reach the command; the record is complete afterwards and nothing survives.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
newest() { printf '%s\n' "s/runs/$(ls -t s/runs | head -1)"; }
fresh() { chmod -R u+w s 2>/dev/null; rm -rf s; }

# wait_for FILE
wait_for() {
    for _ in $(seq 100); do [ -s "$1" ] && return 0; sleep 0.1; done
    return 1
}
# alive NAME: processes whose command line holds the marker
alive() { ps -eo args | grep -c "[s]leep $1"; }

n=71$$
for want in INT:130 TERM:143 HUP:129; do
    sig=${want%:*}
    fresh
    rm -f ready
    ib-run -q -C s --no-capture -- sh -c "(setsid sleep $n &); echo before; echo x > ready; sleep $n" > out 2>&1 &
    pid=$!
    wait_for ready
    kill -s $sig $pid
    wait $pid
    got=$?
    is "$sig gives 128+n" "$got" "${want#*:}"
    ok "$sig: the record says interrupted" grep -q '"state": "interrupted"' "$(newest)/record.json"
    ok "$sig: the ledger has a finish" grep -q '"kind":"finish".*"interrupted"' s/ledger.jsonl
    is "$sig: nothing survives" "$(alive $n)" 0
    is "$sig: the log has what was written before" "$(cat "$(newest)/stdout.log")" before
done

fresh
rm -f ready
ib-run -q -C s --no-capture -- sh -c 'trap "echo got it; exit 5" TERM; echo x > ready; while :; do sleep 0.1; done' > out 2>&1 &
pid=$!
wait_for ready
kill -s TERM $pid
wait $pid
is "a command that handles the signal: still 128+n" $? 143
is "its last words are kept" "$(cat "$(newest)/stdout.log")" "got it"
ok "its own status is in the record" grep -q '"status": 5' "$(newest)/record.json"

# a reader of ib-run's output that is a little late gets all of it, also after a signal
fresh
is "last words are shown to a slow reader, too" \
    "$(ib-run -q -C s --no-capture -- sh -c 'trap "head -c 300000 /dev/zero; exit" INT; kill -INT $PPID; while :; do sleep 0.1; done' | (sleep 0.7; wc -c) | tr -d ' ')" 300000

# a wrapper dies at once; what it started still has the grace time, and ends within it though it ignores INT as background jobs do
for sig in TERM INT; do
    fresh
    rm -f ready
    start=$(date +%s)
    ib-run -q -C s --no-capture --grace 60s -- \
        sh -c "sh -c 'trap \"sleep 0.3; echo saved; exit\" TERM; echo x > ready; while :; do sleep 0.1; done' & exec sleep 7$$" > out 2>&1 &
    pid=$!
    wait_for ready
    kill -s $sig $pid
    wait $pid
    is "$sig: what a wrapper started saves its results" "$(cat "$(newest)/stdout.log")" saved
    ok "$sig: and is not waited for in vain" test $(($(date +%s) - start)) -lt 45
done

fresh
rm -f ready
start=$(date +%s)
ib-run -q -C s --no-capture --grace 60s -- sh -c 'trap "" TERM INT; echo x > ready; while :; do sleep 0.1; done' > out 2>&1 &
pid=$!
wait_for ready
kill -s TERM $pid
sleep 0.5
for _ in $(seq 20); do kill -s TERM $pid 2> /dev/null || break; sleep 0.5; done # on a busy machine two may count as one
wait $pid
is "a second signal ends what ignores the first" $? 143
ok "at once, not after the grace time" test $(($(date +%s) - start)) -lt 45
ok "its record says that it was killed" grep -q '"signal": 9' "$(newest)/record.json"

# started in the background of a script, SIGINT is ignored: the command must not inherit that
fresh
sh -c "ib-run -q -C s --no-capture -- sh -c 'kill -INT \$\$; exit 0' & wait \$!"
is "dispositions are reset for the command" $? 130

# nohup holds for the command
fresh
nohup ib-run -q -C s --no-capture -- sh -c 'kill -HUP $$; echo still here' > out 2>&1
is "nohup holds for the command" "$(cat "$(newest)/stdout.log")" "still here"

# a time limit ends the whole tree
fresh
n=72$$
status 124 "a time limit ends a command that ignores TERM" ib-run -q -C s --no-capture --timeout 300ms --grace 300ms -- \
    sh -c "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep $n; sleep $n' &); (setsid nohup sleep $n > /dev/null 2>&1 &); sleep $n; sleep $n"
is "no descendant survives" "$(alive $n)" 0

# no grace time is not the default one
fresh
start=$(date +%s)
status 124 "--grace 0 kills at once" ib-run -q -C s --no-capture --timeout 200ms --grace 0 -- sh -c "trap '' TERM; while :; do sleep 0.1; done"
ok "not after the default grace time" test $(($(date +%s) - start)) -lt 10

# what the command leaves behind is ended and counted
fresh
n=73$$
status 0 "a command may leave a process behind" ib-run -q -C s --no-capture --grace 300ms -- sh -c "(setsid sleep $n > /dev/null 2>&1 &); exit 0"
is "it is ended" "$(alive $n)" 0
ok "and counted" grep -q '"left_behind": 1' "$(newest)/record.json"

# a process that ib-run had as a child before is not the command's
fresh
n=74$$
sh -c "sleep $n & exec ib-run -q -C s --no-capture --timeout 300ms --grace 300ms -- sleep 30" 
is "a sibling of before is spared" "$(alive $n)" 1
p=$(ps -eo pid,args | awk -v n="$n" '$2 == "sleep" && $3 == n {print $1}')
[ -z "$p" ] || kill "$p"

# the logger is killed: the run fails and says so
fresh
rm -f ready
ib-run -q -C s --no-capture -- sh -c 'echo before; echo x > ready; while echo more; do sleep 0.05; done; exit 0' > out 2>&1 &
pid=$!
wait_for ready
for p in $(pgrep -x ib-run-logger); do
    readlink /proc/"$p"/fd/* 2> /dev/null | grep -q "^$T/s/" && kill -9 "$p"
done
wait $pid
ok "a killed logger makes the run fail" grep -q '"state": "failed"' "$(newest)/record.json"
ok "with truncated_output" grep -q '"truncated_output"' "$(newest)/record.json"
is "what it had kept is kept" "$(head -n 1 "$(newest)/stdout.log")" before

# a limit on file sizes cuts the log, not the command
fresh
status 0 "a limit on file sizes does not end the command" sh -c 'ulimit -f 100; ib-run -q -C s --no-capture -- sh -c "head -c 400000 /dev/zero | tr \\0 x; echo end" | tail -c 4 > tail; [ "$(cat tail)" = end ]'
ok "the record says truncated_output" grep -q '"truncated_output"' "$(newest)/record.json"
like "the log says how many bytes it holds" "$(tail -n 1 "$(newest)/stdout.log")" 'the first [0-9]+ of 400004 bytes are above'

# the command may use the terminal when ib-run has it
fresh
if command -v script > /dev/null; then
    is "a command can read from the terminal" \
        "$(printf 'typed\n' | timeout 20 script -qec "ib-run -q -C s --no-capture -- sh -c 'read x < /dev/tty; echo got \$x'" /dev/null | tr -d '\r' | grep -c '^got typed')" 1
else
    skip "a command can read from the terminal" "there is no script(1)"
fi
# A job's end reaches its processes one after the other: the command may be gone first.
cd "$T" || exit 99
for second in 0.1 ""; do
    rm -rf late pid
    ib-run -C late --no-capture -q -- sh -c 'echo $$ > pid.new && mv pid.new pid && exec sleep 60' &
    runner=$!
    for _ in $(seq 100); do
        [ -e pid ] && break
        sleep 0.05
    done
    kill -TERM "$(cat pid)"
    if [ -n "$second" ]; then
        sleep $second
        kill -TERM $runner
    fi
    wait $runner
    rc=$?
    state=$(sed -n 's/^ *"state": "\([a-z_]*\)".*/\1/p' late/runs/*/record.json | head -n 1)
    if [ -n "$second" ]; then
        is "the command is signalled first, ib-run a moment later: interrupted" "$rc $state" "143 interrupted"
    else
        is "the command alone is signalled: failed" "$rc $state" "143 failed"
    fi
done
done_testing
