#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Slices of the server's logs: a file that is rotated, commands like those of journald and container engines, and what cannot be had.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
load="ib-load, --url, \"$url\", --seed, \"9\", -n, \"6\", -c, \"2\", --input-tokens, \"64\", --output-tokens, \"4\", -o, \"{output_dir}/r.jsonl\""

# study NAME COMMAND LOGS…: LOGS are flow maps; its status is that of ib-run
study() {
    st_name=$1 st_command=$2
    shift 2
    mkdir -p "$st_name"
    {
        printf 'study: %s\nserver_logs:\n' "$st_name"
        printf '  - %s\n' "$@"
        printf 'groups:\n  - name: g\n    repeats: 1\n    command: [%s]\n' "$st_command"
    } > "$st_name/contract.yaml"
    ib-run --no-capture --plan "$st_name/contract.yaml" > "$st_name.out" 2> "$st_name.err"
}
# log STUDY EXPRESSION: of the first log of its record
log() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
logs = r["server_logs"]
log = logs[0]
print(eval(sys.argv[2]))' "$1" "$2"; }

# the endpoint's own log
status 0 "a run with the endpoint's truth log as its server log" study truth "$load" "{name: truth, file: \"$T/one.truth\"}"
is "the slice holds the requests of the run" "$(grep -c . truth/runs/*/server/truth.log)" "$(wc -l < one.truth | tr -d ' ')"
is "and is told" "$(log truth '"%s %s %d %s" % (log["status"], log["from"], log["lines"], log["file"])')" "ok file $(wc -l < one.truth | tr -d ' ') server/truth.log"
was=$(wc -l < one.truth)
status 0 "a second study" study again "$load" "{name: truth, file: \"$T/one.truth\"}"
is "whose slice begins where the run did" "$(log again 'log["lines"]')" "$(($(wc -l < one.truth) - was))"
is "its digest is that of the file" "$(log again 'log["sha256"]')" "$(cat again/runs/*/server/truth.log | sha256sum | cut -d ' ' -f 1)"
status 0 "the study is consistent" ib-verify again
chmod -R u+w again
for f in again/runs/*/server/truth.log; do echo "GET /later 200" >> "$f"; done
status 1 "a slice that was changed later is found" ib-verify again

# rotation, secrets, size
printf 'vLLM API server version 0.0.0\nold\npart' > app.log
cat > rotate << EOT
#!/bin/sh
echo 'ial line' >> "$T/app.log"
echo 'token: hf_abcdefghijklmnopqrstuvwxyzABCDEFGH' >> "$T/app.log"
mv "$T/app.log" "$T/app.log.1"
echo 'after the rotation' >> "$T/app.log"
printf unfinished >> "$T/app.log"
EOT
chmod +x rotate
status 0 "a log that is rotated in the middle" study rotated "\"$T/rotate\"" "{name: app, file: \"$T/app.log\"}"
like "is followed, in whole lines, without its secret" "$(cat rotated/runs/*/server/app.log | tr '\n' '|')" '^partial line\|token: <redacted:[^>]*>\|after the rotation\|unfinished$'
is "as the record says" "$(log rotated '"%s %s %s %s" % (log["status"], log["rotated"], log["truncated"], log["redacted"])')" "ok True False True"
is "the start-up lines are beside it" "$(head -n 1 rotated/runs/*/server/app.banner)" "vLLM API server version 0.0.0"
is "and where they are from" "$(log rotated 'log["banner_from"]')" server_start
status 0 "a log that is copied and emptied" study emptied "sh, -c, \"echo one >> $T/app.log; cp $T/app.log $T/app.log.1; : > $T/app.log; echo two >> $T/app.log\"" "{name: app, file: \"$T/app.log\"}"
is "is followed too" "$(cat emptied/runs/*/server/app.log | tr '\n' '|') $(log emptied 'log["truncated"]')" "unfinishedone|two| True"
status 0 "a log that grows by more than is kept" study large "sh, -c, \"seq 1 200000 >> $T/app.log\"" "{name: app, file: \"$T/app.log\", max: 64KiB}"
ok "is kept with its head and tail" sh -c "head -n 1 large/runs/*/server/app.log | grep -qx 1 && tail -n 1 large/runs/*/server/app.log | grep -qx 200000"
is "and the gap is told" "$(log large 'log["bytes"] - log["gap_bytes"] <= 65536 + 32768 and log["gap_bytes"] > 1000000 and log["lines"]')" 200000
is "the digest is of the whole" "$(log large 'log["sha256"]')" "$(seq 1 200000 | sha256sum | cut -d ' ' -f 1)"

