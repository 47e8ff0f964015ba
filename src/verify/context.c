/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines, printed configurations and pages of metrics beside a result. */
#include "verify/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "model/engine.h"

#define LOGS_MAX 64

struct wanted {
	const char *value;
	double sum;
};

static void add_wanted(void *arg, const char *value, double sample)
{
	struct wanted *w = arg;

	if (strcmp(value, w->value) == 0)
		w->sum = isnan(w->sum) ? sample : w->sum + sample;
}

static double sum(const char *text, const char *name)
{
	return name ? ib_prometheus_sum(text, name) : NAN;
}

static double sum_all(const char *text, const char *const names[IB_ENGINE_NAMES])
{
	double all = names[0] ? 0 : NAN;

	for (size_t i = 0; i < IB_ENGINE_NAMES && names[i]; i++)
		all += ib_prometheus_sum(text, names[i]);
	return all;
}

static void read_numbers(const char *text, const struct ib_engine *e, struct ib_counters *c)
{
	static const struct {
		enum ib_counter which;
		const char *reason;
	} ends[] = {{IB_COUNTER_DONE_STOP, "stop"}, {IB_COUNTER_DONE_LENGTH, "length"}, {IB_COUNTER_DONE_ABORT, "abort"}, {IB_COUNTER_DONE_ERROR, "error"}};

	for (size_t k = 0; k < IB_COUNTERS; k++)
		c->v[k] = NAN;
	c->v[IB_COUNTER_PROMPT_TOKENS] = sum(text, e->prompt_tokens);
	c->v[IB_COUNTER_OUTPUT_TOKENS] = sum_all(text, e->output_tokens);
	c->v[IB_COUNTER_CACHE_QUERIES] = sum_all(text, e->queries);
	c->v[IB_COUNTER_CACHE_HITS] = sum_all(text, e->hits);
	c->v[IB_COUNTER_PREEMPTIONS] = sum(text, e->preemptions);
	c->v[IB_COUNTER_RUNNING] = sum(text, e->busy[0]);
	c->v[IB_COUNTER_WAITING] = sum(text, e->busy[1]);
	c->v[IB_COUNTER_STARTED_AT] = sum(text, IB_ENGINE_STARTED);
	for (size_t i = 0; ib_streq(e->by_label, "finished_reason") && i < IB_LEN(ends); i++) {
		struct wanted w = {ends[i].reason, NAN};

		ib_prometheus_each(text, e->by_counter, e->by_label, add_wanted, &w);
		c->v[ends[i].which] = w.sum;
	}
}

static void keep_first(void *arg, const char *value, double sample)
{
	char **to = arg;

	(void)sample;
	if (!*to && strcmp(value, "None") != 0)
		*to = ib_strndup(value, strnlen(value, 200));
}

static void read_labels(const char *text, const struct ib_engine *e, struct ib_counters *c)
{
	ib_prometheus_each(text, e->prompt_tokens, "model_name", keep_first, &c->model);
	ib_prometheus_each(text, "vllm:cache_config_info", "enable_prefix_caching", keep_first, &c->prefix_caching);
	ib_prometheus_each(text, "vllm:cache_config_info", "cache_dtype", keep_first, &c->cache_dtype);
}

bool ib_counters_read(const char *text, const char *file, struct ib_counters *ret)
{
	const struct ib_engine *e;

	for (size_t i = 0; (e = ib_engine_at(i)); i++) {
		ib_auto_free char *prefix = ib_asprintf("\n%s:", e->name);

		if (!strstr(text, prefix) && !ib_starts(text, prefix + 1))
			continue;
		*ret = (struct ib_counters){.file = ib_strdup(file), .engine = e->name};
		read_numbers(text, e, ret);
		read_labels(text, e, ret);
		return true;
	}
	return false;
}

void ib_counters_clear(struct ib_counters *c)
{
	free(c->file);
	free(c->model);
	free(c->prefix_caching);
	free(c->cache_dtype);
	*c = (struct ib_counters){0};
}

void ib_context_clear(struct ib_context *c)
{
	ib_settings_clear(&c->settings);
	ib_counters_clear(&c->before);
	ib_counters_clear(&c->after);
	free(c->command_file);
	free(c->log_file);
	for (size_t i = 0; i < c->n_logs; i++)
		free(c->logs[i].file);
	free(c->logs);
	free(c->logs_left);
	free(c->counters_problem);
	*c = (struct ib_context){0};
}

double ib_counter_delta(const struct ib_context *c, enum ib_counter which)
{
	if (!c->before.file || !c->after.file || c->counters_problem)
		return NAN;
	return c->after.v[which] - c->before.v[which];
}

