/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: room kept for its record, the record itself, the finish entry. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/files.h"
#include "run/inside.h"

#define PART "record.json.part"
#define RESERVE_BYTES 262144

int ib_run_reserve(struct ib_run *run, int *ret_fd, struct ib_err *err)
{
	ib_auto_fd int fd = openat(run->dir_fd, PART, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	int r;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create '" PART "'");
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RESERVE_BYTES) < 0 && (errno == ENOSPC || errno == EDQUOT))
		return ib_fail(err, IB_E_IO, errno, "no room for the record");
	r = ib_ledger_reserve(run->study->ledger, err);
	if (r < 0)
		return r;
	*ret_fd = ib_steal_fd(&fd);
	return 0;
}

static void redact_list(const struct ib_redactor *r, struct ib_strv *l)
{
	for (size_t i = 0; i < l->n; i++) {
		char *text = ib_redact_text(r, l->v[i]);

		free(l->v[i]);
		l->v[i] = text;
	}
}

/* Takes the files out of the list whose name holds a secret. */
static void drop_secret_names(struct ib_record *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->files_n; i++) {
		if (ib_scan_value(r->files[i].path, strlen(r->files[i].path)))
			free(r->files[i].path);
		else
			r->files[kept++] = r->files[i];
	}
	if (kept < r->files_n)
		ib_strv_take(&r->notes, ib_asprintf("%zu files have names that hold secrets and are not recorded", r->files_n - kept));
	r->files_n = kept;
}

static void render(const struct ib_record *r, struct ib_buf *b)
{
	ib_auto_json json_t *j = ib_record_to_json(r);

	ib_buf_clear(b);
	*b = IB_BUF(256u << 20);
	ib_json_write_pretty(j, b);
}

/* The record's text, past the last gate. */
static int compose(struct ib_run *run, struct ib_buf *b, struct ib_err *err)
{
	struct ib_record *r = run->record;
	int e;

	redact_list(run->study->redactor, &r->notes);
	render(r, b);
	if (ib_gate(run->study->redactor, ib_buf_str(b), b->len, "record.json", NULL) < 0) {
		drop_secret_names(r);
		render(r, b);
	}
	e = ib_gate(run->study->redactor, ib_buf_str(b), b->len, "record.json", err);
	if (e < 0) { /* whatever it is, it is in free text */
		ib_strv_clear(&r->notes);
		ib_strv_take(&r->notes, ib_asprintf("notes are withheld: %s", err->text));
		render(r, b);
		e = ib_gate(run->study->redactor, ib_buf_str(b), b->len, "record.json", err);
	}
	return e < 0 ? e : ib_buf_check(b, "record.json", err);
}

/* Into the reserved file, which then gets its name. */
static int write_record(struct ib_run *run, int fd, struct ib_buf *b, struct ib_err *err)
{
	int r = ib_write_all(fd, b->data, b->len, "record.json", err);

	if (r < 0)
		return r;
	/* twice, since a file that has its size already may keep what was reserved behind it */
	if (ftruncate(fd, (off_t)b->len + 1) < 0 || ftruncate(fd, (off_t)b->len) < 0 || fchmod(fd, 0644) < 0 || fsync(fd) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot write 'record.json'");
	if (renameat(run->dir_fd, PART, run->dir_fd, "record.json") < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot move 'record.json' into place");
	return ib_sync_dir(run->dir_fd, run->id, err);
}

int ib_run_finish(struct ib_run *run, int reserved_fd, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_FINISH};
	ib_auto_buf struct ib_buf b = IB_BUF(1);
	size_t stuck;
	int r;

	if ((r = ib_run_files(run->dir_fd, &run->marker, run->record, err)) < 0 || (r = compose(run, &b, err)) < 0 ||
	    (r = write_record(run, reserved_fd, &b, err)) < 0)
		return r;
	e.run = ib_strdup(run->id);
	e.state = run->record->state;
	ib_sha256_of(b.data, b.len, e.record_sha256);
	if (run->record->capture_node[0])
		ib_strv_add(&e.captures, run->record->capture_node);
	for (size_t i = 0; i < run->captures.n; i++)
		ib_strv_add(&e.captures, run->captures.v[i]);
	if ((r = ib_ledger_append(run->study->ledger, &e, NULL, NULL, err)) < 0)
		return r;
	stuck = ib_run_files_freeze(run->dir_fd);
	if (stuck)
		ib_log(run->ctx, IB_LOG_WARNING, "%zu files of run '%s' could not be made read-only", stuck, run->id);
	return 0;
}