# commands
mkdir bin
cat > bin/journalctl << EOT
#!/bin/sh
echo "\$@" > "$T/journalctl.args"
echo "2026-12-01T00:00:01+0000 host vllm[1]: served"
EOT
cat > bin/docker << EOT
#!/bin/sh
echo "\$@" > "$T/docker.args"
echo "on stdout"
echo "on stderr, where the container printed it" >&2
EOT
cat > bin/kubectl << EOT
#!/bin/sh
echo "error: pods \"gone\" not found" >&2
exit 1
EOT
chmod +x bin/*
PATH=$T/bin:$PATH
began=$(date +%s)
status 0 "commands" study commands "true" \
    '{name: journal, command: [journalctl, -u, vllm, --since, "@{since_unix}", --until, "@{until_unix}", -o, short-iso]}' \
    '{name: docker, command: [docker, logs, --since, "{since}", --until, "{until}", vllm]}' \
    '{name: pod, command: [kubectl, logs, gone, --since-time, "{since}"]}' \
    '{name: slow, command: [sh, -c, "echo early; sleep 20"], timeout: 300ms}' \
    '{name: nowhere, command: [ib-there-is-no-such-program]}' \
    '{name: missing, file: "/nonexistent/server.log"}' \
    "{name: folder, file: \"$T\"}" \
    '{name: unset, file: "${env:IB_TEST_UNSET}/server.log"}'
is "fail no run" "$(log commands 'r["state"]')" completed
is "what each came to" "$(log commands '" ".join(l["name"] + ":" + l["status"] for l in logs)')" \
    "journal:ok docker:ok pod:error slow:timeout nowhere:absent missing:absent folder:error unset:error"
like "the time is given as asked" "$(cat journalctl.args)" '^-u vllm --since @[0-9]+ --until @[0-9]+ -o short-iso$'
ok "and is that of the run" python3 -c "
a = open('$T/journalctl.args').read().split()
assert $began - 1 <= int(a[3][1:]) < int(a[5][1:]) <= $(date +%s) + 2, a"
like "or in words" "$(cat docker.args)" '^logs --since [0-9-]+T[0-9:.]+Z --until [0-9-]+T[0-9:.]+Z vllm$'
is "exit statuses are those of commands" "$(log commands '[l["exit_status"] for l in logs]')" "[0, 0, 1, None, None, None, None, None]"
is "stdout is the slice" "$(cat commands/runs/*/server/journal.log)" "2026-12-01T00:00:01+0000 host vllm[1]: served"
is "stderr is beside it" "$(cat commands/runs/*/server/docker.err)" "on stderr, where the container printed it"
is "a failure is told in its own words" "$(log commands 'logs[2]["why"]')" 'the command ended with status 1: error: pods "gone" not found'
is "what came before the limit is kept" "$(cat commands/runs/*/server/slow.log)" early
is "nothing measured is not zero" "$(log commands '[l["bytes"] for l in logs[4:]]')" "[None, None, None, None]"
like "each says why" "$(log commands '[bool(l["why"]) for l in logs[2:]]')" '^\[True, True, True, True, True, True\]$'
status 0 "the study is consistent" ib-verify commands
study stopped '"sh", "-c", "kill -INT $PPID; sleep 20"' '{name: slow, command: [sleep, "25"]}' "{name: app, file: \"$T/app.log\"}"
is "after an interrupt no log is waited for" "$(log stopped '[r["state"]] + [l["status"] for l in logs]')" "['interrupted', 'error', 'ok']"
status 2 "a placeholder that nobody knows is an error of the contract" study wrong true '{name: a, command: [docker, logs, --since, "{sinse}"]}'
like "with a suggestion" "$(cat wrong.err)" "did you mean '\{since\}'"
status 2 "so is a time in the name of a file" study timed true '{name: a, file: "/var/log/{since}.log"}'
status 2 "so are two logs of one name" study twice true '{name: a, file: /var/log/a}' '{name: a, file: /var/log/b}'
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "records are as their schema says" python3 - "$IB_SRCDIR/schemas/record-v1.schema.json" truth/runs/*/record.json rotated/runs/*/record.json \
        large/runs/*/record.json commands/runs/*/record.json << 'EOT'
import json, sys, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
for p in sys.argv[2:]:
    v.validate(json.load(open(p)))
EOT
else
    skip "records are as their schema says" "python3-jsonschema is not installed"
fi
done_testing
