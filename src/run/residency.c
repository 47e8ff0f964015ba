/* SPDX-License-Identifier: Apache-2.0 */
/* Files in the page cache, by cachestat(2), or by mincore(2) on older kernels. */
#include "run/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "redact/redact.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#define TRIES 3
#define WINDOW (1u << 28) /* bytes mapped at a time */

struct range {
	uint64_t off, len;
};

struct stat_of_cache {
	uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
};

/* Others' files look resident as a whole to mincore(): the kernel keeps it to itself. */
static bool may_look(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (geteuid() == 0 || st.st_uid == geteuid());
}

static int64_t by_mincore(int fd, uint64_t bytes, const char **ret_status)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), resident = 0;
	ib_auto_free unsigned char *map = ib_alloc(WINDOW / page);

	*ret_status = "denied";
	if (!may_look(fd))
		return IB_NONE;
	*ret_status = "error";
	for (uint64_t at = 0; at < bytes; at += WINDOW) {
		uint64_t n = bytes - at < WINDOW ? bytes - at : WINDOW;
		void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, (off_t)at);
		bool ok = p != MAP_FAILED && mincore(p, n, map) == 0;

		for (uint64_t i = 0; ok && i * page < n; i++)
			resident += map[i] & 1 ? page : 0;
		if (p != MAP_FAILED)
			munmap(p, n);
		if (!ok)
			return IB_NONE;
	}
	*ret_status = "ok";
	return (int64_t)(resident < bytes ? resident : bytes);
}

int64_t ib_residency_of(int fd, uint64_t bytes, const char **ret_method, const char **ret_status)
{
	struct range all = {0, 0};
	struct stat_of_cache got = {0};
	uint64_t resident;

	*ret_method = "cachestat";
	*ret_status = "ok";
	if (syscall(SYS_cachestat, fd, &all, &got, 0) < 0) {
		if (errno == ENOSYS || errno == EPERM || errno == EACCES) {
			*ret_method = "mincore";
			return by_mincore(fd, bytes, ret_status);
		}
		*ret_status = errno == EOPNOTSUPP ? "unsupported" : "error";
		return IB_NONE;
	}
	resident = got.cached * (uint64_t)sysconf(_SC_PAGESIZE);
	return (int64_t)(resident < bytes ? resident : bytes);
}

static json_t *section(struct ib_run *run)
{
	if (!run->record->section[IB_SECTION_RESIDENCY])
		ib_record_set(run->record, IB_SECTION_RESIDENCY, ib_json_array());
	return run->record->section[IB_SECTION_RESIDENCY];
}

/* The row of a file, made where there is none. */
static json_t *row_of(struct ib_run *run, const char *path)
{
	static const char *const keys[] = {"bytes", "method", "before_drop_bytes", "after_drop_bytes", "resident_before_bytes", "resident_after_bytes"};
	ib_auto_free char *clean = ib_redact_text(run->study->redactor, path);
	json_t *list = section(run), *o;

	for (size_t i = 0; i < json_array_size(list); i++)
		if (ib_streq(json_string_value(json_object_get(json_array_get(list, i), "path")), clean))
			return json_array_get(list, i);
	o = ib_json_object();
	ib_json_set_str(o, "path", clean);
	ib_json_set_bool(o, "evidence", false);
	ib_json_set_str(o, "status", "ok");
	for (size_t i = 0; i < IB_LEN(keys); i++)
		ib_json_set(o, keys[i], NULL);
	ib_json_add(list, o);
	return o;
}

static int open_file(struct ib_run *run, const char *path, json_t *row)
{
	int fd = openat(run->study->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0) {
		ib_json_set_str(row, "status", errno == ENOENT ? "absent" : errno == EACCES ? "denied" : "error");
	} else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		fd = -1;
		ib_json_set_str(row, "status", "unsupported");
	} else {
		ib_json_set_int(row, "bytes", st.st_size);
	}
	return fd;
}

static int64_t measure(int fd, json_t *row, const char *key)
{
	const char *method, *status;
	int64_t n = ib_residency_of(fd, (uint64_t)json_integer_value(json_object_get(row, "bytes")), &method, &status);

	ib_json_set_str(row, "method", method);
	if (n == IB_NONE)
		ib_json_set_str(row, "status", status);
	else
		ib_json_set_int(row, key, n);
	return n;
}

int ib_residency_drop(struct ib_run *run, const json_t *files, struct ib_err *err)
{
	for (size_t i = 0; i < json_array_size(files); i++) {
		ib_auto_free char *path = NULL;
		int r = ib_run_expand(run, json_string_value(json_array_get(files, i)), true, &path, err);
		json_t *row = r < 0 ? NULL : row_of(run, path);
		ib_auto_fd int fd = row ? open_file(run, path, row) : -1;
		int64_t stayed;

		if (r < 0)
			return r;
		if (fd < 0)
			return ib_fail(err, IB_E_STATE, 0, "a file to drop from the page cache (the %zu. of 'page_cache') cannot be opened", i + 1);
		measure(fd, row, "before_drop_bytes");
		stayed = 1;
		for (int try = 0; try < TRIES && stayed > 0; try++) { /* pages that were read just now may stay for a moment */
			if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
				return ib_fail(err, IB_E_STATE, errno, "a file (the %zu. of 'page_cache') cannot be dropped from the page cache", i + 1);
			stayed = measure(fd, row, "after_drop_bytes");
		}
		if (stayed > 0)
			ib_strv_take(&run->record->notes, ib_asprintf("%lld bytes of '%s' stayed in the page cache when it was dropped: something uses them",
								      (long long)stayed, json_string_value(json_object_get(row, "path"))));
	}
	return 0;
}

void ib_residency_look(struct ib_run *run, const json_t *files, enum ib_residency_moment moment)
{
	for (size_t i = 0; i < json_array_size(files); i++) {
		ib_auto_free char *path = NULL;
		struct ib_err why;

		if (ib_run_expand(run, json_string_value(json_array_get(files, i)), true, &path, &why) < 0) {
			ib_strv_take(&run->record->notes, ib_asprintf("residency: %s", why.text));
			continue;
		}
		json_t *row = row_of(run, path);
		ib_auto_fd int fd = open_file(run, path, row);

		ib_json_set_bool(row, "evidence", true);
		if (fd >= 0)
			measure(fd, row, moment == IB_RESIDENCY_BEFORE ? "resident_before_bytes" : "resident_after_bytes");
	}
}
