/* SPDX-License-Identifier: Apache-2.0 */
/* Appending to a ledger. The lock is on the ledger itself; the last line alone gives seq and prev. */
#include "ledger/append.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/ledger.h"

#define NAME "ledger.jsonl"
#define LOCK_WAIT_MS 60000
#define RESERVE_BYTES 65536

int ib_ledger_open(const struct ib_ctx *ctx, int study_fd, const char *boot, bool create, struct ib_ledger **ret, struct ib_err *err)
{
	ib_auto_ledger struct ib_ledger *l = ib_alloc(sizeof(*l));
	struct stat st;

	l->ctx = ctx;
	l->boot = ib_strdup(boot);
	l->study_fd = -1;
	l->fd = openat(study_fd, NAME, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0644);
	if (l->fd < 0 && errno == ENOENT)
		return ib_fail(err, IB_E_STATE, 0, "there is no '" NAME "' here: not a study");
	if (l->fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '" NAME "' for appending");
	if (fstat(l->fd, &st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect '" NAME "'");
	if (!S_ISREG(st.st_mode))
		return ib_fail(err, IB_E_TYPE, 0, "'" NAME "' is not a regular file");
	l->study_fd = fcntl(study_fd, F_DUPFD_CLOEXEC, 3);
	if (l->study_fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot hold the study directory");
	*ret = ib_steal(&l);
	return 0;
}

void ib_ledger_free(struct ib_ledger **l)
{
	if (!*l)
		return;
	if ((*l)->fd >= 0)
		close((*l)->fd);
	if ((*l)->study_fd >= 0)
		close((*l)->study_fd);
	free((*l)->boot);
	free(*l);
	*l = NULL;
}

int ib_ledger_size(struct ib_ledger *l, off_t *ret, struct ib_err *err)
{
	struct stat st;

	if (fstat(l->fd, &st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect '" NAME "'");
	*ret = st.st_size;
	return 0;
}

int ib_ledger_is_empty(struct ib_ledger *l, bool *ret, struct ib_err *err)
{
	off_t size = 0;
	int r = ib_ledger_size(l, &size, err);

	*ret = size == 0;
	return r;
}

/* Somebody who stopped while holding the lock must not make us wait for ever. */
int ib_ledger_lock(struct ib_ledger *l, struct ib_err *err)
{
	for (int ms = 0; ms <= LOCK_WAIT_MS; ms++) {
		const struct timespec pause = {.tv_nsec = 1000000};

		if (flock(l->fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return ib_fail(err, IB_E_IO, errno, "cannot lock '" NAME "'");
		nanosleep(&pause, NULL);
	}
	return ib_fail(err, IB_E_TIMEOUT, 0, "'" NAME "' has been locked by another process for %d s", LOCK_WAIT_MS / 1000);
}

void ib_ledger_unlock(struct ib_ledger *l)
{
	flock(l->fd, LOCK_UN);
}

struct tail {
	off_t size;          /* of the ledger, without a torn line */
	int64_t seq;         /* of the last whole line; 0: none */
	char head[IB_HEX_LEN];
	char *torn;          /* bytes of a torn line, or NULL */
	size_t torn_n;
};

/* seq and digest of the last whole line, given the end of the file. */
static int read_last(const char *data, size_t n, bool all, struct tail *t, struct ib_err *err)
{
	const char *end = memrchr(data, '\n', n), *start;
	ib_auto_json json_t *j = NULL;
	int r;

	if (!end)
		return all ? 0 : ib_fail_at(err, IB_E_LEDGER, NAME, "'" NAME "' ends with a line of more than %d bytes: not a ledger", IB_ENTRY_MAX);
	start = memrchr(data, '\n', (size_t)(end - data));
	if (!start && !all)
		return ib_fail_at(err, IB_E_LEDGER, NAME, "'" NAME "' ends with a line of more than %d bytes: not a ledger", IB_ENTRY_MAX);
	start = start ? start + 1 : data;
	if ((r = ib_json_load(start, (size_t)(end - start), NAME, &j, err)) < 0 || (r = ib_get_int(j, NAME, "seq", 1, INT64_MAX - 2, &t->seq, err)) < 0)
		return ib_wrap(err, "cannot append behind the last line");
	ib_sha256_of(start, (size_t)(end - start), t->head);
	return 0;
}

static int read_tail(struct ib_ledger *l, struct tail *t, struct ib_err *err)
{
	size_t max = 2 * IB_ENTRY_MAX, n, whole;
	ib_auto_free char *data = NULL;
	const char *end;
	int r = ib_ledger_size(l, &t->size, err);

	if (r < 0 || t->size == 0)
		return r;
	n = (uint64_t)t->size < max ? (size_t)t->size : max;
	data = ib_alloc(n);
	if (pread(l->fd, data, n, t->size - (off_t)n) != (ssize_t)n)
		return ib_fail(err, IB_E_IO, errno, "cannot read '" NAME "'");
	end = memrchr(data, '\n', n);
	whole = end ? (size_t)(end - data) + 1 : 0;
	r = read_last(data, whole, n == (uint64_t)t->size, t, err);
	if (r < 0 || whole == n)
		return r;
	t->torn = ib_strndup("", 0);
	t->torn = ib_realloc(t->torn, n - whole, 1);
	memcpy(t->torn, data + whole, n - whole);
	t->torn_n = n - whole;
	t->size -= (off_t)t->torn_n;
	return 0;
}

/* Is this what an interrupted repair has kept already? */
static bool kept_before(struct ib_ledger *l, const char *path, const struct tail *t)
{
	ib_auto_buf struct ib_buf b = IB_BUF(2 * IB_ENTRY_MAX + 1);

	return ib_read_file(l->study_fd, path, &b, NULL) == 0 && b.len == t->torn_n && memcmp(b.data, t->torn, b.len) == 0;
}

/* Writes the bytes of a torn line to ledger.torn/<seq>, or <seq>.1 and so on where a repair before this one was interrupted. */
static int write_torn(struct ib_ledger *l, const struct tail *t, char **ret_path, struct ib_err *err)
{
	long long seq = t->seq ? t->seq + 1 : 2;
	int r = ib_make_dirs(l->study_fd, "ledger.torn", 0755, err);

	for (int i = 0; r == 0 && i < 100; i++) {
		ib_auto_free char *path = i ? ib_asprintf("ledger.torn/%lld.%d", seq, i) : ib_asprintf("ledger.torn/%lld", seq);

		r = ib_write_file(l->study_fd, path, t->torn, t->torn_n, 0444, false, err);
		if (r == 0 || (r == IB_E_EXISTS && kept_before(l, path, t))) {
			*ret_path = ib_steal(&path);
			return 0;
		}
		r = r == IB_E_EXISTS ? 0 : r;
	}
	return r < 0 ? r : ib_fail(err, IB_E_EXISTS, 0, "'ledger.torn/%lld' exists a hundred times", seq);
}

/* Keeps the bytes of a torn line and cuts them off. */
static int keep_torn(struct ib_ledger *l, const struct tail *t, struct ib_entry *ret_e, struct ib_err *err)
{
	ib_auto_free char *path = NULL;

	if (write_torn(l, t, &path, err) < 0 || ib_sync_dir(l->study_fd, "the study", err) < 0)
		return ib_wrap(err, "cannot keep the torn last line of '" NAME "'");
	if (ftruncate(l->fd, t->size) < 0 || fsync(l->fd) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot cut the torn last line of '" NAME "'");
	ret_e->kind = IB_ENTRY_TORN;
	ret_e->bytes = (int64_t)t->torn_n;
	ib_sha256_of(t->torn, t->torn_n, ret_e->sha256);
	ret_e->file = ib_steal(&path);
	return 0;
}

/* One line, one write, synced; t moves on. What is written partly is cut off again. */
static int write_entry(struct ib_ledger *l, struct tail *t, struct ib_entry *e, struct ib_err *err)
{
	ib_auto_buf struct ib_buf line = IB_BUF(IB_ENTRY_MAX);
	ib_auto_json json_t *j = NULL;
	ssize_t n;
	int r;

	e->seq = t->seq + 1;
	e->wall_ns = ib_wall_ns(l->ctx->clock);
	e->monotonic_ns = ib_monotonic_ns(l->ctx->clock);
	memcpy(e->prev, t->head, IB_HEX_LEN);
	free(e->boot);
	e->boot = ib_strdup(l->boot);
	j = ib_entry_to_json(e);
	ib_json_write(j, &line);
	ib_buf_addc(&line, '\n');
	if ((r = ib_buf_check(&line, "ledger entry", err)) < 0)
		return r;
	n = write(l->fd, line.data, line.len);
	if (n != (ssize_t)line.len) {
		int sys = n < 0 ? errno : ENOSPC;

		if (n > 0 && ftruncate(l->fd, t->size) < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot undo a partial write to '" NAME "'");
		return ib_fail(err, IB_E_IO, sys, "cannot append to '" NAME "'");
	}
	if (fdatasync(l->fd) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot sync '" NAME "'");
	t->seq++;
	t->size += n;
	ib_sha256_of(line.data, line.len - 1, t->head);
	return 0;
}

int ib_ledger_append_locked(struct ib_ledger *l, struct ib_entry *e, bool only_first, bool *ret_done, struct ib_err *err)
{
	ib_auto_entry struct ib_entry torn = {0};
	struct tail t = {0};
	ib_auto_free char *bytes = NULL;
	int r = read_tail(l, &t, err);

	bytes = t.torn;
	if (r < 0)
		return r;
	*ret_done = t.seq == 0 || !only_first;
	if (t.torn && (r = keep_torn(l, &t, &torn, err)) < 0)
		return r;
	if (t.seq == 0 && e->kind != IB_ENTRY_CONTRACT)
		return ib_fail(err, IB_E_LEDGER, 0, "'" NAME "' is empty: its first entry must be the contract");
	if (torn.file && t.seq && (r = write_entry(l, &t, &torn, err)) < 0)
		return r;
	if (*ret_done && (r = write_entry(l, &t, e, err)) < 0)
		return r;
	return torn.file && !torn.seq ? write_entry(l, &t, &torn, err) : 0;
}

static int append(struct ib_ledger *l, struct ib_entry *e, bool only_first, bool *ret_done, int (*locked)(void *arg, struct ib_err *err), void *arg,
		  struct ib_err *err)
{
	int r = ib_ledger_lock(l, err);

	if (r < 0)
		return r;
	r = ib_ledger_append_locked(l, e, only_first, ret_done, err);
	if (r == 0 && locked)
		r = locked(arg, err);
	ib_ledger_unlock(l);
	return r;
}

int ib_ledger_append(struct ib_ledger *l, struct ib_entry *e, int (*locked)(void *arg, struct ib_err *err), void *arg, struct ib_err *err)
{
	bool done;

	return append(l, e, false, &done, locked, arg, err);
}

int ib_ledger_append_first(struct ib_ledger *l, struct ib_entry *e, bool *ret_done, struct ib_err *err)
{
	int r = append(l, e, true, ret_done, NULL, NULL, err);

	return r < 0 || !*ret_done ? r : ib_sync_dir(l->study_fd, "the study", err);
}

int ib_ledger_hold(struct ib_ledger *l, int (*held)(void *arg, struct ib_err *err), void *arg, struct ib_err *err)
{
	int r = ib_ledger_lock(l, err);

	if (r < 0)
		return r;
	r = held(arg, err);
	ib_ledger_unlock(l);
	return r;
}

int ib_ledger_reserve(struct ib_ledger *l, struct ib_err *err)
{
	off_t size;
	int r = ib_ledger_size(l, &size, err);

	if (r < 0)
		return r;
	if (fallocate(l->fd, FALLOC_FL_KEEP_SIZE, size, RESERVE_BYTES) < 0 && (errno == ENOSPC || errno == EDQUOT))
		return ib_fail(err, IB_E_IO, errno, "cannot keep room for '" NAME "'");
	return 0; /* file systems that cannot reserve: the write itself will tell */
}
