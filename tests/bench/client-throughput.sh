#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does ib-run slow a client down that does nothing but load? ib-load against the loopback endpoint, both as fast as they can, bare and under ib-run in turn,
# with a look at the bare command against itself. IB_REPEATS: pairs (default 9).
set -u
: "${IB_BUILDDIR:=$PWD}"
pairs=${IB_REPEATS:-9}
command -v python3 > /dev/null || { echo "client-throughput: skipped, python3 is not installed"; exit 0; }
dir=$(mktemp -d /dev/shm/ib-bench-XXXXXX 2> /dev/null || mktemp -d) || exit 99
PATH=$IB_BUILDDIR:$PATH
ib-loopback --port-file "$dir/port" --lifetime 20m --prefill-base-us 0 --prefill-token-us 0 --decode-token-us 0 > "$dir/endpoint.log" 2>&1 &
endpoint=$!
trap 'kill $endpoint 2> /dev/null; chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
tries=0
while [ ! -s "$dir/port" ] && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
XDG_STATE_HOME=$dir/state python3 - "$dir" "$pairs" "http://127.0.0.1:$(cat "$dir/port")" << 'END'
import json, statistics, subprocess, sys
d, pairs, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
load = ["ib-load", "--url", url, "-n", "8000", "-c", "8", "--input-tokens", "16", "--output-tokens", "8", "-o"]
made = 0

def rate(words):
    global made
    made += 1
    out = "%s/%d.jsonl" % (d, made)
    subprocess.run(words + load + [out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out) as f:
        window = json.loads(f.readline())["window"]
    return 8000e9 / (window["end_ns"] - window["start_ns"])

ways = {"bare": [], "bare, once more": [], "ib-run --no-capture": ["ib-run", "-q", "--no-capture", "-C", d + "/a", "--"], "ib-run": ["ib-run", "-q", "-C", d + "/b", "--"]}
got = {w: [] for w in ways}
for i in range(pairs + 1):
    order = list(ways) if i % 2 else list(reversed(ways))
    for w in order:
        r = rate(ways[w])
        if i:  # the first round makes what is made on first use
            got[w].append(r)
bare = got["bare"]
print("bare: %.0f requests/s (median of %d; %.0f to %.0f)" % (statistics.median(bare), pairs, min(bare), max(bare)))
for w in list(ways)[1:]:
    ratios = [a / b for a, b in zip(got[w], bare)]
    print("%-20s %.0f requests/s; %.3f of the bare command's of its round (%.3f to %.3f); best against best %.3f"
          % (w + ":", statistics.median(got[w]), statistics.median(ratios), min(ratios), max(ratios), max(got[w]) / max(bare)))
END
