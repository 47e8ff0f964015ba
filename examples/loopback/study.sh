#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The loopback study from nothing to a packet that verifies: starts the
# synthetic endpoint, runs the plan of contract.yaml, stops the endpoint,
# then verifies, packs, verifies the packet and prints the table.
#
#   usage: study.sh DIRECTORY      (the tools on PATH, or IB_BUILDDIR set)
#
# DIRECTORY gets study/, endpoint/ (its log of what it really sent) and what
# finish.sh writes. The endpoint listens on port 8391 of 127.0.0.1, or on a
# free one where that is taken. With IB_LOOPBACK_ONLY_RUN set it ends after
# the plan.
#
# Exit status: 0 done; 1 anything else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=${IB_BUILDDIR:+$IB_BUILDDIR:}$PATH
export PATH

default_port=8391
endpoint_pid=

die() {
	echo "study.sh: $*" >&2
	exit 1
}

stop_endpoint() {
	[ -n "$endpoint_pid" ] || return 0
	kill "$endpoint_pid" 2>/dev/null || true
	wait "$endpoint_pid" 2>/dev/null || true
	endpoint_pid=
}

# start_endpoint PORT: true once it listens; its port is then in $out/endpoint/port
start_endpoint() {
	rm -f "$out/endpoint/port" "$out/endpoint/truth.jsonl"
	ib-loopback --port "$1" --port-file "$out/endpoint/port" --seed 11 --truth "$out/endpoint/truth.jsonl" --lifetime 30m \
		>"$out/endpoint/endpoint.log" 2>&1 &
	endpoint_pid=$!
	for _ in $(seq 100); do
		[ ! -s "$out/endpoint/port" ] || return 0
		kill -0 "$endpoint_pid" 2>/dev/null || break
		sleep 0.05
	done
	stop_endpoint
	return 1
}

# lay_out: the study as its author would have it before any run
lay_out() {
	mkdir -p "$study/workload"
	ib-load --write-workload "$study/workload/short.jsonl" --seed 11 --num-prompts 40 --input-tokens 64 --output-tokens 16 >/dev/null
	ib-load --write-workload "$study/workload/long.jsonl" --seed 12 --num-prompts 40 --input-tokens 256 --output-tokens 16 >/dev/null
	sed "s/\b$default_port\b/$port/g" "$here/contract.yaml" >"$study/contract.yaml"
}

main() {
	local tool
	[ $# -eq 1 ] || die 'usage: study.sh DIRECTORY'
	for tool in ib-loopback ib-load ib-run; do
		command -v "$tool" >/dev/null || die "no '$tool' on PATH: build the tools and put them there"
	done
	mkdir -p "$1"
	out=$(cd "$1" && pwd)
	study=$out/study
	[ ! -e "$study" ] || die "'$study' is there already: name another directory"
	mkdir -p "$out/endpoint"
	trap stop_endpoint EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	start_endpoint "$default_port" || start_endpoint 0 || die "the endpoint does not start: $(cat "$out/endpoint/endpoint.log")"
	port=$(cat "$out/endpoint/port")
	lay_out
	echo 'plan: 18 runs of 40 requests against a synthetic endpoint, under a minute'
	ib-run -C "$study" --plan "$study/contract.yaml" || die "not every run ended as planned: see '$study' and '$out/endpoint'"
	stop_endpoint
	[ -z "${IB_LOOPBACK_ONLY_RUN:-}" ] || return 0
	"$here/../finish.sh" "$out" "$study" loopback
}

main "$@"
