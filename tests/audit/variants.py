#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthetic result sets, made from the real ones: faults that no set has, and shapes that people's folders have. The numbers of the
client are stated again from the changed records, so that only the intended fault is in them.

    variants.py TO     builds them below TO, <client>/<name>/"""
import copy
import json
import os
import random
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth  # noqa: E402

SETS = truth.default_sets()


class Variant:
    def __init__(self, client, name, base, change, counts, must=(), may=(), healthy=False, schema=None, note=None):
        self.client, self.name, self.base, self.change = client, name, base, change
        names = ("attempted", "succeeded", "failed", "short_output")
        self.want = {"schema": schema, "results": [dict(zip(names, c)) for c in counts], "server": None, "blind": {}, "must": list(must),
                     "may": list(may), "healthy": healthy, "note": note}


def must(ids, why, says=None, status="fail"):
    out = {"any": ids.split("|"), "status": status, "why": why}
    return dict(out, says=says) if says else out


def failures(bad, n):
    return must("A06|A07|A08", "%d of %d requests failed" % (bad, n), r"\b%d\b" % bad)


# ---- files of a folder under construction -----------------------------------------------------------------------------------

def results_of(folder, pattern):
    return truth.find(folder, pattern)


def load(path):
    text = truth.text_of(path)
    return [json.loads(x) for x in text.splitlines() if x.strip()] if path.endswith(".jsonl") else json.loads(text)


def store(path, value):
    text = "".join(json.dumps(x) + "\n" for x in value) if path.endswith(".jsonl") else json.dumps(value)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def put(doc, pointer, value):
    keys = pointer.strip("/").split("/")
    for k in keys[:-1]:
        doc = doc[k]
    doc[keys[-1]] = value


def restate(folder, reader):
    """Writes into the client's file what follows from its records."""
    for r, numbers in reader(folder):
        path = os.path.join(folder, r["file"])
        docs = load(path)
        for row in numbers.rows:
            put(docs[r["index"]] if isinstance(docs, list) else docs, row["key"], 0.0 if row["derived"] is None else row["derived"])
        store(path, docs)


def vllm_change(change):
    def do(folder):
        path = [p for p in results_of(folder, "*.json") if "num_prompts" in load(p)][0]
        d = load(path)
        change(d)
        store(path, d)
        restate(folder, truth.vllm)
        restate(folder, truth.vllm)  # rates follow from counts
    return do


def sglang_change(change):
    def do(folder):
        path = os.path.join(folder, "out.jsonl")
        docs = load(path)
        change(docs[0])
        store(path, docs)
        restate(folder, truth.sglang)
        docs = load(path)
        for d in docs:  # numbers that no record decides
            d["total_throughput"] = (d["total_input_tokens"] + d["total_output_tokens"]) / d["duration"]
            for name in ("e2e_latency", "tpot"):
                values = [1000 * (d["ttfts"][i] + sum(d["itls"][i])) if name == "e2e_latency" else 1000 * sum(d["itls"][i]) / (d["output_lens"][i] - 1)
                          for i in range(len(d["errors"])) if not d["errors"][i]]
                d["std_%s_ms" % name] = truth.std(values)
            d["concurrency"] = sum(d["ttfts"][i] + sum(d["itls"][i]) for i in range(len(d["errors"])) if not d["errors"][i]) / d["duration"]
        store(path, docs)
    return do


# ---- vLLM -------------------------------------------------------------------------------------------------------------------

def fail(d, which, error=""):
    for i in which:
        d["output_lens"][i], d["latencies"][i], d["ttfts"][i], d["itls"][i] = 0, 0.0, 0.0, []
        d["generated_texts"][i], d["errors"][i] = "", error


def silent_errors(d):
    d["errors"] = [""] * len(d["errors"])


def one_survivor(d):
    fail(d, [i for i in range(len(d["ttfts"])) if i != 3], "Internal Server Error")


def bundled(d):
    """Four tokens in a chunk: the times of three of four are lost."""
    for i, gaps in enumerate(d["itls"]):
        whole = []
        for k in range(3, len(gaps) + 1, 4):
            whole.append(sum(gaps[k - 3:k + 1]) if k < len(gaps) else sum(gaps[k - 3:]))
        rest = sum(gaps) - sum(whole)
        d["itls"][i] = whole[:-1] + [whole[-1] + rest]
        if "latencies" in d:
            d["latencies"][i] = d["ttfts"][i] + sum(d["itls"][i])


def slower_than_asked(d):
    d["request_rate"] = 20.0


def short_of_context(d):
    """The context is full after 24 tokens: all of them, and nothing says so."""
    for i in range(len(d["ttfts"])):
        d["output_lens"][i], d["itls"][i] = 24, d["itls"][i][:23]
        d["latencies"][i] = d["ttfts"][i] + sum(d["itls"][i])


