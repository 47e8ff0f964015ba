#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The EXAMPLES of the manual pages work as they are printed, each page's in order.
. "$(dirname "$0")/lib.sh"
command -v jq > /dev/null || skip_all "jq is not installed"
cd "$T" || exit 99

# examples PAGE: the command lines of its EXAMPLES, continued lines joined
examples() {
    sed -n '/^\.Sh EXAMPLES/,/^\.Sh D/p' "$IB_SRCDIR/man/$1" |
        awk '/^\.Dl / { sub(/^\.Dl /, ""); print } /^\.Bd -literal/ { on = 1; next } /^\.Ed/ { on = 0 } on' |
        sed 's/\\e/\\/g; s/\\(dq/"/g; s/\\-/-/g; s/\\&//g' | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta'
}

# what the examples take as given: a client, a contract, a study and packet of somebody
mkdir bin
printf '#!/bin/sh\necho "the client ran: $*"\n' > bin/vllm
chmod +x bin/vllm
PATH=$T/bin:$PATH
printf 'study: study\ngroups:\n  - {name: short, repeats: 1, command: ["echo", "planned"]}\n' > contract.yaml

ib-run -q -C study --no-capture -- sh -c 'echo 42' > /dev/null
ib-pack --new-key author > /dev/null
for page in ib-capture.1 ib-init.1 ib-run.1 ib-pack.1 ib-verify.1 ib-report.1; do
    case $page in
    ib-verify.1) # these two read what somebody else made
        ib-pack -C study --key author.pem -o loopback-20261130-3fa9c1d2.tar.zst > /dev/null
        [ -e ib-study ] || cp -r study ib-study
        ;;
    ib-report.1)
        rm -f study.tar.zst
        ib-pack -C study --key author.pem -o study.tar.zst > /dev/null
        [ -e ib-study ] || cp -r study ib-study
        ;;
    esac
    examples $page > lines
    is "$page has examples" "$(awk 'END { print (NR > 0) }' lines)" 1
    while IFS= read -r line; do
        # shellcheck disable=SC2016
        status 0 "$page: $line" sh -c "set -e; ${line%...}" < /dev/null
    done < lines
done
like "the report's table" "$(cat report.md)" "^\| run ID"

# what a packet says of itself: the commands of VERIFY.md, but for the tools of others that may not be installed
mkdir by-hand && cp study.tar.zst PACKET.tar.zst && cp author.pub.pem K.pub.pem
zstd -dcq study.tar.zst | tar xf - -O --wildcards '*/VERIFY.md' > VERIFY.md
command_of() { sed -n "s/^    \\($1 [^(]*[^( ]\\).*/\\1/p" "$T/VERIFY.md"; }
status 0 "VERIFY.md: $(command_of ib-verify)" sh -c "$(command_of ib-verify | sed 's/PACKET/&.tar.zst/')"
like "VERIFY.md: how to unpack" "$(command_of zstd)" "^zstd .*tar xf -\$"
(cd by-hand && sh -c "$(command_of zstd | sed 's|PACKET|../&|')")
cd by-hand/* || exit 99
status 0 "VERIFY.md: $(command_of sha256sum)" sh -c "$(command_of sha256sum)"
status 0 "VERIFY.md: what was signed" sh -c "$(sed -n 's/^What was signed, in words: //p' "$T/VERIFY.md")"
like "VERIFY.md: it is the Statement" "$(cat "$T/.out")" '"predicateType": "urn:ibtools:packet:v1"'
cd "$T" || exit 99
done_testing
