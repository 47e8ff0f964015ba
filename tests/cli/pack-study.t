#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-pack: keys, a packet plain and compressed, the seal, what is withheld, abandoned runs, a read-only study.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99

status 0 "a new key" ib-pack --new-key me
is "the private key is its owner's" "$(stat -c %a me.pem)" 600
is "the public key is for everybody" "$(stat -c %a me.pub.pem)" 644
status 2 "a key is not overwritten" ib-pack --new-key me
like "and the message says so" "$(cat "$T/.err")" "me.*exists"
status 0 "a P-256 key" ib-pack --new-key p256 --p256
ok "openssl reads both" sh -c 'openssl pkey -in me.pem -noout && openssl pkey -in p256.pem -noout && openssl pkey -pubin -in me.pub.pem -noout'
if command -v ssh-keygen > /dev/null; then
    python3 - me.pub.pem > me.ssh <<'PY'
import base64, sys
der = base64.b64decode("".join(open(sys.argv[1]).read().split("\n")[1:-2]))
s = lambda b: len(b).to_bytes(4, "big") + b
print("ssh-ed25519", base64.b64encode(s(b"ssh-ed25519") + s(der[12:])).decode(), "somebody")
PY
    is "the fingerprint is OpenSSH's" "$(ib-pack --new-key other > out; ssh-keygen -lf me.ssh | cut -d' ' -f2)" "$(sed -n 's/^fingerprint *//p' "$T/key.out" 2> /dev/null || true)$(python3 - me.pub.pem <<'PY'
import base64, hashlib, sys
der = base64.b64decode("".join(open(sys.argv[1]).read().split("\n")[1:-2]))
s = lambda b: len(b).to_bytes(4, "big") + b
print("SHA256:" + base64.b64encode(hashlib.sha256(s(b"ssh-ed25519") + s(der[12:])).digest()).decode().rstrip("="))
PY
)"
else
    skip "the fingerprint is OpenSSH's" "ssh-keygen is not installed"
fi

ok "a study" make_study study
status 0 "a plain packet" ib-pack -C study --key me.pem -o a.tar
like "it was sealed now" "$(cat "$T/.out")" "sealed .*now"
status 0 "a compressed packet" ib-pack -C study --key me.pem -o a.tar.zst
like "it was sealed before" "$(cat "$T/.out")" "sealed .*before"
ok "both hold the same archive" sh -c 'zstd -dcq a.tar.zst | cmp - a.tar'
is "the frame's header is the one form" "$(head -c 6 a.tar.zst | od -An -tx1 | tr -d ' \n')" 28b52ffd0468
status 0 "ib-verify trusts it" ib-verify --trust me.pub.pem a.tar.zst
status 3 "without a key the signer is not established" ib-verify a.tar
status 0 "a P-256 signature" ib-pack -C study --key p256.pem -o p.tar
status 0 "which holds as well" ib-verify --trust p256.pub.pem p.tar
status 3 "but not for another key" ib-verify --trust me.pub.pem p.tar
status 0 "unsigned, when asked for" ib-pack -C study --unsigned -o u.tar
status 3 "an unsigned packet is not decided" ib-verify u.tar
status 0 "unless that is fine" ib-verify --unsigned-ok u.tar
is "one seal in the ledger" "$(grep -c '"kind":"seal"' study/ledger.jsonl)" 1
like "the seal counts the runs" "$(tail -n 1 study/ledger.jsonl)" '"started":3,"completed":2,"failed":1,'
like "nothing is withheld" "$(cat study/withheld.json)" '"withheld": \[\]'

ib-run -C study --no-capture -- true > /dev/null 2>&1
status 0 "a study that went on is sealed anew" ib-pack -C study --key me.pem -o b.tar
is "two seals" "$(grep -c '"kind":"seal"' study/ledger.jsonl)" 2
status 0 "and holds" ib-verify --trust me.pub.pem b.tar

# a run that was killed with its ib-run
ib-run -C study --no-capture -- sleep 60 > /dev/null 2>&1 &
pid=$!
n=0
while ! grep -q '"sleep"' study/runs/*/command.json 2> /dev/null && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.1; done
status 2 "a run that still goes on is waited for" ib-pack -C study --key me.pem -o c.tar
like "and named" "$(cat "$T/.err")" "run '.*' has no end yet"
kill -9 $pid 2> /dev/null
wait $pid 2> /dev/null
sleep 0.3
grep -l "IB_RUN_DIR=$T/study" /proc/[0-9]*/environ 2> /dev/null | cut -d/ -f3 | while read -r p; do kill -9 "$p" 2> /dev/null; done
sleep 0.3
status 0 "a killed run is packed as abandoned" ib-pack -C study --key me.pem -o d.tar
like "the ledger says so" "$(cat study/ledger.jsonl)" '"kind":"abandoned"'
like "the seal counts it" "$(tail -n 1 study/ledger.jsonl)" '"abandoned":1'
status 0 "and it holds" ib-verify --trust me.pub.pem d.tar

# sealed, and then only read
before=$(sha256sum < study/ledger.jsonl)
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$IB_BUILDDIR/ib-pack" --version > /dev/null 2>&1; then
    chmod -R a+rX study . && chmod -R a-w study && mkdir -m 777 open && cp me.pem open/k.pem && chmod 644 open/k.pem && chmod 755 "$T"
    status 0 "another user packs a study that it cannot write" setpriv --reuid=65534 --regid=65534 --clear-groups "$IB_BUILDDIR/ib-pack" -C study --key open/k.pem -o open/e.tar
    ok "with the same bytes" cmp d.tar open/e.tar
else
    chmod -R a-w study
    status 0 "a study that cannot be written is packed" ib-pack -C study --key me.pem -o e.tar
    ok "with the same bytes" cmp d.tar e.tar
fi
is "nothing was written in it" "$(sha256sum < study/ledger.jsonl)" "$before"
done_testing
