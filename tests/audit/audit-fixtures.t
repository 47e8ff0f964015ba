#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ib-verify says of every result set: counts as the server's log, numbers as by another program, each case's fault found, nothing
# found in the healthy ones. Writes the table tests/audit-report.md into the build directory.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
command -v zstd > /dev/null || skip_all "zstd is not installed"
mkdir -p "$IB_BUILDDIR/tests"
# shellcheck disable=SC2086
python3 "$IB_SRCDIR/tests/audit/audit.py" run "$IB_BUILDDIR/ib-verify" "$IB_BUILDDIR/tests/audit-report.md" ${IB_SETS:-}