const char *ib_counter_name(enum ib_counter which)
{
	static const char *const names[IB_COUNTERS] = {
		[IB_COUNTER_PROMPT_TOKENS] = "prompt_tokens", [IB_COUNTER_OUTPUT_TOKENS] = "output_tokens",
		[IB_COUNTER_CACHE_QUERIES] = "cache_queries", [IB_COUNTER_CACHE_HITS] = "cache_hits",
		[IB_COUNTER_DONE_STOP] = "finished_stop",     [IB_COUNTER_DONE_LENGTH] = "finished_length",
		[IB_COUNTER_DONE_ABORT] = "finished_abort",   [IB_COUNTER_DONE_ERROR] = "finished_error",
		[IB_COUNTER_PREEMPTIONS] = "preemptions",     [IB_COUNTER_RUNNING] = "running",
		[IB_COUNTER_WAITING] = "waiting",             [IB_COUNTER_STARTED_AT] = "server_started_at",
	};

	return names[which];
}

/* Does a hold a counter that is smaller than b's? Gauges do not count. */
static bool smaller(const struct ib_counters *a, const struct ib_counters *b)
{
	for (int k = 0; k <= IB_COUNTER_PREEMPTIONS; k++)
		if (a->v[k] < b->v[k])
			return true;
	return false;
}

/* Another endpoint of the same moment: its counters are added. */
static void add_page(struct ib_counters *to, struct ib_counters *page)
{
	for (size_t k = 0; k < IB_COUNTERS; k++)
		to->v[k] = isnan(to->v[k]) && isnan(page->v[k]) ? NAN : (isnan(to->v[k]) ? 0 : to->v[k]) + (isnan(page->v[k]) ? 0 : page->v[k]);
	ib_counters_clear(page);
}

/* Which of the two is the earlier, where their names do not say it. */
static void order_pages(struct ib_context *c)
{
	if (smaller(&c->after, &c->before)) {
		struct ib_counters swap = c->before;

		c->before = c->after;
		c->after = swap;
	}
	if (smaller(&c->after, &c->before) && !c->counters_problem)
		c->counters_problem = ib_strdup("which page of metrics is the earlier one cannot be told: some counters grow from one to the other, some shrink");
}

static void take_page(struct ib_context *c, struct ib_counters *page, int which)
{
	struct ib_counters *free_place = !c->before.file ? &c->before : !c->after.file ? &c->after : NULL;

	if (which)
		free_place = which == 1 ? &c->before : &c->after;
	if (which && free_place->file && free_place->engine == page->engine) {
		add_page(free_place, page);
		return;
	}
	if (!free_place || free_place->file) {
		if (!c->counters_problem)
			c->counters_problem = ib_asprintf("more pages of metrics than one before and one after: '%s'", page->file);
		ib_counters_clear(page);
		return;
	}
	*free_place = *page;
	if (!which && c->before.file && c->after.file)
		order_pages(c);
}

/* A command stands in many texts, a README for one: only a file that is named for it says what was run. */
static bool is_command_file(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	return ib_starts(name, "cmd") || ib_starts(name, "command") || ib_ends(name, ".sh");
}

void ib_context_take(struct ib_context *c, const char *file, const char *text, size_t n, int which)
{
	struct ib_counters page;
	const struct ib_client *client;

	if (ib_counters_read(text, file, &page)) {
		take_page(c, &page, which);
		return;
	}
	if (is_command_file(file)) {
		client = ib_settings_from_command(text, n, &c->settings);
		if (client && !c->command_file)
			c->command_file = ib_strdup(file);
	} else {
		client = ib_settings_from_log(text, n, &c->settings);
		if (client && !c->log_file)
			c->log_file = ib_strdup(file);
	}
	if (client && !c->client)
		c->client = client;
}

void ib_context_take_log(struct ib_context *c, const char *file, int64_t refusals)
{
	if (refusals < 0 || c->n_logs >= LOGS_MAX) {
		if (!c->logs_left)
			c->logs_left = ib_strdup(file);
		return;
	}
	c->logs = ib_realloc(c->logs, c->n_logs + 1, sizeof(*c->logs));
	c->logs[c->n_logs++] = (struct ib_log_count){ib_strdup(file), refusals};
}

static void copy_page(struct ib_counters *to, const struct ib_counters *from)
{
	*to = *from;
	to->file = ib_strdup(from->file);
	to->model = ib_strdup(from->model);
	to->prefix_caching = ib_strdup(from->prefix_caching);
	to->cache_dtype = ib_strdup(from->cache_dtype);
}

void ib_context_inherit(struct ib_context *c, const struct ib_context *outer)
{
	for (size_t k = 0; k < IB_SETTINGS; k++)
		ib_setting_put(&c->settings, (enum ib_setting_key)k, outer->settings.v[k], outer->settings.from[k]);
	if (!c->client)
		c->client = outer->client;
	if (!c->command_file)
		c->command_file = ib_strdup(outer->command_file);
	if (!c->log_file)
		c->log_file = ib_strdup(outer->log_file);
	if (c->before.file || c->after.file || !outer->before.file)
		return;
	copy_page(&c->before, &outer->before);
	copy_page(&c->after, &outer->after);
	if (!c->counters_problem)
		c->counters_problem = ib_strdup(outer->counters_problem);
}
