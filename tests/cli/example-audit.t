#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples/audit-a-folder: what its README promises is what the tool says.
. "$(dirname "$0")/lib.sh"

IB_VERIFY=$IB_BUILDDIR/ib-verify "$IB_SRCDIR/examples/audit-a-folder/audit.sh" > out 2> err
is "the numbers are what was measured" "$?" 0
is "nothing on stderr" "$(cat err)" ""
is "three verdicts" "$(grep -c 'NUMBERS RE-DERIVE' out)" 3
like "failures are named" "$(cat out)" "9 of 30 requests did not succeed"
like "the unused cap is named" "$(cat out)" "cap 4 unused, peak 2"
like "the cache is named" "$(tr '\n' ' ' < out | tr -s ' ')" "99.5 %) came from the server's cache"
like "what to ask for is said" "$(cat out)" "^ask for "
IB_VERIFY=$IB_BUILDDIR/ib-verify "$IB_SRCDIR/examples/audit-a-folder/audit.sh" "$T/nothing" > out 2>&1
is "a folder that is not there is exit 3" "$?" 3
done_testing
