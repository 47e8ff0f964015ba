#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes a study as its author could before it is sealed: every digest and the chain of the ledger are made again.

usage: remake.py STUDY < STATEMENTS

The statements, Python, see: ledger (list of entries), runs (IDs in order of their starts), path(name), record(i), and put(i, record),
which lists the files of the run again and binds the record to its entry.
"""
import hashlib, json, os, sys

study = sys.argv[1]


def path(name):
    return os.path.join(study, name)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def record(i):
    with open(path(f"runs/{runs[i]}/record.json"), "rb") as f:
        return json.load(f)


def files_of(top):
    out = []
    for folder, _, names in os.walk(top):
        for name in names:
            full = os.path.join(folder, name)
            rest = os.path.relpath(full, top)
            if rest == "record.json":
                continue
            with open(full, "rb") as f:
                data = f.read()
            out.append({"path": rest, "bytes": len(data), "sha256": sha(data)})
    return sorted(out, key=lambda f: f["path"].encode())


def put(i, new):
    new["files"] = files_of(path(f"runs/{runs[i]}"))
    data = json.dumps(new, indent=2).encode()
    with open(path(f"runs/{runs[i]}/record.json"), "wb") as f:
        f.write(data)
    for e in ledger:
        if e["kind"] == "finish" and e["run"] == runs[i]:
            e["record_sha256"], e["state"] = sha(data), new["state"]


with open(path("ledger.jsonl"), "rb") as f:
    ledger = [json.loads(line) for line in f]
runs = [e["run"] for e in ledger if e["kind"] == "start"]
exec(sys.stdin.read())
prev = None
with open(path("ledger.jsonl"), "wb") as f:
    for i, e in enumerate(ledger):
        e.pop("prev", None)
        e["seq"] = i + 1
        e["prev"] = prev
        line = json.dumps(e, separators=(",", ":")).encode()
        f.write(line + b"\n")
        prev = sha(line)
