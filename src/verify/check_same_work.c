/* SPDX-License-Identifier: Apache-2.0 */
/* A21: runs that stand beside each other did the same work; and the same prompts got the same outputs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/series.h"

#define WITHIN 0.01

/* Tokens of a result; which 0: input, 1: output. */
static int64_t tokens(const struct ib_result *res, int which)
{
	return which ? res->output_tokens : res->input_tokens;
}

static bool apart(const struct ib_check *self, const struct ib_member *low, const struct ib_member *high, int which, struct ib_findings *f)
{
	int64_t a = tokens(low->res, which), b = tokens(high->res, which);
	char want[32], got[32];
	bool survivors = low->res->requests.succeeded != high->res->requests.succeeded;

	if ((double)(b - a) <= WITHIN * (double)b)
		return false;
	snprintf(want, sizeof(want), "%" PRId64, b);
	snprintf(got, sizeof(got), "%" PRId64, a);
	ib_finding_values(ib_check_fail(self, f, IB_OK, low->res->file, "did not do the same work as '%s': %" PRId64 " against %" PRId64 " %s tokens%s",
			high->res->file, a, b,
					which ? "output" : "input", survivors ? ", from another number of succeeded requests" : ""),
			  want, got);
	return true;
}

/* Smallest against largest of a series. */
static size_t one_total(const struct ib_check *self, const struct ib_members *m, size_t from, size_t to, int which, struct ib_findings *f)
{
	size_t low = to, high = to, n = 0;

	for (size_t i = from; i < to; i++) {
		int64_t t = tokens(m->v[i].res, which);

		if (t == IB_NOT_IN_FILE || m->v[i].res->part == IB_PART_RECORDS)
			continue;
		n++;
		low = low == to || t < tokens(m->v[low].res, which) ? i : low;
		high = high == to || t > tokens(m->v[high].res, which) ? i : high;
	}
	if (n > 1)
		apart(self, &m->v[low], &m->v[high], which, f);
	return n;
}

/* Rows of two results with equal prompts and unequal outputs. */
static size_t other_outputs(const struct ib_columns *a, const struct ib_columns *b)
{
	size_t n = 0;

	if (!a->prompt_hash || !a->output_hash || !b->prompt_hash || !b->output_hash || a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		n += a->prompt_hash[i] && a->prompt_hash[i] == b->prompt_hash[i] && a->output_hash[i] && b->output_hash[i] &&
				a->output_hash[i] != b->output_hash[i];
	return n;
}

static void identity(const struct ib_check *self, const struct ib_members *m, size_t from, size_t to, struct ib_findings *f)
{
	for (size_t i = from + 1; i < to; i++) {
		size_t n = other_outputs(&m->v[from].res->columns, &m->v[i].res->columns);

		if (n && ib_audit_number(m->v[i].run, m->v[i].res, IB_SET_TEMPERATURE) == 0)
			ib_check_fail_as(self, f, IB_FINDING_I, m->v[i].res->file, "%zu of %zu prompts got another output than in '%s', at temperature 0",
					n, m->v[i].res->columns.n,
					 m->v[from].res->file);
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_members struct ib_members m, same;
	size_t before = f->n, compared = 0;

	ib_members_gather(v, IB_SAME_WORK, &m);
	for (size_t i = 0, to; i < m.n; i = to) {
		to = ib_members_end(&m, i);
		for (int which = 0; which < 2 && to - i > 1; which++)
			compared += one_total(self, &m, i, to, which, f) > 1;
	}
	ib_members_gather(v, IB_SAME_COMMAND, &same);
	for (size_t i = 0, to; i < same.n; i = to) {
		to = ib_members_end(&same, i);
		identity(self, &same, i, to, f);
	}
	ib_check_hints(self, v, f);
	if (!compared && f->n == before)
		ib_check_skip(self, f, NULL, "no two results were asked for the same work and say how many tokens it was");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_same_work = {
	.id = "A21",
	.level = IB_FINDING_W,
	.title = "runs that are compared did the same work, within 1 %",
	.reads = "input and output tokens of results that were asked for the same model, workload, number and lengths of requests; the outputs for the same "
		 "prompts at temperature 0 "
		 "(a note where they differ)",
	.means = "a run did more than 1 % less work than another that was asked for the same: its rates and times are of something else",
	.todo = "look for failures, early stops and other tokenizers; force the output length (ignore_eos), and compare only runs with equal totals",
	.audit = run,
};
