#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each tool needs only the shared libraries that build-aux/needed.txt lists for it. Prints TAP.
set -u
: "${IB_BUILDDIR:=$PWD}" "${IB_SRCDIR:=$(dirname "$0")/..}"
lines=$(grep -vE '^(#|$)' "$IB_SRCDIR/build-aux/needed.txt")
echo "1..$(printf '%s\n' "$lines" | wc -l)"
n=0 status=0
printf '%s\n' "$lines" | {
    while read -r tool allowed; do
        n=$((n + 1)) tool=${tool%:}
        bin=$IB_BUILDDIR/$tool
        [ -x "$IB_BUILDDIR/.libs/$tool" ] && bin=$IB_BUILDDIR/.libs/$tool
        if [ ! -x "$bin" ]; then
            echo "not ok $n - $tool is built"
            status=1
            continue
        fi
        needed=$(readelf -d "$bin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
        if printf '%s\n' "$needed" | grep -q 'lib[aut]*san'; then
            echo "ok $n - $tool links what it may # SKIP sanitizers add libraries"
            continue
        fi
        extra=
        for so in $needed; do
            name=${so%%.so*}
            case " libc ld-linux-x86-64 ld-linux-aarch64 libm libpthread libdl libgcc_s $allowed " in
            *" $name "*) ;;
            *) extra="$extra $so" ;;
            esac
        done
        if [ -z "$extra" ]; then
            echo "ok $n - $tool links what it may"
        else
            echo "not ok $n - $tool links what it may: not in needed.txt:$extra"
            status=1
        fi
    done
    exit $status
}
