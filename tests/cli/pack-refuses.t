#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-pack refuses, says what and what to do, and leaves nothing half-written.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me
make_study study || skip_all "no study"
mkdir out
pack() { ib-pack -C "${1:-study}" --key me.pem -o out/x.tar; }

status 2 "no packet named" ib-pack -C study --key me.pem
status 2 "no key" ib-pack -C study -o out/x.tar
like "the message names both ways" "$(cat "$T/.err")" "--new-key.*--unsigned"
status 2 "key and unsigned" ib-pack -C study --key me.pem --unsigned -o out/x.tar
status 2 "another ending" ib-pack -C study --key me.pem -o out/x.tgz
status 2 "no such key" ib-pack -C study --key none.pem -o out/x.tar
status 2 "a file that is no key" ib-pack -C study --key me.pub.pem -o out/x.tar
status 2 "an unknown option" ib-pack --kye me.pem
like "the nearest one is named" "$(cat "$T/.err")" "--key"
status 2 "no study" ib-pack -C out --key me.pem -o x.tar
status 3 "no directory for the packet" ib-pack -C study --key me.pem -o none/x.tar
status 2 "a packet in the study" ib-pack -C study --key me.pem -o study/x.tar
like "with a way out" "$(cat "$T/.err")" "elsewhere"
status 2 "also deeper" sh -c 'cd study && ib-pack -C . --key ../me.pem -o runs/x.tar'
openssl genpkey -algorithm ed25519 -aes256 -pass pass:x -out locked.pem 2> /dev/null
status 3 "a key with a passphrase" ib-pack -C study --key locked.pem -o out/x.tar < /dev/null
like "which it cannot ask for" "$(cat "$T/.err")" "passphrase"
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem 2> /dev/null
status 2 "an RSA key" ib-pack -C study --key rsa.pem -o out/x.tar
cp me.pem study/oops.pem
status 2 "a private key in the study" pack
like "is found as a secret, by file and line" "$(cat "$T/.err")" "oops.pem' line 1"
rm study/oops.pem
mkdir study/analysis
ln me.pem study/analysis/link.pem
status 2 "the very key in the study" pack
like "and named" "$(cat "$T/.err")" "analysis/link.pem"
rm study/analysis/link.pem
status 0 "and now it packs" pack
status 2 "no overwriting" pack
like "the message says so" "$(cat "$T/.err")" "exists and is not overwritten"
rm out/x.tar
ln -s nowhere out/x.tar
status 2 "nor of a link to nothing" pack
rm out/x.tar

refuse_name() { # NAME STATUS WHY
    touch "study/analysis/$1"
    status "$2" "a name that no packet can hold: $3" pack
    like "named, with a way out" "$(cat "$T/.err")" "rename it, or withhold it"
    rm "study/analysis/$1"
}
refuse_name '100%.txt' 4 'percent'
refuse_name 'trailing.' 4 'dot at the end'
refuse_name "$(printf 'u\314\210.txt')" 4 'not NFC'
refuse_name "$(printf 'bell\007')" 4 'control character'
refuse_name "$(printf '\377')" 4 'not UTF-8'
touch study/analysis/a study/analysis/A
status 4 "two names that differ in case only" pack
rm study/analysis/A
ln -s a study/analysis/link
status 4 "a symbolic link" pack
like "named" "$(cat "$T/.err")" "analysis/link"
rm study/analysis/link
mkfifo study/analysis/fifo
status 4 "a pipe" pack
rm study/analysis/fifo
truncate -s 8G study/analysis/big && status 4 "a file of 8 GiB" pack && like "may be withheld" "$(cat "$T/.err")" "withhold"
rm -f study/analysis/big

mkdir Bad.Name
ib-run -C Bad.Name --no-capture -- true > /dev/null 2>&1
status 4 "a study whose name does not fit" pack Bad.Name
like "named, with a way out" "$(cat "$T/.err")" "'Bad.Name' does not fit.*study:"

# secrets
make_study beside
mkdir -p beside/captures
echo "token ghp_0123456789abcdefghijABCDEFGHIJ012345" > beside/captures/note.txt
status 2 "a token beside the captures" pack beside
like "by file and line" "$(cat "$T/.err")" "captures/note.txt' line 1"

make_study leak
ib-run -C leak --no-capture -- sh -c 'echo start; echo "token ghp_0123456789abcdefghijABCDEFGHIJ012345"; echo "x=1" > {output_dir}/a.txt' > /dev/null 2>&1
status 2 "a token in a log" pack leak
log=$(cd leak && grep -l ghp_ runs/*/stdout.log)
like "file and line" "$(cat "$T/.err")" "$log' line 2"
ok "but not the token" sh -c "! grep -q ghp_0123 '$T/.err'"
status 2 "--allow-secret of another file" ib-pack -C leak --key me.pem --allow-secret contract.yaml -o out/x.tar
status 0 "--allow-secret of this one" ib-pack -C leak --key me.pem --allow-secret "$log" -o out/x.tar
rm out/x.tar

# a study that does not verify
cp -r study broken && chmod -R u+w broken
sed -i 's/first/FIRST/' "$(grep -l first broken/runs/*/stdout.log)"
status 1 "a changed log" pack broken
like "is named" "$(cat "$T/.err")" "stdout.log"
cp -r study cut && chmod -R u+w cut
sed -i 3d cut/ledger.jsonl
status 1 "a removed ledger line" pack cut
is "is not sealed" "$(tail -n 1 cut/ledger.jsonl)" "$(tail -n 1 study/ledger.jsonl)"

# a full disk: the limit of file sizes stops the write as ENOSPC would
head -c 300000 /dev/urandom > study/analysis/noise.bin
status 3 "no room for the packet" sh -c 'trap "" XFSZ; ulimit -f 100; ib-pack -C study --key me.pem -o out/x.tar'
ok "nothing is left of it" no_part out
status 0 "with room it packs" pack
status 0 "and holds" ib-verify --trust me.pub.pem out/x.tar
status 3 "a full standard output" sh -c 'ib-pack -C study --key me.pem -o out/y.tar > /dev/full'
done_testing
