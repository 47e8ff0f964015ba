/* SPDX-License-Identifier: Apache-2.0 */
/* inference-perf's reports: a summary of the run and one of each stage, whose records stand in another file, if at all. */
#include "clients/inference_perf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/statistic.h"
#include "json/pick.h"

#define EXACT 1e-9

const char *const ib_inference_perf_schemas[] = {
	[IB_INFERENCE_PERF_SUMMARY] = "inference-perf/summary-0.7", [IB_INFERENCE_PERF_STAGE] = "inference-perf/stage-0.7",
	[IB_INFERENCE_PERF_OLDER] = "inference-perf/older",	    [IB_INFERENCE_PERF_RECORDS] = "inference-perf/records-0.7",
	[IB_INFERENCE_PERF_CONFIG] = "inference-perf/config",	    NULL,
};

/* The reports on the server's own counters have the same top and no requests in it. */
static bool is_summary(const struct ib_head *h)
{
	struct ib_head load = ib_head_inside(h, "load_summary");

	return ib_head_has(&load, "count") && ib_head_has(h, "successes") && (ib_head_has(h, "failures") || ib_head_has(h, "benchmark_time_seconds"));
}

static bool recognise(const struct ib_head *h)
{
	return is_summary(h) || ib_inference_perf_is_records(h) || ib_inference_perf_is_config(h);
}

/* --- a summary --- */

struct summary {
	double time_s;
	json_t *load, *successes, *failures;
};

static void summary_clear(struct summary *s)
{
	json_decref(s->load);
	json_decref(s->successes);
	json_decref(s->failures);
}

#define AT(field) offsetof(struct summary, field)

static const struct ib_pick table[] = {
	{.path = "benchmark_time_seconds", .kind = IB_PICK_REAL, .at = AT(time_s), .wanted = true},
	{.path = "load_summary", .kind = IB_PICK_TREE, .at = AT(load), .wanted = true},
	{.path = "successes", .kind = IB_PICK_TREE, .at = AT(successes), .wanted = true},
	{.path = "failures", .kind = IB_PICK_TREE, .at = AT(failures), .wanted = true},
	{.path = NULL},
};

static const json_t *inside(const json_t *o, const char *a, const char *b)
{
	o = json_object_get(o, a);
	return b ? json_object_get(o, b) : o;
}

/* --- claims --- */

static void claim_latencies(const struct summary *s, struct ib_result *r)
{
	static const struct {
		const char *key;
		const struct ib_formula *formula;
	} latencies[] = {{"request_latency", &ib_e2e_processed},
			 {"time_to_first_token", &ib_ttft_first_text},
			 {"time_per_output_token", &ib_tpot_decode},
			 {"normalized_time_per_output_token", &ib_tpot_e2e_over_all},
			 {"inter_token_latency", &ib_itl_token_gaps}};

	for (size_t i = 0; i < IB_LEN(latencies); i++) {
		ib_auto_free char *at = ib_asprintf("/successes/latency/%s", latencies[i].key);
		const struct ib_statistics what = {.formula = latencies[i].formula,
						   .name = latencies[i].key,
						   .at = at,
						   .scale = 1,
						   .tolerance = EXACT,
						   .std = IB_MEASURE_STD,
						   .headline = latencies[i].formula != &ib_tpot_e2e_over_all};

		ib_statistics_expect(r, json_object_get(json_object_get(s->successes, "latency"), latencies[i].key), &what);
	}
}

static double successes(const struct summary *s)
{
	return ib_statistic_number(s->successes, "count");
}

static double length_sum(const struct summary *s, const char *key)
{
	const json_t *o = json_object_get(s->successes, key);
	double total = ib_statistic_number(o, "total");

	return isnan(total) ? ib_statistic_number(o, "mean") * successes(s) : total;
}

