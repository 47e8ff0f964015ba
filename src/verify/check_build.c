/* SPDX-License-Identifier: Apache-2.0 */
/* A24: one build of client, server, driver and kernel for all runs of a series. */
#include <string.h>

#include "base/str.h"
#include "verify/check.h"
#include "verify/series.h"

/* Texts of one sort in a series: the first, and whether others differ. */
struct seen {
	const char *text, *file;
	bool mixed;
};

static void see(const struct ib_check *self, const char *what, struct seen *s, const char *text, const char *file, struct ib_findings *f)
{
	if (!text || s->mixed)
		return;
	if (!s->text) {
		s->text = text;
		s->file = file;
		return;
	}
	if (strcmp(s->text, text) == 0)
		return;
	s->mixed = true;
	ib_finding_values(ib_check_fail(self, f, IB_OK, file, "%s '%s', but '%s' in '%s': the series mixes builds", what, text, s->text, s->file), s->text,
			text);
}

static void one_series(const struct ib_check *self, const struct ib_audit_view *v, const struct ib_members *m, size_t from, size_t to, struct ib_findings *f)
{
	struct seen version = {0}, form = {0}, engine = {0}, server = {0}, kernel = {0}, driver = {0};

	for (size_t i = from; i < to; i++) {
		const struct ib_result *res = m->v[i].res;
		const struct ib_audit_run *run = m->v[i].run;
		const struct ib_facts *node = run->run && run->run->has_record ? ib_study_capture(v->study, run->run->record.capture_node) : NULL;

		see(self, "its client is version", &version, res->client_version, res->file, f);
		see(self, "its form is", &form, res->schema_id, res->file, f);
		see(self, "its server is of", &engine, run->context->before.engine, res->file, f);
		if (run->run)
			see(self, "its server is version", &server, run->run->before.v[IB_FACT_SERVER_VERSION], res->file, f);
		if (!node)
			continue;
		see(self, "its kernel is", &kernel, node->v[IB_FACT_KERNEL], res->file, f);
		see(self, "its GPU driver is", &driver, node->v[IB_FACT_GPU_DRIVER], res->file, f);
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_members struct ib_members m;
	size_t before = f->n, series = 0;

	ib_members_gather(v, IB_SAME_CLIENT, &m);
	for (size_t i = 0, to; i < m.n; i = to) {
		to = ib_members_end(&m, i);
		series += to - i > 1;
		one_series(self, v, &m, i, to, f);
	}
	ib_check_hints(self, v, f);
	if (!series && f->n == before)
		ib_check_skip(self, f, NULL, "there is no second result of one client to compare builds with");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_build = {
	.id = "A24",
	.level = IB_FINDING_W,
	.title = "one build for all runs of a series",
	.reads = "versions and forms of the results of one client (in a study: of one group), the engine behind their pages of metrics, the endpoint's "
		 "version, kernel and GPU driver "
		 "in the captures",
	.means = "runs that stand beside each other were measured with different builds: a difference between them may be the build's",
	.todo = "repeat them with one build, or make the build the one thing that varies and say so",
	.audit = run,
};
