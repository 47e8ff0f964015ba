# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# Helpers for tests that need the loopback endpoint: started on a free port, ended by its process ID.
endpoints=

# start_endpoint NAME OPTION…: sets url; the port is in $T/NAME.port, the truth log in $T/NAME.truth
start_endpoint() {
    lb_name=$1; shift
    ib-loopback --port-file "$T/$lb_name.port" --truth "$T/$lb_name.truth" --lifetime 120s "$@" > "$T/$lb_name.log" 2>&1 &
    lb_pid=$!
    endpoints="$endpoints $lb_pid"
    lb_try=0
    while [ ! -s "$T/$lb_name.port" ] && [ $lb_try -lt 200 ]; do
        sleep 0.05
        lb_try=$((lb_try + 1))
    done
    [ -s "$T/$lb_name.port" ] || { echo "Bail out! the endpoint does not start"; sed 's/^/# /' "$T/$lb_name.log"; exit 99; }
    url=http://127.0.0.1:$(cat "$T/$lb_name.port")
}

# end_endpoint PID: its exit status is in lb_status
end_endpoint() {
    kill "$1" 2> /dev/null
    wait "$1"
    lb_status=$?
}

stop_endpoints() {
    for lb_p in $endpoints; do kill "$lb_p" 2> /dev/null; done
    cleanup
}
trap stop_endpoints EXIT
