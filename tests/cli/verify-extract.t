#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ib-verify --extract: the files of an intact packet, whole in a new directory, or nothing at all, whatever happens on the way.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
command -v zstd > /dev/null || skip_all "zstd is not installed"
cd "$T" || exit 99
# a study with deep names, an executable, an empty file and a large one
cat > work << 'EOF'
cd "$IB_OUTPUT_DIR" || exit 1
deep=$(printf 'd/%.0s' $(seq 50))
mkdir -p "$deep" && echo deep > "${deep}file"
echo '#!/bin/sh' > tool && chmod +x tool
: > empty
head -c 3000000 /dev/zero > large
echo "a name" > "na me é"
EOF
ib-run --no-capture -q -C study -- bash ./work
ib-pack --new-key k > /dev/null 2>&1
ok "a packet" ib-pack -C study --key k.pem -o p.tar.zst
ok "the same without zstd" ib-pack -C study --key k.pem -o p.tar
mkdir plain && zstd -dcq p.tar.zst | tar -xf - -C plain --strip-components=1

# clean NAME: nothing of an extraction is left
clean() {
    is "$1: nothing is left" "$(find . -maxdepth 1 -name '.ib-*' -o -maxdepth 1 -name 'out*' | tr '\n' ' ')" ""
    chmod -R u+w .ib-* out* 2> /dev/null
    rm -rf .ib-* out*
}
tree() { (cd "$1" && find . -type f -printf '%m %s %p\n' | sort && find . -type f -exec sha256sum {} + | sort); }

for p in p.tar p.tar.zst; do
    ok "$p is extracted" ib-verify --trust k.pub.pem --extract out $p
    is "$p: as tar extracts it, modes too" "$(tree out)" "$(tree plain)"
    is "$p: directories are 0755" "$(find out -type d ! -perm 0755)" ""
    rm -rf out
done
ok "into another directory, whose name ends with a slash" ib-verify -q --trust k.pub.pem -x ./plain/../out/ p.tar
is "it is there" "$(tree out)" "$(tree plain)"
ok "its study holds" ib-verify -q out/data
status 2 "a directory that exists is left alone" ib-verify -x out --trust k.pub.pem p.tar
like "said so" "$(cat .err)" "'out' exists"
rm -rf out
for what in "ln -s nowhere out" "ln -s plain out" "touch out" "mkdir out"; do
    sh -c "$what"
    status 2 "the target is there ($what)" ib-verify -x out --trust k.pub.pem p.tar
    is "it is what it was" "$(find out -maxdepth 0 -printf '%y%l')" "$(case $what in *nowhere*) echo lnowhere ;; ln*) echo lplain ;; touch*) echo f ;; *) echo d ;; esac)"
    is "and empty" "$(find out -mindepth 1; cat out 2> /dev/null)" ""
    rm -rf out
done
status 3 "no directory to make it in" ib-verify -x nowhere/out --trust k.pub.pem p.tar
status 2 "no name" ib-verify -x .. --trust k.pub.pem p.tar
status 2 "a study is not extracted" ib-verify -x out study
clean "a study"
status 2 "together with --requests" ib-verify -x out --requests r.csv p.tar

status 3 "whose key nobody gave: intact, so extracted, undecided all the same" ib-verify -x out p.tar
is "it is there then" "$(tree out)" "$(tree plain)"
rm -rf out
size=$(stat -c %s p.tar)
for at in 300 3000 $((size / 2)) $((size - 1200)); do
    cp p.tar bad.tar
    printf '\377' | dd of=bad.tar bs=1 seek="$at" conv=notrunc status=none
    ib-verify --trust k.pub.pem -x out bad.tar > .out 2> .err
    is "a byte changed at $at is refused" "$(($? == 0))" 0
    like "nothing was extracted" "$(cat .err)" "nothing was extracted to 'out': the packet is not intact"
    clean "a byte changed at $at"