/* Of two sums of output tokens, the client's own count and the server's, the one that a rate was made from. */
static bool counts_of_server(const struct summary *s)
{
	double rate = ib_statistic_number(inside(s->successes, "throughput", NULL), "output_tokens_per_sec") * s->time_s;

	return fabs(rate - length_sum(s, "output_tokens")) < fabs(rate - length_sum(s, "output_len"));
}

static void claim_lengths(const struct summary *s, struct ib_result *r)
{
	static const struct {
		const char *key;
		const struct ib_formula *formula;
	} lengths[] = {{"prompt_tokens", &ib_input_length},
		       {"prompt_len", &ib_input_length},
		       {"output_len", &ib_output_length},
		       {"output_tokens", &ib_output_length_reported}};

	for (size_t i = 0; i < IB_LEN(lengths); i++) {
		ib_auto_free char *at = ib_asprintf("/successes/%s", lengths[i].key);
		bool set_aside = lengths[i].formula == &ib_output_length && counts_of_server(s); /* all the rest is then the server's */
		const struct ib_statistics what = {
			.formula = set_aside ? &ib_claimed_only : lengths[i].formula, .name = lengths[i].key, .at = at, .scale = 1, .tolerance = EXACT, .std = IB_MEASURE_STD};

		ib_statistics_expect(r, json_object_get(s->successes, lengths[i].key), &what);
	}
}

static void claim_rate(struct ib_result *r, const json_t *o, const char *at, const char *key, const struct ib_formula *f, double identity, bool headline)
{
	ib_auto_free char *pointer = ib_asprintf("%s/%s", at, key);
	struct ib_claim *c = ib_result_expect(r, key, pointer, f, IB_MEASURE_SCALAR, 1, ib_statistic_number(o, key), EXACT);

	if (!c)
		return;
	c->identity = isfinite(identity) ? identity : 0;
	c->headline = headline;
}

static void claim_rates(const struct summary *s, struct ib_result *r)
{
	const json_t *o = json_object_get(s->successes, "throughput");
	double in = length_sum(s, json_object_get(s->successes, "prompt_tokens") ? "prompt_tokens" : "prompt_len");
	double out = length_sum(s, counts_of_server(s) ? "output_tokens" : "output_len");
	static const char at[] = "/successes/throughput";

	claim_rate(r, o, at, "requests_per_sec", &ib_requests_over_all, successes(s) / s->time_s, true);
	claim_rate(r, o, at, "input_tokens_per_sec", &ib_input_tokens_over_all, in / s->time_s, false);
	claim_rate(r, o, at, "output_tokens_per_sec", &ib_output_tokens_over_all, out / s->time_s, true);
	claim_rate(r, o, at, "total_tokens_per_sec", &ib_total_tokens_over_all, (in + out) / s->time_s, true);
	claim_rate(r, s->load, "/load_summary", "send_duration", &ib_duration_sends, NAN, false);
	claim_rate(r, s->load, "/load_summary", "achieved_rate", &ib_requests_over_sends,
		   ib_statistic_number(s->load, "count") / ib_statistic_number(s->load, "send_duration"), false);
}

static void claim_count(struct ib_result *r, const char *name, const char *at, const struct ib_formula *f, const json_t *o)
{
	struct ib_claim *c = ib_result_expect(r, name, at, f, IB_MEASURE_SCALAR, 1, ib_statistic_number(o, "count"), 0);

	if (c)
		c->headline = true;
}

static void claims(const struct summary *s, struct ib_result *r)
{
	claim_count(r, "load_summary.count", "/load_summary/count", &ib_count_attempted, s->load);
	claim_count(r, "successes.count", "/successes/count", &ib_count_succeeded, s->successes);
	claim_count(r, "failures.count", "/failures/count", &ib_count_failed, s->failures);
	ib_result_expect(r, "benchmark_time_seconds", "/benchmark_time_seconds", &ib_duration_all, IB_MEASURE_SCALAR, 1, s->time_s, EXACT);
	ib_result_expect(r, IB_INFERENCE_PERF_MISMATCHES, "/successes/" IB_INFERENCE_PERF_MISMATCHES, &ib_claimed_only, IB_MEASURE_SCALAR, 1,
			 ib_statistic_number(s->successes, IB_INFERENCE_PERF_MISMATCHES), 0);
	claim_rates(s, r);
	claim_latencies(s, r);
	claim_lengths(s, r);
}

