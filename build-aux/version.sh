#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the version (default) or the commit (--commit) of this source tree; empty commit outside git.
version=0.1.0
here=$(dirname "$0")/..
if [ "${1:-}" = --commit ]; then
    if [ -e "$here/.git" ]; then
        git -C "$here" rev-parse HEAD 2>/dev/null || true
    elif [ -r "$here/.commit" ]; then
        cat "$here/.commit"
    fi
else
    printf '%s' "$version"
fi
