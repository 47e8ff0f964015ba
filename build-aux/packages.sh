# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart and check: the distribution's packages that are needed, and their installation.
build_packages="gcc make autoconf automake libtool pkg-config libgit2-dev libarchive-dev libzstd-dev zlib1g-dev libssl-dev libyaml-dev
libjansson-dev libutf8proc-dev libhwloc-dev libcurl4-openssl-dev libseccomp-dev libcunit1-dev git xz-utils ca-certificates"
test_packages="mandoc pmccabe clang valgrind zstd python3 python3-jsonschema libarchive-tools busybox openssl jq curl procps binutils diffutils"
# for tests that are skipped without them: a check of shell scripts; a Slurm cluster on this machine
optional_packages="shellcheck"
cluster_packages="slurm-wlm munge"

missing_packages() {
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2> /dev/null | grep -q '^install ok installed' || echo "$p"
    done
}

# need_packages PACKAGE…: installs those that are missing, or says how
need_packages() {
    command -v dpkg-query > /dev/null || { echo "$0: this is not Debian or Ubuntu: install the twins of: $*" >&2; return 0; }
    # shellcheck disable=SC2046
    set -- $(missing_packages "$@")
    [ $# -gt 0 ] || return 0
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        if sudo -n true 2> /dev/null; then
            sudo="sudo -n"
        else
            echo "$0: these packages are missing, and this user may not install them: sudo apt-get install $*" >&2
            return 1
        fi
    fi
    echo "installing: $*"
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" > /dev/null 2>&1 && return 0
    $sudo apt-get update -q > /dev/null 2>&1
    said=$(mktemp) || return 1
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" > "$said" 2>&1 && { rm -f "$said"; return 0; }
    tail -n 5 "$said" >&2
    rm -f "$said"
    echo "$0: cannot install: $*" >&2
    return 1
}

# want_packages PACKAGE…: installs those that are missing where that is ours to decide: as root, on a machine without services (a container).
# Never fails, and starts no daemon.
want_packages() {
    command -v dpkg-query > /dev/null && [ "$(id -u)" -eq 0 ] && [ ! -d /run/systemd/system ] || return 0
    # shellcheck disable=SC2046
    set -- $(missing_packages "$@")
    [ $# -gt 0 ] || return 0
    echo "installing: $*"
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" > /dev/null 2>&1 ||
        echo "not installed, and what needs them is skipped: $*"
    return 0
}

# build_tree BUILDDIR CONFIGURE-ARGUMENT…: configures once, then makes; output goes to BUILDDIR/build.log
build_tree() {
    build_dir=$1
    shift
    if [ -f "$top/config.status" ] && [ "$(cd "$build_dir" 2> /dev/null && pwd)" != "$top" ]; then
        echo "$0: '$top' itself was configured, and a second build cannot be made from it: 'make distclean' there first" >&2
        return 1
    fi
    mkdir -p "$build_dir" || return 1
    {
        [ -x "$top/configure" ] || "$top/autogen.sh"
    } > "$build_dir/build.log" 2>&1 || { tail -n 20 "$build_dir/build.log" >&2; return 1; }
    if [ ! -f "$build_dir/Makefile" ]; then
        (cd "$build_dir" && "$top/configure" "$@") >> "$build_dir/build.log" 2>&1 || { tail -n 20 "$build_dir/build.log" >&2; return 1; }
    fi
    make -C "$build_dir" -j"$(nproc)" >> "$build_dir/build.log" 2>&1 || { grep -nE 'error|warning|Error' "$build_dir/build.log" | tail -n 20 >&2; return 1; }
}
