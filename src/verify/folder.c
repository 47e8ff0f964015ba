/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a folder of loose files into the audit's view, depth first: what stands around a result is known before the directories below are entered. */
#include "verify/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "clients/client.h"
#include "clients/log_errors.h"
#include "verify/check.h"
#include "verify/dir.h"
#include "verify/loose.h"
#include "verify/settle.h"

#define LISTED_MAX 100

struct walk {
	struct ib_audit_view *view;
	size_t entries;
	size_t held; /* bytes of columns */
};

/* A directory while it is walked. */
struct place {
	int fd;
	const char *path; /* below the folder, "" for itself */
	int depth;
	struct ib_context context;
	struct ib_audit_run run; /* without a name while nothing was recognised */
};

static void unread(struct walk *w, const char *path, const char *why)
{
	ib_strv_take(&w->view->unread, ib_asprintf("%s: %s", path, why));
}

/* --- results --- */

static size_t bytes_of(const struct ib_results *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += (all->v[i].columns.n * 16 + all->v[i].columns.itl_n) * sizeof(double);
	return n;
}

static void take_result(struct walk *w, struct ib_audit_run *run, int fd, struct ib_audit_file *file)
{
	ib_auto_results struct ib_results got = {0};
	char hex[IB_HEX_LEN];
	struct ib_err err;

	if (w->held >= IB_FOLDER_HELD_MAX) {
		unread(w, file->path, "all results of the folder together are larger than the limit: verify the directories below it one by one");
		return;
	}
	if (ib_loose_read(fd, file->path, &got, hex, &err) == 0) {
		w->held += bytes_of(&got);
		ib_results_move(&run->own, &got);
	} else if (err.code == IB_E_IO) {
		unread(w, file->path, err.text);
	} else {
		ib_strv_take(err.code == IB_E_UNSUPPORTED || err.code == IB_E_LIMIT ? &run->unsupported : &run->torn,
			     ib_asprintf("%s: %s", file->path, err.text));
	}
	if (*hex)
		file->sha256 = ib_strdup(hex);
}

static void add_run(struct ib_audit_view *v, struct ib_audit_run *run, const char *name)
{
	if (!run->own.n && !run->torn.n && !run->unsupported.n)
		return;
	if ((v->n_runs & (v->n_runs - 1)) == 0)
		v->runs = ib_realloc(v->runs, v->n_runs ? v->n_runs * 2 : 1, sizeof(*v->runs));
	run->name = ib_strdup(name);
	ib_results_apply(&run->own, &run->own_context.settings);
	ib_results_derive(&run->own);
	v->runs[v->n_runs++] = *run;
	*run = (struct ib_audit_run){0};
}

/* Once no run moves any more. */
static void point(struct ib_audit_view *v)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		v->runs[i].results = &v->runs[i].own;
		v->runs[i].context = &v->runs[i].own_context;
	}
}

static struct ib_audit_file *add_file(struct ib_audit_view *v, const char *path, const struct stat *st)
{
	struct ib_audit_file *f;

	if ((v->n_files & (v->n_files - 1)) == 0)
		v->files = ib_realloc(v->files, v->n_files ? v->n_files * 2 : 1, sizeof(*v->files));
	f = &v->files[v->n_files++];
	*f = (struct ib_audit_file){.path = ib_strdup(path), .bytes = (uint64_t)st->st_size,
				    .modified_ns = (int64_t)st->st_mtim.tv_sec * IB_NS + st->st_mtim.tv_nsec};
	return f;
}

/* --- files --- */

static void take_text(struct walk *w, struct place *p, int fd, const char *path)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_FOLDER_TEXT_MAX + 1);
	struct ib_err err;

	if (ib_read_all(fd, path, &b, &err) < 0) {
		unread(w, path, err.text);
	} else {
		ib_privacy_scan(&w->view->privacy, path, ib_buf_str(&b), b.len);
		ib_context_take(&p->context, path, ib_buf_str(&b), b.len, 0);
	}
}

