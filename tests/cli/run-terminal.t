#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# At a terminal: Ctrl-C reaches the command once, input reaches it too, and the record says what happened.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
cat > at_terminal.py <<'END'
import glob, json, os, pty, select, sys, time
# Runs ib-run at a terminal; types the keys once the command has said "ready". Prints status, state and what was shown.
keys, cmd = sys.argv[1].encode().decode("unicode_escape").encode(), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp("ib-run", ["ib-run", "-q", "-C", "s", "--no-capture", "--grace", "5s", "--"] + cmd)
out, typed, end = b"", False, time.time() + 20
while time.time() < end:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            data = os.read(fd, 4096)
        except OSError:
            break
        if not data:
            break
        out += data
    if not typed and b"ready" in out:
        time.sleep(0.2)
        os.write(fd, keys)
        typed = True
else:
    os.kill(pid, 9)
    print("hangs")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
record = max(glob.glob("s/runs/*/record.json"), key=os.path.getmtime)
print(status, json.load(open(record))["state"], out.replace(b"\r\n", b"|").replace(b"^C", b"").decode())
END
at() { python3 at_terminal.py "$@"; }
is "Ctrl-C interrupts" "$(at '\x03' sh -c 'echo ready; sleep 30')" "130 interrupted ready|"
is "it reaches the command once" \
    "$(at '\x03' sh -c 'n=0; trap "n=\$((n + 1))" INT; echo ready; sleep 1; sleep 1; echo "$n"')" "130 interrupted ready|1|"
is "what is typed reaches the command" "$(at 'hello\n' sh -c 'echo ready; read x; echo "got $x"')" "0 completed ready|hello|got hello|"
is "Ctrl-C interrupts a command that has the terminal" "$(at '\x03' sh -c 'trap "" TERM; echo ready; read x; sleep 30')" "130 interrupted ready|"
at2() { python3 "$IB_SRCDIR/tests/cli/shell_at_terminal.py" "$@"; }
newest() { printf '%s\n' "s/runs/$(ls -t s/runs | head -1)"; }
at2 wait:ready 'type:\x1a' stopped sleep:0.5 states sleep:1.2 fg wait:done -- \
    ib-run -q -C s --no-capture -- sh -c "echo ready; for i in 1 2 3 4 5 6; do sleep 0.2; done; echo done" > out
like "Ctrl-Z stops the command with ib-run, and nothing of it goes on" "$(head -1 out)" "^states T of [23]$"
is "both go on" "$(sed -n 2p out)" "status 0"
like "the record says for how long" "$(cat "$(newest)/record.json")" "the command was stopped for [12]\.[0-9] s"
at2 wait:ready 'type:x\r' wait:got 'type:\x1a' stopped sleep:0.5 states fg 'type:y\r' wait:two -- \
    ib-run -q -C s --no-capture -- sh -c "echo ready; read x; echo got \$x; read y; echo two \$y" > out
is "Ctrl-Z at a command that has the terminal stops both" "$(head -1 out)" "states T of 2"
like "it reads on afterwards" "$(tail -1 out)" "two y"
at2 wait:ready 'type:\x1a' stopped sleep:0.3 states fg -- ib-run -q -C s --no-capture -- sh -c 'setsid sleep 1.5 & echo ready; sleep 1; wait' > out
is "it stops what the command started in another session, too" "$(head -1 out)" "states T of 4"
at2 wait:ready hangup -- ib-run -q -C s --no-capture -- sh -c 'echo ready; sleep 30' > out
ok "a terminal that goes away interrupts" grep -q 'interrupted by signal 1 ' "$(newest)/record.json"
at2 wait:ready hangup sleep:0.3 -- nohup ib-run -q -C s --no-capture -- sh -c 'trap "" HUP; echo ready > /dev/tty; sleep 0.7; echo saved' > out
ok "not under nohup" grep -q '"state": "completed"' "$(newest)/record.json"
is "whose output is in the log, not only in nohup.out" "$(cat "$(newest)/stdout.log")" saved
# a command that turns HUP on again is not ended by the terminal either: it is in a group of its own
at2 wait:ready hangup sleep:0.3 -- nohup ib-run -q -C s --no-capture -- sh -c 'trap - HUP; echo ready > /dev/tty; sleep 0.7; echo saved' > out
is "nor a command that turns the hang-up on again" "$(cat "$(newest)/stdout.log")" saved
done_testing
