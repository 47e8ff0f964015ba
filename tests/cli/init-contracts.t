#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-init: a contract for every client that ib-run takes, with that client's options; values that would break it; nothing overwritten.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
clients="vllm guidellm aiperf sglang inference-perf llama-bench command"

# each client: parses, lists a run for every slot, no word of the table is left over, valid by the schema
slots() { grep -c '^slot ' "$1"; }
for c in $clients; do
    ok "$c: a contract is written" ib-init --client $c --model org/Model-1 --endpoint http://127.0.0.1:8123/v1/ study-$c
    is "$c: its path is the output" "$(cat "$T/.out")" "study-$c/contract.yaml"
    ok "$c: ib-run takes it" ib-run -C study-$c --plan study-$c/contract.yaml --dry-run
    cp "$T/.out" $c.dry
    want=18
    [ $c = llama-bench ] && want=12
    is "$c: one run for each cell and repeat" "$(slots $c.dry)" $want
    is "$c: nothing is left to be filled in" "$(grep -c '@[a-z]*@' study-$c/contract.yaml)" 0
    is "$c: lines to be edited are marked" "$(grep -c 'EDIT' study-$c/contract.yaml | awk '{ print ($1 >= 10) }')" 1
    is "$c: named after its directory" "$(grep '^study:' study-$c/contract.yaml)" "study: study-$c"
    is "$c: the client is named" "$(grep -c "^    client: $c$" study-$c/contract.yaml)" "$((want / 6))"
    is "$c: every command writes below its own run" "$(grep '^  command:' $c.dry | grep -vc '{output_dir}')" "$([ $c = llama-bench ] && echo 12 || echo 0)"
    [ $c = command ] || is "$c: nothing about it is odd to ib-run" "$(grep '^#' $c.dry)" ""
    is "$c: a dry run writes nothing" "$(ls study-$c)" contract.yaml
    is "$c: no line is too long" "$(awk 'length($0) > 220' study-$c/contract.yaml)" ""
done
for c in vllm guidellm aiperf sglang inference-perf; do
    is "$c: the load is closed: no rate is given" "$(grep -c -e '--request-rate [0-9i]' -e 'rate=' $c.dry)" 0
    is "$c: no warm-up leaves anything in the output" "$(grep '^  warm-up:' $c.dry | grep -c '{output_dir}')" 0
    is "$c: cache-control warms up before reuse, three times" "$(grep -c '^  warm-up:' $c.dry)" 3
    is "$c: the endpoint without /v1" "$(grep '^  command:' $c.dry | grep -o 'http://[^ ,]*' | sort -u)" http://127.0.0.1:8123
done
has() { # NAME FILE WORDS…: all in every command
    tap_name=$1 file=$2; shift 2
    for w; do
        n=$(grep '^  command:' "$file" | grep -cF -e "$w")
        is "$tap_name: $w" "$n" "$(grep -c '^  command:' "$file")"
    done
}
has vllm vllm.dry "--save-result --save-detailed" "--percentile-metrics ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue" \
    "--metric-percentiles 50,90,99" "--num-warmups 0" "--ready-check-timeout-sec 0" "--result-dir {output_dir}" "--ignore-eos" "--seed 20261"
has guidellm guidellm.dry "guidellm run" "--label run_id={run_id}" "--output kind=json,path={output_dir}/benchmarks.json" "--seed kind=static,value=20261"
is "guidellm: nothing samples its records" "$(grep -c 'sample_size=' guidellm.dry)" 0
has aiperf aiperf.dry "--random-seed 20261" "--use-server-token-count" "--output-artifact-dir {output_dir}" "--extra-inputs ignore_eos:true"
has sglang sglang.dry "--output-details --output-file {output_dir}/result.jsonl" "--warmup-requests 0" "--backend sglang"
has inference-perf inference-perf.dry "--report.request_lifecycle.per_request true" "--storage.local_storage.path {output_dir}" "--load.base_seed 20261"
like "inference-perf: its stage is JSON with the cap in it" "$(cat inference-perf.dry)" "'\[\{\{\"num_requests\":100,\"concurrency_level\":4\}\]'"
has llama-bench llama-bench.dry "-o jsonl"
is "llama-bench: what it prints becomes its output" "$(grep -c '^  convert: cp {run_dir}/stdout.log {output_dir}/llama-bench.jsonl' llama-bench.dry)" 12
like "sglang: its own reset" "$(cat sglang.dry)" "reset: POST http://127.0.0.1:8123/flush_cache"
like "vllm: its own reset" "$(cat vllm.dry)" "reset: POST http://127.0.0.1:8123/reset_prefix_cache"
ok "another server" ib-init -c guidellm --server llamacpp there/llama
like "llamacpp: a restart empties it" "$(tr -s ' \n' ' ' < there/llama/contract.yaml)" "command: \[./restart-server.sh\] timeout: 5m restart: true"
ok "llamacpp elsewhere" ib-init -c guidellm --server llamacpp --endpoint http://192.168.1.9:8080 there/far
is "whose process cannot be seen: no proof of a restart is asked for" "$(grep -c 'restart: true' there/far/contract.yaml)" 0
ok "a directory is made with those above it" test -f there/llama/contract.yaml

# a client of one's own
ok "a command of one's own" ib-init own --prompts 20 --input-tokens 32 --output-tokens 8 --server vllm -m m --endpoint http://127.0.0.1:1 -- \
    my-client --in '{input_tokens}' -n '{prompts}' --cap '{cap}' -w '{workload}' --to '{endpoint}/x' -o '{output_dir}/r.jsonl' '{{kept}'
