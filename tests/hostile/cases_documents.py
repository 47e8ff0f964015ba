# SPDX-License-Identifier: Apache-2.0
"""Hostile JSON, in a signed Statement and in a line of the ledger, hostile YAML as a contract, and hostile ledgers."""
from hostile_base import *

UNSET = object()


def ledger_lines(w):
    return [json.loads(x) for x in w.content(b"data/ledger.jsonl").split(b"\n")[:-1]]


def chain(entries):
    """The lines of a ledger of these entries, each with the digest of the line before, unless it has its own 'prev' (UNSET: none)."""
    prev, out = None, []
    for e in entries:
        e = dict(e)
        p = e.pop("prev", None) if e.pop("own_prev", False) else prev
        out.append(compact(e if p is UNSET else dict(e, prev=p)))
        prev = sha(out[-1]).decode()
    return out


def with_ledger(w, text, head=None, length=None, **kw):
    """The packet with another ledger, everything made again. head and length: what the signer signed, where it is not the good ledger's."""
    data = [(n, m, text if n == b"data/ledger.jsonl" else d) for n, m, d in w.data]
    top = w.top[:-8] + head[:8].encode() if head else w.top
    return w.bag(data=data, top=top, head=head, length=length, **kw)


def own(w, lines, text=None, **kw):
    """The same, signed with the head that this ledger has."""
    return with_ledger(w, b"".join(x + b"\n" for x in lines) if text is None else text, sha(lines[-1]).decode(), len(lines), **kw)


