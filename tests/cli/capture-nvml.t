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
start=$(date +%s)
scene full hang
is "a hang costs one collector" "$(get '(g["status"], m["gpus"]["status"], c["os"]["status"])')" "('timeout', 'timeout', 'ok')"
ok "and at most its limit" test $(($(date +%s) - start)) -lt 30
done_testing
