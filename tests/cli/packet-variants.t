#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Both implementations of the packet layer name the same class for the same packet: many signers, and random changes with and without the key.
. "$(dirname "$0")/lib.sh"
command -v openssl > /dev/null || skip_all "openssl is not installed"
command -v python3 > /dev/null || skip_all "python3 is not installed"
ok "both say the same" python3 "$IB_SRCDIR/tests/cli/packet_variants.py" "$IB_BUILDDIR/tests/unit/packet_class" "$T" "${IB_VARIANTS:-160}"
sed 's/^/# /' "$T/.out"
done_testing
