/* SPDX-License-Identifier: Apache-2.0 */
/* Counters on kept pages of metrics. */
#include "verify/pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "model/engine.h"

#define NAMES_MAX 500

const struct ib_page_counter *ib_pages_find(const struct ib_pages *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->v[i].name, name) == 0)
			return &p->v[i];
	return NULL;
}

static void want(struct ib_pages *p, const char *name)
{
	if (!name || p->n >= NAMES_MAX || ib_pages_find(p, name))
		return;
	p->v = ib_realloc(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct ib_page_counter){.name = ib_strdup(name), .v = {NAN, NAN}};
}

static void want_all(struct ib_pages *p, const char *const names[IB_ENGINE_NAMES])
{
	for (size_t i = 0; i < IB_ENGINE_NAMES && names[i]; i++)
		want(p, names[i]);
}

void ib_pages_names(struct ib_pages *p, const json_t *contract)
{
	static const char *const keys[] = {"queries", "hits", "output_tokens"};
	const json_t *groups = json_object_get(contract, "groups");
	const struct ib_engine *e;

	for (size_t i = 0; (e = ib_engine_at(i)); i++) {
		want_all(p, e->queries);
		want_all(p, e->hits);
		want_all(p, e->output_tokens);
		want_all(p, e->also);
		want(p, e->prompt_tokens);
		want(p, e->preemptions);
	}
	for (size_t g = 0; g < json_array_size(groups); g++) {
		const json_t *cache = json_object_get(json_array_get(groups, g), "cache");
		const json_t *counters = json_object_get(json_object_get(cache, "evidence"), "counters");

		for (size_t k = 0; k < IB_LEN(keys); k++)
			for (size_t i = 0; i < json_array_size(json_object_get(counters, keys[k])); i++)
				want(p, json_string_value(json_array_get(json_object_get(counters, keys[k]), i)));
	}
}

void ib_pages_take(struct ib_pages *p, const char *text, int moment)
{
	for (size_t i = 0; i < p->n; i++) {
		struct ib_page_counter *c = &p->v[i];

		/* as in pages that are joined: what one does not have, the others may still have */
		if (!strstr(text, c->name) || !ib_prometheus_has(text, c->name))
			continue;
		c->v[moment] = ib_prometheus_sum(text, c->name) + (c->there[moment] ? c->v[moment] : 0);
		c->there[moment] = true;
	}
	p->pages[moment]++;
}

void ib_pages_clear(struct ib_pages *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].name);
	free(p->v);
	*p = (struct ib_pages){0};
}
