#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behaves like "vllm bench serve" towards an endpoint and writes its result: requests one after another, their prompts from a seed, before them a ready check
and warm-ups that send the first of these prompts. Times are made up."""
import argparse
import json
import os
import random
import sys
import urllib.request

p = argparse.ArgumentParser()
p.add_argument("bench")
p.add_argument("serve")
p.add_argument("--base-url")
p.add_argument("--num-prompts", type=int, default=6)
p.add_argument("--num-warmups", type=int, default=0)
p.add_argument("--ready-check-timeout-sec", type=float, default=0)
p.add_argument("--random-input-len", type=int, default=64)
p.add_argument("--random-output-len", type=int, default=4)
p.add_argument("--seed", type=int, default=0)
p.add_argument("--result-dir", default=".")
p.add_argument("--save-detailed", action="store_true")
p.add_argument("--send-again", type=int, default=0, help="not vLLM's: so many prompts are sent before, and that is kept a secret")
a = p.parse_args(sys.argv[1:])

r = random.Random(a.seed)
prompts = [" ".join("w%d" % r.randrange(10**6) for _ in range(a.random_input_len)) for _ in range(a.num_prompts)]


def send(prompt):
    body = json.dumps({"model": "m", "prompt": prompt, "max_tokens": a.random_output_len}).encode()
    request = urllib.request.Request(a.base_url + "/v1/completions", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=20))["usage"]


for prompt in prompts[: a.send_again]:
    send(prompt)
if a.ready_check_timeout_sec > 0:
    send(prompts[0])
for _ in range(a.num_warmups):
    send(prompts[0])
usage = [send(prompt) for prompt in prompts]
n = len(usage)
inputs, outputs = [u["prompt_tokens"] for u in usage], [u["completion_tokens"] for u in usage]
result = {
    "date": "20261201-000000", "endpoint_type": "openai", "backend": "openai", "label": None, "model_id": "m", "tokenizer_id": "m", "num_prompts": n,
    "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 1, "duration": 0.5 * n, "completed": n, "failed": 0,
    "total_input_tokens": sum(inputs), "total_output_tokens": sum(outputs), "request_throughput": 2.0, "request_goodput": None,
    "output_throughput": sum(outputs) / (0.5 * n), "total_token_throughput": (sum(inputs) + sum(outputs)) / (0.5 * n),
    "max_output_tokens_per_s": 8.0, "max_concurrent_requests": 1, "rtfx": 0.0,
}
arrays = {
    "latencies": [0.5] * n, "queue_times": [0.0] * n, "start_times": [0.5 * i for i in range(n)], "input_lens": inputs, "output_lens": outputs,
    "ttfts": [0.125] * n, "itls": [[0.125] * (o - 1) for o in outputs], "generated_texts": ["x"] * n, "errors": [""] * n,
}
for k, v in arrays.items():
    if a.save_detailed or k in ("latencies", "queue_times"):
        result[k] = v
with open(os.path.join(a.result_dir, "result.json"), "w") as f:
    json.dump(result, f)
