/* SPDX-License-Identifier: Apache-2.0 */
/* An empty directory for targets whose subject writes files: one a process, removed at its end. */
#ifndef IB_TESTS_FUZZ_SCRATCH_H
#define IB_TESTS_FUZZ_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static char scratch_path[64];
static size_t scratch_files;

static int scratch_drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	return ftw->level == 0 ? 0 : type == FTW_DP ? rmdir(path) : unlink(path);
}

/* Counts the files; only plain ones and directories may be there. */
static int scratch_look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	REQUIRE(ftw->level == 0 || type == FTW_F || type == FTW_D);
	REQUIRE(type != FTW_F || (S_ISREG(st->st_mode) && st->st_nlink == 1 && (st->st_mode & 07111) == 0));
	scratch_files += type == FTW_F;
	return 0;
}

static void scratch_end(void)
{
	nftw(scratch_path, scratch_drop, 64, FTW_PHYS | FTW_DEPTH);
	rmdir(scratch_path);
}

/* A descriptor of the directory, which is empty. */
static int scratch_open(void)
{
	int fd;

	if (!scratch_path[0]) {
		snprintf(scratch_path, sizeof(scratch_path), "%s/ib-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		REQUIRE(mkdtemp(scratch_path));
		atexit(scratch_end);
	}
	REQUIRE(nftw(scratch_path, scratch_drop, 64, FTW_PHYS | FTW_DEPTH) == 0);
	fd = open(scratch_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	REQUIRE(fd >= 0);
	return fd;
}

/* How many files there are; nothing else may be there. */
__attribute__((unused)) static size_t scratch_count(void)
{
	scratch_files = 0;
	REQUIRE(nftw(scratch_path, scratch_look, 64, FTW_PHYS) == 0);
	return scratch_files;
}

#endif
