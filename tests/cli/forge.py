#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes a packet as an attacker would, who has no key.

usage: forge.py IN.tar OUT.tar CHANGE [--rebuild] [--unsigned]     the manifests and bag-info.txt are made again with --rebuild, the signature stays

changes: drop-last-line, drop-run N (the ledger lines of run N), drop-run-rechained N, drop-run-whole N and drop-run-whole-rechained N (its directory
too), edit SUFFIX, cut SUFFIX, remove SUFFIX, rename SUFFIX, swap SUFFIX (with the file before it), add, retime (all entries, by a second), retop (another
seal in the top directory's name). --unsigned leaves the signature out
"""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "packet"))
sys.dont_write_bytecode = True
import ibpacket as ib
import make_vectors as mv


def run_id(lines, n):
    return [json.loads(x)["run"] for x in lines if json.loads(x)["kind"] == "start"][n]


def lines_without_run(lines, n, rechain):
    run = run_id(lines, n)
    lines = [x for x in lines if json.loads(x).get("run") != run]
    if not rechain:
        return lines
    out, prev = [], None
    for i, x in enumerate(lines):
        e = json.loads(x)
        e["seq"], e["prev"] = i + 1, prev
        out.append(ib.compact(e))
        prev = ib.sha(out[-1])
    return out


def change(data, what, arg):
    at = next((i for i, e in enumerate(data) if arg and e[0].endswith(arg) and e[2]), None)
    led = next(e for e in data if e[0] == "data/ledger.jsonl")
    lines = led[2].split(b"\n")[:-1]
    if what == "drop-last-line":
        led[2] = b"".join(x + b"\n" for x in lines[:-1])
    elif what.startswith("drop-run"):
        led[2] = b"".join(x + b"\n" for x in lines_without_run(lines, int(arg), what.endswith("rechained")))
        if "-whole" in what:
            data = [e for e in data if not e[0].startswith("data/runs/%s/" % run_id(lines, int(arg)))]
    elif what == "edit":
        data[at][2] = bytes([data[at][2][0] ^ 1]) + data[at][2][1:]
    elif what == "cut":
        data[at][2] = data[at][2][:-1]
    elif what == "remove":
        del data[at]
    elif what == "rename":
        data[at][0] += "x"
    elif what in ("swap", "retime", "retop"):
        pass  # after sorting, or not in data
    elif what == "add":
        data.append(["data/zz.txt", 0o644, b"added\n"])
    else:
        sys.exit("unknown change " + what)
    return sorted(data, key=lambda e: e[0].encode())


def main():
    args = [a for a in sys.argv[1:] if a not in ("--rebuild", "--unsigned")]
    p = mv.Packet(args[0])
    tags = {e[0]: e[2] for e in p.entries if "/" not in e[0]}
    what, arg = args[2], args[3] if len(args) > 3 else None
    p.mtime += what == "retime"
    if what == "retop":
        p.top = p.top[:-8] + "00000000"
    data = change([e for e in p.entries if e[0].startswith("data/")], what, arg)
    if "--rebuild" in sys.argv:
        tags["bag-info.txt"] = ib.bag_info(p.top, p.mtime, sum(len(d) for _, _, d in data), len(data))
        tags["manifest-sha256.txt"] = ib.listing((n, ib.sha(d)) for n, _, d in data)
        tags["tagmanifest-sha256.txt"] = ib.listing((n, ib.sha(tags[n])) for n in ib.TAG[:4])
    if what == "swap":
        at = next(i for i, e in enumerate(data) if e[0].endswith(arg) and e[2])
        data[at - 1], data[at] = data[at], data[at - 1]
    entries = [[n, 0o644, tags[n]] for n in ib.TAG] + [e for e in p.entries if e[0].startswith("signatures/") and "--unsigned" not in sys.argv] + data
    with open(args[1], "wb") as f:
        f.write(p.encode(entries))


main()
