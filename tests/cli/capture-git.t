#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The git collector: what counts as dirty, a digest that others can compute, no hook, no filter, no user configuration, no foreign repository.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99
command -v git > /dev/null || skip_all "git is not installed"
export GIT_CONFIG_GLOBAL="$T/gitconfig" GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git config --file gitconfig protocol.file.allow always

get() { ib-capture --only git | python3 -c '
import json, sys
g = json.load(sys.stdin)["collectors"]["git"]
d, m = g["data"], g["missing"]
print(eval(sys.argv[1]))' "$1"; }

mkdir none && cd none || exit 99
is "no repository is absent" "$(get '(d["repository"], m["repository"]["status"], g["status"])')" "(None, 'absent', 'ok')"
cd .. && git init -q -b main repo && cd repo || exit 99
is "no commit yet" "$(get '(d["repository"], d["commit"], m["commit"]["status"])')" "('worktree', None, 'absent')"
echo one > a && echo two > b && mkdir sub && echo three > sub/c && git add . && git commit -q -m first
is "the commit and branch" "$(get '(d["commit"], d["branch"])')" "('$(git rev-parse HEAD)', 'main')"
is "clean" "$(get '(d["dirty"], d["changed_files"], d["untracked_files"])')" "(False, 0, 0)"
is "the digest of nothing" "$(get 'd["dirty_sha256"]')" "$(printf '' | sha256sum | cut -d' ' -f1)"

echo changed > a; rm b; echo new > sub/d; ln -s target link; echo run > tool; chmod +x tool; echo sub/ignored > .gitignore; echo x > sub/ignored
git add .gitignore; git commit -q -m second
h() { sha256sum < "$1" | cut -d' ' -f1; }
want=$({
    echo "100644 $(h a) a"
    echo "000000 $(printf '%064d' 0) b"
    echo "100644 $(h sub/d) sub/d"
    echo "120000 $(printf target | sha256sum | cut -d' ' -f1) link"
    echo "100755 $(h tool) tool"
} | LC_ALL=C sort | sha256sum | cut -d' ' -f1)
is "changed, deleted, untracked, link and program" "$(get '(d["dirty"], d["changed_files"], d["untracked_files"])')" "(True, 2, 3)"
is "the digest, as anybody computes it" "$(get 'd["dirty_sha256"]')" "$want"
cd sub || exit 99
is "also from a subdirectory" "$(get 'd["dirty_sha256"]')" "$want"
cd ..

# nothing of the repository is executed
printf '#!/bin/sh\ntouch "%s/executed"\n' "$T" > "$T/evil"; chmod +x "$T/evil"
for hook in post-index-change fsmonitor-watchman post-checkout reference-transaction; do cp "$T/evil" ".git/hooks/$hook"; done
git config core.fsmonitor "$T/evil"; git config filter.evil.clean "$T/evil"; git config core.sshCommand "$T/evil"; git config diff.external "$T/evil"
echo '* filter=evil' > .gitattributes
get 'd["commit"]' > /dev/null
ok "no hook, filter or helper runs" test ! -e "$T/executed"
rm .gitattributes

# a large file by pointer: as committed when the content has the pointer's digest
printf 'weights' > big
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 7\n' "$(h big)" > pointer
mv big content; mv pointer big; git add big; git commit -q -m lfs; mv content big; touch -d '1 hour ago' big
before=$(get 'd["changed_files"]')
is "content that its pointer names is unchanged" "$before" 2
echo other > big
is "other content is not" "$(get 'd["changed_files"]')" 3

git init -q "$T/inner" && (cd "$T/inner" && echo x > y && git add y && git commit -q -m inner)
git submodule --quiet add "$T/inner" module 2>/dev/null
git commit -q -m module
is "submodules with their commits" "$(get '[(x["path"], x["commit"] == x["checked_out"]) for x in d["submodules"]]')" "[('module', True)]"
git submodule --quiet deinit -f module
is "one that is not checked out says so" "$(get '[(x["commit"] is not None, x["checked_out"]) for x in d["submodules"]]')" "[(True, None)]"
git remote add origin ssh://me:pw1234@git.example.org/x.git
is "the remote without its user" "$(get 'd["remote"]')" "ssh://git.example.org/x.git"

if [ "$(id -u)" = 0 ]; then
    head=$(git rev-parse HEAD)
    chown -R 65534 "$T/repo/.git" "$T/repo"
    refused='(m["repository"]["status"], m["repository"]["errno"], m["dirty"]["status"], m["remote"]["status"], g["status"])'
    is "somebody else's repository is refused" "$(get "$refused")" "('denied', 'EPERM', 'denied', 'denied', 'ok')"
    is "its HEAD is read from files" "$(get '(d["commit"], d["branch"], d["repository"])')" "('$head', 'main', None)"
    printf '# pack-refs with: peeled\n%s refs/heads/other\n%s refs/heads/main\n' "$(printf '%040d' 1)" "$head" > "$T/repo/.git/packed-refs"
    mv "$T/repo/.git/refs/heads/main" "$T/ref-main"
    is "also from packed references" "$(get 'd["commit"]')" "$head"
    printf 'ref: refs/heads/../../../../secret\n' > "$T/repo/.git/HEAD"; printf '%064d\n' 7 > "$T/secret"
    is "no reference leads out of the repository" "$(get '(d["commit"], m["commit"]["status"])')" "(None, 'denied')"
    rm -rf "$T/repo/.git/refs/heads"; mkdir "$T/out"; cp "$T/secret" "$T/out/main"; ln -s "$T/out" "$T/repo/.git/refs/heads"
    rm "$T/repo/.git/packed-refs"; printf 'ref: refs/heads/main\n' > "$T/repo/.git/HEAD"
    is "nor does a link" "$(get '(d["commit"], d["branch"])')" "(None, 'main')"
    printf '%s\n' "$head" > "$T/repo/.git/HEAD"
    is "a detached HEAD" "$(get '(d["commit"], d["branch"], m["branch"]["status"])')" "('$head', None, 'denied')"
    head -c 100 /dev/zero > "$T/repo/.git/HEAD"
    is "what is no HEAD is none" "$(get '(d["commit"], g["status"])')" "(None, 'ok')"
    printf '%s\n' "$head" > "$T/repo/.git/HEAD"
    printf '[safe]\n\tdirectory = *\n' > "$T/.gitconfig"
    is "whatever the user's configuration says" "$(HOME=$T get 'm["repository"]["status"]')" denied
    ok "no configuration was changed" sh -c '! grep -q safe "$1/gitconfig" && test "$(grep -c directory "$1/.gitconfig")" = 1' sh "$T"
    chown -R 0 "$T/repo"
else
    skip "somebody else's repository is refused" "only root can make one"
fi
done_testing
