#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --no-network, --memory and --no-progress: what they do where they can, and what is said where they cannot.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
run() { study=$1; shift; ib-run -q -C "$study" --no-capture "$@"; }
cat > look.py << 'END'
import glob, json, sys
r = json.load(open(max(glob.glob(sys.argv[1] + "/runs/*/record.json"))))
for key in sys.argv[2:]:
    v = r
    for part in key.split("."): v = v[part]
    print("|".join(v) if isinstance(v, list) else "-" if v is None else v, end=" ")
print()
END
look() { python3 look.py "$@" | sed 's/ *$//'; }

# --- no network ---
cat > reach.py << 'END'
import errno, socket, threading
def there(family, to):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(5)
    try:
        s.connect(to)
        return "connected"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
print(there(socket.AF_INET, ("192.0.2.1", 80)), there(socket.AF_INET6, ("2001:db8::1", 80)) if socket.has_ipv6 else "ENETUNREACH")
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"), daemon=True).start()
print(socket.create_connection(server.getsockname(), 5).recv(5).decode())
END
if unshare -Urn true 2> /dev/null; then
    status 0 "a command without network runs" run net --no-network -- python3 reach.py
    is "no address is reachable but its own" "$(sed -n 1p "$T/.out" | tr ' ' '\n' | grep -cE '^(ENETUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT)$')" 2
    is "loopback works" "$(sed -n 2p "$T/.out")" hello
    is "the record says so" "$(look net state isolation.network)" "completed none"
    python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
open("port", "w").write(str(s.getsockname()[1]))
s.settimeout(30)
try:
    s.accept()
    open("visited", "w").write("x")
except OSError: pass' &
    listener=$!
    for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
    run net --no-network -- python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)' "$(cat port)" > out 2>&1
    like "its loopback is not ours" "$(cat out)" "ConnectionRefusedError"
    run open -- python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)' "$(cat port)" > out 2>&1
    wait $listener
    ok "which a command with network reaches" test -e visited
    is "and its record says that" "$(look open isolation.network)" host
    status 3 "the command's status passes" run net --no-network -- sh -c 'exit 3'
    status 127 "a command that is not there is told from a network that is" run net --no-network -- no-such-command-here
    status 124 "its time limit holds" run net --no-network --timeout 300ms --grace 300ms -- sh -c 'trap "" TERM; sleep 30 & wait; sleep 30'
else
    skip "no network" "user namespaces are not permitted here"
fi
# in a user namespace of its own, where no further one may be made: nothing of the machine changes
if unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces' 2> /dev/null && ! unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; unshare -U true' 2> /dev/null; then
    unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; "$@"' x ib-run -C refused --no-capture --no-network -- touch ran > out 2>&1
    is "where it cannot be done the run is refused" "$?" 125
    ok "and the command was not run" test ! -e ran
    is "its state says why" "$(look refused state reasons exit.status)" "refused network -"
    like "in the record" "$(look refused notes)" "cannot be kept from the network, which needs user namespaces"
    like "and on the screen" "$(cat out)" "the command was not run: it cannot be kept from the network"
    unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; "$@"' x ib-run -q -C refused --no-capture -- touch ran > out 2>&1
    is "without the option it runs there" "$? $(ls ran)" "0 ran"
    ok "a study with a refused run verifies" sh -c 'ib-verify --json refused > v.json; ! jq -e ".findings[] | select(.level == \"E\" and .status == \"fail\")" v.json'
else
    skip "where it cannot be done" "no user namespace with a limit of its own can be made here"
fi

# --- memory ---
cat > eat.py << 'END'
import sys
held = []
for i in range(int(sys.argv[1])):
    held.append(bytearray(b"x" * (1 << 20)))
print("ate", len(held))
END
run mem --memory 96MiB -- python3 eat.py 300 > out 2>&1
code=$?
case $(look mem resources.memory_limit) in
enforced)
    is "a limit that is enforced ends what exceeds it" "$code $(look mem state reasons)" "137 failed out_of_memory"
    like "the record tells of it" "$(look mem notes)" "out of memory: the kernel killed [0-9]+ processes"
    is "and of the limit" "$(look mem resources.memory_limit_bytes resources.memory_limit_why)" "100663296 -"
    run mem --memory 1GiB -- python3 eat.py 50 > out 2>&1
    is "what stays below it is left alone" "$? $(look mem state resources.out_of_memory_kills)" "0 completed 0"
    ;;
not_enforced)
    is "a limit that nobody enforces ends nothing" "$code $(cat out) $(look mem state)" "0 ate 300 completed"
    is "the record has it" "$(look mem resources.memory_limit_bytes)" 100663296
    like "with the reason" "$(look mem resources.memory_limit_why)" "[a-z]{4}"
    like "and says it in words" "$(look mem notes)" "the memory limit was not enforced: [a-z]{3}"
    is "no peak and no kills are made up" "$(look mem resources.out_of_memory_kills)" "-"
    ib-run -C mem --no-capture --memory 96MiB -- true 2> err
    like "on the screen too" "$(cat err)" "the memory limit was not enforced"
    ;;
*)
    is "a limit is enforced or not" "$(look mem resources.memory_limit)" "enforced or not_enforced"
    ;;
esac
run none -- true
is "without a limit there is none" "$(look none resources.memory_limit resources.memory_limit_bytes)" "none -"
is "a command has a group of its own, or the record says why not" "$(look none resources.cgroup resources.why | grep -cE '^(own -|none [a-z].*)$')" 1
for bad in 12Q -1 0 1.5GiB 99999999999GiB ''; do
    status 125 "'$bad' is no size" run none --memory "$bad" -- touch ran2
done
ok "and nothing was run" test ! -e ran2
is "no group of a run is left" "$(find /sys/fs/cgroup -maxdepth 6 -type d -name "ib-run-*-r01-$(ls none/runs mem/runs | sed -n 's/.*-//p' | head -1)" 2> /dev/null | wc -l | tr -d ' ')" 0

# --- no progress ---
status 124 "a command that writes nothing is ended" run dog --no-progress 2s --grace 1s -- sleep 60
is "and has failed for that" "$(look dog state reasons exit.timed_out)" "failed no_progress False"
status 0 "one that writes to its log is left alone" run dog --no-progress 3s -- sh -c 'for i in 1 2 3 4 5; do echo $i; sleep 1; done'
is "it has completed" "$(look dog state)" completed
status 0 "so is one that writes to a file" run dog --no-progress 3s -- sh -c 'for i in 1 2 3 4 5; do echo $i >> "$IB_OUTPUT_DIR/f"; sleep 1; done'
status 0 "or to standard error" run dog --no-progress 3s -- sh -c 'for i in 1 2 3 4 5; do printf "\r$i" >&2; sleep 1; done'
status 124 "one that stops writing is ended" run dog --no-progress 2s --grace 1s -- sh -c 'echo a; sleep 1; echo b; trap "" TERM; sleep 60 & wait; sleep 60'
is "its output is kept" "$(ls -t dog/runs | head -1 | { read -r d; tr '\n' ' ' < "dog/runs/$d/stdout.log"; })" "a b "
status 124 "a time limit that comes first is a time limit" run dog --no-progress 30s --timeout 1s -- sleep 60
is "and told as one" "$(look dog state reasons)" "timed_out"
ok "all of these verify" sh -c 'ib-verify --json dog > v.json; ! jq -e ".findings[] | select(.level == \"E\" and .status == \"fail\" and (.id | startswith(\"S\")))" v.json'
done_testing
