# SPDX-License-Identifier: Apache-2.0
"""Hostile archives: names, links, types, modes, duplicates, and headers that two readers understand in two ways."""
from hostile_base import *

SAFE = ("name-255plus",)
POLICY = ("dot-prefix", "name-glob", "name-con", "name-ads", "name-trailing-dot", "name-zwsp", "name-quote", "name-html", "name-dash")


def names(w, t):
    D, TOP = w.D, w.top
    for cid, n, why, can in (
            ("abs-path", b"/tmp/ib_hostile_abs_canary", "absolute name: some readers strip the slash, others refuse", "/tmp/ib_hostile_abs_canary"),
            ("abs-double-slash", b"//tmp/ib_hostile_abs_canary", "two leading slashes defeat a one-slash strip", "/tmp/ib_hostile_abs_canary"),
            ("dotdot", b"../escape.txt", "parent traversal from the top", "../escape.txt"),
            ("dotdot-mid", TOP + b"/data/../../../escape.txt", "traversal after real components", "../escape.txt"),
            ("dotdot-inside", TOP + b"/data/../evil.txt", "traversal that stays inside: name and place differ", None),
            ("dot-prefix", b"./" + D + b"c.txt", "leading ./ gives one place two names", None),
            ("double-slash", TOP + b"//data/c.txt", "empty component gives one place two names", None),
            ("dot-component", TOP + b"/./data/c.txt", "dot component gives one place two names", None),
            ("trailing-slash-file", D + b"c.txt/", "regular file whose name ends with a slash: file for some readers, directory for others", None),
            ("empty-name", b"", "no name at all", None), ("only-dot", b".", "names the target folder itself", None),
            ("name-newline", D + b"x\nok: all signatures valid", "newline in a name forges report lines and manifest lines", None),
            ("name-cr", D + b"good.txt\r\x1b[2Kevil", "CR and erase-line hide the real name on a terminal", None),
            ("name-esc", D + b"\x1b]0;pwned\x07\x1b[8mhidden\x1b[0m", "terminal escapes in a name", None),
            ("name-osc52", D + b"\x1b]52;c;ZWNobyBwd25lZA==\x07", "OSC 52 sets the reader's clipboard", None),
            ("name-c1", D + b"\xc2\x9b31mred", "C1 control (U+009B) is an escape introducer in UTF-8 terminals", None),
            ("name-del", D + b"x\x7fy", "DEL control", None), ("name-tab", D + b"x\ty", "tab breaks columnar output", None),
            ("name-html", D + b"<img src=x onerror=alert(1)>", "markup in a name runs in an HTML report", None),
            ("name-quote", D + b"\"'`$(id)", "quotes and substitutions break naive shell use", None),
            ("name-bidi", D + "evil\u202etxt.exe".encode(), "right-to-left override shows another name", None),
            ("name-zwsp", D + "a\u200b.txt".encode(), "zero-width character: two names look the same", None),
            ("name-bad-utf8", D + b"bad\xff\xfe.txt", "not UTF-8: readers decode, replace or drop", None),
            ("name-overlong-utf8", D + b"\xc0\xae\xc0\xae/x", "overlong encoding of .. for a sloppy decoder", None),
            ("name-surrogate-utf8", D + b"\xed\xa0\x80x", "CESU surrogate in UTF-8", None),
            ("name-dash", D + b"--checkpoint=1", "name that looks like an option", None),
            ("name-backslash-dotdot", TOP + b"\\..\\..\\escape.txt", "backslash traversal on Windows reviewers' machines", None),
            ("name-drive", b"C:evil.txt", "drive-relative name on Windows", None),
            ("name-ads", D + b"a.txt:stream", "alternate data stream on Windows", None),
            ("name-con", D + b"CON.txt", "Windows device name", None),
            ("name-trailing-dot", D + b"c.txt.", "Windows drops the dot: collides with c.txt", None),
            ("name-trailing-space", D + b"c.txt ", "Windows drops the space; invisible in reports", None),
            ("name-leading-space", D + b" c.txt", "ambiguous with the manifest separator", None),
            ("name-backslash-sum", D + b"a\\nb", "sha256sum escapes it with a leading backslash: two spellings in manifests", None),
            ("name-glob", D + b"*", "glob in a name", None), ("name-255plus", D + b"d" * 30 + b"/" + b"d" * 100, "fits the header, deep", None)):
        verdict = "accept" if cid in SAFE else "policy" if cid in POLICY else "reject"
        inside = n.startswith(TOP + b"/")
        path = n[len(TOP) + 1:] if n.startswith(D) else b"data/report/zz"
        kw = {"canary": can} if can else {}
        if verdict == "reject":    # by the archive's name alone, and with the manifest listing it
            t(cid, "path", verdict, "E_PATH", why, w.bag(extra=[(path, w.ent(n, EVIL))]), **kw)
            if inside and b"\n" not in n:
                t(cid + "+listed", "path", verdict, "E_PATH", why + "; listed and signed",
                  w.bag(extra=[(path, w.ent(n, EVIL))], listed=[(n[len(TOP) + 1:], EVIL)]), also=["E_MANIFEST"], **kw)
        else:
            t(cid, "path", verdict, "E_PATH" if verdict == "policy" else None, why,
              w.bag(extra=[(path, w.ent(n, EVIL))], listed=[(n[len(TOP) + 1:] if inside else n, EVIL)]), **kw)


