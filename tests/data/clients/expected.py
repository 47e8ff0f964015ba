#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the result files in this directory say, by another program than ibtools: prints expected.json.

A request succeeded when its error text is empty, it has output tokens and (where recorded) a latency above 0. Without per-request
lengths, the totals of the client are taken. Percentiles: statistics.quantiles(method="inclusive"), the linear rule."""
import glob
import json
import os
import statistics
import sys


def percentile(values, p):
    if not values:
        return None
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[p - 1]


def row(name, index, d):
    lens, errors, lat = d.get("output_lens"), d.get("errors"), d.get("latencies")
    if lens is None:
        failed = d.get("failed")
        told = lat is not None and sum(x > 0 for x in lat) == d["completed"]
        return {"file": name, "index": index, "attempted": d["completed"] + failed if failed is not None else d["num_prompts"],
                "succeeded": d["completed"], "failed": failed, "output_tokens": d["total_output_tokens"],
                "ttft_p50_ms": None, "ttft_p95_ms": None, "ttft_n": 0, "tpot_mean_ms": None,
                "requests_hz": d["completed"] / d["duration"] if told else None}
    ok = [i for i in range(len(lens)) if lens[i] > 0 and not errors[i] and (lat is None or lat[i] > 0)]
    ttft = [1000 * d["ttfts"][i] for i in ok]
    tpot = [1000 * (lat[i] - d["ttfts"][i]) / (lens[i] - 1) for i in ok if lens[i] > 1]
    return {"file": name, "index": index, "attempted": len(lens), "succeeded": len(ok), "failed": len(lens) - len(ok),
            "output_tokens": sum(lens[i] for i in ok), "ttft_p50_ms": percentile(ttft, 50), "ttft_p95_ms": percentile(ttft, 95),
            "ttft_n": len(ok), "tpot_mean_ms": statistics.fmean(tpot) if tpot else None, "requests_hz": len(ok) / d["duration"]}


def requests_row(name, lines):
    """The interchange format: a header, then one request a line; warm-ups do not count."""
    head, rows = lines[0], [r for r in lines[1:] if not r["warmup"]]
    ok = [r for r in rows if r["outcome"] == "ok"]
    ttft = [r["ttft_ns"] / 1e6 for r in ok]
    tpot = [(r["e2e_ns"] - r["ttft_ns"]) / 1e6 / (r["output_tokens"] - 1) for r in ok if r["output_tokens"] > 1]
    window = head["window"]
    return {"file": name, "index": 0, "attempted": len(rows), "succeeded": len(ok), "failed": sum(r["outcome"] == "error" for r in rows),
            "output_tokens": sum(r["output_tokens"] for r in ok), "ttft_p50_ms": percentile(ttft, 50), "ttft_p95_ms": percentile(ttft, 95),
            "ttft_n": len(ok), "tpot_mean_ms": statistics.fmean(tpot),
            "requests_hz": len(ok) / ((window["end_ns"] - window["start_ns"]) / 1e9)}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    rows = []
    for path in sorted(glob.glob(os.path.join(here, "vllm", "*.json")) + glob.glob(os.path.join(here, "smollm2", "*.json"))):
        with open(path, encoding="utf-8") as f:
            for index, line in enumerate(f):
                rows.append(row(os.path.relpath(path, here), index, json.loads(line)))
    for path in sorted(glob.glob(os.path.join(here, "requests", "*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            rows.append(requests_row(os.path.relpath(path, here), [json.loads(line) for line in f]))
    json.dump(rows, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
