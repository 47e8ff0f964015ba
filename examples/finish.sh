#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The last steps of an example: verify the study, pack it with a new throwaway key, verify the packet with that key, print the
# table and where everything lies. usage: finish.sh OUT-DIRECTORY STUDY-DIRECTORY NAME
set -u
out=$1 study=$2 name=$3
packet=$out/$name.tar.zst

step() {
    echo
    echo "\$ $*"
    "$@" || { echo "finish.sh: '$1' ended with status $?" >&2; exit 1; }
}

step ib-verify "$study"
step ib-pack --new-key "$out/throwaway"
step ib-pack -C "$study" --key "$out/throwaway.pem" -o "$packet"
step ib-verify --trust "$out/throwaway.pub.pem" "$packet"
step ib-report --trust "$out/throwaway.pub.pem" "$packet"
ib-report --trust "$out/throwaway.pub.pem" --format md -o "$out/report.md" "$packet" > /dev/null || exit 1
cat <<END

study   $study
packet  $packet
key     $out/throwaway.pub.pem (a throwaway key: make your own with ib-pack --new-key)
report  $out/report.md
END
