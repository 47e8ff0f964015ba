# SPDX-License-Identifier: Apache-2.0
"""What the hostile cases are made of: bytes of tar, zstd, Ed25519 and DSSE, and a good packet that is taken apart and built again with one change.

Standard library alone; no clock and no randomness, so that one packet and one key give the same cases.
"""
import base64, hashlib, json, os, re, struct, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "packet"))
import ibpacket as ib
import make_vectors as mv

EVIL = b"EVIL\n"
EOF = bytes(1024)


def sha(d, alg="sha256"):
    return hashlib.new(alg, d).hexdigest().encode()


# ---------------------------------------------------------------- tar
def octal(n, width):
    return b"%0*o\0" % (width - 1, n)


def base256(n, width):
    n &= (1 << (8 * width)) - 1
    return (n if n >> (8 * width - 1) else n | 0x80 << (8 * (width - 1))).to_bytes(width, "big")


def pad(d):
    return d + b"\0" * (-len(d) % 512)


def rec(key, val):
    body = b" " + key + b"=" + val + b"\n"
    n = len(body) + 1
    while len(str(n)) + len(body) != n:
        n = len(str(n)) + len(body)
    return str(n).encode() + body


def checksum(b, signed=False):
    b = bytearray(b)
    b[148:156] = b" " * 8
    b[148:156] = b"%06o\0 " % (sum(x - 256 if signed and x > 127 else x for x in b))
    return bytes(b)


# ---------------------------------------------------------------- zstd: stored and run-length blocks
ZM = b"\x28\xb5\x2f\xfd"


def zblocks(parts, last=True):
    """parts: bytes (stored) or (byte, count) (one byte repeated); blocks of at most 128 KiB."""
    out = []
    for p in parts:
        if isinstance(p, tuple):
            n = p[1]
            while n:
                k = min(n, 131072)
                out.append((1, k, p[0]))
                n -= k
        else:
            out += [(0, len(p[i:i + 131072]), p[i:i + 131072]) for i in range(0, len(p), 131072)]
    r = bytearray()
    for i, (ty, n, c) in enumerate(out):
        r += struct.pack("<I", (1 if last and i == len(out) - 1 else 0) | ty << 1 | n << 3)[:3] + c
    return bytes(r)


def zframe(*parts, head=b"\x04\x68", last=True, check=None, blocks=None):
    """A frame with the header of a packet, and its checksum where the parts are plain bytes."""
    if check is None and all(isinstance(p, bytes) for p in parts):
        check = struct.pack("<I", xxh64(b"".join(parts)) & 0xFFFFFFFF)
    return ZM + head + (zblocks(parts, last) if blocks is None else blocks) + (check or b"\0\0\0\0")


