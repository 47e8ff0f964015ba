/* SPDX-License-Identifier: Apache-2.0 */
/* inference-perf's config.yaml, as the client wrote it out: which load was asked for. A few keys are looked for line by line; its nulls make it no YAML that
 * contracts are written in, and the rest, with keys to the server in it, is none of our business. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/inference_perf.h"
#include "clients/plain_yaml.h"
#include "clients/statistic.h"

bool ib_inference_perf_is_config(const struct ib_head *h)
{
	return ib_plain_yaml_line(h, "api:\n") == h->data && ib_plain_yaml_line(h, "data:\n") && ib_plain_yaml_line(h, "load:\n") &&
	       ib_plain_yaml_line(h, "report:\n") && ib_plain_yaml_line(h, "server:\n");
}

struct asked {
	double requests, rate, duration, concurrency; /* of the stage at hand */
	double requests_all;
	size_t stages;
	bool uneven; /* the stages differ in rate or concurrency */
	double rate_all, concurrency_all;
	double out_min, out_max, out_mean, in_mean;
	bool concurrent;
	struct ib_settings *settings;
};

/* A stage is over: what it adds to the run. */
static void end_stage(struct asked *a)
{
	double n = a->requests;

	if (isnan(a->requests) && isnan(a->rate) && isnan(a->concurrency))
		return;
	if (isnan(n) && a->rate * a->duration >= 1)
		n = round(a->rate * a->duration);
	a->requests_all = a->stages ? a->requests_all + n : n;
	a->uneven = a->uneven || (a->stages && (fabs(a->rate - a->rate_all) > 0 || fabs(a->concurrency - a->concurrency_all) > 0));
	a->rate_all = a->rate;
	a->concurrency_all = a->concurrency;
	a->stages++;
	a->requests = a->rate = a->duration = a->concurrency = NAN;
}

static double number(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	return *text && !*end && isfinite(v) ? v : NAN;
}

static void take(const char *path, const char *value, bool item, void *arg)
{
	struct asked *a = arg;
	static const struct {
		const char *path;
		enum ib_setting_key key;
	} texts[] = {{"data/type", IB_SET_DATASET},         {"load/base_seed", IB_SET_SEED},
		     {"server/type", IB_SET_BACKEND},       {"server/model_name", IB_SET_MODEL},
		     {"server/base_url", IB_SET_ENDPOINT},  {"tokenizer/pretrained_model_name_or_path", IB_SET_TOKENIZER},
		     {"server/ignore_eos", IB_SET_IGNORE_EOS}};
	const struct {
		const char *path;
		double *to;
	} numbers[] = {{"load/stages/num_requests", &a->requests},    {"load/stages/concurrency_level", &a->concurrency},
		       {"load/stages/rate", &a->rate},                {"load/stages/duration", &a->duration},
		       {"data/output_distribution/min", &a->out_min}, {"data/output_distribution/max", &a->out_max},
		       {"data/output_distribution/mean", &a->out_mean}, {"data/input_distribution/mean", &a->in_mean}};

	if (item)
		end_stage(a);
	for (size_t i = 0; i < IB_LEN(texts); i++)
		if (strcmp(path, texts[i].path) == 0)
			ib_setting_put(a->settings, texts[i].key, value, "the configuration");
	for (size_t i = 0; i < IB_LEN(numbers); i++)
		if (strcmp(path, numbers[i].path) == 0)
			*numbers[i].to = number(value);
	if (strcmp(path, "load/type") == 0)
		a->concurrent = strcmp(value, "concurrent") == 0;
}

/* --- settings --- */

static void put(struct ib_settings *s, enum ib_setting_key key, double v)
{
	ib_auto_free char *text = isfinite(v) ? ib_asprintf("%.17g", v) : NULL;

	ib_setting_put(s, key, text, "the configuration");
}

static void put_asked(struct asked *a)
{
	end_stage(a);
	put(a->settings, IB_SET_REQUESTS, a->stages ? a->requests_all : NAN);
	put(a->settings, IB_SET_INPUT_LEN, a->in_mean);
	put(a->settings, IB_SET_OUTPUT_LEN, a->out_mean);
	put(a->settings, IB_SET_LENGTH_RANGE, a->out_mean > 0 ? (a->out_max - a->out_min) / 2 / a->out_mean : NAN);
	if (!a->uneven)
		put(a->settings, a->concurrent ? IB_SET_CONCURRENCY : IB_SET_RATE, a->concurrent ? a->concurrency_all : a->rate_all);
}

bool ib_inference_perf_fixed_output(const struct ib_settings *s)
{
	double range = ib_setting_number(s, IB_SET_LENGTH_RANGE);

	return s->v[IB_SET_OUTPUT_LEN] && !(range > 0) && !(range < 0) && !isnan(range);
}

int ib_inference_perf_config(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	struct ib_result *r = ib_results_add(ret, &ib_client_inference_perf, name);
	struct asked a = {NAN, NAN, NAN, NAN, NAN, 0, false, NAN, NAN, NAN, NAN, NAN, NAN, false, &r->settings};
	int e = ib_client_slurp(in, name, &b, err);

	if (e < 0)
		return e;
	r->schema_id = ib_inference_perf_schemas[IB_INFERENCE_PERF_CONFIG];
	r->part = IB_PART_CONFIG;
	ib_plain_yaml(ib_buf_str(&b), take, &a);
	put_asked(&a);
	return 0;
}