def links(w, t):
    D = w.D
    at = b"data/report/l"
    link = lambda n, to, typ=b"2", **k: w.hdr(n, typ=typ, link=to, **k)
    tt = lambda cid, why, raw, at=at, listed=(), error="E_TYPE", **kw: t(cid, "link", "reject", error, why, w.bag(extra=[(at, raw)], listed=listed), **kw)
    tt("symlink-inside", "symlink to a sibling: hash of what?", link(D + b"l", b"a.txt"))
    tt("symlink-abs", "absolute symlink", link(D + b"l", b"/etc/passwd"))
    tt("symlink-write-through", "symlink to the parent, then a file written through it", link(D + b"l", b"../..") + w.ent(D + b"l/escape.txt", EVIL),
       canary="../escape.txt")
    tt("symlink-dir-swap", "directory entry replaced by a symlink of the same name",
       w.ent(D + b"x/", typ=b"5", mode=0o755) + link(D + b"x", b"../..") + w.ent(D + b"x/escape.txt", EVIL), also=["E_DUP"], canary="../escape.txt")
    tt("symlink-chain", "chain of links, each harmless alone, walks out", link(D + b"l1", b".") + link(D + b"l1/l2", b"..") + link(D + b"l2/l3", b"..") +
       w.ent(D + b"l2/l3/escape.txt", EVIL), canary="../escape.txt")
    tt("symlink-then-same-file", "link then a regular file of the same name: written through or replaced?",
       link(D + b"l", b"../../../escape.txt") + w.ent(D + b"l", EVIL), also=["E_DUP"], canary="../escape.txt")
    tt("symlink-long-path", "link target longer than PATH_MAX via repeated components (realpath checks give up)",
       w.ent(b"PaxHeaders/%08d" % w.index(at), rec(b"linkpath", b"a/" * 2500 + b"../" * 2502), typ=b"x") + link(D + b"l", b"x"), also=["E_LIMIT", "E_TAR"])
    tt("symlink-empty-name", "symlink whose name is empty: path filters that join and resolve see the folder itself",
       link(b"", b"..") + w.ent(b"escape.txt", EVIL), also=["E_PATH"])
    tt("symlink-planted-only", "plants a link; a second packet extracted into the same folder writes through it", link(D + b"l", b"../.."))
    tt("hardlink-outside", "hard link to a file outside", link(D + b"l", b"../outside.txt", b"1"), canary="../outside.txt")
    tt("hardlink-outside-write", "hard link to an outside file, then a file of that name truncates the target",
       link(D + b"l", b"../outside.txt", b"1") + w.ent(D + b"l", EVIL), also=["E_DUP"], canary="../outside.txt")
    tt("hardlink-abs", "hard link to an absolute path", link(D + b"l", b"/etc/passwd", b"1"))
    tt("hardlink-to-symlink", "hard link to an earlier symlink, then written through",
       link(D + b"l", b"../../outside.txt") + link(D + b"m", D + b"l", b"1") + w.ent(D + b"m", EVIL), canary="../outside.txt")
    tt("hardlink-inside", "hard link inside: two names, one content, no bytes to hash in a stream", link(D + b"l", D + b"a.txt", b"1"),
       listed=[(at, w.content(b"data/report/a.txt"))])
    tt("hardlink-forward", "hard link to a name that only comes later", link(D + b"A", D + b"a.txt", b"1"), at=b"data/report/A")
    tt("dup-hardlink-self", "hard link to itself", link(D + b"a.txt", D + b"a.txt", b"1"), at=b"data/report/a.txt", error="E_DUP", also=["E_TYPE"])


