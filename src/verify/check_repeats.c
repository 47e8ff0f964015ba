/* SPDX-License-Identifier: Apache-2.0 */
/* A17: a number was measured more than once, and its spread is seen. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* Requests a second of a run's only result, or NaN. */
static double rate_of(const struct ib_audit_run *run)
{
	const struct ib_result *res = run->results->n == 1 ? &run->results->v[0] : NULL;

	return res && res->requests.succeeded > 0 && res->duration_s > 0 ? (double)res->requests.succeeded / res->duration_s : NAN;
}

struct cell {
	const char *group, *cell;
	size_t runs, rates, first; /* completed ones; those with a rate; index of the first run */
	double least, most, sum;
	bool single_planned;
};

static const char *text(const char *s)
{
	return s ? s : "";
}

static struct cell *cell_of(struct cell *cells, size_t *n, const struct ib_audit_run *run, size_t i)
{
	const struct ib_record *r = &run->run->record;

	for (size_t k = 0; k < *n; k++)
		if (ib_streq(cells[k].group, r->group) && ib_streq(cells[k].cell, r->cell))
			return &cells[k];
	cells[*n] = (struct cell){.group = r->group, .cell = r->cell, .first = i, .least = INFINITY, .most = -INFINITY};
	return &cells[(*n)++];
}

static void one_cell(const struct ib_check *self, const struct ib_audit_view *v, const struct cell *c, struct ib_findings *f)
{
	const struct ib_audit_run *run = &v->runs[c->first];

	if (json_is_true(json_object_get(run->group, "diagnostic")))
		return;
	if (c->runs == 1)
		ib_check_fail(self, f, IB_OK, run->run->doc.path, "a single completed run of '%s' '%s': how far its numbers vary is not "
								  "known", text(c->group), text(c->cell));
	else if (c->rates > 1)
		ib_check_say(self, f, run->run->doc.path, "%zu completed runs of '%s' '%s': %.4g to %.4g requests/s, a spread of %.1f %% of their "
							  "mean", c->runs, text(c->group),
			     text(c->cell), c->least, c->most, 100 * (c->most - c->least) / (c->sum / (double)c->rates));
}

static void of_study(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_free struct cell *cells = ib_alloc((v->n_runs + 1) * sizeof(*cells));
	size_t n = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];
		double rate = rate_of(run);
		struct cell *c;

		if (!run->run->has_record || run->run->state != IB_STATE_COMPLETED || run->run->exclusion || !run->group)
			continue;
		c = cell_of(cells, &n, run, i);
		c->runs++;
		if (isnan(rate))
			continue;
		c->rates++;
		c->sum += rate;
		c->least = fmin(c->least, rate);
		c->most = fmax(c->most, rate);
	}
	for (size_t k = 0; k < n; k++)
		one_cell(self, v, &cells[k], f);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (v->study && !v->alone)
		of_study(self, v, f);
	ib_check_hints(self, v, f);
	if (f->n == before)
		ib_check_skip(self, f, NULL, v->study && !v->alone ? "no run is of a group: which of them repeat each other nobody said"
								  : "which results repeat each other nobody wrote down: ask for the number, the order and the protocol of repeats");
}

const struct ib_check ib_check_repeats = {
	.id = "A17",
	.level = IB_FINDING_W,
	.title = "numbers were measured more than once",
	.reads = "completed runs of each cell of a contract, diagnostic groups left out, and the spread of their request rates",
	.means = "a number was measured once: a difference from another of less than the unknown spread means nothing",
	.todo = "repeat the run; quote no single run as a headline",
	.audit = run,
};
