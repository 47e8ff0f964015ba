#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One change of a healthy result set at a time: ib-verify sees each that can be seen. IB_MUTATIONS changes (150), IB_SEED=N repeats one.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
command -v zstd > /dev/null || skip_all "zstd is not installed"
python3 "$IB_SRCDIR/tests/audit/mutate.py" "$IB_BUILDDIR/ib-verify" "${IB_MUTATIONS:-150}"
