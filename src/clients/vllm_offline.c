/* SPDX-License-Identifier: Apache-2.0 */
/* "vllm bench latency" and "vllm bench throughput": measured inside the engine's process, without a server and without single requests. */
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/samples.h"
#include "clients/vllm_flags.h"
#include "json/pick.h"

/* --- latency --- */

static const char *const latency_ids[] = {"vllm-bench/latency", NULL};

static bool is_latency(const struct ib_head *h)
{
	return ib_head_has(h, "avg_latency") && ib_head_has(h, "latencies");
}

struct latency {
	double avg;
	struct ib_reals times;
	json_t *percentiles;
};

static const struct ib_pick latency_fields[] = {
	{"avg_latency", IB_PICK_REAL, offsetof(struct latency, avg), true, NULL},
	{"latencies", IB_PICK_REALS, offsetof(struct latency, times), true, NULL},
	{"percentiles/", IB_PICK_SCALARS, offsetof(struct latency, percentiles), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static void latency_claims(struct ib_result *r, const struct latency *l)
{
	const char *key;
	json_t *v;

	ib_samples_claim(r, "avg_latency", &ib_sample_time, IB_MEASURE_MEAN, 0, 1, l->avg, IB_CLAIM_TOLERANCE);
	json_object_foreach(l->percentiles, key, v) {
		ib_auto_free char *name = ib_asprintf("percentiles/%.20s", key);
		char *end;
		double p = key[0] >= '0' && key[0] <= '9' ? strtod(key, &end) : NAN;

		if (isnan(p) || *end || p > 100 || !json_is_number(v))
			ib_strv_add(&r->missing, name);
		else
			ib_samples_claim(r, name, &ib_sample_time, IB_MEASURE_PERCENTILE, p, 1, json_number_value(v), IB_CLAIM_TOLERANCE);
	}
	if (!l->percentiles)
		ib_strv_add(&r->missing, "percentiles");
}

static int read_latency(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	struct ib_result *r = ib_results_add(ret, &ib_client_vllm_latency, name);
	struct latency l = {.avg = NAN};
	int e = ib_client_one_object(s, latency_fields, &l, &r->missing, err);

	if (e == 0) {
		ib_samples_begin(r);
		r->schema_id = latency_ids[0];
		for (size_t i = 0; i < l.times.n; i++)
			ib_samples_add(r, l.times.v[i], false, IB_OUTCOME_SUCCEEDED, IB_NOT_IN_FILE, IB_NOT_IN_FILE);
		ib_samples_end(r);
		latency_claims(r, &l);
		ib_result_notes(r, ib_stream_notes(s));
	}
	ib_reals_clear(&l.times);
	json_decref(l.percentiles);
	return e;
}

const struct ib_client ib_client_vllm_latency = {
	.name = "vllm-latency",
	.title = "vllm bench latency: times of whole batches",
	.schema_ids = latency_ids,
	.recognise = is_latency,
	.read = read_latency,
	.command = ib_vllm_latency_command,
	.flags = ib_vllm_latency_flags,
};

/* --- throughput --- */

static const char *const throughput_ids[] = {"vllm-bench/throughput", NULL};

static bool is_throughput(const struct ib_head *h)
{
	return ib_head_has(h, "elapsed_time") && ib_head_has(h, "num_requests") && ib_head_has(h, "requests_per_second") && ib_head_has(h, "tokens_per_second");
}

struct throughput {
	double elapsed, requests, tokens, requests_hz, tokens_hz;
};

static const struct ib_pick throughput_fields[] = {
	{"elapsed_time", IB_PICK_REAL, offsetof(struct throughput, elapsed), true, NULL},
	{"num_requests", IB_PICK_REAL, offsetof(struct throughput, requests), true, NULL},
	{"total_num_tokens", IB_PICK_REAL, offsetof(struct throughput, tokens), true, NULL},
	{"requests_per_second", IB_PICK_REAL, offsetof(struct throughput, requests_hz), true, NULL},
	{"tokens_per_second", IB_PICK_REAL, offsetof(struct throughput, tokens_hz), true, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static struct ib_stat stated(double v)
{
	return isnan(v) ? ib_stat_not_recorded("no such count in the file") : ib_stat_value(v, 1);
}

static int64_t count_of(double v)
{
	return v >= 0 && v < 9e15 && !(v > floor(v)) ? (int64_t)v : IB_NOT_IN_FILE;
}

/* From the file's own totals: that these are right, nothing in it shows. */
static void throughput_claims(struct ib_result *r, const struct throughput *t)
{
	struct ib_stat requests = stated(t->requests), tokens = stated(t->tokens);

	r->duration_s = t->elapsed;
	r->window = "first request given to the engine until the last is done";
	ib_result_span(r, "elapsed_time", t->elapsed);
	r->requests.asked = count_of(t->requests);
	r->requests.attempted = r->requests.asked;
	if (!isnan(t->elapsed)) {
		requests = ib_stat_ratio(requests, t->elapsed);
		tokens = ib_stat_ratio(tokens, t->elapsed);
	}
	if (!isnan(t->requests_hz))
		ib_result_claim(r, "requests_per_second", &ib_requests_over_duration, t->requests_hz, requests, IB_CLAIM_TOLERANCE, NULL);
	if (!isnan(t->tokens_hz))
		ib_result_claim(r, "tokens_per_second", &ib_total_tokens_over_duration, t->tokens_hz, tokens, IB_CLAIM_TOLERANCE, NULL);
}

static int read_throughput(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	struct ib_result *r = ib_results_add(ret, &ib_client_vllm_throughput, name);
	struct throughput t = {NAN, NAN, NAN, NAN, NAN};
	int e = ib_client_one_object(s, throughput_fields, &t, &r->missing, err);

	if (e < 0)
		return e;
	ib_samples_begin(r);
	r->schema_id = throughput_ids[0];
	throughput_claims(r, &t);
	ib_result_notes(r, ib_stream_notes(s));
	return 0;
}

const struct ib_client ib_client_vllm_throughput = {
	.name = "vllm-throughput",
	.title = "vllm bench throughput: totals of an offline run",
	.schema_ids = throughput_ids,
	.recognise = is_throughput,
	.read = read_throughput,
	.command = ib_vllm_throughput_command,
	.flags = ib_vllm_throughput_flags,
};
