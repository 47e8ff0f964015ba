#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts files into signatures/ of a packet without zstd, all else as it was.

usage: sign_over.py PACKET OUT NAME=FILE...     "NAME=" takes a file away; --tagmanifest PACKET prints what an SSH signature is over
"""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "packet"))
sys.dont_write_bytecode = True
import make_vectors as mv

if sys.argv[1] == "--tagmanifest":
    sys.stdout.buffer.write(next(d for p, _, d in mv.Packet(sys.argv[2]).entries if p == "tagmanifest-sha256.txt"))
    sys.exit(0)
packet = mv.Packet(sys.argv[1])
signatures = {p: (m, d) for p, m, d in packet.entries if p.startswith("signatures/")}
for change in sys.argv[3:]:
    name, _, source = change.partition("=")
    signatures.pop("signatures/" + name, None)
    if source:
        signatures["signatures/" + name] = (0o644, open(source, "rb").read())
tags = [e for e in packet.entries if not e[0].startswith(("signatures/", "data/"))]
data = [e for e in packet.entries if e[0].startswith("data/")]
with open(sys.argv[2], "wb") as f:
    f.write(packet.encode(tags + [[p, *signatures[p]] for p in sorted(signatures, key=str.encode)] + data))
