/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox: descriptors, limits, no new privileges, Landlock, seccomp, in that order. The only file with headers that Linux alone has. */
#include "verify/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/auto.h"
#include "base/digest.h"
#include "json/json.h"

static void missing(struct ib_sandbox *s, const char *layer, const char *why)
{
	size_t n = strlen(s->missing);

	snprintf(s->missing + n, sizeof(s->missing) - n, "%s%s: %s", n ? "; " : "", layer, why);
}

#if defined(__linux__) && !defined(IB_SANITIZED) && !defined(IB_NO_SANDBOX)

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- what libraries do on first use --- */

static void prepare(void)
{
	char hex[IB_HEX_LEN];
	unsigned seed = 0;

	ib_sha256_of("", 0, hex);
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (unsigned)time(NULL);
	json_object_seed(seed | 1); /* otherwise it opens /dev/urandom when it makes its first object */
	tzset();
	mallopt(M_ARENA_MAX, 2); /* otherwise malloc() asks how many processors there are */
}

/* --- descriptors --- */

static void least(const int *fds, size_t n, unsigned from, unsigned *next)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0 && (unsigned)fds[i] >= from && (unsigned)fds[i] < *next)
			*next = (unsigned)fds[i];
}

static void close_others(const struct ib_sandbox_opts *o)
{
	for (unsigned from = 3, next = 0; next != UINT_MAX; from = next + 1) {
		next = UINT_MAX;
		least(o->keep, o->n_keep, from, &next);
		least(o->read, o->n_read, from, &next);
		least(&o->write, 1, from, &next);
		least(&o->rename, 1, from, &next);
		if (next > from)
			(void)syscall(SYS_close_range, from, next - 1, 0); /* before Linux 5.9: they stay */
	}
}

/* --- limits --- */

static void limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)what, &now) == 0 && now.rlim_cur > most) {
		now.rlim_cur = now.rlim_max = most < now.rlim_max ? most : now.rlim_max;
		(void)setrlimit((__rlimit_resource_t)what, &now);
	}
}

/* Backstops, far above what an honest packet of 64 GiB needs. A file size limit is not set: standard output may be a file. */
static void set_limits(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, 256);
	limit(RLIMIT_AS, (rlim_t)8 << 30);
	limit(RLIMIT_CPU, 4 * 3600);
}

/* --- Landlock: numbers of the kernel's interface, since the header of the build machine may be older than the kernel --- */

struct ruleset {
	uint64_t fs, net, scoped;
};

struct __attribute__((packed)) beneath {
	uint64_t allowed;
	int32_t fd;
};

enum {
	CREATE_RULESET = 444, /* the same on every architecture */
	ADD_RULE = 445,
	RESTRICT_SELF = 446,
	ASK_VERSION = 1,
	PATH_BENEATH = 1,
};

#define FS_READ_DIR (1U << 3)
#define FS_READ ((1U << 2) | FS_READ_DIR)
#define FS_DIRS ((1U << 4) | (1U << 7))                                    /* remove and make directories: what renaming one is */
#define FS_MAKE ((1U << 1) | (1U << 4) | (1U << 5) | (1U << 7) | (1U << 8)) /* write files; remove and make directories and files */
#define FS_REFER (1U << 13)
#define FS_TRUNCATE (1U << 14)

static uint64_t all_of_fs(int abi)
{
	return abi >= 5 ? (1U << 16) - 1 : abi >= 3 ? (1U << 15) - 1 : abi == 2 ? (1U << 14) - 1 : (1U << 13) - 1;
}

static bool allow(int set, int fd, uint64_t rights)
{
	const struct beneath rule = {.allowed = rights, .fd = fd};

	return syscall(ADD_RULE, set, PATH_BENEATH, &rule, 0) == 0;
}

static int make_ruleset(int abi)
{
	const struct ruleset r = {
		.fs = all_of_fs(abi),
		.net = abi >= 4 ? 3 : 0,    /* binding and connecting TCP */
		.scoped = abi >= 6 ? 3 : 0, /* abstract Unix sockets, signals */
	};

	return (int)syscall(CREATE_RULESET, &r, abi >= 6 ? sizeof(r) : abi >= 4 ? 16 : 8, 0);
}

static bool allow_dirs(int set, int abi, const struct ib_sandbox_opts *o)
{
	for (size_t i = 0; i < o->n_read; i++)
		if (!allow(set, o->read[i], FS_READ))
			return false;
	if (o->rename >= 0 && !allow(set, o->rename, FS_DIRS | FS_READ_DIR))
		return false;
	return o->write < 0 || allow(set, o->write, (FS_READ | FS_MAKE | FS_REFER | FS_TRUNCATE) & all_of_fs(abi));
}

static void landlock(const struct ib_sandbox_opts *o, struct ib_sandbox *ret)
{
	int abi = (int)syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	ib_auto_fd int set = abi < 1 ? -1 : make_ruleset(abi);

	if (set >= 0 && allow_dirs(set, abi, o) && syscall(RESTRICT_SELF, set, 0) == 0)
		ret->landlock = abi;
	else
		missing(ret, "Landlock", abi < 0 && errno == ENOSYS ? "this kernel has none" : strerror(errno));
}

/* --- seccomp --- */

#ifdef IB_SANDBOX_KILLS
#define DENIED SCMP_ACT_KILL_PROCESS /* finds a call that the list lacks */
#else
#define DENIED SCMP_ACT_ERRNO(EPERM)
#endif

