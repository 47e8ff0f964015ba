# SPDX-License-Identifier: Apache-2.0
"""Hostile manifests and zstd frames."""
import binascii, functools, zlib
from hostile_base import *


def manifests(w, case):
    A, B = b"data/report/a.txt", b"data/report/b.txt"
    da, db = w.content(A), w.content(B)
    ha, hb = sha(da), sha(db)
    text = w.tags["manifest-sha256.txt"]
    la, lb = ha + b"  " + A + b"\n", hb + b"  " + B + b"\n"
    assert la + lb in text

    def m(cid, verdict, error, why, data, **kw):
        case("man-" + cid, "manifest", "tar", "manifest", verdict, error, why, data, **kw)
    X = lambda s, **kw: w.bag(manifest=s, **kw)
    R = lambda new, **kw: X(text.replace(la + lb, new), **kw)
    c = b"data/report/c.txt"
    lc = sha(EVIL) + b"  " + c + b"\n"
    top = lambda n, d=EVIL, at=c: [(at, w.ent(w.top + b"/" + n, d))]
    m("missing-file", "reject", "E_MISSING", "lists a file that is not there", R(la + lb + lc))
    m("extra-file", "reject", "E_EXTRA", "a file nobody listed", w.bag(extra=top(c)))
    m("extra-outside-data", "reject", "E_EXTRA", "unlisted file outside data/ (a BagIt payload manifest does not cover it)", w.bag(extra=top(b"README.md")))
    m("extra-empty-dir", "policy", "E_EXTRA", "unlisted empty directory", w.bag(extra=[(c, w.ent(w.D + b"empty/", typ=b"5", mode=0o755))]), also=["E_TYPE"])
    m("wrong-hash", "reject", "E_HASH", "content changed", w.bag(change={A: EVIL}))
    m("swapped", "reject", "E_HASH", "two contents swapped", w.bag(change={A: db, B: da}))
    m("twice-same", "reject", "E_MANIFEST", "same path and hash twice", R(la + la + lb))
    m("twice-other", "reject", "E_MANIFEST", "same path, two hashes: any-match verifiers accept both", R(la + sha(EVIL) + b"  " + A + b"\n" + lb))
    m("twice-other-first", "reject", "E_MANIFEST", "evil hash first, evil content present", R(sha(EVIL) + b"  " + A + b"\n" + la + lb, change={A: EVIL}))
    m("twice-dot", "reject", "E_MANIFEST", "data/a.txt and ./data/a.txt", X(sha(EVIL) + b"  ./" + A + b"\n" + text), also=["E_PATH"])
    m("upper-hex", "policy", "E_MANIFEST", "upper-case hex: same digest, other bytes", R(ha.upper() + la[64:] + lb))
    m("short-hex", "reject", "E_MANIFEST", "digest cut to 32 hex characters: prefix-comparing verifiers accept", R(ha[:32] + la[64:] + lb))
    m("long-hex", "reject", "E_MANIFEST", "digest with extra characters", R(ha + b"00" + la[64:] + lb))
    m("nonhex", "reject", "E_MANIFEST", "non-hex digit", R(b"g" + la[1:] + lb))
    m("self-listed", "reject", "E_MANIFEST", "lists itself", X(text + sha(b"") + b"  manifest-sha256.txt\n"), also=["E_HASH"])
    m("dotdot", "reject", "E_PATH", "path leaves the bag: verifier hashes a file of the reviewer", X(text + sha(b"") + b"  data/../../etc/hostname\n"))
    m("dotdot-first", "reject", "E_PATH", "path leaves the bag, from the top", X(sha(b"") + b"  ../../etc/hostname\n" + text), also=["E_MANIFEST"])
    m("absolute", "reject", "E_PATH", "absolute path in the manifest", X(sha(b"") + b"  /etc/hostname\n" + text), also=["E_MANIFEST"])
    m("tilde", "reject", "E_MISSING", "tilde path", X(text + sha(b"") + b"  ~/.ssh/id_ed25519\n"), also=["E_PATH", "E_MANIFEST"])
    m("star", "policy", "E_MANIFEST", "md5sum binary marker", R(la.replace(b"  ", b" *") + lb))
    m("one-space", "policy", "E_MANIFEST", "one space separator", R(la.replace(b"  ", b" ") + lb))
    m("tab-sep", "policy", "E_MANIFEST", "tab separator", R(la.replace(b"  ", b"\t") + lb))
    m("crlf", "policy", "E_MANIFEST", "CRLF lines", X(text.replace(b"\n", b"\r\n")))
    m("cr-only", "policy", "E_MANIFEST", "CR line ends (BagIt allows them): a LF-only reader sees one line", X(text.replace(b"\n", b"\r")))
    m("bom", "reject", "E_MANIFEST", "UTF-8 BOM", X(b"\xef\xbb\xbf" + text))
    m("utf16", "reject", "E_MANIFEST", "UTF-16", X(text.decode().encode("utf-16")))
    m("no-final-newline", "policy", "E_MANIFEST", "last line without newline", X(text[:-1]))
    m("blank-line", "policy", "E_MANIFEST", "blank line", R(la + b"\n" + lb))
    m("comment", "reject", "E_MANIFEST", "comment line", X(b"# ok\n" + text))
    m("trailing-space", "reject", "E_MANIFEST", "space after the path", R(la[:-1] + b" \n" + lb), also=["E_MISSING", "E_PATH"])
    m("empty", "reject", "E_MANIFEST", "empty manifest", X(b""), also=["E_EXTRA"])
    m("nul", "reject", "E_MANIFEST", "NUL in a line: C string readers cut it", R(la[:-1] + b"\0.evil\n" + lb), also=["E_MISSING"])
    m("unsorted", "reject", "E_MANIFEST", "two lines in the other order", R(lb + la))
    nl = [(c, w.ent(w.D + b"x\ny", EVIL))]
    m("escaped-backslash", "policy", "E_MANIFEST", "GNU coreutils escaped line for a name with a newline",
      w.bag(extra=nl, manifest=b"\\" + sha(EVIL) + b"  data/report/x\\ny\n" + text), also=["E_PATH"])
    pct = text.replace(lb, lb + sha(EVIL) + b"  data/report/x%0Ay\n")
    m("percent", "policy", "E_MANIFEST", "BagIt percent-encoded newline", w.bag(extra=nl, manifest=pct), also=["E_PATH"])
    m("percent-literal", "policy", "E_MANIFEST", "name that holds a literal %0A: decoding verifiers look elsewhere",
      w.bag(extra=[(c, w.ent(w.D + b"x%0Ay", EVIL))], manifest=pct), also=["E_PATH", "E_MISSING"])
    m("nfd", "reject", "E_MISSING", "manifest in NFC, archive in NFD",
      w.bag(extra=[(c, w.ent(w.D + "cafe\u0301".encode(), EVIL))], manifest=text.replace(lb, lb + sha(EVIL) + "  data/report/caf\u00e9\n".encode())),
      also=["E_PATH", "E_EXTRA"])
    m("directory", "reject", "E_MANIFEST", "lists a directory", R(sha(b"") + b"  data/report\n" + la + lb), also=["E_MISSING", "E_TYPE", "E_DUP"])
    m("symlink-target", "reject", "E_TYPE", "listed file is a symlink to a file with the right content",
      w.bag(extra=[(c, w.hdr(w.top + b"/" + c, typ=b"2", link=b"a.txt"))], listed=[(c, da)]))
    md5 = b"".join(sha(d, "md5") + b"  " + n + b"\n" for n, _, d in w.data)
    m("md5-only", "reject", "E_ALG", "only manifest-md5.txt", w.bag(mname=b"manifest-md5.txt", manifest=md5), also=["E_TAR"])
    m("alg-mismatch", "reject", "E_MANIFEST", "md5 digests inside manifest-sha256.txt", X(md5), also=["E_ALG", "E_HASH"])
    m("two-algs-weak-good", "reject", "E_HASH", "md5 manifest matches the evil file, sha256 does not: any-of verifiers accept",
      w.bag(change={A: EVIL}, extra=top(b"manifest-md5.txt", md5, b"data/report/0")), also=["E_ALG", "E_EXTRA"])
    m("two-algs-disjoint", "reject", "E_MANIFEST", "two manifests that each list one file: union verifiers accept",
      w.bag(manifest=text.replace(lb, b""), extra=top(b"manifest-sha512.txt", sha(db, "sha512") + b"  " + B + b"\n")), also=["E_EXTRA"])
    m("unknown-alg", "reject", "E_ALG", "manifest-crc32.txt beside a good one", w.bag(extra=top(b"manifest-crc32.txt", b"deadbeef  " + A + b"\n")),
      also=["E_EXTRA"])
    m("fetch-txt", "reject", "E_EXTRA", "fetch.txt: a verifier that completes bags makes network requests",
      w.bag(manifest=text.replace(lb, lb + lc), extra=top(b"fetch.txt", b"http://127.0.0.1:9/x 5 " + c + b"\n")), also=["E_MISSING"])
    info = ib.bag_info(w.top.decode(), w.mtime, 999, 9)
    m("oxum-wrong", "reject", "E_MANIFEST", "Payload-Oxum wrong, hashes right", w.bag(tag={"bag-info.txt": info}), also=["E_BINDING"])
    bi = w.tags["bag-info.txt"]
    m("info-extra-line", "reject", "E_MANIFEST", "one more line in bag-info.txt", w.bag(tag={"bag-info.txt": bi + b"Contact-Name: lab\n"}))
    m("info-other-date", "reject", "E_BINDING", "another Bagging-Date than the time of the files",
      w.bag(tag={"bag-info.txt": re.sub(rb"Date: \d{4}", b"Date: 2020", bi)}))
    m("bagit-other-version", "reject", "E_MANIFEST", "BagIt-Version: 0.97", w.bag(tag={"bagit.txt": ib.BAGIT.replace(b"1.0", b"0.97")}))
    m("bagit-other-encoding", "reject", "E_MANIFEST", "tag files in ISO-8859-1", w.bag(tag={"bagit.txt": ib.BAGIT.replace(b"UTF-8", b"ISO-8859-1")}))
    tm = w.tags["tagmanifest-sha256.txt"]
    m("tagmanifest-wrong", "reject", "E_HASH", "tagmanifest does not match the manifest",
      w.bag(tag={"tagmanifest-sha256.txt": tm.replace(sha(text), sha(b""))}))
    m("tagmanifest-short", "reject", "E_MANIFEST", "tagmanifest without VERIFY.md", w.bag(tag={"tagmanifest-sha256.txt": tm[tm.index(b"\n") + 1:]}))
    m("last", "policy", "E_MANIFEST", "manifest after all files: a streaming verifier must hold digests, and limits",
      w.bag(order=lambda e: [x for x in e if x[0] != b"manifest-sha256.txt"] + [x for x in e if x[0] == b"manifest-sha256.txt"]),
      also=["E_TAR"])
    second = w.ent(b"other-20260101-00000000/data/z", EVIL)
    m("second-root", "reject", "E_EXTRA", "second top folder", w.bag(extra=[(b"data/zz", second)]), also=["E_PATH"])


