#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The newcomer's path on a machine that has nothing: a fresh Debian 12 tree (debootstrap), a clone of this commit, ./quickstart
# and ./check in it. Needs root and the distribution's archive; never part of make check.
# usage: debian12.sh [TREE]     TREE: a pristine debootstrap tree to reuse; it is not changed (overlay)
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "debian12.sh: needs root" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/var/tmp}/ib-fresh-XXXXXX")
root=$work/root
clean() {
    umount -R "$root" 2> /dev/null || true
    umount "$work" 2> /dev/null || true
    rm -rf --one-file-system "$work"
}
trap clean EXIT
mount -t tmpfs tmpfs "$work"
mkdir -p "$root"
if [ $# -gt 0 ]; then
    mkdir "$work/upper" "$work/work"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/upper,workdir=$work/work" "$root"
else
    debootstrap --variant=minbase bookworm "$root"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
fi
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
git clone -q "$top" "$root/root/ibtools"
rm -rf "$root/root/ibtools/.git/hooks"
in_tree() {
    # shellcheck disable=SC2016
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb sh -c 'cd /root/ibtools && "$@"' sh "$@"
}
chroot "$root" apt-get update -q > /dev/null
status=0
start=$(date +%s)
in_tree ./quickstart || status=1
echo "quickstart: status $status, $(($(date +%s) - start)) s with packages"
start=$(date +%s)
in_tree ./check || status=1
echo "check: status $status, $(($(date +%s) - start)) s"
exit $status
