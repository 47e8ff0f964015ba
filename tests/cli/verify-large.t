#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A result of more than 16 MiB in a study: read as a stream in the directory and in the packet, with the same numbers as the small one it was made of.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v jq > /dev/null || skip_all "jq is not installed"
command -v python3 > /dev/null || skip_all "python3 is not installed"
small=$IB_SRCDIR/tests/data/clients/vllm/03_c4_fresh_seed.json
cd "$T" || exit 99

# the same numbers with texts of 1 MB each
python3 - "$small" > large.json <<'PY'
import json, sys
doc = json.load(open(sys.argv[1]))
doc['date'] = 'NOW'
doc['generated_texts'] = ['x' * 1000000 for _ in doc['generated_texts']]
print(json.dumps(doc), end='')
PY
# a result is of the run that it is made in
cat > copy <<'SH'
sed "s/\"NOW\"/\"$(date -u +%Y%m%d-%H%M%S)\"/" "$1" > "$2"
SH
is "the file is larger than what is held" "$(($(wc -c < large.json) > 16777216))" 1
ib-run --no-capture -C st -- sh copy large.json '{output_dir}/result.json' > run.out 2>&1
is "ib-run counts its requests" "$(jq -r '.requests | [.attempted, .succeeded] | join(" ")' st/runs/*/record.json)" "30 30"
# results FILE: what is said of the results, without their paths
results() { jq -S '[.results[] | del(.file, .run_id)]' "$1"; }
ib-verify --json "$small" > small.out
status 0 "the study holds" ib-verify st
ib-verify --json st > study.out
is "its numbers are those of the small file" "$(results study.out)" "$(results small.out)"
like "they derive" "$(jq '[.results[].claims[] | select(.status == "exact")] | length' study.out)" '^[1-9][0-9]'
is "and are those of the record" "$(jq -r '.findings[] | select(.id == "S16") | .status' study.out)" pass
status 0 "one run by itself" ib-verify st/runs/*
ib-pack -C st --unsigned -o p.tar > pack.out 2>&1
cp -r st st3; rm -f p.tar.zst; ib-pack -C st3 --unsigned -o p.tar.zst >> pack.out 2>&1
for p in p.tar p.tar.zst; do
    ib-verify --unsigned-ok --json "$p" > packet.out
    is "$p: the same numbers" "$(results packet.out)" "$(results small.out)"
    is "$p: and those of the record" "$(jq -r '.findings[] | select(.id == "S16") | .status' packet.out)" pass
done

chmod -R u+w st
printf 'y' | dd of="$(find st -name result.json)" bs=1 seek=20000000 conv=notrunc 2> dd.out
status 1 "an altered large file" ib-verify st
like "it is named" "$(cat .out)" "S07 E_HASH runs/.*/output/result.json"
ib-verify --json st > study.out
is "and no number of it is shown" "$(jq '.results | length' study.out)" 0
head -c 20000000 large.json > torn.json
status 1 "a large torn file by itself" ib-verify torn.json
ib-run --no-capture -C st2 -- cp torn.json '{output_dir}/result.json' > run.out 2>&1
ib-verify --json st2 > torn.out
is "a large torn file in a study is known as one, as its record says" "$(jq -r '.findings[] | select(.id == "A03") | .message' torn.out)" \
    "the client's result is torn, as the record says"
done_testing
