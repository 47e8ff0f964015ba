#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What network file systems do to a run's files: a result renamed over an open one, what NFS keeps of removed files, a stale handle.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
run() { ib-run -q --no-capture "$@"; }
look() { python3 -c '
import glob, json, sys
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
print(eval(sys.argv[2]))' "$1" "$2"; }

# --- a new file over one that is still open and written to ---
cat > replace << 'EOF'
cd "$IB_OUTPUT_DIR" || exit 9
echo old > r.json
exec 5>> r.json
echo '{"new": true}' > r.json.part && mv r.json.part r.json
echo late >&5
EOF
status 0 "a result is renamed over an open file" run -C replaced -- sh replace
is "the file under the name counts" "$(cat replaced/runs/*/output/r.json)" '{"new": true}'
is "once, and nothing was odd" "$(look replaced '([f["path"] for f in r["files"] if f["path"].startswith("output/")], r["notes"])')" "(['output/r.json'], [])"
ok "verify takes it" ib-verify replaced

# --- what NFS keeps of a file that was removed while open: gone as soon as it is closed ---
cat > removed << 'EOF'
cd "$IB_OUTPUT_DIR" || exit 9
echo result > r.txt
mkdir sub
echo removed > .nfs00000000001a2b3c00000007
echo removed > sub/.nfs000000000000000100000001
echo kept > .nfsrc
EOF
status 0 "a run with remains of removed files" run -C remains -- sh removed
is "they are not in its list" "$(look remains '[f["path"] for f in r["files"] if f["path"].startswith("output/")]')" "['output/.nfsrc', 'output/r.txt']"
like "but in its notes" "$(look remains '"\n".join(r["notes"])')" "'output/sub/.nfs000000000000000100000001' is what NFS keeps of a file that was removed"
ok "verify takes the study while they are there" ib-verify remains
ok "a key" ib-pack --new-key k
ok "it is packed" ib-pack -C remains -k k.pem -o p.tar
is "without them" "$(tar tf p.tar | grep -c '/\.nfs0')" 0
is "with what has only a similar name" "$(tar tf p.tar | grep -c '/\.nfsrc$')" 1
ok "the packet holds" ib-verify --trust k.pub.pem p.tar
chmod -R u+w remains/runs && rm remains/runs/*/output/.nfs0* remains/runs/*/output/sub/.nfs0*
ok "and the study when they are gone" ib-verify remains

# --- a stale handle: once is looked over, more is said with the file's name ---
faults=$IB_BUILDDIR/tests/faults/.libs/libfaults.so
asan=$(ldd "$IB_BUILDDIR/.libs/ib-run" "$IB_BUILDDIR/ib-run" 2> /dev/null | grep -c libasan)
if [ -e "$faults" ] && [ "$asan" = 0 ]; then
    stale() { LD_PRELOAD=$faults IB_FAULT_CALL=openat IB_FAULT_PATH=output/r.bin IB_FAULT_AT=1 IB_FAULT_MORE=$1 IB_FAULT_KIND=116 \
        run -C "stale$1" -- sh -c 'unset LD_PRELOAD; echo x > "$IB_OUTPUT_DIR/r.bin"'; }
    status 0 "a handle that is stale once" stale 0
    is "the file is recorded" "$(look stale0 '([f["path"] for f in r["files"] if "r.bin" in f["path"]], r["state"], r["notes"])')" "(['output/r.bin'], 'completed', [])"
    status 0 "one that stays stale" stale 9
    is "the run has failed" "$(look stale9 '(r["state"], r["reasons"])')" "('failed', ['truncated_output'])"
    like "and the file is named, with the error" "$(look stale9 '"\n".join(r["notes"])')" "'output/r.bin' cannot be read and is not recorded: Stale file handle"
else
    skip "stale handles" "the library of faults is not built, or cannot be loaded here"
fi
done_testing
