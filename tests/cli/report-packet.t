#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From runs to the table of a packet: real result files as the output of ib-run, packed, reported; then what trust and damage do.
. "$(dirname "$0")/lib.sh"

D=$IB_SRCDIR/tests/data/clients
cd "$T" || exit 99
go() { ib-run --no-capture -C st -- "$@" > run.out 2>&1; }
# a result is of the run that it is made in: real ones get the time of now
cat > now <<'SH'
sed -E -e "s/\"date\": \"[0-9]{8}-[0-9]{6}\"/\"date\": \"$(date -u +%Y%m%d-%H%M%S)\"/" \
    -e "s/\"(date|origin_at)\": ?\"[0-9T:.-]+Z\"/\"\1\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"/" "$1" > "$2"
SH
go sh now "$D/smollm2/rs-c1-cold-r1.json" '{output_dir}/result.json'
go sh now "$D/vllm/23_stream_cut.json" '{output_dir}/any-name.txt'
# shellcheck disable=SC2016
go sh -c 'sh now "$1" "$IB_OUTPUT_DIR/31_all_fail.json"; exit 7' sh "$D/vllm/31_all_fail.json"
go sh now "$D/requests/loopback.jsonl" '{output_dir}/loopback.jsonl'
# a client that is killed while it writes
# shellcheck disable=SC2016
go sh -c 'head -c 1000 "$1" > "$IB_OUTPUT_DIR/r.json"; kill -9 $$' sh "$D/vllm/01_c1.json"
go true
go ./no-such-command

status 0 "a study of six commands and a missing one" ib-report st
is "has seven rows" "$(grep -c '^2[0-9]*T[0-9]*Z-' .out)" 7
out=$(tr -s ' ' < .out)
like "a healthy real run" "$out" '20/20/0 970\.7 [0-9.]+ 20 [0-9.]+ \([0-9.]+ s\)'
like "a run with cut streams, by content and not by name" "$out" '30/21/9 24\.74 '
like "a run in which everything failed has no latency" "$out" '30/0/30 — — — 0\.000 .* failed'
like "a synthetic run is labelled" "$out" '40/40/0 9\.851 .* completed, synthetic'
like "a run without a result" "$out" ' — — — — — unspecified: unconfirmed completed'
like "a killed run is kept, with its reason and no number" "$(cat .out)" ': reason: truncated_output'
like "different formulas stand apart" "$out" 'TTFT: ttft_first_text'
cp .out study.txt

# one run: the others were not looked at, so nothing is said of them
one=$(sed -n 's/^\(2[0-9]*T[^ ]*\) .*/\1/p' study.txt | head -n 1)
status 0 "a run's directory is reported" ib-report "st/runs/$one"
is "with its row alone" "$(grep -o '^2[0-9]*T[^ ]*' .out)" "$one"
is "and no count of runs" "$(grep -c '^runs:' .out)" 0
status 0 "as JSON" ib-report -f json "st/runs/$one"
like "what nobody counted is null" "$(cat .out)" '"counts": null'
status 0 "ib-verify of it" ib-verify --json "st/runs/$one"
like "counts no runs either" "$(cat .out)" '"runs": null'

status 0 "a throwaway key" ib-pack --new-key k
status 0 "the study is packed" ib-pack -C st --key k.pem -o p.tar.zst
status 0 "a trusted packet is reported" ib-report --trust k.pub.pem p.tar.zst
cp .out packet.txt
ib-verify --trust k.pub.pem p.tar.zst > screen.txt
status 0 "the next step of its verdict comes to the same" sh -c "$(sed -n 's/^next  *//p' screen.txt)"
cp .out next.txt
ok "report" cmp next.txt packet.txt
like "and said to be so" "$(cat packet.txt)" '^packet: intact, signed, trusted, consistent'
ok "with the rows of the study" sh -c 'grep "^2[0-9]*T" study.txt > a; grep "^2[0-9]*T" packet.txt > b; cmp a b'
ib-report -f json --trust k.pub.pem p.tar.zst > p.json
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "its JSON fits the schema" python3 -c '
import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' "$IB_SRCDIR/schemas/report-v1.schema.json" p.json
else
    skip "its JSON fits the schema" "python3-jsonschema is missing"
fi
status 3 "without a trust anchor the signer is not established" ib-report p.tar.zst
like "which the report says" "$(cat .out)" 'signer not established'
like "with the numbers all the same: the bytes are intact" "$(tr -s ' ' < .out)" '20/20/0 970\.7'

size=$(wc -c < p.tar.zst)
head -c $((size - 1)) p.tar.zst > short.tar.zst
status 4 "a cut packet is refused" ib-report --trust k.pub.pem short.tar.zst
is "and gives no number" "$(grep -c '970\.7' .out)" 0
if command -v zstd > /dev/null; then
    zstd -q -d p.tar.zst -o p.tar
    LC_ALL=C sed 's/"completed":20,/"completed":21,/' p.tar > bad.tar
    is "an edit is made" "$(cmp -s p.tar bad.tar; echo $?)" 1
    status 1 "an edited packet does not hold" ib-report --trust k.pub.pem bad.tar
    is "and gives no number" "$(grep -c '970\.7' .out)" 0
else
    skip "an edit is made" "no zstd"
    skip "an edited packet does not hold" "no zstd"
    skip "and gives no number" "no zstd"
fi
done_testing
