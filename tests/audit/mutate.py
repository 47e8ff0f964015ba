#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeded changes of healthy result sets, one at a time: does ib-verify see each?

    mutate.py IB-VERIFY [N [SEED]]   makes N changes (default 1000); prints TAP, one line a set; IB_SEED repeats one of them
    mutate.py --list [N [SEED]]      what would be changed

A change is caught when a finding fails at level E or W, or the file is refused, that the set written again without a change has
not. The classes that nothing can catch were written down before the first run (UNSEEN below, and the README); they may be at most
a tenth of the changes. All others must be caught."""
import copy
import json
import os
import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import audit  # noqa: E402
import truth  # noqa: E402

UNSEEN = {
    "start moved a little": "a start time decides no statistic that the client states; moved by less than the run is longer than its requests, "
                            "it contradicts nothing (vLLM, AIPerf)",
    "token in the middle": "the mean of all gaps does not change when a token between the first and the last moves, a percentile need not "
                           "(inference-perf)",
    "queue time": "a wait in the client's queue enters no statistic unless its percentiles were asked for (vLLM)",
    "date": "when a run took place stands in one place, in the client's own words (vLLM)",
    "text": "a prompt or an answer of another wording, with its token count unchanged",
    "identity": "the name of a model, a tokenizer or a backend: the client wrote what it was told",
    "number without records": "peaks, delays and sizes whose raw data the client does not keep (SGLang's peaks, inference-perf's schedule delay)",
    "within the tolerance": "SGLang's e2e and TPOT only re-derive to 2e-3 or worse: it keeps no request latency; less than that is not seen. "
                            "Nor is a raw value by which the mean moves less than 1e-12",
    "raw of an envelope": "InferenceBench states p50 and p99 alone: another sample moves neither",
}
FACTORS = (1 - 1e-3, 1 + 1e-3, 0.98, 1.02, 1.2, 0.5, 2.0, 10.0, 0.1)
COARSE = (0.9, 1.1, 1.2, 0.5, 2.0, 10.0, 0.1)


class Change:
    """One change: of which kind, where, and how; do() carries it out on the parsed files."""

    def __init__(self, kind, where, do, unseen=None):
        self.kind, self.where, self.do, self.unseen = kind, where, do, unseen


# ---- ways of changing a value -----------------------------------------------------------------------------------------------

def scaled(rng, kind, holder, key, where, factors=FACTORS, unseen=None):
    """A number times a factor; where it is 0, a number instead."""
    factor = rng.choice(factors)
    old = holder[key]
    if kind == "raw" and old and abs(old * (factor - 1)) < 1e-7:
        factor = 10.0  # a tenth of a microsecond among a thousand gaps is within 1e-12 of their mean

    def do():
        holder[key] = old * factor if old else 0.5
    return Change(kind, "%s x %g" % (where, factor), do, unseen)


def stepped(rng, kind, holder, key, where, unseen=None):
    """A count a few more or less, never below 0."""
    old = holder[key]
    step = rng.choice([s for s in (-5, -2, -1, 1, 2, 7) if old + s >= 0])

    def do():
        holder[key] = old + step
    return Change(kind, "%s %+d" % (where, step), do, unseen)


def moved(kind, holder, key, where, by, unseen=None):
    old = holder[key]

    def do():
        holder[key] = old + by
    return Change(kind, "%s %+g" % (where, by), do, unseen)


def replaced(kind, holder, key, where, new, unseen=None):
    def do():
        holder[key] = new
    return Change(kind, "%s = %r" % (where, new), do, unseen)


def record(rng, lists, where):
    """One record less, or one twice; lists: all that are indexed by the record."""
    i, twice = rng.randrange(len(lists[0])), rng.random() < 0.5

    def do():
        for v in lists:
            if twice:
                v.insert(i, copy.deepcopy(v[i]))
            else:
                del v[i]
    return Change("record", "%s %d %s" % (where, i, "twice" if twice else "left out"), do)


# ---- the clients: each gives {class: [maker]}; a maker draws one change -------------------------------------------------------

def some(rng, makers):
    return rng.choice(makers)()


def vllm(rng, files):
    path = next(p for p in files if isinstance(files[p], dict) and "num_prompts" in files[p])
    d = files[path]
    n = len(d["ttfts"])
    i = rng.randrange(n)
    stated = [k for k in d if re.fullmatch(r"(mean|median|std|p[0-9.]+)_(ttft|tpot|itl|e2el)_ms", k)]
    rates = ["request_throughput", "output_throughput", "total_token_throughput"]
    busy = [j for j in range(n) if d["itls"][j]]
    j = rng.choice(busy)
    k = rng.randrange(len(d["itls"][j]))
    arrays = [d[a] for a in ("ttfts", "itls", "input_lens", "output_lens", "latencies", "queue_times", "start_times", "generated_texts", "errors")
              if isinstance(d.get(a), list)]
    late = d["duration"] * rng.uniform(2, 10)
    out = {
        "headline": [lambda: scaled(rng, "headline", d, rng.choice(stated + rates), "headline")],
        "raw": [lambda: scaled(rng, "raw", d["ttfts"], i, "ttfts[%d]" % i), lambda: scaled(rng, "raw", d["latencies"], i, "latencies[%d]" % i),
                lambda: scaled(rng, "raw", d["itls"][j], k, "itls[%d][%d]" % (j, k))],
        "count": [lambda: stepped(rng, "count", d, rng.choice(["completed", "failed", "num_prompts", "total_input_tokens", "total_output_tokens"]), "count")],
        "time": [lambda: scaled(rng, "time", d, "duration", "duration"), lambda: moved("time", d["start_times"], i, "start_times[%d]" % i, late)],
        "length": [lambda: stepped(rng, "length", d["output_lens"], i, "output_lens[%d]" % i),
                   lambda: stepped(rng, "length", d["input_lens"], i, "input_lens[%d]" % i)],
        "record": [lambda: record(rng, arrays, "record")],
        "unseen": [lambda: moved("time", d["start_times"], i, "start_times[%d]" % i, d["duration"] * 1e-4, "start moved a little"),
                   lambda: replaced("text", d["generated_texts"], i, "generated_texts[%d]" % i, " la la", "text"),
                   lambda: replaced("identity", d, "model_id", "model_id", "another-model", "identity"),
                   lambda: replaced("time", d, "date", "date", d["date"][:-3] + "%02d" % rng.randrange(60) + d["date"][-1:], "date")],
    }
    if "queue_times" in d:
        out["unseen"].append(lambda: scaled(rng, "raw", d["queue_times"], i, "queue_times[%d]" % i, unseen="queue time"))
    return out


def guidellm(rng, files):
    path = next(p for p in files if os.path.basename(p).startswith("benchmarks.json"))
    d = files[path]
    b = d["benchmarks"][0]
    m, ok = b["metrics"], b["requests"]["successful"]
    i = rng.randrange(len(ok))
    r = ok[i]
    meta = d.get("metadata") or {}
    old = not meta
    times = r if old else r["info"]["timings"]
    names = ("start_time", "first_token_time", "last_token_time", "end_time") if old else \
        ("request_start", "first_token_iteration", "last_token_iteration", "request_end")
    series = ("time_to_first_token_ms", "inter_token_latency_ms", "time_per_output_token_ms", "request_latency")
    totals = b["request_totals"] if old else m["request_totals"]
    by = rng.choice((-1, 1)) * rng.uniform(0.002, 0.02)

    def headline():
        if rng.random() < 0.25:
            rates = ["requests_per_second", "output_tokens_per_second"] + (["tokens_per_second"] if meta.get("version") == 2 else [])
            return scaled(rng, "headline", m[rng.choice(rates)]["successful"], "mean", "rate", COARSE if old else FACTORS)
        s = m[rng.choice(series)]["successful"]
        word = rng.choice(["mean", "p50", "p90", "p95", "p99"])
        return scaled(rng, "headline", s if word == "mean" else s["percentiles"], word, "statistic " + word)

    def length():
        step = rng.choice([-7, -2, -1, 1, 5])

        def do():
            r["output_tokens"] += step
            om = r.get("output_metrics")
            if om:
                for key in ("text_tokens", "total_tokens"):
                    if om.get(key) is not None:
                        om[key] += step
            if r.get("total_tokens") is not None:
                r["total_tokens"] += step
        return Change("length", "output tokens of %d %+d" % (i, step), do)
    return {
        "headline": [headline],
        "raw": [lambda: moved("raw", times, rng.choice(names), "time of record %d" % i, by)],
        "count": [lambda: stepped(rng, "count", totals, rng.choice(["successful", "errored", "total"]), "request_totals")],
        "time": [lambda: scaled(rng, "time", b, "duration", "duration", COARSE),
                 lambda: moved("time", b, rng.choice(["start_time", "end_time"]), "start or end", b["duration"] * rng.choice([-0.3, 0.3, 2.0, -2.0]))],
        "length": [length],
        "record": [lambda: record(rng, [ok], "record")],
        "unseen": [lambda: replaced("text", r, "output", "output[%d]" % i, " la la", "text")],
    }


def aiperf(rng, files):
    path = next(p for p in files if p.endswith("profile_export_aiperf.json"))
    rows = next(files[p] for p in files if p.endswith("profile_export.jsonl"))
    d = files[path]
    i = rng.randrange(len(rows))
    r = rows[i]
    metrics = r["metrics"]
    tags = [t for t in ("request_latency", "time_to_first_token", "inter_token_latency", "output_sequence_length", "input_sequence_length", "inter_chunk_latency")
            if t in d]
    raw = [t for t in ("request_latency", "time_to_first_token", "inter_token_latency") if t in metrics]

    def headline():
        if rng.random() < 0.2:
            return scaled(rng, "headline", d[rng.choice(["request_throughput", "output_token_throughput"])], "avg", "rate")
        tag = rng.choice(tags)
        words = [w for w in truth.AIPERF_WORDS if d[tag].get(w)]
        return scaled(rng, "headline", d[tag], rng.choice(words), tag)

    def chunk():
        v = metrics.get("inter_chunk_latency")
        if not v or not v["value"]:
            return scaled(rng, "raw", metrics["request_latency"], "value", "request_latency[%d]" % i)
        return scaled(rng, "raw", v["value"], rng.randrange(len(v["value"])), "inter_chunk_latency[%d]" % i)

    def window():
        h = rng.choice([1, 2])
        text = d["end_time"]
        new = re.sub(r"T(\d\d)", lambda m: "T%02d" % min(23, int(m.group(1)) + h), text)
        return replaced("time", d, "end_time", "end_time", new)
    far = int(d["benchmark_duration"]["avg"] * rng.uniform(2, 9) * 1e9)
    return {
        "headline": [headline],
        "raw": [lambda: (lambda t: scaled(rng, "raw", metrics[t], "value", "%s[%d]" % (t, i)))(rng.choice(raw)), chunk],
        "count": [lambda: stepped(rng, "count", d[rng.choice(["request_count", "completed_request_count", "total_osl", "total_isl"])], "avg", "count")],
        "time": [lambda: scaled(rng, "time", d["benchmark_duration"], "avg", "benchmark_duration"), window,
                 lambda: moved("time", r["metadata"], "request_start_ns", "request_start_ns[%d]" % i, far)],
        "length": [lambda: stepped(rng, "length", metrics[rng.choice(["output_sequence_length", "input_sequence_length"])], "value", "length[%d]" % i)],
        "record": [lambda: record(rng, [rows], "record")],
        "unseen": [lambda: moved("time", r["metadata"], "request_start_ns", "request_start_ns[%d]" % i, 1000, "start moved a little"),
                   lambda: replaced("identity", d["input_config"], "tokenizer", "tokenizer", {"name": "another"}, "identity")],
    }


def inference_perf(rng, files):
    d = next(files[p] for p in files if p.endswith("summary_lifecycle_metrics.json"))
    rows = next(files[p] for p in files if "per_request_lifecycle_metrics.json" in p)
    i = rng.randrange(len(rows))
    r = rows[i]
    s, answer = d["successes"], r["info"]["response_metrics"]
    times = answer["output_token_times"]
    k = rng.randrange(1, len(times) - 1)
    by = rng.choice((-1, 1)) * rng.uniform(0.002, 0.02)

    def headline():
        if rng.random() < 0.2:
            return scaled(rng, "headline", s["throughput"], rng.choice(["requests_per_sec", "output_tokens_per_sec"]), "rate")
        name = rng.choice(list(s["latency"]))
        return scaled(rng, "headline", s["latency"][name], rng.choice(list(truth.PERF_WORDS)), name)
    return {
        "headline": [headline],
        "raw": [lambda: moved("raw", r, rng.choice(["start_time", "end_time"]), "start or end of %d" % i, by),
                lambda: moved("raw", times, rng.choice([0, len(times) - 1]), "first or last token of %d" % i, by)],
        "count": [lambda: (lambda h: stepped(rng, "count", h, "count", "count"))(rng.choice([d["load_summary"], s, d["failures"]]))],
        "time": [lambda: scaled(rng, "time", d, "benchmark_time_seconds", "benchmark_time_seconds")],
        "length": [lambda: stepped(rng, "length", answer, "output_tokens", "output_tokens[%d]" % i)],
        "record": [lambda: record(rng, [rows], "record")],
        "unseen": [lambda: scaled(rng, "headline", d["load_summary"]["schedule_delay"], "mean", "schedule_delay", unseen="number without records"),
                   lambda: moved("raw", times, k, "token %d of %d" % (k, i), by, "token in the middle")],
    }


def sglang(rng, files):
    d = next(files[p] for p in files if p.endswith("out.jsonl"))[0]
    n = len(d["ttfts"])
    i = rng.randrange(n)
    k = rng.randrange(len(d["itls"][i]))
    exact = [k2 for k2 in d if re.fullmatch(r"(mean|median|std|p\d+)_(ttft|itl)_ms", k2)]
    near = [k2 for k2 in d if re.fullmatch(r"(mean|median|p\d+)_(e2e_latency|tpot)_ms", k2)]
    rates = ["request_throughput", "output_throughput", "total_throughput"]
    arrays = [d[a] for a in ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors")]

    def headline():
        if rng.random() < 0.3:
            return scaled(rng, "headline", d, rng.choice(near), "e2e or TPOT", COARSE)
        return scaled(rng, "headline", d, rng.choice(exact + rates), "headline")
    return {
        "headline": [headline],
        "raw": [lambda: scaled(rng, "raw", d["ttfts"], i, "ttfts[%d]" % i), lambda: scaled(rng, "raw", d["itls"][i], k, "itls[%d][%d]" % (i, k))],
        "count": [lambda: stepped(rng, "count", d, rng.choice(["completed", "total_input_tokens", "total_output_tokens"]), "count")],
        "time": [lambda: scaled(rng, "time", d, "duration", "duration")],
        "length": [lambda: stepped(rng, "length", d["output_lens"], i, "output_lens[%d]" % i),
                   lambda: stepped(rng, "length", d["input_lens"], i, "input_lens[%d]" % i)],
        "record": [lambda: record(rng, arrays, "record")],
        "unseen": [lambda: scaled(rng, "headline", d, "max_output_tokens_per_s", "max_output_tokens_per_s", unseen="number without records"),
                   lambda: scaled(rng, "headline", d, rng.choice(near), "e2e or TPOT", (1 + 1e-5, 1 - 1e-5), "within the tolerance"),
                   lambda: replaced("text", d["generated_texts"], i, "generated_texts[%d]" % i, " la la", "text")],
    }


def genai(rng, files):
    d = next(files[p] for p in files if "aggregated_metrics" in files[p])
    a, rows = d["aggregated_metrics"], d["individual_request_metrics"]
    i = rng.choice([x for x in range(len(rows)) if rows[x]["tpot"] is not None])
    r = rows[i]

    def headline():
        if rng.random() < 0.2:
            return scaled(rng, "headline", a, rng.choice(["requests_per_second", "mean_output_throughput_tokens_per_s"]), "rate")
        name = rng.choice(["ttft", "tpot", "e2e_latency"])
        return scaled(rng, "headline", a["stats"][name], rng.choice([w for w in truth.GENAI_WORDS]), name)
    return {
        "headline": [headline],
        "raw": [lambda: scaled(rng, "raw", r, rng.choice(["ttft", "tpot", "e2e_latency"]), "record %d" % i)],
        "count": [lambda: stepped(rng, "count", a, rng.choice(["num_requests", "num_completed_requests", "num_error_requests"]), "count")],
        "time": [lambda: scaled(rng, "time", a, "run_duration", "run_duration")],
        "length": [lambda: stepped(rng, "length", r, "num_output_tokens", "num_output_tokens[%d]" % i)],
        "record": [lambda: record(rng, [rows], "record")],
        "unseen": [lambda: replaced("identity", a, "scenario", "scenario", "D(64, 32)", "identity")],
    }


def inferencebench(rng, files):
    d = next(files[p] for p in files if p.endswith("envelope.json"))
    rows = next(files[p] for p in files if p.endswith("samples.jsonl"))
    m = d["metrics"]
    r = rng.choice(rows)
    inner = sorted(rows, key=lambda x: x["total_ms"])[1]
    return {
        "headline": [lambda: scaled(rng, "headline", m, rng.choice(["ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "total_p50_ms", "total_p99_ms",
                                                                   "throughput_tok_per_s", "req_per_s_all"]), "headline")],
        "count": [lambda: scaled(rng, "count", m, "ok_rate", "ok_rate", (0.5, 0.9))],
        "length": [lambda: stepped(rng, "length", r, "tokens_out", "tokens_out")],
        "record": [lambda: record(rng, [rows], "record")],
        "unseen": [lambda: scaled(rng, "raw", inner, "total_ms", "total_ms of a sample between the middle and the end", (0.999, 1.001), "raw of an envelope")],
    }


def torn(rng, paths):
    """The end of a result file is missing: of one whose loss is seen by its grammar."""
    return rng.choice(paths), rng.uniform(0.05, 0.98)


# Sets and how often; each is read by its client's changer above.
FIXTURES = (
    ("vllm/03_c4_fresh_seed", vllm, 3), ("vllm/11_goodput", vllm, 2), ("vllm/25_no_usage", vllm, 2), ("vllm/R1_rust_ok_fake", vllm, 3),
    ("llama-server-smollm2/rs-c1-cold-r1", vllm, 2), ("guidellm-0.8.1/conc4", guidellm, 3), ("guidellm-0.8.1/sync_default", guidellm, 2),
    ("guidellm-0.6.1/conc4", guidellm, 2), ("guidellm-0.3.1/conc4", guidellm, 1), ("aiperf-0.13.0/conc4", aiperf, 4),
    ("inference-perf-0.7.0/conc4", inference_perf, 3), ("inference-perf-0.7.0/perreq_full", inference_perf, 1), ("sglang-bench-0.5.23/conc4", sglang, 2),
    ("sglang-bench-0.5.23/rate5", sglang, 2), ("genai-bench-0.0.5/conc4", genai, 3), ("inferencebench-0.1.0/good", inferencebench, 1),
)
CLASSES = (("headline", 28), ("raw", 24), ("count", 12), ("time", 8), ("length", 10), ("record", 8), ("torn", 3), ("unseen", 7))


def weighted(rng, pairs):
    at = rng.uniform(0, sum(w for _, w in pairs))
    for value, w in pairs:
        at -= w
        if at <= 0:
            return value
    return pairs[-1][0]


# ---- files ------------------------------------------------------------------------------------------------------------------

SKIPPED = {"server_truth.jsonl", "server_args.txt", "benchmarks.csv", "profile_export_console.txt", "README.md", "validation.json"}


class Set:
    """One result set in memory: its parsed files, and the bytes of the others."""

    def __init__(self, key):
        self.key, self.parsed, self.bytes = key, {}, {}
        top = os.path.join(audit.SETS, key)
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                rel = os.path.relpath(path, top)
                if name in SKIPPED:
                    continue
                bare = re.sub(r"\.(gz|zst)$", "", rel)
                if bare.endswith((".json", ".jsonl")) and "inputs.json" not in rel and "partial" not in rel:
                    text = truth.text_of(path)
                    self.parsed[bare] = [json.loads(x) for x in text.splitlines() if x.strip()] if bare.endswith(".jsonl") else json.loads(text)
                else:
                    with open(path, "rb") as f:
                        self.bytes[rel] = f.read()

    def write(self, to, parsed, cut=None):
        for rel, data in self.bytes.items():
            self.put(to, rel, data)
        for rel, value in parsed.items():
            text = "".join(json.dumps(x) + "\n" for x in value) if rel.endswith(".jsonl") else json.dumps(value)
            data = text.encode()
            if cut and cut[0] == rel:
                data = data[:max(1, int(len(data) * cut[1]))]
                if rel.endswith(".jsonl") and data.endswith(b"}"):
                    data = data[:-1]
                data = data.rstrip(b"\n")
            self.put(to, rel, data)

    @staticmethod
    def put(to, rel, data):
        path = os.path.join(to, rel)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


def draw(seed, sets):
    """The change of a seed: (key, files to write, cut, change)."""
    rng = random.Random(seed)
    key, changer = weighted(rng, [((k, f), w) for k, f, w in FIXTURES])
    if key not in sets:
        sets[key] = Set(key)
    files = copy.deepcopy(sets[key].parsed)
    kind = weighted(rng, CLASSES)
    makers = changer(rng, files)
    if kind == "torn":
        cut = torn(rng, sorted(p for p in files if is_result(p)))
        return key, files, cut, Change("torn", "%s at %.2f" % cut, lambda: None)
    if kind not in makers:
        kind = "headline"
    change = some(rng, makers[kind])
    change.do()
    return key, files, None, change


def is_result(path):
    name = os.path.basename(path)
    return not name.startswith(("stage_", "experiment_metadata", "reset_response"))


# ---- judging ----------------------------------------------------------------------------------------------------------------

def marks(doc, rc):
    """What fails, as a set that two documents can be compared by."""
    if doc is None:
        return {("refused", rc)}
    out = {(f["id"], f["level"], f["file"], f["where"], f["message"] if f["level"] == "E" else None) for f in audit.failing(doc)}
    if rc == 4:
        out.add(("refused", rc))
    return out


def look(tool, one, files, cut, work):
    path = os.path.join(work, "case")
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    one.write(path, files, cut)
    rc, doc, err = audit.verify(tool, path)
    if rc < 0 or rc > 4 or (doc is None and rc not in (3, 4)):
        return None, "exit status %d: %s" % (rc, err.strip()[:200])
    return marks(doc, rc), None


def run(tool, n, first):
    tap, sets, plain, tally, faults = audit.Tap(), {}, {}, {}, {k: [] for k, _, _ in FIXTURES}
    unseen, seen_anyway = 0, 0
    with tempfile.TemporaryDirectory(prefix="ib-mutate-") as work:
        for seed in range(first, first + n):
            key, files, cut, change = draw(seed, sets)
            if key not in plain:
                plain[key], why = look(tool, sets[key], sets[key].parsed, None, work)
                if why:
                    tap.ok("%s without a change: %s" % (key, why), [why])
                    plain[key] = set()
            got, why = look(tool, sets[key], files, cut, work)
            caught = why is None and bool(got - plain[key])
            if why:
                faults[key].append("seed %d: %s: %s: %s" % (seed, change.kind, change.where, why))
            if change.unseen:
                unseen += 1
                seen_anyway += caught
                continue
            row = tally.setdefault((key.split("/")[0], change.kind), [0, 0])
            row[0] += 1
            row[1] += caught
            if not caught and not why:
                faults[key].append("seed %d: %s: %s" % (seed, change.kind, change.where))
    for key, _, _ in FIXTURES:
        tap.ok("%s: every change that can be caught is caught" % key, faults[key])
    total, caught = sum(r[0] for r in tally.values()), sum(r[1] for r in tally.values())
    share = unseen / n
    for (client, kind), (a, c) in sorted(tally.items()):
        print("# %-22s %-9s %d of %d" % (client, kind, c, a))
    print("# %d changes: %d caught of %d that can be; %d (%.1f %%) of classes that cannot, %d of these caught all the same"
          % (n, caught, total, unseen, 100 * share, seen_anyway))
    tap.ok("at most a tenth of the changes is of classes that cannot be caught", [] if share <= 0.1 or n < 100 else ["%.1f %%" % (100 * share)])
    return tap.end()


def main():
    argv = sys.argv[1:]
    if not argv:
        sys.stderr.write(__doc__)
        return 2
    n = int(argv[1]) if len(argv) > 1 else 1000
    first = int(argv[2]) if len(argv) > 2 else 0
    if os.environ.get("IB_SEED"):
        first, n = int(os.environ["IB_SEED"]), 1
    if argv[0] != "--list":
        return run(argv[0], n, first)
    sets, unseen = {}, 0
    for seed in range(first, first + n):
        key, _, _, change = draw(seed, sets)
        unseen += bool(change.unseen)
        print(seed, key, change.kind, change.where, "(cannot be caught: %s)" % change.unseen if change.unseen else "")
    print("%d of %d cannot be caught" % (unseen, n))
    return 0


if __name__ == "__main__":
    sys.exit(main())
