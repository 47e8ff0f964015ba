/* SPDX-License-Identifier: Apache-2.0 */
/* What AIPerf was told, as its summary keeps it: the resolved configuration (two shapes) and the command line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/aiperf.h"
#include "clients/settings.h"

static const char from_file[] = "the file";

/* Scalars alone are settings; lists (of a sweep) and objects are none. */
static void put(struct ib_result *r, enum ib_setting_key key, const json_t *v)
{
	ib_auto_free char *text = NULL;

	if (json_is_string(v))
		text = key == IB_SET_ENDPOINT ? ib_setting_url(json_string_value(v)) : ib_strdup(json_string_value(v));
	else if (json_is_boolean(v))
		text = ib_strdup(json_is_true(v) ? "true" : "false");
	else if (json_is_number(v))
		text = ib_setting_text(json_number_value(v));
	ib_setting_put(&r->settings, key, text, from_file);
}

static const struct place {
	enum ib_setting_key key;
	const char *path;
} places[] = {
	{IB_SET_MODEL, "models/items/0/name"},
	{IB_SET_MODEL, "endpoint/model_names/0"},
	{IB_SET_TOKENIZER, "tokenizer/name"},
	{IB_SET_ENDPOINT, "endpoint/urls/0"},
	{IB_SET_ENDPOINT, "endpoint/url"},
	{IB_SET_BACKEND, "endpoint/type"},
	{IB_SET_DATASET, "datasets/0/path"},
	{IB_SET_DATASET, "datasets/0/type"},
	{IB_SET_DATASET, "input/file"},
	{IB_SET_DATASET, "input/public_dataset"},
	{IB_SET_INPUT_LEN, "datasets/0/prompts/isl/mean"},
	{IB_SET_INPUT_LEN, "input/prompt/input_tokens/mean"},
	{IB_SET_OUTPUT_LEN, "datasets/0/prompts/osl/mean"},
	{IB_SET_OUTPUT_LEN, "input/prompt/output_tokens/mean"},
	{IB_SET_SEED, "datasets/0/random_seed"},
	{IB_SET_SEED, "input/random_seed"},
	{IB_SET_REQUESTS, "loadgen/request_count"},
	{IB_SET_CONCURRENCY, "loadgen/concurrency"},
	{IB_SET_RATE, "loadgen/request_rate"},
	{IB_SET_DURATION, "loadgen/benchmark_duration"},
	{IB_SET_WARMUPS, "loadgen/warmup_request_count"},
};

static void put_phases(const json_t *phases, struct ib_result *r)
{
	size_t i;
	json_t *p;

	json_array_foreach(phases, i, p) {
		const char *kind = json_string_value(json_object_get(p, "kind"));

		if (!kind)
			kind = json_string_value(json_object_get(p, "name"));
		if (kind && strcmp(kind, "warmup") == 0) {
			put(r, IB_SET_WARMUPS, json_object_get(p, "requests"));
			continue;
		}
		put(r, IB_SET_REQUESTS, json_object_get(p, "requests"));
		put(r, IB_SET_CONCURRENCY, json_object_get(p, "concurrency"));
		put(r, IB_SET_RATE, json_object_get(p, "rate"));
		put(r, IB_SET_DURATION, json_object_get(p, "duration"));
	}
}

static void put_command(const char *command, struct ib_result *r)
{
	struct ib_settings s = {0};

	(void)ib_settings_from_command(command, strlen(command), &s);
	for (size_t k = 0; k < IB_SETTINGS; k++)
		ib_setting_put(&r->settings, (enum ib_setting_key)k, s.v[k], "the command line");
	ib_settings_clear(&s);
}

static int64_t whole(const struct ib_settings *s, enum ib_setting_key key)
{
	double v = ib_setting_number(s, key);

	return v >= 0 && v < 9e15 ? (int64_t)v : IB_NOT_IN_FILE;
}

void ib_aiperf_config(const json_t *config, const json_t *run, struct ib_result *r, bool *ret_chunk_usage)
{
	const char *command = json_string_value(json_object_get(run, "cli_command"));

	*ret_chunk_usage = json_is_true(ib_setting_at(config, "endpoint/per_chunk_usage"));
	put(r, IB_SET_SEED, json_object_get(run, "random_seed"));
	for (size_t i = 0; i < IB_LEN(places); i++)
		put(r, places[i].key, ib_setting_at(config, places[i].path));
	put_phases(json_object_get(config, "phases"), r);
	if (!command)
		command = json_string_value(json_object_get(config, "cli_command"));
	if (command)
		put_command(command, r);
	*ret_chunk_usage = *ret_chunk_usage || (command && strstr(command, "--per-chunk-usage"));
	r->requests.asked = whole(&r->settings, IB_SET_REQUESTS);
	r->concurrency_asked = whole(&r->settings, IB_SET_CONCURRENCY);
	r->rate_asked = ib_setting_number(&r->settings, IB_SET_RATE);
}