JSON_VALUES = (
    ("ok", "accept", "control", '{"a":1,"b":[true,false,null,"x"],"c":1.5}'),
    ("depth-array-100k", "reject", "50,000 open brackets: recursive parsers overflow the stack", "[" * 50000, ["E_LIMIT"]),
    ("depth-array-closed", "reject", "20,000 balanced brackets", "[" * 20000 + "]" * 20000, "E_LIMIT"),
    ("depth-object", "reject", "5,000 nested objects", '{"a":' * 5000 + "1" + "}" * 5000, "E_LIMIT"),
    ("depth-64", "policy", "64 levels", "[" * 64 + "]" * 64, "E_LIMIT"),
    ("depth-20", "accept", "20 levels", "[" * 20 + "]" * 20),
    ("number-100k-digits", "reject", "60,000 digits: quadratic big-number parsers", "1" * 60000, "E_LIMIT", ["E_JSON"]),
    ("exp-999", "reject", "1e999: infinity, error or string", '{"a":1e999}'), ("exp-neg-999", "policy", "1e-999: silently zero", '{"a":1e-999}'),
    ("exp-huge", "reject", "exponent overflows int", '{"a":1e99999999999999999999}'),
    ("neg-zero", "policy", "-0: integer readers 0, float readers -0", '{"a":-0}'), ("neg-zero-float", "policy", "-0.0", '{"a":-0.0}'),
    *(("lit-" + n, "reject", "not JSON: " + t, '{"a":%s}' % t) for n, t in (
        ("nan", "NaN"), ("inf", "Infinity"), ("neg-inf", "-Infinity"), ("nan-lower", "nan"), ("hex", "0x10"), ("plus", "+1"), ("lead-zero", "01"),
        ("dot-first", ".5"), ("dot-last", "5."), ("exp-empty", "1e"), ("minus", "-"), ("true-upper", "True"), ("none", "None"),
        ("undefined", "undefined"), ("single-quote", "'x'"))),
    ("int-2p53", "policy", "2^53+1: doubles lose it", '{"a":9007199254740993}'), ("int-2p63", "policy", "2^63", '{"a":9223372036854775808}', ["E_LIMIT"]),
    ("int-2p64", "policy", "2^64+1", '{"a":18446744073709551617}', ["E_LIMIT"]),
    ("int-as-float", "policy", "1.0 where an integer is meant", '{"exit_code":1.0}'), ("int-as-exp", "policy", "1e2 where an integer is meant", '{"seq":1e2}'),
    ("float-long", "policy", "more digits than a double holds", '{"p99":0.1000000000000000055511151231257827}'),
    ("dup-key", "reject", "same key twice: first or last wins?", '{"result":"good","result":"evil"}'),
    ("dup-key-escaped", "reject", "same key once spelled with an escape", '{"result":"good","r\\u0065sult":"evil"}'),
    ("dup-key-nested", "reject", "duplicate in a nested object", '{"a":[{"b":1,"b":2}]}'),
    ("dup-key-nfc", "policy", "NFC and NFD keys", '{"caf\u00e9":1,"cafe\u0301":2}'),
    ("dup-key-case", "policy", "keys that differ in case", '{"payload":"good","Payload":"evil"}'),
    ("dup-key-nul", "reject", "keys equal up to a NUL: C string readers see one key", '{"a\\u0000x":1,"a":2}'),
    ("key-proto", "policy", "__proto__ key", '{"__proto__":{"admin":true}}'), ("key-empty", "policy", "empty key", '{"":1}'),
    ("lone-high", "reject", "lone high surrogate", '{"a":"\\ud800"}'), ("lone-low", "reject", "lone low surrogate", '{"a":"\\udc00"}'),
    ("swapped-pair", "reject", "low then high surrogate", '{"a":"\\udc00\\ud800"}'),
    ("lone-in-key", "reject", "lone surrogate in a key", '{"\\ud800":1,"\\ud801":2}'),
    ("raw-bad-utf8", "reject", "0xff in a string", b'{"a":"\xff"}'), ("raw-overlong", "reject", "overlong slash", b'{"a":"\xc0\xaf"}'),
    ("raw-surrogate", "reject", "surrogate bytes", b'{"a":"\xed\xa0\x80"}'),
     ("raw-cut", "reject", "cut UTF-8 sequence at the end of a string", b'{"a":"\xe2\x82"}'),
    ("raw-beyond", "reject", "above U+10FFFF", b'{"a":"\xf4\x90\x80\x80"}'), ("raw-nul", "reject", "raw NUL in a string", b'{"a":"x\0y"}'),
    ("raw-nul-number", "reject", "NUL right after a number", b'{"a":1\0}'), ("raw-newline", "reject", "raw newline in a string", b'{"a":"x\ny"}'),
    ("raw-del", "accept", "DEL is legal in a string (must be shown escaped)", b'{"a":"\x7f"}'),
    ("esc-in-string", "accept", "escaped ESC: legal, must be shown escaped", '{"a":"\\u001b[31m"}'),
    ("nul-in-string", "policy", "escaped NUL in a string", '{"a":"x\\u0000y"}'),
    ("html-in-string", "accept", "script end tag in a string: legal, must not end an HTML script block", '{"a":"</script><script>alert(1)//"}'),
    ("u2028", "accept", "U+2028: legal JSON, a line end in old JavaScript", '{"a":"\u2028"}'),
    ("bad-escape", "reject", "\\x escape", '{"a":"\\x41"}'), ("short-escape", "reject", "\\u12", '{"a":"\\u12"}'),
     ("unterminated", "reject", "unterminated string", '{"a":"x'),
    ("trailing-comma", "reject", "trailing comma", '{"a":1,}'), ("comment", "reject", "comment", '{"a":1/*x*/}'),
    ("trailing-newlines", "accept", "white space after the value", '{"a":1} \t '), ("vt-space", "reject", "vertical tab as white space", '{"a":\v1}'),
    ("nbsp", "reject", "no-break space as white space", '{"a":\u00a01}'), ("missing-colon", "reject", "missing colon", '{"a" 1}'),
    ("key-not-string", "reject", "number as key", '{1:2}'),
    ("string-300k", "policy", "300 KB string", '{"a":"' + "x" * 300000 + '"}', "E_LIMIT"),
    ("string-50k", "accept", "50 KB string", '{"a":"' + "x" * 50000 + '"}'),
    ("keys-20k", "policy", "20,000 keys: quadratic duplicate checks, hash flooding", "{" + ",".join('"k%d":0' % i for i in range(20000)) + "}", "E_LIMIT"),
    ("keys-4k", "accept", "4,000 keys", "{" + ",".join('"k%d":0' % i for i in range(4000)) + "}"),
    ("jcs-order", "accept", "key order differs between UTF-16 units and UTF-8 bytes", '{"\\ufb33":1,"\\ud83d\\ude00":2,"\u20ac":3}'))

