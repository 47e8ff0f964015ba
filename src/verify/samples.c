/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of samples.jsonl. */
#include "verify/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "json/json.h"

#define SHORT_NS (IB_NS / 4) /* rates of a sample that covers less, or less than half of the interval, are passed over */
#define GPUS_MAX 16

struct mean {
	double sum, weight, max;
};

struct reader {
	struct ib_samples *to;
	int64_t short_ns, at_ns;
	struct mean client, outside;
	double gpu_first[GPUS_MAX], gpu_last[GPUS_MAX];
	size_t gpus;
};

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void add(struct mean *m, double v, double weight)
{
	if (isnan(v))
		return;
	m->max = m->weight > 0 && m->max > v ? m->max : v;
	m->sum += v * weight;
	m->weight += weight;
}

static void add_gpus(struct reader *r, const json_t *gpus)
{
	size_t n = json_array_size(gpus) < GPUS_MAX ? json_array_size(gpus) : GPUS_MAX;

	for (size_t i = 0; i < n; i++) {
		r->gpu_last[i] = number(json_array_get(gpus, i), "energy_mj");
		if (isnan(r->gpu_first[i]))
			r->gpu_first[i] = r->gpu_last[i];
	}
	if (n && !r->gpus)
		r->gpus = n;
}

static int one(struct reader *r, const json_t *o, const char *path, struct ib_err *err)
{
	int64_t at;
	double passed, running = number(json_object_get(o, "server"), "running");
	int e = ib_get_int(o, path, "monotonic_ns", 0, INT64_MAX, &at, err);

	if (e < 0)
		return e;
	if (r->to->lines && at <= r->at_ns)
		return ib_fail_at(err, IB_E_SYNTAX, path, "'%s': the times of samples do not grow", path);
	passed = r->to->lines && at - r->at_ns >= r->short_ns ? (double)(at - r->at_ns) / IB_NS : 0;
	if (passed > 0) {
		add(&r->client, number(o, "client_cores"), passed);
		add(&r->outside, number(o, "outside_cores"), passed);
	}
	r->to->package_j = number(o, "package_j");
	if (!(running <= r->to->running_max) && !isnan(running))
		r->to->running_max = running;
	add_gpus(r, json_object_get(o, "gpus"));
	r->at_ns = at;
	r->to->lines++;
	return 0;
}

static int header(struct reader *r, const json_t *o, const char *path, struct ib_err *err)
{
	int64_t interval;
	int e = ib_get_schema(o, path, "urn:ibtools:samples:v1", err);

	if (e == 0)
		e = ib_get_int(o, path, "interval_ns", 1, INT64_MAX, &interval, err);
	if (e == 0)
		r->short_ns = interval / 2 < SHORT_NS ? interval / 2 : SHORT_NS;
	return e;
}

static int lines(struct reader *r, const char *path, const char *data, uint64_t size, struct ib_err *err)
{
	const char *end = data + size, *line = data, *stop;

	for (; line < end; line = stop + 1) {
		ib_auto_json json_t *o = NULL;
		int e;

		stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			return ib_fail_at(err, IB_E_SYNTAX, path, "'%s': its last line is torn", path);
		if ((e = ib_json_load(line, (size_t)(stop - line), path, &o, err)) < 0)
			return e;
		e = line == data ? header(r, o, path, err) : one(r, o, path, err);
		if (e < 0)
			return e;
	}
	return r->to->lines ? 0 : ib_fail_at(err, IB_E_SYNTAX, path, "'%s': it holds no sample", path);
}

void ib_samples_read(const char *path, const char *data, uint64_t size, struct ib_samples *ret)
{
	struct reader r = {.to = ret};
	struct ib_err err = {0};

	ret->running_max = ret->package_j = NAN;
	for (size_t i = 0; i < GPUS_MAX; i++)
		r.gpu_first[i] = r.gpu_last[i] = NAN;
	if (lines(&r, path, data, size, &err) < 0)
		ret->why = ib_strdup(err.text);
	ret->client_mean = r.client.weight > 0 ? r.client.sum / r.client.weight : NAN;
	ret->client_max = r.client.weight > 0 ? r.client.max : NAN;
	ret->outside_mean = r.outside.weight > 0 ? r.outside.sum / r.outside.weight : NAN;
	ret->gpu_j = r.gpus ? 0 : NAN;
	for (size_t i = 0; i < r.gpus; i++)
		ret->gpu_j += (r.gpu_last[i] - r.gpu_first[i]) / 1000;
}

void ib_samples_clear(struct ib_samples *s)
{
	free(s->why);
	*s = (struct ib_samples){0};
}
