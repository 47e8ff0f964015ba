dnl SPDX-License-Identifier: Apache-2.0
dnl Warnings, hardening, sanitizers, coverage, fuzzing: the few macros that ibtools needs.

dnl IB_TRY_FLAG(VARIABLE, FLAG): appends FLAG to VARIABLE if the compiler and linker take it without a warning.
AC_DEFUN([IB_TRY_FLAG], [
  AS_VAR_PUSHDEF([cache], [ib_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [cache], [
    ib_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])], [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    CFLAGS=$ib_save_CFLAGS])
  AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([cache])])

AC_DEFUN([IB_FLAGS], [
  IB_CFLAGS="-std=gnu11"
  m4_foreach_w([flag], [-Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith
    -Wwrite-strings -Wcast-qual -Wundef -Wvla -Walloca -Wimplicit-fallthrough -Wnull-dereference -Wlogical-op -Wduplicated-cond
    -Wduplicated-branches -Wno-missing-field-initializers -Wno-format-truncation], [IB_TRY_FLAG([IB_CFLAGS], flag)])
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make warnings errors])])
  AS_IF([test "x$enable_werror" = xyes], [IB_CFLAGS="$IB_CFLAGS -Werror"])
  IB_HARDEN=
  IB_LDFLAGS=
  AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening], [no stack protector, fortify, relro, PIE])])
  AS_IF([test "x$enable_hardening" != xno], [
    m4_foreach_w([flag], [-fstack-protector-strong -fstack-clash-protection -fcf-protection], [IB_TRY_FLAG([IB_HARDEN], flag)])
    AS_CASE([" $CFLAGS "], [*" -O0 "*], [], [*" -O"*], [IB_HARDEN="$IB_HARDEN -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3"])
    IB_TRY_FLAG([IB_LDFLAGS], [-Wl,-z,relro])
    IB_TRY_FLAG([IB_LDFLAGS], [-Wl,-z,now])
    IB_PIE_CFLAGS=-fPIE
    IB_PIE_LDFLAGS=-pie
  ])
  IB_TRY_FLAG([IB_LDFLAGS], [-Wl,--as-needed])
  AC_SUBST([IB_CFLAGS])
  AC_SUBST([IB_HARDEN])
  AC_SUBST([IB_LDFLAGS])
  AC_SUBST([IB_PIE_CFLAGS])
  AC_SUBST([IB_PIE_LDFLAGS])])

AC_DEFUN([IB_OPTION_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers], [build with address and undefined behaviour sanitizers])])
  AS_IF([test "x$enable_sanitizers" = xyes], [
    IB_HARDEN="$(echo " $IB_HARDEN " | sed 's/ -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 / /')"
    IB_CFLAGS="$IB_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    AC_DEFINE([IB_SANITIZED], [1], [built with sanitizers])])
  AM_CONDITIONAL([IB_SANITIZERS], [test "x$enable_sanitizers" = xyes])])

AC_DEFUN([IB_OPTION_SANDBOX], [
  AC_ARG_ENABLE([sandbox], [AS_HELP_STRING([--disable-sandbox], [no sandbox, for tools that must see each system call (valgrind)])])
  AS_IF([test "x$enable_sandbox" = xno], [AC_DEFINE([IB_NO_SANDBOX], [1], [built without the sandbox])])
  AC_ARG_ENABLE([strict-sandbox], [AS_HELP_STRING([--enable-strict-sandbox],
    [end ib-verify and ib-report at a system call that the sandbox does not list, instead of refusing the call])])
  AS_IF([test "x$enable_strict_sandbox" = xyes], [AC_DEFINE([IB_SANDBOX_KILLS], [1], [a system call off the list ends the process])])])

AC_DEFUN([IB_OPTION_COVERAGE], [
  AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [count executed lines (gcov)])])
  AS_IF([test "x$enable_coverage" = xyes], [IB_CFLAGS="$IB_CFLAGS --coverage"])])

AC_DEFUN([IB_OPTION_FUZZING], [
  AC_ARG_ENABLE([fuzzing], [AS_HELP_STRING([--enable-fuzzing], [build libFuzzer targets (needs clang)])])
  AS_IF([test "x$enable_fuzzing" = xyes], [
    IB_CFLAGS="$IB_CFLAGS -fsanitize=fuzzer-no-link"
    IB_FUZZ_LDFLAGS="-fsanitize=fuzzer"])
  AC_SUBST([IB_FUZZ_LDFLAGS])
  AM_CONDITIONAL([IB_FUZZING], [test "x$enable_fuzzing" = xyes])])
