#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with a contract is refused with status 2, its place and what to do; nothing is written.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

good='study: s
groups:
  - name: g
    repeats: 1
    command: [true]
'

# with LINE…: the good contract and further lines. edit SED-SCRIPT: the good contract, edited
with() { { printf '%s' "$good"; printf '%s\n' "$@"; } > contract.yaml; }
edit() { printf '%s' "$good" | sed "$1" > contract.yaml; }

# bad NAME MESSAGE-START: of contract.yaml
bad() {
    status 2 "$1: status 2" ib-run --plan contract.yaml
    bad_text=$(sed -n 1p "$T/.err")
    case $bad_text in
    "ib-run: contract.yaml:$2"*) is "$1: its place and why" ok ok ;;
    *) is "$1: its place and why" "$bad_text" "ib-run: contract.yaml:$2…" ;;
    esac
}

with 'study: t'
bad "duplicate key" "6:1: key 'study' occurs twice, first on line 1"
with '    comand: [x]'
bad "unknown key" "6:5: unknown key 'comand'; did you mean 'command'?"
with 'qestion: x'
bad "unknown key at the top" "6:1: unknown key 'qestion'; did you mean 'question'?"
printf 'study: &a s\n' > contract.yaml
bad "anchor" "1:8: anchor '&a'"
printf 'study: *a\n' > contract.yaml
bad "alias" "1:8: alias '*a'"
printf 'study: !!str s\n' > contract.yaml
bad "tag" "1:8: tag 'tag:yaml.org,2002:str'"
printf 'study: s\n<<: {a: b}\n' > contract.yaml
bad "merge key" "2:1: merge key '<<'"
printf '%%YAML 1.2\n---\nstudy: s\n' > contract.yaml
bad "directive" "1:1: directives"
printf 'study: s\n---\nstudy: t\n' > contract.yaml
bad "second document" "2:1: a second document"
printf 'study: \377\n' > contract.yaml
bad "not UTF-8" "1:8: not UTF-8"
printf '\357\273\277study: s\n' > contract.yaml
bad "byte order mark" "1:1: byte order mark"
printf 'study: s\nquestion: a\000b\n' > contract.yaml
bad "byte 0" "2:12: byte 0"
printf 'study:\n' > contract.yaml
bad "empty value" "1:1: key 'study' has no value"
printf 'study: ~\n' > contract.yaml
bad "tilde" "1:1: key 'study' has no value"
printf 'study: null\n' > contract.yaml
bad "null" "1:1: key 'study' has no value"
printf '? [a]\n: b\n' > contract.yaml
bad "complex key" "1:3: a key must be a name"
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "["; print "" }' > contract.yaml
bad "too deep" "1:33: nested more than 32 deep"
printf 'study: s\n bad: x\n' > contract.yaml
bad "broken syntax" "2:5: mapping values are not allowed"
printf 'study: s\ngroups:\n\t- name: g\n' > contract.yaml
bad "tab" "3:1: a tab where only spaces may stand: indent with spaces"
printf '' > contract.yaml
bad "empty file" "1:1: the file is empty"
printf 'just text\n' > contract.yaml
bad "no map" "1:1: a contract must be a map"
edit 's/repeats: 1/repeats: one/'
bad "wrong type" "4:14: 'repeats' must be an integer, not 'one'"
edit 's/repeats: 1/repeats: "1"/'
bad "quoted number" "4:14: 'repeats' must be an integer, without quotes"
edit 's/\[true\]/true/'
bad "command as text" "5:14: 'command' must be a list of arguments"
edit 's/\[true\]/[true, "{outputdir}"]/'
bad "unknown placeholder" "5:21: unknown placeholder '{outputdir}'; did you mean '{output_dir}'?"
with '    diagnostic: yes'
bad "yes is no boolean" "6:17: 'diagnostic' must be true or false"
with '    timeout: 10'
bad "duration without unit" "6:14: 'timeout' must be a duration"
with '    order: random'
bad "unknown choice" "6:12: 'order' cannot be 'random'; it is one of:"
with '    gate: later'
bad "unknown gate" "6:11: no earlier group is called 'later'"
with 'serving: {endpoint: "https://api.example.com/"}'
bad "load on others" \
    "6:21: 'https://api.example.com/' is neither this machine nor on a private network: say in 'permission'"
token=ghp_$(printf 'q7Zt4WmX2nLc9VbR5dKf8HsJ1gYp%s' 3eUaTo6i)
with "next: use $token"
bad "secret" "6:7: the value of 'next' holds a secret ("
is "the secret itself is not shown" "$(grep -c "$token" "$T/.err")" 0
is "one line, then where help is" "$(wc -l < "$T/.err" | tr -d ' ')" 1
status 2 "a missing file is a contract error" ib-run --plan nothing.yaml
like "that names it" "$(cat "$T/.err")" "cannot read the contract: .*'nothing.yaml'"
mkdir dir.yaml
status 2 "a directory is no contract" ib-run --plan dir.yaml
head -c 3000000 /dev/zero | tr '\0' 'x' > big.yaml
status 2 "a huge file is refused" ib-run --plan big.yaml
printf '%s' "$good" > contract.yaml
status 2 "a command beside --plan is refused" ib-run --plan contract.yaml -- true
status 2 "--amend needs a reason" ib-run --plan contract.yaml --amend
ok "nothing was written" sh -c 'test ! -e ledger.jsonl && test ! -e contracts && test ! -e runs && test ! -e ib-study'
done_testing
