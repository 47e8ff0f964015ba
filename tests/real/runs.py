# SPDX-License-Identifier: Apache-2.0
"""Prints, for each run of the real study, what its record says beside what the
client's own per-request results and the server's counters say: lines of
NAME|GOT|WANT, to be compared by the caller.

usage: runs.py STUDY
"""
import json
import os
import sys

NEW = "llamacpp:prompt_tokens_total"
CACHED = "llamacpp:prompt_tokens_cached_total"
PREDICTED = "llamacpp:tokens_predicted_total"
REQUESTS, OUTPUT_TOKENS, PROMPT_TOKENS = 20, 20 * 32, 20 * 128


def line(name, got, want):
    print("%s|%s|%s" % (name, got, want))


def metrics(path):
    """The token counters of a /metrics page, by name."""
    with open(path, encoding="utf-8") as stream:
        rows = [row.split() for row in stream if row.startswith("llamacpp:")]
    return {row[0]: int(row[1]) for row in rows if row[0] in (NEW, CACHED, PREDICTED)}


def check(path, record):
    name = "%s r%d" % (record["cell"], record["repeat"])
    with open(os.path.join(path, "output", "result.json"), encoding="utf-8") as stream:
        result = json.load(stream)
    failures = sum(1 for e in result["errors"] if e)
    successes = sum(1 for e, n in zip(result["errors"], result["output_lens"]) if not e and n > 0)
    tokens = sum(result["output_lens"])
    before = metrics(os.path.join(path, "endpoint", "metrics-before.txt"))
    after = metrics(os.path.join(path, "endpoint", "metrics-after.txt"))
    delta = {k: after[k] - before[k] for k in (NEW, CACHED, PREDICTED)}

    line(name + ": completed", record["state"], "completed")
    line(name + ": attempts = successes + failures, in the client's requests",
         (len(result["errors"]), successes + failures), (REQUESTS, REQUESTS))
    said = record["requests"]
    line(name + ": the record counts the same requests",
         (said["attempted"], said["succeeded"], said["failed"], said["output_tokens"]),
         (REQUESTS, successes, failures, tokens))
    line(name + ": the client's output tokens are the server's", (tokens, delta[PREDICTED]),
         (OUTPUT_TOKENS, OUTPUT_TOKENS))
    line(name + ": the record holds the server's count", record["server"]["output_tokens"], tokens)
    line(name + ": every prompt token is counted, new or cached", delta[NEW] + delta[CACHED], PROMPT_TOKENS)

    cache = record["cache"]
    kept = {c["name"]: (c["before"], c["after"], c["delta"]) for c in cache["counters"]}
    line(name + ": the record keeps the counters as evidence",
         all(kept.get(k) == (before[k], after[k], delta[k]) for k in (NEW, CACHED)), True)
    line(name + ": the label is the matrix's", cache["condition"], record["variables"]["cache"])
    if cache["condition"] == "reset":
        line(name + ": no prompt token came from the cache", delta[CACHED], 0)
    else:
        share = delta[CACHED] / (delta[NEW] + delta[CACHED])
        line(name + ": over 80 %% of the prompt tokens came from the cache (%.4f)" % share, share > 0.8, True)
    line(name + ": the evidence confirms the label", cache["evidence"], "confirmed")
    hooks = ["reset"] if cache["condition"] == "reset" else ["reset", "warmup"]
    line(name + ": hooks", [(h["name"].split("-", 1)[1], h["exit_status"]) for h in record["hooks"]],
         [(h, 0) for h in hooks])
    line(name + ": is not called synthetic", record["synthetic"] is True, False)


def main(study):
    cells = {}
    runs = os.path.join(study, "runs")
    for run in sorted(os.listdir(runs)):
        with open(os.path.join(runs, run, "record.json"), encoding="utf-8") as stream:
            record = json.load(stream)
        cells.setdefault(record["cell"], []).append(record["repeat"])
        check(os.path.join(runs, run), record)
    line("four cells with three repeats each", sorted((c, sorted(r)) for c, r in cells.items()),
         [("cap-%d_cache-%s" % (c, k), [1, 2, 3]) for c in (1, 4) for k in ("reset", "reuse")])


if __name__ == "__main__":
    main(sys.argv[1])