/* --- hints --- */

static void hint_counts(const struct summary *s, struct ib_result *r)
{
	json_t *labels = json_object_get(s->failures, "by_label");
	int64_t all = ib_statistic_count(s->load, "count"), ok = ib_statistic_count(s->successes, "count");
	int64_t failed = ib_statistic_count(s->failures, "count"), labelled = 0;
	ib_auto_free char *sum = NULL, *found = NULL;
	const char *key;
	json_t *v;

	if (all >= 0 && ok >= 0 && failed >= 0 && ok + failed != all) {
		sum = ib_asprintf("%lld", (long long)all);
		found = ib_asprintf("%lld + %lld", (long long)ok, (long long)failed);
		ib_result_hint(r, "A07", "/load_summary/count", sum, found, "successes and failures do not add up to the requests of the load");
	}
	json_object_foreach(labels, key, v) {
		int64_t n = ib_statistic_count(v, "count");

		labelled += n > 0 ? n : 0;
	}
	if (labels && failed >= 0 && labelled != failed)
		ib_result_hint(r, "A07", "/failures/by_label", NULL, NULL, "the labels account for %lld of %lld failures", (long long)labelled,
			       (long long)failed);
}

/* Requests that ended without the server's counts are those whose stream was cut by an error that came in it. Where the server never counts, that says
 * nothing. */
static void hint_fallbacks(const struct summary *s, struct ib_result *r)
{
	int64_t n = ib_statistic_count(inside(s->successes, "client_fallback_requests", NULL), "output"), ok = ib_statistic_count(s->successes, "count");

	if (n > 0 && n < ok)
		ib_result_hint(r, "A08", "/successes/client_fallback_requests/output", "0", NULL,
			       "%lld of %lld successes ended without the server's token counts: their streams may have been cut off by an error",
			       (long long)n, (long long)ok);
}

static void hint_load(const struct summary *s, struct ib_result *r)
{
	double delay = ib_statistic_number(inside(s->load, "schedule_delay", NULL), "p99");
	int64_t sent = ib_statistic_count(s->load, "count");
	ib_auto_free char *text = ib_asprintf("%.3g s", delay);

	if (r->requests.asked > sent && sent >= 0)
		ib_result_hint(r, "A07", "/load_summary/count", NULL, NULL, "the stage was to send %lld requests and the report holds %lld: it does not say why",
			       (long long)r->requests.asked, (long long)sent);
	if (r->rate_asked > 0 && delay > 1)
		ib_result_hint(r, "A14", "/load_summary/schedule_delay/p99", "at most 1 s", text,
			       "requests were sent later than they were due: the client or the server was saturated");
}

/* --- one result --- */

/* A stage of requests in flight has its number of requests where others have their rate: its nominal length is one second. */
static void put_load(const struct summary *s, struct ib_result *r)
{
	double rate = ib_statistic_number(s->load, "requested_rate");

	r->concurrency_asked = ib_statistic_count(s->load, "concurrency");
	if (r->concurrency_asked >= 0)
		r->requests.asked = ib_count_of_real(rate);
	else
		r->rate_asked = rate;
}

/* The files carry no name of a stage within; people know them by their number. */
static char *label_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *stage = strstr(base, "stage_");
	size_t n = stage ? strspn(stage + 6, "0123456789") : 0;

	if (strstr(base, "adapter_"))
		return ib_strdup(base);
	return n && n < 8 ? ib_asprintf("stage %.*s", (int)n, stage + 6) : NULL;
}

