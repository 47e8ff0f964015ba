#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files and fingerprints that somebody might hand over as trust: what cannot be judged is said, never passed over.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me && new_key other || { echo "Bail out! no keys"; exit 99; }
make_study study || skip_all "no study"
ok "a packet" ib-pack -C study --key me.pem -o p.tar
trust() { # WANT NAME: the file 'it' as trust
    status "$1" "$2" ib-verify --trust it p.tar
}

status 3 "another key than the signer's" ib-verify --trust other.pub.pem p.tar
is "is no reason to offer the signer's" "$(grep -c -e '--fingerprint' .out)" 0

printf '# mine\n\n' > it && cat me.pub.pem >> it && printf '  # end\n' >> it
trust 0 "comments around a key"
cat me.pub.pem other.pub.pem > it
trust 0 "two keys"
{ cat me.pub.pem; echo "ssh-ed25519 AAAA"; } > it
trust 2 "a key of another form behind a PEM key"
{ echo "ssh-ed25519 AAAA"; cat me.pub.pem; } > it
trust 2 "a key of another form before a PEM key"
{ cat me.pub.pem; sed 's/PUBLIC KEY/CERTIFICATE/' other.pub.pem; } > it
trust 2 "a certificate behind a key"
like "is named" "$(cat .err)" "something else stands beside"
sed 's/PUBLIC KEY/RSA PUBLIC KEY/' me.pub.pem > it
trust 2 "a key of another label"
: > it
trust 2 "an empty file"
cp me.pem it
trust 2 "a private key"
head -c 1200000 /dev/zero | tr '\0' '#' > it
trust 2 "more than a trust file may hold"
like "is not said of the packet" "$(cat .err)" "trust file 'it' is larger than 1 MiB"
mkdir dir
status 3 "a directory" ib-verify --trust dir p.tar
status 3 "no file" ib-verify --trust '' p.tar

blob=$(python3 -c '
import base64, struct
raw = base64.b64decode("".join(open("me.pub.pem").read().split("\n")[1:-2]))[-32:]
word = lambda b: struct.pack(">I", len(b)) + b
print(base64.b64encode(word(b"ssh-ed25519") + word(raw)).decode())' 2> /dev/null)
if [ -n "$blob" ]; then
    echo "alice@example.org ssh-ed25519 $blob" > it
    trust 0 "a line of allowed_signers"
    echo "a,!b ssh-ed25519 $blob" > it
    trust 0 "principals, one of them excluded"
    for word in CERT-AUTHORITY Restrict verify-required NO-PTY 'a@x namespaces="git"' 'a@x cert-authority' '"a b"'; do
        echo "$word ssh-ed25519 $blob" > it
        trust 3 "a line that says '$word'"
    done
    echo "@revoked * ssh-ed25519 $blob" > it
    trust 2 "a revoked key"
fi
fp=$(sed -n 's/.*\(SHA256:[A-Za-z0-9+/]*\).*/\1/p' key.out | head -n 1)
[ -n "$fp" ] || fp=SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
for form in "${fp}=" "${fp%?}" "$(printf %s "$fp" | tr A-Z a-z)" "${fp#*:}" " $fp" "$fp " "$fp,$fp" "SHA256:" "" "MD5:00"; do
    status 2 "the fingerprint '$form'" ib-verify --fingerprint "$form" p.tar
done
done_testing
