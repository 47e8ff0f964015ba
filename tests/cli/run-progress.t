#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The line of progress of a plan: on a terminal only, never within the command's output, gone before anything else is written.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99

n=0
# study REPEATS COMMAND [KEYS]: a new study with a group of one cell
study() {
    n=$((n + 1))
    mkdir "s$n"
    cat > "s$n/contract.yaml" <<END
study: progress
groups:
  - name: short
    varies: [cap]
    matrix: {cap: ["4"]}
    repeats: $1
    ${3:+$3
    }command: [sh, -c, '$2', "{cap}"]
END
    S=$T/s$n
}
# What a terminal as wide as it likes shows at the end, line by line; "draws N" says how often a line of progress was on it.
cat > screen.py <<'END'
import re, sys
text = open(sys.argv[1], newline="", encoding="utf-8").read()
line, col, draws, done = "", 0, [], []
for part in re.findall(r"\033\[[0-9;]*[A-Za-z]|.|\n|\r", text):
    if part == "\n":
        done.append(line)
        line, col = "", 0
    elif part == "\r":
        col = 0
    elif part == "\033[K":
        if " elapsed, end " in line:
            draws.append(line)
        line = line[:col]
    else:
        line = line[:col] + part + line[col + 1:]
        col += 1
print("draws", len(draws), "left", repr(line), "within", sum(" elapsed" in l for l in done))
for l in draws if "-d" in sys.argv else done:
    print(l)
END
# at ARGUMENTS…: ib-run at a terminal, what it showed in ./shown
at() {
    python3 "$IB_SRCDIR/tests/cli/shell_at_terminal.py" raw:shown -- "$@" > at.out
}

study 2 'for i in 1 2 3; do echo line $i; sleep 0.8; done'
at ib-run --plan "$S/contract.yaml" --no-capture
python3 screen.py shown > screen
like "the line is drawn, more than once" "$(head -n 1 screen)" '^draws ([2-9]|[1-9][0-9]) '
like "none is left at the end, none within the output" "$(head -n 1 screen)" "left '' within 0$"
is "the command's lines stand whole" "$(grep -c '^line [123]$' screen)" 6
like "so do the messages" "$(tail -n +2 screen | grep -v '^line')" '^ib-run: 1/2 short\.[^ ]* r01: completed'
is "nothing else is shown" "$(tail -n +2 screen | grep -vc '^line [123]$\|^ib-run: ')" 0
python3 screen.py shown -d > draws
like "it says slot, group, cell, repeat and elapsed time; the end is not known at first" "$(sed -n 2p draws)" \
    '^\[1/2\] short\.cap-4 r01  0:0[0-9] elapsed, end -$'
like "then it is, by the runs so far" "$(tail -n 1 draws)" '^\[2/2\] short\.cap-4 r02  0:0[0-9] elapsed, end in about 0:0[0-9]$'
is "nothing of it is in the logs" "$(cat "$S"/runs/*/*.log | grep -c elapsed)" 0

study 1 'printf "no end of line"; sleep 2.2; echo " yet"; sleep 2.2'
at ib-run --plan "$S/contract.yaml" --no-capture
python3 screen.py shown > screen
is "a line that is not at its end is not drawn over" "$(grep -c '^no end of line yet$' screen)" 1
like "behind it there is one again" "$(head -n 1 screen)" "^draws [1-9][0-9]* left '' within 0$"

study 1 'printf "\r 10%%"; sleep 1.5; printf "\r100%%"; sleep 1.5; echo'
at ib-run --plan "$S/contract.yaml" --no-capture
is "a progress bar of the command has the line for itself" "$(python3 screen.py shown | sed -n '1p;/%/p' | sed 's/draws [01] /draws /' | paste -sd ' ')" "draws left '' within 0 100%"

study 1 'for i in 1 2 3; do echo line $i; sleep 0.8; done' "pty: true"
at ib-run --plan "$S/contract.yaml" --no-capture
python3 screen.py shown > screen
like "with a pseudo-terminal as well" "$(head -n 1 screen)" "^draws [1-9][0-9]* left '' within 0$"
is "whose lines stand whole" "$(grep -c '^line [123]$' screen)" 3
is "nothing of it is in the recording" "$(cat "$S"/runs/*/terminal.cast "$S"/runs/*/stdout.log | grep -c elapsed)" 0

study 1 'echo line; sleep 1.7'
at sh -c "ib-run --plan $S/contract.yaml --no-capture > out"
like "standard output may be elsewhere" "$(python3 screen.py shown | sed -n 1p)" "^draws [1-9][0-9]* left '' within 0$"
is "and gets the command's output only" "$(cat out)" line

study 1 'echo line; sleep 1.7'
at sh -c "ib-run --plan $S/contract.yaml --no-capture 2> err"
is "nothing is drawn when standard error is no terminal" "$(tr -d '\r' < shown)" line
is "not there either" "$(grep -c 'elapsed' err) $(tr -d -c '\033\r' < err | wc -c | tr -d ' ')" "0 0"
study 1 'echo line; sleep 1.7'
at ib-run -q --plan "$S/contract.yaml" --no-capture
is "nor with --quiet" "$(tr -d '\r' < shown)" line

study 1 'sleep 30'
python3 "$IB_SRCDIR/tests/cli/shell_at_terminal.py" raw:shown size:40x24 'wait:elapsed' sleep:1.2 'type:\x03' -- ib-run --plan "$S/contract.yaml" --no-capture > at.out
is "it is no wider than the window" "$(python3 screen.py shown -d | awk 'NR > 1 && length > 39' | wc -l | tr -d ' ')" 0
is "Ctrl-C leaves none" "$(python3 screen.py shown | sed -n 1p | grep -c "left '' within 0$")" 1
done_testing
