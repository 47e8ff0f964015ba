# SPDX-License-Identifier: Apache-2.0
# Helpers for the end-to-end tests: TAP output, a scratch directory that is removed, the built tools first on PATH.
set -u
: "${IB_BUILDDIR:=$PWD}" "${IB_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
PATH=$IB_BUILDDIR:$PATH
export PATH IB_BUILDDIR IB_SRCDIR
XDG_STATE_HOME=$(mktemp -d "${TMPDIR:-/tmp}/ib-state-XXXXXX") || exit 99
export XDG_STATE_HOME
unset IB_RUN_ID IB_RUN_DIR IB_OUTPUT_DIR
T=$(mktemp -d "${TMPDIR:-/tmp}/ib-test-XXXXXX") || exit 99
tap_n=0
tap_bad=0

cleanup() {
    chmod -R u+w "$T" 2>/dev/null
    rm -rf "$T" "$XDG_STATE_HOME"
}
trap cleanup EXIT

plan() { echo "1..$1"; tap_plan=$1; }
skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# ok NAME COMMAND…: passes when the command's status is 0
ok() {
    tap_name=$1; shift
    tap_n=$((tap_n + 1))
    if "$@" > "$T/.out" 2> "$T/.err"; then
        echo "ok $tap_n - $tap_name"
    else
        echo "not ok $tap_n - $tap_name (status $?): $*"
        sed 's/^/#   /' "$T/.out" "$T/.err" | head -40
        tap_bad=1
    fi
}

# status WANT NAME COMMAND…: passes when the command ends with status WANT; output in $T/.out and $T/.err
status() {
    tap_want=$1 tap_name=$2; shift 2
    tap_n=$((tap_n + 1))
    "$@" > "$T/.out" 2> "$T/.err"
    tap_got=$?
    if [ "$tap_got" -eq "$tap_want" ]; then
        echo "ok $tap_n - $tap_name"
    else
        echo "not ok $tap_n - $tap_name: status $tap_got, expected $tap_want: $*"
        sed 's/^/#   /' "$T/.out" "$T/.err" | head -40
        tap_bad=1
    fi
}

# is NAME GOT WANT
is() {
    tap_n=$((tap_n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $tap_n - $1"
    else
        echo "not ok $tap_n - $1"
        printf '%s\n' "got:  $2" "want: $3" | sed 's/^/#   /'
        tap_bad=1
    fi
}

# like NAME TEXT ERE
like() {
    tap_n=$((tap_n + 1))
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then
        echo "ok $tap_n - $1"
    else
        echo "not ok $tap_n - $1: no match for: $3"
        printf '%s\n' "$2" | sed 's/^/#   /' | head -40
        tap_bad=1
    fi
}

skip() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $1 # SKIP $2"; }

# done_testing: last line of a test
done_testing() {
    [ -n "${tap_plan:-}" ] || echo "1..$tap_n"
    exit $tap_bad
}
