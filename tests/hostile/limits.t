#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Limits of packets: so many files, so many bytes, and memory that grows with the number of files alone. IB_PACKET_LARGE=1: also 64 GiB, and packets of
# 1,048,576 files through ib-verify (minutes, 2 GB of memory for the maker).
. "$(dirname "$0")/../cli/lib.sh"
python3 -c 'import hashlib' 2> /dev/null || skip_all "python3 is not installed"
command -v zstd > /dev/null || skip_all "zstd is not installed"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
limits=$IB_BUILDDIR/tests/hostile/limits
here=$IB_SRCDIR/tests/hostile
cd "$T" || exit 99

# An archive within the limits is cut short here: it has no blocks of zeros at its end
is "1,048,577 files" "$("$limits" 1048577 0 | cut -d' ' -f1,2)" "E_LIMIT 1048576"
is "a file of 8 GiB less a byte may begin" "$("$limits" 1 8589934591 | cut -d' ' -f1,2)" "E_TRUNC 1"
if [ -z "${IB_PACKET_LARGE:-}" ]; then
    skip "more than 64 GiB" "IB_PACKET_LARGE is not set"
    skip "packets of 1,048,576 files" "IB_PACKET_LARGE is not set"
    many=20000
else
    is "1,048,576 files" "$("$limits" 1048576 0 | cut -d' ' -f1,2)" "E_TRUNC 1048576"
    is "more than 64 GiB" "$("$limits" 9 8589934591 | cut -d' ' -f1,2)" "E_LIMIT 8"
    is "less than 64 GiB" "$("$limits" 7 8589934591 | cut -d' ' -f1,2)" "E_TRUNC 7"
    many=1048576
fi
{
    mkdir -p study && "$IB_BUILDDIR/tests/unit/make_study" study 2 && mkdir -p study/report &&
        echo alpha > study/report/a.txt && echo "bravo bravo" > study/report/b.txt &&
        ib-pack --new-key k && ib-pack -C study --key k.pem -o good.tar
} > log 2>&1 || { cat log; echo "Bail out! no good packet"; exit 99; }

# memory FILES [dirs]: ib-verify's exit and KiB
memory() {
    python3 "$here/many_entries.py" good.tar k.pem "$@" > log 2>&1 || cat log
    python3 - "$2" << 'PY'
import os, sys
pid = os.posix_spawnp("ib-verify", ["ib-verify", "--quiet", "--trust", "k.pub.pem", sys.argv[1]], os.environ)
_, status, use = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), use.ru_maxrss)
PY
}
ib-verify --quiet --trust k.pub.pem good.tar
for how in "" dirs; do
    # shellcheck disable=SC2086,SC2046
    set -- $(memory "$many" x.tar.zst $how)
    is "$many files ${how:+in as many directories} hold" "$1" 0
    # ib-packet(5), Limits: at most 400 bytes a file with short paths, above 32 MiB
    ok "$2 KiB are within the bound" test "$2" -le $((32768 + many * 400 / 1024))
    echo "# $many files ${how:-in one directory}: $2 KiB"
done
done_testing
