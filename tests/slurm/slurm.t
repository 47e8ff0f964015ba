#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Against a real slurmctld with two slurmd: node captures by srun, the job array of examples/slurm with its packets side by side, a requeue.
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh source=cluster.sh
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
. "$IB_SRCDIR/tests/slurm/cluster.sh"
cluster_local "$0"
lacks=$(cluster_lacks)
[ -z "$lacks" ] || skip_all "no Slurm here: $lacks"
chmod 755 "$T"
cd "$T" || exit 99
# shellcheck disable=SC2317
stop_and_clean() {
    cluster_stop
    cleanup
}
trap stop_and_clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if ! cluster_start "$T/cluster"; then
    echo "Bail out! the cluster does not start"
    for f in "$T"/cluster/*.log "$T"/cluster/*.out; do echo "# $f"; tail -n 5 "$f" | sed 's/^/#   /'; done
    exit 99
fi
like "two nodes are idle" "$(sinfo -h -o '%D %t')" '^2 idle$'
TMPDIR=$T/tmp && mkdir "$TMPDIR" && export TMPDIR

# --- captures of nodes, from outside of any job ---
mkdir nodes
cat > nodes/contract.yaml << 'EOF'
study: nodes
nodes:
  - {name: one, launch: [srun, -N1, -n1, -w, n1]}
  - {name: two, launch: [srun, -N1, -n1, -w, n2]}
  - {name: two-installed, launch: [srun, -N1, -n1, -w, n2], recorder: installed}
  - {name: no-such-node, launch: [srun, -N1, -n1, -w, n9]}
  - {name: busy, launch: [srun, -N1, -n1, -c64], timeout: 3s}
groups:
  - {name: g, repeats: 1, command: [echo, done]}
EOF
status 0 "a plan whose nodes are reached by srun" ib-run --plan nodes/contract.yaml
ok "the nodes are captured, those that cannot be are told" python3 -c '
import glob, json
r = json.load(open(glob.glob("nodes/runs/*/record.json")[0]))
got = {n["name"]: n for n in r["nodes"]}
assert r["state"] == "completed" and len(got) == 5
for name in "one", "two", "two-installed":
    c = json.load(open("nodes/captures/%s.json" % got[name]["capture"]))
    assert c["collectors"]["cpu"]["data"]["models"], name
    assert c["collectors"]["environment"]["data"]["values"]["SLURM_NNODES"] == "1", name
assert got["one"]["node"] == got["two"]["node"]  # one machine
for name in "no-such-node", "busy":
    assert got[name]["status"] in ("error", "timeout") and got[name]["why"] and got[name]["capture"] is None, got[name]'
ok "no step is left" cluster_wait 20 sh -c '[ -z "$(squeue -h)" ]'

# --- the job array of the example ---
job=$(IB_SERVER_INDEX=2 "$IB_SRCDIR/examples/slurm/submit.sh" array 3)
like "the array is submitted" "$job" '^[0-9]+$'
cluster_wait 120 sh -c '[ -z "$(squeue -h)" ]'
is "each task has a packet" "$(cd array/packets && echo *)" "task-0.tar.zst task-1.tar.zst task-2.tar.zst"
for log in array/studies/*.log; do [ -e array/packets/task-2.tar.zst ] || sed 's/^/# /' "$log"; done
for i in 0 1 2; do
    status 0 "packet $i is verified" ib-verify --trust array/author.pub.pem array/packets/task-$i.tar.zst
done
cat > side.py << 'EOF'
import glob, json, sys
contracts, heads = set(), set()
for d in sorted(glob.glob(sys.argv[1] + "/studies/task-?")):
    lines = open(d + "/ledger.jsonl").read().splitlines()
    contracts.add(json.loads(lines[0])["contract"]["json_sha256"])
    heads.add(lines[-1])
    records = [json.load(open(p)) for p in glob.glob(d + "/runs/*/record.json")]
    done = [r for r in records if r["state"] == "completed"]
    assert len(done) == 6 and len({(r["cell"], r["repeat"]) for r in done}) == 6, (d, [r["state"] for r in records])
    for r in done:
        assert [(n["name"], n["status"]) for n in r["nodes"]] == [("client", "ok"), ("server", "ok")], r["nodes"]
        assert r["requests"]["succeeded"] == 30 and r["cache"]["evidence"] == "confirmed", r["cache"]
assert len(contracts) == 1 and len(heads) == int(sys.argv[2])
EOF
ok "side by side: one contract, six runs each, both nodes captured" python3 side.py array 3
ok "no task's environment is recorded" sh -c '! grep -rqE "127.0.0.1:[0-9]+" array/studies/task-?/contracts array/studies/task-?/ledger.jsonl'

# --- a task that is requeued in the middle of a run ---
job=$(IB_SERVER_INDEX=2 "$IB_SRCDIR/examples/slurm/submit.sh" again 1)
ledger=again/studies/task-0/ledger.jsonl
cluster_wait 60 sh -c '[ "$(grep -c "\"kind\":\"finish\"" "$1" 2> /dev/null)" -ge 2 ] && [ "$(tail -n 1 "$1" | grep -c "\"kind\":\"start\"")" = 1 ]' _ "$ledger"
ok "two runs are there, a third one runs" [ -s "$ledger" ]
is "all of the cluster listens on 127.0.0.1 only" "$(cluster_listens)" ""
ok "the task is requeued" scontrol requeue "${job}_0"
before=$(grep -c '"kind":"finish"' "$ledger")
# a requeued job waits for two minutes unless it is told not to, and only heeds that once its old start has been cleared away
cluster_wait 60 sh -c 'scontrol update "JobId=$1" StartTime=now; sleep 1; scontrol show job "$1" | grep -q "JobState=RUNNING.*" && scontrol show job "$1" | grep -q "Restarts=1"' _ "$job"
cluster_wait 100 [ -s again/packets/task-0.tar.zst ]
cluster_wait 30 sh -c '[ -z "$(squeue -h)" ]'
like "it was started twice" "$(scontrol show job "$job")" 'Restarts=1'
is "the first start did not do it all" "$([ "$before" -lt 6 ] && echo some)" some
ok "resumed: every slot is filled once, no run is lost" python3 side.py again 1
ok "what the requeue cut off is told" python3 -c '
import collections, json
lines = [json.loads(l) for l in open("again/studies/task-0/ledger.jsonl")]
starts = [l["run"] for l in lines if l["kind"] == "start"]
ends = collections.Counter(l["run"] for l in lines if l["kind"] in ("finish", "abandoned"))
assert set(starts) == set(ends) and all(n == 1 for n in ends.values()), ends
other = [l for l in lines if l["kind"] == "abandoned" or l["kind"] == "finish" and l["state"] != "completed"]
assert len(starts) == 6 + len(other) and len(other) <= 2, (len(starts), other)'
status 0 "its packet is verified" ib-verify --trust again/author.pub.pem again/packets/task-0.tar.zst
is "nothing is left in temporary directories" "$(ls -A tmp)" ""
cluster_stop
is "nor any process" "$(cluster_left)" ""
done_testing
