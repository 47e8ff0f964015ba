#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The expectations of the audit's tests, before ibtools is asked: an independent reading of every result set agrees with the
# clients' own arithmetic, with the servers' own logs, and with what was counted by hand.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
command -v zstd > /dev/null || skip_all "zstd is not installed"
export PYTHONDONTWRITEBYTECODE=1
truth=$IB_SRCDIR/tests/audit/truth.py
sets=$IB_SRCDIR/tests/data/clients/sets

status 0 "every number follows from its records, every request from the server's log" python3 "$truth" --check "$sets"
status 0 "what was counted by hand is what is read" python3 "$IB_SRCDIR/tests/audit/audit.py" hand

# it can fail: one number, one record
mkdir -p "$T/sets/vllm" "$T/sets/aiperf-0.13.0"
cp -R "$sets/vllm/01_c1" "$T/sets/vllm/"
chmod -R u+w "$T/sets"
sed -i 's/"mean_ttft_ms": [0-9.]*/"mean_ttft_ms": 1.5/' "$T"/sets/vllm/01_c1/openai-*.json
status 1 "a changed mean is seen" python3 "$truth" --check "$T/sets"
cp -R "$sets/aiperf-0.13.0/conc4" "$T/sets/aiperf-0.13.0/"
chmod -R u+w "$T/sets"
rm -r "$T/sets/vllm"
sed -i 1d "$T"/sets/aiperf-0.13.0/conc4/artifacts/*/profile_export.jsonl
status 1 "a record less is seen" python3 "$truth" --check "$T/sets"
done_testing
