#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ib-verify --json on every result set and compares what it says with cases.json (checked by hand) and truth.py (read by
another program). Prints TAP, one line for each case and property; writes a table of all cases.

    audit.py hand                      cases.json against truth.py: the expectations themselves
    audit.py run IB-VERIFY REPORT.md   ib-verify against both
    audit.py one IB-VERIFY CLIENT/CASE what it says of one case, for people"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import truth  # noqa: E402
import variants  # noqa: E402

SETS = truth.default_sets()
NOT_AUDITED = {"server_truth.jsonl", "server_args.txt"}
# Every set states percentiles of 3 to 60 samples, so A11 is right about each of them.
ALWAYS = {"A11"}
# Statistics that a reader need not list; where it does, they are compared.
SELDOM = re.compile(r"/(min|max|std|stddev|sum|p0\.1|p1|p5|p10|p25|p75|p99\.9)$|^/(time_to_second_token|output_token_throughput_per_user)/|"
                    r"/output_latency/|/max_output_tokens_per_s|/max_concurrent_requests|/input_throughput|normalized_time")


class Tap:
    """TAP lines. Those listed in the file "pending" do not hold yet; they are reported as such (TODO) until they do."""

    def __init__(self):
        self.n = self.bad = 0
        self.pending, self.done = set(), []
        path = os.path.join(HERE, "pending")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.pending = {line.strip() for line in f if line.strip() and not line.startswith("#")}

    def ok(self, name, faults):
        """faults: sentences; none means that the property holds."""
        self.n += 1
        waits = name in self.pending
        if waits and not faults:
            self.done.append(name)
        print("%s %d - %s%s" % ("not ok" if faults else "ok", self.n, name, " # TODO pending" if waits and faults else ""))
        for f in faults[:12]:
            print("#   " + str(f).replace("\n", " "))
        if len(faults) > 12:
            print("#   and %d more" % (len(faults) - 12))
        self.bad += bool(faults) and not waits
        sys.stdout.flush()

    def end(self):
        for name in self.done:
            print("# no longer pending: " + name)
        print("1..%d" % self.n)
        return 1 if self.bad else 0


def load_cases():
    with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as f:
        return json.load(f)


def truths():
    return {c["client"] + "/" + c["case"]: c for c in truth.all_cases(SETS)}


# ---- the expectations themselves --------------------------------------------------------------------------------------------

def hand():
    tap, cases, read = Tap(), load_cases(), truths()
    tap.ok("every set has its expectations", sorted(set(read) ^ {k for k in cases if "parts" not in cases[k]}))
    for key, want in sorted(cases.items()):
        if "parts" in want:
            continue
        got, faults = read[key], []
        if want["results"] is not None and len(got["results"]) != len(want["results"]):
            faults.append("%d results, expected %d" % (len(got["results"]), len(want["results"])))
        for w, g in zip(want["results"] or [], got["results"]):
            for name, value in w.items():
                if value is not None and g[name] != value:
                    faults.append("%s: %r by hand, %r read" % (name, value, g[name]))
        if want["server"]:
            faults += ["server %s: %r by hand, %r read" % (k, v, got["server"][k]) for k, v in want["server"].items() if got["server"][k] != v]
        if want["blind"] != got["blind"]:
            faults.append("blind: %r by hand, %r read" % (want["blind"], got["blind"]))
        tap.ok("%s: counted by hand and read by truth.py" % key, faults)
    return tap.end()


# ---- ib-verify --------------------------------------------------------------------------------------------------------------

def copy_case(key, want, to, with_log=False):
    """The folder that is audited: the set without what the client could not have written."""
    client = key.split("/")[0]
    if "folder" in want:
        shutil.copytree(want["folder"], to)
        return
    left_out = None if with_log else (lambda _, names: NOT_AUDITED & set(names))
    if "parts" not in want:
        shutil.copytree(os.path.join(SETS, key), to, ignore=left_out)
        return
    os.mkdir(to)
    for part in want["parts"]:
        shutil.copytree(os.path.join(SETS, client, part), os.path.join(to, part), ignore=left_out)