def dead_server(d):
    n = len(d["ttfts"])
    fail(d, range(12, n), "Cannot connect to host")
    for i in range(12, n):
        d["start_times"][i] = max(d["start_times"][:12]) + 0.001 * i
    d["duration"] = d["duration"] + 1.2


def first_in_gaps(d):
    """The time to the first token stands among the gaps, too."""
    for i in range(len(d["ttfts"])):
        d["itls"][i].insert(0, d["ttfts"][i])


def no_failed_key(d):
    """An old file: 17 of 1000, and nobody says that there were more."""
    for key in ("failed", "latencies", "queue_times", "start_times", "rtfx", "max_concurrent_requests", "max_output_tokens_per_s", "backend", "ttfts",
                "itls", "input_lens", "output_lens", "generated_texts", "errors"):
        d.pop(key, None)


def lost(folder):
    path = [p for p in results_of(folder, "*.json") if "num_prompts" in load(p)][0]
    d = load(path)
    d["num_prompts"] = 1000
    no_failed_key(d)
    store(path, d)


# ---- SGLang -----------------------------------------------------------------------------------------------------------------

def sgl_fail(d):
    for i in range(0, 40, 3):
        d["output_lens"][i], d["ttfts"][i], d["itls"][i], d["generated_texts"][i] = 0, 0.0, [], ""
        d["errors"][i] = "Internal Server Error"
    ok = [i for i in range(40) if not d["errors"][i]]
    d["completed"] = len(ok)
    d["total_input_tokens"] = d["total_input_text_tokens"] = sum(d["input_lens"][i] for i in ok)
    d["total_output_tokens"] = d["total_output_tokens_retokenized"] = sum(d["output_lens"])


def sgl_bundled(d):
    bundled(d)


def sgl_zero_ttft(d):
    """Every twentieth TTFT was not measured and is written as 0."""
    for i in range(0, 40, 10):
        d["itls"][i].append(d["ttfts"][i])
        d["ttfts"][i] = 0.0


# ---- others: records are added, so that the statistics of the successful ones stay ---------------------------------------------

def aiperf_500(folder):
    path = results_of(folder, "**/profile_export.jsonl")[0]
    rows = load(path)
    bad = load(results_of(os.path.join(SETS, "aiperf-0.13.0", "allfail"), "**/profile_export.jsonl")[0])[:8]
    store(path, rows + bad)
    path = results_of(folder, "**/profile_export_aiperf.json")[0]
    d = load(path)
    d["error_request_count"] = {"unit": "requests", "avg": 8.0}
    d["completed_request_count"]["avg"] = 48.0
    d["request_error_rate"]["avg"] = 100 * 8 / 48
    d["error_summary"] = [{"error_details": bad[0]["error"], "count": 8}]
    h = d["credit_to_start_latency"]  # of all requests, whatever became of them
    values = [(float(r["metadata"]["request_start_ns"]) - float(r["metadata"]["credit_issued_ns"])) / 1e6 for r in rows + bad]
    for word, what in truth.AIPERF_WORDS.items():
        h[word] = {"mean": truth.mean, "std": truth.std, "min": min, "max": max}[what](values) if isinstance(what, str) else truth.linear(values, what)
    h.update(count=len(values), sum=sum(values))
    store(path, d)


def aiperf_less(folder):
    """A record is missing: the summary counts 40, the records are 39."""
    path = results_of(folder, "**/profile_export.jsonl")[0]
    store(path, load(path)[1:])


def aiperf_uneven(folder):
    """One record says another inter-token latency than its own times and length."""
    path = results_of(folder, "**/profile_export.jsonl")[0]
    rows = load(path)
    rows[7]["metrics"]["inter_token_latency"]["value"] *= 0.98
    store(path, rows)


def guide_cut(folder):
    """A time limit: four requests cut off, four more created and never sent."""
    path = results_of(folder, "benchmarks.json")[0]
    d = load(path)
    b = d["benchmarks"][0]
    for r in copy.deepcopy(b["requests"]["successful"][-4:]):
        r["info"]["status"] = "cancelled"
        r["info"]["timings"]["request_end"] = None
        for key in ("request_latency", "time_per_output_token_ms"):
            r[key] = None
        b["requests"]["incomplete"].append(r)
    b["metrics"]["request_totals"].update(incomplete=4, total=44)
    b["scheduler_state"].update(created_requests=48, processed_requests=48, cancelled_requests=8)
    store(path, d)


def guide_sweep(folder):
    """Two measurements in one file, without bodies."""
    path = results_of(folder, "benchmarks.json")[0]
    d = load(path)
    other = load(os.path.join(SETS, "guidellm-0.8.1", "fail20", "benchmarks.json"))
    d["benchmarks"].append(other["benchmarks"][0])
    for b in d["benchmarks"]:
        for kind in b["requests"].values():
            for r in kind or []:
                r["request_args"] = r["output"] = None
    store(path, d)


