#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes hostile packets and contracts, each one change away from a packet, contract or ledger that holds.

usage: make_hostile.py PACKET.tar KEY.pem OUTDIR [PREFIX]

PACKET.tar: uncompressed, of a study with report/a.txt and report/b.txt, signed with the Ed25519 key KEY.pem. One packet and one key give the same cases.
OUTDIR/<kind>/<id>.<ext>, OUTDIR/trust-*, and OUTDIR/expected.json: {"schema": "ib-hostile/1", "cases": [{"id", "kind", "file", "size", "class",
"verdict", "error", "why", optional "also": classes that are as good, "trust": name of another trust file, "canary": a path that must stay untouched,
"unpacked": bytes that the case would expand to}]}. verdict: accept, reject (with error, or one in also), warn (accepted, and reported), policy (a choice;
overrides.json makes it).
"""
from hostile_base import *
from cases_container import manifests, zsts
from cases_documents import jsons, ledgers, yamls
from cases_signed import envelopes, ssh_signatures, statements, trust_files
from cases_tar import tars


def main(argv):
    if len(argv) < 4:
        sys.exit(__doc__)
    w, out, only, cases = World(argv[1], argv[2]), argv[3], argv[4] if len(argv) > 4 else "", []
    seen = set()

    def case(cid, kind, ext, cls, verdict, error, why, data, **kw):
        if not cid.startswith(only):
            return
        assert cid not in seen, cid
        seen.add(cid)
        rel = "%s/%s.%s" % (kind, cid, ext)
        os.makedirs(os.path.join(out, kind), exist_ok=True)
        with open(os.path.join(out, rel), "wb") as f:
            f.write(data)
        cases.append(dict({"id": cid, "kind": kind, "file": rel, "size": len(data), "class": cls, "verdict": verdict, "error": error, "why": why}, **kw))
    os.makedirs(out, exist_ok=True)
    trust_files(w, out)
    for group in (tars, manifests, zsts, jsons, yamls, envelopes, statements, ssh_signatures, ledgers):
        group(w, case)
    with open(os.path.join(out, "expected.json"), "w") as f:
        json.dump({"schema": "ib-hostile/1", "cases": cases}, f, indent=1)
        f.write("\n")
    kinds = sorted({c["kind"] for c in cases})
    print("%d cases, %d bytes: %s" % (len(cases), sum(c["size"] for c in cases), ", ".join("%s %d" % (k, sum(c["kind"] == k for c in cases)) for k in kinds)))


if __name__ == "__main__":
    main(sys.argv)
