/* SPDX-License-Identifier: Apache-2.0 */
/* What GuideLLM was told: resolved in "config" (0.7 and later), as arguments in "args" (0.4 to 0.6), within each benchmark (0.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/guidellm.h"
#include "clients/settings.h"

static const char from_file[] = "the file";

/* Scalars alone are settings; lists (of a sweep) and objects are none. */
static void put(struct ib_result *r, enum ib_setting_key key, const json_t *v)
{
	ib_auto_free char *text = NULL;

	if (json_is_string(v))
		text = key == IB_SET_ENDPOINT ? ib_setting_url(json_string_value(v)) : ib_strdup(json_string_value(v));
	else if (json_is_number(v))
		text = ib_setting_text(json_number_value(v));
	ib_setting_put(&r->settings, key, text, from_file);
}

struct place {
	enum ib_setting_key key;
	const char *path;
};

static void put_all(struct ib_result *r, const json_t *j, const struct place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(r, places[i].key, ib_setting_at(j, places[i].path));
}

/* "prompt_tokens=64,output_tokens=32", or the same as JSON: what data are made of. Anything else names them. */
static void put_data(struct ib_result *r, const char *text)
{
	static const struct {
		enum ib_setting_key key;
		const char *name;
	} lengths[] = {{IB_SET_INPUT_LEN, "prompt_tokens"}, {IB_SET_OUTPUT_LEN, "output_tokens"}};
	bool made = false;

	if (!text)
		return;
	for (size_t i = 0; i < IB_LEN(lengths); i++) {
		const char *p = strstr(text, lengths[i].name);
		ib_auto_free char *value = NULL;
		size_t n;

		if (!p || (p > text && !strchr(",{\"' ", p[-1])))
			continue;
		p += strlen(lengths[i].name);
		p += strspn(p, "\"' :=");
		n = strspn(p, "0123456789");
		value = ib_strndup(p, n);
		if (n)
			ib_setting_put(&r->settings, lengths[i].key, value, from_file);
		made = true;
	}
	ib_setting_put(&r->settings, IB_SET_DATASET, made ? "synthetic" : text, from_file);
}

static void put_constraints(struct ib_result *r, const json_t *constraints)
{
	size_t i;
	json_t *c;

	json_array_foreach(constraints, i, c) {
		const char *kind = json_string_value(json_object_get(c, "kind"));

		if (kind && strcmp(kind, "max_requests") == 0)
			put(r, IB_SET_REQUESTS, json_object_get(c, "count"));
		if (kind && (strcmp(kind, "max_duration") == 0 || strcmp(kind, "max_seconds") == 0)) {
			put(r, IB_SET_DURATION, json_object_get(c, "seconds"));
			put(r, IB_SET_DURATION, json_object_get(c, "duration"));
		}
	}
}

/* "config.spec" and "args": one path of each stands for the same thing. */
static void put_top(struct ib_result *r, const json_t *top)
{
	static const struct place places[] = {
		{IB_SET_MODEL, "spec/backend/model"},
		{IB_SET_MODEL, "backend_kwargs/model"},
		{IB_SET_MODEL, "model"},
		{IB_SET_TOKENIZER, "spec/tokenizer/model"},
		{IB_SET_TOKENIZER, "processor"},
		{IB_SET_ENDPOINT, "spec/backend/target"},
		{IB_SET_ENDPOINT, "backend_kwargs/target"},
		{IB_SET_ENDPOINT, "target"},
		{IB_SET_BACKEND, "spec/backend/request_format"},
		{IB_SET_BACKEND, "spec/backend/kind"},
		{IB_SET_BACKEND, "backend"},
		{IB_SET_DATASET, "spec/data/0/source"},
		{IB_SET_DATASET, "spec/data/0/path"},
		{IB_SET_DATASET, "spec/data/0/kind"},
		{IB_SET_INPUT_LEN, "spec/data/0/prompt_tokens"},
		{IB_SET_OUTPUT_LEN, "spec/data/0/output_tokens"},
		{IB_SET_SEED, "spec/seed/value"},
		{IB_SET_SEED, "random_seed"},
		{IB_SET_REQUESTS, "max_requests"},
		{IB_SET_DURATION, "max_seconds"},
	};

	put_all(r, top, places, IB_LEN(places));
	put_constraints(r, ib_setting_at(top, "spec/constraints"));
	put_data(r, json_string_value(ib_setting_at(top, "data/0")));
}

/* 0.3 keeps all of it within each benchmark. */
static void put_old(struct ib_result *r, const struct ib_guidellm_benchmark *b)
{
	static const struct place args[] = {{IB_SET_REQUESTS, "max_number"}, {IB_SET_DURATION, "max_duration"}, {IB_SET_WARMUPS, "warmup_number"}};
	static const struct place worker[] = {{IB_SET_MODEL, "backend_model"}, {IB_SET_ENDPOINT, "backend_target"}, {IB_SET_BACKEND, "backend_type"}};
	static const struct place loader[] = {{IB_SET_TOKENIZER, "processor"}};

	put_all(r, b->old_args, args, IB_LEN(args));
	put_all(r, b->worker, worker, IB_LEN(worker));
	put_all(r, b->loader, loader, IB_LEN(loader));
	put_data(r, json_string_value(ib_setting_at(b->loader, "data")));
}

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* "concurrent, streams=4"; "constant, rate=5". */
static void put_strategy(struct ib_result *r, const json_t *strategy)
{
	const char *kind = json_string_value(json_object_get(strategy, "type_"));
	double streams = number(strategy, "streams"), rate = number(strategy, "rate");
	ib_auto_free char *streams_text = ib_setting_text(streams), *rate_text = ib_setting_text(rate);

	if (!kind)
		return;
	r->label = ib_asprintf("%.60s%s%s%s%s", kind, isnan(streams) ? "" : ", streams=", isnan(streams) ? "" : streams_text, isnan(rate) ? "" : ", rate=",
			       isnan(rate) ? "" : rate_text);
	put(r, IB_SET_CONCURRENCY, json_object_get(strategy, "streams"));
	put(r, IB_SET_RATE, json_object_get(strategy, "rate"));
	if (strcmp(kind, "synchronous") == 0)
		ib_setting_put(&r->settings, IB_SET_CONCURRENCY, "1", from_file);
	if (strcmp(kind, "throughput") == 0) {
		put(r, IB_SET_CONCURRENCY, json_object_get(strategy, "max_concurrency"));
		ib_setting_put(&r->settings, IB_SET_RATE, "inf", from_file);
	}
}

void ib_guidellm_config(const json_t *top, const struct ib_guidellm_benchmark *b, struct ib_result *r)
{
	double streams;

	put_strategy(r, b->strategy ? b->strategy : ib_setting_at(b->old_args, "strategy"));
	put_top(r, top);
	put_old(r, b);
	streams = ib_setting_number(&r->settings, IB_SET_CONCURRENCY);
	r->concurrency_asked = streams >= 0 && streams < 9e15 ? (int64_t)streams : IB_NOT_IN_FILE;
	r->rate_asked = ib_setting_number(&r->settings, IB_SET_RATE);
}