def gz(d):
    c = zlib.compressobj(9, zlib.DEFLATED, 31)
    return c.compress(d) + c.flush()


def zsts(w, case):
    def z(cid, verdict, error, why, data, **kw):
        case("z-" + cid, "zst", "tar.zst", "container", verdict, error, why, data, **kw)
    b, evil = w.bag(), w.bag(**w.plus(b"c"))
    good = zframe(b)
    fcs = lambda n, d=0xC4, win=b"": bytes([d]) + win + struct.pack("<Q", n)
    z("ok", "accept", None, "one frame, stored blocks, checksum", good)
    z("ok-checksum", "accept", None, "one frame with content size and checksum", zframe(b, head=fcs(len(b), 0xC4, b"\x68")))
    z("no-checksum", "reject", "E_CONTAINER", "frame without a checksum", zframe(b, head=b"\0\x68")[:-4])
    z("checksum-wrong", "reject", "E_CONTAINER", "frame checksum wrong", zframe(b, check=b"\1\2\3\4"))
    z("fcs-lies-small", "reject", "E_CONTAINER", "content size smaller than the content", zframe(b, head=fcs(100, 0xC4, b"\x68")))
    z("fcs-lies-big", "reject", "E_CONTAINER", "content size 1 TiB: allocate-by-claim readers die", zframe(b, head=fcs(1 << 40, 0xC4, b"\x68")),
      also=["E_LIMIT"])
    z("single-segment", "reject", "E_CONTAINER", "single segment: the window is the content's size", zframe(b, head=fcs(len(b), 0xE4)))
    z("two-frames-split", "policy", "E_CONTAINER", "one archive cut over two frames (legal zstd; pzstd writes so)", zframe(b[:1024]) + zframe(b[1024:]),
      also=["E_TRAILING"])
    z("two-frames-two-tars", "reject", "E_TRAILING", "second frame holds a second archive", good + zframe(evil))
    z("skippable-first", "policy", "E_CONTAINER", "skippable frame in front (pzstd, seekable)", skippable(b"hello") + good)
    z("skippable-last", "policy", "E_CONTAINER", "skippable frame at the end: unsigned covert bytes", good + skippable(b"covert payload", 7),
      also=["E_TRAILING"])
    z("skippable-huge-claim", "reject", "E_CONTAINER", "skippable frame that claims 4 GiB", good + skippable(b"x", 0, 0xFFFFFFFF),
      also=["E_TRUNC", "E_TRAILING"])
    z("skippable-only", "reject", "E_CONTAINER", "nothing but a skippable frame", skippable(b"x"), also=["E_TRUNC", "E_TAR"])
    empty = zframe(b"", blocks=b"\1\0\0")
    z("empty-frames", "policy", "E_CONTAINER", "2,000 empty frames, then the archive", empty * 2000 + good, also=["E_LIMIT"])
    z("trailing-garbage", "reject", "E_TRAILING", "garbage after the frame", good + b"GARBAGE")
    z("trailing-zeros", "reject", "E_TRAILING", "zeros after the frame", good + b"\0" * 100)
    z("trailing-tar", "reject", "E_TRAILING", "plain tar after the frame", good + evil)
    z("no-last-block", "reject", "E_TRUNC", "frame without a last block", zframe(b, last=False)[:-4], also=["E_CONTAINER"])
    z("cut", "reject", "E_TRUNC", "cut in the middle of a block", good[:-300], also=["E_CONTAINER"])
    z("cut-in-eof", "reject", "E_TRUNC", "frame cut inside the end marker: the tar reader is already happy", zframe(b[:-1024], b[-1024:])[:-100])
    z("cut-in-checksum", "reject", "E_TRUNC", "frame without the last byte of its checksum", good[:-1])
    z("bit-in-eof-block", "reject", "E_CONTAINER", "checksum wrong, only noticed by readers that drain the stream after the end marker",
      zframe(b[:-512], b[-512:], check=b"\1\2\3\4"))
    z("reserved-block", "reject", "E_CONTAINER", "reserved block type 3", zframe(b[:512], last=False)[:-4] + b"\x07\0\0")
    z("reserved-bit", "reject", "E_CONTAINER", "reserved bit in the frame header", zframe(b, head=b"\x0c\x68"))
    z("unused-bit", "reject", "E_CONTAINER", "unused bit in the frame header, which decoders pass over", zframe(b, head=b"\x14\x68"))
    z("dict-id", "reject", "E_CONTAINER", "frame asks for a dictionary", zframe(b, head=b"\x07\x68" + struct.pack("<I", 12345)))
    z("window-2G", "reject", "E_LIMIT", "window of 2 GiB: memory before any content", zframe(b, head=bytes([4, (31 - 10) << 3])), also=["E_CONTAINER"])
    z("window-max", "reject", "E_LIMIT", "largest window (3.75 TiB)", zframe(b, head=b"\x04\xff"), also=["E_CONTAINER"])
    z("window-128M", "policy", "E_LIMIT", "window of 128 MiB (zstd --ultra -22)", zframe(b, head=bytes([4, (27 - 10) << 3])), also=["E_CONTAINER"])
    z("window-small", "reject", "E_CONTAINER", "window of 128 KiB: the same bytes by another frame", zframe(b, head=b"\x04\x38"))
    z("legacy-v07", "reject", "E_CONTAINER", "legacy zstd v0.7 magic", b"\x27" + good[1:], also=["E_TAR"])
    z("gzip", "reject", "E_CONTAINER", "gzip, named .zst", gz(b))
    z("plain-as-zst", "policy", "E_CONTAINER", "plain tar, named .zst", b)
    z("nested-zst", "reject", "E_CONTAINER", "zstd in zstd: auto-detecting readers peel both", zframe(good), also=["E_TAR"])
    z("nested-gz", "reject", "E_CONTAINER", "gzip in zstd", zframe(gz(b)), also=["E_TAR"])
    z("nested-x8", "reject", "E_CONTAINER", "eight layers", functools.reduce(lambda d, _: zframe(d), range(8), b), also=["E_TAR"])
    uu = b"".join(binascii.b2a_uu(b[i:i + 45]) for i in range(0, len(b), 45))
    z("uu-in-zst", "reject", "E_CONTAINER", "uuencoded tar in zstd: libarchive's all-filters reader decodes it",
      zframe(b"begin 644 x\n" + uu + b"`\nend\n"), also=["E_TAR"])
    odc = lambda n, d: b"070707%06o%06o%06o%06o%06o%06o%06o%011o%06o%011o" % (0, 1, 0o100644, 0, 0, 1, 0, 0, len(n) + 1, len(d)) + n + b"\0" + d
    z("cpio-in-zst", "reject", "E_TAR", "cpio (odc) instead of tar: all-formats readers accept", zframe(pad(odc(b"x", EVIL) + odc(b"TRAILER!!!", b""))),
      also=["E_CONTAINER", "E_TRUNC"])
    z("mtree-in-zst", "reject", "E_TAR", "mtree text instead of tar: its contents= key names a local path",
      zframe(b"#mtree\n./x type=file mode=0644 size=5 contents=/etc/hostname\n"), also=["E_CONTAINER", "E_TRUNC"])
    G, C = 10 << 30, b"data/report/c"
    cut = b.index(w.ent(w.top + b"/data/report/b.txt", w.content(b"data/report/b.txt")))
    at = lambda h, n, fill=b"\0": zframe(b[:cut] + h, (fill, n), b[cut:])
    z("bomb-10G", "reject", "E_LIMIT", "one 10 GiB file of zeros in 320 KiB", at(w.hdr(w.top + b"/" + C, rawsize=base256(G, 12)), G), unpacked=G)
    z("bomb-10G-after-eof", "reject", "E_LIMIT", "10 GiB of zeros after the end marker: only a draining reader sees them",
      zframe(b, (b"\0", G)), also=["E_TRAILING"], unpacked=G)
    z("bomb-pax-1G", "reject", "E_LIMIT", "pax header of 1 GiB: readers that load it whole die",
      at(w.hdr(b"PaxHeaders/%08d" % w.index(C), size=1 << 30, typ=b"x") + b"1073741824 path=", (1 << 30) - 16, b"A"), also=["E_TAR"], unpacked=1 << 30)
    z("bomb-gnuL-1G", "reject", "E_LIMIT", "GNU long name of 1 GiB", at(w.hdr(b"././@LongLink", size=1 << 30, typ=b"L"), 1 << 30, b"A"),
      also=["E_TAR", "E_PATH"], unpacked=1 << 30)
    start = b.index(w.top + b"/manifest-sha256.txt")
    z("bomb-manifest-1G", "reject", "E_LIMIT", "manifest of 1 GiB in one line",
      zframe(b[:start] + w.hdr(w.top + b"/manifest-sha256.txt", size=1 << 30), (b"a", 1 << 30), b), also=["E_MANIFEST"], unpacked=1 << 30)
    first = w.hdr(w.top + b"/bagit.txt", size=1 << 30)
    z("bomb-tag-1G", "reject", "E_LIMIT", "bagit.txt of 1 GiB", zframe(first, (b"a", 1 << 30), b), unpacked=1 << 30)
    start = b.index(w.top + b"/signatures/1.sigstore.json")
    z("bomb-signature-1G", "reject", "E_LIMIT", "bundle of 1 GiB",
      zframe(b[:start] + w.hdr(w.top + b"/signatures/1.sigstore.json", size=1 << 30), (b"a", 1 << 30), b), unpacked=1 << 30)
