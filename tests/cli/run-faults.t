#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the disk and other people's hands do to a study: one clear line, nothing lost, nothing half-written.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
run() { ib-run -q -C s --no-capture "$@"; }
newest() { printf '%s\n' "s/runs/$(ls -t s/runs | head -1)"; }
fresh() { chmod -R u+w s 2>/dev/null; rm -rf s; }
one_line() { is "$1: one line" "$(wc -l < "$T/.err" | tr -d ' ')" 1; }

# a torn last line
run -- true
cp s/ledger.jsonl before
printf '{"seq":4,"at":{"wall_at":"2026' >> s/ledger.jsonl
status 0 "a torn last line does not stop the next run" run -- true
is "it is kept" "$(cat s/ledger.torn/4)" '{"seq":4,"at":{"wall_at":"2026'
ok "it is recorded" grep -q '"kind":"torn","file":"ledger.torn/4","bytes":30' s/ledger.jsonl
ok "what stood before it still stands" sh -c 'head -c "$(wc -c < before)" s/ledger.jsonl | cmp - before'
is "four entries and what followed" "$(wc -l < s/ledger.jsonl | tr -d ' ')" 6

# something else instead of a ledger
fresh
mkdir s && echo "dear diary" > s/ledger.jsonl
status 125 "a foreign ledger.jsonl is refused" run -- touch touched
one_line "foreign ledger"
like "it says what" "$(cat "$T/.err")" "ledger.jsonl"
is "and is left alone" "$(cat s/ledger.jsonl)" "dear diary"
ok "nothing was run" test ! -e touched
fresh
mkdir s && mkdir s/ledger.jsonl
status 125 "a directory in its place is refused" run -- touch touched
one_line "directory"
fresh
echo x > s
status 125 "a file in the place of the study is refused" run -- touch touched
one_line "file"
is "and is left alone" "$(cat s)" x
rm -f s

# no permission
if [ "$(id -u)" = 0 ]; then
    if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$IB_BUILDDIR/ib-run" 2> /dev/null; then
        chmod 755 "$T" # the temporary directory itself stays ours
        status 125 "an unwritable directory is refused" setpriv --reuid 65534 --regid 65534 --clear-groups \
            env XDG_STATE_HOME=/nonexistent "$IB_BUILDDIR/ib-run" -q -C "$T/s" --no-capture -- true
        one_line "unwritable"
        like "it says so" "$(cat "$T/.err")" "s.*: Permission denied"
    else
        for i in 1 2 3; do skip "unwritable directory $i" "setpriv does not work here"; done
    fi
else
    mkdir ro && chmod 555 ro
    status 125 "an unwritable directory is refused" ib-run -q -C ro/s --no-capture -- true
    one_line "unwritable"
    like "it says so" "$(cat "$T/.err")" "Permission denied"
fi

# a full disk and a read-only medium need a mount
mkdir m
if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null && unshare -m mount -t tmpfs none m 2> /dev/null; then
    cat > full.sh <<'END'
mount -t tmpfs -o size=3m none m || exit 99
ib-run -q -C m/s --no-capture --group full -- sh -c 'echo first; head -c 8000000 /dev/zero | tr "\0" x' > shown 2> err
echo "status $?" > result
r=$(echo m/s/runs/*full*)
grep -c '"truncated_output"' $r/record.json >> result
grep -c '"state": "failed"' $r/record.json >> result
tail -c 200 $r/stdout.log | tr '\n' '@' | sed 's/^x*//' >> result
echo >> result
head -c 6 $r/stdout.log >> result
grep -c '"kind":"finish"' m/s/ledger.jsonl >> result
wc -c < shown | tr -d ' ' >> result
wc -c < $r/stdout.log | tr -d ' ' > size
ls $r | tr '\n' ' ' >> result
ib-run -q -C m/s --no-capture -- touch m/ran 2> err2
echo "status $?" > result2
ls m >> result2
tail -c 1 m/s/ledger.jsonl | od -An -c | tr -d ' ' >> result2
wc -l < err2 | tr -d ' ' >> result2
mount -o remount,ro m
ib-run -q -C m/s --no-capture -- true 2> err3
echo "status $?" > result3
wc -l < err3 | tr -d ' ' >> result3
END
    unshare -m sh full.sh
    is "a full disk: the command's status passes" "$(sed -n 1p result)" "status 0"
    is "the record is complete and says truncated_output" "$(sed -n 2p result)" 1
    is "its state is failed" "$(sed -n 3p result)" 1
    like "the log ends with a marked byte count" "$(sed -n 4p result)" '@\[ib-run: log cut: No space left on device; the first [0-9]+ of 8000006 bytes are above\]@'
    is "and begins as the command did" "$(sed -n 5p result)" first
    is "the count is right" "$(sed -n 4p result | tr -dc '0-9 ' | awk '{print $1}')" "$(( $(cat size) - $(sed -n 4p result | wc -c) + 1 ))"
    is "the ledger has its finish entry" "$(sed -n 6p result)" 1
    is "everything was shown" "$(sed -n 7p result)" 8000006
    is "nothing half-written is left" "$(sed -n 8p result)" "command.json output record.json samples.jsonl stderr.log stdout.log "
    is "the next run is refused before it starts" "$(sed -n 1p result2)" "status 125"
    is "its command did not run" "$(sed -n 2p result2)" s
    is "the ledger still ends with a whole line" "$(sed -n 3p result2)" '\n'
    is "one line says so" "$(sed -n 4p result2)" 1
    like "namely this" "$(cat err2)" "no room .*No space left on device"
    is "a read-only medium is refused" "$(sed -n 1p result3)" "status 125"
    is "in one line" "$(sed -n 2p result3)" 1
    like "that says so" "$(cat err3)" "Read-only file system"
else
    skip "a full disk and a read-only medium" "needs root and a mount namespace"
fi
done_testing
