#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-run passes the command's status through, and a record exists whatever happened.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

state() { grep -h '"state"' "$1"/runs/*"$2"*/record.json | cut -d'"' -f4; }
last() { grep -o '"run":"[^"]*"' "$1/ledger.jsonl" | tail -1 | cut -d'"' -f4; }

run() { ib-run -q -C s --no-capture "$@"; }

status 0 "true gives 0" run -- true
is "its state is completed" "$(state s "$(last s)")" completed
status 3 "status 3 passes through" run -- sh -c 'exit 3'
is "its state is failed" "$(state s "$(last s)")" failed
status 255 "status 255 passes through" run -- sh -c 'exit 255'
status 127 "a missing command gives 127" run -- no-such-command-here
is "and a record" "$(state s "$(last s)")" failed
ok "that says why" grep -q '"not_found"' "s/runs/$(last s)/record.json"
if [ "$(id -u)" = 0 ]; then
    skip "a directory of PATH that may not be searched changes nothing" "root may search all"
else
    mkdir shut && chmod 0 shut
    status 127 "a directory of PATH that may not be searched changes nothing" env "PATH=$PATH:$T/shut" ib-run -q -C s --no-capture -- no-such-command-here
fi
touch plain
status 126 "a file that is no program gives 126" run -- ./plain
ok "and a record that says why" grep -q '"cannot_execute"' "s/runs/$(last s)/record.json"
status 143 "a command that ends itself by TERM gives 143" run -- sh -c 'kill -TERM $$'
ok "its signal is recorded" grep -q '"signal": 15' "s/runs/$(last s)/record.json"
is "a signal of its own is a failure, not an interruption" "$(state s "$(last s)")" failed
status 124 "a time limit gives 124" run --timeout 200ms -- sleep 30
is "its state is timed_out" "$(state s "$(last s)")" timed_out
status 125 "no command gives 125" run
status 125 "an unknown option gives 125" run --tiemout 3 -- true
like "and names the nearest one" "$(cat "$T/.err")" "did you mean '--timeout'"
status 125 "a wrong cache condition gives 125" run --cache hot -- true
status 125 "a wrong group gives 125" run --group 'A B' -- true
status 125 "a wrong repeat gives 125" run --repeat 0 -- true
status 0 "--dry-run does nothing" ib-run -C nowhere --dry-run -- touch made
ok "nothing was made" test ! -e nowhere -a ! -e made

cd "$T" && mkdir d && cd d || exit 99
status 0 "the default study is ./ib-study" ib-run -q --no-capture -- true
ok "it is there" test -f ib-study/ledger.jsonl
cd ib-study || exit 99
status 0 "inside a study it is the study itself" ib-run -q --no-capture -- true
ok "there is no second one" test ! -e ib-study
is "there are two runs" "$(ls runs | wc -l | tr -d ' ')" 2
done_testing
