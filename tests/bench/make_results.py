#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Large result files for bench-clients.sh: make_results.py vllm|aiperf REQUESTS GAPS > FILE. The same arguments give the same bytes."""
import json
import random
import sys

WORDS = "time is a list of gaps and a wall clock that nobody set right before the run was over so we count again".split()


def percentile(values, p):
    """As numpy's: linear between the two nearest ranks."""
    at = (len(values) - 1) * p / 100
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def statistics(name, values):
    values = sorted(values)
    mean = sum(values) / len(values)
    yield "mean_%s_ms" % name, mean * 1000
    yield "median_%s_ms" % name, percentile(values, 50) * 1000
    yield "std_%s_ms" % name, (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5 * 1000
    yield "p99_%s_ms" % name, percentile(values, 99) * 1000


def text(r):
    return " ".join(r.choice(WORDS) for _ in range(r.randrange(60, 100)))


def vllm(out, n, gaps):
    r = random.Random(1)
    starts, ttfts, latencies, itls, at = [], [], [], [], 12345.678
    for _ in range(n):
        at += r.expovariate(500)
        itl = [r.random() * 0.02 for _ in range(gaps)]
        starts.append(at)
        ttfts.append(r.random() * 0.2 + 0.01)
        itls.append(itl)
        latencies.append(ttfts[-1] + sum(itl))
    duration = max(s + e for s, e in zip(starts, latencies)) - starts[0]
    tokens = gaps + 1
    top = {"date": "20261130-120000", "backend": "openai", "label": None, "model_id": "m", "tokenizer_id": "m", "num_prompts": n,
           "request_rate": "inf", "burstiness": 1.0, "max_concurrency": None, "duration": duration, "completed": n, "failed": 0,
           "total_input_tokens": 128 * n, "total_output_tokens": tokens * n, "request_throughput": n / duration,
           "output_throughput": tokens * n / duration, "total_token_throughput": (tokens + 128) * n / duration,
           "input_lens": [128] * n, "output_lens": [tokens] * n, "ttfts": ttfts, "start_times": starts, "errors": [""] * n}
    out.write(json.dumps(top)[:-1] + ', "itls": [')
    out.write(", ".join(json.dumps(i) for i in itls) + '], "latencies": ' + json.dumps(latencies) + ', "generated_texts": [')
    out.write(", ".join(json.dumps(text(r)) for _ in range(n)) + "]")
    tpots = [(e - t) / gaps for e, t in zip(latencies, ttfts)]
    for name, values in (("ttft", ttfts), ("tpot", tpots), ("itl", [v for i in itls for v in i]), ("e2el", latencies)):
        for key, value in statistics(name, values):
            out.write(', "%s": %s' % (key, json.dumps(value)))
    out.write("}\n")


UNITS = {"http_req_dns_lookup": "ms", "http_req_blocked": "ms", "http_req_connecting": "ms", "usage_prompt_tokens": "tokens", "http_req_data_sent": "KB",
         "usage_completion_tokens": "tokens", "http_req_duration": "ms", "http_req_waiting": "ms", "http_req_connection_reused": "ratio",
         "http_req_receiving": "ms", "http_req_chunks_sent": "count", "http_req_sending": "ms", "output_token_count": "tokens",
         "http_req_data_received": "KB", "http_req_chunks_received": "count", "usage_total_tokens": "tokens", "http_req_connection_overhead": "ms",
         "usage_completion_tokens_diff_pct": "%", "e2e_output_token_throughput": "tokens/sec/user", "osl_mismatch_diff_pct": "%",
         "usage_prompt_tokens_diff_pct": "%", "http_req_total": "ms"}


def metric(value, unit):
    return {"value": value, "unit": unit}


def aiperf(out, n, gaps):
    r = random.Random(2)
    at = 1796040000000000000
    for i in range(n):
        at += int(r.expovariate(500) * 1e9)
        itl = [r.random() * 20 for _ in range(gaps)]
        ttft = r.random() * 200 + 10
        latency = ttft + sum(itl)
        record = {"metadata": {"session_num": i, "x_request_id": "%032x" % r.getrandbits(128), "x_correlation_id": "%032x" % r.getrandbits(128),
                               "conversation_id": "session_%06d" % i, "turn_index": 0, "credit_issued_ns": at, "request_start_ns": at,
                               "request_ack_ns": at + 1000000, "request_end_ns": at + int(latency * 1e6), "worker_id": "worker_6f3594ce",
                               "record_processor_id": "record_processor_7a70f628", "benchmark_phase": "profiling", "phase_index": 0,
                               "profiling_index": 0, "phase_name": "profiling", "phase_kind": "profiling", "was_cancelled": False,
                               "context_overflow_skip": False, "agent_depth": 0},
                  "metrics": {"request_latency": metric(latency, "ms"), "time_to_first_token": metric(ttft, "ms"),
                              "time_to_second_token": metric(itl[0], "ms"), "inter_token_latency": metric(sum(itl) / gaps, "ms"),
                              "inter_chunk_latency": metric(itl, "ms"), "output_sequence_length": metric(gaps + 1, "tokens"),
                              "input_sequence_length": metric(128, "tokens"),
                              "output_token_throughput_per_user": metric(1000 * gaps / sum(itl), "tokens/sec/user")}}
        for name, unit in UNITS.items():
            record["metrics"][name] = metric(r.random() * 100 if unit in ("ms", "KB") else 1.0, unit)
        out.write(json.dumps(record, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    {"vllm": vllm, "aiperf": aiperf}[sys.argv[1]](sys.stdout, int(sys.argv[2]), int(sys.argv[3]))
