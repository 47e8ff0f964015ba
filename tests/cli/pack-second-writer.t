#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The independent writer and reader in Python: it takes our packets, we take its packets, and both write the same but for VERIFY.md, the name of the tool
# and what follows from these two.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pack.sh"
cd "$T" || exit 99
for key in ed25519 p256; do
    # shellcheck disable=SC2046
    ib-pack --new-key $key $([ $key = p256 ] && echo --p256) > /dev/null
done
make_study study || skip_all "no study"
mkdir -p "study/analysis/$(printf '%0120d' 0)" study/report
echo text > "study/analysis/$(printf '%0120d' 0)/$(printf '\303\274-\346\270\254%0100d' 1).txt"
echo '<p>synthetic</p>' > study/report/index.html
for key in ed25519 p256; do
    ok "$key: ours" ib-pack -C study --key $key.pem -o ours-$key.tar
    ok "$key: the other reader takes it" python3 "$ORACLE" check ours-$key.tar --trust $key.pub.pem
    top=$(tar tf ours-$key.tar | head -n 1 | cut -d/ -f1)
    secs=$(python3 -c 'import sys, tarfile; print(tarfile.open(sys.argv[1]).next().mtime)' ours-$key.tar)
    ok "$key: the other writer's" python3 "$ORACLE" write study --key $key.pem --seal-time "$secs" --name "$top" -o theirs-$key.tar
    status 0 "$key: we take it" ib-verify --trust $key.pub.pem theirs-$key.tar
    ok "$key: the same members, and the same bytes but where it must differ" python3 - ours-$key.tar theirs-$key.tar <<'PY'
import base64, hashlib, json, sys, tarfile
a, b = (tarfile.open(p) for p in sys.argv[1:])
ma, mb = a.getmembers(), b.getmembers()
assert [(m.name, m.mode, m.mtime, m.uid, m.gid, m.type, m.pax_headers) for m in ma] == [(m.name, m.mode, m.mtime, m.uid, m.gid, m.type, m.pax_headers) for m in mb]
assert any(m.pax_headers for m in ma)
differ, texts = [], {}
for x, y in zip(ma, mb):
    p, q = a.extractfile(x).read(), b.extractfile(y).read()
    name = x.name.split("/", 1)[1]
    texts[name] = p, q
    if p != q:
        differ.append(name)
assert differ == ["VERIFY.md", "tagmanifest-sha256.txt", "signatures/1.sigstore.json"], differ
la, lb = (t.splitlines() for t in texts["tagmanifest-sha256.txt"])
assert [x for x, y in zip(la, lb) if x != y] == [x for x in la if x.endswith(b"  VERIFY.md")]
sa, sb = (json.loads(base64.b64decode(json.loads(t)["dsseEnvelope"]["payload"])) for t in texts["signatures/1.sigstore.json"])
assert sa["predicate"].pop("tool") != sb["predicate"].pop("tool")
assert sa["subject"][0] != sb["subject"][0]
sa["subject"][0] = sb["subject"][0]
assert list(sa) == list(sb) and json.dumps(sa) == json.dumps(sb)
PY
done
ib-pack -C study --key ed25519.pem -o ours.tar.zst > /dev/null
ok "the other reader takes our frame" python3 "$ORACLE" check ours.tar.zst --trust ed25519.pub.pem
for level in 1 19; do
    zstd -$level --check --no-content-size --zstd=wlog=23 -cq < ours-ed25519.tar > z$level.tar.zst
    status 0 "we take zstd -$level" ib-verify --trust ed25519.pub.pem z$level.tar.zst
done
zstd -3 --check -cq ours-ed25519.tar > sized.tar.zst
status 4 "but not a frame of another form" ib-verify --trust ed25519.pub.pem sized.tar.zst
done_testing