static void take_file(struct walk *w, struct place *p, const char *name, const char *path)
{
	ib_auto_fd int fd = openat(p->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	enum ib_loose kind = IB_LOOSE_OTHER;
	struct ib_audit_file *file;
	struct ib_err err;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		unread(w, path, strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		unread(w, path, "was replaced while it was read");
		return;
	}
	file = add_file(w->view, path, &st);
	if (ib_loose_look(fd, path, &kind, &err) < 0) {
		unread(w, path, err.text);
	} else if (kind == IB_LOOSE_RESULT) {
		take_result(w, &p->run, fd, file);
		ib_privacy_scan_fd(&w->view->privacy, path, fd, file->bytes);
	} else if (kind == IB_LOOSE_RECORD) {
		ib_strv_add(&w->view->records, path);
	} else if (kind == IB_LOOSE_ARCHIVE) {
		ib_strv_add(&w->view->unknown, path);
	} else if ((kind == IB_LOOSE_TEXT || kind == IB_LOOSE_JSON) && st.st_size <= IB_FOLDER_TEXT_MAX) {
		take_text(w, p, fd, path);
	}
	if (kind == IB_LOOSE_TEXT && ib_log_named(name))
		ib_context_take_log(&p->run.own_context, path, st.st_size <= IB_LOG_ERRORS_MAX ? ib_log_errors_fd(fd) : -1);
	if (kind == IB_LOOSE_JSON)
		ib_strv_add(&w->view->unknown, path);
}

static const char *type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a named pipe";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* --- directories --- */

/* Pages of metrics that their counters do not order are taken in the order of their names. */
static int rank(const char *name)
{
	return strcasestr(name, "before") ? 0 : strcasestr(name, "after") ? 2 : 1;
}

static int by_rank_and_bytes(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int d = rank(x) - rank(y);

	return d ? d : strcmp(x, y);
}

static int list_names(struct walk *w, const struct place *p, struct ib_strv *names, struct ib_err *err)
{
	ib_auto_dir DIR *d = ib_list_dir(p->fd, ".");
	struct dirent *e;

	if (!d)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", p->path);
	for (errno = 0; (e = readdir(d)); errno = 0) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++w->entries > IB_DIR_FILES)
			return ib_fail_at(err, IB_E_LIMIT, p->path, "more than the limit of %u files", IB_DIR_FILES);
		ib_strv_add(names, e->d_name);
	}
	if (errno)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", p->path);
	if (names->n > 1)
		qsort(names->v, names->n, sizeof(*names->v), by_rank_and_bytes);
	return 0;
}

static char *below(const struct place *p, const char *name)
{
	return *p->path ? ib_asprintf("%s/%s", p->path, name) : ib_strdup(name);
}

static int walk_dir(struct walk *w, int fd, const char *path, const struct place *above, struct ib_err *err);

static int enter(struct walk *w, const struct place *p, const char *name, struct ib_err *err)
{
	ib_auto_free char *path = below(p, name);
	ib_auto_fd int fd = openat(p->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0) {
		unread(w, path, strerror(errno));
		return 0;
	}
	return walk_dir(w, fd, path, p, err);
}

/* All that is no directory; the directories' names go into subs. */
static void take_entries(struct walk *w, struct place *p, const struct ib_strv *names, struct ib_strv *subs)
{
	for (size_t i = 0; i < names->n; i++) {
		ib_auto_free char *path = below(p, names->v[i]);
		struct stat st;

		if (fstatat(p->fd, names->v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			unread(w, path, strerror(errno));
		else if (S_ISDIR(st.st_mode))
			ib_strv_add(subs, names->v[i]);
		else if (S_ISREG(st.st_mode))
			take_file(w, p, names->v[i], path);
		else
			ib_strv_take(&w->view->passed_over, ib_asprintf("%s: %s", path, type_of(st.st_mode)));
	}
}

static void place_clear(struct place *p)
{
	ib_context_clear(&p->context);
	ib_audit_run_clear(&p->run);
}

static int walk_dir(struct walk *w, int fd, const char *path, const struct place *above, struct ib_err *err)
{
	__attribute__((cleanup(place_clear))) struct place p = {.fd = fd, .path = path, .depth = above ? above->depth + 1 : 0};
	ib_auto_strv struct ib_strv names = {0}, subs = {0};
	const struct ib_client *told;
	size_t before = w->view->n_runs;
	int r;

	if (p.depth > IB_DIR_DEPTH)
		return ib_fail_at(err, IB_E_LIMIT, path, "'%.200s' lies deeper than the limit of %d levels", path, IB_DIR_DEPTH);
	r = list_names(w, &p, &names, err);
	if (r == IB_E_IO && above) { /* the others can still be read */
		unread(w, path, err->text);
		return 0;
	}
	if (r < 0)
		return r;
	take_entries(w, &p, &names, &subs);
	told = p.context.client;
	if (above)
		ib_context_inherit(&p.context, &above->context);
	ib_context_inherit(&p.run.own_context, &p.context);
	add_run(w->view, &p.run, *path ? path : ".");
	ib_strv_sort(&subs);
	for (size_t i = 0; r == 0 && i < subs.n; i++)
		r = enter(w, &p, subs.v[i], err);
	if (told && w->view->n_runs == before)
		ib_strv_take(&w->view->unanswered, ib_asprintf("%s: %s", *path ? path : ".", told->name));
	return r;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ib_audit_file *)a)->path, ((const struct ib_audit_file *)b)->path);
}

