#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prepares a directory on a file system that all nodes share, and submits the job array.
#     submit.sh DIRECTORY TASKS [SBATCH-OPTION…]
# DIRECTORY gets contract.yaml, the workload, a throwaway key, studies/task-N and packets/task-N.tar.zst. Prints the job's number.
set -eu
[ $# -ge 2 ] || { echo "usage: submit.sh DIRECTORY TASKS [SBATCH-OPTION...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 tasks=$2
shift 2
mkdir -p "$dir/studies"
cd "$dir"
[ -e contract.yaml ] || cp "$here/contract.yaml" .
[ -e short.jsonl ] || ib-load --write-workload short.jsonl --seed 11 --num-prompts 30 --input-tokens 64 --output-tokens 16 > /dev/null
[ -e author.pem ] || ib-pack --new-key author > /dev/null
sbatch --parsable --array="0-$((tasks - 1))" "$@" "$here/job.sh"
