# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# Helpers for the tests of ib-pack; source after lib.sh.
ORACLE=$IB_SRCDIR/tests/data/packet/ibpacket.py
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# make_study DIR: an ad-hoc study of three runs, one of which failed
make_study() {
    mkdir -p "$1" || return 1
    ib-run -C "$1" --no-capture -- sh -c 'echo first; echo 1 > {output_dir}/result.txt' > "$T/run.out" 2>&1 || return 1
    ib-run -C "$1" --no-capture -- sh -c 'echo second; mkdir {output_dir}/deep; echo "#!/bin/sh" > {output_dir}/deep/tool; chmod +x {output_dir}/deep/tool' >> "$T/run.out" 2>&1 || return 1
    ib-run -C "$1" --no-capture -- sh -c 'echo third >&2; exit 3' >> "$T/run.out" 2>&1
    [ $? -eq 3 ]
}

# new_key NAME: NAME.pem and NAME.pub.pem
new_key() { ib-pack --new-key "$1" > "$T/key.out" 2>&1; }

# no_part DIR: nothing that a failed ib-pack would have left
no_part() { [ -z "$(find "$1" -name '*.part' -o -name '*.tar' -o -name '*.tar.zst')" ]; }
