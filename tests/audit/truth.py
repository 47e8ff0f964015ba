#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the result sets say, read by another program than ibtools: Python's standard library, textbook arithmetic, no shared code.

    truth.py [SETS]            prints one JSON document: every case, its results, and what the server's own log says of it
    truth.py --check [SETS]    ends with 1 when a number of a client does not follow from its own records as its formula says

A case has results (one for each measurement in its files), each with counts and numbers; and, where a server log exists, what
the server saw. "blind" lists what the client's own files cannot or do not tell of that.

Counts are null where the client's files do not hold them. The rules by which a request of the server's log is not part of the
measurement (warm-ups and probes) stand in probes() below, one per client."""
import glob
import gzip
import json
import math
import os
import re
import shlex
import subprocess
import sys

LINEAR, NEAREST = "linear", "nearest"


# ---- arithmetic -------------------------------------------------------------------------------------------------------------

def mean(v):
    return math.fsum(v) / len(v)


def std(v):
    m = mean(v)
    return math.sqrt(math.fsum((x - m) ** 2 for x in v) / len(v))


def linear(v, p):
    """The value at rank (n-1)p of the sorted samples, interpolated."""
    v = sorted(v)
    at = (len(v) - 1) * p / 100
    low = math.floor(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (at - low)


def ranked(pairs, p):
    """The smallest value whose share of the weight, with all below it, is at least p: (value, value at a tie or the same)."""
    pairs = sorted((x, w) for x, w in pairs if w > 0)
    total, run = sum(w for _, w in pairs), 0
    for i, (x, w) in enumerate(pairs):
        run += w
        if run * 1000 >= round(p * 10) * total:
            tie = run * 1000 == round(p * 10) * total
            return x, pairs[i + 1][0] if tie and i + 1 < len(pairs) else x
    return pairs[-1][0], pairs[-1][0]


def weighted(pairs):
    return math.fsum(x * w for x, w in pairs) / math.fsum(w for _, w in pairs)


class Numbers:
    """Claimed numbers of one result beside the same derived here. Keys are JSON pointers within the result's object."""

    def __init__(self):
        self.rows = []

    def add(self, key, claimed, derived, tolerance=1e-9, either=None):
        if claimed is None and derived is None:
            return
        self.rows.append({"key": key, "claimed": claimed, "derived": derived, "tolerance": tolerance, "either": either})

    def samples(self, key, holder, values, names, scale=1.0, tolerance=1e-9):
        """names: the client's word of a statistic -> 'mean', 'std', 'min', 'max', a percentile."""
        for word, what in names.items():
            if word not in holder:
                continue
            if not values:
                derived = None
            elif what == "mean":
                derived = mean(values) * scale
            elif what == "std":
                derived = std(values) * scale
            elif what == "min":
                derived = min(values) * scale
            elif what == "max":
                derived = max(values) * scale
            elif what == "sum":
                derived = math.fsum(values) * scale
            else:
                derived = linear(values, what) * scale
            self.add(key.replace("*", word), holder[word], derived, tolerance)


# ---- files ------------------------------------------------------------------------------------------------------------------

def text_of(path):
    if path.endswith(".gz"):
        with gzip.open(path, "rt", encoding="utf-8") as f:
            return f.read()
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    with open(path, encoding="utf-8-sig") as f:  # a byte-order mark is no part of it
        return f.read()


def json_lines(path):
    """The records of a JSON Lines file; lines that are none (a log in between) are left out."""
    return [json.loads(line) for line in text_of(path).splitlines() if line.lstrip().startswith("{")]


def documents(text):
    """JSON values one after another, with NaN and Infinity as Python reads them."""
    out, at, decoder = [], 0, json.JSONDecoder()
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text):
            return out
        value, at = decoder.raw_decode(text, at)
        out.append(value)


def find(case, pattern):
    return sorted(glob.glob(os.path.join(glob.escape(case), pattern), recursive=True))


def words(case):
    """The words of cmd.txt (the first of several): what the client was asked to do."""
    for name in ("cmd.txt", "cmd_1.txt"):
        path = os.path.join(case, name)
        if os.path.exists(path):
            line = text_of(path)
            return shlex.split(line, comments=False)
    return []


def option(argv, name):
    for i, w in enumerate(argv):
        if w == name and i + 1 < len(argv):
            return argv[i + 1]
        if w.startswith(name + "="):
            return w[len(name) + 1:]
    return None


def whole(x):
    return None if x is None else int(x)


def result(case, path, client, index=0):
    return {"file": os.path.relpath(path, case), "index": index, "client": client, "attempted": None, "succeeded": None, "failed": None,
            "incomplete": None, "short_output": None, "output_tokens": None, "input_tokens": None, "detail": True}


