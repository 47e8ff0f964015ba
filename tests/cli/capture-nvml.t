#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVIDIA GPUs by a stand-in library: fields that are not supported, versions that do not match, a hang, a crash.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
lib=$IB_BUILDDIR/tests/fake-nvml
[ -e "$lib/full/.libs/libnvidia-ml.so.1" ] || skip_all "the stand-in library is not built (make check builds it)"

# scene VARIANT NAME: captures under a scene; then "get EXPRESSION" looks at it
scene() {
    LD_LIBRARY_PATH=$lib/$1/.libs IB_FAKE_NVML_SCENE=$IB_SRCDIR/tests/fake-nvml/scenes/$2.txt ib-capture --only gpu_nvidia,os > "$T/c.json" 2> "$T/c.err"
}
get() {
    python3 -c '
import json, sys
c = json.load(open("c.json"))["collectors"]
g = c["gpu_nvidia"]
d, m, gpus = g["data"], g["missing"], g["data"].get("gpus")
print(eval(sys.argv[1]))' "$1"
}

scene full two-gpus
is "two GPUs, by bus id" "$(get '[x["bus_id"] for x in gpus]')" "['00000000:17:00.0', '00000000:65:00.0']"
is "the library's index is kept" "$(get '[x["index"] for x in gpus]')" "[1, 0]"
is "memory by the second interface" "$(get '(gpus[1]["memory_used_bytes"], gpus[1]["memory_api"])')" "(8192000, 'v2')"
is "driver and CUDA version" "$(get '(d["driver_version"], d["cuda_version"], d["init"]["code"])')" "('550.54.15', '12.4', 0)"
like "the UUID is a label" "$(get 'gpus[0]["uuid"]')" '^[0-9a-f]{16}$'
ok "the UUID is nowhere" sh -c '! grep -q GPU-77bb "$1/c.json"' sh "$T"
is "which library answered" "$(get 'd["library"]["sha256"]')" "$(sha256sum < "$lib/full/.libs/libnvidia-ml.so.1" | cut -d' ' -f1)"
is "no driver is loaded here" "$(get 'm["driver_file"]["status"]')" absent
first=$(grep stable "$T/c.json"); scene full two-gpus
is "twice the same stable digest" "$(grep stable "$T/c.json")" "$first"

scene full memory-not-supported
is "memory that is not supported is no number" "$(get '(gpus[0]["memory_total_bytes"], m["gpus/0/memory_total_bytes"]["status"])')" "(None, 'unsupported')"
is "and costs nothing else" "$(get '(gpus[0]["name"], g["status"])')" "('NVIDIA Made Up Unified', 'ok')"

scene old two-gpus
is "an old driver: first interface, so labelled" "$(get '(gpus[1]["memory_api"], gpus[1]["memory_used_bytes"], gpus[1]["memory_reserved_bytes"])')" "('v1', 637337600, None)"
is "a missing symbol is a status" "$(get '(d["cuda_version"], m["cuda_version"]["status"])')" "(None, 'unsupported')"
scene unfit two-gpus
is "a missing required symbol is named" "$(get '(d["library"]["missing_symbol"], d["gpus"])')" "('nvmlDeviceGetUUID', None)"

scene full init-mismatch
is "the error of the start is a fact" "$(get '(d["init"]["code"], d["init"]["text"], m["gpus"]["status"])')" "(18, 'Driver/library version mismatch', 'error')"
scene full init-no-driver
is "no driver: absent" "$(get '(d["init"]["code"], m["gpus"]["status"], g["status"])')" "(9, 'absent', 'ok')"

scene full odd-name
is "a name that is no text and has no end" "$(get 'gpus[0]["name"][:6]')" "Odd��x"
is "96 bytes of it" "$(get 'len(gpus[0]["name"])')" 96
is "all ones is no size" "$(get '(gpus[0]["memory_total_bytes"], m["gpus/0/memory_total_bytes"]["status"])')" "(None, 'unsupported')"

scene full crash
is "a crash costs one collector" "$(get '(g["status"], m["gpus"]["status"], c["os"]["status"])')" "('error', 'error', 'ok')"
like "and is named" "$(get 'g["errors"][0]')" 'SIGSEGV'
scene full crash-at-end
is "a crash at the end loses nothing" "$(get '(g["status"], len(gpus))')" "('error', 1)"
# a library of another version than the driver: both are recorded, and a run goes on; a tool on PATH that fails is not asked
cat > inside << 'EOF'
mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia || exit 77
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023" > /proc/driver/nvidia/version
exec "$@"
EOF
mkdir bin
printf '#!/bin/sh\necho "Failed to initialize NVML: Driver/library version mismatch"; touch "%s/asked"; exit 18\n' "$T" > bin/nvidia-smi
chmod +x bin/nvidia-smi
if unshare -m sh inside true 2> /dev/null; then
    LD_LIBRARY_PATH=$lib/full/.libs IB_FAKE_NVML_SCENE=$IB_SRCDIR/tests/fake-nvml/scenes/two-gpus.txt unshare -m sh inside \
        ib-capture --only gpu_nvidia,os > "$T/c.json" 2> "$T/c.err"
    like "the driver's version, from its file" "$(get 'd["driver_file"]')" "535\.104\.05"
    is "and the library's" "$(get 'd["driver_version"]')" 550.54.15
    PATH=$T/bin:$PATH LD_LIBRARY_PATH=$lib/full/.libs IB_FAKE_NVML_SCENE=$IB_SRCDIR/tests/fake-nvml/scenes/init-mismatch.txt \
        status 0 "a run where the library cannot start" unshare -m sh inside ib-run -q -C study -- true
    cp study/captures/*.json c.json
    is "its capture holds the error and the driver's version" "$(get '(d["init"]["text"], "535" in d["driver_file"], d["gpus"])')" "('Driver/library version mismatch', True, None)"
    ok "nvidia-smi was not asked" test ! -e asked
    ok "verify takes the run" ib-verify study
else
    skip "the driver's version beside the library's" "mounts of its own are not permitted here"
fi
start=$(date +%s)
scene full hang
is "a hang costs one collector" "$(get '(g["status"], m["gpus"]["status"], c["os"]["status"])')" "('timeout', 'timeout', 'ok')"
ok "and at most its limit" test $(($(date +%s) - start)) -lt 30
done_testing
