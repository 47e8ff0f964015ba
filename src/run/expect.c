/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's client says about its requests, and whether that is what was expected. */
#include "run/expect.h"

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

#define FILES_MAX 1000000

/* --- reading --- */

/* Regular files below a directory, at most 16 levels deep. */
static int64_t count_files(int at, const char *name, int depth)
{
	ib_auto_fd int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	ib_auto_dir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	int64_t n = 0;

	if (!d)
		return 0;
	fd = -1; /* d owns it */
	for (const struct dirent *e = readdir(d); e && n < FILES_MAX; e = readdir(d)) {
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			n++;
		else if (S_ISDIR(st.st_mode) && depth < 16)
			n += count_files(dirfd(d), e->d_name, depth + 1);
	}
	return n;
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

	q->attempted = q->succeeded = q->failed = q->timed_out = q->output_tokens = *ret_input_tokens = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct ib_result *r = &all->v[i];

		if (r->within)
			continue;
		add(&q->attempted, r->requests.attempted);
		add(&q->succeeded, r->requests.succeeded);
		add(&q->failed, r->requests.failed);
		add(&q->timed_out, r->requests.timed_out);
		add(&q->output_tokens, r->output_tokens);
		add(ret_input_tokens, r->input_tokens);
		if (r->synthetic && record->synthetic != 1) {
			record->synthetic = 1;
			free(record->synthetic_why);
			record->synthetic_why = ib_strdup(r->synthetic);
		}
	}
	free(q->client);
	free(q->schema_id);
	q->client = ib_strdup(all->v[0].client->name);
	q->schema_id = ib_strdup(all->v[0].schema_id);
}

int ib_expect_read(struct ib_run *run, int64_t *ret_input_tokens, int64_t *ret_files, struct ib_err *err)
{
	ib_auto_outputs struct ib_outputs out = {0};
	ib_auto_fd int fd = -1;
	int r = ib_open_dir(run->dir_fd, "output", &fd, err);

	if (r < 0)
		return r;
	r = ib_client_read_dir(fd, &out, err);
	if (r < 0)
		return ib_wrap(err, "cannot read the client's results");
	*ret_files = count_files(run->dir_fd, "output", 0);
	*ret_input_tokens = IB_NONE;
	if (out.unreadable) {
		ib_record_fail(run->record, "truncated_output");
		ib_strv_take(&run->record->notes, ib_asprintf("a result cannot be read: %s", out.first.text));
	} else if (out.results.n > 0) {
		sum_results(&out.results, run->record, ret_input_tokens);
	}
	return 0;
}

/* --- judging --- */

struct row {
	struct ib_record *record;
	const char *key;
};

static void conclude(const struct row *row, const char *expected, const char *found, enum ib_expectation_status status)
{
	ib_record_add_expectation(row->record, row->key, expected, found, status);
	if (status != IB_EXPECT_MET && strcmp(row->key, "exit_status") != 0) {
		ib_auto_free char *reason = ib_asprintf("expectation:%s", row->key);

		ib_record_fail(row->record, reason);
	}
}

/* least: found may be more. */
static void compare(struct ib_record *record, const char *key, int64_t expected, int64_t found, bool least)
{
	struct row row = {record, key};
	ib_auto_free char *e = ib_asprintf("%" PRId64, expected);
	ib_auto_free char *f = found == IB_NONE ? NULL : ib_asprintf("%" PRId64, found);
	bool met = least ? found >= expected : found == expected;

	conclude(&row, e, f, found == IB_NONE ? IB_EXPECT_UNKNOWN : met ? IB_EXPECT_MET : IB_EXPECT_UNMET);
}

static void compare_rate(struct ib_record *record, double least)
{
	struct row row = {record, "success_rate_min"};
	int64_t n = record->requests.attempted, ok = record->requests.succeeded;
	double rate = n > 0 && ok != IB_NONE ? (double)ok / (double)n : NAN;
	ib_auto_free char *f = isnan(rate) ? NULL : ib_asprintf("%.6g", rate);
	ib_auto_free char *e = ib_asprintf("%.6g", least);

	conclude(&row, e, f, isnan(rate) ? IB_EXPECT_UNKNOWN : rate >= least ? IB_EXPECT_MET : IB_EXPECT_UNMET);
}

static void compare_server(struct ib_record *record)
{
	struct row row = {record, "server_output_tokens"};
	int64_t client = record->requests.output_tokens, server = record->server_output_tokens;
	ib_auto_free char *e = client == IB_NONE ? ib_strdup("as many as the client reports") : ib_asprintf("%" PRId64, client);
	ib_auto_free char *f = server == IB_NONE ? NULL : ib_asprintf("%" PRId64, server);

	conclude(&row, e, f, client == IB_NONE || server == IB_NONE ? IB_EXPECT_UNKNOWN : client == server ? IB_EXPECT_MET : IB_EXPECT_UNMET);
}

void ib_expect_judge(const struct ib_contract_expect *expect, int64_t files, struct ib_record *record)
{
	compare(record, "exit_status", expect->exit_status, record->exit.status, false);
	if (expect->attempts != IB_UNSET)
		compare(record, "attempts", expect->attempts, record->requests.attempted, false);
	if (!isnan(expect->success_rate_min))
		compare_rate(record, expect->success_rate_min);
	if (expect->output_tokens != IB_UNSET)
		compare(record, "output_tokens", expect->output_tokens, record->requests.output_tokens, false);
	if (expect->output_tokens_min != IB_UNSET)
		compare(record, "output_tokens_min", expect->output_tokens_min, record->requests.output_tokens, true);
	if (expect->server_output_tokens)
		compare_server(record);
	if (expect->output_files_min != IB_UNSET)
		compare(record, "output_files_min", expect->output_files_min, files, true);
	if (isnan(expect->success_rate_min))
		ib_expect_honest_status(record);
}

void ib_expect_honest_status(struct ib_record *record)
{
	const struct ib_record_requests *q = &record->requests;
	bool failed = q->failed != IB_NONE && q->failed > 0;
	bool none = q->attempted != IB_NONE && q->attempted > 0 && q->succeeded == 0;

	if (record->exit.status == 0 && (failed || none))
		ib_record_fail(record, "errors_with_status_0");
}

int ib_expect_step(void *arg, struct ib_run *run, struct ib_err *err)
{
	int64_t input_tokens, files;
	int r = ib_expect_read(run, &input_tokens, &files, err);

	(void)arg;
	if (r < 0)
		return r;
	ib_expect_honest_status(run->record);
	return 0;
}
