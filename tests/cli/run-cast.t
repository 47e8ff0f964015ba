#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# terminal.cast, the recording that --pty makes, is evidence like the logs: digested, scanned, packed, refused when it was changed.
. "$(dirname "$0")/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
rand() { head -c 64 /dev/urandom | sha256sum | cut -c1-"$1"; }
pty_run() { ib-run -q -C "$@" > shown < /dev/null; }
cast() { printf '%s\n' "$1"/runs/*/terminal.cast; }
# altered DIR: a copy of the study, whose recording may be written
altered() { rm -rf "$1"; cp -r study "$1"; chmod -R u+w "$1"; }

ok "a run at a pseudo-terminal" pty_run study --no-capture --pty -- sh -c 'printf "\033[32mgreen\033[0m\n"; sleep 0.05; echo two'
is "the record holds its size and digest" "$(python3 -c '
import hashlib, json, sys
data = open(sys.argv[2], "rb").read()
print([f["bytes" if "bytes" in f else "size"] == len(data) and f["sha256"] == hashlib.sha256(data).hexdigest()
       for f in json.load(open(sys.argv[1]))["files"] if f["path"] == "terminal.cast"])' study/runs/*/record.json "$(cast study)")" "[True]"
status 0 "the study verifies" ib-verify study

altered longer
echo '[9.0, "o", "more"]' >> "$(cast longer)"
status 1 "a line more is refused" ib-verify longer
like "by name" "$(cat "$T/.out" "$T/.err")" 'terminal\.cast'
altered other
sed -i 's/green/GREEN/' "$(cast other)"
status 1 "another colour is refused" ib-verify other
altered gone
rm -f "$(cast gone)"
status 1 "a recording that is gone is missed" ib-verify gone

new_key me
status 0 "the study is packed" ib-pack -C study --key me.pem -o p.tar.zst
status 0 "the packet verifies" ib-verify --trust me.pub.pem p.tar.zst
is "the recording is in it" "$(zstd -dcq p.tar.zst | tar tf - | grep -c '/terminal\.cast$')" 1
zstd -dcq p.tar.zst > p.tar
sed 's/green/GREEN/' p.tar > q.tar
is "the forged packet differs" "$(cmp -s p.tar q.tar && echo same)" ""
status 1 "a packet with another recording is refused" ib-verify --trust me.pub.pem q.tar
status 1 "a changed study is not packed" ib-pack -C other --key me.pem -o bad.tar.zst

# secrets: whole; behind a colour; in pieces that the recording's events cut; allowed in the log, and still found in the recording
token=hf_$(rand 34) head=$(rand 20) tail=$(rand 14)
export TOKEN="$token" HEAD="hf_$head" TAIL="$tail"
ok "whole" pty_run whole --no-capture --pty -- sh -c 'echo "$TOKEN"'
ok "behind a colour" pty_run colour --no-capture --pty -- sh -c 'printf "\033[1;31m%s\033[0m\n" "$TOKEN"'
ok "in pieces" pty_run pieces --no-capture --pty -- sh -c 'printf %s "$HEAD"; sleep 0.4; echo "$TAIL"'
is "(which no line of the recording holds)" "$(grep -c "$head$tail" "$(cast pieces)")" 0
for s in whole colour pieces; do
    status 2 "$s: not packed when only the log is allowed" ib-pack -C "$s" --key me.pem -o out.tar.zst --allow-secret "$(cd "$s" && echo runs/*/stdout.log)"
    like "$s: the recording is named" "$(cat "$T/.err")" "'runs/[^']*/terminal\.cast' line [0-9]+ \(hugging-face-token\)"
    ok "$s: and the secret is not shown" sh -c "! grep -qF -e '$token' -e '$head' '$T/.err' '$T/.out'"
    status 0 "$s: packed when both are allowed" ib-pack -C "$s" --key me.pem -o "$s.tar.zst" --allow-secret "$(cd "$s" && echo runs/*/stdout.log)" \
        --allow-secret "$(cd "$s" && echo runs/*/terminal.cast)"
    is "$s: in nothing that ib-run wrote beside them" \
        "$(find "$s" -type f ! -name '*.cast' ! -name '*.log' -exec grep -l -F -e "$token" -e "$head$tail" {} +)" ""
done
done_testing