static void put_counts(const struct summary *s, struct ib_result *r)
{
	struct ib_requests *q = &r->requests;
	double in = length_sum(s, json_object_get(s->successes, "prompt_tokens") ? "prompt_tokens" : "prompt_len"), out = length_sum(s, "output_len");

	q->attempted = ib_statistic_count(s->load, "count");
	q->succeeded = ib_statistic_count(s->successes, "count");
	q->failed = ib_statistic_count(s->failures, "count");
	r->input_tokens = ib_count_of_real(round(in));
	r->output_tokens = ib_count_of_real(round(out));
}

static int read_summary(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true};
	__attribute__((cleanup(summary_clear))) struct summary s = {.time_s = NAN};
	ib_auto_stream struct ib_stream *stream = ib_stream_new(in, name, &opts);
	struct ib_result *r = ib_results_add(ret, &ib_client_inference_perf, name);
	struct ib_token end;
	bool more, stage, older;
	int e = ib_stream_document(stream, &more, err);

	if (e == 0)
		e = ib_pick(stream, table, &s, &r->missing, err);
	if (e == 0)
		e = ib_stream_next(stream, &end, err);
	if (e == 0)
		e = ib_stream_document(stream, &more, err);
	if (e < 0)
		return e;
	stage = json_object_get(s.load, "requested_rate") != NULL;
	older = !json_object_get(s.successes, "prompt_tokens");
	r->unknown_version = older && !json_object_get(s.successes, "prompt_len"); /* what 0.1 to 0.3 called it */
	r->schema_id = ib_inference_perf_schemas[older ? IB_INFERENCE_PERF_OLDER : stage ? IB_INFERENCE_PERF_STAGE : IB_INFERENCE_PERF_SUMMARY];
	r->part = IB_PART_SUMMARY;
	r->label = label_of(name);
	r->within = stage || r->label;
	r->ttft = &ib_ttft_first_text;
	r->tpot = &ib_tpot_decode;
	r->itl = &ib_itl_token_gaps;
	r->e2e = &ib_e2e_processed;
	r->duration_s = s.time_s;
	r->window = "first start to last end of all requests, failed ones too";
	ib_result_span(r, "benchmark_time_seconds", s.time_s);
	ib_result_notes(r, ib_stream_notes(stream));
	put_counts(&s, r);
	put_load(&s, r);
	claims(&s, r);
	hint_counts(&s, r);
	hint_fallbacks(&s, r);
	hint_load(&s, r);
	return 0;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_free char *data = ib_alloc(IB_HEAD_MAX);
	struct ib_peeked p;
	struct ib_source all;
	struct ib_head head;
	int e = ib_client_peek(in, data, IB_HEAD_MAX, &p, &all, err);

	if (e < 0)
		return e;
	head = ib_head_of(data, p.head.n);
	if (ib_inference_perf_is_config(&head))
		return ib_inference_perf_config(&all, name, ret, err);
	return ib_inference_perf_is_records(&head) ? ib_inference_perf_records(&all, name, ret, err) : read_summary(&all, name, ret, err);
}

static const char *const command[] = {"inference-perf|inference_perf", NULL};

static const struct ib_client_flag flags[] = {
	{"--server.model_name", IB_SET_MODEL},
	{"--server.base_url", IB_SET_ENDPOINT},
	{"--load.base_seed", IB_SET_SEED},
	{"--tokenizer.pretrained_model_name_or_path", IB_SET_TOKENIZER},
	{"--data.type", IB_SET_DATASET},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_inference_perf = {
	.name = "inference-perf",
	.title = "inference-perf (0.7)",
	.schema_ids = ib_inference_perf_schemas,
	.recognise = recognise,
	.read = read_file,
	.view = ib_inference_perf_view,
	.command = command,
	.flags = flags,
	.fixed_output = ib_inference_perf_fixed_output,
};