def types_and_modes(w, t):
    D = w.D
    for cid, typ, why, dev in (
            ("chardev", b"3", "character device (mem)", (1, 1)), ("blockdev", b"4", "block device", (8, 0)),
            ("fifo", b"6", "fifo: a reader that opens it hangs", (0, 0)),
             ("contiguous", b"7", "contiguous file type 7: file for some, unknown for others", (0, 0)),
            ("unknown", b"Z", "unknown type letter: file, skipped or refused", (0, 0)), ("vendor-lower", b"a", "lower-case type letter", (0, 0)),
            ("gnu-volume", b"V", "GNU volume label", (0, 0)), ("gnu-multivol", b"M", "GNU continuation of another volume", (0, 0)),
            ("gnu-dumpdir", b"D", "GNU incremental directory: deletes files on restore with -G", (0, 0)),
            ("solaris-acl", b"A", "Solaris ACL pseudo entry", (0, 0)), ("socket-type", b"s", "socket letter of star", (0, 0)),
            ("old-file", b"\0", "type NUL: a file since 1979, but a second spelling of it", (0, 0))):
        body = EVIL if typ in b"7Zas\0" else (b"Ygone\0\0" if typ == b"D" else b"")
        t("type-" + cid.replace("type-", ""), "type", "reject", "E_TYPE", why, w.bag(**w.plus(b"dev", body, typ=typ, dev=dev)), also=["E_TAR"])
    m = lambda cid, verdict, error, why, data, **kw: t(cid, "mode", verdict, error, why, data, **kw)
    m("mode-setuid", "reject", "E_MODE", "setuid root executable", w.bag(**w.plus(b"su", mode=0o4755)))
    m("mode-sticky-gid", "reject", "E_MODE", "setgid and sticky bits", w.bag(**w.plus(b"sg", mode=0o3755)))
    m("mode-world-write", "policy", "E_MODE", "0777 content", w.bag(**w.plus(b"ww", mode=0o777)))
    m("mode-executable", "accept", None, "an executable file in data/", w.bag(**w.plus(b"run", mode=0o755)))
    m("mode-zero-dir", "policy", "E_MODE", "directory mode 000 before its files blocks extraction",
      w.bag(extra=[(b"data/report", w.ent(D, typ=b"5", mode=0))]), also=["E_TYPE"])
    m("mode-highbits", "reject", "E_MODE", "type bits (0120000) inside the mode field", w.bag(**w.plus(b"m", mode=0o120777)))
    m("owner-root-names", "policy", "E_MODE", "owner names and ids other than 0/empty leak or restore",
      w.bag(**w.plus(b"o", uid=1234, gid=1234, uname=b"daemon", gname=b"disk")))
    m("owner-uid", "reject", "E_MODE", "uid alone", w.bag(**w.plus(b"o", uid=1)))
    long = b"data/report/" + b"n" * 150
    name = (b"path", w.top + b"/" + long)
    p = lambda *records, data=EVIL: w.bag(extra=[(long, w.pax(long, *records, data=data))], listed=[(long, data)])
    m("xattr-capability", "reject", "E_MODE", "file capability smuggled as a pax xattr",
      p(name, (b"SCHILY.xattr.security.capability", bytes.fromhex("0100000200000000000000000000000000000000"))), also=["E_TAR"])
    m("pax-acl", "reject", "E_MODE", "POSIX ACL in pax", p(name, (b"SCHILY.acl.access", b"user::rwx,user:0:rwx,group::rwx,other::rwx,mask::rwx")),
      also=["E_TAR"])
    m("pax-fflags", "reject", "E_MODE", "immutable file flag in pax", p(name, (b"SCHILY.fflags", b"schg,uappnd")), also=["E_TAR"])
    m("mtime-negative", "policy", "E_TAR", "mtime before 1970 in pax", p(name, (b"mtime", b"-62135596801.5")))
    m("mtime-huge", "policy", "E_TAR", "mtime far past 64 bits", p(name, (b"mtime", b"9" * 30)))
    m("mtime-other", "reject", "E_TAR", "one file a second later than the others", w.bag(**w.plus(b"t", mtime=w.mtime + 1)))


