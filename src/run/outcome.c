/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has produced, and what its client says there about its requests. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "clients/client.h"
#include "clients/log_errors.h"
#include "clients/warmups.h"
#include "run/expect.h"
#include "run/files.h"
#include "run/inside.h"

#define FILES_MAX 1000000
#define LOGS_MAX 32

/* --- the files --- */

struct tally {
	const struct timespec *start;
	int64_t produced, older, empty;
	char *first_empty, *first_older;
	struct ib_strv logs; /* that are text by their name */
};

static void tally_clear(struct tally *t)
{
	free(t->first_empty);
	free(t->first_older);
	ib_strv_clear(&t->logs);
}

static void count_file(struct tally *t, const char *path, const struct stat *st)
{
	if (ib_run_file_older(&st->st_mtim, t->start)) {
		if (t->older++ == 0)
			t->first_older = ib_strdup(path);
		return;
	}
	t->produced++;
	if (st->st_size == 0 && t->empty++ == 0)
		t->first_empty = ib_strdup(path);
	if (ib_log_named(path) && t->logs.n < LOGS_MAX)
		ib_strv_add(&t->logs, path);
}

/* Regular files below a directory, at most 16 levels deep. */
static void count_files(struct tally *t, int at, const char *name, const char *prefix, int depth)
{
	ib_auto_dir DIR *d = ib_list_dir(at, name);

	if (!d)
		return;
	for (const struct dirent *e = readdir(d); e && t->produced + t->older < FILES_MAX; e = readdir(d)) {
		ib_auto_free char *path = ib_asprintf("%s/%s", prefix, e->d_name);
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || ib_nfs_remains(e->d_name) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			count_file(t, path, &st);
		else if (S_ISDIR(st.st_mode) && depth < 16)
			count_files(t, dirfd(d), e->d_name, path, depth + 1);
	}
}

/* Files that only were there are no output, and neither is an empty one alone. */
static void judge_files(const struct tally *t, size_t results, struct ib_record *r)
{
	if (t->produced > t->empty || (t->produced == 0 && t->older == 0)) {
		if (t->first_empty && results == 0)
			ib_strv_take(&r->notes, ib_asprintf("'%.300s' is empty, and no result of a known client is there", t->first_empty));
		return;
	}
	ib_record_fail(r, "no_output");
	if (t->produced)
		ib_strv_take(&r->notes, ib_asprintf("the command has produced nothing: '%.300s' is empty", t->first_empty));
	else
		ib_strv_take(&r->notes, ib_asprintf("the command has produced nothing: '%.300s' was written before it started", t->first_older));
}

/* --- the results --- */

/* Takes out the results of files that are older than the command. */
static void drop_older(int dirfd, const struct timespec *start, struct ib_results *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct stat st;

		if (fstatat(dirfd, all->v[i].file, &st, AT_SYMLINK_NOFOLLOW) == 0 && ib_run_file_older(&st.st_mtim, start))
			ib_result_clear(&all->v[i]);
		else
			all->v[kept++] = all->v[i];
	}
	all->n = kept;
}

/* How much was asked for, where only the command line says so. */
static void apply_argv(const struct ib_run *run, struct ib_results *all)
{
	struct ib_settings s = {0};
	size_t n = 0;

	while (run->spec->argv[n])
		n++;
	(void)ib_settings_from_argv((const char *const *)run->spec->argv, n, &s);
	if (all->n == 1) /* of several results of one command it is said of all together */
		ib_results_apply(all, &s);
	ib_settings_clear(&s);
}

static int64_t known(int64_t n)
{
	return n == IB_NOT_IN_FILE ? 0 : n;
}

/* Requests that were asked for, or sent, and are in no group; IB_NOT_IN_FILE: it cannot be told. */
static int64_t unaccounted(const struct ib_result *r)
{
	const struct ib_requests *q = &r->requests;
	int64_t sum = known(q->succeeded) + known(q->failed) + known(q->timed_out) + known(q->incomplete);
	int64_t all = q->asked != IB_NOT_IN_FILE ? q->asked : q->failed != IB_NOT_IN_FILE ? q->attempted : IB_NOT_IN_FILE;

	if (q->succeeded == IB_NOT_IN_FILE || all == IB_NOT_IN_FILE)
		return IB_NOT_IN_FILE;
	if (sum < all && !isnan(ib_setting_number(&r->settings, IB_SET_DURATION)))
		return IB_NOT_IN_FILE; /* a time limit: which of them were begun is not in the file */
	return sum < all ? all - sum : 0;
}

/* Adds to a sum that stays unknown once a part of it is. */
static void add(int64_t *sum, int64_t v)
{
	if (v == IB_NOT_IN_FILE || *sum == IB_NONE)
		*sum = IB_NONE;
	else
		*sum += v;
}

static void sum_results(const struct ib_results *all, struct ib_record *record, int64_t *ret_input_tokens)
{
	struct ib_record_requests *q = &record->requests;

	*q = (struct ib_record_requests){.client = ib_strdup(all->v[0].client->name), .schema_id = ib_strdup(all->v[0].schema_id)};
	*ret_input_tokens = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct ib_result *r = &all->v[i];

		if (r->within)
			continue;
		add(&q->attempted, r->requests.attempted);
		add(&q->succeeded, r->requests.succeeded);
		add(&q->failed, r->requests.failed);
		add(&q->timed_out, r->requests.timed_out);
		add(&q->incomplete, r->requests.incomplete);
		add(&q->unaccounted, unaccounted(r));
		add(&q->without_output, r->requests.without_output);
		add(&q->short_output, r->requests.short_output);
		add(&q->output_tokens, r->output_tokens);
		add(ret_input_tokens, r->input_tokens);
		if (r->synthetic && record->synthetic != 1) {
			record->synthetic = 1;
			free(record->synthetic_why);
			record->synthetic_why = ib_strdup(r->synthetic);
		}
	}
}

