/* SPDX-License-Identifier: Apache-2.0 */
/* A28: the times are possible: wall against monotonic clock, no negative durations, nothing beyond the run. */
#include <inttypes.h>
#include <math.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "verify/check.h"

#define SHARE 0.02
#define AT_LEAST_S 1.0

static void one_record(const struct ib_check *self, const struct ib_study_run *run, struct ib_findings *f)
{
	const struct ib_record *r = &run->record;
	double wall, mono;
	char want[40], got[40];

	if (r->time.started_ns == IB_NONE || r->time.finished_ns == IB_NONE || r->time.monotonic_ns == IB_NONE)
		return;
	wall = (double)(r->time.finished_ns - r->time.started_ns) / 1e9;
	mono = (double)r->time.monotonic_ns / 1e9;
	if (fabs(wall - mono) <= AT_LEAST_S || fabs(wall - mono) <= SHARE * mono)
		return;
	snprintf(want, sizeof(want), "%.3f s", mono);
	snprintf(got, sizeof(got), "%.3f s", wall);
	ib_finding_values(ib_check_fail(self, f, IB_OK, run->doc.path, "the wall clock moved %.3f s while %.3f s passed: it was set during the run", wall,
			mono), want, got);
}

/* How many rows of a result have times that cannot be. */
struct odd {
	size_t negative, beyond, order, first;
};

static bool negative_gap(const struct ib_columns *c, size_t i)
{
	for (size_t k = c->itl_at ? c->itl_at[i] : 0; c->itl_at && k < c->itl_at[i + 1]; k++)
		if (c->itl_s[k] < 0)
			return true;
	return false;
}

static void one_row(const struct ib_columns *c, size_t i, double span, struct odd *o)
{
	size_t before = o->negative + o->beyond + o->order;
	double ttft = c->ttft_s ? c->ttft_s[i] : NAN, e2e = c->e2e_s ? c->e2e_s[i] : NAN;

	o->negative += ttft < 0 || e2e < 0 || (c->queue_s && c->queue_s[i] < 0) || (c->last_s && c->last_s[i] < 0);
	o->order += ttft > e2e * (1 + 1e-9) + 1e-6 && e2e > 0;
	o->beyond += e2e > span || ttft > span || isinf(e2e) || isinf(ttft);
	o->negative += negative_gap(c, i);
	if (!before && o->negative + o->beyond + o->order)
		o->first = i;
}

static void one_columns(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_columns *c = &res->columns;
	double span = isnan(res->duration_s) || res->duration_s <= 0 ? INFINITY : res->duration_s * (1 + SHARE) + AT_LEAST_S;
	struct odd o = {0};
	struct ib_finding *one;

	for (size_t i = 0; i < c->n; i++)
		if (!c->outcome || c->outcome[i] == IB_OUTCOME_SUCCEEDED)
			one_row(c, i, span, &o);
	if (!(o.negative + o.beyond + o.order))
		return;
	one = ib_check_fail(self, f, IB_OK, res->file, "times of requests cannot be: %zu negative, %zu with the first token after the end, %zu longer than "
			"the whole run; the first is record %zu",
			    o.negative, o.order, o.beyond, o.first);
	if (!one->where)
		one->where = ib_asprintf("record %zu", o.first);
}

static void one_result(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	one_columns(self, res, f);
	if (res->ended_at < res->began_at)
		ib_check_fail(self, f, IB_OK, res->file, "the measurement ends before it begins");
	if (res->zone_unknown)
		ib_check_fail_as(self, f, IB_FINDING_I, res->file, "its times have no time zone: they are taken as UTC");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, timed = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];

		if (run->run && run->run->has_record) {
			timed += run->run->record.time.monotonic_ns != IB_NONE;
			one_record(self, run->run, f);
		}
		for (size_t k = 0; k < run->results->n; k++) {
			if (run->results->v[k].unknown_version)
				continue;
			timed += run->results->v[k].columns.n > 0;
			one_result(self, &run->results->v[k], f);
		}
	}
	ib_check_hints(self, v, f);
	if (!timed && f->n == before)
		ib_check_skip(self, f, NULL, "neither a record of a run nor one of a request holds times");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_clocks = {
	.id = "A28",
	.level = IB_FINDING_W,
	.title = "the times are possible and the clocks agree",
	.reads = "each record's wall and monotonic times (more than 2 % and 1 s apart fail); the times of every succeeded request: negative, first token "
		 "after the end, longer than the "
		 "run by more than 2 % and 1 s; begin and end of the measurement, and whether they have a time zone (a note)",
	.means = "a clock was set during the run, or times were invented, mixed up or measured on different clocks",
	.todo = "trust no duration of such a run; keep clocks disciplined, take durations from a monotonic clock",
	.audit = run,
};
