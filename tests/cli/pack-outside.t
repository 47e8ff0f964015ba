#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A packet without ibtools: other archive readers list the same files, standard tools check digests and signature.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me
ib-pack --new-key p256 --p256 > /dev/null
make_study study || skip_all "no study"
mkdir -p "study/analysis/$(printf 'gr\303\266\303\237e')" "study/analysis/$(printf '%0120d' 0)"
echo text > "study/analysis/$(printf 'gr\303\266\303\237e')/a b.txt"
echo text > "study/analysis/$(printf '%0120d' 0)/$(printf '%0130d' 1).txt"
: > study/analysis/empty
ok "a packet" ib-pack -C study --key me.pem -o a.tar
ok "a compressed one" ib-pack -C study --key p256.pem -o b.tar.zst

# what Python reads: names, sizes, digests
python3 - a.tar > want <<'PY'
import hashlib, sys, tarfile
for m in tarfile.open(sys.argv[1]):
    assert m.isreg() and m.uid == m.gid == 0 and m.mode in (0o644, 0o755)
    print(m.name, m.size)
PY
like "the longest name is there" "$(cat want)" "/$(printf '%0130d' 1).txt 5"
list() { # TOOL ARCHIVE: NAME SIZE lines
    case $1 in
    tar) LC_ALL=C.UTF-8 tar --quoting-style=literal -tvf "$2" | sed 's/^[^ ]* [^ ]* *\([0-9]*\) [^ ]* [^ ]* \(.*\)$/\2 \1/' ;;
    bsdtar) LC_ALL=C.UTF-8 bsdtar -tvf "$2" | sed -E 's/^[^ ]+ +[0-9]+ +[^ ]+ +[^ ]+ +([0-9]+) +[A-Z][a-z]{2} +[0-9]+ +[0-9:]+ +(.*)$/\2 \1/' ;;
    busybox) busybox tar -tvf "$2" | sed 's/^[^ ]* [^ ]* *\([0-9]*\) [^ ]* [^ ]* \(.*\)$/\2 \1/' ;;
    esac
}
for tool in tar bsdtar busybox; do
    if ! command -v $tool > /dev/null; then skip "$tool lists what Python lists" "$tool is not installed"; continue; fi
    list $tool a.tar > got
    ok "$tool lists what Python lists" diff want got
done

unpack() { # ARCHIVE DIR
    mkdir "$2"
    case $1 in *.zst) zstd -dcq "$1" | tar xf - -C "$2" ;; *) tar xf "$1" -C "$2" ;; esac
}
unpack a.tar xa
unpack b.tar.zst xb
for x in xa xb; do
    top=$(echo "$T/$x"/*)
    ok "$x: sha256sum" sh -c "cd '$top' && sha256sum --strict -c manifest-sha256.txt tagmanifest-sha256.txt"
    ok "$x: every file is listed" sh -c "cd '$top' && find data -type f | LC_ALL=C sort > '$T/files' && cut -c67- manifest-sha256.txt | diff '$T/files' -"
    (cd study && find . -type f -exec sha256sum {} + | LC_ALL=C sort) > "$T/study.sums"
    ok "$x: the data are the study" sh -c "cd '$top/data' && find . -type f -exec sha256sum {} + | LC_ALL=C sort | diff '$T/study.sums' -"
done
for pair in "xa me.pub.pem" "xb p256.pub.pem"; do
    # shellcheck disable=SC2086
    set -- $pair
    top=$(echo "$T/$1"/*)
    python3 - "$top" <<'PY'
import base64, hashlib, json, sys
top = sys.argv[1]
b = json.load(open(top + "/signatures/1.sigstore.json"))
e = b["dsseEnvelope"]
p = base64.b64decode(e["payload"])
open("pae", "wb").write(b"DSSEv1 %d %s %d %s" % (len(e["payloadType"]), e["payloadType"].encode(), len(p), p))
open("sig", "wb").write(base64.b64decode(e["signatures"][0]["sig"]))
s = json.loads(p)
open("statement.json", "wb").write(p)
for x in s["subject"]:
    assert hashlib.sha256(open(top + "/" + x["name"], "rb").read()).hexdigest() == x["digest"]["sha256"], x
assert s["predicate"]["ledger"]["length"] == len(open(top + "/data/ledger.jsonl").read().splitlines())
PY
    case $2 in
    me*) ok "$1: openssl verifies the signature" openssl pkeyutl -verify -rawin -pubin -inkey "$2" -in pae -sigfile sig ;;
    *) ok "$1: openssl verifies the signature" openssl dgst -sha256 -verify "$2" -signature sig pae ;;
    esac
    if python3 -c 'import jsonschema' 2> /dev/null; then
        ok "$1: the Statement fits its schema" python3 -c "
import json, sys, jsonschema
for doc, schema in (('statement.json', 'statement'), ('$top/data/withheld.json', 'withheld')):
    jsonschema.Draft202012Validator(json.load(open('$IB_SRCDIR/schemas/%s-v1.schema.json' % schema))).validate(json.load(open(doc)))"
    else
        skip "$1: the Statement fits its schema" "python3-jsonschema is not installed"
    fi
done

# bagit.py, from where it is or from PyPI
BAGIT=${BAGIT:-$(command -v bagit.py)}
if [ -z "$BAGIT" ] && python3 -m venv "$T/venv" > /dev/null 2>&1 && timeout 60 "$T/venv/bin/pip" install -q bagit==1.9.0 setuptools > "$T/pip.out" 2>&1; then
    BAGIT=$T/venv/bin/bagit.py
    [ -x "$BAGIT" ] || BAGIT="$T/venv/bin/python -m bagit"
fi
if [ -n "$BAGIT" ]; then
    for x in xa xb; do
        # shellcheck disable=SC2086
        ok "$x: bagit.py" $BAGIT --validate "$(echo "$T/$x"/*)"
    done
else
    skip "bagit.py" "bagit cannot be installed from PyPI: $(tail -n 1 "$T/pip.out" 2> /dev/null)"
fi
COSIGN=${COSIGN:-$(command -v cosign)}
if [ -n "$COSIGN" ]; then
    ok "cosign" sh -c "cd '$T/xa'/* && '$COSIGN' verify-blob-attestation --bundle signatures/1.sigstore.json --key '$T/me.pub.pem' --insecure-ignore-tlog=true --type urn:ibtools:packet:v1 tagmanifest-sha256.txt"
else
    skip "cosign" "cosign is not installed"
fi
done_testing
