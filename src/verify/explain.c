/* SPDX-License-Identifier: Apache-2.0 */
/* --explain and --list-clients. */
#include "verify/explain.h"

#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/client.h"
#include "metrics/formula.h"
#include "verify/check.h"
#include "verify/text.h"

#define NAMES_MAX 400

static void explain_check(const struct ib_check *c, struct ib_buf *b)
{
	static const char *const levels[] = {
		[IB_FINDING_E] = "E: where it fails, the evidence does not hold",
		[IB_FINDING_W] = "W: where it fails, a warning that limits what the evidence is good for (--strict: it decides)",
		[IB_FINDING_I] = "I: a note",
	};

	ib_buf_addf(b, "%s  %s\n", c->id, c->title);
	ib_text_wrap(b, "level", levels[c->level]);
	ib_text_wrap(b, "reads", c->reads);
	ib_text_wrap(b, "a failure", c->means);
	ib_text_wrap(b, "what to do", c->todo);
}

static void explain_formula(const struct ib_formula *f, struct ib_buf *b)
{
	ib_buf_addf(b, "%s  (%s)\n", f->name, f->unit);
	ib_text_wrap(b, "definition", f->definition);
	ib_text_wrap(b, "population", f->population);
	if (f->samples)
		ib_text_wrap(b, "samples", f->samples);
	if (f->window)
		ib_text_wrap(b, "divided by", f->window);
	if (f->series)
		ib_text_wrap(b, "percentiles", "linear between the two nearest samples, as numpy does it; a client's own number is derived by that client's rule, which the "
						"findings name. Refused, for the largest of n: p90 below 10 samples, p95 below 20, p99 below 100, p99.9 below 1,000");
	if (f->clients)
		ib_text_wrap(b, "clients", f->clients);
}

/* "tpot" stands for every formula whose name begins with "tpot_". */
static bool of_metric(const struct ib_formula *f, const char *metric)
{
	size_t n = strlen(metric);

	return strncasecmp(f->name, metric, n) == 0 && (!f->name[n] || f->name[n] == '_');
}

/* First words of formulas' names that people look for. */
static const char *const metrics[] = {"ttft", "tpot", "itl", "e2e", "queue", "speed", "requests", "output_tokens", "goodput", "energy", "concurrency"};

static int unknown(const char *name, struct ib_err *err)
{
	const char *names[NAMES_MAX];
	const char *near;
	size_t n = 0;

	for (size_t i = 0; ib_study_checks[i] && n + 1 < NAMES_MAX; i++)
		names[n++] = ib_study_checks[i]->id;
	for (size_t i = 0; ib_audit_checks[i] && n + 1 < NAMES_MAX; i++)
		names[n++] = ib_audit_checks[i]->id;
	for (size_t i = 0; ib_formulas[i] && n + 1 < NAMES_MAX; i++)
		names[n++] = ib_formulas[i]->name;
	for (size_t i = 0; i < IB_LEN(metrics) && n + 1 < NAMES_MAX; i++)
		names[n++] = metrics[i];
	names[n] = NULL;
	near = ib_nearest(name, names);
	return ib_fail(err, IB_E_USAGE, 0, "there is neither a check nor a metric '%s'%s%s%s", name, near ? "; did you mean '" : ": try 'A10', 'ttft' or 'tpot'",
		       near ? near : "", near ? "'?" : "");
}

int ib_explain(const char *name, struct ib_buf *b, struct ib_err *err)
{
	const struct ib_check *check = ib_check_find(name);
	size_t shown = 0;

	if (check) {
		explain_check(check, b);
		return 0;
	}
	for (size_t i = 0; *name && ib_formulas[i]; i++) {
		if (!of_metric(ib_formulas[i], name))
			continue;
		if (shown++)
			ib_buf_addc(b, '\n');
		explain_formula(ib_formulas[i], b);
	}
	return shown ? 0 : unknown(name, err);
}

void ib_explain_clients(struct ib_buf *b)
{
	for (size_t i = 0; ib_clients[i]; i++) {
		ib_auto_buf struct ib_buf ids = IB_BUF(4096);

		for (size_t k = 0; ib_clients[i]->schema_ids[k]; k++)
			ib_buf_addf(&ids, "%s%s", k ? " " : "", ib_clients[i]->schema_ids[k]);
		ib_buf_addf(b, "%s\n", ib_clients[i]->name);
		ib_text_wrap(b, "reads", ib_clients[i]->title);
		ib_text_wrap(b, "schemas", ib_buf_str(&ids));
	}
}
