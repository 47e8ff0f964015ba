#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Captures of other machines through launchers that behave, greet, hang, babble, fail and give up; none of them stops the plan.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
mkdir bin tmp
TMPDIR=$T/tmp && export TMPDIR
launcher() { printf '#!/bin/sh\nshift\n%s\n' "$2" > "bin/$1"; chmod +x "bin/$1"; }
# shellcheck disable=SC2016
{
    launcher on 'exec env -i PATH="$PATH" TMPDIR="$TMPDIR" NCCL_DEBUG=INFO "$@"'
    launcher greets 'printf "Welcome to the cluster\r\nToday: soup\n"; echo "a warning" >&2; exec env -i PATH="$PATH" TMPDIR="$TMPDIR" "$@"'
    launcher hangs 'exec sleep 300'
    launcher stubborn 'trap "" TERM INT HUP; sleep 300; sleep 300'
    launcher babbles 'head -c 3000000 /dev/zero | tr "\0" y; exit 0'
    launcher fails 'echo "ssh: connect to host very-private-host port 22: refused" >&2; exit 255'
    launcher endless 'while :; do echo "a line of a log that does not end" >&2; done'
    launcher stops 'env -i PATH="$PATH" TMPDIR="$TMPDIR" "$@" | head -c 20000'
    launcher leaves 'env -i PATH="$PATH" TMPDIR="$TMPDIR" "$@"; sleep 300 < /dev/null > /dev/null 2>&1 & exit 0'
    launcher late 'env -i PATH="$PATH" TMPDIR="$TMPDIR" "$@"; exit 3'
    launcher secret 'echo "token hf_abcdefghijklmnopqrstuvwxyzabcdef" >&2; exit 1'
    launcher lies 'printf "ib-record-node 1\n"; cd "$T" && tar -cf - link; exit 0'
}
ln -s /etc link
PATH=$T/bin:$PATH
mkdir study
cat > study/contract.yaml << EOF
study: study
nodes:
  - {name: good, launch: [on, n1]}
  - {name: greeting, launch: [greets, n2]}
  - {name: installed, launch: [on, n3], recorder: installed}
  - {name: hanging, launch: [hangs, n4], timeout: 2s}
  - {name: stubborn, launch: [stubborn, n5], timeout: 2s}
  - {name: babbling, launch: [babbles, n6]}
  - {name: failing, launch: [fails, "\${env:NODE}"]}
  - {name: endless, launch: [endless, n8], timeout: 2s}
  - {name: stopping, launch: [stops, n9]}
  - {name: leaving, launch: [leaves, n10]}
  - {name: late, launch: [late, n11]}
  - {name: secret, launch: [secret, n12]}
  - {name: lying, launch: [lies, n13]}
  - {name: missing, launch: ["no such launcher", n14]}
  - {name: nothing, launch: ["true", n15]}
groups:
  - name: g
    repeats: 2
    command: [echo, done]
EOF
export T
start=$(date +%s)
NODE=secret-node-name status 0 "the plan is carried out" ib-run --plan study/contract.yaml
cp "$T/.err" said
is "all nodes are asked at the same time" "$([ $(($(date +%s) - start)) -lt 40 ] && echo together)" together
nodes() {
    python3 -c '
import glob, json, sys
for p in sorted(glob.glob("study/runs/*/record.json")):
    r = json.load(open(p))
    print(sys.argv[1] == "all" and r["state"] or "", *(n["name"] + " " + n["status"] + ((": " + n["why"]) if n["why"] else "") for n in r["nodes"]), sep="\n")' "$1"
}
want="good ok
greeting ok
installed ok
hanging timeout: no answer within 2 s
stubborn timeout: no answer within 2 s
babbling error: the archive is refused at byte 0: there is none, neither a tar header nor the recorder's first line
failing error: the launcher ended with status 255
endless timeout: no answer within 2 s
stopping error: the archive is refused at byte N, 'X': it is cut off
leaving ok
late ok
secret error: the launcher ended with status 1
lying error: the archive is refused at byte 529, 'link': neither a file nor a directory: a recorded machine has no links and no devices
missing error: cannot execute 'no such launcher': No such file or directory
nothing error: the archive is refused at byte 0: there is none, not a byte"
is "every run tells what came of each node" "$(nodes all | sed "s#byte [0-9]*\(, '[^']*'\)*: it is cut#byte N, 'X': it is cut#")" "completed
$want
completed
$want"
like "the terminal hears what a launcher said" "$(cat said)" "no capture of node 'failing': .*launcher said: ssh: connect to host"
ok "but no record does, nor what came from the environment" sh -c '! grep -rq "very-private-host\|secret-node-name" study'
ok "and no secret reaches the terminal" sh -c '! grep -q hf_abc said && grep -q "redacted:" said'
ok "captures are in the study, by their digest, in record and ledger" python3 -c '
import glob, hashlib, json
finish = [json.loads(l) for l in open("study/ledger.jsonl") if "\"finish\"" in l]
assert len(finish) == 2
for f in finish:
    r = json.load(open("study/runs/" + f["run"] + "/record.json"))
    got = [n["capture"] for n in r["nodes"] if n["capture"]]
    assert len(got) == len(set(got)) == 5 and set(got) <= set(f["captures"]), (got, f)
    for n in r["nodes"]:
        if not n["capture"]: continue
        b = open("study/captures/" + n["capture"] + ".json", "rb").read()
        assert hashlib.sha256(b).hexdigest() == n["capture"]
        c = json.loads(b)
        assert c["source"] == "recorded" and c["node"] == n["node"] and c["collectors"]["cpu"]["data"]["models"]
    good, greeting = (json.load(open("study/captures/%s.json" % n["capture"])) for n in r["nodes"][:2])
    assert good["node"] == greeting["node"] == json.load(open("study/captures/%s.json" % r["captures"]["node"]))["node"]
    assert good["collectors"]["environment"]["data"]["values"] == {"NCCL_DEBUG": "INFO"}
    assert greeting["collectors"]["environment"]["data"]["values"] == {}'
