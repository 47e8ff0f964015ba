# SPDX-License-Identifier: Apache-2.0
"""Hostile envelopes, Statements and SSH signatures. Everything else in the packet is as it should be."""
from hostile_base import *

BUNDLE = "signatures/1.sigstore.json"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def envelopes(w, case):
    good, other, second = w.key, Key.label("stranger"), Key.label("second")

    def d(cid, verdict, error, why, make, payload=None, drop=(), **kw):
        """make(payload, good signature): the bundle, or files of signatures/ by name. payload: another one, signed."""
        def sigs(files, p):
            new = make(p, sig_of(good, pae(p)))
            files.update(new if isinstance(new, dict) else {BUNDLE: new})
            return {n: x for n, x in files.items() if n not in drop}
        case("dsse-" + cid, "dsse", "tar", "signature", verdict, error, why, w.bag(sigs=sigs, payload=payload), **kw)
    E = lambda p, sigs, **kw: wrap(envelope(p, sigs, **kw), good.id)
    evil = compact({"evil": 1})
    d("ok", "accept", None, "correct envelope", lambda p, G: E(p, [G]))
    d("no-keyid", "accept", None, "keyid is an unsigned hint: absent is fine", lambda p, G: E(p, [{"sig": G["sig"]}]))
    d("payload-changed", "reject", "E_SIG", "payload replaced", lambda p, G: E(p.replace(b"urn:", b"url:"), [G]))
    d("type-changed", "reject", "E_SIG", "payloadType replaced (type confusion)", lambda p, G: E(p, [G], pt="application/json"), also=["E_DSSE"])
    d("type-signed-other", "reject", "E_DSSE", "validly signed, but the type is not an in-toto Statement",
      lambda p, G: E(p, [sig_of(good, pae(p, "text/plain"))], pt="text/plain"))
    d("sig-over-raw", "reject", "E_SIG", "signature over the payload, not over PAE", lambda p, G: E(p, [sig_of(good, p)]))
    d("sig-over-b64", "reject", "E_SIG", "signature over the base64 text", lambda p, G: E(p, [sig_of(good, pae(b64(p).encode()))]))
    d("sig-over-json-bytes", "reject", "E_SIG", "signature over other JSON bytes of the same Statement",
      lambda p, G: E(json.dumps(json.loads(p), indent=1).encode(), [G]))
    two = lambda p, G, k1, a, k2, b, s=None: wrap(b'{"%s":"%s","%s":"%s","payloadType":"%s","signatures":%s}' % (
        k1, b64(a).encode(), k2, b64(b).encode(), PT.encode(), s or compact([G])), good.id)
    d("two-payloads", "reject", "E_JSON", "two payload members: signature checked on one, content read from the other",
      lambda p, G: two(p, G, b"payload", p, b"payload", evil), also=["E_DSSE"])
    d("two-payloads-good-last", "reject", "E_JSON", "the same, good one last", lambda p, G: two(p, G, b"payload", evil, b"payload", p), also=["E_DSSE"])
    d("two-payloads-case", "reject", "E_DSSE", "payload and Payload (case-blind decoders take the last)",
      lambda p, G: two(p, G, b"payload", p, b"Payload", evil), also=["E_JSON"])
    d("two-payloads-escaped", "reject", "E_JSON", "second payload spelled with an escape",
      lambda p, G: two(p, G, b"payload", p, b"p\\u0061yload", evil), also=["E_DSSE"])
    d("two-signature-lists", "reject", "E_JSON", "signatures twice",
      lambda p, G: wrap(envelope(p, [])[:-1] + b',"signatures":%s}' % compact([G]), good.id), also=["E_DSSE"])
    d("unknown-member", "policy", "E_DSSE", "unknown member: unsigned content beside the signature",
      lambda p, G: wrap(envelope(p, [G])[:-1] + b',"note":"approved by the lab"}', good.id))
    d("unknown-member-bundle", "policy", "E_DSSE", "unknown member of the bundle", lambda p, G: E(p, [G])[:-2] + b',"note":"approved"}\n')
    d("spaces", "policy", "E_DSSE", "a space in the JSON", lambda p, G: E(p, [G]).replace(b'"tlogEntries":[]', b'"tlogEntries": []'))
    d("member-order", "policy", "E_DSSE", "payloadType first", lambda p, G: wrap(compact({"payloadType": PT, "payload": b64(p), "signatures": [G]}), good.id))
    d("no-newline", "policy", "E_DSSE", "no LF at the end", lambda p, G: E(p, [G])[:-1])
    d("hint-other", "reject", "E_DSSE", "hint of another key than keyid", lambda p, G: wrap(envelope(p, [G]), second.id))

    def b64case(cid, verdict, why, change):
        d("b64-" + cid, verdict, "E_DSSE", why, lambda p, G: E(p, [G], p64=change(b64(p), p)))

    def signed_pad(p, n):
        """The Statement with a question so long that base64 needs padding of n."""
        for i in range(3):
            q = p.replace(b'"question":"', b'"question":"' + b"?>"[:1] * i)
            if -len(q) % 3 == n:
                return q
    q2, q0 = (lambda p: signed_pad(p, 2)), (lambda p: signed_pad(p, 0))
    std = lambda p: p.replace(b'"question":"', '"question":"\u07ff>>>???~~~'.encode())
    d("b64-urlsafe", "policy", "E_DSSE", "url-safe alphabet: two spellings of one envelope",
      lambda p, G: E(p, [G], p64=base64.urlsafe_b64encode(p).decode()), payload=std)
    d("b64-mixed", "reject", "E_DSSE", "both alphabets in one string",
      lambda p, G: E(p, [G], p64=re.sub("[+/]", lambda x: "-" if x[0] == "+" else "_", b64(p), count=1)), payload=std)
    d("b64-trailing-bits", "reject", "E_DSSE", "non-zero bits under the padding: 16 spellings of one payload",
      lambda p, G: E(p, [G], p64=b64(p)[:-3] + ALPHABET[ALPHABET.index(b64(p)[-3]) | 5] + "=="), payload=q2)
    d("b64-no-padding", "policy", "E_DSSE", "padding left out", lambda p, G: E(p, [G], p64=b64(p).rstrip("=")), payload=q2)
    d("b64-padded", "accept", None, "padding of two, as it should be", lambda p, G: E(p, [G]), payload=q2)
    d("b64-extra-padding", "reject", "E_DSSE", "too much padding", lambda p, G: E(p, [G], p64=b64(p) + "=="), payload=q0)
    d("b64-padding-middle", "reject", "E_DSSE", "padding in the middle: decoders that stop there read less",
      lambda p, G: E(p, [G], p64=b64(p) + b64(b"more")), payload=q2)
    b64case("newlines", "reject", "line breaks inside", lambda s, p: "\n".join(s[i:i + 64] for i in range(0, len(s), 64)))
    b64case("spaces", "reject", "spaces inside", lambda s, p: " " + s[:10] + " " + s[10:])
    b64case("junk", "reject", "characters outside the alphabet that lax decoders drop", lambda s, p: s[:10] + "!*" + s[10:])
    b64case("nul", "reject", "escaped NUL in the base64", lambda s, p: s + "\0AAAA")
    d("b64-empty", "reject", "E_DSSE", "empty payload, validly signed", lambda p, G: E(b"", [sig_of(good, pae(b""))]))
    d("payload-not-string", "reject", "E_DSSE", "payload is an object",
      lambda p, G: wrap(compact({"payload": json.loads(p), "payloadType": PT, "signatures": [G]}), good.id))
    d("no-signatures", "reject", "E_SIG", "empty signature list: a loop over nothing verifies", lambda p, G: E(p, []), also=["E_DSSE"])
    d("signatures-null", "reject", "E_DSSE", "signatures null", lambda p, G: E(p, None), also=["E_SIG"])
    d("signatures-object", "reject", "E_DSSE", "signatures not a list", lambda p, G: E(p, G), also=["E_SIG"])
    d("bad-then-good", "policy", "E_SIG", "one bad and one good signature", lambda p, G: E(p, [sig_of(other, b"x", good.id), G]), also=["E_DSSE"])
    d("same-twice-threshold", "reject", "E_TRUST", "one key twice makes no second signer", lambda p, G: E(p, [G, G]), also=["E_DSSE"])
    d("same-key-two-files", "reject", "E_DSSE", "one key twice, as signer 1 and 2", lambda p, G: {"signatures/2.sigstore.json": E(p, [G])})
    d("same-key-two-ids", "reject", "E_TRUST", "one key under two keyids", lambda p, G: E(p, [G, dict(G, keyid=second.id)]), also=["E_DSSE"])
    two_keys = lambda p, key=second: {"signatures/2.sigstore.json": w.bundle(p, key), key.file: key.pem}
    d("two-keys-threshold", "accept", None, "two keys, two signers", lambda p, G: two_keys(p), trust="both")
    d("second-signer-unknown", "accept", None, "a second signer that nobody knows beside the trusted one", lambda p, G: two_keys(p, other))
    d("second-signer-gap", "reject", "E_MISSING", "signers 1 and 3", lambda p, G: {"signatures/3.sigstore.json": w.bundle(p, second), second.file: second.pem})
    d("second-signer-other", "reject", "E_BINDING", "the second signer signed another Statement",
      lambda p, G: two_keys(p.replace(b'"question":"', b'"question":"x')))
    d("signatures-5000", "reject", "E_LIMIT", "5,000 signatures: work before refusal", lambda p, G: E(p, [{"keyid": "x", "sig": "AAAA"}] * 5000 + [G]),
      also=["E_SIG", "E_DSSE"])
    d("files-66", "reject", "E_LIMIT", "66 files in signatures/", lambda p, G: {"signatures/%d.sigstore.json" % i: E(p, [G]) for i in range(1, 67)})
    by = lambda key: (lambda p, G: {BUNDLE: w.bundle(p, key), key.file: key.pem})
    d("stranger", "reject", "E_TRUST", "valid signature by an unknown key", by(other), drop=(good.file,))
    d("stranger-claims-id", "reject", "E_SIG", "stranger signs under the trusted keyid", lambda p, G: E(p, [sig_of(other, pae(p), good.id)]), also=["E_TRUST"])
    d("good-wrong-id", "policy", "E_TRUST", "trusted key signs under an unknown keyid (a hint only)", lambda p, G: E(p, [dict(G, keyid="nope")]),
      also=["E_DSSE"])
    d("embedded-key", "reject", "E_TRUST", "the envelope brings its own public key: trust must not come from the packet",
      lambda p, G: {BUNDLE: wrap(envelope(p, [dict(sig_of(other, pae(p)), publicKey=other.pub.hex())]), other.id), other.file: other.pem},
        drop=(good.file,), also=["E_DSSE"])
    d("key-file-alone", "reject", "E_KEY", "a key file without a signature by its key", lambda p, G: {other.file: other.pem})
    d("key-file-swapped", "reject", "E_KEY", "the signer's key file holds a stranger's key", lambda p, G: {good.file: other.pem})
    d("key-file-missing", "reject", "E_MISSING", "no key file", lambda p, G: {}, drop=(good.file,))
    d("unsigned", "reject", "E_TRUST", "no signature at all", lambda p, G: {}, drop=(good.file, BUNDLE, "signatures/empty_trusted_root.json"))
    d("expired", "reject", "E_TRUST", "key past its validity", lambda p, G: {}, trust="expired")
    d("revoked", "reject", "E_TRUST", "key taken out of the list of trusted ones", lambda p, G: {}, trust="second")
    raw = lambda f: (lambda p, G: E(p, [{"keyid": good.id, "sig": b64(f(p))}]))
    d("malleable", "reject", "E_SIG", "S+L: second valid-looking signature", raw(lambda p: good.sign(pae(p), LORD)))
    d("sig-63", "reject", "E_SIG", "63 bytes", raw(lambda p: good.sign(pae(p))[:63]), also=["E_DSSE"])
    d("sig-65", "reject", "E_SIG", "65 bytes", raw(lambda p: good.sign(pae(p)) + b"\0"), also=["E_DSSE"])
    d("sig-zero", "reject", "E_SIG", "all-zero signature", raw(lambda p: b"\0" * 64))
    d("ph-context", "reject", "E_SIG", "Ed25519ph-style prehash signature",
      raw(lambda p: good.sign(b"SigEd25519 no Ed25519 collisions\1\0" + hashlib.sha512(pae(p)).digest())))
    weak = Key(b"", pub=b"\1" + b"\0" * 31)
    one = enc(GB) + (1).to_bytes(32, "little")
    for cid, change in (("a", lambda p: p), ("b", lambda p: p.replace(b'"question":"', b'"question":"evil'))):
        d("small-order-key-" + cid, "reject", "E_KEY", "key is the identity point: R=B, S=1 verifies any message (OpenSSL accepts)",
          lambda p, G, change=change: {BUNDLE: wrap(envelope(change(p), [{"keyid": weak.id, "sig": b64(one)}]), weak.id), weak.file: weak.pem},
            drop=(good.file,))
    d("low-order-r", "reject", "E_SIG", "R is the identity point", raw(lambda p: b"\1" + b"\0" * 31 + good.sign(pae(p))[32:]))


