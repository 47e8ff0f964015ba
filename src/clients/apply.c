/* SPDX-License-Identifier: Apache-2.0 */
/* What a result file leaves out and its command line says: how much was asked for. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/client.h"

#define COUNT_MAX 9e15

static int64_t count_of(const struct ib_settings *s, enum ib_setting_key k)
{
	double v = ib_setting_number(s, k);

	return v >= 0 && v < COUNT_MAX && !(v < floor(v)) && !(v > floor(v)) ? (int64_t)v : IB_NOT_IN_FILE;
}

static double rate_of(const struct ib_settings *s)
{
	const char *text = s->v[IB_SET_RATE];
	double v = ib_setting_number(s, IB_SET_RATE);

	if (text && strcmp(text, "inf") == 0)
		return INFINITY;
	return v > 0 ? v : NAN;
}

/* Every request asked for the same number of output tokens: the column says so from here on. */
static void ask_output(struct ib_result *r)
{
	int64_t asked = count_of(&r->settings, IB_SET_OUTPUT_LEN);
	struct ib_columns *c = &r->columns;

	if (c->output_asked || !c->n || asked < 0 || !r->client->fixed_output || !r->client->fixed_output(&r->settings))
		return;
	c->output_asked = ib_columns_ints(c->n);
	for (size_t i = 0; i < c->n; i++)
		c->output_asked[i] = asked;
	if (r->requests.short_output < 0)
		r->requests.short_output = ib_columns_short(c);
}

static void put_number(struct ib_settings *s, enum ib_setting_key k, double v)
{
	ib_auto_free char *text = isinf(v) ? ib_strdup("inf") : v < COUNT_MAX && !(v < floor(v)) && !(v > floor(v)) ? ib_asprintf("%.0f", v) : ib_asprintf("%.17g", v);

	if (!isnan(v))
		ib_setting_put(s, k, text, "the file");
}

static void apply(struct ib_result *r, const struct ib_settings *around)
{
	/* what the file says as a number stands first */
	if (r->concurrency_asked >= 0)
		put_number(&r->settings, IB_SET_CONCURRENCY, (double)r->concurrency_asked);
	put_number(&r->settings, IB_SET_RATE, r->rate_asked);
	for (size_t k = 0; k < IB_SETTINGS; k++)
		ib_setting_put(&r->settings, (enum ib_setting_key)k, around->v[k], around->from[k]);
	if (r->requests.asked < 0)
		r->requests.asked = count_of(&r->settings, IB_SET_REQUESTS);
	if (r->concurrency_asked < 0)
		r->concurrency_asked = count_of(&r->settings, IB_SET_CONCURRENCY);
	if (isnan(r->rate_asked))
		r->rate_asked = rate_of(&r->settings);
	ask_output(r);
}

void ib_results_apply(struct ib_results *r, const struct ib_settings *around)
{
	for (size_t i = 0; i < r->n; i++)
		apply(&r->v[i], around);
}
