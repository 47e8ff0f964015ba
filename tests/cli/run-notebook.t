#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As a cell of a notebook starts it ("!ib-run …"): a session without a terminal, pipes or sockets all around, an interrupt to the whole process group.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99

cat > kernel.py <<'END'
"""usage: kernel.py null|pipe|closed|socket|files COMMAND: runs it by a shell below a "kernel" in a session of its own, whose standard streams are such; once
the command says "ready" the kernel's process group is interrupted. Prints the shell's status, then what was shown."""
import os, select, signal, socket, subprocess, sys, time

kind, command = sys.argv[1:]
KERNEL = r"""
import signal, subprocess, sys
kind, command = sys.argv[1:]
signal.signal(signal.SIGINT, lambda *_: None)   # a kernel survives its interrupts
p = subprocess.Popen(["sh", "-c", command], close_fds=True, preexec_fn=(lambda: __import__("os").close(0)) if kind == "closed" else None)
print("status %d" % p.wait(), flush=True)
"""
mine = theirs = None
streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
if kind == "pipe":
    streams["stdin"] = subprocess.PIPE  # open, and nothing is ever written to it
elif kind == "socket":
    mine, theirs = socket.socketpair()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
elif kind == "files":
    streams["stdout"] = open("cell.out", "wb")
p = subprocess.Popen([sys.executable, "-c", KERNEL, kind, command], start_new_session=True, **streams)
if theirs:
    theirs.close()
if kind == "files":
    mine = open("cell.out", "rb")
fd = (mine or p.stdout).fileno()
shown, sent, end = b"", False, time.time() + 60
while time.time() < end:
    if kind != "files" and not select.select([fd], [], [], 0.1)[0]:
        continue
    data = os.read(fd, 65536)
    if not data and (kind != "files" or p.poll() is not None):
        break
    time.sleep(0 if data else 0.1)
    shown += data
    if b"ready" in shown and not sent:
        sent = True
        time.sleep(0.3)
        os.killpg(p.pid, signal.SIGINT)
else:
    os.killpg(p.pid, signal.SIGKILL)
    print("hangs")
p.wait()
lines = shown.decode().splitlines()
print(*[l for l in lines if l.startswith("status")], *[l for l in lines if not l.startswith("status")], sep="|")
END
newest() { printf '%s\n' "s/runs/$(ls -t s/runs | head -1)"; }
record() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$(newest)/record.json" "$1"; }

for kind in null:null pipe:pipe closed:null socket:socket files:null; do
    stdin=${kind#*:} kind=${kind%:*}
    is "$kind: the command runs, its output is shown" \
        "$(python3 kernel.py $kind 'exec ib-run -C s -q --no-capture -- sh -c "echo out; sleep 0.2; echo err >&2; exit 3"')" "status 3|out|err"
    is "$kind: the record says so, and how" "$(record '(r["state"], r["exit"]["status"], r["isolation"]["terminal"], r["isolation"]["stdin"])')" "('failed', 3, 'none', '$stdin')"
    is "$kind: an interrupt reaches the command once" \
        "$(python3 kernel.py $kind 'exec ib-run -C s -q --no-capture -- sh -c "trap \"echo interrupted\" INT; echo ready; sleep 5 & wait; sleep 0.5; echo last"')" \
        "status 130|ready|interrupted|last"
    is "$kind: the run is interrupted" "$(record '(r["state"], r["exit"]["status"])')" "('interrupted', 0)"
done
is "what does not mind it is ended all the same" \
    "$(python3 kernel.py null "exec ib-run -C s -q --no-capture --grace 300ms -- sh -c 'trap \"\" INT; echo ready; sleep 7$$; sleep 7$$'")" "status 130|ready"
is "with all that it started" "$(ps -eo args | grep -c "[s]leep 7$$")" 0
mkdir p
cat > p/contract.yaml <<'END'
study: cell
groups:
  - {name: g, repeats: 3, command: [sh, -c, 'echo ready; exec sleep 20']}
END
like "a plan stops with its run" "$(python3 kernel.py pipe 'exec ib-run --plan p/contract.yaml --no-capture')" '^status 1\|.*interrupted.*resumes the plan'
is "one run of three was begun" "$(grep -c '"kind":"start"' p/ledger.jsonl)" 1
is "and is in the ledger" "$(grep -c '"kind":"finish".*"interrupted"' p/ledger.jsonl)" 1
is "--pty works there, too" "$(python3 kernel.py pipe 'exec ib-run -C s -q --pty --no-capture -- sh -c "test -t 1 && echo ready; exec sleep 30"')" "status 130|ready"
is "and the run is interrupted" "$(record '(r["state"], r["isolation"]["terminal"])')" "('interrupted', 'pseudo-terminal')"
ok "the study verifies" ib-verify s
done_testing
