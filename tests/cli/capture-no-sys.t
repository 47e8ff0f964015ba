#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Without /sys, and without its NUMA nodes: captures go on, say where their facts are from, and nothing that was not seen becomes a number.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v python3 > /dev/null || skip_all "python3 is not installed"
cd "$T" || exit 99

get() {
    python3 -c '
import json, sys
c = json.load(open(sys.argv[1]))["collectors"]
t = c["topology"]
d, m = t["data"], t["missing"]
print(eval(sys.argv[2]))' "$1" "$2"
}
processors=$(grep -c '^processor' /proc/cpuinfo)

# --- a copy of a machine, taken apart ---
root() { chmod -R u+w "$1" 2> /dev/null; rm -rf "$1"; cp -r "$IB_SRCDIR/tests/data/roots/two-socket" "$1" && chmod -R u+w "$1"; }
root whole
ib-capture --root whole --only topology -o whole.json 2> /dev/null
is "with all of /sys it is hwloc that counts" "$(get whole.json '(d["counted_by"], d["packages"], len(d["numa_nodes"]))')" "('hwloc', 2, 2)"
root nodes && rm -rf nodes/sys/devices/system/node
ib-capture --root nodes --only topology -o nodes.json 2> nodes.err
is "no NUMA nodes: unknown, never 1" "$(get nodes.json '(d["numa_nodes"], m["numa_nodes"]["status"])')" "(None, 'absent')"
is "the rest is still known" "$(get nodes.json '(d["counted_by"], d["packages"])')" "('hwloc', 2)"
root empty && rm -rf empty/sys/devices/system/node/*
ib-capture --root empty --only topology -o empty.json 2> empty.err
is "an empty directory of nodes: unknown, too" "$(get empty.json 'd["numa_nodes"]')" None
is "nobody's assertion is printed" "$(cat empty.err)" ""
root none && rm -rf none/sys
cat > none/proc/cpuinfo << 'EOF'
processor	: 0
model name	: Made Up CPU
physical id	: 0
core id		: 0

processor	: 1
physical id	: 0
core id		: 0

processor	: 2
physical id	: 1
core id		: 0

processor	: 3
physical id	: 1
core id		: 1
EOF
ib-capture --root none --only topology -o none.json 2> none.err
is "no /sys: counted from cpuinfo, and said" "$(get none.json '(d["counted_by"], d["packages"], d["cores"], d["pus"])')" "('/proc/cpuinfo', 2, 3, 4)"
is "what cpuinfo does not hold is no number" "$(get none.json '(d["numa_nodes"], m["numa_nodes"]["status"], m["caches"]["status"])')" "(None, 'unsupported', 'unsupported')"
printf 'processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\nBogoMIPS\t: 50.00\n' > none/proc/cpuinfo
ib-capture --root none --only topology -o arm.json 2> /dev/null
is "processors without package and core" "$(get arm.json '(d["packages"], d["cores"], d["pus"], m["cores"]["status"])')" "(None, None, 2, 'absent')"
rm none/proc/cpuinfo
ib-capture --root none --only topology -o bare.json 2> /dev/null
is "neither /sys nor cpuinfo: nothing is known, nothing is 0" "$(get bare.json '(d["packages"], d["pus"], m["pus"]["status"])')" "(None, None, 'absent')"

# --- this machine, with something mounted over it ---
hidden() { unshare -m sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh "$@"; }
if hidden /sys true 2> /dev/null; then
    status 0 "the capture of a machine without /sys is made" hidden /sys ib-capture -o live.json
    is "nothing is printed" "$(cat "$T/.err")" ""
    is "it says where the topology is from" "$(get live.json '(d["counted_by"], d["pus"])')" "('/proc/cpuinfo', $processors)"
    is "and what has failed" "$(get live.json '(t["status"], c["os"]["status"], c["kernel"]["missing"]["clocksource"]["status"])')" "('error', 'ok', 'absent')"
    status 0 "a run is made there" hidden /sys ib-run -q -C study -- true
    is "with its captures" "$(python3 -c '
import glob, json
r = json.load(open(glob.glob("study/runs/*/record.json")[0]))
c = json.load(open(glob.glob("study/captures/*.json")[0]))
print(r["state"], c["collectors"]["topology"]["data"]["counted_by"], c["collectors"]["topology"]["data"]["numa_nodes"])')" "completed /proc/cpuinfo None"
    ok "verify takes the study" ib-verify study
else
    skip "the capture of a machine without /sys" "mounts of its own are not permitted here"
fi
if [ -d /sys/devices/system/node ] && hidden /sys/devices/system/node true 2> /dev/null; then
    status 0 "without the nodes alone" hidden /sys/devices/system/node ib-capture --only topology,cpu -o live2.json
    is "their number is unknown" "$(get live2.json 'd["numa_nodes"]')" None
    is "nothing is printed there either" "$(cat "$T/.err")" ""
else
    skip "without the nodes alone" "mounts of its own are not permitted here"
fi

# --- which clock: recorded, not corrected ---
ib-capture --root whole --only topology,kernel -o kernel.json 2> /dev/null
is "the clock source is a fact" "$(get kernel.json 'c["kernel"]["data"]["clocksource"]')" "$(cat whole/sys/devices/system/clocksource/clocksource0/current_clocksource)"
if python3 -c 'import jsonschema' 2> /dev/null; then
    for f in whole nodes empty none arm bare; do
        ok "$f.json fits the schema" python3 -c '
import json, jsonschema, sys
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' "$IB_SRCDIR/schemas/capture-v1.schema.json" "$f.json"
    done
else
    skip "documents fit the schema" "python3-jsonschema is not installed"
fi
done_testing
