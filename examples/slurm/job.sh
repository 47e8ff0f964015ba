#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One task of the job array: its study is "studies/task-N" of the directory that submit.sh prepared. Starts the server as a step on one of the
# job's nodes, carries out the plan, packs the study. Requeued or preempted, it goes on where it was: nothing of it is lost or run twice.
#SBATCH --job-name=ib-study
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=1
#SBATCH --time=00:30:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=studies/%x-%A_%a.log
set -u
base=$PWD
study=$base/studies/task-$SLURM_ARRAY_TASK_ID
packet=$base/packets/task-$SLURM_ARRAY_TASK_ID.tar.zst

# The nodes of this job. ib-loopback listens on 127.0.0.1 only, so that its node is the client's; a real server has one of its own (2).
IB_CLIENT_NODE=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
IB_SERVER_NODE=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n "${IB_SERVER_INDEX:-1}p")
export IB_CLIENT_NODE IB_SERVER_NODE

# The server is a step of the job. In its place, for example:
#   srun --overlap -N1 -n1 -w "$IB_SERVER_NODE" vllm serve MODEL --port 8000 & IB_SERVER=$IB_SERVER_NODE:8000
mkdir -p "$study/workload" "$base/packets"
rm -f "$study.port"
srun --overlap -N1 -n1 -w "$IB_SERVER_NODE" ib-loopback --port-file "$study.port" --seed 11 --lifetime 30m &
server=$!
trap 'kill $server 2> /dev/null' EXIT
trap 'exit 143' TERM
for _ in $(seq 300); do
    [ ! -s "$study.port" ] || break
    kill -0 $server 2> /dev/null || break
    sleep 0.1
done
[ -s "$study.port" ] || { echo "job.sh: the server does not start" >&2; exit 1; }
IB_SERVER=127.0.0.1:$(cat "$study.port")
export IB_SERVER

cp "$base/short.jsonl" "$study/workload/" && cp "$base/contract.yaml" "$study/" || exit 1
echo "job.sh: $(date -u +%FT%TZ) start ${SLURM_RESTART_COUNT:-0} of task $SLURM_ARRAY_TASK_ID"
ib-run -C "$study" --plan "$study/contract.yaml" || { echo "job.sh: the plan is not complete; submit the task again to go on" >&2; exit 1; }
[ -e "$packet" ] || ib-pack -C "$study" --key "$base/author.pem" -o "$packet"
