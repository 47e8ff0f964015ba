#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives every case of make_hostile.py to the tool that it is for, and compares exit, class, time and memory with what is expected. Prints TAP.

usage: run_cases.py CASES-DIR OVERRIDES.json [PREFIX]      IB_HOSTILE_ASAN=1: tools with sanitizers, whose time and memory say nothing
"""
import concurrent.futures, json, os, re, signal, sys, tempfile, threading

SLOW, BIG = 2.0, 200 << 10   # seconds; KiB
RANK = ("E_HASH", "E_MISSING", "E_EXTRA"), ("E_LEDGER",), ("E_BINDING",), ("E_UNSUPPORTED",), ("E_TRUST",)
EXIT = dict.fromkeys("E_HASH E_MISSING E_EXTRA E_MANIFEST E_SIG E_KEY E_LEDGER E_BINDING E_SYNTAX".split(), 1)
EXIT.update(dict.fromkeys(("E_TRUST", "E_UNSUPPORTED"), 3), E_YAML=2)
SANITIZER = bool(os.environ.get("IB_HOSTILE_ASAN"))


def start(argv, out):
    """Exit status (a signal is negative), seconds of CPU, KiB of memory."""
    files = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)] + \
        [(os.POSIX_SPAWN_OPEN, fd, out + ext, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for fd, ext in ((1, ".out"), (2, ".err"))]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=files)
    dog = threading.Timer(60, os.kill, (pid, signal.SIGKILL))
    dog.start()
    _, status, use = os.wait4(pid, 0)
    dog.cancel()
    return os.waitstatus_to_exitcode(status), use.ru_utime + use.ru_stime, use.ru_maxrss


def class_of(findings):
    """The class by ib-packet(5): the refusal, else the first by rank. Where the container is sound, that of the first fault of what the study says."""
    bad = [f for f in findings if f["level"] == "E" and f["status"] == "fail" or f["id"] in ("E_TRUST", "E_UNSUPPORTED")]
    names = [f["id"] for f in bad if f["id"].startswith("E_")]
    for n in names:
        if not any(n in r for r in RANK):
            return n
    for r in RANK:
        for n in names:
            if n in r:
                return n
    return next((f["class"] or f["id"] for f in bad), None)


def judge(case, root, out):
    """(class or None, exit, seconds, KiB, "" or what is wrong with the process itself, names of findings that are no pass)"""
    path = os.path.join(root, case["file"])
    where = os.path.join(out, case["id"].replace("/", "_"))
    if case["kind"] == "yaml":
        argv = ["ib-run", "-C", where, "--plan", path, "--dry-run"]
    else:
        argv = ["ib-verify", "--json", "--trust", os.path.join(root, "trust-" + case.get("trust", "trusted")), path]
    status, cpu, kib = start(argv, where)
    with open(where + ".err", errors="replace") as f:
        err = f.read()
    with open(where + ".out", errors="replace") as f:
        text = f.read()
    for ext in (".out", ".err"):
        os.unlink(where + ext)
    wrong = ""
    if status < 0 or status > 4 or "Sanitizer" in err or "runtime error" in err:
        wrong = "crash: status %d: %s" % (status, err[-600:])
    elif not SANITIZER and (cpu > SLOW or kib > BIG):
        wrong = "%.1f s, %d MiB" % (cpu, kib >> 10)
    if case["kind"] == "yaml":
        cls = None if status == 0 else "E_YAML" if re.search(r"\.yaml:[0-9]+:[0-9]+: ", err) else "no place: " + err[-200:]
        return cls, status, cpu, kib, wrong, []
    try:
        findings = json.loads(text)["findings"]
    except ValueError:
        return "no report: " + err[-200:], status, cpu, kib, wrong, []
    return class_of(findings), status, cpu, kib, wrong, [f["id"] for f in findings if f["status"] != "pass"]


def overridden(case, overrides):
    """The case as it is expected here; a policy case without a choice is a fault of the table."""
    new = overrides.get(case["id"])
    if new:
        case = dict(case, verdict=new["verdict"], error=new.get("error"), also=[], finding=new.get("finding"))
    if case["verdict"] == "policy":
        case = dict(case, verdict="reject", error="no choice in overrides.json", also=[])
    return case


def compare(case, got):
    cls, status, _, _, wrong, findings = got
    if wrong:
        return wrong
    if case["verdict"] in ("accept", "warn"):
        if status or cls:
            return "accept: %s, exit %d" % (cls, status)
        return "" if case["verdict"] == "accept" or case.get("finding") in findings else "accepted without a word of it"
    wanted = [case["error"]] + case.get("also", [])
    if status == 0 or cls is None:
        return "WRONGLY ACCEPTED: exit %d, should be %s" % (status, "/".join(wanted))
    if cls not in wanted:
        return "class %s, should be %s" % (cls, "/".join(map(str, wanted)))
    want = EXIT.get(cls, 4 if cls.startswith("E_") else 1)
    return "" if status == want else "exit %d with class %s, should be %d" % (status, cls, want)


def read_overrides(path):
    with open(path) as f:
        groups = json.load(f)["choices"]
    out = {}
    for g in groups:
        for i in g["ids"]:
            if i in out or not g["why"]:
                sys.exit("%s: %s twice, or without a reason" % (path, i))
            out[i] = g
    return out


def main():
    root, overrides, only = sys.argv[1], read_overrides(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
    with open(os.path.join(root, "expected.json")) as f:
        cases = [c for c in json.load(f)["cases"] if c["id"].startswith(only)]
    unknown = sorted(set(overrides) - {c["id"] for c in cases})
    bad, cpu, kib, count = 0, (0, ""), (0, ""), {}
    print("1..%d" % (len(cases) + 2))
    with tempfile.TemporaryDirectory() as out, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for n, (case, got) in enumerate(zip(cases, pool.map(lambda c: judge(c, root, out), cases))):
            want = overridden(case, overrides)
            why = compare(want, got)
            bad += bool(why)
            cpu, kib = max(cpu, (got[2], case["id"])), max(kib, (got[3], case["id"]))
            canary = case.get("canary")
            if canary and os.path.exists(os.path.join(root, canary)):
                why = "canary %s" % canary
            kind = "taken" if got[1] == 0 else "refused"
            count[kind] = count.get(kind, 0) + 1
            print("%sok %d - %s" % ("not " if why else "", n + 1, case["id"]))
            if why:
                print("#   %s: %s (%s)" % (case["id"], why, case["why"].encode("ascii", "backslashreplace").decode()))
    print("%sok %d - overrides.json names no case that is not there" % ("not " if unknown and not only else "", len(cases) + 1))
    if unknown and not only:
        print("#   " + " ".join(unknown))
        bad += 1
    print("ok %d - summary" % (len(cases) + 2))
    print("# %d cases: %s; %d not as expected; most CPU %.2f s (%s), most memory %d MiB (%s)" % (
        len(cases), ", ".join("%d %s" % (count[k], k) for k in sorted(count)), bad, cpu[0], cpu[1], kib[0] >> 10, kib[1]))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
