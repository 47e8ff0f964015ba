#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No load on somebody's server without permission: addresses are judged right before the run, whatever they are written as.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

# study ENDPOINT COMMAND [PERMISSION]: s/, whose command leaves a file when it runs
study() {
    rm -rf s ran
    mkdir s
    {
        echo "study: s"
        [ -z "${3:-}" ] || echo "permission: $3"
        [ -z "$1" ] || echo "serving: {endpoint: \"$1\"}"
        echo "groups:"
        echo "  - {name: g, repeats: 1, command: $2}"
    } > s/contract.yaml
}
# refused NAME HOST: s is refused, the command does not run
refused() {
    status 1 "$1: refused" env URL="${URL:-}" ib-run --no-capture -q --plan s/contract.yaml
    is "$1: for this reason" "$(jq -r '.state + " " + .reasons[0]' s/runs/*/record.json)" "refused permission"
    like "$1: the host is named" "$(jq -r '.notes[]' s/runs/*/record.json)" "'$2' .*permission"
    is "$1: nothing ran" "$(ls ran 2> /dev/null)" ""
}
# runs NAME
runs() {
    status 0 "$1: runs" env URL="${URL:-}" ib-run --no-capture -q --plan s/contract.yaml
    is "$1: did" "$(ls ran 2> /dev/null)" ran
}
touch_it='[sh, -c, "touch '$T'/ran", x'

for host in 203.0.113.7 '[2001:db8::1]' '[::ffff:203.0.113.7]' user:pw@203.0.113.7 127.0.0.1@203.0.113.7; do
    study '' "$touch_it, \"\${env:URL}\"]"
    URL="http://$host:8000/v1" refused "a variable, $host" "$(echo "$host" | sed 's/.*@//; s/[][]//g')"
done
for url in HTTP://203.0.113.7 https://203.0.113.7:443/x http://203.0.113.7?x http://203.0.113.7#x; do
    study '' "$touch_it, \"\${env:URL}\"]"
    URL=$url refused "a variable, $url" 203.0.113.7
done
for url in http://127.0.0.1:8000 http://localhost:1 http://[::1]:8000/v1 http://10.1.2.3 http://172.16.0.1 http://192.168.1.1:80/a@203.0.113.7 \
    http://[fd00::1]:8000 http://[fe80::1%25eth0]:8000; do
    study '' "$touch_it, \"\${env:URL}\"]"
    URL=$url runs "a variable, $url"
done
for url in http://100.64.0.1 http://172.32.0.1 http://11.0.0.1; do
    study '' "$touch_it, \"\${env:URL}\"]"
    URL=$url refused "a variable, $url" "${url#http://}"
done
# names: what they resolve to counts, numbers in other spellings are names to the resolver
for url in http://2130706433:80 http://0x7f.1 http://127.1; do
    study '' "$touch_it, \"\${env:URL}\"]"
    URL=$url runs "this machine, spelt $url"
done
study '' "$touch_it, \"\${env:URL}\"]"
URL=http://0xcb007107/ refused "a public address, spelt in hex" 0xcb007107
study '' "$touch_it, \"\${env:URL}\"]"
URL=http://no-such-name.invalid/ refused "a name that cannot be resolved" no-such-name.invalid
study '' "$touch_it, \"--url=\${env:URL}\"]"
URL=http://203.0.113.7:8000 refused "in the command" 203.0.113.7
study '' "$touch_it, --host, 203.0.113.7]"
refused "--host of the command" 203.0.113.7
study '' "$touch_it, \"--host=203.0.113.7\"]"
refused "--host= of the command" 203.0.113.7
study '' "$touch_it, --host, 127.0.0.1]"
runs "--host of this machine"
study '' "$touch_it, \"\${env:URL}\"]" "the owner, by letter of 2026-11-30"
URL=http://203.0.113.7 runs "with permission"
done_testing
