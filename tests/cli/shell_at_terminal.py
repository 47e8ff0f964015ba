#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shell with job control at a terminal, as small as it can be: runs a command there and does what it is told.

usage: shell_at_terminal.py STEP... -- COMMAND...
STEP: wait:TEXT (until it is shown), type:TEXT (with escapes), size:COLSxROWS, stopped (until the shell sees the command stopped), states (of all
processes of the command), sleep:S, raw:FILE (where what was shown is written at the end, as it was), fg, signal:NAME (to the command's process group), hangup (the terminal goes away).
Prints what the steps found, one a line, then "status N" of the command, then what was shown."""
import fcntl, os, pty, select, signal, struct, sys, termios, time

steps = sys.argv[1:sys.argv.index("--")]
command = sys.argv[sys.argv.index("--") + 1:]


def shell(to):
    """In the session: runs the command in a group of its own, tells the driver when it stops and ends."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(command[0], command)
    signal.signal(signal.SIGHUP, lambda *_: os.killpg(pid, signal.SIGHUP))
    os.write(to, b"pid %d\n" % pid)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
            os.write(to, b"stopped\n")
            signal.sigwait([signal.SIGUSR1])
            os.tcsetpgrp(0, pid)
            os.killpg(pid, signal.SIGCONT)
        else:
            os.write(to, b"status %d\n" % os.waitstatus_to_exitcode(status))
            os._exit(0)


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
r, w = os.pipe()
raw = None
shell_pid, fd = pty.fork()
if shell_pid == 0:
    os.close(r)
    shell(w)
os.close(w)
shown, said, end = b"", b"", time.time() + 30


def pump(timeout):
    global shown, said, fd
    ready = select.select([f for f in (fd, r) if f >= 0], [], [], timeout)[0]
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            os.close(fd)
            fd = -1
        shown += data
    if r in ready:
        said += os.read(r, 65536)


def until(what):
    while not what():
        pump(0.1)
        if time.time() > end:
            print("gave up; shown:", shown, "said:", said)
            os.kill(shell_pid, 9)
            sys.exit(1)


def states():
    """Of all below the shell: the command and whatever it started. Our sampler is none of it. A shell whose child stands still before it has become
    a program waits in D, and stands still like it."""
    all_, found = {}, []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            comm, fields = open("/proc/%s/stat" % p).read().rsplit(")", 1)
            all_[int(p)] = (comm.split("(", 1)[1],) + tuple(fields.split()[:2])
        except OSError:
            pass

    def below(p):
        return p == shell_pid or (p in all_ and below(int(all_[p][2])))

    stopped = {int(parent) for _, state, parent in all_.values() if state == "T"}
    for p, (comm, state, parent) in all_.items():
        if p != shell_pid and state != "Z" and comm != "ib-run-sampler" and below(int(parent)):
            found.append("T" if state == "T" or (state == "D" and p in stopped) else "%s:%s" % (comm, state))
    return " ".join(sorted(set(found))) + (" of %d" % len(found) if found else "")


until(lambda: b"pid " in said)
pid = int(said.split(b"\n")[0].split()[1])
for step in steps:
    kind, _, arg = step.partition(":")
    arg = arg.encode().decode("unicode_escape")
    if kind == "wait":
        until(lambda: arg.encode("latin-1") in shown)
        time.sleep(0.2)
    elif kind == "type":
        os.write(fd, arg.encode("latin-1"))
    elif kind == "size":
        cols, rows = map(int, arg.split("x"))
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    elif kind == "stopped":
        until(lambda: b"stopped\n" in said)
        said = said.replace(b"stopped\n", b"")
    elif kind == "raw":
        raw = arg
    elif kind == "states":
        print("states", states())
    elif kind == "sleep":
        time.sleep(float(arg))
    elif kind == "fg":
        os.kill(shell_pid, signal.SIGUSR1)
    elif kind == "signal":
        os.killpg(pid, getattr(signal, "SIG" + arg))
    elif kind == "hangup":
        os.close(fd)
        fd = -1
until(lambda: b"status " in said)
while fd >= 0:
    pump(0.3)
    if not select.select([fd] if fd >= 0 else [], [], [], 0.3)[0]:
        break
os.waitpid(shell_pid, 0)
if raw:
    open(raw, "wb").write(shown)
print(said[said.index(b"status "):].split(b"\n")[0].decode())
print(shown.replace(b"^D\b\b", b"").replace(b"\r\n", b"|").decode("latin-1"))
