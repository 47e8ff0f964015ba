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
def median(argv):
    runs = [once(argv) for _ in range(n)]
    return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)
run = [build + "/ib-run", "-q"]
bare = median(["true"])
plain = median(run + ["-C", d + "/a", "--no-capture", "--", "true"])
cases = [("ib-run --no-capture -- true", plain, bare, 10)]
if os.access(build + "/ib-capture", os.X_OK):
    subprocess.run(run + ["-C", d + "/b", "--", "true"], check=True)
    store = median([build + "/ib-capture", "--store", d + "/b"])
    full = median(run + ["-C", d + "/b", "--", "true"])
    cases.append(("ib-capture", store, (0, 0), 150))
    cases.append(("ib-run -- true, beyond its ib-capture", full, store, 60))
print("bare true: %.1f ms CPU, %.1f ms wall (medians of %d)" % (bare + (n,)))
for name, got, base, limit in cases:
    more = "; %.1f times the bare command" % (got[0] / bare[0]) if base is bare else ""
    print("%s: %.1f ms CPU, %.1f ms wall; %.1f ms CPU more (target: %d)%s" % (name, got[0], got[1], got[0] - base[0], limit, more))
END
