#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The real study, from the registries to a packet that verifies: what the records say of its runs is compared with the client's own
# per-request results and with the server's counters. IBTOOLS_REAL_DIR names a directory to keep; otherwise all is removed.
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck disable=SC2154
here=$IB_SRCDIR/tests/real example=$IB_SRCDIR/examples/smollm2
out=${IBTOOLS_REAL_DIR:-$T/out}
mkdir -p "$out" || exit 99

# shellcheck disable=SC2317
stop_and_clean() {
    [ ! -d "$T/server" ] || "$example/server.sh" stop "$hook_port" "$T/server" > /dev/null 2>&1
    cleanup
}
trap stop_and_clean EXIT

"$example/setup.sh" > "$T/setup.log" 2>&1
rc=$?
[ $rc -ne 77 ] || skip_all "registries cannot be reached"
sed 's/^/# /' "$T/setup.log"
is "model, server and client are there" $rc 0
[ $rc -eq 0 ] || done_testing

# A server for the checks of the scripts themselves, on a port of its own.
hook_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
status 3 "a server that was never started is said to be not running" "$example/server.sh" status "$hook_port" "$T/server"
status 1 "a warm-up without a server fails" "$example/warm.sh" "$hook_port" "$T/warm"
ok "a restart as a hook keeps no descriptor, no variable and no child of the run" python3 "$here/hook.py" "$example/server.sh" restart "$hook_port" "$T/server"
first=$(cat "$T/server/server.pid" 2> /dev/null)
ok "a second restart" python3 "$here/hook.py" "$example/server.sh" restart "$hook_port" "$T/server"
like "a restart is a new process" "$first $(cat "$T/server/server.pid")" "^([0-9]+) ([0-9]+) $hook_port ([0-9]+) ([0-9]+) $hook_port\$"
ok "whose predecessor is gone" sh -c "[ \"${first%% *}\" -gt 0 ] && [ \"\$(cat '$T/server/server.pid')\" != '$first' ] && ! grep -qs llama-server /proc/${first%% *}/cmdline"
status 1 "a second server on the port is refused" "$example/server.sh" start "$hook_port" "$T/other"
read -r pid _ < "$T/server/server.pid"
read -r supervisor _ < "$T/server/supervisor.pid"
ok "stop" "$example/server.sh" stop "$hook_port" "$T/server"
ok "leaves no process behind" sh -c "! grep -qs llama-server /proc/$pid/cmdline && ! grep -qs server.sh /proc/$supervisor/cmdline"

sleep 600 &
owner=$!
ok "a server with an owner" "$example/server.sh" start "$hook_port" "$T/server" $owner
read -r pid _ < "$T/server/server.pid"
kill $owner
sleep 8
ok "ends with its owner" sh -c "! grep -qs llama-server /proc/$pid/cmdline && [ ! -e '$T/server/supervisor.pid' ]"

status 0 "the study runs, verifies, packs, and its packet verifies with the key" "$example/study.sh" "$out"
if [ ! -d "$out/study/runs" ]; then
    done_testing
fi
tail -n 40 "$T/.out" | sed 's/^/# /'
ok "the study's server is stopped" sh -c "! ls '$out/server' | grep -q 'pid\$'"

python3 "$here/runs.py" "$out/study" > "$T/runs.txt" 2> "$T/runs.err"
is "the runs can be read" "$?$(cat "$T/runs.err")" 0
while IFS='|' read -r name got want; do
    is "$name" "$got" "$want"
done < "$T/runs.txt"

packet=$out/smollm2.tar.zst
status 0 "the packet verifies with its key" ib-verify --trust "$out/throwaway.pub.pem" "$packet"
status 3 "the packet without a key that is trusted cannot be decided" ib-verify "$packet"
done_testing
