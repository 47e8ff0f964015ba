#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No single change of a good packet is accepted, whatever is changed and with every anchor given. IB_PACKET_MUTATIONS=N changes (3000), IB_SEED=N.
. "$(dirname "$0")/../cli/lib.sh"
python3 -c 'import hashlib' 2> /dev/null || skip_all "python3 is not installed"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
vectors=$IB_SRCDIR/tests/data/packet/vectors
cd "$T" || exit 99
{
    mkdir -p study && "$IB_BUILDDIR/tests/unit/make_study" study 2 && mkdir -p study/report &&
        echo alpha > study/report/a.txt && echo "bravo bravo" > study/report/b.txt &&
        ib-pack --new-key k && ib-pack --new-key p --p256 && ib-pack -C study --key k.pem -o good.tar && ib-pack -C study --key p.pem -o good.tar.zst &&
        python3 "$IB_SRCDIR/tests/hostile/make_hostile.py" good.tar k.pem cases ssh-ok
} > log 2>&1 || { cat log; echo "Bail out! no good packets"; exit 99; }
cat k.pub.pem p.pub.pem "$vectors/ed25519.pub.pem" > anchors
echo "1..1"
"$IB_BUILDDIR/tests/hostile/mutate" "${IB_PACKET_MUTATIONS:-3000}" "${IB_SEED:-1}" anchors \
    good.tar good.tar.zst "$vectors/good-long.tar" cases/sshsig/ssh-ok.tar
