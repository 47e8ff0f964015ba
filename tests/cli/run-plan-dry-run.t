#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --plan --dry-run lists every command in order and writes nothing.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

cat > contract.yaml << 'EOT'
study: listed
readiness: {url: "http://127.0.0.1:9/health"}
groups:
  - name: a
    repeats: 2
    matrix: {cap: [1, 4]}
    order: interleaved
    command: [prog, "--cap={cap}", "a b", "it's", "{output_dir}", "${env:TOKEN}"]
  - name: b
    gate: a
    repeats: 1
    matrix: {cache: [reset, reuse]}
    cache:
      reset: {http: "http://127.0.0.1:9/reset"}
      warmup: {command: [warm, "{cap_}"]}
      reason: r
    command: [prog]
    convert: [conv, x]
EOT
sed -i 's/"{cap_}"/"{cell}"/' contract.yaml
status 0 "the listing" ib-run --plan contract.yaml --dry-run
cat > want << 'EOT'
slot 0: group a, cell cap-1, repeat 1, cache unspecified
  readiness: GET http://127.0.0.1:9/health
  command: prog --cap=1 'a b' 'it'\''s' {output_dir} '${env:TOKEN}'
slot 1: group a, cell cap-4, repeat 1, cache unspecified
  readiness: GET http://127.0.0.1:9/health
  command: prog --cap=4 'a b' 'it'\''s' {output_dir} '${env:TOKEN}'
slot 2: group a, cell cap-1, repeat 2, cache unspecified
  readiness: GET http://127.0.0.1:9/health
  command: prog --cap=1 'a b' 'it'\''s' {output_dir} '${env:TOKEN}'
slot 3: group a, cell cap-4, repeat 2, cache unspecified
  readiness: GET http://127.0.0.1:9/health
  command: prog --cap=4 'a b' 'it'\''s' {output_dir} '${env:TOKEN}'
slot 4: group b, cell cache-reset, repeat 1, cache reset
  readiness: GET http://127.0.0.1:9/health
  reset: POST http://127.0.0.1:9/reset
  command: prog
  convert: conv x
slot 5: group b, cell cache-reuse, repeat 1, cache reuse
  readiness: GET http://127.0.0.1:9/health
  reset: POST http://127.0.0.1:9/reset
  warm-up: warm {cell}
  command: prog
  convert: conv x
EOT
is "every command in order" "$(grep -v '^#' "$T/.out")" "$(cat want)"
is "lints stand below the commands" "$(sed -n '/^#/,$p' "$T/.out" | grep -vc '^#')" 0
is "nothing on standard error" "$(cat "$T/.err")" ""
ok "nothing was written" test ! -e ledger.jsonl -a ! -e contracts -a ! -e runs
status 2 "a variable that is not set stops the plan itself" env -u TOKEN ib-run --plan contract.yaml
like "and is named" "$(cat "$T/.err")" '\$\{env:TOKEN\}, which is not set'
ok "before anything is written" test ! -e ledger.jsonl -a ! -e contracts -a ! -e runs
done_testing
