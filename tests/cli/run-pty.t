#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A pseudo-terminal for the command: bytes exactly as written, a view of them, and everything that a terminal does.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99

n=0
# study COMMAND: a new study with one group, whose command is a shell text
study() {
    n=$((n + 1))
    mkdir "s$n"
    cat > "s$n/contract.yaml" <<END
study: pty
groups:
  - name: p
    repeats: 1
    pty: true
    grace: 5s
    command: [sh, -c, '$1']
END
    S=$T/s$n
}
plan_run() { ib-run -q --plan "$S/contract.yaml" --no-capture; }
r() { echo "$S"/runs/*; }
record() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$(r)/record.json" "$1"; }
at() { python3 "$IB_SRCDIR/tests/cli/shell_at_terminal.py" "$@" -- ib-run -q --plan "$S/contract.yaml" --no-capture; }

study 'test -t 1 && test -t 2 && stty size < /dev/tty; printf "a\nb\r\033[1mc\377\n"; echo err >&2'
plan_run < /dev/null > shown 2> err
is "standard output is a terminal of 80x24, its bytes are kept as they are" "$(od -An -c "$(r)/stdout.log" | tr -d ' \n')" '2480\r\na\r\nb\r033[1mc377\r\nerr\r\n'
is "they are shown as they are" "$(cmp "$(r)/stdout.log" shown && echo same)" same
ok "there is no second log" test ! -e "$(r)/stderr.log"
is "the record says so" "$(record 'r["isolation"]')" "{'network': 'host', 'terminal': 'pseudo-terminal', 'stdin': 'null', 'stderr': 'stdout.log'}"
is "the view is a recording of the same" "$(python3 -c '
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
print(lines[0]["version"], lines[0]["width"], lines[0]["height"], ascii("".join(e[2] for e in lines[1:])), all(e[1] == "o" for e in lines[1:]))' "$(r)/terminal.cast")" \
    "2 80 24 '24 80\\r\\na\\r\\nb\\r\\x1b[1mc\\ufffd\\r\\nerr\\r\\n' True"
ok "its digest is in the record" grep -q '"terminal.cast"' "$(r)/record.json"

study 'read x; echo "got $x"; read y || echo end'
echo typed | plan_run > shown
is "a pipe stays a pipe on standard input, and ends" "$(tr -d '\r' < shown | paste -sd ' ')" "got typed end"
is "and is recorded" "$(record 'r["isolation"]["stdin"]')" pipe

study 'exit 7'
plan_run < /dev/null > /dev/null
is "the status is kept" "$(record 'r["exit"]["status"]')" 7

study 'echo ready; read x; echo "got $x"; read y || echo end'
is "what is typed reaches it, and is echoed once" "$(at wait:ready 'type:hello\r' wait:got 'type:\x04' | tail -1)" "ready|hello|got hello|end|"
is "it counts as completed" "$(record 'r["state"]')" completed

study 'echo ready; sleep 30'
at wait:ready 'type:\x03' > out
is "Ctrl-C interrupts" "$(record 'r["state"], r["exit"]["signal"]')" "('interrupted', 2)"
study 'n=0; trap "n=\$((n + 1)); echo int" INT; echo ready; sleep 1; sleep 1; echo "\$n"'
sed -i 's/\\\$/$/g' "$S/contract.yaml"
at wait:ready 'type:\x03' > out
is "it reaches the command once, whatever that makes of it" "$(record 'r["state"], r["exit"]["status"]') $(tr -d '\r' < "$(r)/stdout.log" | grep -c int)" "('interrupted', 0) 1"
study 'stty raw -echo; echo ready; head -c 1 | od -An -c; stty sane'
is "to a command that reads keys it is a key" "$(at wait:ready 'type:\x03' | grep -c 003) $(record 'r["state"]')" "1 completed"

study 'trap "stty size" WINCH; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done'
at wait:ready size:100x30 > out
is "a new size of the window is handed on" "$(tr -d '\r' < "$(r)/stdout.log" | grep -c '^30 100$')" 1
study 'echo ready; for i in 1 2 3 4 5; do sleep 0.2; echo $i; done'
at wait:ready size:100x30 > out
ok "and is in the view" grep -q '"r", "100x30"' "$(r)/terminal.cast"

study "echo ready; for i in 1 2 3 4 5 6; do sleep 0.2; done; echo done"
at wait:ready 'type:\x1a' stopped sleep:0.5 states sleep:1.2 fg wait:done > out
like "Ctrl-Z stops command and ib-run, and nothing of it goes on" "$(head -1 out)" "^states T of [23]$"
is "both go on" "$(record 'r["state"]')" completed
like "the record says for how long they stood still" "$(record 'r["notes"]')" "was stopped for (1|2)\.[0-9] s"

study 'echo ready; sleep 30; echo over'
at wait:ready hangup > out
is "a terminal that goes away interrupts" "$(record 'r["state"], [n for n in r["notes"] if "Hangup" in n] != []')" "('interrupted', True)"
ok "and the run is complete" grep -q '"kind":"finish"' "$S/ledger.jsonl"

study 'echo before; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; echo $i; done'
plan_run < /dev/null > /dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do [ -s "$(r)/stdout.log" ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2> /dev/null
for _ in $(seq 60); do grep -q 10 "$(r)/stdout.log" && break; sleep 0.1; done
is "kill -9 of ib-run loses nothing" "$(tr -d '\r' < "$(r)/stdout.log" | paste -sd ' ')" "before 1 2 3 4 5 6 7 8 9 10"

study 'head -c 3000000 /dev/zero | tr "\\0" x; (setsid sh -c "echo x > up; exec sleep 100" &); until test -s up; do sleep 0.05; done'
plan_run < /dev/null > /dev/null
is "3 MB come through whole" "$(wc -c < "$(r)/stdout.log" | tr -d ' ')" 3000000
is "what is left behind is ended and counted" "$(record 'r["left_behind"]')" 1
if command -v script > /dev/null; then
    study 'echo x'
    is "our terminal is as it was afterwards" \
        "$(script -qec "stty -a > before; ib-run -q --plan $S/contract.yaml --no-capture; stty -a > after; cmp before after && echo same" /dev/null < /dev/null | grep -c same)" 1
else
    skip "our terminal is as it was afterwards" "there is no script(1)"
fi
done_testing
