/* SPDX-License-Identifier: Apache-2.0 */
/* genai-perf's summary, profile_export_genai_perf.json. Known from its documentation and its source (0.0.16), never run: nothing of it may pass. The files name
 * no version, and AIPerf has taken its place. */
#include "clients/genai_perf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/statistic.h"
#include "json/pick.h"

#define NEAR 1e-6 /* the client rounds times per token to nanoseconds */

const char *const ib_genai_perf_schemas[] = {"genai-perf/summary", "genai-perf/profile", NULL};

static bool is_profile(const struct ib_head *h)
{
	return ib_head_has(h, "experiments") && !ib_head_has(h, "benchmarks");
}

static bool is_summary(const struct ib_head *h)
{
	struct ib_head latency = ib_head_inside(h, "request_latency");

	return ib_head_has(&latency, "unit") && ib_head_has(&latency, "avg") && ib_head_has(h, "request_throughput") && !ib_head_has(h, "aiperf_version") &&
	       !ib_head_has(h, "schema_version") && !ib_head_has(h, "was_cancelled");
}

static bool recognise(const struct ib_head *h)
{
	return is_profile(h) || is_summary(h);
}

static const struct {
	const char *key;
	const struct ib_formula *formula;
	bool time, headline, scalar;
} metrics[] = {{"request_latency", &ib_e2e_last_content, true, true, false},
	       {"time_to_first_token", &ib_ttft_first_content, true, true, false},
	       {"time_to_second_token", &ib_gap_second_chunk, true, false, false},
	       {"inter_token_latency", &ib_tpot_excl_first, true, true, false},
	       {"output_token_throughput_per_user", &ib_speed_decode, false, false, false},
	       {"output_sequence_length", &ib_output_length, false, false, false},
	       {"input_sequence_length", &ib_input_length, false, false, false},
	       {"request_throughput", &ib_requests_over_all, false, true, true},
	       {"output_token_throughput", &ib_output_tokens_over_all, false, true, true},
	       {"request_count", &ib_count_attempted, false, true, true}};

/* Times are in ms, or, in older files, in ns. */
static double scale_of(const json_t *o, bool time)
{
	const char *unit = json_string_value(json_object_get(o, "unit"));

	if (!time)
		return 1;
	return unit && strcmp(unit, "ns") == 0 ? 1e9 : unit && strcmp(unit, "s") == 0 ? 1 : 1000;
}

static void claim_metrics(struct ib_result *r, const json_t *all)
{
	for (size_t i = 0; i < IB_LEN(metrics); i++) {
		json_t *o = json_object_get(all, metrics[i].key);
		ib_auto_free char *at = ib_asprintf("/%s", metrics[i].key), *avg = ib_asprintf("/%s/avg", metrics[i].key);
		const struct ib_statistics what = {.formula = metrics[i].formula,
						   .name = metrics[i].key,
						   .at = at,
						   .scale = scale_of(o, metrics[i].time),
						   .tolerance = NEAR,
						   .std = IB_MEASURE_STD,
						   .headline = metrics[i].headline};
		struct ib_claim *c;

		if (!metrics[i].scalar) {
			ib_statistics_expect(r, o, &what);
			continue;
		}
		c = ib_result_expect(r, metrics[i].key, avg, metrics[i].formula, IB_MEASURE_SCALAR, 1, ib_statistic_number(o, "avg"), NEAR);
		if (c)
			c->headline = true;
	}
}

static void put_text(struct ib_result *r, enum ib_setting_key key, const json_t *v)
{
	ib_auto_free char *number = json_is_number(v) ? ib_asprintf("%.17g", json_number_value(v)) : NULL;
	const json_t *first = json_array_get(v, 0);

	ib_setting_put(&r->settings, key, number ? number : json_string_value(first ? first : v), "the file");
}

static void put_settings(struct ib_result *r, const json_t *config)
{
	static const struct {
		const char *key;
		enum ib_setting_key sets;
	} keys[] = {{"model", IB_SET_MODEL},         {"model_names", IB_SET_MODEL},        {"tokenizer", IB_SET_TOKENIZER}, {"concurrency", IB_SET_CONCURRENCY},
		    {"request_rate", IB_SET_RATE},   {"request_count", IB_SET_REQUESTS},   {"random_seed", IB_SET_SEED},    {"endpoint_type", IB_SET_BACKEND},
		    {"u", IB_SET_ENDPOINT}};

	for (size_t i = 0; i < IB_LEN(keys); i++)
		put_text(r, keys[i].sets, json_object_get(config, keys[i].key));
}

static int read_summary(struct ib_stream *s, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_genai_perf, name);
	ib_auto_json json_t *o = NULL;
	int e = ib_pick_tree(s, &o, err);

	if (e < 0)
		return e;
	r->schema_id = ib_genai_perf_schemas[0];
	r->part = IB_PART_SUMMARY;
	r->unknown_version = true;
	r->ttft = &ib_ttft_first_content;
	r->e2e = &ib_e2e_last_content;
	r->requests.attempted = ib_statistic_count(json_object_get(o, "request_count"), "avg");
	put_settings(r, json_object_get(o, "input_config"));
	claim_metrics(r, o);
	return 0;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true};
	ib_auto_free char *data = ib_alloc(IB_HEAD_MAX);
	ib_auto_stream struct ib_stream *s = NULL;
	struct ib_peeked p;
	struct ib_source all;
	struct ib_head head;
	struct ib_token end;
	bool more;
	int e = ib_client_peek(in, data, IB_HEAD_MAX, &p, &all, err);

	if (e < 0)
		return e;
	head = ib_head_of(data, p.head.n);
	s = ib_stream_new(&all, name, &opts);
	e = ib_stream_document(s, &more, err);
	if (e == 0)
		e = is_profile(&head) ? ib_genai_perf_profile(s, name, ret, err) : read_summary(s, name, ret, err);
	if (e == 0)
		e = ib_stream_next(s, &end, err);
	if (e == 0)
		e = ib_stream_document(s, &more, err);
	if (e == 0 && ret->n)
		ib_result_notes(&ret->v[0], ib_stream_notes(s));
	return e;
}

static const char *const command[] = {"genai-perf|genai_perf", NULL};

static const struct ib_client_flag flags[] = {
	{"--model", IB_SET_MODEL},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--url", IB_SET_ENDPOINT},
	{"--endpoint-type", IB_SET_BACKEND},
	{"--concurrency", IB_SET_CONCURRENCY},
	{"--request-rate", IB_SET_RATE},
	{"--request-count", IB_SET_REQUESTS},
	{"--num-prompts", IB_SET_NOTHING},
	{"--warmup-request-count", IB_SET_WARMUPS},
	{"--random-seed", IB_SET_SEED},
	{"--synthetic-input-tokens-mean", IB_SET_INPUT_LEN},
	{"--output-tokens-mean", IB_SET_OUTPUT_LEN},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_genai_perf = {
	.name = "genai-perf",
	.title = "genai-perf (from its documentation; its numbers are shown, not judged)",
	.schema_ids = ib_genai_perf_schemas,
	.recognise = recognise,
	.read = read_file,
	.command = command,
	.flags = flags,
};
