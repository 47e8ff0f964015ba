#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify on folders of loose files and on single result files: what is recognised, what is passed over, and what cannot be looked at.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
data=$IB_SRCDIR/tests/data/clients
result=$data/vllm/03_c4_fresh_seed.json
json() { ib-verify --json "$1" > "$T/.json"; }
# field PATH: of the document last made
field() { jq -r "$1" "$T/.json"; }
command -v jq > /dev/null || skip_all "jq is not installed"

fresh() {
    chmod -R u+w "$T/f" 2>/dev/null
    rm -rf "$T/f"
    mkdir -p "$T/f/a/b" "$T/f/c"
    cp "$result" "$T/f/a/result.json"
    echo "a readme" > "$T/f/README"
}

fresh
status 0 "a folder with one result" ib-verify "$T/f"
json "$T/f"
is "its kind" "$(field .subject.kind)" folder
is "its result, by its path below the folder" "$(field '.results[].file')" a/result.json
is "nothing vouches for the bytes" "$(field '[.verdicts.intact, .verdicts.signed, .verdicts.trusted, .verdicts.time_stamped] | unique | join(" ")')" not_checkable
is "it is consistent" "$(field .verdicts.consistent)" yes
cp "$result" "$T/f/a/b/other.data"
cp "$result" "$T/f/c/no-suffix"
json "$T/f"
is "results are told by content, in all directories" "$(field '.results[].file' | tr '\n' ' ')" "a/result.json a/b/other.data c/no-suffix "
status 1 "a copy is no second measurement" ib-verify "$T/f"
like "it is named" "$(cat "$T/.out")" "A05 .*the same bytes as"
before=$(cd "$T/f" && find . -exec stat -c '%n %s %Y %Z' {} + | sort)
ib-verify "$T/f" > /dev/null
is "verifying writes nothing" "$(cd "$T/f" && find . -exec stat -c '%n %s %Y %Z' {} + | sort)" "$before"

status 0 "a single file" ib-verify "$result"
json "$result"
is "its kind is file" "$(field .subject.kind)" file
is "it is named by its last part" "$(field '.results[0].file')" "$(basename "$result")"
status 0 "a file reached through a link" sh -c "ln -s '$result' '$T/link' && ib-verify '$T/link'"

fresh
gzip -c "$result" > "$T/f/a/result.json.gz"
json "$T/f"
is "a gzip file is read like the file in it" "$(field '.results[] | del(.file, .run_id, .client_file) | tojson' | sort -u | wc -l)" 1
is "and both count" "$(field '.results | length')" 2
head -c 3000 "$T/f/a/result.json.gz" > "$T/f/c/torn.gz"
status 1 "a torn gzip file" ib-verify "$T/f"
like "it is told" "$(cat "$T/.out")" "A03 c/torn.gz: the file is torn or malformed: .*ends within its gzip data"
if command -v zstd > /dev/null; then
    fresh
    zstd -q "$result" -o "$T/f/c/result.json.zst"
    json "$T/f"
    is "a zstd file is read, too" "$(field '.results | length')" 2
fi

for pack in gzip "zstd -q"; do
    command -v "${pack%% *}" > /dev/null || continue
    $pack -c "$result" > "$T/alone"
    status 0 "a single result of ${pack%% *}" ib-verify --json "$T/alone"
    is "is the file in it, of kind file" "$(jq -r '.subject.kind, .results[0].requests.attempted' "$T/.out" | tr '\n' ' ')" \
        "file $(ib-verify --json "$result" | jq '.results[0].requests.attempted') "
done

# where every request failed, the verdict is not about numbers
for none in vllm/31_all_fail aiperf-0.13.0/allfail; do
    status 0 "$none" ib-verify "$data/sets/$none"
    like "is called what it is" "$(head -n 1 "$T/.out")" "^NOTHING WAS MEASURED, NO REQUEST SUCCEEDED:"
done
mkdir "$T/some"
cp "$result" "$data"/sets/vllm/31_all_fail/*.json "$T/some"
ib-verify "$T/some" > "$T/.out"
like "one result that did measure is enough" "$(head -n 1 "$T/.out")" "RE-DERIVE"

fresh
head -c 3000 "$result" > "$T/f/c/torn.json"
status 1 "a torn result" ib-verify "$T/f"
like "it is named" "$(cat "$T/.out")" "A03 c/torn.json: the file is torn or malformed: .*line 1 column [0-9]+"
status 1 "a torn result by itself" ib-verify "$T/f/c/torn.json"

fresh
ln -s /etc/passwd "$T/f/c/link"
ln -s .. "$T/f/c/up"
ln -s /nowhere "$T/f/c/dangling"
mkfifo "$T/f/c/pipe"
status 0 "links and pipes are passed over" timeout 20 ib-verify "$T/f"
json "$T/f"
is "each is listed" "$(field '[.findings[] | select(.message | startswith("passed over"))] | length')" 4
ln -s "$result" "$T/f/c/result.json"
json "$T/f"
is "a link to a result is not followed" "$(field '.results | length')" 1

fresh
echo x > "$T/f/secret" && chmod 000 "$T/f/secret"
if [ "$(id -u)" -ne 0 ]; then
    status 3 "a file that cannot be read" ib-verify "$T/f"
    like "it is named" "$(cat "$T/.out")" "cannot be read: secret: Permission denied"
else
    skip "a file that cannot be read" "root reads every file"
    skip "it is named" "root reads every file"
fi

mkdir "$T/empty"
status 3 "an empty folder" ib-verify "$T/empty"
like "it says what it looked for" "$(cat "$T/.out")" "no result of a known client in it: 'ib-verify --list-clients'"
cp "$IB_SRCDIR/COPYING" "$T/empty/"
status 3 "a folder of other things" ib-verify "$T/empty"
status 4 "a file of another sort" ib-verify "$IB_SRCDIR/COPYING"

fresh
cp "$data/vllm/02_c4_same_seed_warm.json" "$T/f/c/$(printf 'r\033[31m\nFAILS \377')"
status 0 "a hostile name" ib-verify "$T/f"
is "a hostile name reaches no terminal" "$(LC_ALL=C tr -d '\n\040-\176' < "$T/.out" | wc -c)" 0
json "$T/f"
is "the document stays JSON" "$(field '.results | length')" 2

fresh
i=0
mkdir "$T/f/many"
while [ $i -lt 10000 ]; do
    : > "$T/f/many/$i.txt"
    i=$((i + 1))
done
status 0 "10,000 files" timeout 120 ib-verify "$T/f"
fresh
{ head -c 30000000 /dev/zero | tr '\0' 'x'; echo; } > "$T/f/c/long-line.txt"
{ printf '{"schema": "urn:ibtools:requests:v1", "x": "'; head -c 10000000 /dev/zero | tr '\0' 'x'; } > "$T/f/c/long.jsonl"
status 1 "a huge torn line" timeout 120 ib-verify "$T/f"
status 3 "trust does not apply" ib-verify --fingerprint "SHA256:YMCt1796qdM9GyR6cT19Ayy+L9cys3DkCTLUh0bSj5Y" "$T/f/a"
done_testing
