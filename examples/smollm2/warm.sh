#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sends every prompt of the workload once, one at a time, and asks for one token
# each: after it the server holds all prompts in its cache. The warm-up of the
# reuse condition.
#
#   usage: warm.sh PORT DIRECTORY
#
# DIRECTORY gets the client's result. Exit status: 0 every request succeeded;
# 1 anything else.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

main() {
	local port=${1-} dir=${2-} n=${workload_args[1]}
	[[ $# -eq 2 && $port =~ ^[0-9]{1,5}$ ]] || die 'usage: warm.sh PORT DIRECTORY'
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || die "warm-up: nothing answers on 127.0.0.1:$port"
	mkdir -p "$dir"
	rm -f "$dir/warm.json"
	"$client_bin" bench serve --backend openai --host 127.0.0.1 --port "$port" \
		--endpoint /v1/completions --model "$model_alias" \
		--tokenizer "$tokenizer_dir" --dataset-name custom \
		--dataset-path "$workload_file" --custom-output-len 1 \
		--disable-shuffle --num-prompts "$n" --seed 7 --request-rate inf \
		--max-concurrency 1 --num-warmups 0 --ignore-eos --temperature 0 \
		--header Connection=close --disable-tqdm --save-result \
		--result-dir "$dir" --result-filename warm.json
	# the client's own status is 0 even where requests failed
	python3 - "$dir/warm.json" "$n" <<'PY' || die "warm-up: not all $n requests succeeded"
import json, sys
result = json.load(open(sys.argv[1]))
sys.exit(not (result["completed"] == int(sys.argv[2]) and result["failed"] == 0))
PY
}

main "$@"