def shorter(lengths, asked):
    return None if asked is None else sum(n < asked for n in lengths)


# ---- vLLM bench serve, Python and Rust --------------------------------------------------------------------------------------

VLLM_SERIES = ("ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue")


def vllm_series(d, ok):
    ttft = [d["ttfts"][i] for i in ok]
    lat = d.get("latencies") or [d["ttfts"][i] + math.fsum(d["itls"][i]) for i in range(len(d["ttfts"]))]
    series = {"ttft": ttft, "e2el": [lat[i] for i in ok], "itl": [g for i in ok for g in d["itls"][i]],
              "tpot": [(lat[i] - d["ttfts"][i]) / (d["output_lens"][i] - 1) for i in ok if d["output_lens"][i] > 1]}
    if "queue_times" in d:
        series["client_queue_time"] = [d["queue_times"][i] for i in ok]
        series["e2el_including_client_queue"] = [lat[i] + d["queue_times"][i] for i in ok]
    return series, lat


def vllm_buckets(d, ok, lat):
    """The two numbers counted in buckets of one second from the first start."""
    origin = min(d["start_times"][i] for i in ok)
    chunks, alive = {}, {}
    for i in ok:
        at = d["start_times"][i] + d["ttfts"][i]
        chunks[int(at - origin)] = chunks.get(int(at - origin), 0) + 1
        for gap in d["itls"][i]:
            at += gap
            chunks[int(at - origin)] = chunks.get(int(at - origin), 0) + 1
        for b in range(int(d["start_times"][i] - origin), int(d["start_times"][i] + lat[i] - origin) + 1):
            alive[b] = alive.get(b, 0) + 1
    return max(chunks.values()), max(alive.values())


def vllm_statistics(n, d, name, values):
    """Of no sample a statistic is undefined; the client writes 0."""
    for word, what in (("mean", "mean"), ("median", 50), ("std", "std")):
        key = "%s_%s_ms" % (word, name)
        if key in d:
            n.samples("/*", d, values, {key: what}, 1000)
    for key in d:
        m = re.fullmatch(r"p([0-9.]+)_%s_ms" % name, key)
        if m:
            n.samples("/*", d, values, {key: float(m.group(1))}, 1000)


def vllm_goodput(argv):
    slo = {}
    for i, w in enumerate(argv):
        if w == "--goodput":
            for pair in argv[i + 1:]:
                if ":" not in pair:
                    break
                k, v = pair.split(":")
                slo[k] = float(v)
    return slo


def vllm_one(case, path, index, d, argv):
    r, n = result(case, path, "vllm-bench", index), Numbers()
    asked_len = whole(option(argv, "--random-output-len"))
    r["attempted"], r["succeeded"], r["failed"] = d["num_prompts"], d["completed"], d.get("failed")
    r["input_tokens"], r["output_tokens"] = d["total_input_tokens"], d["total_output_tokens"]
    rust = "steady_state" in d
    r["schema"] = "vllm-bench/rust" if rust else "vllm-bench/python"
    r["detail"] = "ttfts" in d
    dur = d["duration"]
    n.add("/request_throughput", d["request_throughput"], d["completed"] / dur)
    n.add("/output_throughput", d["output_throughput"], d["total_output_tokens"] / dur)
    n.add("/total_token_throughput", d["total_token_throughput"], (d["total_input_tokens"] + d["total_output_tokens"]) / dur)
    if not r["detail"]:
        lat = [x for x in d.get("latencies", []) if x > 0]
        if len(lat) == d["completed"] and lat:
            vllm_statistics(n, d, "e2el", lat)
        return r, n
    lens = d["output_lens"]
    ok = [i for i in range(len(lens)) if lens[i] > 0]
    r["attempted"], r["succeeded"], r["failed"] = len(lens), len(ok), len(lens) - len(ok)
    r["output_tokens"] = sum(lens[i] for i in ok)
    r["input_tokens"] = sum(d["input_lens"][i] for i in ok)
    r["short_output"] = shorter([lens[i] for i in ok], asked_len)
    n.add("/completed", d["completed"], len(ok), 0)
    n.add("/failed", d.get("failed"), len(lens) - len(ok), 0)
    n.add("/total_input_tokens", d["total_input_tokens"], r["input_tokens"], 0)
    n.add("/total_output_tokens", d["total_output_tokens"], r["output_tokens"], 0)
    series, lat = vllm_series(d, ok)
    for name, values in series.items():
        vllm_statistics(n, d, name, values)
    if ok:
        peak, alive = vllm_buckets(d, ok, lat)
        n.add("/max_output_tokens_per_s", d["max_output_tokens_per_s"], float(peak))
        n.add("/max_concurrent_requests", d["max_concurrent_requests"], alive, 0)
        slo = vllm_goodput(argv)
        if slo and d.get("request_goodput") is not None:
            tpot = {i: (lat[i] - d["ttfts"][i]) / (lens[i] - 1) if lens[i] > 1 else 0.0 for i in ok}
            value = {"ttft": lambda i: d["ttfts"][i], "tpot": lambda i: tpot[i], "e2el": lambda i: lat[i]}
            good = sum(all(1000 * value[k](i) <= slo[k] for k in slo) for i in ok)
            n.add("/request_goodput", d["request_goodput"], good / dur)
    return r, n


