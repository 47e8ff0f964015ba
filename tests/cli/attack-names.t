#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names that somebody else chose: the command that a verdict offers runs nothing else, keys are not swapped in silence, evidence is not led astray.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
new_key me && new_key other || { echo "Bail out! no keys"; exit 99; }
make_study study || skip_all "no study"
ok "a packet" ib-pack -C study --key me.pem -o p.tar

for name in 'a b.tar' 'x;touch owned;.tar' 'x$(touch owned).tar' 'x`touch owned`.tar' 'x|touch owned' 'x&touch owned' '#x.tar' '~.tar'; do
    cp p.tar "$name"
    status 3 "'$name': the signer is not established" ib-verify "$name"
    tail -n 1 .out > command
    sh ./command > /dev/null 2>&1
    is "'$name': the command that is offered ends well" $? 0
done
for name in "x'\$(touch owned)'.tar" "$(printf 'x\n touch owned')"; do
    cp p.tar "$name"
    status 3 "a name that cannot be quoted" ib-verify "$name"
    like "is left to the reader" "$(tail -n 1 .out)" " PATH\$"
done
is "no name was run" "$(ls owned 2>&1 | grep -c '^owned')" 0

status 2 "two keys" ib-pack -C study --key me.pem --key other.pem -o q.tar
like "are too many" "$(cat .err)" "given twice"
status 2 "a new key without a name" ib-pack --new-key ''
is "makes none" "$(ls -A | grep -c '^[.]pem$')" 0

mkdir linked elsewhere && ln -s ../elsewhere linked/runs
status 125 "runs behind a symbolic link" ib-run -C linked --no-capture -- true
like "are refused before they are made" "$(cat .err)" "symbolic link"
is "and nothing is written there" "$(ls elsewhere linked)" "$(printf 'elsewhere:\n\nlinked:\nruns')"
done_testing