JSON_WHOLE = (
    ("empty", "no value", lambda p: b""), ("space", "only white space", lambda p: b"  \n"), ("bom", "UTF-8 BOM", lambda p: b"\xef\xbb\xbf" + p),
    ("utf16", "UTF-16 with BOM", lambda p: p.decode().encode("utf-16")), ("utf16le", "UTF-16LE without BOM", lambda p: p.decode().encode("utf-16le")),
    ("utf32", "UTF-32", lambda p: p.decode().encode("utf-32")), ("raw-nul-after", "NUL and more after the value", lambda p: p + b"\0{}"),
    ("two-values", "two values", lambda p: p + p), ("trailing-garbage", "garbage after the value", lambda p: p + b"x"))


def jsons(w, case):
    """Each value stands once in a line of the ledger (a member that nobody reads), and once in place of the Statement's question."""
    entries = ledger_lines(w)
    lines = chain(entries)

    def in_ledger(value):
        seal = lines[-1].replace(b',"prev":', b',"x":' + value + b',"prev":')
        return own(w, lines[:-1] + [seal])
    question = lambda value: w.bag(payload=lambda p: re.sub(rb'"question":"[^"]*"', lambda m: b'"question":' + value, p))
    for cid, verdict, why, value, *more in JSON_VALUES:
        value = value if isinstance(value, bytes) else value.encode()
        error = next((x for x in more if isinstance(x, str)), "E_JSON")
        also = next((x for x in more if isinstance(x, list)), [])
        case("json-" + cid, "json", "tar", "json", verdict, None if verdict == "accept" else error, why + "; in the ledger", in_ledger(value),
          also=also + ["E_LEDGER"])
        if verdict != "accept":
            case("json-" + cid + "+statement", "json", "tar", "json", verdict, error, why + "; in the Statement", question(value),
              also=also + ["E_DSSE"] * (verdict == "policy"))
    for cid, why, change in JSON_WHOLE:
        case("json-" + cid, "json", "tar", "json", "reject", "E_JSON", why + "; the Statement", w.bag(payload=change), also=["E_DSSE"] * (cid == "empty"))
    case("json-top-scalar", "json", "tar", "json", "policy", "E_JSON", "scalar at the top; the Statement", w.bag(payload=lambda p: b'"x"'), also=["E_DSSE"])


