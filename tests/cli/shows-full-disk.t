#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each tool that writes a file, on a full disk and where it may not write: one clear line, a status of its own, nothing half-written, nothing lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
make_study study || skip_all "no study"
new_key me

# refused NAME PLACE SAYING COMMAND…: status 3, one line that says it, and PLACE is as before
refused() {
    r_name=$1 r_place=$2 r_saying=$3
    shift 3
    find "$r_place" -type f -exec sha256sum {} + | LC_ALL=C sort > before.sums
    status 3 "$r_name: status 3" "$@"
    is "$r_name: one line" "$(wc -l < .err | tr -d ' ')" 1
    like "$r_name: which says it" "$(cat .err)" "^ib-[a-z]*: .*$r_saying"
    find "$r_place" -type f -exec sha256sum {} + | LC_ALL=C sort > after.sums
    ok "$r_name: all is as it was" cmp before.sums after.sums
}

each() { # PLACE SAYING PREFIX-COMMAND…: every tool writes below PLACE
    place=$1 saying=$2
    shift 2
    refused "ib-capture -o" "$place" "$saying" "$@" "$IB_BUILDDIR/ib-capture" --only os,cpu -o "$place/c.json"
    refused "ib-capture --store" "$place" "$saying" "$@" "$IB_BUILDDIR/ib-capture" --only os,cpu --store "$place/study"
    refused "ib-pack --new-key" "$place" "$saying" "$@" "$IB_BUILDDIR/ib-pack" --new-key "$place/k"
    refused "ib-pack -o" "$place" "$saying" "$@" "$IB_BUILDDIR/ib-pack" -C sealed --key key.pem -o "$place/p.tar"
    refused "ib-pack's seal" "$place" "$saying" "$@" "$IB_BUILDDIR/ib-pack" -C "$place/study" --key key.pem -o packets/q.tar
    refused "ib-report -o" "$place" "$saying" "$@" "$IB_BUILDDIR/ib-report" -C study --format md -o "$place/r.md"
}

cp -r study sealed && chmod -R u+w sealed && ib-pack -C sealed --key me.pem -o first.tar > /dev/null
cp me.pem key.pem && mkdir packets

if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null && mkdir m && unshare -m mount -t tmpfs none m 2> /dev/null; then
    # in a mount name space of its own
    cat > full.sh <<'END2'
mount -t tmpfs -o size=1m none m && cp -r study m/study && chmod -R u+w m/study || exit 99
head -c 2000000 /dev/zero > m/fill 2> /dev/null
[ "$(stat -f -c %f m)" = 0 ] || exit 98
each m "No space left on device"
rm m/fill
status 0 "with room again it is packed" ib-pack -C m/study --key key.pem -o m/p.tar
status 0 "and holds" ib-verify --trust me.pub.pem m/p.tar
echo "$tap_n $tap_bad" > tally
END2
    export T IB_BUILDDIR IB_SRCDIR
    {
        sed -n '/^tap_n=/,$p' "$IB_SRCDIR/tests/cli/lib.sh" | grep -v '^trap cleanup'
        sed -n '/^refused()/,/^}/p; /^each()/,/^}/p' "$IB_SRCDIR/tests/cli/shows-full-disk.t"
        cat full.sh
    } > inside.sh
    unshare -m sh inside.sh || { echo "not ok - the full disk: status $?"; tap_bad=1; }
    read -r tap_n bad < tally
    [ "$bad" = 0 ] || tap_bad=1
else
    skip "a full disk" "this needs root and a mount name space"
fi

# a place that belongs to somebody else
if [ "$(id -u)" = 0 ]; then
    user="setpriv --reuid 65534 --regid 65534 --clear-groups"
    chown 65534 key.pem
else
    user=
fi
mkdir theirs && cp -r study theirs/study && chmod -R u+w theirs/study
if [ -z "$user" ] || $user test -x "$IB_BUILDDIR/ib-run" 2> /dev/null; then
    chmod 755 "$T" && chmod -R a+rX study sealed theirs && chmod 777 packets && mkdir -m 777 state
    [ -n "$user" ] || chmod -R a-w theirs
    # shellcheck disable=SC2086
    each theirs "Permission denied" env XDG_STATE_HOME="$T/state" $user
else
    skip "another user" "setpriv does not work here"
fi
ok "no packet was left anywhere" no_part packets
done_testing
