#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-capture's options: collectors chosen and listed, files that are never overwritten, captures named by their digest.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

ok "--list names the collectors" ib-capture --list
like "--list says what may be read" "$(ib-capture --list)" '^    /proc/loadavg$'
ok "--list --json is JSON" sh -c 'ib-capture --list --json | python3 -c "import json,sys; assert json.load(sys.stdin)[0][\"name\"] == \"load\""'
status 2 "an unknown collector is a usage error" ib-capture --only lod
like "and the nearest one is named" "$(cat "$T/.err")" "did you mean 'load'"
status 2 "--only and --skip exclude each other" ib-capture --only os --skip git
status 2 "--record and --root exclude each other" ib-capture --record r --root /tmp
status 2 "operands are refused" ib-capture x
ok "--only runs one" ib-capture --only os -o only.json
is "only that one is in it" "$(python3 -c 'import json; print(*json.load(open("only.json"))["collectors"])')" os
ok "--skip leaves out" ib-capture --skip topology,git -o skip.json
is "what was left out is named" "$(python3 -c 'import json; print(*json.load(open("skip.json"))["skipped"])')" "git topology"
status 2 "-o never overwrites" ib-capture --only os -o only.json
like "and says so" "$(cat "$T/.err")" "'only.json' exists and is not overwritten"
is "nothing else was left behind" "$(ls)" "only.json
skip.json"
status 3 "a full standard output is an error" sh -c 'ib-capture --only os > /dev/full'
status 3 "an unwritable place is one clear line" ib-capture --only os -o /proc/nowhere/x.json
is "one line" "$(wc -l < "$T/.err")" 1

mkdir study
sha=$(ib-capture --store study)
is "--store names the capture by its digest" "$(sha256sum < "study/captures/$sha.json" | cut -d' ' -f1)" "$sha"
xml=$(python3 -c "import json; print(json.load(open('study/captures/$sha.json'))['collectors']['topology']['data']['xml_sha256'])")
is "and the topology by its own" "$(sha256sum < "study/captures/$xml.xml" | cut -d' ' -f1)" "$xml"
is "both are read-only" "$(stat -c %a "study/captures/$sha.json" "study/captures/$xml.xml" | sort -u)" 444
status 3 "a study that is not there" ib-capture --store nowhere

# two captures of an idle machine differ only in what is marked as changing
a=$(ib-capture | grep stable_sha256) b=$(ib-capture | grep stable_sha256)
is "the stable digest is stable" "$a" "$b"
c=$(LC_ALL=C TZ=Asia/Tokyo ib-capture --skip environment | grep stable_sha256) d=$(LC_ALL=C.UTF-8 ib-capture --skip environment | grep stable_sha256)
is "under every locale and zone" "$c" "$d"

mode=$(stat -c %a "$XDG_STATE_HOME"/ibtools/keys/machine)
is "the key is private" "$mode" 600
like "without a place for keys it still works" "$(HOME=/nonexistent XDG_STATE_HOME=/proc/x ib-capture --only os 2>&1 >/dev/null)" 'no key is kept'
done_testing
