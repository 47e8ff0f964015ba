/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a contract that this version reads but does not carry out: nothing is run as if they were not there. */
#include "run/engine.h"
#include "run/plan_inside.h"

static const char *first_missing(const struct ib_contract_group *g)
{
	const struct ib_contract_evidence *e = &g->evidence;

	if (g->reset.page_cache)
		return "page_cache";
	if (g->reset.restart)
		return "restart";
	if (e->engine && !ib_engine_find(e->engine))
		return e->engine;
	if (e->metrics_urls)
		return "metrics_urls";
	return e->files ? "files" : NULL;
}

int ib_plan_can(const struct ib_contract *c, struct ib_err *err)
{
	for (size_t i = 0; i < c->groups_n; i++) {
		const char *what = first_missing(&c->groups[i]);

		if (what)
			return ib_fail(err, IB_E_USAGE, 0, "'%s' in 'cache' of group '%s' is not carried out by this version: leave it out", what,
				       c->groups[i].name);
	}
	return 0;
}
