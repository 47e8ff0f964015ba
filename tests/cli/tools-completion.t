#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Completions offer exactly the options of --help.
. "$(dirname "$0")/lib.sh"
command -v bash > /dev/null || skip_all "bash is not installed"
cd "$T" || exit 99
made=$IB_BUILDDIR/completions
for tool in ib-capture ib-init ib-run ib-verify ib-pack ib-report; do
    cat > ask.sh <<END2
. "$made/bash/$tool"
COMP_WORDS=($tool --) COMP_CWORD=1
$(printf '_%s' "$tool" | tr - _)
printf '%s\n' "\${COMPREPLY[@]}"
END2
    want=$("$tool" --help | sed -n 's/^  \(-.,\|   \) \(--[a-z0-9-]*\).*/\2/p' | sort)
    like "$tool has options" "$want" "--help"
    is "bash: the options of $tool" "$(bash ask.sh | sort)" "$want"
    is "zsh: the options of $tool" "$(grep -o -e "[,']--[a-z0-9-]*" "$made/zsh/_$tool" | cut -c2- | sort -u)" "$want"
    if command -v zsh > /dev/null; then ok "zsh: $tool" zsh -n "$made/zsh/_$tool"; else skip "zsh: $tool" "zsh is not installed"; fi
done
cat > ask.sh <<END2
. "$made/bash/ib-run"
ask() { COMP_WORDS=("\$@"); COMP_CWORD=\$((\$# - 1)); _ib_run; echo "\${COMPREPLY[*]}"; }
ask ib-run -C s --ca
ask ib-run -C --ca
ask ib-run -- ls --
ask ib-run ls --
END2
is "bash: a value, and another command's options, are left alone" "$(bash ask.sh | tr '\n' ';')" "--cache;;;;"
done_testing
