#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real study from nothing to a packet that verifies: fetches what is
# missing, runs the plan of contract.yaml against a llama-server that it starts
# and stops, then verifies, packs, verifies the packet and prints the table.
#
#   usage: study.sh DIRECTORY      (the tools on PATH)
#
# DIRECTORY gets study/, server/ and what finish.sh writes. The server listens
# on port 8390 of 127.0.0.1, or on a free one where that is taken.
#
# Exit status: 0 done; 77 the registries cannot be reached; 1 anything else.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

default_port=8390

# free_port: the default one, or any that nobody listens on
free_port() {
	python3 - "$default_port" <<'PY'
import socket, sys
for port in (int(sys.argv[1]), 0):
    with socket.socket() as s:
        # not refused for the connections of an earlier server that linger
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
        print(s.getsockname()[1])
        break
PY
}

# lay_out: the study as its author would have it before any run
lay_out() {
	mkdir -p "$study/workload"
	cp -R "$cache/workload/." "$study/workload"
	cp "$here"/{common.sh,server.sh,warm.sh,gguf2tok.py,workload.py,pins.sha256} "$study/workload"
	if [ "$port" = "$default_port" ]; then
		cp "$here/contract.yaml" "$study/contract.yaml"
	else
		sed "s/\b$default_port\b/$port/g" "$here/contract.yaml" >"$study/contract.yaml"
	fi
}

stop_server() { "$here/server.sh" stop "$port" "$out/server" >/dev/null; }

main() {
	local tool t
	[ $# -eq 1 ] || die 'usage: study.sh DIRECTORY'
	for tool in ib-run ib-verify ib-pack ib-report; do
		command -v "$tool" >/dev/null || die "no '$tool' on PATH: build the tools and put them there"
	done
	"$here/setup.sh" || exit $?
	mkdir -p "$1"
	out=$(cd "$1" && pwd)
	study=$out/study
	[ ! -e "$study" ] || die "'$study' is there already: name another directory"
	port=$(free_port)
	lay_out
	PATH=$cache/bin:$PATH
	export PATH
	trap stop_server EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	"$here/server.sh" start "$port" "$out/server" $$
	t=$(uptime_s)
	say 'plan: 12 runs of 20 requests, about 8 minutes on 2 cores'
	ib-run -C "$study" --plan "$study/contract.yaml" ||
		die "not every run ended as planned: see '$study' and '$out/server/server.log'"
	say "plan: done ($(since "$t"))"
	trap - EXIT
	stop_server
	"$here/../finish.sh" "$out" "$study" smollm2
}

main "$@"