def verify(tool, path):
    p = subprocess.run([tool, "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    try:
        return p.returncode, json.loads(p.stdout.decode()), p.stderr.decode()
    except ValueError:
        return p.returncode, None, p.stderr.decode()


def first_line(tool, path):
    """The verdict in words, as the screen says it."""
    p = subprocess.run([tool, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False)
    return (p.stdout.decode().splitlines() or ["–"])[0].split(":")[0].strip()


def failing(doc):
    return [f for f in doc["findings"] if f["status"] == "fail" and f["level"] in "EW"]


def text_of_finding(f):
    return " ".join(str(f[k]) for k in ("message", "where", "expected", "found") if f.get(k))


def validator():
    try:
        import jsonschema
    except ImportError:
        return None
    with open(os.path.join(HERE, "..", "..", "schemas", "findings-v1.schema.json"), encoding="utf-8") as f:
        return jsonschema.Draft202012Validator(json.load(f))


def document_faults(rc, doc, err, schema):
    if doc is None:
        return ["no JSON, exit status %d: %s" % (rc, err.strip()[:200])]
    faults = []
    if rc not in (0, 1, 3, 4) or rc != doc["exit"]:
        faults.append("exit status %d, the document says %r" % (rc, doc["exit"]))
    for status in ("pass", "fail", "not_checkable"):
        n = sum(f["status"] == status for f in doc["findings"])
        if doc["tally"][status] != n:
            faults.append("tally of %s: %d, findings: %d" % (status, doc["tally"][status], n))
    if any(f["status"] == "fail" and f["level"] == "E" for f in doc["findings"]) and rc not in (1, 4):
        faults.append("an E finding fails and the exit status is %d" % rc)
    if schema:
        faults += ["schema: %s: %s" % ("/".join(map(str, e.path)), e.message[:120]) for e in schema.iter_errors(doc)]
    return faults


def own_results(doc, read):
    """ib-verify's results in the order of truth.py's: by file (a summary or its records) and index; others are left out."""
    out = []
    for r in read:
        files = {r["file"], r.get("records_file")}
        mine = [x for x in doc["results"] if x["file"] in files or any(f and x["file"].endswith("/" + f) for f in files)]
        mine = [x for x in mine if x.get("index", 0) == r["index"]] or mine
        out.append(mine[0] if mine else None)
    return out


def count_faults(want, read, mine):
    faults = []
    for w, r, m in zip(want["results"] or [], read, mine):
        if m is None:
            faults.append("no result of %s" % r["file"])
            continue
        if want["schema"] and not str(m["schema_id"]).startswith(want["schema"]):
            faults.append("schema %s, expected %s…" % (m["schema_id"], want["schema"]))
        for name, value in w.items():
            got = m["requests"].get(name)
            if value is None or got == value:
                continue
            # a length that nobody recorded as asked cannot be missed; a count that was measured as 0 can stand as "not recorded"
            if name == "short_output" and got is None and (value == 0 or "tokens_overstated" in want["blind"]):
                continue
            faults.append("%s: %r, expected %r" % (name, got, value))
    return faults


def claim_of(m, key):
    return next((c for c in m["claims"] if c["key"] == key or c["key"].endswith(key)), None)


def near(a, b, tolerance):
    return a is not None and b is not None and abs(a - b) <= max(tolerance, 1e-12) * max(abs(a), abs(b), 1e-9)


def number_faults(key, read, mine):
    """(faults, compared, absent)"""
    client, case = key.split("/")
    faults, compared, absent = [], 0, []
    for r, m in zip(read, mine):
        if m is None:
            continue
        for row in r["numbers"]:
            c = claim_of(m, row["key"])
            if c is None:
                absent.append(row["key"])
                if not SELDOM.search(row["key"]):
                    faults.append("%s is not among the claims" % row["key"])
                continue
            compared += 1
            if row["claimed"] is not None and not near(c["claimed"], row["claimed"], 0) and c["claimed"] != row["claimed"]:
                faults.append("%s: claimed %r, the file says %r" % (row["key"], c["claimed"], row["claimed"]))
            wrong = (client, case, row["key"]) in truth.WRONG
            if row["derived"] is None:
                if c["status"] in ("exact", "within"):
                    faults.append("%s: %s, but nothing derives it" % (row["key"], c["status"]))
            elif wrong:
                if c["status"] != "differs":
                    faults.append("%s: %s, but the file is wrong" % (row["key"], c["status"]))
            elif c["status"] not in ("exact", "within"):
                faults.append("%s: %s (%s)" % (row["key"], c["status"], c["why"]))
            elif not near(c["derived"], row["derived"], max(row["tolerance"], 1e-9)) and not near(c["derived"], row["either"], 1e-9):
                faults.append("%s: derived %r, by truth.py %r" % (row["key"], c["derived"], row["derived"]))
    return faults, compared, absent


def differing(key, doc):
    client, case = key.split("/")
    return ["%s: claimed %r, derived %r" % (c["key"], c["claimed"], c["derived"]) for r in doc["results"] for c in r["claims"]
            if c["status"] == "differs" and not any(w[:2] == (client, case) and c["key"].endswith(w[2]) for w in truth.WRONG)]


def found(doc, one):
    """Does a finding say what one of a case's "must" asks for?"""
    for f in doc["findings"]:
        if f["id"] not in one["any"]:
            continue
        if one["status"] != "any" and f["status"] != one["status"]:
            continue
        if one["status"] == "fail" and f["level"] == "I":
            continue
        if one["status"] == "any" and f["status"] == "pass":
            continue
        if "says" not in one or re.search(one["says"], text_of_finding(f), re.I):
            return True
    return False


def unexpected(want, doc):
    may = ALWAYS | set(want["may"])
    for one in want["must"]:
        if one["status"] in ("fail", "any"):
            may |= set(one["any"])
    return ["%s %s: %s" % (f["id"], f["level"], text_of_finding(f)[:200]) for f in failing(doc) if f["id"] not in may]


def counts(doc, statuses):
    return " ".join(str(sum(c["status"] == s for r in doc["results"] for c in r["claims"])) for s in statuses)


def requests_text(r):
    dash = lambda v: "–" if v is None else str(v)
    return "/".join(dash(r.get(k)) for k in ("attempted", "succeeded", "failed", "short_output"))


def row_of(key, want, read, mine, doc, rc, faults, words):
    if doc is None:
        return "| %s | – | – | – | – | – | – | %d | **no document** |" % (key, rc)
    ours = "; ".join("no result" if m is None else requests_text(m["requests"]) for m in mine) or "–"
    theirs = "; ".join(requests_text(r) for r in read) or "–"
    server = want["server"]
    if server:
        theirs += " (server: %(complete)d whole, %(cut)d cut, %(refused)d refused, %(gone)d gone)" % server
    wanted = ", ".join(" or ".join(o["any"]) for o in want["must"]) or ("healthy" if want["healthy"] else "–")
    said = ", ".join(sorted({f["id"] for f in failing(doc)})) or "–"
    missing = [" or ".join(o["any"]) for o in want["must"] if not found(doc, o)]
    return "| %s | %s | %s | %s | %s | %s%s | %s | %d | %s |" % (
        key, ours, theirs, counts(doc, ("exact", "within", "differs", "not_derivable")), wanted, said,
        " (not found: %s)" % ", ".join(missing) if missing else "", words.replace("|", "/"), rc, "yes" if not faults else "**no**")


HEAD = """# What ib-verify says of every result set

Counts are attempted/succeeded/failed/shorter than asked; a dash is "not recorded". Claims: exact, within tolerance, differing,
not derivable. A finding is expected as one of several checks; A11 (percentiles of few samples) is right about every set.

| set | ours | truth | claims | expected | failing E and W | verdict | exit | as expected |
|---|---|---|---|---|---|---|---|---|
"""


def chosen(cases, only):
    return [k for k in sorted(cases) if not only or any(k.startswith(o) for o in only)]


def synthetic(work):
    """The variants, built below work: expectations with their folders, and their truth."""
    top = os.path.join(work, "variants")
    cases, read = variants.build(top), {}
    for key, want in cases.items():
        want["folder"] = os.path.join(top, key)
        read[key] = truth.one_case(key.split("/")[0], want["folder"])
    return cases, read


def results_of(key, want, read):
    if "parts" in want:
        return [dict(r, file=os.path.join(p, r["file"])) for p in want["parts"] for r in read[key.split("/")[0] + "/" + p]["results"]]
    return read[key]["results"]


def one_set(tap, key, want, results, said, schema):
    """All properties of one set; returns what differs."""
    rc, doc, err = said
    faults = document_faults(rc, doc, err, schema)
    tap.ok("%s: one document, its tally and its exit status" % key, faults)
    if not doc:
        return faults, []
    mine = own_results(doc, results)
    a10 = any("A10" in o["any"] and o["status"] == "fail" for o in want["must"])
    rows = [("requests attempted, succeeded, failed, short", count_faults(want, results, mine)),
            ("numbers re-derived as by truth.py", [] if a10 else number_faults(key, results, mine)[0]),
            ("no other number differs", [] if a10 else differing(key, doc)),
            ("the case's fault is found", ["%s: %s" % ("|".join(o["any"]), o.get("why", "")) for o in want["must"] if not found(doc, o)]),
            ("nothing else fails" + (" (healthy)" if want["healthy"] else ""), unexpected(want, doc))]
    if want["results"] == []:
        rows.append(("no result, and no success", (["exit status 0 where nothing was measured"] if rc == 0 else []) +
                     (["%d results" % len(doc["results"])] if doc["results"] else [])))
    for name, f in rows:
        tap.ok("%s: %s" % (key, name), f)
        faults += f
    return faults, mine


def run(tool, report, only):
    tap, cases, read, schema = Tap(), load_cases(), truths(), validator()
    rows, alone = [], {}
    if schema is None:
        print("# python3-jsonschema is not installed: documents are not validated")
    work = tempfile.mkdtemp(prefix="ib-audit-")
    try:
        more, more_read = synthetic(work)
        everything = dict(cases, **more)
        read.update(more_read)
        for i, key in enumerate(chosen(cases, only) + chosen(more, only)):
            want, path = everything[key], os.path.join(work, "%03d" % i, "case")
            os.mkdir(os.path.dirname(path))
            copy_case(key, want, path)
            results, said = results_of(key, want, read), verify(tool, path)
            faults, mine = one_set(tap, key, want, results, said, schema)
            if said[1] and key in read and key not in more:
                alone.setdefault(key.split("/")[0], []).extend(counted(said[1], key.split("/")[1] + "/"))
            rows.append(row_of(key + (" (synthetic)" if key in more else ""), want, results, mine, said[1], said[0], faults, first_line(tool, path)))
        for client in sorted(alone if not only else ()):
            tap.ok("%s: all sets in one folder have the counts that each has alone" % client, together_faults(tool, client, alone[client], work))
        if not only:
            tap.ok("the server's log beside the results changes nothing", log_faults(tool, cases, work))
    finally:
        for folder, _, _ in os.walk(work):  # the copy of a read-only source tree is read-only, too
            os.chmod(folder, 0o700)
        shutil.rmtree(work, ignore_errors=True)
        with open(report, "w", encoding="utf-8") as f:
            f.write(HEAD + "\n".join(rows) + "\n")
    return tap.end()


def counted(doc, prefix=""):
    return [(prefix + r["file"], r.get("index", 0), json.dumps(r["requests"], sort_keys=True)) for r in doc["results"]]


def together_faults(tool, client, alone, work):
    path = os.path.join(work, "all", client)
    shutil.copytree(os.path.join(SETS, client), path, ignore=lambda _, names: NOT_AUDITED & set(names))
    doc = verify(tool, path)[1]
    if not doc:
        return ["no document"]
    got = counted(doc)
    return ["%s %d: %s together, %s alone" % (a[0], a[1], [g[2] for g in got if g[:2] == a[:2]], a[2]) for a in alone if a not in got] + \
        ["%s: not there alone" % g[0] for g in got if g[:2] not in [a[:2] for a in alone]]


def log_faults(tool, cases, work):
    """A reader that looked at the server's own log would be right for the wrong reason. That files of no known client were seen is said of it as of any."""
    key = "aiperf-0.13.0/sse_error"
    said = []
    for i, with_log in enumerate((False, True)):
        path = os.path.join(work, "log%d" % i, "case")
        os.mkdir(os.path.dirname(path))
        copy_case(key, cases[key], path, with_log)
        doc = verify(tool, path)[1]
        said.append(doc and [(f["id"], f["status"], f["message"]) for f in doc["findings"] if (f["id"], f["status"]) != ("A03", "not_checkable")])
    return [] if said[0] and said[0] == said[1] else ["findings differ"]


def one(tool, key):
    with tempfile.TemporaryDirectory(prefix="ib-audit-") as work:
        cases = dict(load_cases(), **synthetic(work)[0])
        path = os.path.join(work, "case")
        copy_case(key, cases[key], path)
        os.chmod(path, 0o700)
        rc, doc, err = verify(tool, path)
        print("exit status", rc, err.strip())
        for r in doc["results"] if doc else []:
            print(r["file"], r["schema_id"], r["requests"], counts(doc, ("exact", "within", "differs", "not_derivable")))
        for f in doc["findings"] if doc else []:
            print("%-3s %s %-13s %s" % (f["id"], f["level"], f["status"], text_of_finding(f)[:300]))
    return 0


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "hand":
        return hand()
    if what == "run" and len(sys.argv) >= 4:
        return run(sys.argv[2], sys.argv[3], sys.argv[4:])
    if what == "one" and len(sys.argv) == 4:
        return one(sys.argv[2], sys.argv[3])
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
