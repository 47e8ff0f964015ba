#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tools where make install puts them, without the build tree: the whole path, the helpers that ib-run starts, manual, completions.
. "$IB_SRCDIR/tests/cli/lib.sh"
# only the endpoint and its client, which are not installed, come from the build tree
endpoint=$IB_EXAMPLES/ib-loopback load=$IB_EXAMPLES/ib-load
cd "$T" || exit 99
for tool in ib-capture ib-init ib-run ib-verify ib-pack ib-report; do
    is "$tool is the installed one" "$(command -v $tool)" "$IB_BUILDDIR/$tool"
    like "$tool: version" "$($tool --version)" "^$tool \(ibtools\) [0-9]"
    ok "$tool: manual" test -s "$IB_MANDIR/man1/$tool.1"
    ok "$tool: completion for bash" bash -n "$IB_DATADIR/bash-completion/completions/$tool"
    ok "$tool: completion for zsh" grep -q "^#compdef $tool" "$IB_DATADIR/zsh/site-functions/_$tool"
done
"$endpoint" --port 0 --port-file port --seed 1 --lifetime 5m > endpoint.log 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; cleanup' EXIT
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat port)
mkdir study
cat > study/contract.yaml <<EOT
study: study
serving: {endpoint: "$url"}
readiness: {url: "$url/health", timeout: 20s}
groups:
  - name: g
    repeats: 1
    command: ["$load", --url, "$url", --seed, "9", -n, "6", --output-tokens, "4", -o, "{output_dir}/r.jsonl"]
    cache:
      condition: reset
      reset: {http: "$url/reset_prefix_cache"}
      evidence: {engine: vllm, metrics_url: "$url/metrics"}
    expect: {attempts: 6, success_rate_min: 1}
EOT
status 0 "a plan: ib-run finds ib-probe" ib-run --plan study/contract.yaml
ok "what the endpoint says was kept" sh -c 'test -s study/runs/*/endpoint/version.json'
mkdir recorded
sed "s/^study: study/study: recorded/; s/^groups:/workloads: [{name: w, record: true}]\\ngroups:/; s/    repeats: 1/&\\n    workload: w/" study/contract.yaml > recorded/contract.yaml
status 0 "a recording: ib-run finds ib-loopback" ib-run --plan recorded/contract.yaml --record-workload --ceiling
is "six requests are recorded" "$(sed 1d recorded/workload/recorded/g.*.jsonl | wc -l | tr -d ' ')" 6
ok "and the client's ceiling" sh -c 'test -s recorded/ceiling/*.json'
status 0 "a command: ib-run finds ib-capture" ib-run -C study -- true
ok "a capture was kept" sh -c 'ls study/captures/*.json'
like "its run says so" "$(cat study/runs/*-r01-*/record.json)" '"node": "[0-9a-f]{64}"'
status 0 "ib-verify" ib-verify study
ok "a key" ib-pack --new-key me
status 0 "ib-pack" ib-pack -C study --key me.pem -o p.tar.zst
status 0 "the packet" ib-verify --trust me.pub.pem p.tar.zst
status 0 "ib-report" ib-report --trust me.pub.pem p.tar.zst
like "its table" "$(cat "$T/.out")" " 6/6/0 "
done_testing