def vllm(case):
    argv, out = words(case), []
    for path in find(case, "**/*.json"):
        docs = documents(text_of(path))
        for i, d in enumerate(docs):
            if isinstance(d, dict) and "completed" in d and "num_prompts" in d:
                out.append(vllm_one(case, path, i, d, argv))
    return out


# ---- GuideLLM 0.3, 0.6, 0.8 -------------------------------------------------------------------------------------------------

GUIDE_PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}


def guide_asked(r, default):
    """Output tokens asked of one request: in its body, a JSON document inside a string."""
    args = r.get("request_args")
    if not args:
        return default
    body = json.loads(args).get("body") or {}
    return body.get("max_completion_tokens") or body.get("max_tokens") or default


def guide_times(r, old):
    """(start, first token, last token, end) in seconds; None where not recorded."""
    if old:
        return r["start_time"], r["first_token_time"], r["last_token_time"], r["end_time"]
    t = r["info"]["timings"]
    return t["request_start"], t["first_token_iteration"], t["last_token_iteration"], t["request_end"]


def guide_series(ok, old):
    ttft, itl, tpot, lat = [], [], [], []
    for r in ok:
        start, first, last, end = guide_times(r, old)
        n = r["output_tokens"] or 0
        lat.append((end - start, 1))
        ttft.append((1000 * (first - start), 1))
        tpot.append((1000 * (last - (first if old else start)) / n, n))
        itl.append((1000 * (last - first) / (n - 1) if n > 1 else 0.0, n - 1))
    return {"time_to_first_token_ms": ttft, "inter_token_latency_ms": itl, "time_per_output_token_ms": tpot, "request_latency": lat}


def guide_rates(n, m, ok, b, version):
    out = sum(r["output_tokens"] for r in ok)
    both = out + sum(r["prompt_tokens"] for r in ok)
    key = "/metrics/%s/successful/mean"
    dur = b["duration"]
    slack = 2e-3 if version == "0.3" else 1e-9  # 0.3 sums a step function of time; only near to tokens / duration
    n.add(key % "requests_per_second", m["requests_per_second"]["successful"]["mean"], len(ok) / dur, 5e-3 if version == "0.3" else 1e-9)
    if version == "0.6":  # tokens over the span between first and last token, which the records hold
        return
    n.add(key % "output_tokens_per_second", m["output_tokens_per_second"]["successful"]["mean"], out / dur, slack)
    if version == "0.8":
        n.add(key % "tokens_per_second", m["tokens_per_second"]["successful"]["mean"], both / dur)


def guide_one(case, path, index, b, d):
    meta = d.get("metadata") or {}
    old = "request_samples" in b or not meta
    version = "0.3" if old else ("0.8" if meta.get("version") == 2 else "0.6")
    r, n = result(case, path, "guidellm", index), Numbers()
    r["schema"] = "guidellm/"
    kept = {k: b["requests"][k] or [] for k in ("successful", "errored", "incomplete")}
    totals = b["request_totals"] if old else b["metrics"]["request_totals"]
    r["succeeded"], r["failed"], r["incomplete"] = totals["successful"], totals["errored"], totals["incomplete"]
    r["attempted"] = totals["total"]
    ok = kept["successful"]
    r["detail"] = len(ok) == totals["successful"]
    if not r["detail"]:  # the file keeps a sample of its records
        return r, n
    if not old:
        n.add("/metrics/request_totals/successful", totals["successful"], len(ok), 0)
        n.add("/metrics/request_totals/errored", totals["errored"], len(kept["errored"]), 0)
    asked = 32
    r["output_tokens"] = sum(x["output_tokens"] for x in ok)
    r["input_tokens"] = sum(x["prompt_tokens"] for x in ok)
    r["short_output"] = sum(x["output_tokens"] < guide_asked(x, asked) for x in ok)
    if not ok:
        return r, n
    guide_rates(n, b["metrics"], ok, b, version)
    for name, pairs in guide_series(ok, old).items():
        s = b["metrics"][name]["successful"]
        n.add("/metrics/%s/successful/mean" % name, s["mean"], weighted(pairs))
        for word, p in GUIDE_PERCENTILES.items():
            x, tie = ranked(pairs, p)
            n.add("/metrics/%s/successful/percentiles/%s" % (name, word), s["percentiles"][word], x, either=tie)
    return r, n


