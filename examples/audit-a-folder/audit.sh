#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Audits three small folders as their authors might have sent them: result files of "vllm bench serve", nothing of ibtools.
# Usage: examples/audit-a-folder/audit.sh [FOLDER…]   (IB_VERIFY names the tool: default ./ib-verify, build/ib-verify or the installed one)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
sets=$here/../../tests/data/clients/sets/vllm
if [ -z "${IB_VERIFY:-}" ]; then
    for IB_VERIFY in ./ib-verify "$here/../../build/ib-verify" ib-verify; do
        command -v "$IB_VERIFY" > /dev/null && break
    done
fi
[ $# -gt 0 ] || set -- "$sets/20_mix_http500" "$sets/05_cap_unused" "$sets/17_cache_reuse"
worst=0
for folder in "$@"; do
    "$IB_VERIFY" "$folder"
    status=$?
    echo "(exit status $status)"
    echo
    [ $status -le $worst ] || worst=$status
done
exit $worst