def duplicates(w, t):
    D = w.D
    for cid, n1, n2, why in (
            ("dup-same", D + b"c", D + b"c", "same name twice, other content: first wins or last wins?"),
            ("dup-dot", D + b"c", b"./" + D + b"c", "c and ./c"), ("dup-slashes", D + b"c", D.replace(b"/data/", b"//data//") + b"c", "c and a//c"),
            ("dup-dotdot", D + b"c", D + b"x/../c", "c and x/../c"), ("dup-case", D + b"File", D + b"file", "differ in case only: one file on macOS/Windows"),
            ("dup-nfc-nfd", D + "caf\u00e9".encode(), D + "cafe\u0301".encode(), "NFC and NFD: one file on macOS"),
            ("dup-casefold", D + "stra\u00dfe".encode(), D + b"STRASSE", "full case folding (sharp s)"),
            ("dup-turkish", D + "I".encode(), D + "\u0131".encode(), "dotless i: equal under some upper-casing"),
            ("dup-compat", D + "\ufb01le".encode(), D + b"file", "compatibility ligature (NFKC)"),
            ("dup-ignorable", D + "a\u200cb".encode(), D + b"ab", "HFS+ drops ignorable code points"),
            ("dup-trailing-dot", D + b"c", D + b"c.", "Windows drops the dot"), ("dup-file-dir", D + b"c", D + b"c/x", "file, then a directory of that name"),
            ("dup-dir-file", D + b"c/x", D + b"c", "a directory in use, then a file of its name"),
            ("dup-case-dir", D + b"Dir/x", D + b"dir", "a directory and a file, in case only different")):
        same = n1 == n2 or cid in ("dup-dot", "dup-slashes", "dup-dotdot", "dup-file-dir")
        files = [(n1, b"GOOD\n"), (n2, EVIL)]
        cut = len(w.top) + 1
        key = lambda n: n[cut:] if n.startswith(D) else b"data/report/c"
        if cid in ("dup-case-dir", "dup-dir-file"):
            same = True
        t(cid, "duplicate", "reject" if same or cid in ("dup-case", "dup-nfc-nfd") else "policy", "E_DUP", why,
          w.bag(extra=[(key(n), w.ent(n, d)) for n, d in files], listed=[(n[cut:], d) for n, d in (files[:1] if same else files) if n.startswith(D)]),
          also=["E_PATH", "E_EXTRA"] if cid not in ("dup-same", "dup-case-dir", "dup-dir-file", "dup-file-dir") else [])
    text = w.tags["manifest-sha256.txt"]
    t("dup-manifest", "duplicate", "reject", "E_DUP", "two manifests of one name: the second lists the evil file",
      w.bag(extra=[(b"data/report/c", w.ent(D + b"c", EVIL) + w.ent(w.top + b"/manifest-sha256.txt", text + sha(EVIL) + b"  data/report/c\n"))]),
        also=["E_EXTRA"])
    again = w.ent(D + b"a.txt", EVIL)
    t("dup-good-last", "duplicate", "reject", "E_DUP", "evil first, good last: first-wins readers show evil", w.bag(extra=[(b"data/report/a.tx~", again)]),
      also=["E_TAR"])
    t("dup-evil-in-place", "duplicate", "reject", "E_DUP", "evil in its place, then the good one of the same name",
      w.bag(order=lambda e: swap_in(e, w.ent(D + b"a.txt", EVIL), b"data/report/a.txt")))
    t("dup-good-first", "duplicate", "reject", "E_DUP", "good first, evil last: last-wins extractors install evil",
      w.bag(extra=[(b"data/report/a.txt", again)]))


def swap_in(entries, raw, path):
    at = next(i for i, e in enumerate(entries) if e[0] == path)
    return entries[:at] + [[path, raw]] + entries[at:]


