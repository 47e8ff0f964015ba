#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPU time (user and system, children included) of one ib-capture: median of N runs, beside bare "true"; exit 1 over the limit.
# usage: capture-cpu.sh [N]   (default 9; limit 150 ms, other with IB_BENCH_LIMIT_MS)
set -eu
n=${1:-9}
limit=${IB_BENCH_LIMIT_MS:-150}
: "${IB_BUILDDIR:=$PWD}"
PATH=$IB_BUILDDIR:$PATH
export PATH
XDG_STATE_HOME=$(mktemp -d "${TMPDIR:-/tmp}/ib-bench-XXXXXX")
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT

# cpu_ms COMMAND…: median of user + system time in milliseconds
cpu_ms() {
    python3 - "$n" "$@" <<'PY'
import os, statistics, sys
times = []
for _ in range(int(sys.argv[1])):
    null = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status, use = os.wait4(pid, 0)
    os.close(null)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("command failed: " + " ".join(sys.argv[2:]))
    times.append((use.ru_utime + use.ru_stime) * 1e3)
print("%.1f" % statistics.median(times))
PY
}
bare=$(cpu_ms true)
all=$(cpu_ms ib-capture)
light=$(cpu_ms ib-capture --skip topology,git,gpu_nvidia)
printf 'true:                                          %6s ms CPU\n' "$bare"
printf 'ib-capture --skip topology,git,gpu_nvidia:     %6s ms CPU\n' "$light"
printf 'ib-capture:                                    %6s ms CPU (limit %s ms, median of %s)\n' "$all" "$limit" "$n"
python3 -c 'import sys; sys.exit(float(sys.argv[1]) > float(sys.argv[2]))' "$all" "$limit"
