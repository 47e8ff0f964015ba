#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Parts of a plan, what stops it, and what its author adds by hand: --only, the rules of 'stop', --exclude, --note, --results-known; diagnostic groups.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
plan() { plan_in=$1; shift; ib-run --no-capture --plan "$plan_in/contract.yaml" "$@"; }
# what is in the ledger: group.cell-rN of each start
starts() { sed -n 's/.*"kind":"start","run":"[^"]*Z-\(.*\)-[0-9a-f]\{8\}","group".*/\1/p' "$1/ledger.jsonl" | tr '\n' ' '; }
kinds() { sed 's/.*"kind":"\([a-z]*\)".*/\1/' "$1/ledger.jsonl" | tr '\n' ' '; }

mkdir o
cat > o/contract.yaml << 'EOT'
study: o
groups:
  - name: base
    matrix: {cap: [1, 4]}
    repeats: 2
    command: ["true"]
  - name: later
    gate: base
    repeats: 2
    command: ["true"]
EOT
status 0 "--only one slot" plan o --only base.cap-4.r2
is "runs that and nothing else" "$(starts o)" "base.cap-4-r02 "
like "and says what is left out" "$(cat "$T/.err")" "--only left 5 of the plan's 6 slots out"
status 1 "a gate still holds" plan o --only later
like "and says so" "$(cat "$T/.err")" "group 'later' waits for 'base', of which 3 runs are missing"
is "so that nothing is run" "$(starts o)" "base.cap-4-r02 "
status 0 "--only a cell and a repeat of another" plan o --only base.cap-1,base.cap-4.r1
is "runs them in the plan's order" "$(starts o)" "base.cap-4-r02 base.cap-1-r01 base.cap-1-r02 base.cap-4-r01 "
status 0 "--only a group, once its gate is open" plan o --only later
status 0 "without --only nothing is left to do" plan o
is "each slot was run once" "$(starts o | wc -w | tr -d ' ')" 6
status 2 "an unknown group" plan o --only bas
like "with the nearest" "$(cat "$T/.err")" "the contract has no group 'bas'; did you mean 'base'\?"
status 2 "an unknown cell" plan o --only base.cap-5
like "with the nearest" "$(cat "$T/.err")" "group 'base' has no cell 'cap-5'; did you mean 'cap-[14]'\?"
status 2 "an unknown repeat" plan o --only base.cap-1.r3
like "with how many there are" "$(cat "$T/.err")" "has no repeat 3: its group has 2"
for bad in "" "," "base," base.cap-1.2 base.cap-1.r base.cap-1.r0 base.cap-1.r1.x; do
    status 2 "'$bad' is no selection" plan o --only "$bad"
done
is "--dry-run lists what --only selects" "$(plan o --only base.cap-1 --dry-run | grep -c '^slot')" 2
status 0 "leading zeros are a number, as in run IDs" plan o --only base.cap-1.r01

# what stops a plan
mkdir r c t
cat > r/contract.yaml << 'EOT'
study: r
readiness: {command: [test, -e, ready], timeout: 50ms, interval: 20ms}
stop: {failed_runs: 0, refused_runs: 2}
groups:
  - {name: g, repeats: 5, command: ["true"]}
EOT
status 1 "refused_runs" plan r
is "stops after so many" "$(grep -c '"state":"refused"' r/ledger.jsonl)" 2
like "and says how to go on" "$(cat "$T/.err")" "2 of the runs were refused \('refused_runs'\): the plan stops here; once the cause is gone the same command runs their slots again"
touch r/ready
status 0 "which is so" plan r
cat > t/contract.yaml << 'EOT'
study: t
stop: {after: 400ms}
groups:
  - {name: g, repeats: 50, command: [sleep, "0.15"]}
EOT
status 1 "after" plan t
like "stops when its time is over" "$(cat "$T/.err")" "the 0 s are over that the contract gives one ib-run \('after'\): the plan stops here; the same command goes on"
n=$(starts t | wc -w | tr -d ' ')
ok "after some runs and before all" test "$n" -gt 0 -a "$n" -lt 10
status 1 "and goes on" plan t
ok "with more of them" test "$(starts t | wc -w)" -gt "$n"
. "$IB_SRCDIR/tests/cli/loopback.sh"
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
cat > c/contract.yaml << EOT
study: c
stop: {failed_runs: 0, contradicted_runs: 2}
groups:
  - name: g
    repeats: 5
    command: [ib-load, --url, "$url", --seed, "9", -n, "6", -c, "2", --input-tokens, "64", --output-tokens, "4", -o, "{output_dir}/r.jsonl"]
    cache:
      condition: cold
      evidence: {engine: vllm, metrics_url: "$url/metrics"}
EOT
status 1 "contradicted_runs" plan c
is "stops after so many: the first repeat was cold" "$(starts c | wc -w | tr -d ' ')" 3
like "and says so" "$(cat "$T/.err")" "the evidence of 2 runs contradicts their cache condition \('contradicted_runs'\)"

# exclusions and notes
mkdir e
cat > e/contract.yaml << EOT
study: e
question: does it stay apart?
groups:
  - name: g
    repeats: 2
    command: [ib-load, --url, "$url", --seed, "9", -n, "6", -c, "2", --input-tokens, "64", --output-tokens, "4", -o, "{output_dir}/r.jsonl"]
  - name: look
    diagnostic: true
    repeats: 1
    command: [ib-load, --url, "$url", --seed, "9", -n, "6", -c, "2", --input-tokens, "64", --output-tokens, "4", -o, "{output_dir}/r.jsonl"]
