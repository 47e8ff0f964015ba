#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Completions for bash and zsh, made from what --help prints of each tool's option table.
# usage: mk-completion.sh OUT-DIRECTORY TOOL…     writes OUT-DIRECTORY/bash/NAME and OUT-DIRECTORY/zsh/_NAME
set -eu
out=$1
shift
mkdir -p "$out/bash" "$out/zsh"

# rows TOOL: one option a line: letter or "-", long name, metavar or "-", help
rows() {
    "$1" --help | awk '
        function flush() { if (name != "") print letter "\t" name "\t" metavar "\t" help; name = "" }
        /^exit status:/ { flush(); exit }
        /^  (-.,|   ) --[a-z0-9-]+/ {
            flush()
            letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : "-"
            rest = substr($0, 9); name = rest; sub(/[ ].*/, "", name)
            rest = substr(rest, length(name) + 1); metavar = "-"; help = ""
            if (rest ~ /^ [^ ]/) { metavar = substr(rest, 2); sub(/[ ].*/, "", metavar); rest = substr(rest, length(metavar) + 2) }
            sub(/^ +/, "", rest); help = rest
            next
        }
        name != "" && /^ +[^ ]/ { sub(/^ +/, ""); help = help == "" ? $0 : help " " $0; next }
        { flush() }'
}

bash_one() { # TOOL NAME
    words=$(rows "$1" | awk -F '\t' '{ if ($1 != "-") printf "-%s ", $1; printf "--%s ", $2 }')
    valued=$(rows "$1" | awk -F '\t' '$3 != "-" { if ($1 != "-") printf "-%s|", $1; printf "--%s|", $2 }')
    function=_$(printf %s "$2" | tr - _)
    cat <<END
# bash completion for $2
$function() {
    local cur=\${COMP_WORDS[COMP_CWORD]} i=1
    COMPREPLY=()
END
    if "$1" --help | grep -q 'COMMAND \[ARGUMENT'; then
        cat <<END
    while [ \$i -lt \$COMP_CWORD ]; do
        case \${COMP_WORDS[i]} in
        ${valued%|}) i=\$((i + 1)) ;;
        --) i=\$((i + 1)); break ;;
        -*) ;;
        *) break ;;
        esac
        i=\$((i + 1))
    done
    if [ \$i -lt \$COMP_CWORD ] || { [ \$i -eq \$COMP_CWORD ] && [ "\${COMP_WORDS[i-1]}" = -- ]; }; then
        if declare -F _command_offset > /dev/null; then _command_offset \$i; fi
        return
    fi
END
    fi
    cat <<END
    case \${COMP_WORDS[COMP_CWORD-1]} in
    ${valued%|}) return ;;
    esac
    case \$cur in
    -*) COMPREPLY=(\$(compgen -W '${words% }' -- "\$cur")) ;;
    esac
}
complete -o default -F $function $2
END
}

zsh_one() { # TOOL NAME
    echo "#compdef $2"
    echo "_arguments -s -S \\"
    rows "$1" | awk -F '\t' '
        function quote(s,    i, c, out) { # for the inside of a quoted specification
            for (i = 1; i <= length(s); i++) {
                c = substr(s, i, 1)
                out = out (index("[]:\\", c) ? "\\" c : c == "\047" ? "\047\\\047\047" : c)
            }
            return out
        }
        {
            value = $3 == "-" ? "" : ":" quote($3) ":" ($3 ~ /FILE|DIR|STUDY|CONTRACT/ ? "_files" : " ")
            long = "--" $2 ($3 == "-" ? "" : "=")
            if ($1 == "-") printf "    \047%s[%s]%s\047 \\\n", long, quote($4), value
            else printf "    \047(-%s --%s)\047{-%s%s,%s}\047[%s]%s\047 \\\n", $1, $2, $1, $3 == "-" ? "" : "+", long, quote($4), value
        }'
    if "$1" --help | grep -q 'COMMAND \[ARGUMENT'; then
        echo "    '(-)1:command:_command_names -e' '*::arguments:_normal'"
    else
        echo "    '*:file:_files'"
    fi
}

for tool in "$@"; do
    name=$(basename "$tool")
    case $tool in */*) ;; *) tool=./$tool ;; esac
    bash_one "$tool" "$name" > "$out/bash/$name.tmp" && mv "$out/bash/$name.tmp" "$out/bash/$name"
    zsh_one "$tool" "$name" > "$out/zsh/_$name.tmp" && mv "$out/zsh/_$name.tmp" "$out/zsh/_$name"
done