/* --- what is odd about them --- */

static void add_part(struct ib_buf *b, int64_t n, const char *word)
{
	if (n > 0)
		ib_buf_addf(b, "%s %" PRId64 " %s", b->len ? "," : "", n, word);
}

static void note_requests(struct ib_record *r)
{
	const struct ib_record_requests *q = &r->requests;
	ib_auto_buf struct ib_buf b = IB_BUF(1024);

	add_part(&b, q->failed, "failed");
	add_part(&b, q->timed_out, "timed out");
	add_part(&b, q->incomplete, "incomplete");
	add_part(&b, q->unaccounted, "unaccounted for");
	if (q->attempted > 0 && q->succeeded >= 0 && (q->succeeded < q->attempted || b.len))
		ib_strv_take(&r->notes,
			     ib_asprintf("%" PRId64 " of %" PRId64 " requests succeeded%s%s", q->succeeded, q->attempted, b.len ? ":" : "", ib_buf_str(&b)));
	if (q->short_output > 0)
		ib_strv_take(&r->notes, ib_asprintf("%" PRId64 " of %" PRId64 " successful requests have fewer output tokens than were asked for", q->short_output,
						    q->succeeded));
}

/* Successful requests without a time to the first token, where others have one: zeros that a client writes for "not measured" are taken for that. */
static void note_ttft(const struct ib_result *res, struct ib_record *r)
{
	const struct ib_columns *c = &res->columns;
	size_t n = 0, missing = 0;

	for (size_t i = 0; c->ttft_s && c->outcome && i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		n++;
		missing += !(c->ttft_s[i] > 0);
	}
	if (missing && missing < n)
		ib_strv_take(&r->notes, ib_asprintf("%zu of %zu successful requests have no time to the first token; statistics leave them out", missing, n));
}

static void note_cut(const struct ib_result *res, struct ib_record *r)
{
	if (!res->cut)
		return;
	ib_record_fail(r, "truncated_output");
	ib_strv_take(&r->notes, ib_asprintf("the client's result says that it is not complete: %.300s", res->cut));
}

static void note_log(struct ib_run *run, const char *path)
{
	const struct ib_record_requests *q = &run->record->requests;
	int64_t n = ib_log_errors(run->dir_fd, path);
	int64_t told = (q->failed > 0 ? q->failed : 0) + (q->timed_out > 0 ? q->timed_out : 0);

	if (n > told)
		ib_strv_take(&run->record->notes, ib_asprintf("warning: '%.300s' tells of HTTP errors in %" PRId64 " lines, the results of %" PRId64 " failed requests",
							      path, n, told));
}

static void note_logs(struct ib_run *run, const struct tally *t)
{
	note_log(run, "stdout.log");
	note_log(run, "stderr.log");
	for (size_t i = 0; i < t->logs.n; i++)
		note_log(run, t->logs.v[i]);
}

static void take_results(struct ib_run *run, const struct tally *t, struct ib_results *all, int64_t *ret_input_tokens)
{
	sum_results(all, run->record, ret_input_tokens);
	note_requests(run->record);
	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].within) {
			note_ttft(&all->v[i], run->record);
			note_cut(&all->v[i], run->record);
		}
	note_logs(run, t);
}

static int64_t or_none(int64_t n)
{
	return n == IB_NOT_IN_FILE ? IB_NONE : n;
}

/* What the client sent on its own, and counts nowhere. */
static void take_own(const struct ib_run *run, const struct ib_results *all)
{
	ib_auto_strv struct ib_strv argv = {0};
	struct ib_warmups w;

	if (ib_run_expand_all(run, run->spec->argv, false, &argv, NULL) < 0)
		return;
	ib_warmups_of((const char *const *)argv.v, argv.n, all, &w);
	run->record->cache.own_requests = w.requests;
	run->record->cache.own_tokens = or_none(w.tokens);
	run->record->cache.own_perhaps_tokens = or_none(w.perhaps_tokens);
}

int ib_expect_read(struct ib_run *run, int64_t *ret_input_tokens, int64_t *ret_files, struct ib_err *err)
{
	__attribute__((cleanup(tally_clear))) struct tally t = {.start = &run->marker};
	ib_auto_outputs struct ib_outputs out = {0};
	ib_auto_fd int fd = -1;
	int r = ib_open_dir(run->dir_fd, "output", &fd, err);

	if (r < 0)
		return r;
	r = ib_client_read_dir(fd, &out, err);
	if (r < 0)
		return ib_wrap(err, "cannot read the client's results");
	count_files(&t, run->dir_fd, "output", "output", 0);
	*ret_files = t.produced;
	*ret_input_tokens = IB_NONE;
	drop_older(fd, &run->marker, &out.results);
	judge_files(&t, out.results.n, run->record);
	if (out.unreadable) {
		ib_record_fail(run->record, "truncated_output");
		ib_strv_take(&run->record->notes, ib_asprintf("a result cannot be read: %s", out.first.text));
	} else if (out.results.n > 0) {
		apply_argv(run, &out.results);
		take_results(run, &t, &out.results, ret_input_tokens);
		take_own(run, &out.results);
	}
	return 0;
}
