#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify and ib-report lock themselves in before the first byte of the evidence, say so, and nothing of the environment is loaded into them.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v jq > /dev/null || skip_all "jq is not installed"
cd "$T" || exit 99
ib-run --no-capture -C study -- echo result > /dev/null 2>&1
ib-pack --new-key k > /dev/null 2>&1
ib-pack -C study --key k.pem -o packet.tar.zst > /dev/null 2>&1
run=$(echo study/runs/*)
mkdir folder && cp "$IB_SRCDIR"/tests/data/clients/sets/vllm/04_repeat_1/openai*.json folder/result.json

level=$(ib-verify --json study | jq -r .tool.sandbox)
full='^landlock-[0-9]+\+seccomp$'
if ! echo "$level" | grep -Eq "$full"; then
    echo "# SKIP no whole sandbox here ($(ib-verify --json study | jq -r .tool.sandbox_missing)): its denials are not tested"
    status 3 "a sandbox that is required fails closed" ib-verify --require-sandbox study
    like "and says what is missing" "$(cat .err)" "the sandbox that was required is not to be had here"
    status 3 "in ib-report too" ib-report --require-sandbox study
    is "nothing was printed of it" "$(cat .out)" ""
    done_testing
fi
ok "a packet, locked in" ib-verify --require-sandbox --trust k.pub.pem packet.tar.zst
like "the screen says so" "$(cat .out)" "^consistent .*; sandbox landlock-[0-9]+\+seccomp$"
ok "a study" ib-verify --require-sandbox study
ok "one run" ib-verify --require-sandbox "$run"
ok "one run, from within" sh -c "cd '$run' && ib-verify --require-sandbox ."
ok "a folder" ib-verify --require-sandbox folder
ok "a result" ib-verify --require-sandbox folder/result.json
ok "the records of it are written" ib-verify --require-sandbox --requests records.jsonl folder/result.json
is "all of them" "$(wc -l < records.jsonl)" 31
ok "and where a directory is named" ib-verify --require-sandbox --requests folder/../records.csv folder/result.json
status 2 "never over an old file" ib-verify --require-sandbox --requests records.csv folder/result.json
status 3 "into a directory that is not there: nothing is read" ib-verify --requests nowhere/records.csv folder/result.json
like "said so" "$(cat .err)" "nowhere/"
ok "a report" ib-report --require-sandbox study
ok "a report of a packet in a file" ib-report --require-sandbox --trust k.pub.pem -f md -o report.md packet.tar.zst
ok "which is there" test -s report.md
ok "a key from a pipe of the shell" bash -c 'ib-verify --require-sandbox --trust <(cat k.pub.pem) packet.tar.zst'
ok "a key from standard input" sh -c 'ib-verify --require-sandbox --trust - packet.tar.zst < k.pub.pem'
ok "output into a file" sh -c 'ib-verify --require-sandbox study > screen && test -s screen'
ok "output into a pipe" sh -c 'ib-verify --require-sandbox study | grep -q "^HOLDS"'
for locale in C tr_TR.UTF-8; do
    ok "under $locale, in another time zone" env LC_ALL=$locale TZ=Asia/Kolkata ib-verify --require-sandbox study
done

# A first-in-first-out file holds up whoever opens it: no tool reads openssl.cnf, whatever the environment says.
mkfifo conf
for tool in "ib-verify --trust k.pub.pem packet.tar.zst" "ib-verify study" "ib-report study" "ib-pack -C study --key k.pem -o again.tar.zst" \
    "ib-pack --new-key other" "ib-run --no-capture -C study -- true" "ib-capture -o capture"; do
    # shellcheck disable=SC2086
    ok "openssl.cnf is not read: $tool" env OPENSSL_CONF="$T/conf" OPENSSL_MODULES="$T" OPENSSL_ENGINES="$T" timeout -k 5 20 $tool
done

# What it opens, and when: the evidence is read only behind the lock.
if command -v strace > /dev/null && strace -o /dev/null true 2> /dev/null; then
    strace -f -o trace ib-verify -q --trust k.pub.pem packet.tar.zst
    is "nothing is opened behind the lock" "$(sed -n '/landlock_restrict_self/,$p' trace | grep -cE 'open(at)?2?\(')" 0
    fd=$(sed -n 's/.*open[a-z]*([^"]*"packet.tar.zst".* = \([0-9]*\)$/\1/p' trace)
    is "the packet is opened" "$(echo "$fd" | grep -cE '^[0-9]+$')" 1
    is "and not read before it" "$(sed '/landlock_restrict_self/,$d' trace | sed -n '/open[a-z]*([^"]*"packet.tar.zst"/,$p' | grep -cE "(read|pread64)\($fd,")" 0
else
    echo "# SKIP strace cannot be used here: the order of its calls is not looked at"
fi
done_testing
