#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The installed library: exactly the symbols listed, no library beyond those of ib-verify, and the same verdicts through Python's ctypes.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
make=$IB_BUILDDIR/tests/unit/make_study
so=$IB_BUILDDIR/.libs/libibtools.so
[ -e "$so" ] || skip_all "no shared library was built"

if command -v nm > /dev/null; then
    is "exactly the listed symbols" "$(nm -D --defined-only "$so" | awk '$2 == "T" { print $3 }' | sort)" "$(cat "$IB_SRCDIR/src/verify/libibtools.sym")"
else
    skip "exactly the listed symbols" "nm is not installed"
fi
is "every symbol is in the header" "$(while read -r s; do grep -q "$s(" "$IB_SRCDIR/include/ib/verify.h" || echo "$s"; done < "$IB_SRCDIR/src/verify/libibtools.sym")" ""
if [ -n "$(nm -D "$so" 2> /dev/null | grep -w __asan_init)" ]; then
    skip "libraries" "built with sanitizers"
    skip "ctypes" "built with sanitizers"
    done_testing
fi
is "no other library is loaded" "$(LC_ALL=C readelf -d "$so" | sed -n 's/.*NEEDED.*\[\(lib[a-z0-9]*\).*/\1/p' | grep -vxE 'libcrypto|libjansson|libzstd|libz|libutf8proc|libm|libc')" ""
printf '#include <ib/verify.h>\n#include <ib/verify.h>\nint main(void) { return ibv_version() == 0; }\n' > "$T/a.c"
ok "the header stands alone" ${CC:-cc} -std=c99 -pedantic -Wall -Wextra -Werror -I"$IB_SRCDIR/include" -fsyntax-only "$T/a.c"
if ! command -v python3 > /dev/null; then
    skip "ctypes" "python3 is not installed"
    done_testing
fi
mkdir "$T/s"
"$make" "$T/s" 4
cat > "$T/t.py" << 'PY'
import ctypes as c, glob, json, sys
lib = c.CDLL(sys.argv[1])
class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("trust_files", c.POINTER(c.c_char_p)), ("n_trust_files", c.c_size_t), ("fingerprints", c.POINTER(c.c_char_p)),
                ("n_fingerprints", c.c_size_t), ("expect_head", c.c_char_p), ("unsigned_ok", c.c_int), ("strict", c.c_int)]
class Finding(c.Structure):
    _fields_ = [("id", c.c_char_p), ("level", c.c_char), ("status", c.c_int), ("class_name", c.c_char_p), ("file", c.c_char_p), ("where", c.c_char_p),
                ("expected", c.c_char_p), ("found", c.c_char_p), ("message", c.c_char_p)]
lib.ibv_verify.restype = c.c_void_p
lib.ibv_verify.argtypes = [c.c_char_p, c.POINTER(Options), c.c_char_p, c.c_size_t]
for f in (lib.ibv_json, lib.ibv_screen):
    f.restype, f.argtypes = c.c_char_p, [c.c_void_p]
lib.ibv_version.restype = c.c_char_p
lib.ibv_finding_count.restype, lib.ibv_finding_count.argtypes = c.c_size_t, [c.c_void_p]
lib.ibv_finding_get.argtypes = [c.c_void_p, c.c_size_t, c.POINTER(Finding)]
lib.ibv_ask.argtypes = [c.c_void_p, c.c_int]
lib.ibv_exit.argtypes = lib.ibv_free.argtypes = [c.c_void_p]
study = sys.argv[2]
why = c.create_string_buffer(200)
assert lib.ibv_verify(b"/nonexistent", None, why, 200) is None and b"/nonexistent" in why.value
v = lib.ibv_verify(study.encode(), None, why, 200)
assert v and lib.ibv_exit(v) == 0 and lib.ibv_ask(v, 0) == 1 and lib.ibv_ask(v, 1) == 2 and lib.ibv_ask(v, 99) == 0
doc = json.loads(lib.ibv_json(v))
assert doc["exit"] == 0 and len(doc["findings"]) == lib.ibv_finding_count(v)
assert lib.ibv_screen(v).startswith(b"HOLDS: study")
f = Finding()
assert lib.ibv_finding_get(v, 0, c.byref(f)) == 0 and f.id == b"S01" and f.level == b"E" and f.status == 1 and f.class_name is None
assert lib.ibv_finding_get(v, 10**6, c.byref(f)) == 1
head = doc["study"]["ledger_head"]
lib.ibv_free(v)
lib.ibv_free(None)
o = Options(size=c.sizeof(Options), expect_head=b"0" * 64)
v = lib.ibv_verify(study.encode(), c.byref(o), why, 200)
assert lib.ibv_exit(v) == 1
lib.ibv_free(v)
o.size = 8  # a caller that knows none of the options
v = lib.ibv_verify(study.encode(), c.byref(o), why, 200)
assert lib.ibv_exit(v) == 0
lib.ibv_free(v)
log = glob.glob(study + "/runs/*/stdout.log")[0]
open(log, "w").write("x")
v = lib.ibv_verify(study.encode(), None, why, 200)
found = []
for i in range(lib.ibv_finding_count(v)):
    lib.ibv_finding_get(v, i, c.byref(f))
    if f.status == 2:
        found.append((f.id, f.class_name, f.file.decode()))
assert lib.ibv_exit(v) == 1 and found == [(b"S07", b"E_HASH", log[len(study) + 1:])], found
lib.ibv_free(v)
PY
ok "verdicts through ctypes" python3 "$T/t.py" "$so" "$T/s"
done_testing