done
head -c $((size - 2000)) p.tar > cut.tar
ib-verify --trust k.pub.pem -x out cut.tar > /dev/null 2>&1
is "a cut one is refused" $? 4
clean "a cut one"
printf x > not.tar
ib-verify -x out not.tar > /dev/null 2>&1
is "what is no packet is refused" $? 4
clean "what is no packet"

status 3 "a limit of the file size" sh -c 'ulimit -f 1000; exec ib-verify -q --trust k.pub.pem -x out p.tar'
like "is an error of writing" "$(cat .err)" "cannot write .*large.*File too large"
clean "a limit of the file size"
if unshare -rm true 2> /dev/null; then
    mkdir small
    # shellcheck disable=SC2016
    status 3 "a full file system" unshare -rm sh -c 'mount -t tmpfs -o size=2m none small && ib-verify -q --trust k.pub.pem -x small/out p.tar; r=$?; ls -A small > left; exit $r'
    like "is said" "$(cat .err)" "No space left on device"
    is "nothing is left on it" "$(cat left)" ""
else
    echo "# SKIP no user namespaces: a full file system is not tried"
fi

faults=$IB_BUILDDIR/tests/faults/.libs/libfaults.so
if nm -D "$(command -v ib-verify)" "$IB_BUILDDIR/.libs/ib-verify" 2> /dev/null | grep -q __asan_init; then
    echo "# SKIP a build with sanitizers: errors of single system calls are not tried"
    done_testing
fi
# faulty CALL KIND AT COMMAND…
faulty() {
    call=$1 kind=$2 at=$3
    shift 3
    env IB_FAULT_CALL="$call" IB_FAULT_KIND="$kind" IB_FAULT_AT="$at" LD_PRELOAD="$faults" "$@"
}
# Every call that can fail fails once, each error in its turn (5 EIO, 28 ENOSPC, 4 EINTR, 24 EMFILE): all of few, some of many.
for fault in write:5 write:28 write:4 write:short fsync:5 fsync:28 openat2:24 mkdirat:5 mkdirat:28 fchmod:5 renameat2:5 renameat2:28 close:5; do
    call=${fault%%:*} kind=${fault##*:}
    n=$(faulty "$call" "$kind" 0 ib-verify -q --trust k.pub.pem -x out p.tar 2>&1 | sed -n 's/^faults: //p')
    rm -rf out
    is "$call is called" "$((${n:-0} > 0))" 1
    for at in $(printf '%s\n' 1 2 3 $((n / 3)) $((n / 2)) $((n - 1)) "$n" | sort -nu); do
        if [ "$at" -lt 1 ] || [ "$at" -gt "$n" ]; then continue; fi
        faulty "$call" "$kind" "$at" ib-verify -q --trust k.pub.pem -x out p.tar > .out 2> .err
        rc=$?
        case $fault:$rc in
        write:4:0 | write:short:0 | close:*:0) # went on
            is "$fault at $at of $n, got over: the whole tree" "$(tree out)" "$(tree plain)"
            rm -rf out
            ;;
        write:4:* | write:short:*) is "$fault at $at of $n is got over" $rc 0 ;;
        *)
            is "$fault at $at of $n ends with 3" $rc 3
            like "with a message" "$(cat .err)" "^ib-verify: cannot "
            ;;
        esac
        clean "$fault at $at of $n"
    done
done
for end in INT:130 TERM:143 HUP:129; do
    signal=${end%%:*}
    env --default-signal=INT IB_FAULT_CALL=fsync IB_FAULT_KIND=wait IB_FAULT_AT=4 LD_PRELOAD="$faults" ib-verify -q --trust k.pub.pem -x out p.tar > .out 2> .err &
    pid=$!
    for _ in $(seq 100); do
        grep -q waiting .err && break
        sleep 0.05
    done
    kill -s "$signal" $pid
    wait $pid
    rc=$?
    is "SIG$signal on the way ends it" $rc ${end##*:}
    clean "SIG$signal on the way"
done
done_testing
