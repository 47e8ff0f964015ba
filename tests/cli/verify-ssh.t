#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packets signed with SSH keys by ssh-keygen: what ib-verify says, and that it says what ssh-keygen says.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v ssh-keygen > /dev/null || skip_all "ssh-keygen is not installed"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
over="python3 $IB_SRCDIR/tests/cli/sign_over.py"
ib-run --no-capture -q -C study -- echo result > /dev/null
ib-pack --new-key pem > /dev/null 2>&1
ok "a packet with a Statement" ib-pack -C study --key pem.pem -o dsse.tar
ok "a packet without a signature" ib-pack -C study --unsigned -o none.tar
for type in ed25519 ecdsa rsa; do
    ssh-keygen -q -t $type -N '' -C "$type" -f key-$type
done
ssh-keygen -q -t ed25519 -N '' -f other

# sign KEY NAMESPACE FILE: FILE.sig
sign() { ssh-keygen -q -Y sign -f "$1" -n "$2" "$3" 2> /dev/null; }
$over --tagmanifest none.tar > tags
$over --tagmanifest dsse.tar > dsse.tags
for key in key-ed25519 key-ecdsa key-rsa other; do
    cp tags $key.tags && sign $key ib-packet $key.tags
    $over none.tar $key.tar 1.sshsig=$key.tags.sig
    echo "me@lab namespaces=\"ib-packet\" $(cat $key.pub)" > $key.signers
done

for key in key-ed25519 key-ecdsa; do
    ok "$key: trusted" ib-verify --trust $key.signers $key.tar
    like "its form is said, and that there is no Statement" "$(cat .out)" "signed +yes +SHA256:.*, SSH\): the files alone, no Statement"
    like "and whose it is" "$(cat .out)" "trusted +yes +by the key that you gave, of me@lab"
    is "ssh-keygen agrees" "$(ssh-keygen -Y verify -f $key.signers -I me@lab -n ib-packet -s $key.tags.sig < tags > .o 2>&1; echo $?)" 0
    ok "$key: by the public key's file" ib-verify --trust $key.pub $key.tar
    ok "$key: by its fingerprint" ib-verify --fingerprint "$(ssh-keygen -lf $key.pub | cut -d ' ' -f 2)" $key.tar
    ok "$key: as the principal" ib-verify --trust $key.signers --principal me@lab $key.tar
    status 3 "$key: as another one" ib-verify --trust $key.signers --principal you@lab $key.tar
    like "it says whose key it is" "$(cat .out)" "the key is of 'me@lab', not of 'you@lab'"
    status 3 "$key: nobody trusted" ib-verify $key.tar
    status 3 "$key: another key trusted" ib-verify --trust other.pub $key.tar
done
status 3 "RSA cannot be judged" ib-verify --trust key-ed25519.pub key-rsa.tar
like "said" "$(cat .out)" "E_UNSUPPORTED .*key of type 'ssh-rsa' cannot be judged"
status 2 "a principal without a file" ib-verify --principal me@lab key-ed25519.tar
status 3 "a principal with a fingerprint alone beside a file of another key" ib-verify --trust other.signers --principal me@lab key-ed25519.tar
status 3 "a PEM key says nobody's name" ib-verify --trust pem.pub.pem --principal me@lab dsse.tar

# dates
echo "me@lab valid-after=\"20200101Z\",valid-before=\"20210101Z\" $(cat key-ed25519.pub)" > past
status 3 "a key that is no longer valid" ib-verify --trust past key-ed25519.tar
like "until when" "$(cat .out)" "past:1: the key is valid only until 2021-01-01T00:00:00Z"
ok "at another time it was" ib-verify --trust past --verify-time 2020-06-01T00:00:00Z key-ed25519.tar
status 3 "and before, it was not yet" ib-verify --trust past --verify-time 2019-06-01T00:00:00Z key-ed25519.tar
status 3 "a time that no date is compared with" ib-verify --trust key-ed25519.signers --verify-time 2020-06-01T00:00:00Z key-ed25519.tar
like "does not apply" "$(cat .out)" "'--verify-time' does not apply"
status 2 "no time" ib-verify --verify-time yesterday key-ed25519.tar
echo "me@lab namespaces=\"git\" $(cat key-ed25519.pub)" > git
status 3 "a key for other things" ib-verify --trust git key-ed25519.tar
echo "me@lab cert-authority $(cat key-ed25519.pub)" > ca
status 3 "an authority of certificates" ib-verify --trust ca key-ed25519.tar
like "is refused clearly" "$(cat .err)" "certificates are not judged"

# both forms, several signers
cp dsse.tags a && sign key-ed25519 ib-packet a
cp dsse.tags b && sign key-ecdsa ib-packet b
$over dsse.tar both.tar 1.sshsig=a.sig
$over dsse.tar two.tar 2.sshsig=a.sig
$over dsse.tar three.tar 2.sshsig=a.sig 3.sshsig=b.sig
for p in both two; do
    ok "$p: the PEM key" ib-verify --trust pem.pub.pem $p.tar
    ok "$p: the SSH key" ib-verify --trust key-ed25519.pub $p.tar
    ok "$p: each" ib-verify --trust pem.pub.pem --trust key-ed25519.pub $p.tar
    status 3 "$p: one that did not sign" ib-verify --trust pem.pub.pem --trust other.pub $p.tar
done
ok "three signers" ib-verify --trust pem.pub.pem --trust key-ed25519.pub --trust key-ecdsa.pub three.tar
is "are three" "$(ib-verify --json --trust pem.pub.pem three.tar | jq -c '[.signers[] | [.dsse, .ssh]]')" "[[true,false],[false,true],[false,true]]"

# bad WANT CLASS NAME CHANGE…: the change to none.tar is refused
bad() {
    want=$1 class=$2 name=$3
    shift 3
    $over "${base:-none.tar}" bad.tar "$@"
    status "$want" "$name" ib-verify --trust key-ed25519.pub --trust pem.pub.pem bad.tar
    like "$class" "$(cat .out)" "$class"
}
cp tags n && sign key-ed25519 git n
bad 1 E_SIG "a signature made for git" 1.sshsig=n.sig
echo x > m && sign key-ed25519 ib-packet m
bad 1 E_SIG "a signature over something else" 1.sshsig=m.sig
sed 's/$/\r/' key-ed25519.tags.sig > crlf
bad 1 E_SIG "CRLF" 1.sshsig=crlf
cat key-ed25519.tags.sig key-ed25519.tags.sig > twice
bad 1 E_SIG "two in one file" 1.sshsig=twice
bad 4 E_DUP "the same key twice" 1.sshsig=key-ed25519.tags.sig 2.sshsig=key-ed25519.tags.sig
bad 1 E_MISSING "a gap in the numbers" 2.sshsig=key-ed25519.tags.sig
ssh-keygen -q -t ed25519 -N '' -f authority && ssh-keygen -q -s authority -I id -n me@lab key-ed25519.pub
cp tags c && ssh-keygen -q -Y sign -f key-ed25519-cert.pub -n ib-packet c 2> /dev/null
if [ -s c.sig ]; then
    bad 3 E_UNSUPPORTED "by a certificate" 1.sshsig=c.sig
fi
done_testing