def genai_stream_errors(folder):
    path = [p for p in results_of(folder, "**/D64*.json")][0]
    d = load(path)
    bad = copy.deepcopy(d["individual_request_metrics"][0])
    bad.update({k: None for k in bad}, error_code=-1, error_message="injected midstream")
    d["individual_request_metrics"] += [dict(bad) for _ in range(20)]
    a = d["aggregated_metrics"]
    a.update(num_requests=64, num_error_requests=20, error_codes_frequency={"-1": 20}, error_rate=20 / 64)
    store(path, d)


def perf_early(folder):
    """Answers end early, and the client counts them right."""
    per = results_of(folder, "**/per_request_lifecycle_metrics.json")[0]
    rows = load(per)
    rng = random.Random(5)
    for r in rows[::2]:
        m = r["info"]["response_metrics"]
        n = rng.randrange(4, 12)
        m["output_tokens"], m["output_token_times"], m["chunk_times"] = n, m["output_token_times"][:n], m["chunk_times"][:n]
        m["server_usage"].update(completion_tokens=n, total_tokens=n + m["server_usage"]["prompt_tokens"])
        r.pop("computed_metrics", None)
    store(per, rows)
    for path in results_of(folder, "**/stage_0*") + results_of(folder, "**/*partial*") + results_of(folder, "**/validation.json"):
        os.remove(path)
    restate(folder, truth.inference_perf)
    path = results_of(folder, "**/summary_lifecycle_metrics.json")[0]
    d = load(path)
    out = [r["info"]["response_metrics"]["output_tokens"] for r in rows]
    rate = d["successes"]["throughput"]
    rate["total_tokens_per_sec"] = rate["input_tokens_per_sec"] + rate["output_tokens_per_sec"]
    for name in ("output_len", "output_tokens"):
        h = d["successes"][name]
        for word, what in truth.PERF_WORDS.items():
            if word in h:
                h[word] = truth.mean(out) if what == "mean" else min(out) if what == "min" else max(out) if what == "max" else truth.linear(out, what)
        if "total" in h:
            h["total"] = float(sum(out))
    store(path, d)


# ---- shapes -----------------------------------------------------------------------------------------------------------------

def rewrite(pattern, change):
    def do(folder):
        for path in results_of(folder, pattern):
            with open(path, "rb") as f:
                data = f.read()
            with open(path, "wb") as f:
                f.write(change(data))
    return do


def log_lines(data):
    lines = data.split(b"\n")
    lines.insert(3, b"2026-11-30 16:20:00 WARNING slow consumer")
    return b"\n".join(lines)


def renamed(folder):
    """Nobody recognises a file by its name."""
    path = [p for p in results_of(folder, "*.json") if "num_prompts" in load(p)][0]
    os.mkdir(os.path.join(folder, "deep"))
    os.rename(path, os.path.join(folder, "deep", "final (1).json"))


