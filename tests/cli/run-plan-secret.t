#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ${env:NAME} gives a command its secret; no file that ib-run writes holds it.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

mkdir s
cat > s/contract.yaml << 'EOT'
study: s
groups:
  - name: g
    repeats: 1
    command: [sh, -c, "test \"$1\" = \"$WANT\"", x, "${env:MY_API_KEY}"]
    convert: [sh, -c, "test \"$1\" = \"$WANT\"", x, "${env:MY_API_KEY}"]
    cache:
      condition: cold
      reset: {command: [sh, -c, "test \"$1\" = \"$WANT\"", x, "Bearer-${env:MY_API_KEY}"]}
EOT
sed -i 's/= \\"$WANT\\"", x, "Bearer/= \\"Bearer-$WANT\\"", x, "Bearer/' s/contract.yaml
key=sk-proj-$(printf 'Zt4WmX2nLc9VbR5dKf8HsJ1gYp%s' 3eUaTo6i7Kq)
MY_API_KEY=$key WANT=$key
export MY_API_KEY WANT
status 0 "command, reset and conversion get the secret" ib-run -q --plan s/contract.yaml
is "one run, completed" "$(grep -h '"state"' s/runs/*/record.json)" '  "state": "completed",'
is "no file holds it" "$(grep -rlF -e "$key" s | tr '\n' ' ')" ""
ok "its name stands in the command" grep -q '${env:MY_API_KEY}' s/runs/*/command.json
done_testing
