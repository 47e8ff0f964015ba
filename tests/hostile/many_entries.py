#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a packet with many empty files, signed, in a zstd frame.

usage: many_entries.py PACKET.tar KEY.pem FILES OUT.tar.zst [dirs]      FILES in all; dirs: each in a directory of its own
"""
import subprocess
from hostile_base import *


def main(argv):
    w, total, own = World(argv[1], argv[2]), int(argv[3]), len(argv) > 5
    n = total - 8 - len(w.data)
    names = [b"data/report/n/%07d%s" % (i, b"/f" if own else b"") for i in range(n)]
    first = w.ent(w.top + b"/" + names[0])
    at = first.index(b"/n/") + 3
    digits = sum(b"0000000")
    base = int(first[148:154], 8) - digits
    blob = bytearray()
    for i in range(n):
        s = b"%07d" % i
        blob += first[:at] + s + first[at + 7:148] + b"%06o\0 " % (base + sum(s)) + first[156:]
    packet = w.bag(extra=[(names[0], bytes(blob))], listed=[(x, b"") for x in names])
    with open(argv[4], "wb") as out:
        zstd = subprocess.Popen(["zstd", "-1", "-q", "--check", "--no-content-size", "--zstd=wlog=23", "-c"], stdin=subprocess.PIPE, stdout=out)
        zstd.communicate(packet)
    sys.exit(zstd.returncode)


main(sys.argv)