def yamls(w, case):
    """A contract each, for ib-run --plan --dry-run."""
    base = w.content(b"data/contract.yaml").decode()
    asked = re.search("^question: .*\n", base, re.M)[0]

    def y(cid, verdict, why, text, error="E_YAML", **kw):
        case("yaml-" + cid, "yaml", "yaml", "yaml", verdict, None if verdict == "accept" else error, why,
          text if isinstance(text, bytes) else text.encode(), **kw)
    q = lambda value: base.replace(asked, "question: %s\n" % value)
    y("ok", "accept", "control", base)
    laughs = "".join("a%d: &a%d [%s]\n" % (i, i, ",".join(["*a%d" % (i - 1)] * 10)) for i in range(1, 10))
    y("billion-laughs", "reject", "10^9 nodes by aliases", base + "a0: &a0 [x]\n" + laughs, "E_LIMIT", also=["E_YAML"])
    y("quadratic", "reject", "one big string aliased 1,000 times", q("&a " + "x" * 10000) + "b: [" + ",".join(["*a"] * 1000) + "]\n", "E_LIMIT",
      also=["E_YAML"])
    y("recursive", "reject", "alias inside its own anchor", base + "a: &a [*a]\n")
    y("alias", "policy", "plain alias", q("&x text") + "boundary: *x\n")
    y("alias-redefined", "policy", "anchor defined twice", q("&x one") + "boundary: &x two\ndecision: *x\n")
    y("alias-undefined", "reject", "unknown alias", q("*nope"))
    y("merge", "policy", "merge key brings keys the reader does not see in place", "d: &d {question: evil}\n<<: *d\n" + base.replace(asked, ""))
    y("merge-plain", "policy", "merge key without an alias", "<<: {question: evil}\n" + base.replace(asked, ""))
    y("merge-override", "policy", "merge and explicit key: which wins?", "<<: {question: evil}\n" + base)
    y("merge-list", "policy", "merge of a list", "<<: [{question: a}, {question: b}]\n" + base)
    for n, t, why in (
            ("norway", "no", "boolean in 1.1, string in 1.2"), ("yes", "yes", "boolean in 1.1"), ("on", "on", "boolean in 1.1"),
             ("y", "y", "boolean in strict 1.1"),
            ("octal", "010", "8 in 1.1, 10 in 1.2"), ("octal12", "0o10", "string in 1.1, 8 in 1.2"), ("sexagesimal", "1:30:00", "5400 in 1.1"),
            ("sexagesimal-float", "190:20:30.15", "685230.15 in 1.1"), ("underscore", "1_000", "1000 in 1.1"), ("binary", "0b11", "3 in 1.1"),
            ("date", "2026-01-02", "date in 1.1"), ("timestamp", "2026-01-02T03:04:05Z", "timestamp in 1.1"),
             ("exp-nodot", "1e3", "string in 1.1, 1000 in 1.2"),
            ("version", "1.10", "float 1.1: a version loses its zero"), ("hash-like", "12345e67", "a commit id becomes a float"), ("tilde", "~", "null"),
            ("null-empty", "", "null by absence"), ("nan", ".nan", "NaN"), ("inf", "-.inf", "minus infinity"), ("eq", "=", "1.1 value type")):
        y("scalar-" + n, "policy", "question: %s (%s)" % (t, why), q(t))
    for n, t in (("norway", "no"), ("octal", "010"), ("octal12", "0o10"), ("underscore", "1_000"), ("real", "2.0"), ("quoted", '"2"'), ("sexagesimal", "1:30")):
        y("number-" + n, "policy", "repeats: %s, where a whole number belongs" % t, base.replace("repeats: 2", "repeats: " + t))
    y("dup-key", "reject", "duplicate key", base + "question: evil\n")
    y("dup-key-quoted", "reject", "duplicate key, quoted once", base + '"question": evil\n')
    y("dup-key-typed", "policy", "1 and '1' as keys", base + "1: a\n'1': b\n")
    y("python-tag", "reject", "object constructor tag", q("!!python/object/apply:os.system ['true']"))
    y("local-tag", "reject", "application tag", q("!exec 'true'"))
    y("binary-tag", "policy", "!!binary", q("!!binary aGk="))
    y("str-tag", "policy", "!!str no", q("!!str no"))
    y("tag-mismatch", "reject", "!!int on text", q("!!int abc"))
    y("multi-doc", "reject", "two documents: first or all?", base + "---\n" + base)
    y("directive", "policy", "%YAML 1.1", "%YAML 1.1\n---\n" + base)
    y("directive-2", "reject", "%YAML 3.0", "%YAML 3.0\n---\n" + base)
    y("tag-directive", "reject", "%TAG", "%TAG ! tag:evil,2000:\n---\n" + base)
    y("after-end", "reject", "content after ...", base + "...\nb: 2\n")
    y("tab-indent", "reject", "tab indentation", base.replace("  - name: prompts", "\t- name: prompts"))
    y("depth-flow", "reject", "10,000 nested flow sequences", q("[" * 10000 + "]" * 10000), "E_LIMIT", also=["E_YAML"])
    y("depth-block", "reject", "nested block mappings", base + "".join(" " * i + "a:\n" for i in range(1200)), "E_LIMIT", also=["E_YAML"])
    y("nodes", "reject", "60,000 nodes", q("[" + ",".join("x" * 60000) + "]"), "E_LIMIT", also=["E_YAML"])
    y("long-key", "policy", "implicit key above 1,024 characters", base + "k" * 2000 + ": 1\n")
    y("complex-key", "reject", "mapping as key", base + "? {a: 1}\n: x\n")
    y("bad-utf8", "reject", "invalid UTF-8", q("x").encode().replace(b"question: x", b"question: \xff"))
    y("nul", "reject", "NUL", q("x\0y"))
    y("bom-middle", "reject", "BOM inside", base + "\ufeffboundary: 2\n")
    y("bom-first", "policy", "BOM in front", "\ufeff" + base)
    y("utf16", "policy", "UTF-16", base.encode("utf-16"))
    y("esc", "accept", "escape in a double-quoted scalar: show escaped", q('"\\e[31m"'))
    y("nel", "policy", "NEL is a line break in 1.1 only", q("x\u0085boundary: y"))
    y("unterminated", "reject", "unterminated quote", q('"x'))
    y("hash-in-plain", "policy", "comment marker in a plain scalar", q("x #y"))
    y("json-superset", "accept", "flow JSON", base.replace("matrix:\n      cap: [1, 4]", 'matrix: {"cap": [1, 4]}'))
    y("slash-escape", "policy", "\\/ is 1.2 only", q('"\\/"'))