def guidellm(case):
    out = []
    for path in find(case, "benchmarks.json*"):
        d = documents(text_of(path))[0]
        out += [guide_one(case, path, i, b, d) for i, b in enumerate(d["benchmarks"])]
    return out


# ---- AIPerf -----------------------------------------------------------------------------------------------------------------

AIPERF_WORDS = {"avg": "mean", "min": "min", "max": "max", "std": "std", "p1": 1, "p5": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75,
                "p90": 90, "p95": 95, "p99": 99}
AIPERF_TAGS = ("request_latency", "time_to_first_token", "inter_token_latency", "output_sequence_length", "input_sequence_length",
               "time_to_second_token", "output_token_throughput_per_user")


def aiperf_seconds(text):
    """Seconds within the day of an ISO text; both texts of a file are of one day here."""
    h, m, s = text.split("T")[1].split(":")
    return int(h) * 3600 + int(m) * 60 + float(s)


def aiperf_numbers(n, d, ok, bad, value):
    for tag in AIPERF_TAGS:
        if tag in d:
            n.samples("/%s/*" % tag, d[tag], [value(r, tag) for r in ok if value(r, tag) is not None], AIPERF_WORDS)
    if "inter_chunk_latency" in d:
        gaps = [g for r in ok for g in value(r, "inter_chunk_latency") or []]
        n.samples("/inter_chunk_latency/*", d["inter_chunk_latency"], gaps, AIPERF_WORDS)
    avg = lambda tag: (d.get(tag) or {}).get("avg")
    n.add("/request_count/avg", avg("request_count"), len(ok), 0)
    if bad or "error_request_count" in d:
        n.add("/error_request_count/avg", avg("error_request_count"), len(bad), 0)
    n.add("/completed_request_count/avg", avg("completed_request_count"), len(ok) + len(bad), 0)
    tokens = sum(value(r, "output_sequence_length") for r in ok)
    n.add("/total_osl/avg", avg("total_osl"), tokens, 0)
    n.add("/total_isl/avg", avg("total_isl"), sum(value(r, "input_sequence_length") for r in ok), 0)
    starts = [r["metadata"]["request_start_ns"] for r in ok]
    ends = [r["metadata"]["request_start_ns"] + value(r, "request_latency") * 1e6 for r in ok]
    lasted = (max(ends) - min(starts)) / 1e9
    n.add("/benchmark_duration/avg", avg("benchmark_duration"), lasted, 1e-7)
    window = aiperf_seconds(d["end_time"]) - aiperf_seconds(d["start_time"])
    if d.get("was_cancelled"):
        window = avg("benchmark_duration")
    n.add("/request_throughput/avg", avg("request_throughput"), len(ok) / window, 1e-6)
    n.add("/output_token_throughput/avg", avg("output_token_throughput"), tokens / window, 1e-6)


def aiperf(case):
    out = []
    for path in find(case, "**/profile_export.jsonl"):
        records = json_lines(path)
        value = lambda r, tag: (r["metrics"].get(tag) or {}).get("value")
        ok = [r for r in records if not r.get("error")]
        bad = [r for r in records if r.get("error")]
        summary = os.path.join(os.path.dirname(path), "profile_export_aiperf.json")
        r, n = result(case, path, "aiperf"), Numbers()
        r["schema"] = "aiperf/"
        r["attempted"], r["succeeded"], r["failed"] = len(records), len(ok), len(bad)
        r["output_tokens"] = sum(value(x, "output_sequence_length") for x in ok)
        r["input_tokens"] = sum(value(x, "input_sequence_length") for x in ok)
        r["short_output"] = sum((value(x, "osl_mismatch_diff_pct") or 0) < 0 for x in ok)
        if os.path.exists(summary):
            r["file"] = os.path.relpath(summary, case)
            r["records_file"] = os.path.relpath(path, case)
            aiperf_numbers(n, json.loads(text_of(summary)), ok, bad, value)
        out.append((r, n))
    return out


# ---- inference-perf ---------------------------------------------------------------------------------------------------------

