/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: the IB_FAULT_AT-th call of IB_FAULT_CALL fails. IB_FAULT_KIND: a number is its errno; "short": half of a write is done; "wait": it
 * waits for a signal, 20 s at most. IB_FAULT_MORE: so many calls after it fail, too. With IB_FAULT_AT=0 nothing fails, and "faults: COUNT" is printed at the
 * end. A strace that does this is stopped by the sandbox's list of system calls. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long calls;

static const char *kind(void)
{
	const char *k = getenv("IB_FAULT_KIND");

	return k ? k : "5";
}

/* Is this the call that shall fail? errno is set then. */
static bool due(const char *name)
{
	const char *call = getenv("IB_FAULT_CALL"), *at = getenv("IB_FAULT_AT"), *more = getenv("IB_FAULT_MORE");

	if (!call || !at || strcmp(call, name) != 0)
		return false;
	calls++;
	if (calls < strtol(at, NULL, 10) || calls > strtol(at, NULL, 10) + (more ? strtol(more, NULL, 10) : 0))
		return false;
	errno = (int)strtol(kind(), NULL, 10);
	return true;
}

static void wait_for_signal(void)
{
	struct timespec now;
	time_t until;
	sigset_t set;

	clock_gettime(CLOCK_MONOTONIC, &now);
	until = now.tv_sec + 20;
	(void)!write(STDERR_FILENO, "waiting\n", 8);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sigpending(&set);
	} while (now.tv_sec < until && !sigismember(&set, SIGINT) && !sigismember(&set, SIGTERM) && !sigismember(&set, SIGHUP));
}

__attribute__((destructor)) static void tell(void)
{
	const char *at = getenv("IB_FAULT_AT");

	if (at && strcmp(at, "0") == 0)
		fprintf(stderr, "faults: %ld\n", calls);
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t n)
{
	NEXT(write);

	if (fd > STDERR_FILENO && due("write")) {
		if (strcmp(kind(), "short") != 0)
			return -1;
		n = n / 2 + 1 < n ? n / 2 + 1 : n;
	}
	return next(fd, data, n);
}

int fsync(int fd)
{
	NEXT(fsync);

	if (due("fsync")) {
		if (strcmp(kind(), "wait") != 0)
			return -1;
		wait_for_signal();
	}
	return next(fd);
}

int fchmod(int fd, mode_t mode)
{
	NEXT(fchmod);

	return due("fchmod") ? -1 : next(fd, mode);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
	NEXT(mkdirat);

	return due("mkdirat") ? -1 : next(fd, path, mode);
}

int linkat(int from, const char *old, int to, const char *path, int flags)
{
	NEXT(linkat);

	return due("linkat") ? -1 : next(from, old, to, path, flags);
}

int renameat2(int from, const char *old, int to, const char *path, unsigned flags)
{
	NEXT(renameat2);

	return due("renameat2") ? -1 : next(from, old, to, path, flags);
}

int close(int fd)
{
	NEXT(close);

	if (!due("close"))
		return next(fd);
	next(fd); /* as the kernel does it: closed all the same */
	errno = (int)strtol(kind(), NULL, 10);
	return -1;
}

/* Only of a file whose path ends with IB_FAULT_PATH. */
int openat(int dir, const char *path, int flags, ...)
{
	NEXT(openat);
	const char *end = getenv("IB_FAULT_PATH");
	size_t n = strlen(path), k = end ? strlen(end) : 0;
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return k && n >= k && strcmp(path + n - k, end) == 0 && due("openat") ? -1 : next(dir, path, flags, mode);
}

long syscall(long number, ...)
{
	NEXT(syscall);
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return number == SYS_openat2 && due("openat2") ? -1 : next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