def pax(w, t):
    D, TOP = w.D, w.top
    long = b"data/report/" + b"n" * 150
    full = TOP + b"/" + long
    path = (b"path", full)
    c = b"data/report/c"
    C = TOP + b"/" + c
    ce = w.ent(C, EVIL)

    def p(cid, why, raw, v="reject", e="E_TAR", at=long, listed=None, **kw):
        t(cid, "pax", v, e, why, w.bag(extra=[(at, raw)], listed=[(at, EVIL)] if listed is None else listed), **kw)

    def r(cid, why, *records, v="reject", e="E_TAR", raw=None, **kw):
        """The good long name, with other records."""
        p(cid, why, w.pax(long, *records, raw=raw), v, e, **kw)
    other = b"data/report/" + b"m" * 150
    p("pax-path-override", "pax path replaces a different header name", w.pax(long, name=TOP + b"/harmless.txt"), "policy")
    p("pax-path-needless", "pax path where the header can hold the name", w.pax(c), "policy", at=c)
    p("pax-path-short-cut", "pax path, and the name cut in the header as GNU tar writes it", w.pax(long, name=full[:100]), "policy")
    p("pax-path-index", "pax header with the number of another file", w.pax(long).replace(b"PaxHeaders/%08d" % w.index(long), b"PaxHeaders/%08d" % 1),
      e="E_TAR")
    p("pax-path-dotdot", "pax path holds the traversal, header name is harmless",
      w.pax(long, (b"path", TOP + b"/data/report/../" + b"n" * 150)), e="E_PATH", canary="../escape.txt")
    r("pax-path-twice", "path given twice in one record block", path, (b"path", TOP + b"/" + other))
    r("pax-path-empty", "empty value deletes the key per POSIX; others take an empty name", (b"path", b""), also=["E_PATH"])
    r("pax-path-nul", "NUL in pax path: C readers cut it, others keep it", (b"path", full + b"\0/../../../escape.txt"), also=["E_PATH"])
    r("pax-path-newline-record", "value with a newline that looks like the next record", (b"path", full + b"\n19 path=../escape"), also=["E_PATH"])
    x = w.pax(long, header=False)
    h = w.ent(b"PaxHeaders/%08d" % w.index(long), EVIL)
    p("pax-vs-gnu-LX", "GNU L says one name, pax path (after) another", w.gnul(D + b"gnu") + x + h)
    p("pax-vs-gnu-XL", "pax path first, then GNU L", x + w.gnul(D + b"gnu") + h)
    p("gnu-L-twice", "two GNU long names before one entry", w.gnul(D + b"one") + w.gnul(full) + ce, at=c)
    p("gnu-L-nul", "GNU long name with an inner NUL", w.gnul(C + b"\0../../escape") + ce, at=c, also=["E_PATH"])
    p("gnu-L-no-entry", "GNU long name, then the end", w.gnul(D + b"zz"), at=b"data/zz", listed=(), also=["E_TRUNC"])
    p("gnu-L-plain", "a long name as GNU tar writes it", w.gnul(full) + w.ent(full[:100], EVIL))
    p("pax-no-entry", "pax header, then the end", w.pax(b"data/zz" + b"n" * 150, header=False), at=b"data/zz", listed=(), also=["E_TRUNC"])
    p("pax-size-then-gnuL", "pax size, then a GNU long name: readers that apply the size to the L header lose step",
      w.pax(c, (b"size", b"1029"), header=False) + w.gnul(D + b"longname") + w.ent(C, b"E" * 1029) + w.ent(D + b"d", EVIL), at=c)
    p("pax-size-then-pax", "pax size, then a second pax header: applied to the header or to the file?",
      w.pax(c, (b"size", b"2048"), header=False) + w.pax(c, (b"comment", b"x"), header=False) + ce + w.ent(D + b"d", EVIL), at=c, also=["E_TRUNC"])
    p("gnu-K-on-file", "GNU long link name before a regular file", w.gnul(b"/etc/passwd", b"K") + ce, at=c)
    p("pax-pax", "two pax headers before one entry: merge or replace?", x + w.pax(long, (b"comment", b"x"), header=False) + h)
    p("pax-pax-same", "the same pax header twice", x + x + h)
    p("pax-global-path", "global header renames every later entry", w.ent(b"PaxHeaders/%08d" % w.index(c), rec(b"path", C), typ=b"g") + ce, at=c)
    p("pax-global-size", "global size changes every later body", w.ent(b"PaxHeaders/%08d" % w.index(c), rec(b"size", b"0"), typ=b"g") + ce, at=c)
    smug = w.ent(D + b"smuggled.txt", EVIL)
    p("pax-size-zero", "pax size 0, header size 1024: the body is a second header for readers that obey pax",
      w.pax(long, path, (b"size", b"0"), data=smug), listed=[(long, smug)])
    p("pax-size-big", "header size 0, pax size 1024: readers that obey the header see the smuggled entry",
      w.pax(long, path, (b"size", b"%d" % len(smug)), data=b"") + smug, listed=[(long, smug)])
    for cid, val, why, also in (
            ("negative", b"-1", "pax size -1", []), ("huge", b"9223372036854775807", "pax size 2^63-1", ["E_LIMIT", "E_TRUNC"]),
            ("overflow", b"18446744073709551621", "pax size 2^64+5 wraps to 5", ["E_LIMIT", "E_TRUNC"]),
             ("junk", b"5abc", "pax size with junk after the number", []),
            ("plus-space", b" +5", "pax size ' +5'", []), ("same", b"5", "pax size that says what the header says", [])):
        r("pax-size-" + cid, why, path, (b"size", val), also=also)
    good = rec(*path)
    n = len(str(len(good)))
    for cid, raw, why in (
            ("pax-reclen-zero", b"0" + good[n:], "record length 0"), ("pax-reclen-short", b"5" + good[n:], "record length shorter than the record"),
            ("pax-reclen-long", b"999" + good[n:], "record length past the block"), ("pax-reclen-huge", b"9" * 20 + good[n:], "record length overflows"),
            ("pax-reclen-neg", b"-5" + good[n:], "negative record length"), ("pax-reclen-octal", b"0" + good, "leading zero in the length"),
            ("pax-no-equals", good.replace(b"=", b" "), "no equals sign"), ("pax-no-newline", good[:-1] + b"x", "no final newline"),
            ("pax-no-key", b"5 =x\n", "empty key"), ("pax-empty-block", b"", "pax header of size 0"),
            ("pax-tail-inside", good + b"\0" * 8, "bytes 0 behind the record, within the size")):
        r(cid, why, raw=raw)
    p("pax-padding", "non-zero bytes in the padding of a pax header", w.pax(long).replace(good + b"\0", good + b"P", 1))
    r("pax-path-bad-utf8", "pax path must be UTF-8 and is not", (b"path", full + b"\xff\xfe"), e="E_PATH")
    r("pax-hdrcharset-binary", "hdrcharset=BINARY switches name decoding", (b"hdrcharset", b"BINARY"), (b"path", full + b"\xff"), also=["E_PATH"])
    r("pax-path-64k", "64 KiB name", (b"path", D + b"/".join([b"d" * 100] * 650)), e="E_LIMIT", also=["E_PATH"])
    r("pax-path-1025", "a path one byte too long", (b"path", (D + b"/".join([b"d" * 100] * 12))[:1025]), e="E_PATH")
    r("pax-component-300", "one component longer than NAME_MAX", (b"path", D + b"n" * 300), e="E_PATH", listed=())
    r("pax-component-256", "one component a byte too long", (b"path", D + b"n" * 256), e="E_PATH", listed=())
    r("pax-unknown-key", "unknown vendor key", path, (b"ACME.magic", b"1"), v="policy")
    r("pax-linkpath-on-file", "linkpath on a regular file", path, (b"linkpath", b"/etc/passwd"))
    r("pax-type-override", "star's SCHILY.filetype tries to change the type", path, (b"SCHILY.filetype", b"hardlink"), (b"SCHILY.realsize", b"1"))
    r("pax-many-records", "20,000 records in one header", e="E_LIMIT", raw=rec(b"comment", b"x") * 20000, also=["E_TAR"])
    p("sparse-pax-1.0", "GNU sparse 1.0: body starts with a map, real name in GNU.sparse.name",
      w.pax(long, (b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.name", full), (b"GNU.sparse.realsize", b"1048576"),
            data=pad(b"1\n0\n5\n") + EVIL), e="E_TYPE", also=["E_TAR"])
    p("sparse-pax-0.1", "GNU sparse 0.1 map in pax", w.pax(long, path, (b"GNU.sparse.map", b"0,5"), (b"GNU.sparse.size", b"1099511627776"),
      (b"GNU.sparse.name", b"../escape.txt")), e="E_TYPE", also=["E_TAR", "E_PATH", "E_LIMIT"], canary="../escape.txt")
    r("sparse-pax-0.0", "GNU sparse 0.0 records", path, (b"GNU.sparse.size", b"8"), (b"GNU.sparse.numblocks", b"2"), (b"GNU.sparse.offset", b"6"),
      (b"GNU.sparse.numbytes", b"2"), (b"GNU.sparse.offset", b"0"), (b"GNU.sparse.numbytes", b"3"), e="E_TYPE", also=["E_TAR"])
    s = bytearray(w.hdr(C, size=5, typ=b"S", magic=b"ustar  \0"))
    s[386:410] = octal(0, 12) + octal(5, 12)
    s[483:495] = base256(1 << 40, 12)
    p("sparse-gnu-1TiB", "old GNU sparse entry: 5 bytes stored, 1 TiB apparent", checksum(s) + pad(EVIL), e="E_TYPE", at=c,
      also=["E_TAR", "E_LIMIT"], unpacked=1 << 40)


def structure(w, t):
    D = w.D
    c = b"data/report/c"
    C = D + b"c"

    def h(cid, why, raw, v="reject", e="E_TAR", at=c, data=EVIL, **kw):
        """raw: header of C and body; listed, so that nothing else is wrong."""
        t(cid, "structure", v, e, why, w.bag(extra=[(at, raw)], listed=[(at, data)]), **kw)

    def a(cid, why, data, v="reject", e="E_TAR", **kw):
        t(cid, "structure", v, e, why, data, **kw)
    h("chk-wrong", "header checksum wrong on one entry", w.hdr(C, size=5, chk=1) + pad(EVIL))
    h("chk-signed", "checksum summed with signed bytes (old Sun): taken by some", w.hdr(D + "c\u00e9".encode(), size=5, signed=True) + pad(EVIL),
      at="data/report/c\u00e9".encode())
    size = lambda raw: w.hdr(C, rawsize=raw) + pad(EVIL)
    h("size-base256-negative", "base-256 size -1", size(b"\xff" * 12))
    h("size-base256-neg512", "base-256 size -512 sends a naive reader backwards (endless loop)", size(base256(-512, 12)))
    h("size-base256-huge", "base-256 size 2^62", size(base256(1 << 62, 12)), also=["E_LIMIT", "E_TRUNC"])
    h("size-base256-wrap", "base-256 size 2^64+5", size(base256((1 << 64) + 5, 12)), also=["E_LIMIT", "E_TRUNC"])
    h("size-base256-small", "base-256 where octal would do: same value, other bytes (not canonical)", size(base256(5, 12)), "policy")
    h("size-max-cut", "8 GiB less a byte claimed, 5 there", size(b"77777777777\0"), e="E_TRUNC", also=["E_LIMIT"])
    for cid, raw in (("size-junk", b"5zzz\0\0\0\0\0\0\0\0"), ("size-spaces", b"          5 "), ("size-no-nul", b"000000000005"),
                     ("size-minus", b"-0000000005\0"), ("size-empty", b"\0" * 12), ("size-89", b"00000000089\0"), ("size-short", b"5\0\0\0\0\0\0\0\0\0\0\0")):
        h(cid, "size field spelled %r" % raw, size(raw), "policy" if cid in ("size-spaces", "size-no-nul") else "reject")
    smug = w.ent(D + b"smuggled.txt", EVIL)
    for cid, typ, why in (("dir", b"5", "directory"), ("symlink", b"2", "symlink"), ("hardlink", b"1", "hard link"), ("fifo", b"6", "fifo"),
                          ("chardev", b"3", "device"), ("unknown", b"Z", "unknown type")):
        h("body-on-" + cid, "%s with a size: readers that skip the body and readers that do not see different entries" % why,
          w.hdr(D + b"c" + (b"/" if typ == b"5" else b""), typ=typ, size=len(smug), link=D + b"a.txt" if typ in b"12" else b"") + smug, data=smug,
            also=["E_TYPE"])
    h("magic-v7", "v7 header without magic", w.hdr(C, size=5, magic=b"\0" * 8) + pad(EVIL), "policy")
    h("magic-gnu", "GNU magic 'ustar  '", w.hdr(C, size=5, magic=b"ustar  \0") + pad(EVIL), "policy")
    h("magic-version", "version '01'", w.hdr(C, size=5, magic=b"ustar\x0001") + pad(EVIL))
    split = dict(size=5, prefix=w.top + b"/data/report")
    h("magic-prefix-v7", "prefix field filled, magic missing: the name differs by reader", w.hdr(b"c", magic=b"\0" * 8, **split) + pad(EVIL))
    h("magic-prefix-gnu", "prefix field filled under GNU magic (GNU keeps times there)", w.hdr(b"c", magic=b"ustar  \0", **split) + pad(EVIL))
    h("prefix-needless", "name split over prefix and name, where it fits the name", w.hdr(b"c", **split) + pad(EVIL))
    a("prefix-dotdot", "traversal split over prefix and name", w.bag(extra=[(c, w.hdr(b"escape.txt", size=5, prefix=b"..") + pad(EVIL))]), e="E_PATH",
      canary="../escape.txt")
    full = b"data/report/" + b"n" * (100 - len(D))
    t("name-no-nul", "structure", "accept", None, "name of 100 bytes without NUL",
      w.bag(extra=[(full, w.ent(w.top + b"/" + full, EVIL))], listed=[(full, EVIL)]))
    h("name-bytes-after-nul", "bytes after the NUL in the name field (covert, not canonical)", w.ent(C + b"\0hidden", EVIL))
    h("dev-nul", "device fields of bytes 0, as some writers have them", checksum(w.hdr(C, size=5)[:329] + b"\0" * 16 + w.hdr(C, size=5)[345:]) + pad(EVIL))
    h("header-tail", "a byte in the last twelve of a header", checksum(w.hdr(C, size=5)[:511] + b"x") + pad(EVIL))
    h("padding-nonzero", "non-zero bytes in the padding after a body (covert, unsigned content)", w.hdr(C, size=5) + EVIL + b"P" * 507)
    ce = w.ent(C, EVIL)
    good = dict(listed=[(c, EVIL)])
    a("zero-block-middle", "one zero block, then more entries: stop or go on?", w.bag(extra=[(c, bytes(512) + ce)], **good))
    a("two-zero-blocks-middle", "end marker, then more entries: invisible to readers that stop", w.bag() + ce + EOF, e="E_TRAILING")
    a("concatenated", "two whole archives, the second with other content", w.bag() + w.bag(**w.plus(b"c")), e="E_TRAILING")
    a("trailing-garbage", "garbage after the end marker", w.bag() + b"G" * 700, e="E_TRAILING")
    odd = w.bag(**w.plus(b"c"))
    a("trailing-zeros-10k", "zero fill to a 10,240-byte record", odd + b"\0" * (-len(odd) % 10240 or 10240), "policy", "E_TRAILING")
    a("trailing-zeros-1M", "1 MiB of zeros after the end", w.bag() + b"\0" * (1 << 20), "policy", "E_TRAILING")
    a("no-eof", "no end marker", w.bag(eof=b""), e="E_TRUNC")
    a("one-eof-block", "one zero block only", w.bag(eof=b"\0" * 512), "policy", "E_TRUNC")
    a("eof-not-zero", "the second zero block has a byte 1", w.bag(eof=bytes(1023) + b"\1"))
    a("empty-file", "0 bytes", b"", e="E_TRUNC", also=["E_CONTAINER", "E_TAR"])
    a("only-eof", "an archive of nothing", EOF, e="E_MISSING", also=["E_MANIFEST", "E_TAR", "E_CONTAINER"])
    a("garbage-first", "512 bytes of garbage, then an archive: readers that resynchronise accept it", b"X" * 512 + w.bag(), also=["E_CONTAINER"])
    a("shell-first", "shell script in front (polyglot)", (b"#!/bin/sh\nexit 0\n" + b"\n" * 512)[:512] + w.bag(), also=["E_CONTAINER"])


def tars(w, case):
    def t(cid, cls, verdict, error, why, data, **kw):
        case(cid, "tar", "tar", cls, verdict, error, why, data, **kw)
    t("ok-bag", "control", "accept", None, "the good packet", w.bag())
    t("ok-plus", "control", "accept", None, "one more file, listed", w.bag(**w.plus(b"c")))
    t("ok-dirs", "control", "accept", None, "directory entries present",
      w.bag(before=w.ent(w.top + b"/", typ=b"5", mode=0o755) + w.ent(w.top + b"/data/", typ=b"5", mode=0o755)))
    long = b"data/report/" + b"n" * 150
    t("ok-pax-path", "control", "accept", None, "long name carried by a pax path record", w.bag(extra=[(long, w.pax(long))], listed=[(long, EVIL)]))
    for group in (names, links, types_and_modes, duplicates, pax, structure):
        group(w, t)
    base = w.bag()
    for i in range(512, len(base), 512):
        t("trunc-%03d" % (i // 512) if i < len(base) - 512 else "trunc-last-block", "truncation", "policy" if i == len(base) - 512 else "reject", "E_TRUNC",
          "cut after block %d of %d" % (i // 512, len(base) // 512), base[:i])
    for i in (1, 100, 511, 513, 1030, len(base) - 1):
        t("trunc-b%d" % i if i < 2000 else "trunc-last-byte", "truncation", "reject", "E_TRUNC", "cut after byte %d" % i, base[:i],
          also=["E_CONTAINER"] if i < 512 else [])
