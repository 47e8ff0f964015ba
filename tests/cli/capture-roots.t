#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Recorded roots: a recording repeats the capture leaf by leaf; no link leads out of a root; documents fit their schema.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

leaves() {
    python3 -c '
import json, sys
c = json.load(open(sys.argv[1]))
print(c["node"], c["boot"], c["stable_sha256"], json.dumps({k: (v["data"], v["missing"]) for k, v in c["collectors"].items()}, sort_keys=True))' "$1"
}
ok "record this machine" ib-capture --record machine -o a.json
ok "repeat from the recording" ib-capture --root machine -o b.json
is "every leaf is the same" "$(leaves b.json)" "$(leaves a.json)"
is "but for where it came from" "$(grep -h '"source"' a.json b.json | tr -d ' ,\n')" '"source":"live""source":"recorded"'
ok "another key changes nothing that was recorded" env XDG_STATE_HOME="$T/state" ib-capture --root machine -o c.json
is "every leaf is still the same" "$(leaves c.json)" "$(leaves a.json)"
ok "the machine's identity is not in the copy" test ! -e machine/etc/machine-id -a ! -e machine/proc/sys/kernel/random/boot_id
status 2 "a recording needs a new directory" ib-capture --record machine

cp -r "$IB_SRCDIR/tests/data/roots/two-socket" root
chmod -R u+w root
ok "a made-up root" ib-capture --root root -o d.json
ok "nothing of this machine in it" python3 -c '
import json
c = json.load(open("d.json"))["collectors"]
assert c["kernel"]["data"]["release"] is None and c["environment"]["data"]["values"] is None and c["git"]["data"]["repository"] is None
assert c["topology"]["data"]["packages"] == 2 and c["cpu"]["data"]["models"][0]["model_name"] == "Made Up CPU 7000"'

# what leads out of the root
echo 'ID=outside' > outside
rm root/etc/os-release
ln -s "$T/outside" root/etc/os-release
ok "an absolute link" ib-capture --root root --only os -o e.json
ok "stays inside: absent" grep -q '"id": null' e.json
ln -sf ../../../outside root/etc/os-release
ok "a link up" ib-capture --root root --only os -o f.json
ok "stays inside: absent, too" grep -q '"id": null' f.json
echo 'ID=inside' > root/outside
ok "but links work" ib-capture --root root --only os -o g.json
ok "inside" grep -q '"id": "inside"' g.json
for d in cpu node; do
    mv root/sys/devices/system/$d "$T/$d-out"
    ln -s "$T/$d-out" root/sys/devices/system/$d
done
ok "topology over links out of the root" ib-capture --root root --only topology --store . 
ok "does not see what is there" sh -c '! grep -q "\"packages\": 2" captures/*.json'

# the same where neither chroot nor a user namespace is allowed: then nothing outside of the root can be read
cp "$IB_BUILDDIR/ib-capture" . && chmod -R a+rX "$T"
blocked='echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all -- sh -c "! chroot / true 2>/dev/null && ! unshare -U true 2>/dev/null && $0"'
nobody() { setpriv --reuid=65534 --clear-groups env HOME=/nonexistent XDG_STATE_HOME=/nonexistent unshare -r sh -c "$blocked" "$1"; }
if [ "$(id -u)" = 0 ] && nobody true 2> /dev/null; then
    nobody "$T/ib-capture --root $T/root --only topology" > blocked.json 2> /dev/null
    ok "without chroot, too" sh -c 'grep -q "\"topology\": {" blocked.json && ! grep -q "\"packages\": 2" blocked.json'
else
    skip "without chroot, too" "this needs root and user namespaces"
fi
mkfifo root/proc/fifo && rm root/proc/meminfo && ln -s fifo root/proc/meminfo
ok "a FIFO in place of a file does not hang" timeout 20 ib-capture --root root --only memory -o h.json
ok "and is no value" grep -q '"status": "unsupported"' h.json
echo '{"schema": "urn:ibtools:replay:v1", "answers": {"uname": 5, "libc": {}, "nvml": [], "git": {"data": {"x": 1}, "missing": 3}}, "facts": {}, "identity": 1}' > root/ib-replay.json
ok "odd answers are survived" ib-capture --root root -o i.json
echo '{"schema": "urn:ibtools:replay:v1", "facts": {"/proc/stat": 1}}' > root/ib-replay.json
status 4 "a broken replay file is an error" ib-capture --root root
echo '{' > root/ib-replay.json
status 4 "so is one that is no JSON" ib-capture --root root
status 3 "and a root that is not there" ib-capture --root nowhere

if python3 -c 'import jsonschema' 2>/dev/null; then
    for f in a b d g h; do
        ok "$f.json fits the schema" python3 -c '
import json, jsonschema, sys
s = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(s)
jsonschema.Draft202012Validator(s).validate(json.load(open(sys.argv[2])))' "$IB_SRCDIR/schemas/capture-v1.schema.json" "$f.json"
    done
else
    skip "documents fit the schema" "python3-jsonschema is not installed"
fi
done_testing