def statements(w, case):
    def S(cid, error, why, change=None, verdict="reject", raw=None, **kw):
        """change: of the Statement; raw: of its bytes. Both are signed by the trusted key."""
        case("dsse-st-" + cid, "dsse", "tar", "signature", verdict, error, why, w.bag(stmt=change, payload=raw), **kw)
    first = lambda s: s["subject"][0]

    def put(**kw):
        return lambda s: dict(s, **kw)

    def digest(f):
        def change(s):
            s["subject"][0]["digest"] = f(s["subject"][0]["digest"])
        return change
    S("bad-json", "E_JSON", "payload is not JSON", raw=lambda p: b"{")
    S("dup-subject-key", "E_JSON", "subject member twice", raw=lambda p: p[:-1] + b',"subject":[]}')
    S("dup-digest-key", "E_JSON", "sha256 twice in a digest set", raw=lambda p: p.replace(b'"digest":{', b'"digest":{"sha256":"%s",' % (b"0" * 64)))
    S("wrong-type", "E_DSSE", "_type of another kind", put(_type="https://example.invalid/other"))
    S("type-v01", "E_DSSE", "_type Statement/v0.1", put(_type="https://in-toto.io/Statement/v0.1"), "policy")
    S("wrong-predicate", "E_DSSE", "predicate type of another tool, validly signed by the same key", put(predicateType="https://slsa.dev/provenance/v1"))
    S("subject-empty", "E_DSSE", "no subject: nothing is attested", put(subject=[]))
    S("subject-missing", "E_DSSE", "subject absent", lambda s: {k: v for k, v in s.items() if k != "subject"})
    S("subject-md5", "E_ALG", "md5 only", digest(lambda d: {"md5": "0" * 32}), also=["E_DSSE"])
    S("subject-two-one-wrong", "E_HASH", "sha256 right, sha512 wrong: any-of verifiers accept", digest(lambda d: dict(d, sha512="0" * 128)),
      also=["E_ALG", "E_DSSE"])
    S("subject-upper", "E_DSSE", "upper-case hex digest", digest(lambda d: {"sha256": d["sha256"].upper()}), "policy")
    S("subject-short", "E_DSSE", "cut digest", digest(lambda d: {"sha256": d["sha256"][:16]}), also=["E_HASH"])
    S("subject-digest-empty", "E_DSSE", "empty digest set matches anything", digest(lambda d: {}))
    S("subject-wrong", "E_HASH", "digest of something else", digest(lambda d: {"sha256": "0" * 64}))
    S("subject-absent-file", "E_MISSING", "subject that is not in the packet",
      lambda s: s["subject"].append({"name": "ghost.txt", "digest": first(s)["digest"]}), "policy", also=["E_DSSE"])
    S("subject-dup-name", "E_DSSE", "one name, two digests", lambda s: s["subject"].append(dict(first(s), digest={"sha256": "0" * 64})), also=["E_HASH"])
    S("subject-dotdot", "E_PATH", "subject name leaves the packet", lambda s: first(s).update(name="../tagmanifest-sha256.txt"), also=["E_MISSING", "E_DSSE"])
    S("subject-only-data", "E_EXTRA", "signature covers one data file, not the manifest: everything else is unsigned",
      lambda s: s.update(subject=[x for x in s["subject"] if x["name"] == "data/contract.yaml"]), also=["E_BINDING", "E_DSSE"])
    S("predicate-other-run", "E_BINDING", "predicate counts a run that the ledger does not hold", lambda s: s["predicate"]["runs"].update(completed=5))
    S("predicate-other-study", "E_BINDING", "predicate names another study", lambda s: s["predicate"]["study"].update(name="other"))
    S("predicate-other-contract", "E_BINDING", "predicate names another contract", lambda s: s["predicate"]["contract"].update(sha256="0" * 64))
    S("predicate-withheld-null", "E_BINDING", "predicate says that nothing is withheld", lambda s: s["predicate"].update(withheld=None))
    S("predicate-head", "E_BINDING", "predicate signs another head of the ledger",
      lambda s: s["predicate"]["ledger"].update(head=w.top.decode()[-8:] + "0" * 56))
    S("predicate-length", "E_BINDING", "predicate signs a longer ledger", lambda s: s["predicate"]["ledger"].update(length=11))
    S("predicate-extra", "E_DSSE", "one more member in the predicate", lambda s: s["predicate"].update(approved=True))
    S("predicate-count-negative", "E_DSSE", "a negative number of runs", lambda s: s["predicate"]["runs"].update(failed=-1))
    S("predicate-count-real", "E_DSSE", "4.0 runs", lambda s: s["predicate"]["runs"].update(completed=4.0))
    S("escape", "E_DSSE", "a letter spelled with an escape: other bytes of the same Statement", raw=lambda p: p.replace(b"does a", b"d\\u006fes a"),
      verdict="policy")