static const int always[] = {
	SCMP_SYS(read),           SCMP_SYS(readv),         SCMP_SYS(pread64),      SCMP_SYS(write),         SCMP_SYS(writev),
	SCMP_SYS(lseek),          SCMP_SYS(_llseek),       SCMP_SYS(close),        SCMP_SYS(fstat),         SCMP_SYS(fstat64),
	SCMP_SYS(newfstatat),     SCMP_SYS(fstatat64),     SCMP_SYS(statx),        SCMP_SYS(dup),           SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64),        SCMP_SYS(fadvise64),     SCMP_SYS(munmap),       SCMP_SYS(mremap),        SCMP_SYS(madvise),
	SCMP_SYS(brk),            SCMP_SYS(futex),         SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time),
	SCMP_SYS(exit),           SCMP_SYS(exit_group),    SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
	SCMP_SYS(sigreturn),      SCMP_SYS(getrandom),     SCMP_SYS(sched_yield),  SCMP_SYS(sched_getaffinity), SCMP_SYS(sysinfo),
	SCMP_SYS(restart_syscall), SCMP_SYS(rseq),         SCMP_SYS(set_robust_list), SCMP_SYS(getpid),     SCMP_SYS(gettid),
	SCMP_SYS(uname),
};

/* Reading the names and files below the directories that Landlock lets through, the name of a run's directory, and whether ib-run holds it. */
static const int reading[] = {SCMP_SYS(getdents), SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(flock)};

static const int writing[] = {
	SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(mkdirat), SCMP_SYS(renameat), SCMP_SYS(renameat2),
	SCMP_SYS(rt_sigpending), SCMP_SYS(linkat),    SCMP_SYS(unlinkat),    SCMP_SYS(fchmod),
	SCMP_SYS(fsync),   SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
};

static int allow_all(scmp_filter_ctx c, const int *calls, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		if (calls[i] >= 0) /* a name that this architecture has */
			r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
	return r;
}

struct conditional {
	int call;
	unsigned arg;
	uint64_t mask, value; /* allowed when (argument & mask) == value */
};

static const struct conditional conditions[] = {
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mmap2), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	{SCMP_SYS(prlimit64), 2, ~UINT64_C(0), 0},          /* what the limits are, no new ones */
	{SCMP_SYS(ioctl), 1, UINT32_MAX, TCGETS},           /* is it a terminal? */
	{SCMP_SYS(clone), 0, 0x00010000, 0x00010000},       /* CLONE_THREAD: threads, no processes */
	{SCMP_SYS(openat), 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0}, /* last: only with directories to read */
};
#define N_CONDITIONS (sizeof(conditions) / sizeof(*conditions))

static int allow_some(scmp_filter_ctx c, size_t n)
{
	int r = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0); /* its flags are in memory: the C library goes back to clone() */

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct scmp_arg_cmp cmp = {
			.arg = conditions[i].arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = conditions[i].mask, .datum_b = conditions[i].value};

		if (conditions[i].call >= 0)
			r = seccomp_rule_add_array(c, SCMP_ACT_ALLOW, conditions[i].call, 1, &cmp);
	}
	return r;
}

static void seccomp(const struct ib_sandbox_opts *o, struct ib_sandbox *ret)
{
	scmp_filter_ctx c = seccomp_init(DENIED);
	int r = c ? allow_all(c, always, sizeof(always) / sizeof(*always)) : -ENOMEM;

	if (r == 0 && o->n_read + (o->write >= 0))
		r = allow_all(c, reading, sizeof(reading) / sizeof(*reading));
	if (r == 0 && o->write >= 0)
		r = allow_all(c, writing, sizeof(writing) / sizeof(*writing));
	if (r == 0)
		r = allow_some(c, o->n_read && o->write < 0 ? N_CONDITIONS : N_CONDITIONS - 1);
	if (r == 0)
		r = seccomp_load(c);
	if (r < 0)
		missing(ret, "seccomp", strerror(-r));
	if (c)
		seccomp_release(c);
	ret->seccomp = r == 0;
}

static int lock(const struct ib_sandbox_opts *o, struct ib_sandbox *ret, struct ib_err *err)
{
	prepare();
	close_others(o);
	set_limits();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot give up gaining privileges");
	landlock(o, ret);
	seccomp(o, ret);
	return 0;
}

#else

static int lock(const struct ib_sandbox_opts *o, struct ib_sandbox *ret, struct ib_err *err)
{
	(void)o;
	(void)err;
#if defined(IB_SANITIZED) || defined(IB_NO_SANDBOX)
	missing(ret, "all", "built without it");
#else
	missing(ret, "all", "this system is not Linux");
#endif
	return 0;
}

#endif

int ib_sandbox_enter(const struct ib_sandbox_opts *o, struct ib_sandbox *ret, struct ib_err *err)
{
	char landlocked[16] = "";
	int r;

	*ret = (struct ib_sandbox){0};
	r = lock(o, ret, err);
	if (r < 0)
		return r;
	if (ret->landlock)
		snprintf(landlocked, sizeof(landlocked), "landlock-%d", ret->landlock);
	snprintf(ret->level, sizeof(ret->level), "%s%s%s", landlocked, ret->landlock && ret->seccomp ? "+" : "",
		 ret->seccomp ? "seccomp" : ret->landlock ? "" : "none");
	if (o->require && !(ret->landlock && ret->seccomp))
		return ib_fail(err, IB_E_UNSUPPORTED, 0, "the sandbox that was required is not to be had here (%s)", ret->missing);
	return 0;
}
