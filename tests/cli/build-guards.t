#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What guards the source can say no: banned functions, style, layers, manual pages, needed libraries, and the main of the unit tests.
. "$(dirname "$0")/lib.sh"
CC=${CC:-cc}
cd "$T" || exit 99

# banned functions
for call in 'strcpy(a, "x")' 'sprintf(a, "x")' 'atoi("1")' 'system("true")' 'popen("true", "r")' 'strtok(a, "x")'; do
    printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nvoid f(char *a);\nvoid f(char *a) { (void)a; (void)%s; }\n' "$call" > banned.c
    status 1 "$call does not compile" sh -c "$CC -include '$IB_SRCDIR/src/base/banned.h' -c banned.c -o banned.o || exit 1"
done
printf '#include <stdio.h>\nint f(char *a);\nint f(char *a) { return snprintf(a, 2, "x"); }\n' > good.c
ok "what is not banned does" sh -c "$CC -include '$IB_SRCDIR/src/base/banned.h' -c good.c -o good.o"

# a tree in which one thing is wrong
fresh() {
    rm -rf tree
    mkdir -p tree/src/base tree/src/json tree/collectors tree/examples tree/include tree/schemas tree/man
    cp -r "$IB_SRCDIR/build-aux" tree/
    printf '/* SPDX-License-Identifier: Apache-2.0 */\nint f(void);\n' > tree/src/base/a.h
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n#include "base/a.h"\nint f(void)\n{\n\treturn 0;\n}\n' > tree/src/base/a.c
    cp tree/src/base/a.c tree/examples/a.c
    cp tree/src/base/a.c tree/collectors/a.c
    : > tree/README.md
}
style() { env IB_SRCDIR="$T/tree" sh tree/build-aux/check-style.sh > said 2>&1; }
layers() { env IB_SRCDIR="$T/tree" sh tree/build-aux/check-layers.sh > said 2>&1; }
wrong() { # NAME CHECK NUMBER
    $2
    is "$1: status 1" $? 1
    is "$1: it is named" "$(grep -c "^not ok $3 " said)" 1
}
fresh
ok "a good tree: style" style
ok "a good tree: layers" layers
sed -i 1d tree/src/base/a.c
wrong "no SPDX line" style 1
fresh
awk 'BEGIN { for (i = 0; i < 500; i++) print "/* */" }' >> tree/src/base/a.c
wrong "a file of 506 lines" style 2
fresh
printf '/* %0170d */\n' 1 >> tree/src/base/a.c
wrong "a line of 176 columns" style 3
if command -v pmccabe > /dev/null; then
    fresh
    { echo 'int g(int x)'; echo '{'; for i in $(seq 16); do echo "	if (x == $i) x++;"; done; echo '	return x;'; echo '}'; } >> tree/src/base/a.c
    wrong "a function of complexity 17" style 4
    fresh
    { echo 'int g(int x)'; echo '{'; for i in $(seq 90); do echo "	x++;"; done; echo '	return x;'; echo '}'; } >> tree/src/base/a.c
    wrong "a function of 94 lines" style 4
else
    for i in 1 2 3 4; do skip "long functions $i" "pmccabe is not installed"; done
fi
fresh
sed -i 's/return 0/return -1/' tree/src/base/a.c
wrong "a negative not made by ib_fail" style 5
fresh
word=$(grep -vE '^(#|$|.*[][\\.*(|?])' "$IB_SRCDIR/build-aux/badwords.txt" | head -n 1)
echo "/* $word */" >> tree/src/base/a.c
wrong "a word that the project does not use ($word)" style 6
fresh
sed -i 's|base/a.h|json/a.h|' tree/src/base/a.c
wrong "base includes json" layers 1
fresh
sed -i 's|"base/a.h"|<jansson.h>|' tree/src/base/a.c
wrong "jansson outside its home" layers 2

# the main of the unit tests
cat > test_none.c <<'END2'
#include "unit.h"
static void fails(void) { CU_ASSERT_EQUAL(1, 2); }
static void passes(void) { CU_ASSERT_EQUAL(1, 1); }
static const struct ib_test tests[] = {IB_TEST(passes), IB_TEST(WHICH), {0}};
const struct ib_test_suite ib_suite = {"none", tests};
END2
unit() { $CC -D_GNU_SOURCE -I"$IB_SRCDIR/tests/unit" -I"$IB_SRCDIR/src" -I"$IB_SRCDIR" -DWHICH="$1" -o "unit-$1" test_none.c "$IB_SRCDIR/tests/unit/unit.c" -lcunit; }
if printf '#include <CUnit/CUnit.h>\nint main(void) { return 0; }\n' | $CC -x c - -o has-cunit -lcunit 2> /dev/null; then
    unit passes 2> said || cat said
    unit fails 2> said || cat said
    status 0 "unit tests that pass" ./unit-passes
    status 1 "a unit test that fails makes its program fail" ./unit-fails
    like "and is named" "$(cat .out)" "^not ok 2 "
else
    for i in 1 2 3; do skip "unit tests $i" "CUnit is not installed"; done
fi
# every test that the list of scenarios names is there
named=$(grep -o '`[a-z]*/[a-z0-9_-]*\.[tc]`' "$IB_SRCDIR/tests/SCENARIOS.md" | tr -d '`' | sort -u)
ok "the list of scenarios names tests" test "$(printf '%s\n' "$named" | wc -l)" -ge 15
is "each of them is there" "$(for f in $named; do [ -f "$IB_SRCDIR/tests/$f" ] || echo "$f"; done)" ""
done_testing