is "each node was asked once for both runs" "$(find study/captures -name '*.json' | wc -l)" 6
is "nothing is left in temporary directories" "$(ls -A tmp)" ""
is "no launcher lives on, but for what one left behind on purpose" "$(pgrep -f "$T/bin" | wc -l)" 0
for p in $(pgrep -x sleep); do # the one that "leaves" left
    cat "/proc/$p/environ" 2> /dev/null | tr '\0' '\n' | grep -qxF "T=$T" && kill "$p" 2> /dev/null
done
ib-verify study > verdict 2>&1
like "ib-verify finds the study in order" "$(cat verdict)" '^(HOLDS|NUMBERS)'
ok "so does S10" sh -c 'ib-verify --json study | python3 -c "
import json, sys
f = [f for f in json.load(sys.stdin)[\"findings\"] if f[\"id\"] == \"S10\"]
assert f and all(x[\"status\"] == \"pass\" for x in f), f"'
if python3 -c 'import jsonschema' 2> /dev/null; then
    ok "records fit the schema" python3 -c '
import glob, json, jsonschema, sys
s = json.load(open(sys.argv[1]))
for p in glob.glob("study/runs/*/record.json"):
    jsonschema.Draft202012Validator(s).validate(json.load(open(p)))' "$IB_SRCDIR/schemas/record-v1.schema.json"
else
    skip "records fit the schema" "python3-jsonschema is not installed"
fi
cp -r study gone && chmod -R u+w gone
rm "gone/captures/$(python3 -c 'import glob, json; print(json.load(open(glob.glob("study/runs/*/record.json")[0]))["nodes"][0]["capture"])').json"
status 1 "a capture that is missing is seen" ib-verify gone
cp -r study bent && chmod -R u+w bent
f=bent/captures/$(python3 -c 'import glob, json; print(json.load(open(glob.glob("study/runs/*/record.json")[0]))["nodes"][1]["capture"])').json
sed -i 's/"source": "recorded"/"source": "live"/' "$f"
status 1 "so is one that was changed" ib-verify bent
ok "a packet has them" sh -c 'ib-pack --new-key k > /dev/null && ib-pack -C study --key k.pem -o p.tar.zst && ib-verify --trust k.pub.pem p.tar.zst > p.out; [ $? -le 1 ] && zstd -dcq p.tar.zst | tar tf - | grep -c "/captures/.*json" | grep -qx 6'

# resumed by another process, they are asked again; without captures they are not
sed -i 's/repeats: 2/repeats: 3/' study/contract.yaml
grep -v 'hangs\|stubborn\|endless' study/contract.yaml > c && cp c study/contract.yaml
NODE=x status 0 "a plan that goes on" ib-run -q --plan study/contract.yaml --amend --reason "one more"
is "asks the nodes again" "$(find study/captures -name '*.json' | wc -l)" 12
for p in $(pgrep -x sleep); do
    cat "/proc/$p/environ" 2> /dev/null | tr '\0' '\n' | grep -qxF "T=$T" && kill "$p" 2> /dev/null
done
mkdir none && cp study/contract.yaml none/ && sed -i 's/^study: study/study: none/; s/repeats: 3/repeats: 1/' none/contract.yaml
NODE=x status 0 "without captures" ib-run -q --no-capture --plan none/contract.yaml
is "no node is asked" "$(grep -h '"nodes"' none/runs/*/record.json | tr -d ' ,')" '"nodes":null'

# a signal while nodes are asked
mkdir int && printf 'study: int\nnodes:\n  - {name: slow, launch: [hangs, n], timeout: 300s}\ngroups:\n  - {name: g, repeats: 1, command: [echo, x]}\n' > int/contract.yaml
ib-run --plan int/contract.yaml > int.out 2>&1 &
pid=$!
i=0
while ! pgrep -P $pid -x sleep > /dev/null && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
start=$(date +%s)
kill -TERM $pid
wait $pid
is "a signal ends the asking" "$([ $(($(date +%s) - start)) -lt 20 ] && echo soon; grep -h '"state"' int/runs/*/record.json | tr -d ' ,')" 'soon
"state":"interrupted"'

# many nodes
mkdir many && { echo "study: many"; echo "nodes:"; for i in $(seq 40); do echo "  - {name: n$i, launch: [fails, n$i]}"; done
    printf 'groups:\n  - {name: g, repeats: 1, command: [echo, x]}\n'; } > many/contract.yaml
status 0 "forty nodes" ib-run -q --plan many/contract.yaml
is "are forty answers" "$(grep -c 'the launcher ended with status 255"' many/runs/*/record.json)" 80
done_testing
