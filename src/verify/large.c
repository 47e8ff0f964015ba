/* SPDX-License-Identifier: Apache-2.0 */
/* Results in a study that are too large to be held in memory: read as streams, once their digests are known, and kept when the bytes were still the same. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/client.h"
#include "verify/hashed.h"
#include "verify/runs.h"

#define LOOK (64u << 10)
#define COLUMNS_MAX ((size_t)4 << 30) /* bytes that the columns of all large results may take together */

static struct ib_study_run *run_of(const struct ib_study_view *v, const char *path, const char **ret_rest)
{
	char id[IB_RUN_ID_MAX];

	*ret_rest = ib_study_split(path, id);
	return *ret_rest ? ib_study_find_run(v, id) : NULL;
}

/* A directory asks for the file that was handed over last; a packet when all were, in the order of their bytes. */
static const struct ib_study_file *known(const struct ib_study_view *v, const char *path)
{
	if (v->n_files && strcmp(v->files[v->n_files - 1].path, path) == 0)
		return &v->files[v->n_files - 1];
	return v->anchored ? ib_study_find_file(v, path) : NULL;
}

static bool streams(void *arg, const char *path, uint64_t size)
{
	const struct ib_study_view *v = arg;
	const struct ib_study_file *have = known(v, path);
	const struct ib_record_file *listed;
	const char *rest;
	const struct ib_study_run *run = run_of(v, path, &rest);

	if (!run || v->no_clients || !have || !*have->sha256 || size <= IB_JSON_MAX || !ib_starts(rest, "output/") || v->held_columns > COLUMNS_MAX)
		return false;
	listed = ib_study_listed(run, rest);
	return listed && strcmp(listed->sha256, have->sha256) == 0;
}

/* What was looked at, then the rest. */
struct looked {
	struct ib_source_mem head;
	const struct ib_source *rest;
};

static int read_looked(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct looked *l = arg;
	size_t k = l->head.n - l->head.at < n ? l->head.n - l->head.at : n, more = 0;
	int r = 0;

	memcpy(data, l->head.data + l->head.at, k);
	l->head.at += k;
	if (k < n)
		r = l->rest->read(l->rest->arg, (char *)data + k, n - k, &more, err);
	*ret_n = k + more;
	return r;
}

static bool stream(void *arg, const char *path, const struct ib_source *in)
{
	struct ib_study_view *v = arg;
	char *head = ib_alloc(LOOK);
	struct looked l = {.head = {.data = head}, .rest = in};
	const struct ib_source all = {.read = read_looked, .arg = &l};
	const char *rest;
	struct ib_study_run *run = run_of(v, path, &rest);
	struct ib_err err;
	bool known_client = false;

	ib_results_clear(&v->streamed);
	free(ib_steal(&v->streamed_why));
	if (in->read(in->arg, head, LOOK, &l.head.n, &err) == 0) {
		known_client = ib_client_recognise(head, l.head.n) != NULL;
		if (!known_client)
			run->unread--; /* looked at, and no result */
		else if (ib_client_read_source(&all, path, &v->streamed, &err) == IB_E_LIMIT)
			known_client = false; /* not torn, and not read either */
		else if (!v->streamed.n)
			v->streamed_why = ib_strdup(err.text);
	}
	free(head);
	return known_client;
}

static size_t bytes_of(const struct ib_results *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += (all->v[i].columns.n * 16 + all->v[i].columns.itl_n) * sizeof(double);
	return n;
}

static void streamed(void *arg, const char *path, const char *sha256)
{
	struct ib_study_view *v = arg;
	const struct ib_study_file *have = known(v, path);
	const char *rest;
	struct ib_study_run *run = run_of(v, path, &rest);

	if (!have || strcmp(have->sha256, sha256) != 0) {
		ib_study_problem(v, "S16", IB_E_IO, path, "changed while it was read");
	} else {
		run->unread--;
		if (v->streamed_why)
			ib_strv_take(&run->torn_results, ib_asprintf("%s: %s", path, v->streamed_why));
		v->held_columns += bytes_of(&v->streamed);
		ib_results_move(&run->results, &v->streamed);
	}
	ib_results_clear(&v->streamed);
	free(ib_steal(&v->streamed_why));
}

void ib_study_stream_sink(struct ib_evidence_sink *sink)
{
	sink->streams = streams;
	sink->stream = stream;
	sink->streamed = streamed;
}

bool ib_study_view_unread(const struct ib_study_view *v)
{
	for (size_t i = 0; i < v->n_runs; i++)
		if (v->runs[i].unread)
			return true;
	return false;
}
