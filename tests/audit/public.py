#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Result files that others published, in IBTOOLS_VECTORS/fixtures/public: what a correct audit says of each. Prints TAP.

    public.py IB-VERIFY FOLDER"""
import math
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import audit  # noqa: E402


class File:
    """One published file, alone in a folder, audited."""

    def __init__(self, tool, folder, names, work):
        path = os.path.join(work, names[0][1].split(".")[0])
        os.mkdir(path)
        for name, to in names:
            shutil.copy(os.path.join(folder, name), os.path.join(path, to))
            os.chmod(os.path.join(path, to), 0o644)
        self.rc, self.doc, self.err = audit.verify(tool, path)
        self.doc = self.doc or {"findings": [], "results": []}

    def result(self):
        return self.doc["results"][0] if self.doc["results"] else {"requests": {}, "claims": [], "schema_id": None}

    def count(self, name, value):
        got = self.result()["requests"].get(name)
        return [] if got == value else ["%s: %r, expected %r" % (name, got, value)]

    def says(self, ids, pattern, statuses=("fail", "not_checkable", "pass")):
        for f in self.doc["findings"]:
            if f["id"] in ids and f["status"] in statuses and re.search(pattern, audit.text_of_finding(f), re.I):
                return []
        return ["no finding of %s with /%s/" % ("|".join(ids), pattern)] + \
            ["%s %s: %s" % (f["id"], f["status"], audit.text_of_finding(f)[:160]) for f in self.doc["findings"] if f["id"] in ids]

    def fails(self, *ids, pattern="."):
        return self.says(ids, pattern, ("fail",))

    def not_told(self, *ids):
        return [s for i in ids for s in self.says((i,), ".", ("fail", "not_checkable"))]

    def derives(self, pattern, value, tolerance=1e-9):
        got = [c for c in self.result()["claims"] if re.search(pattern, c["key"])]
        if not got:
            return ["no claim /%s/" % pattern]
        return ["%s: %s, derived %r" % (c["key"], c["status"], c["derived"]) for c in got
                if c["status"] not in ("exact", "within") or not math.isclose(c["derived"], value, rel_tol=tolerance)]

    def all_derive(self, pattern):
        got = [c for c in self.result()["claims"] if re.search(pattern, c["key"])]
        return ["no claim /%s/" % pattern] if not got else \
            ["%s: %s (%s)" % (c["key"], c["status"], c["why"]) for c in got if c["status"] not in ("exact", "within")]

    def none_derives(self, pattern):
        return ["%s: %s" % (c["key"], c["status"]) for c in self.result()["claims"] if re.search(pattern, c["key"]) and c["status"] != "not_derivable"]


def serve(tap, f):
    tap.ok("vllm serve, old schema: no failed key, failures unknown and not zero", f.count("failed", None) + f.count("succeeded", 500))
    tap.ok("vllm serve, old schema: 62.2 tokens where the name says 128", f.fails("A16", pattern=r"62\.?"))
    tap.ok("vllm serve, old schema: Little's law gives 31.1 of a cap of 32", f.says(("A15",), r"31\.1"))
    tap.ok("vllm serve, old schema: no server, GPU or cache state is said", f.not_told("A19", "A23", "A25"))
    tap.ok("vllm serve, old schema: TTFT, TPOT and ITL do not derive", f.none_derives(r"_(ttft|tpot|itl)_ms$"))


def latency(tap, f):
    tap.ok("vllm latency: the average and six percentiles derive", f.derives("avg_latency", 474.87329929399993) + f.all_derive("percentiles"))
    tap.ok("vllm latency: percentiles of two samples mean nothing", f.fails("A11", pattern=r"\b2\b|two"))
    tap.ok("vllm latency: no model, version or command is said", f.not_told("A22", "A23"))


def llmperf(tap, f):
    tap.ok("LLMPerf: all statistics derive from the records", f.all_derive(r"results_(ttft|end_to_end|inter_token)"))
    tap.ok("LLMPerf: its inter-token latency is 5.384 ms", f.derives(r"results_inter_token_latency_s_mean", 0.005384122478382455))
    formula = {c["formula"] for c in f.result()["claims"] if "results_inter_token_latency_s_mean" in c["key"]}
    first_within = {"e2e_over_tokens", "tpot_last_over_all"}  # both divide all the time by all the tokens
    tap.ok("LLMPerf: which is e2e over tokens, and named so", [] if formula and formula <= first_within else [str(formula)])
    tap.ok("LLMPerf: the client was idle, 50.9 s for 24.5 s of work", f.fails("A13", "A14", "A15", pattern=r"50\.9|24\.5|0\.48"))


def perf(tap, f):
    tap.ok("inference-perf: 1884 succeeded", f.count("succeeded", 1884))
    tap.ok("inference-perf: nothing fails", ["%s: %s" % (x["id"], audit.text_of_finding(x)[:160]) for x in audit.failing(f.doc)])
    tap.ok("inference-perf: 31.42 of 31.40 requests/s achieved", f.says(("A14",), r"31\.4", ("pass", "not_checkable")))
    tap.ok("inference-perf: aggregates alone, nothing derives", f.none_derives(r"latency") + f.says(("A10",), ".", ("not_checkable",)))


def aiperf(tap, f):
    tap.ok("AIPerf, early schema: 89 succeeded", f.count("succeeded", 89))
    q = f.result()["requests"]
    lost = (q.get("failed") or 0) + (q.get("incomplete") or 0)
    tap.ok("AIPerf, early schema: 11 cancelled of 100", f.count("attempted", 100) + ([] if lost == 11 else ["failed and incomplete: %d" % lost]))
    tap.ok("AIPerf, early schema: the cancelled ones are said", f.says(("A06", "A07", "A08"), r"\b11\b", ("fail",)))
    tap.ok("AIPerf, early schema: tokens of 30 requests where latency has 89", f.says(("A08", "A09", "A12"), r"\b30\b", ("fail",)))
    tap.ok("AIPerf, early schema: 2320.7 tok/s count reasoning, 196.6 are visible", f.says(("A08", "A09", "A12", "A16"), r"reasoning|196\.6", ("fail",)))


SETS = ((serve, (("vllm-bench-serve-04.json", "serve_in2048_out128.json"),)), (latency, (("vllm-bench-latency-02.json", "latency.json"),)),
        (llmperf, (("llmperf-03-individual.json", "llama_individual_responses.json"), ("llmperf-03-summary.json", "llama_summary.json"))),
        (perf, (("inference-perf-06.json", "summary_lifecycle_metrics.json"),)), (aiperf, (("aiperf-01.json", "profile_export_aiperf.json"),)))


def main():
    if len(sys.argv) != 3:
        sys.stderr.write(__doc__)
        return 2
    tap, schema = audit.Tap(), audit.validator()
    with tempfile.TemporaryDirectory(prefix="ib-public-") as work:
        for check, names in SETS:
            f = File(sys.argv[1], sys.argv[2], names, work)
            faults = audit.document_faults(f.rc, f.doc if "tally" in f.doc else None, f.err, schema)
            tap.ok("%s: one document" % names[0][0], faults)
            check(tap, f)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
