/* SPDX-License-Identifier: Apache-2.0 */
/* A37: a run stays well below what its client reached without a server. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* At a fixed number of requests in flight, throughput / ceiling is the share of each request's time that the client itself takes: at 0.8 a server that
 * took no time at all would gain a quarter at most, so that a faster one cannot be told from a slower one. */
#define SHARE_MAX 0.8

/* A cell of a ceiling, and the document it is in. */
struct ceiling {
	const json_t *cell;
	const char *file, *contract;
};

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* The document that an entry of the ledger holds, as it holds it; NULL: S17 says what is wrong. */
static const struct ib_study_doc *document(const struct ib_study_view *v, const struct ib_study_entry *e)
{
	for (size_t i = 0; !e->why && e->e.kind == IB_ENTRY_CEILING && i < v->n_ceilings; i++) {
		const struct ib_study_doc *d = &v->ceilings[i];

		if (d->json && strcmp(d->path, e->e.file) == 0 && strcmp(d->sha256, e->e.sha256) == 0 &&
		    ib_get_schema(d->json, d->path, "urn:ibtools:ceiling:v1", NULL) == 0)
			return d;
	}
	return NULL;
}

/* The command of a slot of the contract's plan, or NULL. */
static const json_t *command_of(const json_t *plan, const char *group, const char *cell)
{
	const json_t *slot;
	size_t i;

	json_array_foreach(plan, i, slot)
		if (strcmp(text(slot, "group"), group) == 0 && strcmp(text(slot, "cell"), cell) == 0)
			return json_object_get(slot, "command");
	return NULL;
}

/* Is the cell that of the slot, or one of its group with the same command, which is measured once? */
static bool covers(const struct ib_study_view *v, const json_t *cell, const json_t *slot)
{
	const json_t *command = json_object_get(slot, "command");

	if (strcmp(text(cell, "group"), text(slot, "group")) != 0)
		return false;
	if (strcmp(text(cell, "cell"), text(slot, "cell")) == 0)
		return true;
	return command && json_equal(command, command_of(json_object_get(v->contract, "plan"), text(cell, "group"), text(cell, "cell")));
}

/* The last ceiling of the run's command. False: there is none. */
static bool find(const struct ib_study_view *v, const struct ib_audit_run *run, struct ceiling *ret)
{
	*ret = (struct ceiling){0};
	for (size_t i = 0; run->slot && i < v->n_entries; i++) {
		const struct ib_study_doc *doc = document(v, &v->entries[i]);
		const json_t *cell;
		size_t k;

		json_array_foreach(doc ? json_object_get(doc->json, "cells") : NULL, k, cell)
			if (covers(v, cell, run->slot))
				*ret = (struct ceiling){cell, doc->path, text(doc->json, "contract_sha256")};
	}
	return ret->cell;
}

/* Why the ceiling says nothing of the run, or NULL. */
static const char *unfit(const struct ib_audit_run *run, const struct ib_result *res, const struct ceiling *c)
{
	double rate = isnan(res->rate_asked) ? ib_audit_number(run, res, IB_SET_RATE) : res->rate_asked;

	if (strcmp(text(c->cell, "status"), "measured") != 0)
		return "the ceiling of its client was tried, but not measured";
	if (strcmp(c->contract, run->run->record.contract_sha256) != 0)
		return "the ceiling of its client was measured under another version of the contract";
	if (strcmp(text(c->cell, "load"), "open") == 0 || isfinite(rate))
		return "its load is offered at a rate: the ceiling is that rate, not what the client could reach";
	if (run->results->n != 1 || res->partial)
		return "its throughput is that of several results, or of a part of the requests";
	return NULL;
}

static void compare(const struct ib_check *self, const struct ib_result *res, const struct ceiling *c, struct ib_findings *f)
{
	const struct {
		const char *unit;
		double run, ceiling;
	} both[] = {{"requests/s", (double)res->requests.succeeded / res->duration_s, number(c->cell, "requests_per_s")},
		    {"output tokens/s", res->output_tokens > 0 ? (double)res->output_tokens / res->duration_s : NAN, number(c->cell, "output_tokens_per_s")}};
	struct ib_finding *one;
	char want[48], got[48];
	double share = 0;
	size_t k = 0;

	for (size_t i = 0; i < IB_LEN(both); i++)
		if (both[i].run >= 0 && both[i].ceiling > 0 && both[i].run / both[i].ceiling > share)
			share = both[k = i].run / both[i].ceiling;
	if (!(share > 0)) {
		ib_check_skip(self, f, res->file, "it does not say how many requests a second succeeded");
		return;
	}
	if (share < SHARE_MAX)
		one = ib_check_say(self, f, res->file, "%.0f %% of what its client reaches without a server (%.4g of %.4g %s)", 100 * share, both[k].run,
				   both[k].ceiling, both[k].unit);
	else
		one = ib_check_fail(self, f, IB_OK, res->file,
				    "%.4g %s, %.0f %% of the %.4g that its client reaches without a server: it is the client that is measured", both[k].run,
				    both[k].unit, 100 * share, both[k].ceiling);
	snprintf(want, sizeof(want), "below %.6g", SHARE_MAX * both[k].ceiling);
	snprintf(got, sizeof(got), "%.6g", both[k].run);
	ib_finding_values(one, want, got);
}

static bool one_run(const struct ib_check *self, const struct ib_study_view *v, const struct ib_audit_run *run, struct ib_findings *f)
{
	const struct ib_result *res = run->results->n ? &run->results->v[0] : NULL;
	struct ceiling c;
	const char *why;

	if (!res || !run->run->has_record || !find(v, run, &c))
		return false;
	why = unfit(run, res, &c);
	if (why)
		ib_check_skip(self, f, res->file, why);
	else
		compare(self, res, &c, f);
	return true;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t measured = 0;

	if (ib_check_needs_study(self, v, f))
		return;
	for (size_t i = 0; i < v->n_runs; i++)
		measured += one_run(self, v->study, &v->runs[i], f);
	if (!measured)
		ib_check_skip(self, f, NULL, "no ceiling of its clients is in the study: ib-run --ceiling measures them without a server");
}

const struct ib_check ib_check_ceiling = {
	.id = "A37",
	.level = IB_FINDING_W,
	.title = "runs stay below 80 % of what their clients reach without a server",
	.reads = "requests and output tokens a second of each run against the ceiling of its command (ib-run --ceiling), where the load is not offered at a rate; "
		 "the larger share counts",
	.means = "with a fixed number of requests in flight that share is the client's own part of each request's time: from 80 % on, a server that took no "
		 "time would gain a quarter at most, so that the numbers are those of the client",
	.todo = "give the client more processes, a faster machine or one of its own, measure its ceiling again, and repeat the runs",
	.audit = run,
};
