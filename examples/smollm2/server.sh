#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Starts, restarts and stops llama-server on this machine.
#
#   usage: server.sh start|restart|stop|status PORT DIRECTORY [OWNER]
#
# The server belongs to a small supervisor in a session of its own, which
# "start" leaves behind and "stop" ends. A restart only asks the supervisor, so
# that the new server is no child of whoever asked, holds none of its files and
# carries none of its IB_* variables: "restart" can be the reset hook of a run.
# The supervisor ends the server also when its own pid file is gone or names
# another, and when the process OWNER that "start" named is gone.
# DIRECTORY gets server.pid, supervisor.pid, server.log and supervisor.log.
# A pid file holds the pid and the start time of its process, so that a number
# that was given to another process is never signalled; and the port.
#
# Exit status: 0 done; 3 not running (status); 1 anything else.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

ready_s=60
look_s=5

# ident PID: its start time in ticks; fails when it is gone or a zombie
ident() {
	local stat
	read -r stat <"/proc/$1/stat" || return 1
	stat=${stat##*) }
	# shellcheck disable=SC2086  # fields
	set -- $stat
	[ "$1" != Z ] && [ "$1" != X ] && printf '%s' "${20}"
} 2>/dev/null

# alive PIDFILE: sets pid when the process it names still runs
alive() {
	local start used
	pid=
	[ -f "$1" ] && read -r pid start used <"$1" && [ -n "$used" ] || return 1
	[ "$(ident "$pid")" = "$start" ]
}

# keep PIDFILE PID: written beside it and renamed, so never half there
keep() {
	local start
	start=$(ident "$2") || return 1
	printf '%s %s %s\n' "$2" "$start" "$port" >"$1.new"
	mv -f "$1.new" "$1"
}

# wait_gone PIDFILE SECONDS
wait_gone() {
	local i
	for ((i = $2 * 20; i > 0; i--)); do
		alive "$1" || return 0
		sleep 0.05
	done
	return 1
}

# end PIDFILE: TERM, and KILL where that does not help
end() {
	alive "$1" || return 0
	kill -TERM "$pid" 2>/dev/null || true
	if ! wait_gone "$1" 10 && alive "$1"; then
		kill -KILL "$pid" 2>/dev/null || true
		wait_gone "$1" 5
	fi
}

answers() {
	(
		exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
		printf 'GET /health HTTP/1.0\r\n\r\n' >&3
		read -r -t 2 line <&3 && [[ $line == HTTP/*' 200 '* ]]
	) 2>/dev/null
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# ---- the supervisor --------------------------------------------------------

# is the supervisor's pid file still there, and its own?
in_charge() {
	local number
	read -r number _ <supervisor.pid && [ "$number" = $$ ]
} 2>/dev/null

# unwanted START: has the supervisor nobody left to serve? START is the owner's
unwanted() {
	in_charge || return 0
	[ -n "$owner" ] && [ "$(ident "$owner")" != "$1" ]
}

# look START: waits until the server ends or a signal comes, at most look_s
look() {
	local tick
	sleep "$look_s" &
	tick=$!
	wait -n || true
	kill "$tick" 2>/dev/null || true
	wait "$tick" 2>/dev/null || true
	if [ -z "$wanted" ] && unwanted "$1"; then
		wanted=stop
		kill -TERM "$child" || true
	fi
}

supervise() {
	local fd rc start=''
	for fd in "/proc/$$/fd"/*; do
		fd=${fd##*/}
		if [ "$fd" -gt 2 ] && [ "$fd" -lt 255 ]; then eval "exec $fd>&-"; fi
	done
	# the signal goes on to the server at once
	trap 'wanted=stop; kill -TERM $child' TERM INT HUP
	trap 'wanted=restart; kill -TERM $child' USR1
	keep supervisor.pid $$
	[ -z "$owner" ] || start=$(ident "$owner") || wanted=stop
	while [ "$wanted" != stop ]; do
		wanted=
		setpriv --pdeathsig TERM env -i PATH="$PATH" HOME="$HOME" \
			"$server_bin" -m "$model_file" --alias "$model_alias" \
			--host 127.0.0.1 --port "$port" -c 4096 -np 4 -t 1 \
			--seed 7 --temp 0 --metrics --slots --no-ui --offline \
			</dev/null >>server.log 2>&1 &
		child=$!
		keep server.pid "$child" || true
		while [ -z "$wanted" ] && kill -0 "$child" 2>/dev/null; do
			look "$start"
		done
		rc=0
		if [ -z "$wanted" ]; then
			wait "$child" || rc=$?
			printf 'llama-server ended by itself with status %d\n' "$rc"
			wanted=stop
		fi
		wait_gone server.pid 5 || end server.pid
		rm -f server.pid
	done
	if in_charge; then rm -f supervisor.pid; fi
}

# ---- commands --------------------------------------------------------------

# wait_ready OLD: until a server that is not OLD (its pid file's line) answers
wait_ready() {
	local i
	for ((i = ready_s * 20; i > 0; i--)); do
		if alive server.pid && [ "$(cat server.pid)" != "$1" ]; then
			if answers && alive server.pid; then
				say "server: pid $pid answers on 127.0.0.1:$port"
				return
			fi
		elif ! alive supervisor.pid; then
			tail -n 3 supervisor.log server.log >&2 2>/dev/null || true
			die "server: ended while starting; see '$PWD/server.log'"
		fi
		sleep 0.05
	done
	die "server: does not answer after $ready_s s; see '$PWD/server.log'"
}

same_port() {
	local used
	read -r _ _ used <supervisor.pid
	[ "$used" = "$port" ] || die "server: the one in '$PWD' has port $used, not $port"
}

start() {
	local i
	if alive supervisor.pid; then
		same_port
		wait_ready ''
		return
	fi
	[ -x "$server_bin" ] || die "server: no '$server_bin': run setup.sh first"
	end server.pid # left by a supervisor that was killed
	# the server would share the port with its present owner and say nothing
	! listens || die "server: port $port is in use by another program"
	rm -f server.pid supervisor.pid
	setsid -f "$BASH" "$self" supervise "$port" "$PWD" "$owner" </dev/null >>supervisor.log 2>&1 9>&-
	for ((i = 0; i < 100; i++)); do
		[ ! -f supervisor.pid ] || break
		sleep 0.05
	done
	wait_ready ''
}

restart() {
	local old
	old=$(cat server.pid 2>/dev/null) || old=
	if ! alive supervisor.pid; then
		start
		return
	fi
	same_port
	kill -USR1 "$pid" || die 'server: its supervisor went away'
	wait_ready "$old"
}

stop() {
	end supervisor.pid
	end server.pid # only where the supervisor was killed
	rm -f server.pid supervisor.pid
	say 'server: stopped'
}

status() {
	if alive server.pid && answers; then
		say "server: pid $pid answers on 127.0.0.1:$port"
	elif alive server.pid; then
		die "server: pid $pid does not answer on 127.0.0.1:$port"
	else
		say 'server: not running'
		exit 3
	fi
}

usage='usage: server.sh start|restart|stop|status PORT DIRECTORY [OWNER]'

main() {
	local verb=${1-} dir=${3-}
	port=${2-} owner=${4-} wanted='' child=''
	self=$here/server.sh
	[[ $# -ge 3 && $# -le 4 && $owner =~ ^[0-9]*$ ]] || die "$usage"
	[[ $port =~ ^[1-9][0-9]{0,4}$ && $port -le 65535 ]] || die "$usage"
	# shellcheck disable=SC2086  # names of variables
	unset ${!IB_@}
	mkdir -p "$dir"
	cd "$dir"
	case $verb in
	supervise) supervise ;;
	start | restart | stop)
		exec 9>server.lock
		flock -w 120 9 || die "server: '$PWD/server.lock' is held by another command"
		"$verb"
		;;
	status) status ;;
	*) die "$usage" ;;
	esac
}

main "$@"