PERF_WORDS = {"mean": "mean", "min": "min", "max": "max", "p0.1": 0.1, "p1": 1, "p5": 5, "p10": 10, "p25": 25, "median": 50, "p75": 75,
              "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9}


def perf_asked(folder):
    """Output tokens asked: config.yaml, where the distribution has one length."""
    text = text_of(os.path.join(folder, "config.yaml"))
    m = re.search(r"output_distribution:\n((?:    .*\n)+)", text)
    if not m:
        return None
    got = dict(re.findall(r"(\w+): ([0-9.]+)", m.group(1)))
    return int(float(got["min"])) if got.get("min") == got.get("max") else None


def perf_numbers(n, d, records, ok):
    s = d["successes"]
    metrics = lambda r: r["info"]["response_metrics"]
    window = max(r["end_time"] for r in records) - min(r["start_time"] for r in records)
    n.add("/benchmark_time_seconds", d["benchmark_time_seconds"], window)
    n.add("/load_summary/count", d["load_summary"]["count"], len(records), 0)
    n.add("/successes/count", s["count"], len(ok), 0)
    n.add("/failures/count", d["failures"]["count"], len(records) - len(ok), 0)
    if not ok:
        return
    tokens = [metrics(r)["output_tokens"] for r in ok]
    times = [metrics(r)["output_token_times"] or [] for r in ok]
    n.add("/successes/throughput/requests_per_sec", s["throughput"]["requests_per_sec"], len(ok) / window)
    n.add("/successes/throughput/output_tokens_per_sec", s["throughput"]["output_tokens_per_sec"], sum(tokens) / window)
    series = {"request_latency": [r["end_time"] - r["start_time"] for r in ok],
              "time_to_first_token": [t[0] - r["start_time"] for t, r in zip(times, ok) if len(t) > 1],
              "time_per_output_token": [(t[-1] - t[0]) / (k - 1) for t, k in zip(times, tokens) if len(t) > 1 and k > 1],
              "inter_token_latency": [b - a for t in times for a, b in zip(t, t[1:])],
              "normalized_time_per_output_token": [(r["end_time"] - r["start_time"]) / k for r, k in zip(ok, tokens) if k]}
    for name, values in series.items():
        if s["latency"].get(name):
            n.samples("/successes/latency/%s/*" % name, s["latency"][name], values, PERF_WORDS)


def inference_perf(case):
    out = []
    for path in find(case, "**/summary_lifecycle_metrics.json"):
        folder = os.path.dirname(path)
        d = json.loads(text_of(path))
        r, n = result(case, path, "inference-perf"), Numbers()
        r["schema"] = "inference-perf/"
        r["attempted"], r["succeeded"], r["failed"] = d["load_summary"]["count"], d["successes"]["count"], d["failures"]["count"]
        per = find(folder, "per_request_lifecycle_metrics.json*")
        r["detail"] = bool(per)
        if per:
            records = json.loads(text_of(per[0]))
            ok = [x for x in records if not x["error"]]
            r["attempted"], r["succeeded"], r["failed"] = len(records), len(ok), len(records) - len(ok)
            r["records_file"] = os.path.relpath(per[0], case)
            lens = [x["info"]["response_metrics"]["output_tokens"] for x in ok]
            r["output_tokens"] = sum(lens)
            r["short_output"] = shorter(lens, perf_asked(folder))
            perf_numbers(n, d, records, ok)
        else:
            n.add("/successes/throughput/requests_per_sec", d["successes"]["throughput"]["requests_per_sec"],
                  d["successes"]["count"] / d["benchmark_time_seconds"])
        out.append((r, n))
    return out


# ---- SGLang -----------------------------------------------------------------------------------------------------------------

SGL_WORDS = {"mean": "mean", "median": 50, "std": "std", "p90": 90, "p95": 95, "p99": 99}


def sglang_one(case, path, index, d):
    r, n = result(case, path, "sglang-bench", index), Numbers()
    r["schema"] = "sglang"
    r["succeeded"], r["output_tokens"], r["input_tokens"] = d["completed"], d["total_output_tokens"], d["total_input_tokens"]
    r["detail"] = "ttfts" in d
    n.add("/request_throughput", d["request_throughput"], d["completed"] / d["duration"])
    n.add("/output_throughput", d["output_throughput"], d["total_output_tokens"] / d["duration"])
    n.add("/input_throughput", d["input_throughput"], d["total_input_tokens"] / d["duration"])
    if not r["detail"]:
        return r, n
    ok = [i for i in range(len(d["errors"])) if not d["errors"][i]]
    r["attempted"], r["succeeded"], r["failed"] = len(d["errors"]), len(ok), len(d["errors"]) - len(ok)
    n.add("/completed", d["completed"], len(ok), 0)
    n.add("/total_output_tokens", d["total_output_tokens"], sum(d["output_lens"]), 0)
    # of what was asked only the chunks tell: the lengths of this client are those that it asked for
    r["short_output"] = sum(len(d["itls"][i]) + 1 < d["output_lens"][i] for i in ok)
    series = {"ttft": ([d["ttfts"][i] for i in ok], 1e-9), "itl": ([g for i in ok for g in d["itls"][i]], 1e-9),
              "e2e_latency": ([d["ttfts"][i] + math.fsum(d["itls"][i]) for i in ok], 2e-2),
              "tpot": ([math.fsum(d["itls"][i]) / (d["output_lens"][i] - 1) for i in ok if d["output_lens"][i] > 1], 2e-2)}
    for name, (values, tolerance) in series.items():
        for word, what in SGL_WORDS.items():
            # spread of approximate values is not compared
            if tolerance > 1e-9 and what == "std":
                continue
            n.samples("/*", d, values, {"%s_%s_ms" % (word, name): what}, 1000, tolerance)
    return r, n


def sglang(case):
    out = []
    for path in find(case, "out.jsonl"):
        out += [sglang_one(case, path, i, d) for i, d in enumerate(documents(text_of(path)))]
    return out


# ---- genai-bench ------------------------------------------------------------------------------------------------------------

GENAI_WORDS = {"mean": "mean", "min": "min", "max": "max", "stddev": "std", "sum": "sum", "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95,
               "p99": 99}


def genai_bench(case):
    out = []
    for path in find(case, "**/*.json"):
        d = json.loads(text_of(path))
        if "aggregated_metrics" not in d:
            continue
        a, records = d["aggregated_metrics"], d["individual_request_metrics"]
        ok = [x for x in records if not x["error_code"]]
        r, n = result(case, path, "genai-bench"), Numbers()
        r["schema"] = "genai-bench"
        r["attempted"], r["succeeded"], r["failed"] = len(records), len(ok), len(records) - len(ok)
        r["output_tokens"] = sum(x["num_output_tokens"] for x in ok)
        r["input_tokens"] = sum(x["num_input_tokens"] for x in ok)
        scenario = re.fullmatch(r"D\((\d+),(\d+)\)", a["scenario"])
        r["short_output"] = shorter([x["num_output_tokens"] for x in ok], int(scenario.group(2)))
        n.add("/aggregated_metrics/num_completed_requests", a["num_completed_requests"], len(ok), 0)
        n.add("/aggregated_metrics/num_error_requests", a["num_error_requests"], len(records) - len(ok), 0)
        n.add("/aggregated_metrics/num_requests", a["num_requests"], len(records), 0)
        if a["run_duration"]:
            n.add("/aggregated_metrics/requests_per_second", a["requests_per_second"], len(ok) / a["run_duration"])
            n.add("/aggregated_metrics/mean_output_throughput_tokens_per_s", a["mean_output_throughput_tokens_per_s"],
                  r["output_tokens"] / a["run_duration"])
        for name in ("ttft", "tpot", "e2e_latency", "output_latency", "num_input_tokens", "num_output_tokens"):
            holder = {k: v for k, v in a["stats"][name].items() if v is not None}
            values = [x[name] for x in ok if x[name] is not None]
            n.samples("/aggregated_metrics/stats/%s/*" % name, holder, values, GENAI_WORDS)
        out.append((r, n))
    return out


# ---- InferenceBench ---------------------------------------------------------------------------------------------------------

def inferencebench(case):
    """Envelopes; samples.jsonl beside one holds its records. A file with duplicate keys is read as Python does: the last counts."""
    out = []
    per = find(case, "samples.jsonl")
    records = json_lines(per[0]) if per else None
    for path in find(case, "*.json"):
        d = documents(text_of(path))[0]
        r, n = result(case, path, "inferencebench"), Numbers()
        r["schema"] = "inferencebench"
        r["detail"] = records is not None
        if records is not None:
            ok = [x for x in records if x["ok"]]
            r["attempted"], r["succeeded"], r["failed"] = len(records), len(ok), len(records) - len(ok)
            r["output_tokens"], r["input_tokens"] = sum(x["tokens_out"] for x in ok), sum(x["tokens_in"] for x in ok)
            m = d["metrics"]
            if records:
                n.add("/metrics/ok_rate", m["ok_rate"], len(ok) / len(records))
                for name in ("ttft", "tpot", "total"):
                    values = [x[name + "_ms"] for x in ok]
                    for p in (50, 99):
                        n.samples("/metrics/*", m, values, {"%s_p%d_ms" % (name, p): p})
        out.append((r, n))
    return out


# ---- the server's side ------------------------------------------------------------------------------------------------------

def probes(client, log, argv):
    """Requests of a log that are not part of the measurement, by the client's habit:
    sglang      --warmup-requests (one by default) with prompt 1 go before everything else; the run starts when they have ended
    guidellm    0.3 asks twice for one token before it starts (its validation of the backend)
    others      none in these sets: no warm-ups were asked for"""
    if client.startswith("sglang"):
        n = int(option(argv, "--warmup-requests") or 1)
        return sorted(log, key=lambda q: q["t0"])[:n]
    if client.startswith("guidellm-0.3"):
        return [q for q in log if q["req"] == 1]
    return []


def server_log(client, case, argv):
    path = os.path.join(case, "server_truth.jsonl")
    if not os.path.exists(path):
        return None
    log = json_lines(path)
    if client.startswith("inferencebench"):
        # "the first three" are dropped by the client as warm-up; the logs are in order of completion
        if log and "status" in log[0]:
            answered = [q["status"] == 200 for q in log]
            return {"seen": len(log), "probes": 3, "complete": sum(answered), "short": None, "cut": 0, "refused": len(log) - sum(answered),
                    "gone": 0, "output_tokens": sum(q["words"] for q in log)}
        return {"seen": len(log), "probes": 3, "complete": len(log), "short": None, "cut": 0, "refused": 0, "gone": 0,
                "output_tokens": sum(q["generated_tokens"] for q in log)}
    probe = probes(client, log, argv)
    log = [q for q in log if not any(q is p for p in probe)]
    cut = [q for q in log if q["status"] == 200 and "mid" in q]
    done = [q for q in log if q["status"] == 200 and "mid" not in q]
    return {"seen": len(log) + len(probe), "probes": len(probe), "complete": len(done), "short": sum(q["n"] < q["req"] for q in done),
            "cut": len(cut), "refused": sum(q["status"] in (500, -1) for q in log), "gone": sum(q["status"] == 499 for q in log),
            "output_tokens": sum(q["n"] for q in done) + sum(q["mid"] for q in cut),
            "complete_tokens": sum(q["n"] for q in done)}


VLLM_FAULTS = {"20_mix_http500": "refused", "22_stream_error_event": "cut", "23_stream_cut": "cut", "25_no_usage": None, "R1_rust_ok_fake": None,
               "R4_rust_error_event": "cut", "R5_rust_stream_cut": "cut"}


def fault_rule(client, case, argv):
    """The small server behind the fault cases of vLLM kept no log, but its rule is known: every third request after the sixth
    gets the fault, the "all fail" cases fail from the sixth request on; five of the requests are the client's warm-ups."""
    name = os.path.basename(case)
    n, warm = whole(option(argv, "--num-prompts")), whole(option(argv, "--num-warmups"))
    if client != "vllm" or n is None:
        return None
    if name in VLLM_FAULTS:
        kind = VLLM_FAULTS[name]
        hit = sum(i > 6 and i % 3 == 0 for i in range(warm + 1, warm + n + 1)) if kind else 0
    elif "all_fail" in name:
        kind, hit = "refused", n
    elif "endpoint_down" in name:
        return {"seen": 0, "probes": 0, "complete": 0, "short": 0, "cut": 0, "refused": 0, "gone": 0, "output_tokens": 0}
    else:
        return None
    length = whole(option(argv, "--random-output-len"))
    cut = hit if kind == "cut" else 0
    return {"seen": n + warm, "probes": warm, "complete": n - hit, "short": 0, "cut": cut, "refused": hit if kind == "refused" else 0, "gone": 0,
            "output_tokens": (n - hit) * length + cut * 10}


def counters(path):
    """A scrape of /metrics as {name with labels: value}; None when the server had none."""
    if not os.path.exists(path):
        return None
    out = {}
    for line in text_of(path).splitlines():
        m = re.fullmatch(r"([a-zA-Z_:]+(?:\{.*\})?) ([0-9.eE+-]+)", line)
        if m and not line.startswith("#"):
            out[m.group(1)] = float(m.group(2))
    return out or None


def total(scrape, name, label=""):
    got = [v for k, v in scrape.items() if k.split("{")[0] == name and label in k]
    return sum(got) if got else None


def server_counters(case):
    """Deltas of the server's own counters over the run, warm-ups included."""
    pairs = []
    for i in ("", "_1", "_2"):
        a = counters(os.path.join(case, "metrics_before%s.txt" % i))
        b = counters(os.path.join(case, "metrics_after%s.txt" % i))
        if a and b:
            pairs.append((a, b))
    if not pairs:
        return None
    names = {"finished": ("vllm:request_success_total",), "generated": ("vllm:generation_tokens_total", "llamacpp:tokens_predicted_total"),
             "prompt": ("vllm:prompt_tokens_total",), "queries": ("vllm:prefix_cache_queries_total",),
             "hits": ("vllm:prefix_cache_hits_total", "llamacpp:prompt_tokens_cached_total"),
             "computed": ("llamacpp:prompt_tokens_total",)}
    out = {}
    for key, options in names.items():
        deltas = [total(b, o) - total(a, o) for a, b in pairs for o in options if total(a, o) is not None and total(b, o) is not None]
        out[key] = int(sum(deltas)) if deltas else None
    return out


READERS = (("vllm", vllm), ("llama-server", vllm), ("guidellm", guidellm), ("aiperf", aiperf), ("inference-perf", inference_perf),
           ("sglang", sglang), ("genai-bench", genai_bench), ("inferencebench", inferencebench))


def blind_spots(results, server):
    """What the server saw and the client's files do not say."""
    out = {}
    if not server or not results:
        return out
    r = results[0]
    if r["attempted"] is not None and server["seen"]:
        missing = server["seen"] - server["probes"] - r["attempted"]
        if missing:
            out["unrecorded"] = missing
    if r["succeeded"] is not None and r["succeeded"] > server["complete"]:
        out["cut_as_success"] = r["succeeded"] - server["complete"]
    if r["output_tokens"] is not None and "complete_tokens" in server:
        produced = server["output_tokens"] if "cut_as_success" in out else server["complete_tokens"]
        if r["output_tokens"] != produced:
            out["tokens_overstated"] = r["output_tokens"] - produced
    return out


def accounts(c):
    """Sentences about a case whose client and server cannot both be right, blind spots considered. None is the rule."""
    if not c["server"] or not c["results"] or not c["server"]["seen"] or c["client"].startswith("inferencebench"):
        return []
    r, q, blind, out = c["results"][0], c["server"], c["blind"], []
    if r["attempted"] is None:
        return []
    if r["attempted"] + blind.get("unrecorded", 0) != q["seen"] - q["probes"]:
        out.append("%d attempted, %d seen" % (r["attempted"], q["seen"] - q["probes"]))
    if r["failed"] + blind.get("unrecorded", 0) != q["refused"] + q["cut"] + q["gone"] - blind.get("cut_as_success", 0):
        out.append("%d failed, the server refused %d, cut %d and lost %d" % (r["failed"], q["refused"], q["cut"], q["gone"]))
    return out


def one_case(client, case):
    read = next((f for prefix, f in READERS if client.startswith(prefix)), None)
    if client == "llama-server-smollm2" and "guidellm" in os.path.basename(case):
        read = guidellm
    pairs = read(case)
    argv = words(case)
    server = server_log(client, case, argv) or fault_rule(client, case, argv)
    for r, n in pairs:
        r["numbers"] = n.rows
    results = [r for r, _ in pairs]
    return {"client": client, "case": os.path.basename(case), "results": results, "server": server, "counters": server_counters(case),
            "blind": blind_spots(results, server)}


def all_cases(sets):
    out = []
    for client in sorted(os.listdir(sets)):
        folder = os.path.join(sets, client)
        if os.path.isdir(folder):
            out += [one_case(client, os.path.join(folder, c)) for c in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, c))]
    return out


