#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Secrets planted in environment, git remote, kernel command line and a driver's file: none may appear in anything that is written.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

# values are put together here so that scanners of source trees stay quiet
hf=hf_$(printf 'aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789' | head -c 34)
gh=ghp_abcdefghijklmnopqrstuvwxyz0123456789
plain=correct-horse-battery-staple
pem=$(printf -- "-----BEGIN %s KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdef\n-----END %s KEY-----" "RSA PRIVATE" "RSA PRIVATE")
export HF_TOKEN="$hf" VLLM_API_KEY=$plain NCCL_PROXY_PASS=hunter2hunter2 CUDA_LICENCE=lic-1234-abcd-5678
export VLLM_ENDPOINT="https://user:pw-canary@h.example/" LLAMA_ARG="--api-key $gh" SGLANG_CERT="$pem" TORCH_NOTE="x $plain y"
export HTTPS_PROXY=http://me:pw-canary2@proxy:3128 OPENAI_API_KEY=sk-canary-0001-0002-0003-0004
export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY
# what only looks like one
export TOKENIZERS_PARALLELISM=false NCCL_ACCESS_MODE=rdma CUDA_DRIVER_API=12.4 VLLM_MAX_TOKENS_PER_EXPERT=128 VLLM_MOE_TOKEN_THRESHOLD=64

git init -q repo && cd repo || exit 99
git -c user.email=a@example.org -c user.name=a commit -q --allow-empty -m x
git remote add origin "https://deploy:$gh@git.example.org/team/repo.git"
cp -r "$IB_SRCDIR/tests/data/roots/two-socket" "$T/root"
chmod -R u+w "$T/root"
printf 'root=/dev/vda token=%s iscsi.pass=%s url=https://a:pw-canary3@h/ note=%s\n' "$hf" hunter2hunter2 "$plain" > "$T/root/proc/cmdline"
mkdir "$T/study" "$T/out"

ok "capture to a file" ib-capture -o "$T/out/a.json"
ok "capture to a study" ib-capture --store "$T/study"
ok "capture of a recorded root" ib-capture --root "$T/root" -o "$T/out/b.json"
ok "recording of this machine" ib-capture --record "$T/out/record" -o "$T/out/c.json"
ok "replay of it" ib-capture --root "$T/out/record" -o "$T/out/d.json"

for s in "$hf" "$gh" "$plain" hunter2hunter2 lic-1234 pw-canary MIIEpAIBAAK sk-canary wJalrXUtnFEMI "$(hostname)-no-such" deploy: ; do
    ok "nothing holds '$(printf %.6s "$s")…'" sh -c '! grep -rF -e "$1" "$2/out" "$2/study"' sh "$s" "$T"
done
for s in TOKENIZERS_PARALLELISM NCCL_ACCESS_MODE CUDA_DRIVER_API VLLM_MAX_TOKENS_PER_EXPERT VLLM_MOE_TOKEN_THRESHOLD; do
    ok "$s is recorded" grep -q "\"$s\": \"" "$T/out/a.json"
done
ok "the remote is, without its user" grep -q '"remote": "https://git.example.org/team/repo.git"' "$T/out/a.json"
ok "proxies are named" grep -q '"HTTPS_PROXY"' "$T/out/a.json"
ok "a value is marked, with rule and length" grep -q '"LLAMA_ARG": "--api-key <redacted:github-token:40:[0-9a-f]*>"\|"LLAMA_ARG": "--api-key <redacted:named-secret:40:[0-9a-f]*>"' "$T/out/a.json"
home=$(HOME=/home/alice XDG_STATE_HOME=$XDG_STATE_HOME CUDA_HOME=/home/alice/cuda ib-capture --only environment)
like "the home directory is not" "$home" '"CUDA_HOME": "~/cuda"'
ok "neither is the host's name" sh -c '! grep -rFw -e "$(uname -n)" "$1/out/a.json" "$1/study" || [ "$(uname -n | wc -c)" -lt 6 ]' sh "$T"

# the last gate: a file that no rule of its collector looks at
printf 'NVRM version: %s\n' "$gh" > "$T/root/proc/driver/nvidia/version"
status 3 "the gate refuses what slipped through" ib-capture --root "$T/root" -o "$T/out/e.json"
like "names the rule" "$(cat "$T/.err")" 'rule github-token'
ok "never the value" sh -c '! grep -qF "$1" "$2"' sh "$gh" "$T/.err"
ok "and writes nothing" test ! -e "$T/out/e.json"
printf 'NVRM version: %s\n' "$plain" > "$T/root/proc/driver/nvidia/version"
status 3 "also for the plain value of a secret variable" ib-capture --root "$T/root" -o "$T/out/e.json"
done_testing