def ledgers(w, case):
    good = ledger_lines(w)
    lines = chain(good)
    J = lambda ls, nl=b"\n": b"".join(x + nl for x in ls)
    assert J(lines) == w.content(b"data/ledger.jsonl")
    start, finish = 3, 4    # the second run: its entries are lines 4 and 5
    rest = good[:start] + good[finish + 1:]

    def renumber(entries):
        return [dict(e, seq=i + 1) for i, e in enumerate(entries)]

    def l(cid, verdict, error, why, data, **kw):
        case("led-" + cid, "ledger", "tar", "ledger", verdict, error, why, data, **kw)
    F = lambda text, **kw: with_ledger(w, text, **kw)    # signed: the good head
    l("ok", "accept", None, "the good ledger", F(J(lines)))
    l("ok-note", "accept", None, "one entry more, chained, sealed and signed",
      own(w, chain(renumber(good[:-1] + [{"seq": 0, "at": good[-1]["at"], "kind": "note", "text": "x"}, good[-1]]))))
    l("removed-middle", "reject", "E_LEDGER", "a run removed", F(J(lines[:start] + lines[finish + 1:])))
    l("removed-first", "reject", "E_LEDGER", "first entry removed", F(J(lines[1:])))
    l("removed-last", "reject", "E_LEDGER", "last entry removed: the chain itself is whole, only the signed head shows it", F(J(lines[:-1])))
    l("empty", "reject", "E_LEDGER", "no entries", F(b""))
    l("reordered", "reject", "E_LEDGER", "two entries swapped", F(J(lines[:3] + [lines[4], lines[3]] + lines[5:])))
    l("duplicated", "reject", "E_LEDGER", "an entry twice", F(J(lines[:3] + lines[2:])))
    l("appended", "reject", "E_LEDGER", "entry after the signed head",
      F(J(chain(good + [{"seq": len(good) + 1, "at": good[-1]["at"], "kind": "note", "text": "x"}]))))
    l("rewritten", "reject", "E_LEDGER", "whole chain rebuilt without a run: consistent, other head", F(J(chain(renumber(rest)))))
    l("rewritten-signed", "reject", "E_LEDGER", "the same, and signed anew by the trusted key: its directory is there still", own(w, chain(renumber(rest))))
    l("changed", "reject", "E_LEDGER", "a state changed in place",
      F(J([x.replace(b'"completed"', b'"failed"', 1) if i == finish else x for i, x in enumerate(lines)])))
    l("forked", "reject", "E_LEDGER", "two children of one entry", F(J(lines + [compact(dict(good[3], prev=sha(lines[2]).decode()))])))
    N = len(good) - 1
    at = lambda i, **kw: [dict(e, **kw) if j == i else e for j, e in enumerate(good)]

    def time(i, value):
        return [dict(e, at=dict(e["at"], wall_at=value)) if j == i else e for j, e in enumerate(good)]
    gap = good[:3] + [dict(e, seq=e["seq"] + 1) for e in good[3:]]
    for cid, ch, why, v, e in (
            ("seq-gap", gap, "sequence jumps in a self-consistent, signed chain", "reject", "E_LEDGER"),
            ("seq-dup", at(4, seq=4), "sequence number twice", "reject", "E_LEDGER"),
            ("seq-text", at(4, seq="5"), "sequence number as text", "reject", "E_LEDGER"),
            ("run-id-dup", at(3, run=good[1]["run"]), "run id twice", "reject", "E_LEDGER"),
            ("time-backwards", time(3, "2025-10-30T00:00:00.000000000Z"), "second run before the first", "warn", "E_LEDGER"),
            ("end-before-start", time(2, "2025-10-30T00:00:00.000000000Z"), "end before start", "reject", "E_LEDGER"),
            ("future", time(3, "2030-01-01T00:00:00.000000000Z"), "run in the future of the seal", "warn", "E_LEDGER"),
            ("overlap", renumber(good[:2] + [good[3], good[2]] + good[4:]), "runs overlap in time (parallel runs disturb each other)", "warn", "E_LEDGER"),
            ("time-no-zone", time(1, "2025-11-30T16:01:02.002000000"), "time without zone", "reject", "E_LEDGER"),
            ("time-leap", time(2, "2025-11-30T23:59:60.000000000Z"), "leap second", "policy", "E_LEDGER"),
            ("time-invalid", time(1, "2026-02-30T00:00:00.000000000Z"), "30 February", "reject", "E_LEDGER"),
            ("first-has-prev", at(0, prev="0" * 64, own_prev=True), "first entry names a predecessor that is not there (the front was cut)", "reject",
             "E_LEDGER"),
            ("prev-missing", at(4, prev=UNSET, own_prev=True), "prev absent", "reject", "E_LEDGER"),
            ("prev-null", at(4, prev=None, own_prev=True), "prev null in the middle", "reject", "E_LEDGER"),
            ("exit-float", at(1, repeat=1.0), "repeat 1.0", "reject", "E_LEDGER"), ("exit-string", at(1, repeat="1"), "repeat as text", "reject", "E_LEDGER"),
            ("exit-bool", at(1, repeat=True), "repeat true", "reject", "E_LEDGER"),
            ("state-unknown", at(2, state="perfect"), "a state that does not exist", "reject", "E_LEDGER"),
            ("kind-unknown", at(1, kind="begin"), "a kind that does not exist", "reject", "E_LEDGER"),
            ("prev-upper", at(4, prev=sha(lines[3]).decode().upper(), own_prev=True), "prev in upper-case hex", "policy", "E_LEDGER"),
            ("finish-without-start", renumber(good[:3] + good[4:]), "a run that ends and never began", "reject", "E_LEDGER"),
            ("seal-early", renumber(good[:-3] + [good[-1]] + good[-3:-1]), "the seal before the last run", "reject", "E_LEDGER"),
            ("seal-other-tree", at(N, tree_sha256="0" * 64), "seal of another tree", "reject", "E_BINDING"),
            ("seal-other-counts", at(N, runs=dict(good[N]["runs"], failed=1)), "seal counts another number of runs", "reject", "E_BINDING")):
        l(cid, v, e, why, own(w, chain(ch)))
    records = [i for i, e in enumerate(good) if e["kind"] == "finish"]
    a, b = records[:2]
    swapped = at(a, record_sha256=good[b]["record_sha256"])
    l("result-of-other-run", "reject", "E_BINDING", "the record of one run bound to another", own(w, chain(swapped)))
    l("result-not-in-ledger", "reject", "E_BINDING", "a record whose digest no entry holds", own(w, chain(at(a, record_sha256="0" * 64))))
    l("result-twice", "warn", "E_BINDING", "two runs with one record digest (a copied result)", own(w, chain(swapped)))
    l("crlf", "reject", "E_LEDGER", "CRLF: the digest of a line changes with the reader", F(J(lines, b"\r\n")), also=["E_JSON"])
    l("no-final-newline", "policy", "E_LEDGER", "last line without newline (torn write?)", F(J(lines)[:-1]))
    l("torn", "reject", "E_LEDGER", "last line cut", F(J(lines)[:-20]), also=["E_JSON"])
    l("blank-line", "reject", "E_LEDGER", "blank line", F(J(lines[:2]) + b"\n" + J(lines[2:])), also=["E_JSON"])
    l("trailing-space", "reject", "E_LEDGER", "space after a line", F(J(lines[:-1]) + lines[-1] + b" \n"))
    l("two-on-a-line", "reject", "E_LEDGER", "two objects on one line", F(lines[0] + lines[1] + b"\n" + J(lines[2:])), also=["E_JSON"])
    l("bom", "reject", "E_LEDGER", "BOM", F(b"\xef\xbb\xbf" + J(lines)), also=["E_JSON"])
    dup = chain(good[:-1]) + [lines[-1][:-1] + b',"kind":"seal"}']
    l("dup-key", "reject", "E_JSON", "kind twice in one line", own(w, dup), also=["E_LEDGER"])
    l("nul", "reject", "E_LEDGER", "NUL between lines", F(J(lines[:2]) + b"\0" + J(lines[2:])), also=["E_JSON"])
    l("bad-utf8", "reject", "E_JSON", "invalid UTF-8", F(J(lines[:-1]) + lines[-1].replace(b"seal", b"se\xffl") + b"\n"), also=["E_LEDGER"])
    long = lines[:-1] + [lines[-1].replace(b',"prev":', b',"x":"' + b"x" * 65536 + b'","prev":')]
    l("line-64k", "reject", "E_LIMIT", "a line over 64 KiB", own(w, long))
