/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics by the words that clients use for them, and numbers of theirs as counts and times. */
#include "clients/statistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

#define SECONDS_MAX 1e12
#define COUNT_MAX 9007199254740992.0 /* 2^53 */

static const struct {
	const char *word;
	enum ib_measure measure;
} words[] = {
	{"mean", IB_MEASURE_MEAN},    {"avg", IB_MEASURE_MEAN}, {"median", IB_MEASURE_PERCENTILE}, {"std", IB_MEASURE_STD},   {"stddev", IB_MEASURE_STD},
	{"std_dev", IB_MEASURE_STD},  {"min", IB_MEASURE_MIN},  {"max", IB_MEASURE_MAX},           {"sum", IB_MEASURE_SUM},   {"total", IB_MEASURE_SUM},
	{"count", IB_MEASURE_COUNT},
};

/* Nothing but digits and points, so that neither 0x10 nor 1e1 is a percentile. */
static bool percentile(const char *word, size_t n, double *ret)
{
	char text[8];
	char *end;

	if (n < 2 || n > sizeof(text) || word[0] != 'p' || word[1] < '0' || word[1] > '9')
		return false;
	memcpy(text, word + 1, n - 1);
	text[n - 1] = '\0';
	if (strspn(text, "0123456789.") != n - 1)
		return false;
	*ret = strtod(text, &end);
	return *end == '\0' && *ret <= 100;
}

bool ib_statistic_parse(const char *word, size_t n, struct ib_statistic *ret)
{
	static const char prefix[] = "quantiles_";
	size_t skip = n > sizeof(prefix) && memcmp(word, prefix, sizeof(prefix) - 1) == 0 ? sizeof(prefix) - 1 : 0;

	*ret = (struct ib_statistic){.p = 50};
	for (size_t i = 0; !skip && i < IB_LEN(words); i++)
		if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0) {
			ret->measure = words[i].measure;
			return true;
		}
	ret->measure = IB_MEASURE_PERCENTILE;
	return percentile(word + skip, n - skip, &ret->p);
}

static bool same(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

bool ib_statistic_quoted(const struct ib_statistic *s)
{
	if (s->measure == IB_MEASURE_MEAN)
		return true;
	return s->measure == IB_MEASURE_PERCENTILE && (same(s->p, 50) || same(s->p, 95) || same(s->p, 99));
}

void ib_statistics_expect(struct ib_result *r, json_t *o, const struct ib_statistics *what)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v) {
		ib_auto_free char *name = NULL, *at = NULL;
		struct ib_statistic s;
		struct ib_claim *c;

		if (!json_is_number(v) || !ib_statistic_parse(key, strlen(key), &s))
			continue;
		name = ib_asprintf("%s.%s", what->name, key);
		at = ib_asprintf("%s/%s", what->at, key);
		c = ib_result_expect(r, name, at, what->formula, s.measure == IB_MEASURE_STD ? what->std : s.measure, what->scale,
				     json_number_value(v), what->tolerance);
		if (!c)
			continue;
		c->p = s.p;
		c->headline = what->headline && ib_statistic_quoted(&s);
	}
}

double ib_statistic_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

int64_t ib_count_of_real(double v)
{
	return v >= 0 && v <= COUNT_MAX && !(v > floor(v)) ? (int64_t)v : IB_NOT_IN_FILE;
}

int64_t ib_statistic_count(const json_t *o, const char *key)
{
	return ib_count_of_real(ib_statistic_number(o, key));
}

int ib_counts_of_reals(const double *v, size_t n, const char *file, const char *what, int64_t **ret, struct ib_err *err)
{
	ib_auto_free int64_t *counts = ib_columns_ints(n);

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		if (!(v[i] >= 0) || v[i] > INT32_MAX || v[i] > floor(v[i]))
			return ib_fail_at(err, IB_E_SYNTAX, file, "'%s': element %zu of '%s' is not a count", file, i, what);
		counts[i] = (int64_t)v[i];
	}
	*ret = ib_steal(&counts);
	return 0;
}

int ib_times_check(const double *v, size_t n, const char *file, const char *what, struct ib_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (fabs(v[i]) > SECONDS_MAX)
			return ib_fail_at(err, IB_E_SYNTAX, file, "'%s': element %zu of '%s' is not a time in seconds", file, i, what);
	return 0;
}
