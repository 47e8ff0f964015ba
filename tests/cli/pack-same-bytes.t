#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two packets of one sealed study with one Ed25519 key are byte-identical, whoever makes them, when, where, in which order of files.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me
make_study study || skip_all "no study"
mkdir study/analysis
for i in 5 3 9 1 7; do echo $i > study/analysis/$i.txt; done
ok "the first" ib-pack -C study --key me.pem -o 1.tar
ok "a compressed one" ib-pack -C study --key me.pem -o 1.tar.zst
same() { ok "$1" cmp 1.tar "$2"; }

sleep 1.1
ib-pack -C study --key me.pem -o 2.tar > /dev/null
same "later" 2.tar
(umask 077 && TZ=Pacific/Kiritimati LC_ALL=C ib-pack -C study --key me.pem -o 3.tar > /dev/null)
same "another umask and time zone" 3.tar
locale=$(locale -a 2> /dev/null | grep -Ev '^(C|POSIX|C\.)' | head -n 1)
(umask 000 && TZ=America/Adak LC_ALL=${locale:-tr_TR.UTF-8} LANG=de_DE.UTF-8 ib-pack -C study --key me.pem -o 4.tar.zst > /dev/null)
ok "another locale, compressed" cmp 1.tar.zst 4.tar.zst

# the same files in another directory, made in another order, at another time
mkdir copy
(umask 077 && cd study && find . -type f | LC_ALL=C sort -r | while read -r f; do
    mkdir -p "../copy/${f%/*}" && cp "$f" "../copy/$f"
done && mkdir ../copy/an-empty-directory)
chmod -R u+w copy
for f in $(cd copy && find . -type f -path '*analysis*'); do touch -d '2001-01-01' "copy/$f"; done
ib-pack -C copy --key me.pem -o 5.tar > /dev/null
same "a copy in another order, with other times and modes" 5.tar
(cd copy/runs && ib-pack -C .. --key ../../me.pem -o ../../6.tar > /dev/null)
same "from another working directory" 6.tar

if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups env "$IB_BUILDDIR/ib-pack" --version > /dev/null 2>&1; then
    chmod 755 "$T" && chmod -R a+rX copy && mkdir -m 777 open && cp me.pem open/k.pem && chmod 644 open/k.pem
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$IB_BUILDDIR/ib-pack" -C copy --key open/k.pem -o open/7.tar > /dev/null 2>&1
    same "another user" open/7.tar
else
    skip "another user" "this needs root, setpriv, and a build directory that everybody may enter"
fi
new_key other
ib-pack -C study --key other.pem -o 8.tar > /dev/null
ok "another key makes another packet" sh -c '! cmp -s 1.tar 8.tar'
mkdir x1 x8
tar xf 1.tar -C x1
tar xf 8.tar -C x8
ok "which differs in signatures/ alone" diff -r -x signatures x1 x8
done_testing
