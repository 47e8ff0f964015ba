#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes variants of two good packets and compares what ibpacket.py and the program given say of each.

usage: packet_variants.py PROGRAM WORKDIR COUNT      exit 1 when the two differ
"""
import os, random, subprocess, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "data", "packet"))
sys.dont_write_bytecode = True
import ibpacket as ib
import make_vectors as mv

VECTORS = os.path.join(HERE, "..", "data", "packet", "vectors")
OLD = [mv.Packet(os.path.join(VECTORS, f)) for f in ("good-plain.tar", "good-long.tar")]
with open(os.path.join(HERE, "..", "fuzz", "corpus", "sshsig", "rsa.sig"), "rb") as f:
    RSA = f.read()  # an SSH signature that neither can judge
RND = random.Random(20261130)
CHARS = b'\n\r\0 /.%aA0"{}[],:\\'


def new_key(work, name, alg):
    path = os.path.join(work, name + ".pem")
    subprocess.run(["openssl", "genpkey", "-algorithm"] + alg + ["-out", path], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-out", os.path.join(work, name + ".pub.pem")], check=True)
    return path


def edit(b):
    b = bytearray(b or b"x")
    at, op = RND.randrange(len(b)), RND.randrange(4)
    if op == 0:
        b[at] = RND.choice(CHARS)
    elif op == 1:
        del b[at]
    elif op == 2:
        b.insert(at, RND.choice(CHARS))
    else:
        b[at] ^= 1 << RND.randrange(8)
    return bytes(b)


def fix_checksums(d):
    d = bytearray(d)
    for o in range(0, len(d) - 511, 512):
        if d[o + 257:o + 262] == b"ustar":
            d[o + 148:o + 156] = b" " * 8
            d[o + 148:o + 156] = b"%06o\0 " % sum(d[o:o + 512])
    return bytes(d)


def mutate_statement(s):
    def nodes(o, path=()):
        out = [path] if path else []
        for k in (o if isinstance(o, dict) else range(len(o)) if isinstance(o, list) else ()):
            out += nodes(o[k], path + (k,))
        return out
    path = RND.choice(nodes(s))
    o = s
    for k in path[:-1]:
        o = o[k]
    op = RND.randrange(4)
    if op == 0:
        del o[path[-1]]
    elif op == 1 and isinstance(o, dict):
        o["extra"] = 1
    elif op == 2 and isinstance(o, dict):
        items = list(o.items())
        RND.shuffle(items)
        o.clear()
        o.update(items)
    else:
        o[path[-1]] = RND.choice([None, 0, -1, 2 ** 53, 2 ** 53 - 1, 1.5, True, "", "x", "\x01", "\n\"\\", "\u00fc", "0" * 64, "A" * 64, [], {}, {"sha256": "0" * 64}])


def raw_variant(p):
    """Random changes that no key is needed for."""
    d, mode = bytearray(p.raw), RND.randrange(5)
    if mode == 0:
        for _ in range(RND.randint(1, 3)):
            d[RND.randrange(len(d))] ^= 1 << RND.randrange(8)
    elif mode == 1:
        at = RND.choice([a[0] for a in p.at.values()])
        d[at + RND.randrange(512)] = RND.choice([0, 32, 48, 49, 55, 47, 46, 37, 65, 120, 53, 255])
        d = fix_checksums(d)
    elif mode == 2:
        a, b = RND.randrange(len(d) // 512) * 512, RND.randrange(len(d) // 512) * 512
        block = d[a:a + 512]
        del d[a:a + 512]
        d[b:b] = block
    elif mode == 3:
        d = d[:RND.randrange(len(d))]
    else:
        entries = [list(e) for e in p.entries]
        e = RND.choice(entries)
        e[2] = edit(e[2])
        tags = {x[0]: x for x in entries if "/" not in x[0]}
        if RND.random() < 0.4:
            tags["manifest-sha256.txt"][2] = ib.listing((x[0], ib.sha(x[2])) for x in entries if x[0].startswith("data/"))
        if RND.random() < 0.6 and e[0] != "tagmanifest-sha256.txt":
            tags["tagmanifest-sha256.txt"][2] = ib.listing((n, ib.sha(tags[n][2])) for n in ib.TAG[:4])
        d = p.encode(entries)
    return bytes(d)


def with_signatures(p, change):
    """The packet with another signatures/: change takes and gives a dict of path -> bytes."""
    sigs = change({e[0]: e[2] for e in p.entries if e[0].startswith("signatures/")})
    return p.encode([e for e in p.entries if "/" not in e[0]] + [[n, 0o644, d] for n, d in sorted(sigs.items())] + [e for e in p.entries if e[0].startswith("data/")])


def signature_variants(p, keys):
    """Signers: more of them, gaps, names, SSH signatures and time stamps."""
    one = next(d for n, d in ((e[0], e[2]) for e in p.entries) if n == "signatures/1.sigstore.json")
    import base64, json
    payload = base64.b64decode(json.loads(one)["dsseEnvelope"]["payload"])

    def signed(key, stmt=payload):
        der, fp, sig = ib.sign(key, ib.pae(stmt))
        return ib.bundle(stmt, fp, sig), {"signatures/keys/%s.pem" % ib.sha(der): ib.pem(der)}
    second, second_key = signed(keys[1])
    third, third_key = signed(keys[2])
    other, other_key = signed(keys[1], payload.replace(b'"question":null', b'"question":"another"'))
    S = "signatures/"
    add = lambda d: (lambda s: {**s, **d})
    drop = lambda *names: (lambda s: {k: v for k, v in s.items() if not any(n in k for n in names)})
    yield "two signers", add({S + "2.sigstore.json": second, **second_key})
    yield "three signers, P-256", add({S + "2.sigstore.json": second, S + "3.sigstore.json": third, **second_key, **third_key})
    yield "a gap", add({S + "3.sigstore.json": second, **second_key})
    yield "key without signature", add(second_key)
    yield "signature without key", add({S + "2.sigstore.json": second})
    yield "one key twice", add({S + "2.sigstore.json": one})
    yield "another Statement", add({S + "2.sigstore.json": other, **other_key})
    yield "second signature broken", add({S + "2.sigstore.json": second.replace(b'"sig":"', b'"sig":"AAAA'), **second_key})
    yield "unsigned", lambda s: {}
    yield "unsigned, with a key", drop("sigstore", "empty")
    yield "unsigned, with the root", drop("sigstore", "keys/")
    yield "no root", drop("empty_trusted_root")
    yield "another root", add({S + "empty_trusted_root.json": b"{}\n"})
    yield "SSH signature", add({S + "1.sshsig": RSA})
    yield "SSH signature alone", lambda s: {S + "1.sshsig": RSA}
    yield "SSH signature of a second signer", add({S + "2.sshsig": RSA})
    yield "SSH signature after a gap", add({S + "3.sshsig": RSA})
    yield "time stamp", add({S + "1.tsr": b"x"})
    yield "time stamp of nobody", add({S + "2.tsr": b"x"})
    yield "leading zero", add({S + "01.sigstore.json": one})
    yield "number 0", add({S + "0.sshsig": RSA})
    yield "huge number", add({S + "99999999999999999999.sshsig": RSA})
    yield "a directory more", add({S + "keys/x/y.pem": b"x"})
    yield "upper-case key name", lambda s: {(k.upper().replace("SIGNATURES/KEYS", "signatures/keys").replace(".PEM", ".pem") if "keys/" in k else k): v for k, v in s.items()}
    yield "17 signatures", add({S + "%d.sshsig" % i: RSA for i in range(1, 18)})


def main():
    program, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    keys = [new_key(work, "a", ["ed25519"]), new_key(work, "b", ["ed25519"]), new_key(work, "c", ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"])]
    trust = os.path.join(work, "a.pub.pem")
    with open(trust, "rb") as f:
        trusted = ib.read_pem(f.read())
    packets = []
    for i, p in enumerate(OLD):                            # signed with a key that is there
        path = os.path.join(work, "good%d.tar" % i)
        with open(path, "wb") as f:
            f.write(p.build(keys[0]))
        packets.append(mv.Packet(path))
    cases = [("good", p.raw) for p in packets]
    for p in packets:
        cases += [(name, with_signatures(p, change)) for name, change in signature_variants(p, keys)]
        data = [e for e in p.entries if e[0].startswith("data/")]
        cut = lambda d: d[:d.index(b"\n") + 1] + d[d.index(b"\n", d.index(b"\n") + 1) + 1:]
        cases.append(("a ledger line less, signed", p.build(keys[0], [[n, m, d if n != "data/ledger.jsonl" else cut(d)] for n, m, d in data])))
        cases.append(("executable tag file", p.encode([[n, 0o755 if n == "bagit.txt" else m, d] for n, m, d in p.entries])))
    for i in range(count):
        p = RND.choice(packets)
        cases.append(("raw %d" % i, raw_variant(p)) if i % 4 else ("statement %d" % i, p.build(keys[0], stmt=mutate_statement)))
    bad, seen, files = 0, {}, []
    for i, (name, d) in enumerate(cases):
        path = os.path.join(work, "v%04d.tar" % i)
        with open(path, "wb") as f:
            f.write(d)
        files.append(path)
    out = subprocess.run([program, trust] + files, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    for (name, _), path, line in zip(cases, files, out, strict=True):
        want = ib.check(path, trusted)["class"] or "holds"
        got = line.split(" ")[1]
        seen[want] = seen.get(want, 0) + 1
        if got != want:
            bad += 1
            print("%s: ibpacket.py says %s, ours %s" % (name, want, got))
    print("%d variants, %d differ: %s" % (len(cases), bad, seen))
    sys.exit(1 if bad or len(seen) < 12 else 0)


main()
