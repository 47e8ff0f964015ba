/* SPDX-License-Identifier: Apache-2.0 */
/* Runs without an end: adopted when they hold a valid record, recorded as abandoned when nobody works on them any more. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "model/record.h"

#define LEDGER_MAX (1u << 30)

char *ib_ledger_value_of(const char *line, size_t n, const char *key)
{
	const char *at = memmem(line, n, key, strlen(key)), *end;

	if (!at)
		return NULL;
	at += strlen(key);
	end = memchr(at, '"', (size_t)(line + n - at));
	return end ? ib_strndup(at, (size_t)(end - at)) : NULL;
}

static void drop(struct ib_strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0) {
			free(l->v[i]);
			l->v[i] = l->v[--l->n];
			l->v[l->n] = NULL;
			return;
		}
}

/* Runs with a start and no end. This looks only at what our own writer puts into a line, since it happens before every
 * run; whether the ledger is well-formed is for ib-verify. */
static void scan(const char *data, size_t n, struct ib_strv *ret_open, bool *ret_any_abandoned)
{
	for (const char *p = data, *end; p < data + n && (end = memchr(p, '\n', (size_t)(data + n - p))); p = end + 1) {
		size_t len = (size_t)(end - p);
		ib_auto_free char *kind = ib_ledger_value_of(p, len, "\"kind\":\"");
		ib_auto_free char *run = NULL;

		if (!kind || (strcmp(kind, "start") != 0 && strcmp(kind, "finish") != 0 && strcmp(kind, "abandoned") != 0))
			continue;
		run = ib_ledger_value_of(p, len, "\"run\":\"");
		if (!run)
			continue;
		if (kind[0] == 's')
			ib_strv_add(ret_open, run);
		else
			drop(ret_open, run);
		if (kind[0] == 'a')
			*ret_any_abandoned = true;
	}
}

static int open_runs(struct ib_ledger *l, struct ib_strv *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	int r = ib_read_file(l->study_fd, "ledger.jsonl", &b, err);

	if (r < 0)
		return r;
	scan(ib_buf_str(&b), b.len, ret, &l->any_abandoned);
	return 0;
}

/* Takes the lock of a run directory. *ret_fd is -1 when the directory is absent. *ret_busy: somebody works on it. */
static int lock_run(int study_fd, const char *run, int *ret_fd, bool *ret_busy, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("runs/%s", run);
	ib_auto_fd int fd = openat(study_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	*ret_fd = -1;
	*ret_busy = false;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		*ret_busy = true;
		return errno == EWOULDBLOCK ? 0 : ib_fail(err, IB_E_IO, errno, "cannot lock '%s'", path);
	}
	*ret_fd = ib_steal_fd(&fd);
	return 0;
}

/* A finish entry for the valid record in the directory. False when there is none. */
static bool adopt(int dir_fd, const char *run, struct ib_entry *e)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	ib_auto_json json_t *j = NULL;
	ib_auto_record struct ib_record record;
	struct ib_err err;

	ib_record_init(&record);
	if (dir_fd < 0 || ib_read_file(dir_fd, "record.json", &b, &err) < 0 || ib_json_load(b.data, b.len, "record.json", &j, &err) < 0 ||
	    ib_record_from_json(j, "record.json", &record, &err) < 0 || strcmp(record.run_id, run) != 0)
		return false;
	e->kind = IB_ENTRY_FINISH;
	e->state = record.state;
	ib_sha256_of(b.data, b.len, e->record_sha256);
	if (record.capture_node[0])
		ib_strv_add(&e->captures, record.capture_node);
	return true;
}

static int end_run(struct ib_ledger *l, const char *run, size_t *adopted, size_t *abandoned, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_ABANDONED};
	ib_auto_fd int dir_fd = -1;
	bool busy, done;
	int r = lock_run(l->study_fd, run, &dir_fd, &busy, err);

	if (r < 0 || busy)
		return r;
	e.run = ib_strdup(run);
	if (adopt(dir_fd, run, &e))
		++*adopted;
	else
		++*abandoned;
	return ib_ledger_append_locked(l, &e, false, &done, err);
}

/* Is there a run without an end that nobody works on? Looked at without the ledger's lock, so that the usual case costs
 * nothing to others; a yes is looked at again under it. */
static int any_free(struct ib_ledger *l, const struct ib_strv *open, bool *ret, struct ib_err *err)
{
	*ret = false;
	for (size_t i = 0; i < open->n && !*ret; i++) {
		ib_auto_fd int fd = -1;
		bool busy;
		int r = lock_run(l->study_fd, open->v[i], &fd, &busy, err);

		if (r < 0)
			return r;
		*ret = !busy;
	}
	return 0;
}

static int sweep(struct ib_ledger *l, size_t *adopted, size_t *abandoned, struct ib_err *err)
{
	ib_auto_strv struct ib_strv open = {0};
	int r = open_runs(l, &open, err);

	for (size_t i = 0; r == 0 && i < open.n; i++)
		r = end_run(l, open.v[i], adopted, abandoned, err);
	if (*abandoned)
		l->any_abandoned = true;
	return r;
}

int ib_ledger_mark_abandoned(struct ib_ledger *l, size_t *ret_adopted, size_t *ret_abandoned, struct ib_err *err)
{
	ib_auto_strv struct ib_strv open = {0};
	bool needed;
	int r;

	*ret_adopted = *ret_abandoned = 0;
	if ((r = open_runs(l, &open, err)) < 0 || (r = any_free(l, &open, &needed, err)) < 0 || !needed)
		return r;
	r = ib_ledger_lock(l, err);
	if (r < 0)
		return r;
	r = sweep(l, ret_adopted, ret_abandoned, err);
	ib_ledger_unlock(l);
	return r;
}

bool ib_ledger_any_abandoned(const struct ib_ledger *l)
{
	return l->any_abandoned;
}
