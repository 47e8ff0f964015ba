#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a command prints is shown and kept byte for byte, in bounded memory.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
run() { ib-run -q -C s --no-capture "$@"; }
log() { printf '%s\n' "s/runs/$(ls -t s/runs | head -1)/$1"; }
fresh() { chmod -R u+w s 2>/dev/null; rm -rf s; }

# NUL, invalid UTF-8, progress bars with carriage returns, no newline at the end
printf 'a\0b\377\376\r 10%%\r 20%%\r100%%\n\033[1mbold\033[0m\nlast' > odd
run -- sh -c 'cat odd; cat odd odd >&2' > out 2> err
ok "stdout is shown byte for byte" cmp odd out
cat odd odd > odd2
ok "stderr is shown byte for byte" cmp odd2 err
ok "stdout is kept byte for byte" cmp odd "$(log stdout.log)"
ok "stderr is kept byte for byte" cmp odd2 "$(log stderr.log)"
sum=$(sha256sum < odd | cut -d' ' -f1)
ok "the record has the digest" grep -q "\"sha256\": \"$sum\"" "$(log record.json)"

fresh
echo input > in
is "standard input is the command's" "$(run -- cat < in)" input
is "without input it ends at once" "$(run -- cat < /dev/null)" ""

fresh
bytes=104857600
limit=600000
grep -q __asan_init "$IB_BUILDDIR/ib-run" && limit=unlimited # the sanitizer maps terabytes
( ulimit -v $limit; run -- sh -c "head -c $bytes /dev/zero | tr '\\0' x; head -c $bytes /dev/zero >&2" > big 2> big2 )
is "100 MB on stdout are shown" "$(wc -c < big | tr -d ' ')" "$bytes"
is "100 MB on stderr are shown" "$(wc -c < big2 | tr -d ' ')" "$bytes"
ok "100 MB on stdout are kept" cmp big "$(log stdout.log)"
ok "100 MB on stderr are kept" cmp big2 "$(log stderr.log)"
rm -f big big2

# memory of the logger and of ib-run while much is written
fresh
if [ "$limit" = unlimited ]; then
    skip "it stays below 30 MB" "built with sanitizers"
else
run -- sh -c 'for p in $(pgrep -x ib-run-logger) $PPID; do grep -h VmHWM /proc/$p/status; done; head -c 50000000 /dev/zero | tr "\0" y >&2
    for p in $(pgrep -x ib-run-logger) $PPID; do grep -h VmHWM /proc/$p/status; done' > mem 2>/dev/null
like "it stays below 30 MB" "$(awk '{ if ($2 > max) max = $2 } END { print (max > 0 && max < 30000) ? "ok" : "max " max }' mem)" '^ok$'
fi

# a reader that goes away, or a closed output, takes nothing from the log
fresh
head -c 3000000 /dev/zero | tr '\0' z > want
run -- cat want | head -c 10 > /dev/null
ok "a reader that goes away takes nothing from the log" cmp want "$(log stdout.log)"
fresh
run -- cat want >&- 2>&-
ok "nor does a closed output" cmp want "$(log stdout.log)"
fresh
status 0 "a full output does not fail the command" sh -c 'ib-run -q -C s --no-capture -- cat want > /dev/full'
ok "and takes nothing from the log" cmp want "$(log stdout.log)"
fresh
# the reader takes nothing until the record is there: after the time limit ib-run must not wait for it
head -c 120000 want > less # more than the reader's pipe takes, less than ours
rm -f seen
run --timeout 1 -- sh -c 'cat less; sleep 30' | {
    n=0
    while [ $n -lt 200 ] && ! grep -q timed_out s/ledger.jsonl 2> /dev/null; do sleep 0.1; n=$((n + 1)); done
    [ $n -lt 200 ] && echo yes > seen
    cat > /dev/null
}
is "a reader that sleeps does not hold up the record" "$(cat seen)" yes
is "which is one" "$(grep -c timed_out "s/ledger.jsonl")" 1
ok "its log is complete" cmp less "$(log stdout.log)"

# somebody outside the command's tree holds its output open
fresh
rm -f pid go
ib-run -q -C s --no-capture -- sh -c 'echo $$ > pid; echo early; while [ ! -e go ]; do sleep 0.05; done; echo late' > out &
p=$!
for _ in $(seq 100); do [ -s pid ] && break; sleep 0.05; done
exec 9> "/proc/$(cat pid)/fd/1"
touch go
for _ in $(seq 100); do kill -0 $p 2> /dev/null || break; sleep 0.1; done
ok "a stranger who holds the pipe does not hold up the run" grep -q '"kind":"finish"' s/ledger.jsonl
wait $p
exec 9>&-
is "nothing is lost then" "$(tr '\n' ' ' < "$(log stdout.log)")$(tr '\n' ' ' < out)" "early late early late "

# outputs
fresh
status 0 "{output_dir} and IB_OUTPUT_DIR are the same place" run -- sh -c 'echo 1 > "$IB_OUTPUT_DIR/a"; mkdir "$1/d"; echo 2 > "$1/d/b"; ln -s a "$1/link"' x '{output_dir}'
ok "its files are in the record" grep -q '"output/d/b"' "$(log record.json)"
ok "a link is a note, not a file" grep -q "'output/link' was a link to 'a' and was removed" "$(log record.json)"
ok "and the study verifies all the same" ib-verify s
fresh
status 0 "a command that leaves {output_dir} empty keeps its status" run -- true '{output_dir}'
ok "but failed: no_output" grep -q '"no_output"' "$(log record.json)"
fresh
touch -d '2001-01-01' old
run -- cp -p old '{output_dir}/old'
ok "an output older than the start is noted" grep -q "'output/old' is older than the start of the command" "$(log record.json)"
run -- cp old '{output_dir}/new'
is "a new one is not" "$(grep -c older "$(log record.json)")" 0
fresh
is "unknown placeholders and JSON stay as they are" "$(run -- printf '%s' '{x} {"a": {"b": 1}} {{repeat}} {repeat}')" '{x} {"a": {"b": 1}} {1} 1'
ok "the run's directory is read-only" test ! -w "$(log .)" -o "$(id -u)" = 0
is "also for the owner's mode" "$(stat -c %a "$(log .)" "$(log stdout.log)" | tr '\n' ' ')" "555 444 "
done_testing
