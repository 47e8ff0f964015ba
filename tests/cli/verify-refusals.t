#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers with status 503 in a log beside a client's success: told with their counts, in a study, a packet and a folder of loose files.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
. "$IB_SRCDIR/tests/cli/pack.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
new_key me
cat > client << EOT
#!/bin/sh
# a client for which all is well, and a server that refuses \$2 requests
ib-load --url "$url" --seed 9 -n 6 -c 2 --input-tokens 16 --output-tokens 4 -o "\$1/r.jsonl"
i=0
while [ \$i -lt \$2 ]; do
    i=\$((i + 1))
    echo "INFO:     127.0.0.1:\$i - \"POST /v1/completions HTTP/1.1\" 503 Service Unavailable" >> "$T/app.log"
    echo "INFO:     127.0.0.1:\$i - \"GET /health HTTP/1.1\" 503 Service Unavailable" >> "$T/app.log"
done
EOT
chmod +x client
# study NAME REFUSALS
study() {
    mkdir "$1"
    : > app.log
    cat > "$1/contract.yaml" << EOT
study: $1
server_logs: [{name: app, file: "$T/app.log"}]
groups:
  - name: g
    repeats: 1
    command: ["$T/client", "{output_dir}", "$2"]
EOT
    ib-run -q --no-capture --plan "$1/contract.yaml"
}
a36() { ib-verify --json "$@" | python3 -c 'import json, sys
for f in json.load(sys.stdin)["findings"]:
    if f["id"] == "A36": print(f["level"], f["status"], f["file"], f["message"], f["expected"], f["found"])'; }

status 0 "a study of a server that refuses nothing" study good 0
is "its logs tell of nothing" "$(a36 good | cut -d ' ' -f 1,2)" "W pass"
status 0 "one of a server that refuses as many as its client counts" study bad 6
like "the log is held against the results" "$(a36 bad)" \
    '^W fail runs/[^/]*/server/app.log 6 lines tell of an answer with status 429 or 5xx, the results of 0 requests that did not succeed and 6 that did: refusals may have been counted as successes at most 0 6$'
status 1 "with --strict" ib-verify --strict bad
status 0 "the study is packed" ib-pack -C bad --key me.pem -o bad.tar
like "and says the same" "$(a36 --trust me.pub.pem bad.tar)" '^W fail runs/[^/]*/server/app.log 6 lines'
status 0 "a single run is asked" ib-verify bad/runs/*
mkdir loose
cp bad/runs/*/output/r.jsonl loose/r.jsonl
like "loose files without a log are not checkable" "$(a36 loose)" '^I not_checkable None no log of the client or the server'
grep POST app.log > loose/server.log
like "with one they are" "$(a36 loose)" '^W fail loose/server.log 6 lines|^W fail server.log 6 lines'
head -c 17000000 /dev/zero | tr '\0' x > loose/server.log
like "unless it is too large" "$(a36 loose)" 'not_checkable .*larger than 16 MiB'
like "the check explains itself" "$(ib-verify --explain A36)" 'counted refused requests as successes'
like "so does that of the client's ceiling" "$(ib-verify --explain A37)" "client's own part of each request's time"
done_testing
