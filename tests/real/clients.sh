#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches the clients of real-clients.t into the cache (IBTOOLS_CACHE, default ~/.cache/ibtools): GuideLLM in a directory of its own, vLLM's client
# as examples/smollm2 gets it. What is there already is kept. Exit status: 0 all is there; 77 the registries cannot be reached; 1 anything else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cache=${IBTOOLS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ibtools}
pins=$here/guidellm.txt
# what pip says when it cannot connect
unreachable="NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|RemoteDisconnected|Connection (refused|reset|timed out|broken)"
unreachable="$unreachable|Network is unreachable|No route to host|name resolution|HTTP error (403|407|5[0-9][0-9])"
digest=$(sha256sum < "$pins" | cut -d ' ' -f 1)
dir=$cache/guidellm

if [ "$(cat "$dir/complete" 2> /dev/null)" != "$digest" ]; then
    rm -rf "$dir"
    mkdir -p "$cache" || exit 1
    if ! PIP_REQUIRE_VIRTUALENV=0 python3 -m pip install --quiet --no-input --disable-pip-version-check --timeout 30 --retries 2 --no-deps --no-cache-dir \
        --target "$dir" -r "$pins" > "$cache/guidellm.log" 2>&1 < /dev/null; then
        tail -n 3 "$cache/guidellm.log" >&2
        rm -rf "$dir"
        grep -Eqi "$unreachable" "$cache/guidellm.log" && exit 77
        exit 1
    fi
    echo "$digest" > "$dir/complete"
fi
"$top/examples/smollm2/setup.sh" client
