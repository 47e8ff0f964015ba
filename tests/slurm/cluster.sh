# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A real slurmctld with two slurmd on this machine, for tests: own ports on 127.0.0.1, own munge key, own directories; no service of the machine is
# touched, no user but this one is needed. Sourced. cluster_start DIR sets SLURM_CONF; cluster_stop ends what was started, by its pids.
cluster_pids=''

# Prints why there can be no cluster here, or nothing.
cluster_lacks() {
    PATH=$PATH:/usr/sbin:/sbin
    for tool in slurmctld slurmd munged srun sbatch scontrol squeue sinfo; do
        command -v $tool > /dev/null || { echo "'$tool' is not installed (slurm-wlm, munge)"; return; }
    done
    command -v python3 > /dev/null || { echo "python3 is not installed"; return; }
    cluster_name_is_local || { echo "the name of this machine ('$(uname -n)') is not an address of its loopback interface, and all parts of Slurm would listen there"; return; }
    case $(slurmctld -V) in
    *" 2"[0-9].* | *" 19."*) ;;
    *) echo "this Slurm is of another kind: $(slurmctld -V)" ;;
    esac
}

# Slurm's parts listen at the address of the machine's name, or everywhere.
cluster_name_is_local() {
    python3 -c 'import os, socket, sys; sys.exit(not socket.gethostbyname(os.uname().nodename).startswith("127."))' 2> /dev/null
}

# cluster_local SCRIPT: goes on as SCRIPT where this machine's name is a loopback address, if only for this script
cluster_local() {
    cluster_name_is_local && return
    [ -z "${IB_CLUSTER_LOCAL:-}" ] && unshare -u true 2> /dev/null || return
    cleanup
    # shellcheck disable=SC2016
    IB_CLUSTER_LOCAL=1 exec unshare -u sh -c 'echo localhost > /proc/sys/kernel/hostname; exec "$@"' _ "$@"
}

# Four ports that nobody listens on.
cluster_ports() {
    python3 -c '
import socket
s = [socket.socket() for _ in range(4)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))'
}

cluster_conf() { # DIR CONTROL NODE1 NODE2
    cat << EOF
ClusterName=ib
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$2
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$1/munge/socket
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool-%n
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd-%n.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
JobRequeue=1
MinJobAge=300
KillWait=5
NodeName=n1 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$3 CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$4 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
EOF
}

# cluster_wait SECONDS COMMAND…: until it succeeds
cluster_wait() {
    cluster_left=$(($1 * 5))
    shift
    until "$@" > /dev/null 2>&1; do
        cluster_left=$((cluster_left - 1))
        [ $cluster_left -gt 0 ] || return 1
        sleep 0.2
    done
}

cluster_ready() { [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" -eq 2 ]; }

# Starts a daemon in the foreground of a job of this shell, so that its pid is ours.
cluster_daemon() { # LOG COMMAND…
    cluster_log=$1
    shift
    "$@" > "$cluster_log" 2>&1 < /dev/null &
    cluster_pids="$! $cluster_pids"
}

cluster_start() { # DIR
    PATH=$PATH:/usr/sbin:/sbin
    export PATH
    mkdir -p "$1/munge" "$1/state" "$1/spool-n1" "$1/spool-n2" || return 1
    chmod 711 "$1/munge"
    (umask 077 && head -c 64 /dev/urandom > "$1/munge.key")
    cluster_daemon "$1/munged.log" munged --foreground --force --key-file="$1/munge.key" --socket="$1/munge/socket" --pid-file="$1/munge/pid" \
        --log-file="$1/munge.log" --seed-file="$1/munge.seed"
    # shellcheck disable=SC2046
    cluster_conf "$1" $(cluster_ports) > "$1/slurm.conf"
    SLURM_CONF=$1/slurm.conf
    export SLURM_CONF
    unset SLURM_JOB_ID SLURM_JOBID SLURM_CLUSTERS SLURM_NODELIST SLURM_JOB_NODELIST
    cluster_wait 10 [ -S "$1/munge/socket" ] || return 1
    cluster_daemon "$1/ctld.out" slurmctld -D -c
    cluster_daemon "$1/n1.out" slurmd -D -N n1
    cluster_daemon "$1/n2.out" slurmd -D -N n2
    cluster_wait 40 cluster_ready
}

# Prints where else than on 127.0.0.1 a process of this cluster listens, or nothing. Of processes that run now.
cluster_listens() {
    python3 - "$SLURM_CONF" << 'EOF'
import glob, os, re, sys
listens = {}
for kind in "tcp", "tcp6", "udp", "udp6":
    for words in (line.split() for line in open("/proc/net/" + kind).read().splitlines()[1:]):
        if words[3] in ("0A", "07"):
            listens[words[9]] = words[1]
seen = 0
for process in glob.glob("/proc/[0-9]*"):
    try:
        if b"SLURM_CONF=" + sys.argv[1].encode() not in open(process + "/environ", "rb").read().split(b"\0"):
            continue
        name = open(process + "/comm").read().strip()
        for fd in os.listdir(process + "/fd"):
            socket = re.match(r"socket:\[(\d+)\]", os.readlink(process + "/fd/" + fd))
            if socket and socket[1] in listens:
                seen += 1
                if not listens[socket[1]].startswith("0100007F:"):
                    print(name, listens[socket[1]])
    except OSError:
        pass
if seen < 4:
    print("only %d sockets are seen to listen" % seen)
EOF
}

# The processes of this cluster that are still there, by the variable that all of them have.
cluster_left() {
    for cluster_environ in $(grep -slzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ); do
        cluster_pid=${cluster_environ#/proc/}
        cluster_pid=${cluster_pid%/environ}
        case " $$ $PPID " in
        *" $cluster_pid "*) ;;
        *) [ ! -e "/proc/$cluster_pid" ] || echo "$cluster_pid" ;;
        esac
    done
}

# Jobs first, so that no step is left without a daemon that would end it.
cluster_stop() {
    [ -n "$cluster_pids" ] || return 0
    timeout 10 scancel -u "$(id -un)" 2> /dev/null
    cluster_wait 15 sh -c '[ -z "$(timeout 5 squeue -h)" ]'
    for pid in $cluster_pids; do
        kill "$pid" 2> /dev/null
    done
    sleep 0.3
    for pid in $cluster_pids; do
        cluster_wait 10 sh -c '! kill -0 "$1" 2> /dev/null' _ "$pid" || kill -KILL "$pid" 2> /dev/null
        wait "$pid" 2> /dev/null
    done
    cluster_pids=''
    for pid in $(cluster_left); do
        kill -KILL "$pid" 2> /dev/null
    done
}