EOT
status 0 "a study" plan e -q
run=$(basename e/runs/*g.all-r01*)
ib-verify e > screen
like "a diagnostic group is no headline" "$(sed -n '/^look all/{n;p;}' screen)" "diagnostic, no headline"
status 125 "--exclude without a reason" ib-run -C e --exclude "$run"
status 125 "an unknown run" ib-run -C e --exclude 20200101T000000Z-g.all-r01-00000000 --reason x
like "is named" "$(cat "$T/.err")" "has no run '20200101T000000Z-g.all-r01-00000000'"
status 125 "a study that is not there is not made" ib-run -C nowhere --note x
ok "indeed not" test ! -e nowhere
key=sk-proj-$(printf 'Zt4WmX2nLc9VbR5dKf8HsJ1gYp%s' 3eUaTo6i7Kq)
status 125 "a secret in a note is refused" ib-run -C e --note "the key was $key"
status 125 "and one in a reason" ib-run -C e --exclude "$run" --reason "the key was $key"
status 125 "a blank note, too" ib-run -C e --note "  "
is "nothing was entered" "$(kinds e)" "contract start finish start finish start finish "
status 0 "--exclude" ib-run -C e --exclude "$run" --reason "somebody compiled beside it"
like "says that its result was known" "$(cat "$T/.err")" "its result existed before: ib-verify will say so \(A34\)"
status 125 "a run is excluded once" ib-run -C e --exclude "$run" --reason "again"
status 0 "--note" ib-run -C e --note "the fan of node 2 was replaced on Monday"
is "both stand in the ledger" "$(kinds e)" "contract start finish start finish start finish exclusion note "
like "as they were given" "$(tail -n 2 e/ledger.jsonl)" '"reason":"somebody compiled beside it"'
ok "the run stays where it is" test -f "e/runs/$run/record.json"
findings() { ib-verify "$1" --json | python3 -c '
import json, sys
print(" ".join(sorted("%s:%s" % (f["id"], f["status"]) for f in json.load(sys.stdin)["findings"] if f["id"] in sys.argv[1:])))' $2; }
is "its slot is open, and the exclusion late" "$(findings e "A34 S11")" "A34:fail S11:fail"
status 0 "the plan fills the slot again" plan e -q
is "as another attempt of the same repeat" "$(starts e)" "g.all-r01 g.all-r02 look.all-r01 g.all-r01 "
like "numbered on" "$(grep -h '"attempt"' "$(ls -d e/runs/*g.all-r01* | grep -v "$run")/record.json")" '"attempt": 2'
is "then no slot is open" "$(findings e "A34 S11")" "A34:fail S11:pass"
ib-verify e > screen
like "the screen's row leaves its numbers out" "$(cat screen)" "^g all +3 +12/12"
like "and says so" "$(cat screen)" "1 excluded, not in these numbers"
like "and the slot counts once" "$(cat screen)" "complete +yes +planned 3 = completed 4 [+] failed 0 [+] timed out 0 - excluded 1"
ib-report e > report
like "so in the report" "$(grep "$run" report)" "completed, excluded"
is "where diagnostic runs stand last" "$(sed '/^notes/,$d' report | grep -o '[a-z]*\.all-r0[12]' | tr '\n' ' ')" "g.all-r01 g.all-r02 g.all-r01 look.all-r01 "
like "and are called so" "$(grep look.all report | head -n 1)" "diagnostic"
is "of the cell's runs the excluded one leads no pool, and the others make one" "$(ib-verify e --json | python3 -c '
import json, sys
for c in json.load(sys.stdin)["cells"]:
    print(c["group"], [len(p["results"]) for p in c["pools"]], [p["apart"] for p in c["pools"]])' | tr '\n' ' ')" "g [2, 1] [[], ['NC_STATE']] look [1] [[]] "

# a run that measured nothing may be excluded without that being late
status 0 "a refused run is excluded" ib-run -q -C r --exclude "$(grep -l '"state": "refused"' r/runs/*/record.json | head -n 1 | xargs dirname | xargs basename)" --reason "not ready"

# amendments and what was known
mkdir a
write() { printf 'study: a\ngroups:\n  - {name: g, repeats: %s, command: ["true"]}\n' "$1" > a/contract.yaml; }
write 1
plan a -q > /dev/null 2>&1
write 2
status 2 "an author cannot say that nothing was known against the ledger" plan a --amend --reason more --results-known no
like "and is told why" "$(cat "$T/.err")" "the ledger holds 1 runs that were measured before this change"
is "nothing is kept of it" "$(kinds a)$(ls a/contracts | wc -l | tr -d ' ')" "contract start finish 2"
status 2 "a reason with a secret is refused" plan a --amend --reason "$key"
is "nothing is kept of it either" "$(kinds a)$(ls a/contracts | wc -l | tr -d ' ')" "contract start finish 2"
status 0 "the ledger's own view stands" plan a -q --amend --reason more
like "in the entry" "$(grep amendment a/ledger.jsonl)" '"reason":"more","results_known":true'
mkdir early
cp -R a/contracts early/
head -n 1 a/ledger.jsonl > early/ledger.jsonl
write 3
status 0 "before any run an author may say that results were known elsewhere" ib-run -q --no-capture -C early --plan a/contract.yaml --amend --reason "a pilot elsewhere" --results-known yes
like "which the entry says" "$(sed -n 2p early/ledger.jsonl)" '"reason":"a pilot elsewhere","results_known":true'
done_testing
