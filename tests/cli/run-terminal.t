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
done_testing