int ib_folder_read(int dirfd, const char *name, struct ib_audit_view *ret, struct ib_err *err)
{
	struct walk w = {.view = ret};
	int r;

	*ret = (struct ib_audit_view){0};
	r = walk_dir(&w, dirfd, "", NULL, err);
	point(ret);
	if (ret->n_files > 1)
		qsort(ret->files, ret->n_files, sizeof(*ret->files), by_path);
	return r < 0 ? ib_wrap(err, "'%s'", name) : 0;
}

int ib_folder_read_file(int fd, const char *file, struct ib_audit_view *ret, struct ib_err *err)
{
	struct walk w = {.view = ret};
	struct ib_audit_run run = {0};
	struct stat st;

	*ret = (struct ib_audit_view){.single = true};
	if (fstat(fd, &st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect '%s'", file);
	take_result(&w, &run, fd, add_file(ret, file, &st));
	add_run(ret, &run, file);
	point(ret);
	return 0;
}

/* --- verdicts --- */

/* What was not looked at: of what could not be read, nobody knows whether it holds a result. */
static void list_rest(struct ib_verdict *v)
{
	const struct ib_strv *unread = &v->audit.unread, *passed = &v->audit.passed_over;

	for (size_t i = 0; i < unread->n; i++)
		ib_findings_add(&v->findings, "A03", IB_FINDING_E, IB_NOT_CHECKABLE, "cannot be read: %s", unread->v[i])->code = IB_E_IO;
	if (v->audit.records.n) {
		struct ib_finding *one = ib_findings_add(&v->findings, "S05", IB_FINDING_E, IB_NOT_CHECKABLE,
							 "no ledger vouches for this record: verify the study or the packet that its run belongs to");

		one->code = IB_E_UNSUPPORTED;
		one->file = ib_strdup(v->audit.records.v[0]);
	}
	if (v->audit.unknown.n)
		ib_findings_add(&v->findings, "A03", IB_FINDING_I, IB_NOT_CHECKABLE,
				"%zu files that are JSON, UTF-16 or archives hold nothing that is known here, and were not judged: '%s'%s", v->audit.unknown.n,
				v->audit.unknown.v[0], v->audit.unknown.n > 1 ? " and others" : "")
			->file = ib_strdup(v->audit.unknown.v[0]);
	for (size_t i = 0; i < passed->n && i < LISTED_MAX; i++)
		ib_findings_add(&v->findings, "A01", IB_FINDING_I, IB_NOT_CHECKABLE, "passed over: %s", passed->v[i]);
	if (passed->n > LISTED_MAX)
		ib_findings_add(&v->findings, "A01", IB_FINDING_I, IB_NOT_CHECKABLE, "passed over: %zu more links, devices, sockets and pipes", passed->n - LISTED_MAX);
}

static void judge(struct ib_verdict *v, const struct ib_verify_opts *opts)
{
	ib_trust_does_not_apply(v, opts);
	list_rest(v);
	ib_audit_check(&v->audit, &v->findings);
	if (v->audit.n_runs) {
		v->consistent = IB_HOLDS_YES;
	} else {
		ib_findings_add(&v->findings, "E_UNSUPPORTED", IB_FINDING_E, IB_NOT_CHECKABLE,
				"no result of a known client in it: 'ib-verify --list-clients' names those that can be read")
			->code = IB_E_UNSUPPORTED;
	}
	v->files = v->audit.n_files;
	for (size_t i = 0; i < v->audit.n_files; i++)
		v->bytes += v->audit.files[i].bytes;
	ib_verdict_settle(v, opts);
}

int ib_folder_verify(int dirfd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	int r = ib_folder_read(dirfd, path, &ret->audit, err);

	if (r == IB_E_LIMIT)
		ib_findings_add_err(&ret->findings, err);
	else if (r < 0)
		return r;
	judge(ret, opts);
	return 0;
}

int ib_loose_verify(int fd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	const char *slash = strrchr(path, '/');
	int r = ib_folder_read_file(fd, slash ? slash + 1 : path, &ret->audit, err);

	if (r == 0)
		judge(ret, opts);
	return r;
}
