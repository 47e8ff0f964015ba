/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of the cache: prompts that were seen before. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/lint.h"

static bool has_reset(const struct ib_contract_group *g)
{
	return g->reset.command || g->reset.http || g->reset.page_cache;
}

static bool empty_claimed(const struct ib_lint_cell *c)
{
	return c->slot->condition == IB_CACHE_COLD || c->slot->condition == IB_CACHE_RESET;
}

/* Clients that send the same prompts again when nobody gives them a seed. */
static const char *fixed_seed(const struct ib_client *c)
{
	static const char *const seeds[][2] = {{"vllm-bench", "0"}, {"sglang", "its own"}, {"sglang-bench", "its own"}, {"guidellm", "42"}};

	for (size_t i = 0; c && i < IB_LEN(seeds); i++)
		if (strcmp(c->name, seeds[i][0]) == 0)
			return seeds[i][1];
	return NULL;
}

static void look_seed(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];
		const char *seed = c->settings.v[IB_SET_SEED] ? c->settings.v[IB_SET_SEED] : fixed_seed(c->client);
		bool open = c->slot->condition == IB_CACHE_COLD || c->slot->condition == IB_CACHE_UNSPECIFIED;

		if (!open || c->group->repeats == 1 || has_reset(c->group) || !seed || strstr(seed, "{repeat}") || ib_lint_own(seed))
			continue;
		if (c->slot->condition == IB_CACHE_COLD)
			ib_lint_say(out, c->group, c->slot, "seed %s is the same in every repeat and nothing resets the cache: from the second one on it is "
							    "not 'cold'; reset it, or give each repeat its own seed with {repeat}", seed);
		else
			ib_lint_say(out, c->group, c->slot, "seed %s is the same in every repeat and no cache condition is given: the second repeat may find "
							    "the first one's prompts in a prefix cache", seed);
	}
}

const struct ib_lint ib_lint_seed = {
	.id = "L08", .title = "repeats that must not find their prompts in a cache have their own seeds, or a reset", .look = look_seed};

/* Requests that the client sends before it measures; NaN: none that is known. */
static double warmups(const struct ib_lint_cell *c)
{
	double n = ib_setting_number(&c->settings, IB_SET_WARMUPS);

	if (isfinite(n) || !c->client)
		return n;
	return ib_starts(c->client->name, "sglang") ? 1 : NAN; /* its default */
}

/* The ready check of vLLM's client sends prompt 0, and is off unless it gets a time. */
static bool ready_check(const struct ib_lint_cell *c)
{
	const char *s = c->client && strcmp(c->client->name, "vllm-bench") == 0 ? ib_lint_flag(c, "--ready-check-timeout-sec") : NULL;

	return s && strspn(s, "0.") != strlen(s);
}

static void look_warmups(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];
		double n = warmups(c);

		if (!empty_claimed(c))
			continue;
		if (n > 0)
			ib_lint_say(out, c->group, c->slot, "the client sends %g warm-up requests with prompts that it then measures: those are in the cache "
							    "of a '%s' run; set their number to 0, and warm up in 'warmup' where it is meant", n,
				    ib_condition_name(c->slot->condition));
		if (ready_check(c))
			ib_lint_say(out, c->group, c->slot, "the client's ready check sends the first measured prompt: it is in the cache of a '%s' run; leave "
							    "readiness to the contract",
				    ib_condition_name(c->slot->condition));
	}
}

const struct ib_lint ib_lint_warmups = {
	.id = "L09", .title = "a client sends no requests of its own before a cold or reset run is measured", .look = look_warmups};

static void look_evidence(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	const struct ib_contract_group *last = NULL;

	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];

		if (c->slot->condition == IB_CACHE_UNSPECIFIED || c->group->has_evidence || c->group == last)
			continue;
		last = c->group;
		ib_lint_say(out, c->group, NULL, "nothing in 'evidence' shows its cache condition: all its runs will be unconfirmed");
	}
}

const struct ib_lint ib_lint_evidence = {.id = "L10", .title = "a cache condition has evidence", .look = look_evidence};
