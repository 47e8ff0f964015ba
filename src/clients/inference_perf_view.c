/* SPDX-License-Identifier: Apache-2.0 */
/* How a report of inference-perf looks at the records: they do not name their stage, and may be counted by the client or by the server. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/inference_perf.h"

static int64_t stage_number(const struct ib_result *r)
{
	return r->label && ib_starts(r->label, "stage ") ? strtoll(r->label + 6, NULL, 10) : -1;
}

static bool same_dir(const struct ib_result *a, const struct ib_result *b)
{
	const char *x = strrchr(a->file, '/'), *y = strrchr(b->file, '/');
	size_t n = x ? (size_t)(x - a->file) : 0;

	return n == (y ? (size_t)(y - b->file) : 0) && strncmp(a->file, b->file, n) == 0;
}

/* How many requests the stages before this one, and all stages, count; and how many stages there are. */
struct stages {
	int64_t before, all;
	size_t n;
};

static struct stages count_stages(const struct ib_results *all, const struct ib_result *stage)
{
	struct stages s = {0};

	for (size_t i = 0; i < all->n; i++) {
		const struct ib_result *r = &all->v[i];

		if (r->client != stage->client || r->part != IB_PART_SUMMARY || stage_number(r) < 0 || !same_dir(r, stage) || r->requests.attempted < 0)
			continue;
		s.n++;
		s.all += r->requests.attempted;
		s.before += stage_number(r) < stage_number(stage) ? r->requests.attempted : 0;
	}
	return s;
}

struct start {
	double at;
	size_t row;
};

static int by_start(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Stages follow one another: in the order of their starts, the first requests are those of the first stage. */
static void cover(const struct stages *s, int64_t n, struct ib_view *view)
{
	const struct ib_columns *c = &view->columns;
	ib_auto_free struct start *starts = ib_realloc(NULL, c->n + 1, sizeof(*starts));

	for (size_t i = 0; i < c->n; i++) {
		starts[i] = (struct start){c->start_s ? c->start_s[i] : NAN, i};
		if (isnan(starts[i].at)) {
			view->why = "some records have no start, so that nobody knows which stage is theirs";
			return;
		}
	}
	qsort(starts, c->n, sizeof(*starts), by_start);
	view->warmup = ib_alloc(c->n + 1);
	for (size_t i = 0; i < c->n; i++)
		view->warmup[starts[i].row] = (int64_t)i < s->before || (int64_t)i >= s->before + n;
	view->columns.warmup = view->warmup;
}

static double claimed(const struct ib_result *r, const char *name)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	return c ? c->claimed : NAN;
}

/* An option decides whether time per token and rates rest on the client's counts or on the server's; the rate shows which it was. Where the client says
 * that both agree for every request there is nothing to choose: a record in which they do not was changed. */
static void choose_counts(const struct ib_result *summary, struct ib_view *view)
{
	const struct ib_columns *c = &view->columns;
	double tokens = claimed(summary, "output_tokens_per_sec") * summary->duration_s, client = 0, server = 0;

	if (!c->output_tokens || !c->output_server || claimed(summary, IB_INFERENCE_PERF_MISMATCHES) == 0)
		return;
	view->output_tokens = ib_columns_ints(c->n);
	for (size_t i = 0; i < c->n; i++) {
		view->output_tokens[i] = c->output_server[i] >= 0 ? c->output_server[i] : c->output_tokens[i];
		if (!ib_columns_counts(c, i))
			continue;
		client += (double)c->output_tokens[i];
		server += (double)view->output_tokens[i];
	}
	if (fabs(tokens - server) < fabs(tokens - client))
		view->columns.output_tokens = view->output_tokens;
}

void ib_inference_perf_view(const struct ib_results *all, const struct ib_result *summary, const struct ib_result *records, struct ib_view *view)
{
	if (summary->label && stage_number(summary) < 0) {
		view->why = "the records do not name the adapter that they were sent to";
	} else if (summary->label) {
		struct stages s = count_stages(all, summary);

		if (s.n > 1 && s.all != (int64_t)records->columns.n)
			view->why = "the stages do not count as many requests as there are records";
		else if (s.n > 1)
			cover(&s, summary->requests.attempted, view);
	}
	if (!view->why)
		choose_counts(summary, view);
}
