#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A client's own warm-ups and ready check send its first prompt again: hits that they explain, and hits that they do not.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/cli/loopback.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99
start_endpoint one --model m --seed 5 --prefill-base-us 100 --prefill-token-us 1 --decode-token-us 10
mkdir bin
printf '#!/bin/sh\nexec python3 "%s/tests/cli/fake_vllm.py" "$@"\n' "$IB_SRCDIR" > bin/vllm
chmod +x bin/vllm

# study NAME CONDITION EVIDENCE OPTION…: of the client
study() {
    name=$1 condition=$2 evidence=$3; shift 3
    mkdir "$name"
    printf '%s\n' "study: $name" "groups:" "  - name: g" "    repeats: 1" \
        "    command: [$T/bin/vllm, bench, serve, --base-url, \"$url\", --result-dir, \"{output_dir}\", $*]" \
        "    cache: {condition: $condition, reason: it is the test, reset: {http: \"$url/reset_prefix_cache\"}, evidence: {engine: vllm, metrics_url: \"$url/metrics\"$evidence}}" \
        > "$name/contract.yaml"
    ib-run --no-capture --no-sample --plan "$name/contract.yaml" > "$name.out" 2> "$name.err"
}
record() { python3 -c '
import json, sys, glob
r = json.load(open(glob.glob(sys.argv[1] + "/runs/*/record.json")[0]))
c = r["cache"]
print(eval(sys.argv[2]))' "$1" "$2"; }
findings() {
    ib-verify --json "$1" > "$1.json" 2> /dev/null
    python3 -c '
import json, sys
print([f["message"] for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "A19" and f["status"] == "fail" and f["level"] != "I"])' "$1.json"
}

# of a prompt of 64 tokens 48 can be found again: whole blocks of 16, never the last token
study none reset '' --save-detailed, --ready-check-timeout-sec, 0
is "no warm-ups: confirmed" "$(record none 'c["evidence"], c["client_requests"]')" "('confirmed', None)"
study warmups reset '' --save-detailed, --num-warmups, 5, --ready-check-timeout-sec, 0
is "hits that warm-ups explain: not contradicted, not confirmed" "$(record warmups 'c["evidence"], c["client_requests"]')" \
    "('unconfirmed', {'requests': 5, 'prompt_tokens': 320, 'perhaps_prompt_tokens': 0})"
is "the reason has the numbers" "$(record warmups 'c["why"]')" "240 of 704 prompt tokens (34.1 %) came from the cache, where at most 0 may; 5 requests that the client sent on its own \
before (320 prompt tokens) explain at most 240 of these: so a measured prompt was in the cache before; let the client send none, or allow them with 'hits_max'"
is "the audit has nothing against it" "$(findings warmups)" "[]"
study allowed reset ', hits_max: 240' --save-detailed, --num-warmups, 5, --ready-check-timeout-sec, 0
is "allowed by the contract: confirmed" "$(record allowed 'c["evidence"]')" confirmed
study beyond reset '' --save-detailed, --num-warmups, 1, --ready-check-timeout-sec, 0, --send-again, 6
is "hits that they do not explain, tokens of others: not taken for theirs" "$(record beyond 'c["evidence"]')" unconfirmed
like "someone else" "$(record beyond 'c["why"]')" "counted 832 prompt tokens, more than the 448 expected: someone else used it"
study ready reset '' --save-detailed, --ready-check-timeout-sec, 5
is "a ready check is one such request" "$(record ready 'c["evidence"], c["client_requests"]["requests"], c["client_requests"]["prompt_tokens"]')" "('unconfirmed', 1, 64)"
like "and explains its hits" "$(record ready 'c["why"]')" "48 of 448 .* 1 requests that the client sent on its own before \(64 prompt tokens\) explain at most 48"
study unsaid reset '' --save-detailed
is "a ready check that some versions make: none was made" "$(record unsaid 'c["evidence"], c["client_requests"]')" \
    "('confirmed', {'requests': 0, 'prompt_tokens': 0, 'perhaps_prompt_tokens': 64})"
study brief reset '' --num-warmups, 2
is "a result without lengths: they cannot be told" "$(record brief 'c["evidence"], c["client_requests"]["prompt_tokens"]')" "('unconfirmed', None)"
like "saying so" "$(record brief 'c["why"]')" "128 more than the client counts: it also sent 2 requests on its own, whose length its result does not hold"
study short reset '' --save-detailed, --num-warmups, 3, --random-input-len, 12, --ready-check-timeout-sec, 0
is "prompts too short to be found again: confirmed" "$(record short 'c["evidence"]')" confirmed
study again reuse ', hit_share_min: 0.7' --save-detailed, --seed, 3, --num-warmups, 2, --ready-check-timeout-sec, 0
like "reuse after a reset: hits of warm-ups are too few" "$(record again '"%s: %s" % (c["evidence"], c["why"])')" "^contradicted: 96 of 512 .*, where at least 70 % must"

# nothing was reset, all prompts hit
study fill unspecified '' --save-detailed
mkdir stale
sed 's/study: warmups/study: stale/; s/condition: reset/condition: cold/; s/reset: {[^}]*}, //' warmups/contract.yaml > stale/contract.yaml
ib-run --no-capture --no-sample --plan stale/contract.yaml > stale.out 2> stale.err
is "every prompt was in the cache: contradicted, in spite of warm-ups" "$(record stale 'c["evidence"]')" contradicted
like "with the numbers" "$(record stale 'c["why"]')" "528 of 704 .* 5 requests .* \(320 prompt tokens\) explain at most 320"

# more warm-ups than there were, to explain it
cp -r stale forged && chmod -R u+w forged
python3 - << 'EOT'
import glob, hashlib, json
p = glob.glob("forged/runs/*/record.json")[0]
old = open(p, "rb").read()
new = old.replace(b'"evidence": "contradicted"', b'"evidence": "unconfirmed"').replace(b'"requests": 5', b'"requests": 11')
assert new != old
open(p, "wb").write(new)
lines, prev = [], None
for line in open("forged/ledger.jsonl", "rb").read().splitlines():
    line = line.replace(hashlib.sha256(old).hexdigest().encode(), hashlib.sha256(new).hexdigest().encode())
    if prev is not None:
        line = line.replace(json.loads(line)["prev"].encode(), hashlib.sha256(prev).hexdigest().encode())
    lines.append(line)
    prev = line
open("forged/ledger.jsonl", "wb").write(b"\n".join(lines) + b"\n")
EOT
like "a record that counts other requests of the client than its command says is found" "$(findings forged)" "counts other requests that the client sent on its own than its command says"
done_testing