SERVED = "vllm-bench/python"
FEW = ["A15", "A18"]  # few requests are left: the run is mostly idle
VARIANTS = (
    Variant("vllm", "errors_all_empty", "vllm/20_mix_http500", vllm_change(silent_errors), [(30, 21, 9, 0)], [failures(9, 30)], schema=SERVED),
    Variant("vllm", "one_of_thirty", "vllm/25_no_usage", vllm_change(one_survivor), [(10, 1, 9, 0)],
            [failures(9, 10), must("A09|A11", "a spread of 0.0 and percentiles of one sample")], FEW + ["A09"], schema=SERVED),
    Variant("vllm", "bundled_chunks", "vllm/25_no_usage", vllm_change(bundled), [(10, 10, 0, 0)], [must("A12", "a gap is four tokens: ITL 4 times the TPOT")],
            ["A18"], schema=SERVED),
    Variant("vllm", "rate_not_achieved", "vllm/16_cache_cold", vllm_change(slower_than_asked), [(16, 16, 0, 0)],
            [must("A14", "20 requests/s asked, 8 achieved", r"20|8\.")], ["A12", "A18", "A19"], schema=SERVED),
    Variant("vllm", "context_full", "vllm/R1_rust_ok_fake", vllm_change(short_of_context), [(30, 30, 0, 30)],
            [must("A16", "24 tokens of 64 asked")], ["A15"], schema="vllm-bench/rust"),
    Variant("vllm", "server_died", "vllm/20_mix_http500", vllm_change(dead_server), [(30, 9, 21, 0)], [failures(21, 30)],
            FEW, schema=SERVED),
    Variant("vllm", "first_token_in_gaps", "vllm/25_no_usage", vllm_change(first_in_gaps), [(10, 10, 0, 0)],
            [must("A12", "the TTFT stands among the gaps")], ["A18", "A13", "A15"], schema=SERVED),
    Variant("vllm", "lost_983", "vllm/20_mix_http500", lost, [(1000, 21, None, None)],
            [must("A07", "21 of 1000, and no word of failures", r"21|979")], ["A08", "A11"], schema="vllm-bench/python"),
    Variant("sglang-bench-0.5.23", "fail14", "sglang-bench-0.5.23/conc4", sglang_change(sgl_fail), [(40, 26, 14, 0)], [failures(14, 40)],
            FEW, schema="sglang"),
    Variant("sglang-bench-0.5.23", "bundled_chunks", "sglang-bench-0.5.23/rate5", sglang_change(sgl_bundled), [(30, 30, 0, None)],
            [must("A12", "a gap is four tokens: ITL 4 times the TPOT")], ["A16"], schema="sglang"),
    Variant("sglang-bench-0.5.23", "zero_ttft", "sglang-bench-0.5.23/conc4", sglang_change(sgl_zero_ttft), [(40, None, None, 0)],
            [must("A08|A09", "4 TTFT of 0.0 in the mean", r"\b4\b")], ["A08", "A09", "A10", "A12"], schema="sglang"),
    Variant("aiperf-0.13.0", "http500", "aiperf-0.13.0/conc4", aiperf_500, [(48, 40, 8, 0)], [failures(8, 48)], ["A07", "A13", "A15", "A18"], schema="aiperf/"),
    Variant("aiperf-0.13.0", "record_missing", "aiperf-0.13.0/conc4", aiperf_less, [(39, 39, 0, 0)], [must("A10", "40 stated, 39 recorded")],
            ["A07", "A18"], schema="aiperf/"),
    Variant("aiperf-0.13.0", "record_contradicts_itself", "aiperf-0.13.0/conc4", aiperf_uneven, [(40, 40, 0, 0)],
            [must("A10", "an inter-token latency that is not (latency - ttft) / (n - 1)")], ["A18"], schema="aiperf/"),
    Variant("guidellm-0.8.1", "cut_off", "guidellm-0.8.1/conc4", guide_cut, [(44, 40, 0, 0)], [must("A07", "48 created, 44 recorded", r"48|\b4\b")],
            ["A08", "A12", "A15", "A20"], schema="guidellm/"),
    Variant("guidellm-0.8.1", "two_in_one_file", "guidellm-0.8.1/conc4", guide_sweep, [(40, 40, 0, None), (40, 35, 5, None)], [failures(5, 40)],
            ["A12", "A17", "A21"], schema="guidellm/"),
    Variant("genai-bench-0.0.5", "stream_errors", "genai-bench-0.0.5/conc4", genai_stream_errors, [(64, 44, 20, 0)], [failures(20, 64)], ["A06", "A07", "A18"],
            schema="genai-bench"),
    Variant("inference-perf-0.7.0", "early", "inference-perf-0.7.0/conc4", perf_early, [(40, 40, 0, 20)], [must("A16", "answers of 4 to 11 of 32 tokens")],
            ["A14", "A15", "A18"], schema="inference-perf/"),
    Variant("aiperf-0.13.0", "log_line_among_records", "aiperf-0.13.0/conc4", rewrite("**/profile_export.jsonl", log_lines), [(40, 40, 0, 0)],
            [must("A03", "a line that is no record", status="any")], ["A03", "A18"], schema="aiperf/"),
    Variant("aiperf-0.13.0", "carriage_returns", "aiperf-0.13.0/conc4", rewrite("**/profile_export.jsonl", lambda b: b.replace(b"\n", b"\r\n")),
            [(40, 40, 0, 0)], (), ["A18"], True, schema="aiperf/"),
    Variant("vllm", "byte_order_mark", "vllm/25_no_usage", rewrite("*.json", lambda b: b"\xef\xbb\xbf" + b), [(10, 10, 0, 0)], (), ["A03", "A18"], True,
            schema=SERVED),
    Variant("vllm", "other_name", "vllm/25_no_usage", renamed, [(10, 10, 0, 0)], (), ["A18"], True, schema=SERVED),
)


def build(to):
    """{key: expectations}, the folders below to."""
    out = {}
    for v in VARIANTS:
        folder = os.path.join(to, v.client, v.name)
        shutil.copytree(os.path.join(SETS, v.base), folder)
        for root, _, names in os.walk(folder):
            os.chmod(root, 0o755)
            for name in names:
                os.chmod(os.path.join(root, name), 0o644)
        for name in ("server_truth.jsonl", "server_args.txt"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        v.change(folder)
        out[v.client + "/" + v.name] = v.want
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.stderr.write(__doc__)
        sys.exit(2)
    for key in build(sys.argv[1]):
        print(key)