def ssh_signatures(w, case):
    good, other, old = w.key, Key.label("stranger"), Key.label("old")
    kb = lambda k: ss(b"ssh-ed25519") + ss(k.pub)

    def blob(k, message, ns=b"ib-packet", h=b"sha512", pub=None, over=None, reserved=b"", ver=1, alg=b"ssh-ed25519", tail=b"", signns=None, magic=b"SSHSIG"):
        dig = hashlib.new(h.decode() if h.decode() in ("sha256", "sha512", "sha1") else "sha512", message if over is None else over).digest()
        tb = b"SSHSIG" + ss(ns if signns is None else signns) + ss(reserved) + ss(h) + ss(dig)
        return magic + struct.pack(">I", ver) + ss(kb(k) if pub is None else pub) + ss(ns) + ss(reserved) + ss(h) + ss(ss(alg) + ss(k.sign(tb))) + tail

    def arm(bl, nl=b"\n", width=70, pre=b"", post=b""):
        t = base64.b64encode(bl)
        return pre + b"-----BEGIN SSH SIGNATURE-----" + nl + b"".join(t[i:i + width] + nl for i in range(0, len(t),
          width)) + b"-----END SSH SIGNATURE-----" + nl + post

    def s(cid, verdict, error, why, make, trust="allowed_signers", **kw):
        """A packet with an SSH signature alone: make(message) gives it; the trusted keys stand in allowed_signers."""
        tm = w.tags["tagmanifest-sha256.txt"]
        case("ssh-" + cid, "sshsig", "tar", "signature", verdict, error, why, w.bag(sigs=lambda files, p: {"signatures/1.sshsig": make(tm)}), trust=trust, **kw)
    g = lambda **kw: (lambda m: arm(blob(good, m, **kw)))
    s("ok", "accept", None, "correct, sha512", g())
    s("ok-sha256", "accept", None, "correct, sha256", g(h=b"sha256"))
    s("sha1", "reject", "E_ALG", "hash sha1", g(h=b"sha1"), also=["E_SIG"])
    s("namespace", "reject", "E_SIG", "signed for namespace git (cross-protocol reuse)", g(ns=b"git"), also=["E_DSSE"])
    s("namespace-outer", "reject", "E_SIG", "outer namespace right, signed one git", g(signns=b"git"))
    s("namespace-empty", "reject", "E_SIG", "empty namespace", g(ns=b""))
    s("namespace-nul", "reject", "E_SIG", "namespace with NUL: C comparison stops", g(ns=b"ib-packet\0evil"))
    s("stranger", "reject", "E_TRUST", "unknown key", lambda m: arm(blob(other, m)), also=["E_SIG"])
    s("key-swapped", "reject", "E_SIG", "trusted public key inside, stranger's signature", lambda m: arm(blob(other, m, pub=kb(good))))
    s("expired", "reject", "E_TRUST", "key past valid-before", lambda m: arm(blob(old, m)))
    s("other-message", "reject", "E_SIG", "signature of another message", g(over=b"x"))
    s("version-2", "reject", "E_SIG", "version 2", g(ver=2))
    s("magic", "reject", "E_SIG", "wrong magic", g(magic=b"SSHSIH"))
    s("tail", "reject", "E_SIG", "bytes after the blob", g(tail=b"tail"))
    s("reserved", "policy", "E_SIG", "reserved field not empty", g(reserved=b"x"))
    s("alg-mismatch", "reject", "E_SIG", "signature algorithm ssh-rsa on an Ed25519 key", g(alg=b"ssh-rsa"), also=["E_ALG"])
    a = lambda **kw: (lambda m: arm(blob(good, m), **kw))
    s("armor-crlf", "policy", "E_SIG", "CRLF armor", a(nl=b"\r\n"))
    s("armor-text-before", "reject", "E_SIG", "text before the armor", a(pre=b"hello\n"))
    s("armor-text-after", "reject", "E_SIG", "text after the armor", a(post=b"hello\n"))
    s("armor-two", "reject", "E_SIG", "two armors, the second by a stranger", lambda m: arm(blob(good, m)) + arm(blob(other, m)))
    s("armor-one-line", "policy", "E_SIG", "base64 on one line", a(width=10000))

    def malleable(m):
        b = blob(good, m)
        return arm(b[:-32] + (int.from_bytes(b[-32:], "little") + LORD).to_bytes(32, "little"))
    s("malleable", "reject", "E_SIG", "S+L", malleable)
    s("cut", "reject", "E_SIG", "cut blob", lambda m: arm(blob(good, m)[:-10]))
    s("length-huge", "reject", "E_SIG", "string length 4 GiB", lambda m: arm(b"SSHSIG\0\0\0\1\xff\xff\xff\xff"))
    s("empty", "reject", "E_SIG", "empty file", lambda m: b"")


def trust_files(w, out):
    """The trust files that cases name; the others are judged with the signer's key."""
    second, old = Key.label("second"), Key.label("old")
    line = lambda who, options, k: '%s %s ssh-ed25519 %s\n' % (who, options, b64(ss(b"ssh-ed25519") + ss(k.pub)))
    for name, text in (("trusted", w.key.pem.decode()), ("both", (w.key.pem + second.pem).decode()), ("second", second.pem.decode()),
                       ("expired", line("lab@example.invalid", 'valid-before="20250101Z"', w.key)),
                       ("allowed_signers", line("lab@example.invalid", 'namespaces="ib-packet"', w.key) +
                        line("old@example.invalid", 'namespaces="ib-packet",valid-before="20250101Z"', old))):
        with open(os.path.join(out, "trust-" + name), "w") as f:
            f.write(text)