ib-run -C own --plan own/contract.yaml --dry-run > own.dry
like "its names are filled in" "$(cat own.dry)" '  command: my-client --in 32 -n 20 --cap 4 -w workload/short.jsonl --to http://127.0.0.1:1/x -o \{output_dir\}/r.jsonl \{\{kept\}$'
like "the longer input is four times the short one" "$(cat own.dry)" '--in 128 .*-w workload/long.jsonl'
like "its warm-up writes elsewhere" "$(cat own.dry)" '  warm-up: .*--cap 1 .*-o \{run_dir\}/hooks/r.jsonl'
like "tokens follow" "$(cat own/contract.yaml)" '^      output_tokens: 160'
status 2 "a command goes with no other client" ib-init -c vllm no -- my-client

# never over another file
printf 'mine\n' > kept.yaml && mkdir full && cp kept.yaml full/contract.yaml
status 2 "an existing contract is not written over" ib-init full
like "which one is said" "$(cat "$T/.err")" "'full/contract.yaml' exists"
ok "it is as it was" cmp kept.yaml full/contract.yaml
mkdir linked && ln -s nowhere linked/contract.yaml
status 2 "nor a link" ib-init linked
: > plainfile
status 2 "a file in the way of the directory" ib-init plainfile/sub
ok "it is still a file" test -f plainfile
mkdir unwritable && chmod 555 unwritable
if [ "$(id -u)" -eq 0 ]; then skip "an unwritable directory" "running as root"; else status 3 "an unwritable directory" ib-init unwritable; fi

# odd directories
mkdir cwd && (cd cwd && ib-init > ../cwd.out)
is "the current directory" "$(cat cwd.out) $(grep ^study: cwd/contract.yaml)" "./contract.yaml study: cwd"
for d in "with space" "-dash" "Ünicode" "UPPER.case" "___" "$(printf 'a%.0s' $(seq 60))"; do
    ok "directory '$d'" ib-init "./$d"
    ok "'$d': its contract is one" ib-run -C "./$d" --plan "./$d/contract.yaml" --dry-run
done
is "a name with spaces" "$(grep ^study: 'with space/contract.yaml')" "study: with-space"
is "a name that is none" "$(grep ^study: '___/contract.yaml')" "study: study"
status 2 "two directories" ib-init a b
status 2 "no directory" ib-init ""

# odd names: what comes out of YAML and placeholders is what went in
n=0
while IFS= read -r name; do
    n=$((n + 1))
    ok "model '$name'" ib-init -c vllm -m "$name" odd-$n
    ok "'$name': its contract is one" ib-run -C odd-$n --plan odd-$n/contract.yaml --dry-run
    cp "$T/.out" odd.dry
    if command -v python3 > /dev/null; then
        is "'$name': it comes out as it went in" "$(python3 - odd.dry << 'PY'
import shlex, sys
line = next(l for l in open(sys.argv[1]) if l.startswith("  command: "))
words = shlex.split(line[len("  command: "):])
print(words[words.index("--model") + 1].replace("{{", "{"), end="") # listed as the contract writes it
PY
)" "$name"
    fi
done << 'END'
no
null
~
1.5
0x10
true
- x
a: b
a #b
"quoted"
it's
back\slash
{cap}
{{x}
[list]
&anchor
*alias
!tag
%directive
@at
`tick`
modèle/Ω
x,y
>
?
END
status 2 "a comma is GuideLLM's own" ib-init -c guidellm -m x,y comma

# what no contract takes
status 2 "an unknown client" ib-init -c vlm none
like "the known ones are named" "$(cat "$T/.err")" "vllm, guidellm, aiperf"
status 2 "an unknown server" ib-init --server tgi none
status 2 "no number" ib-init --prompts 0 none
status 2 "an endpoint without scheme" ib-init --endpoint 127.0.0.1:8000 none
status 2 "an endpoint with a user name" ib-init --endpoint http://me:pw@127.0.0.1:8000 none
status 2 "an endpoint with a query" ib-init --endpoint 'http://127.0.0.1:8000/?key=1' none
status 2 "a control character" ib-init -m "$(printf 'a\033b')" none
status 2 "no UTF-8" ib-init -m "$(printf 'a\377b')" none
status 2 "nothing" ib-init -m "" none
token=hf_$(printf 'AbCdEfGhIj%.0s' 1 2 3)KlMn
for o in --model --tokenizer --permission; do
    status 2 "a secret as $o" ib-init $o "$token" none
    is "the secret is not repeated ($o)" "$(grep -c "$token" "$T/.err")" 0
done
status 2 "a secret within the command" ib-init none -- my-client --api-key "$token"
status 2 "a public endpoint without permission" ib-init --endpoint http://203.0.113.7:8000 none
like "what is missing is said" "$(cat "$T/.err")" "--permission"
ok "a public endpoint with permission" ib-init --endpoint http://203.0.113.7:8000 --permission "N.N., 2026-12-01, 1000 requests" public
like "which stands in the contract" "$(cat public/contract.yaml)" '^permission: "N.N., 2026-12-01, 1000 requests"'
ok "a variable in the endpoint" ib-init --endpoint 'http://127.0.0.1:${env:PORT}' variable
ok "nothing was made for what was refused" test ! -e none
done_testing
