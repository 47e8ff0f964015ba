#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ib-run costs beside other wrappers: con-duct, in-toto-run, DataLad run, ReproZip trace. The same small commands, bare and under each, in turn; what is
# printed is the least that each added to the bare command. IB_PEERS names a directory for a virtual environment with the peers, which is kept (default: a
# temporary one); one that cannot be installed or does not run is left out, aloud. IB_REPEATS: rounds (default 5).
set -u
: "${IB_BUILDDIR:=$PWD}"
rounds=${IB_REPEATS:-5}
command -v python3 > /dev/null || { echo "peers: skipped, python3 is not installed"; exit 0; }
dir=$(mktemp -d /dev/shm/ib-peers-XXXXXX 2> /dev/null || mktemp -d) || exit 99
own=
if [ -z "${IB_PEERS:-}" ]; then
    own=$(mktemp -d) || exit 99
    IB_PEERS=$own/venv
fi
clean() {
    chmod -R u+w "$dir"
    rm -rf "$dir"
    [ -z "$own" ] || rm -rf "$own"
}
trap clean EXIT

install_peers() {
    [ -x "$IB_PEERS/bin/pip" ] || python3 -m venv "$IB_PEERS" || { echo "peers: skipped, no virtual environment can be made (python3-venv)"; return 1; }
    for p in con-duct==0.23.0 in-toto==3.1.0 datalad==1.7.1 git-annex reprozip==1.3.2; do
        [ -e "$IB_PEERS/have-$p" ] && continue
        if timeout 300 "$IB_PEERS/bin/pip" install -q --disable-pip-version-check "$p" > "$dir/pip.log" 2>&1; then
            : > "$IB_PEERS/have-$p"
        else
            echo "peers: SKIPPED, $p cannot be installed: $(tail -n 1 "$dir/pip.log")"
        fi
    done
}
install_peers || exit 0
command -v git > /dev/null || echo "peers: SKIPPED, datalad: git is not installed"

mkdir "$dir/home"
XDG_STATE_HOME=$dir/state HOME=$dir/home REPROZIP_USAGE_STATS=off python3 - "$IB_BUILDDIR" "$dir" "$rounds" "$IB_PEERS/bin" << 'END'
import ctypes, os, resource, shutil, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1)  # subreaper: loggers and the like, which are nobody's children, are counted too
build, d, rounds, peers = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
env = dict(os.environ, PATH="%s:%s:%s" % (peers, build, os.environ["PATH"]), GIT_AUTHOR_NAME="b", GIT_AUTHOR_EMAIL="b@localhost",
           GIT_COMMITTER_NAME="b", GIT_COMMITTER_EMAIL="b@localhost")

def once(argv, cwd):
    a, t = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    r = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    w = time.perf_counter() - t
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode:
        raise RuntimeError("status %d: %s" % (r.returncode, (r.stderr.decode(errors="replace").strip().splitlines() or ["?"])[-1][:150]))
    return (b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime) * 1e3, w * 1e3

def fresh(name):
    p = os.path.join(d, name)
    os.makedirs(p, exist_ok=True)
    return p

def in_toto():
    key = os.path.join(d, "key.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, stderr=subprocess.DEVNULL)
    return ["in-toto-run", "-q", "-n", "step", "-s", "--run-timeout", "300", "--signing-key", key, "--"], fresh("in-toto")

def datalad():
    p = os.path.join(d, "datalad")
    subprocess.run(["datalad", "-l", "error", "create", p], check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return ["datalad", "-l", "error", "run"], p

tools = {  # name: the words before the command, and where it runs
    "bare": lambda: ([], d),
    "ib-run --no-capture": lambda: (["ib-run", "-q", "--no-capture", "-C", d + "/plain", "--"], d),
    "ib-run": lambda: (["ib-run", "-q", "-C", d + "/full", "--"], d),
    "con-duct run": lambda: (["con-duct", "run", "-q", "-p", fresh("duct") + "/{datetime_filesafe}-{pid}_"], d),
    "in-toto-run": in_toto,
    "datalad run": datalad,
    "reprozip trace": lambda: (["reprozip", "trace", "--overwrite", "--dont-identify-packages", "-d", d + "/reprozip"], d),
}
commands = {
    "true": ["true"],
    "a loop of some 100 ms": ["sh", "-c", "i=0; while [ $i -lt 500000 ]; do i=$((i + 1)); done"],
    "10 MB on standard output": ["head", "-c", "10000000", "/dev/zero"],
}
ready = {}
for name, make in tools.items():
    try:
        words, cwd = make()
        once(words + ["true"], cwd)  # what is made on first use is made
        ready[name] = words, cwd
    except (OSError, RuntimeError, subprocess.CalledProcessError) as e:
        print("peers: SKIPPED, %s does not run here: %s" % (name, e))
for title, command in commands.items():
    n = 2 * rounds + 1 if command == ["true"] else rounds
    got = {name: [] for name in ready}
    for _ in range(n):
        for name, (words, cwd) in ready.items():
            try:
                got[name].append(once(words + command, cwd))
            except RuntimeError as e:
                print("peers: %s failed: %s" % (name, e))
    least = {name: [min(r[i] for r in runs) for i in (0, 1)] for name, runs in got.items() if runs}
    print("%s: bare %.1f ms CPU, %.1f ms wall; added, the least of %d in turn:" % (title, *least["bare"], n))
    ours = [least["ib-run"][i] - least["bare"][i] for i in (0, 1)] if "ib-run" in least else None
    for name in least:
        if name == "bare":
            continue
        more = [least[name][i] - least["bare"][i] for i in (0, 1)]
        times = "" if name == "ib-run" or not ours or min(ours) <= 0 else "; %.2f and %.2f times ib-run's" % (more[0] / ours[0], more[1] / ours[1])
        print("  %-20s %8.1f ms CPU %8.1f ms wall%s" % (name, *more, times))
shutil.rmtree(d + "/reprozip", ignore_errors=True)
END