def xxh64(d):
    p1, p2, p3, p4, p5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261
    mask = (1 << 64) - 1
    rot = lambda x, r: ((x << r) | (x >> (64 - r))) & mask
    rnd = lambda acc, v: rot((acc + v * p2) & mask, 31) * p1 & mask
    i, n, h = 0, len(d), p5
    if n >= 32:
        v = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        words = struct.unpack("<%dQ" % (n // 32 * 4), d[:n // 32 * 32])
        for j, w in enumerate(words):
            v[j & 3] = rnd(v[j & 3], w)
        i = n // 32 * 32
        h = (rot(v[0], 1) + rot(v[1], 7) + rot(v[2], 12) + rot(v[3], 18)) & mask
        for x in v:
            h = ((h ^ rnd(0, x)) * p1 + p4) & mask
    h = (h + n) & mask
    while i + 8 <= n:
        h = (rot(h ^ rnd(0, struct.unpack_from("<Q", d, i)[0]), 27) * p1 + p4) & mask
        i += 8
    if i + 4 <= n:
        h = (rot(h ^ (struct.unpack_from("<I", d, i)[0] * p1 & mask), 23) * p2 + p3) & mask
        i += 4
    while i < n:
        h = rot(h ^ (d[i] * p5 & mask), 11) * p1 & mask
        i += 1
    h = (h ^ (h >> 33)) * p2 & mask
    h = (h ^ (h >> 29)) * p3 & mask
    return h ^ (h >> 32)


def skippable(payload, nib=0, claim=None):
    return struct.pack("<II", 0x184D2A50 + nib, len(payload) if claim is None else claim) + payload


# ---------------------------------------------------------------- Ed25519 (RFC 8032)
P = 2 ** 255 - 19
LORD = 2 ** 252 + 27742317777372353535851937790883648493
DD = -121665 * pow(121666, P - 2, P) % P


def padd(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * DD % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def pmul(s, p):
    q = (0, 1, 1, 0)
    while s:
        if s & 1:
            q = padd(q, p)
        p, s = padd(p, p), s >> 1
    return q


def xof(y, sign):
    x2 = (y * y - 1) * pow(DD * y * y + 1, P - 2, P)
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x & 1 != sign else x


GY = 4 * pow(5, P - 2, P) % P
GX = xof(GY, 0)
GB = (GX, GY, 1, GX * GY % P)


def enc(p):
    zi = pow(p[2], P - 2, P)
    x, y = p[0] * zi % P, p[1] * zi % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def ss(x):
    return struct.pack(">I", len(x)) + x


b64 = lambda d: base64.b64encode(d).decode()


class Key:
    """An Ed25519 key from a seed; pub may be given apart, for keys that have no seed."""

    def __init__(self, seed, pub=None):
        h = hashlib.sha512(seed).digest()
        self.a = int.from_bytes(h[:32], "little") & (1 << 254) - 8 | 1 << 254
        self.pre, self.pub = h[32:], pub or enc(pmul(self.a, GB))
        self.der = bytes.fromhex("302a300506032b6570032100") + self.pub
        self.id = "SHA256:" + b64(hashlib.sha256(ss(b"ssh-ed25519") + ss(self.pub)).digest()).rstrip("=")
        self.pem = b"-----BEGIN PUBLIC KEY-----\n" + b64(self.der).encode() + b"\n-----END PUBLIC KEY-----\n"
        self.file = "signatures/keys/%s.pem" % hashlib.sha256(self.der).hexdigest()

    @classmethod
    def label(cls, text):
        return cls(hashlib.sha256(b"ib-hostile " + text.encode()).digest())

    @classmethod
    def load(cls, path):
        der = base64.b64decode("".join(x for x in open(path).read().split("\n") if x and not x.startswith("-")))
        return cls(der[der.index(b"\x04\x22\x04\x20") + 4:][:32])

    def sign(self, m, add=0):
        r = int.from_bytes(hashlib.sha512(self.pre + m).digest(), "little") % LORD
        big_r = enc(pmul(r, GB))
        k = int.from_bytes(hashlib.sha512(big_r + self.pub + m).digest(), "little") % LORD
        return big_r + ((r + k * self.a) % LORD + add).to_bytes(32, "little")


PT = ib.PAYLOAD_TYPE


def pae(payload, t=PT):
    t = t.encode()
    return b"DSSEv1 %d %s %d %s" % (len(t), t, len(payload), payload)


def compact(o):
    return json.dumps(o, ensure_ascii=False, separators=(",", ":")).encode()


def envelope(payload, sigs, pt=PT, p64=None):
    return compact({"payload": b64(payload) if p64 is None else p64, "payloadType": pt, "signatures": sigs})


def wrap(env, hint):
    """The bundle around an envelope."""
    return b'{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":"' + hint.encode() + \
        b'"},"tlogEntries":[]},"dsseEnvelope":' + env + b"}\n"


def sig_of(key, message, keyid=None):
    return {"keyid": key.id if keyid is None else keyid, "sig": b64(key.sign(message))}


# ---------------------------------------------------------------- the good packet
class World:
    """A packet that holds, and its parts. data/report/ is not part of the seal's tree: what the cases add stands there, so that one file more
    changes manifests and signature alone."""

    def __init__(self, packet, key):
        p = mv.Packet(packet)
        self.raw, self.key, self.mtime = p.raw, Key.load(key), p.mtime
        self.data = [(n.encode(), m, d) for n, m, d in p.entries if n.startswith("data/")]
        self.tags = {n: d for n, _, d in p.entries if "/" not in n}
        self.top = p.top.encode()
        one = next(d for n, _, d in p.entries if n == "signatures/1.sigstore.json")
        self.payload = base64.b64decode(json.loads(one)["dsseEnvelope"]["payload"])
        self.D = self.top + b"/data/report/"
        assert self.bag() == self.raw, "the packet built anew is not the packet"

    def content(self, path):
        return next(d for n, _, d in self.data if n == path)

    def hdr(self, name, size=0, typ=b"0", mode=0o644, link=b"", magic=b"ustar\x0000", prefix=b"", uid=0, gid=0, mtime=None, rawsize=None,
            dev=(0, 0), chk=None, uname=b"", gname=b"", signed=False, index=None):
        """A header; index: that of a name in a pax header, or that the name needs one."""
        b = bytearray(512)
        mtime = self.mtime if mtime is None else mtime
        for off, val, width in ((0, name, 100), (100, octal(mode, 8), 8), (108, octal(uid, 8), 8), (116, octal(gid, 8), 8),
                                (124, octal(size, 12) if rawsize is None else rawsize, 12), (136, octal(mtime, 12), 12),
                                (156, typ, 1), (157, link, 100), (257, magic, 8), (265, uname, 32),
                                (297, gname, 32), (329, octal(dev[0], 8), 8), (337, octal(dev[1], 8), 8), (345, prefix, 155)):
            assert len(val) <= width, (name, off)
            b[off:off + len(val)] = val
        b = bytearray(checksum(b, signed))
        if chk is not None:
            b[148:156] = b"%06o\0 " % chk
        return bytes(b)

    def ent(self, name, data=b"", **kw):
        """An entry; a name over 100 bytes is split as a writer splits it."""
        kw.setdefault("size", len(data))
        if len(name) > 100 and "prefix" not in kw:
            cut = name.index(b"/", len(name) - 101)
            kw["prefix"], name = name[:cut], name[cut + 1:]
        return self.hdr(name, **kw) + pad(data)

    def index(self, path):
        """The number that a file of data/ of this name has, counted from 0."""
        return 8 + sum(n < path for n, _, _ in self.data)

    def pax(self, path, *records, raw=None, typ=b"x", name=None, data=EVIL, header=True, **kw):
        """A pax header and its file as a writer makes them, but for what is given. path: without the top directory; records: instead of the path."""
        own = b"PaxHeaders/%08d" % self.index(path)
        body = b"".join(rec(k, v) for k, v in records or [(b"path", self.top + b"/" + path)]) if raw is None else raw
        out = self.ent(own, body, typ=typ)
        return out + (self.ent(own if name is None else name, data, **kw) if header else b"")

    def gnul(self, name, typ=b"L"):
        return self.ent(b"././@LongLink", name + b"\0", typ=typ, magic=b"ustar  \0", mode=0)

    def statement(self, manifest, tagmanifest, digests, head=None, length=None, study=None):
        s = json.loads(self.payload)
        known = {"manifest-sha256.txt": sha(manifest).decode(), "tagmanifest-sha256.txt": sha(tagmanifest).decode()}
        for x in s["subject"]:
            x["digest"]["sha256"] = known.get(x["name"]) or digests[x["name"].encode()].decode()
        if head:
            s["predicate"]["ledger"] = {"head": head, "length": length}
        return s

    def bundle(self, payload, key=None):
        key = key or self.key
        return wrap(envelope(payload, [sig_of(key, pae(payload))]), key.id)

    def bag(self, extra=(), listed=(), change=None, manifest=None, eof=EOF, before=b"", middle=b"", tag=None, sigs=None, stmt=None, payload=None,
            data=None, top=None, head=None, length=None, mname=None, order=None, oxum=None, key=None):
        """The packet with a change. extra: [(path for the order, bytes of entries)]; listed: [(path, content)] that the manifest names too;
        change: {path: content} in the archive, but not in the manifest; manifest: its text; tag: {name: content} of other tag files (listed as they
        are); stmt: changes the Statement before it is signed; payload: bytes to sign; sigs: changes the dict of files of signatures/;
        data: other files for all purposes; top, head, length: of another ledger; order: changes the list of [sort key, bytes] entries at last."""
        data, top = data or self.data, top or self.top
        known = {n: (m, d) for n, m, d in data}
        text = b"".join(sha(d) + b"  " + n + b"\n" for n, d in sorted([(n, d) for n, _, d in data] + list(listed))) if manifest is None else manifest
        tags = {"bagit.txt": ib.BAGIT, "VERIFY.md": self.tags["VERIFY.md"], "manifest-sha256.txt": text}
        sizes = [len(d) for _, _, d in data] + [len(d) for _, d in listed]
        tags["bag-info.txt"] = ib.bag_info(top.decode(), self.mtime, *(oxum or (sum(sizes), len(sizes))))
        tags.update({k: v for k, v in (tag or {}).items() if k != "tagmanifest-sha256.txt"})
        tags["tagmanifest-sha256.txt"] = (tag or {}).get("tagmanifest-sha256.txt") or \
            b"".join(sha(tags[n]) + b"  " + n.encode() + b"\n" for n in sorted(ib.TAG[:4]))
        if payload is None:
            s = self.statement(text, tags["tagmanifest-sha256.txt"], {n: sha(d) for n, (m, d) in known.items()}, head, length)
            payload = compact((stmt(s) or s) if stmt else s)
        elif callable(payload):
            payload = payload(compact(self.statement(text, tags["tagmanifest-sha256.txt"], {n: sha(d) for n, (m, d) in known.items()}, head, length)))
        key = key or self.key
        files = {"signatures/1.sigstore.json": self.bundle(payload, key), "signatures/empty_trusted_root.json": ib.EMPTY_ROOT, key.file: key.pem}
        files = sigs(files, payload) if sigs else files
        e = lambda n, d, **kw: [n.encode() if isinstance(n, str) else n, self.ent(top + b"/" + (n.encode() if isinstance(n, str) else n), d, **kw)]
        out = [e(n if n != "manifest-sha256.txt" or mname is None else mname, tags[n]) for n in ib.TAG] + [e(n, d) for n, d in sorted(files.items())]
        rest = [e(n, (change or {}).get(n, d), mode=m) for n, m, d in data] + [[n, d] for n, d in extra]
        rest = sorted(rest, key=lambda x: x[0])
        entries = [[b"", before]] + out[:4] + [[b"", middle]] + out[4:] + rest
        return b"".join(x[1] for x in (order(entries) if order else entries)) + eof

    def plus(self, name, data=EVIL, **kw):
        """One more file at data/report/NAME, listed."""
        path = b"data/report/" + name
        return dict(extra=[(path, self.ent(self.top + b"/" + path, data, **kw))], listed=[(path, data)])
