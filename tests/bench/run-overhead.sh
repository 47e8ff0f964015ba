#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ib-run costs around "true": CPU time (user + system, children included) and wall time, study on tmpfs, medians.
set -u
: "${IB_BUILDDIR:=$PWD}"
n=${IB_REPEATS:-31}
command -v python3 > /dev/null || { echo "run-overhead: skipped, python3 is not installed"; exit 0; }
dir=$(mktemp -d /dev/shm/ib-bench-XXXXXX 2> /dev/null || mktemp -d) || exit 99
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
XDG_STATE_HOME=$dir/state python3 - "$IB_BUILDDIR" "$dir" "$n" <<'END'
import ctypes, os, resource, statistics, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1) # subreaper: the logger, which is nobody's child, is counted too
build, d, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
def once(argv):
    a, t = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    w = time.perf_counter() - t
    try:
        while True: os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime) * 1e3, w * 1e3
def pairs(base, argv):
    """What argv costs beyond base, which runs just before it each time: other load meets both."""
    both = [(once(base) if base else (0, 0), once(argv)) for _ in range(n)]
    more = sorted(b[0] - a[0] for a, b in both)
    return [statistics.median(x[i][k] for x in both) for i in (0, 1) for k in (0, 1)] + [statistics.median(more), more[0]]
run = [build + "/ib-run", "-q"]
cases = [("ib-run --no-capture -- true", run + ["-C", d + "/a", "--no-capture", "--", "true"], ["true"], 10)]
if os.access(build + "/ib-capture", os.X_OK):
    subprocess.run(run + ["-C", d + "/b", "--", "true"], check=True)
    capture = [build + "/ib-capture", "--store", d + "/b"]
    cases.append(("ib-capture", capture, None, 150))
    cases.append(("ib-run -- true, beyond its ib-capture", run + ["-C", d + "/b", "--", "true"], capture, 60))
print("medians of %d pairs" % n)
for name, argv, base, limit in cases:
    c0, w0, c1, w1, more, least = pairs(base, argv)
    print("%s: %.1f ms CPU, %.1f ms wall; %.1f ms CPU more, at least %.1f (target: %d)" % (name, c1, w1, more, least, limit)
          + ("; the bare command: %.1f ms CPU, %.1f ms wall" % (c0, w0) if base == ["true"] else ""))
END
