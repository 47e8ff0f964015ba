#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reading large result files, ours and Python's json + numpy in turn, on the same files in the same run: wall time, ratio, peak memory.
# IB_VLLM_REQUESTS (100,000: about 185 MB), IB_AIPERF_REQUESTS (50,000: about 215 MB; 480,000 make 2 GB), IB_GAPS (64 each), IB_PYTHON (one with numpy),
# IB_REPEATS (3; the best counts), IB_BENCH_DIR (files are kept there and used again).
set -u
: "${IB_BUILDDIR:=$PWD}" "${IB_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${IB_PYTHON:=python3}"
here=$IB_SRCDIR/tests/bench
ours=$IB_BUILDDIR/tests/bench/read_clients
gaps=${IB_GAPS:-64}
"$IB_PYTHON" -c 'import numpy' 2> /dev/null || { echo "bench-clients: skipped, $IB_PYTHON has no numpy"; exit 0; }
[ -x "$ours" ] || { echo "bench-clients: $ours is not built (make tests/bench/read_clients)" >&2; exit 99; }
if [ -n "${IB_BENCH_DIR:-}" ]; then
    dir=$IB_BENCH_DIR
    mkdir -p "$dir" || exit 99
else
    dir=$(mktemp -d) || exit 99
    trap 'rm -rf "$dir"' EXIT
fi

best() { # COMMAND…: the fewest seconds of "reading and deriving", and that run's peak in MB
    for _ in $(seq "${IB_REPEATS:-3}"); do
        "$@" | sed -n 's/^reading and deriving \([0-9.]*\) s, peak \([0-9]*\) MB$/\1 \2/p'
    done | sort -n | head -n 1
}

both() { # KIND REQUESTS
    file=$dir/$1-$2-$gaps.json
    [ -s "$file" ] || python3 "$here/make_results.py" "$1" "$2" "$gaps" > "$file" || exit 99
    python=$(best "$IB_PYTHON" "$here/read_results.py" "$1" "$file")
    tool=$(best "$ours" "$file")
    awk -v kind="$1" -v n="$2" -v gaps="$gaps" -v mb="$(($(wc -c < "$file") / 1000000))" -v p="$python" -v t="$tool" 'BEGIN {
        split(p, python); split(t, tool)
        if (python[1] == "" || tool[1] == "") { print kind ": one of the two failed"; exit 1 }
        printf "%s, %d requests, %d gaps each, %d MB: ours %.2f s, %d MB; json + numpy %.2f s, %d MB; 1/%.1f of the time (target: 1/4)\n", kind, n, gaps, mb,
            tool[1], tool[2], python[1], python[2], python[1] / tool[1]
        columns = n * (gaps + 8) * 8 / 1e6
        if (kind == "vllm")
            printf "  numeric columns %.0f MB: %.0f MB allowed\n", columns, 1.5 * columns + 16
    }'
}

both vllm "${IB_VLLM_REQUESTS:-100000}"
both aiperf "${IB_AIPERF_REQUESTS:-50000}"
