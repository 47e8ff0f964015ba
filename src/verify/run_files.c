/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run that are read: results, and what says how they came to be. */
#include "verify/run_files.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/client.h"
#include "clients/log_errors.h"
#include "verify/runs.h"

#define CONTEXT_MAX (1u << 20)
#define SAMPLES "samples.jsonl"
#define METRICS_BEFORE "endpoint/metrics-before.txt"
#define METRICS_AFTER "endpoint/metrics-after.txt"

/* 1 for a page of metrics from before the command, 2 for one from after it, of any endpoint; else 0. */
static int metrics_side(const char *rest)
{
	if (strcmp(rest, METRICS_BEFORE) == 0 || (ib_starts(rest, "endpoint/metrics-before-") && ib_ends(rest, ".txt")))
		return 1;
	return strcmp(rest, METRICS_AFTER) == 0 || (ib_starts(rest, "endpoint/metrics-after-") && ib_ends(rest, ".txt")) ? 2 : 0;
}

/* Documents that say what a run was on. */
static bool is_fact(const char *rest)
{
	return strcmp(rest, "before.json") == 0 || strcmp(rest, "after.json") == 0 || strcmp(rest, "endpoint/version.json") == 0 ||
	       strcmp(rest, "endpoint/models.json") == 0;
}

/* Files that say how a result came to be. */
static bool is_context(const char *rest)
{
	if (is_fact(rest))
		return true;
	return strcmp(rest, "command.json") == 0 || strcmp(rest, "stdout.log") == 0 || metrics_side(rest);
}

/* Logs of the command and the server; those that the client wrote are among its output. */
static bool is_log(const char *rest)
{
	return strcmp(rest, "stdout.log") == 0 || strcmp(rest, "stderr.log") == 0 || (ib_starts(rest, "server/") && ib_log_named(rest));
}

/* Are these the bytes that the record lists? In a packet the manifest vouches for them. */
static bool vouched(const struct ib_study_view *v, const struct ib_study_run *run, const char *rest, const char *sha256)
{
	const struct ib_record_file *listed = v->anchored ? NULL : ib_study_listed(run, rest);

	return v->anchored || (listed && strcmp(listed->sha256, sha256) == 0);
}

bool ib_run_file_wants(const struct ib_study_view *v, const char *path, uint64_t size)
{
	char id[IB_RUN_ID_MAX];
	const char *rest = ib_study_split(path, id);
	const struct ib_study_run *run = rest ? ib_study_find_run(v, id) : NULL;

	if (!run)
		return false;
	if (strcmp(rest, "record.json") == 0)
		return true;
	if (strcmp(rest, SAMPLES) == 0)
		return size <= IB_SAMPLES_MAX && (v->anchored || ib_study_listed(run, rest));
	if (!is_log(rest) && is_context(rest) && size > CONTEXT_MAX)
		return false;
	return !v->no_clients && (is_context(rest) || is_log(rest) || ib_starts(rest, "output/")) && (v->anchored || ib_study_listed(run, rest));
}

/* Of a log: is it read for more than its refusals? */
static bool says_more(const char *rest, uint64_t size)
{
	return !is_log(rest) || (is_context(rest) && size <= CONTEXT_MAX);
}

static bool is_compressed(const char *data, uint64_t size)
{
	return size >= 4 && (memcmp(data, "\037\213", 2) == 0 || memcmp(data, "\050\265\057\375", 4) == 0);
}

static void take_output(struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *rest, const char *sha256, const char *data,
			uint64_t size)
{
	struct ib_source_mem mem = {.data = data, .n = size};
	const struct ib_source in = ib_source_from_mem(&mem);
	struct ib_results got = {0};
	struct ib_err err;

	if (!vouched(v, run, rest, sha256))
		return;
	if (ib_log_named(rest))
		ib_context_take_log(&run->context, path, ib_log_errors_in(data, size));
	if (is_compressed(data, size))
		ib_strv_add(&run->compressed, path);
	if (!ib_client_recognise(data, size))
		return;
	if (ib_client_read_source(&in, path, &got, &err) == 0)
		ib_results_move(&run->results, &got);
	else if (err.code == IB_E_LIMIT)
		run->unread++;
	else
		ib_strv_take(&run->torn_results, ib_asprintf("%s: %s", path, err.text));
	ib_results_clear(&got);
}

static void take_command(struct ib_study_run *run, const char *path, const char *data, uint64_t size)
{
	ib_auto_json json_t *doc = NULL;
	const json_t *argv;
	size_t i;
	json_t *word;

	if (run->argv.n || ib_json_load(data, size, path, &doc, NULL) < 0)
		return;
	argv = json_object_get(doc, "argv");
	json_array_foreach(argv, i, word)
		ib_strv_add(&run->argv, json_is_string(word) ? json_string_value(word) : "");
	run->context.client = ib_settings_from_argv((const char *const *)run->argv.v, run->argv.n, &run->context.settings);
	if (run->context.client)
		run->context.command_file = ib_strdup(path);
}

static void take_facts(struct ib_study_run *run, const char *path, const char *rest, const char *data, uint64_t size)
{
	ib_auto_json json_t *doc = NULL;

	if (ib_json_load(data, size, path, &doc, NULL) < 0)
		return;
	if (ib_starts(rest, "endpoint/"))
		ib_facts_of_endpoint(doc, &run->before);
	else
		ib_facts_of_capture(doc, strcmp(rest, "after.json") == 0 ? &run->after : &run->before);
}

static void take_page(const struct ib_study_view *v, struct ib_study_run *run, const char *text, int side)
{
	for (size_t i = 0; i < v->n_contracts; i++)
		ib_pages_names(&run->pages, v->contracts[i].json);
	ib_pages_take(&run->pages, text, side - 1);
}

static void take_context(const struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *rest, const char *sha256, const char *data,
			 uint64_t size)
{
	if (!vouched(v, run, rest, sha256))
		return;
	if (is_log(rest))
		ib_context_take_log(&run->context, path, ib_log_errors_in(data, size));
	if (!says_more(rest, size))
		return;
	if (strcmp(rest, "command.json") == 0)
		take_command(run, path, data, size);
	else if (is_fact(rest))
		take_facts(run, path, rest, data, size);
	else
		ib_context_take(&run->context, path, data, size, metrics_side(rest));
	if (metrics_side(rest))
		take_page(v, run, data, metrics_side(rest));
}

static void take_samples(const struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *sha256, const char *data, uint64_t size)
{
	if (vouched(v, run, SAMPLES, sha256))
		ib_samples_read(path, data, size, &run->samples);
}

/* One of which the bytes are not at hand. */
static void leave(const struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *rest)
{
	if (ib_starts(rest, "output/"))
		run->unread++; /* until it was read as a stream */
	if (is_log(rest) && !v->no_clients)
		ib_context_take_log(&run->context, path, -1);
}

void ib_run_file_take(struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *rest, const char *sha256, const char *data,
		      uint64_t size)
{
	if (data && says_more(rest, size))
		ib_privacy_scan(&v->privacy, path, data, size);
	if (!data && *sha256)
		leave(v, run, path, rest);
	else if (data && strcmp(rest, SAMPLES) == 0 && !run->samples.lines)
		take_samples(v, run, path, sha256, data, size);
	else if (data && (is_context(rest) || is_log(rest)))
		take_context(v, run, path, rest, sha256, data, size);
	else if (data)
		take_output(v, run, path, rest, sha256, data, size);
}
