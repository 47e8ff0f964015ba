/* SPDX-License-Identifier: Apache-2.0 */
/* What a client sends on its own before it measures. */
#include "clients/warmups.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define MANY 1000000

/* The one result that the requests went before, or NULL. */
static const struct ib_result *only(const struct ib_results *all)
{
	const struct ib_result *one = NULL;

	for (size_t i = 0; i < all->n; i++) {
		if (all->v[i].within)
			continue;
		if (one)
			return NULL;
		one = &all->v[i];
	}
	return one;
}

/* Prompt tokens of the first request of the measured set. */
static int64_t first_prompt(const struct ib_result *r)
{
	const struct ib_columns *c = r ? &r->columns : NULL;

	return c && !r->partial && c->n && c->input_tokens && !c->warmup && c->input_tokens[0] > 0 ? c->input_tokens[0] : IB_NOT_IN_FILE;
}

/* Of a file that holds its warm-ups as rows. */
static void count_rows(const struct ib_columns *c, struct ib_warmups *ret)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!c->warmup[i])
			continue;
		ret->requests++;
		if (!c->input_tokens || c->input_tokens[i] < 0 || ret->tokens == IB_NOT_IN_FILE)
			ret->tokens = IB_NOT_IN_FILE;
		else
			ret->tokens += c->input_tokens[i];
	}
}

static int64_t whole(double v, int64_t otherwise)
{
	return v >= 0 && v <= MANY ? (int64_t)v : otherwise;
}

void ib_warmups_of(const char *const *argv, size_t n, const struct ib_results *results, struct ib_warmups *ret)
{
	const struct ib_result *r = only(results);
	struct ib_settings s = {0};
	const struct ib_client *client = ib_settings_from_argv(argv, n, &s);
	int64_t one = first_prompt(r), asked = whole(ib_setting_number(&s, IB_SET_WARMUPS), IB_NOT_IN_FILE);
	double ready = ib_setting_number(&s, IB_SET_READY_CHECK);

	*ret = (struct ib_warmups){0};
	if (r && r->columns.warmup) {
		count_rows(&r->columns, ret);
	} else if (client && strcmp(client->name, "vllm-bench") == 0) {
		/* old versions make a ready check always, later ones by default, the latest only when told to: it is one request with the first prompt */
		ret->requests = (asked == IB_NOT_IN_FILE ? 0 : asked) + (ready > 0);
		ret->perhaps_tokens = isnan(ready) ? one : 0;
		ret->tokens = ret->requests == 0 ? 0 : one == IB_NOT_IN_FILE ? one : ret->requests * one;
	} else if (client && ib_starts(client->name, "sglang")) {
		ret->requests = asked == IB_NOT_IN_FILE ? 1 : asked;
		ret->tokens = ret->requests == 0 ? 0 : one == IB_NOT_IN_FILE ? one : ret->requests * one;
	}
	ib_settings_clear(&s);
}
