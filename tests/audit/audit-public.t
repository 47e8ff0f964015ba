#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ib-verify says of result files that others published; they are not ours to ship, so IBTOOLS_VECTORS says where they are.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
public=${IBTOOLS_VECTORS:-$IB_SRCDIR/../shared}/fixtures/public
[ -f "$public/aiperf-01.json" ] || skip_all "no published result files in $public (IBTOOLS_VECTORS)"
PYTHONDONTWRITEBYTECODE=1 python3 "$IB_SRCDIR/tests/audit/public.py" "$IB_BUILDDIR/ib-verify" "$public"
