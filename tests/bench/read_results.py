#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same statistics as bench-clients.sh has of ours, by json and numpy: read_results.py vllm|aiperf FILE. Prints its own wall time and peak memory."""
import json
import resource
import sys
import time

began = time.perf_counter()
import numpy  # noqa: E402


def show(name, values):
    v = numpy.array(values)
    print(name, v.mean(), numpy.median(v), v.std(), numpy.percentile(v, 99))


def vllm(path):
    with open(path, encoding="utf-8") as f:
        o = json.load(f)
    starts, ttfts, latencies = (numpy.array(o[k]) for k in ("start_times", "ttfts", "latencies"))
    show("ttft", ttfts)
    show("tpot", (latencies - ttfts) / (numpy.array(o["output_lens"]) - 1))
    show("itl", numpy.concatenate([numpy.array(i) for i in o["itls"]]))
    show("e2el", latencies)
    print("tokens/s", sum(o["output_lens"]) / o["duration"], "least duration", (starts + latencies).max() - starts.min())


def aiperf(path):
    names = ("request_latency", "time_to_first_token", "inter_token_latency", "output_sequence_length", "input_sequence_length")
    columns, gaps, ends = {n: [] for n in names}, [], []
    with open(path, encoding="utf-8") as f:
        for line in f:
            record = json.loads(line)
            for n in names:
                columns[n].append(record["metrics"][n]["value"])
            gaps.append(numpy.array(record["metrics"]["inter_chunk_latency"]["value"]))
            ends.append((record["metadata"]["request_start_ns"], record["metadata"]["request_end_ns"]))
    for n in names:
        show(n, columns[n])
    show("inter_chunk_latency", numpy.concatenate(gaps))
    span = numpy.array(ends)
    print("duration", span[:, 1].max() - span[:, 0].min())


{"vllm": vllm, "aiperf": aiperf}[sys.argv[1]](sys.argv[2])
print("reading and deriving %.3f s, peak %d MB" % (time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))