# Numbers that their client states wrongly: (client, case, key).
WRONG = {("genai-bench-0.0.5", "allfail", "/aggregated_metrics/num_error_requests"), ("genai-bench-0.0.5", "allfail", "/aggregated_metrics/num_requests")}


def agrees(row):
    """Does the client's number follow from its records?"""
    a, b = row["claimed"], row["derived"]
    if a is None or b is None:
        return b is None and not a  # undefined: the client leaves it out, or writes 0
    if row["tolerance"] == 0:
        return a == b
    near = lambda x: abs(a - x) <= row["tolerance"] * max(abs(a), abs(x), 1e-9)
    return near(b) or (row["either"] is not None and near(row["either"]))


def default_sets():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "clients", "sets")


def main():
    argv = [a for a in sys.argv[1:] if a != "--check"]
    cases = all_cases(argv[0] if argv else default_sets())
    if "--check" not in sys.argv:
        json.dump(cases, sys.stdout, indent=1)
        print()
        return 0
    bad = total_rows = 0
    for c in cases:
        for sentence in accounts(c):
            bad += 1
            print("%s/%s: %s" % (c["client"], c["case"], sentence))
        for r in c["results"]:
            for row in r["numbers"]:
                total_rows += 1
                if agrees(row) == ((c["client"], c["case"], row["key"]) in WRONG):
                    bad += 1
                    print("%s/%s %s: claimed %r, derived %r" % (c["client"], c["case"], row["key"], row["claimed"], row["derived"]))
    print("%d cases, %d numbers, %d differ" % (len(cases), total_rows, bad))
    return 1 if bad or not total_rows else 0


if __name__ == "__main__":
    sys.exit(main())
