#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A million updates of a progress bar without a line end, bytes that are no text, odd locales: kept byte for byte, in bounded memory.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
newest() { printf '%s\n' "s/runs/$(ls -t s/runs | head -1)"; }

# peak.py COMMAND…: runs it and prints the largest peak (VmHWM, kB) that ib-run and its logger reached, asked every 20 ms
cat > peak.py <<'END'
import os, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open("shown", "wb"))
peak, study = {}, os.path.realpath("s")
def ours(q):
    if q == p.pid:
        return True
    return any(os.path.realpath("/proc/%d/fd/%s" % (q, f)).startswith(study + "/") for f in os.listdir("/proc/%d/fd" % q))
while p.poll() is None:
    for q in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            name = open("/proc/%d/comm" % q).read().strip()
            if name in ("ib-run", "ib-run-logger", "ib-run-sampler") and ours(q):
                for line in open("/proc/%d/status" % q):
                    if line.startswith("VmHWM"):
                        peak[name] = max(peak.get(name, 0), int(line.split()[1]))
        except OSError:
            pass
    time.sleep(0.02)
print(*["%s %d" % i for i in sorted(peak.items())])
END
# 1 000 000 updates, some 20 MB, and a last word without a line end; slow enough at its end to be seen
cat > bar.py <<'END'
import sys, time
for i in range(0, 1000000, 10000):
    sys.stdout.write("".join("\r %6.2f%% |%-6s|" % (k / 10000, "#" * (k // 166667)) for k in range(i, i + 10000)))
sys.stdout.flush()
time.sleep(0.3)
sys.stdout.write("\rdone")
END
python3 bar.py > want
limit=16384 # kB: buffers are below 3 MB, the rest is libraries
grep -q __asan_init "$IB_BUILDDIR/ib-run" && limit=4000000
# bounded PEAKS: all of them were seen and are within the limit
bounded() { printf '%s\n' "$1" | awk -v max=$limit '{ for (i = 2; i <= NF; i += 2) if ($i == 0 || $i > max) bad = 1; print (NF == 6 && !bad) ? "yes" : "no: " $0 }'; }

is "the bar is of a million updates without a line end" "$(tr -cd '\r' < want | wc -c | tr -d ' ') $(wc -l < want | tr -d ' ')" "1000001 0"
peaks=$(python3 peak.py ib-run -q -C s --no-capture -- python3 bar.py)
ok "through a pipe: its log is byte-exact" cmp want "$(newest)/stdout.log"
ok "what is shown is, too" cmp want shown
is "memory stays below 16 MiB" "$(bounded "$peaks")" yes
echo "# through a pipe, kB: $peaks"
ok "the record is complete" grep -q '"state": "completed"' "$(newest)/record.json"
peaks=$(python3 peak.py ib-run -q -C s --no-capture --pty -- python3 bar.py)
ok "through a pseudo-terminal: its log is byte-exact" cmp want "$(newest)/stdout.log"
ok "what is shown is, too" cmp want shown
is "memory stays below 16 MiB" "$(bounded "$peaks")" yes
echo "# through a pseudo-terminal, kB: $peaks"
is "the recording holds the same" "$(python3 -c '
import json, sys
with open(sys.argv[1], encoding="utf-8") as f:
    next(f)
    print("".join(json.loads(l)[2] for l in f) == open("want", newline="").read())' "$(newest)/terminal.cast")" True
ok "and is not much larger" test "$(wc -c < "$(newest)/terminal.cast")" -lt $(($(wc -c < want) * 3 / 2))
status 0 "the study verifies" ib-verify s
rm -rf want shown

# a locale in which i and I are no pair, and commas in numbers; made here where the system has none
locale=
for l in tr_TR.UTF-8 tr_TR.utf8; do
    locale -a 2> /dev/null | grep -qx "$l" && locale=$l
done
if [ -z "$locale" ] && command -v localedef > /dev/null; then
    mkdir locales
    localedef -i tr_TR -f UTF-8 "$T/locales/tr_TR.UTF-8" > locales/log 2>&1
    [ -d locales/tr_TR.UTF-8 ] && locale=tr_TR.UTF-8 && export LOCPATH="$T/locales"
fi
if [ -n "$locale" ]; then
    is "the Turkish locale is one" "$(LC_ALL=$locale python3 -c 'import locale; locale.setlocale(locale.LC_ALL, ""); print(locale.localeconv()["decimal_point"])')" ,
fi

# NUL, UTF-8, Latin-1, halves of characters, what a terminal does on its own
printf 'a\0b T\374rk\347e \304\260I\305\237\304\261 \360\237\230\200 \377\376\200 \303\r\033[31mred\033[0m\302\205\n\303' > odd
cat odd odd > odd2
name=IİıiIDTITLE
# Everything that could depend on a locale: option names, states, keys, numbers with a fraction, names of files
one() {
    rm -f "$1.out" "$1.err"
    LC_ALL=$2 ib-run -C s --no-capture --timeout 90.5s --repeat 2 --cache UNSPECIFIED -- true > "$1.usage" 2>&1
    LC_ALL=$2 ib-run -q -C "$1" --cache unspecified --timeout 30s -- \
        sh -c 'cat odd; cat odd2 >&2; echo 0.5 > "$IB_OUTPUT_DIR/$0"; sleep 1.1; exit 7' "$name" > "$1.out" 2> "$1.err"
    echo $? > "$1.status"
    LC_ALL=$2 ib-run -q -C "$1" --pty --no-capture -- cat odd > "$1.pty" 2>&1
    LC_ALL=$2 ib-verify --json "$1" > "$1.json" 2>&1
    echo $? >> "$1.status"
}
# the record and all other documents, but for what differs from run to run
shape() {
    python3 - "$1" <<'END'
import json, os, sys
def keys(v, at=""):
    if isinstance(v, dict):
        return {k2 for k in v for k2 in keys(v[k], at + "/" + k)} | {at}
    if isinstance(v, list):
        return {k for x in v for k in keys(x, at + "/*")} | {at}
    return {at + ":" + type(v).__name__.replace("int", "number").replace("float", "number")}
names = set()
for d, _, files in sorted(os.walk(sys.argv[1])):
    for f in files:
        path = os.path.join(d, f)
        text = open(path, encoding="utf-8", newline="").read() if f.endswith((".json", ".jsonl", ".cast")) else ""
        for line in [text] if f.endswith(".json") else text.split("\n")[:-1]:
            doc = json.loads(line, parse_constant=lambda c: sys.exit(path + " holds " + c))
            if f in ("command.json", "ledger.jsonl"):
                names |= keys(doc, f)
            if f == "record.json":
                names |= {f + k for k in keys({k: doc[k] for k in ("run_id", "state", "exit", "time", "cache", "isolation", "reasons", "attempt", "repeat") if k in doc})}
print("\n".join(sorted(names)))
END
}
cmp_locale() { # DIR LOCALE
    one "$1" "$2"
    ok "$2: standard output is kept byte for byte" cmp odd "$(ls -d "$1"/runs/* | head -1)/stdout.log"
    ok "$2: standard error is, too" cmp odd2 "$(ls -d "$1"/runs/* | head -1)/stderr.log"
    ok "$2: they are shown byte for byte" sh -c "cmp odd $1.out && cmp odd2 $1.err"
    is "$2: statuses" "$(paste -sd ' ' "$1.status")" "7 0"
    shape "$1" > "$1.shape"
    is "$2: every document is valid JSON in UTF-8" "$(grep -c '^record.json.*state:str$' "$1.shape")" 1
    ok "$2: the findings are valid JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "$1.json"
    like "$2: a capital is not folded in a value" "$(cat "$1.usage")" "'UNSPECIFIED' is no cache condition"
    is "$2: the file's name is kept" "$(ls "$(ls -d "$1"/runs/* | head -1)/output")" "$name"
}
cmp_locale c C
if [ -n "$locale" ]; then
    cmp_locale tr "$locale"
    is "keys and types are those of the C locale" "$(cmp c.shape tr.shape && echo same)" same
    verdicts='import json, sys; d = json.load(open(sys.argv[1], encoding="utf-8")); print(d["verdicts"], d["tally"], [(f["id"], f["status"]) for f in d["findings"]])'
    is "so are verdicts and findings" "$(python3 -c "$verdicts" tr.json)" "$(python3 -c "$verdicts" c.json)"
else
    skip "the same under a Turkish locale" "there is neither tr_TR.UTF-8 nor localedef with its source"
fi
done_testing
