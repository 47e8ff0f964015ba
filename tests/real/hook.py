# SPDX-License-Identifier: Apache-2.0
"""Runs a command as a hook of a run would be: below a process that adopts all
descendants, with IB_* variables, pipes for its output and a further descriptor
open. Fails when the command fails, or when afterwards anything still holds a
pipe or carries the variables.

usage: hook.py COMMAND [ARGUMENT...]
"""
import ctypes
import os
import select
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36
MARK = b"IB_RUN_ID=hook-test-%d" % os.getpid()


def holders():
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % entry, "rb") as stream:
                if MARK in stream.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            pass
    return found


def main(argv):
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("hook.py: cannot become a subreaper")
    name, value = MARK.decode().split("=")
    env = dict(os.environ, IB_RUN_DIR="/nonexistent", **{name: value})
    out_r, out_w = os.pipe()
    extra_r, extra_w = os.pipe()
    os.set_inheritable(extra_w, True)
    child = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out_w,
                             stderr=out_w, close_fds=False)
    os.close(out_w)
    os.close(extra_w)
    status = child.wait(timeout=120)
    sys.stdout.write(os.read(out_r, 65536).decode())
    if status != 0:
        sys.exit("hook.py: status %d" % status)
    for what, fd in (("output", out_r), ("further descriptor", extra_r)):
        if not select.select([fd], [], [], 2)[0] or os.read(fd, 1) != b"":
            sys.exit("hook.py: something still holds the %s" % what)
    if holders():
        sys.exit("hook.py: still carry the run's variables: %s" % holders())


if __name__ == "__main__":
    main(sys.argv[1:])
