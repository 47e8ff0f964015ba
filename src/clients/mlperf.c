/* SPDX-License-Identifier: Apache-2.0 */
/* MLPerf LoadGen: mlperf_log_summary.txt (lines "name : value") and mlperf_log_detail.txt (":::MLLOG" and one JSON object a line). Both hold aggregates and
 * LoadGen's own verdict; single latencies are in neither. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/samples.h"

#define TITLE "MLPerf Results Summary"
#define MARK ":::MLLOG "
#define TITLE_WITHIN 512 /* bytes of the beginning that hold the title */
#define LINE_MAX 65536

static const char *const schema_ids[] = {"mlperf-loadgen/summary", "mlperf-loadgen/detail", NULL};

static bool is_detail(const char *data, size_t n)
{
	return n >= strlen(MARK) && memcmp(data, MARK, strlen(MARK)) == 0;
}

static bool recognise(const struct ib_head *h)
{
	return is_detail(h->data, h->n) || memmem(h->data, h->n < TITLE_WITHIN ? h->n : TITLE_WITHIN, TITLE, strlen(TITLE)) != NULL;
}

/* What both files say, under the names of the summary. */
struct verdict {
	char *scenario, *mode;
	int8_t valid, constraints, duration, queries, stopping; /* -1: not in the file */
	int64_t errors, warnings;
};

static bool yes(const char *v)
{
	return strcasecmp(v, "yes") == 0 || strcasecmp(v, "true") == 0 || strcmp(v, "VALID") == 0;
}

static void check(struct ib_result *r, const char *check, const char *key, int8_t held, const char *message)
{
	if (held == 0)
		ib_result_hint(r, check, key, "Yes", "NO", "%s", message);
}

static void judge(struct ib_result *r, const struct verdict *v)
{
	if (v->valid == 0)
		ib_result_hint(r, "A10", "/Result is", "VALID", "INVALID", "LoadGen itself calls the result invalid: its numbers are no result of the benchmark");
	check(r, "A14", "/Performance constraints satisfied", v->constraints, "the latency constraint was not met: the load was more than the system can take");
	check(r, "A11", "/Min duration satisfied", v->duration, "the run was shorter than the rules ask");
	check(r, "A11", "/Min queries satisfied", v->queries, "fewer queries were made than the rules ask");
	check(r, "A11", "/Early stopping satisfied", v->stopping, "too few queries to bound the tail latency with the confidence that the rules ask");
	if (v->errors > 0)
		ib_result_hint(r, "A07", "/errors", "0", NULL, "LoadGen met %lld errors during the test", (long long)v->errors);
	if (v->mode && strcmp(v->mode, "PerformanceOnly") != 0 && strcmp(v->mode, "Performance") != 0)
		ib_result_hint(r, "A16", "/Mode", "PerformanceOnly", v->mode, "the run was not made to measure performance");
	r->label = v->scenario ? ib_asprintf("%.40s%s%.40s", v->scenario, v->mode ? " " : "", v->mode ? v->mode : "") : NULL;
	if (v->valid < 0)
		ib_strv_add(&r->missing, "Result is");
	if (!v->scenario)
		ib_strv_add(&r->missing, "Scenario");
}

static void verdict_clear(struct verdict *v)
{
	free(v->scenario);
	free(v->mode);
}

static struct ib_result *begin(const char *name, size_t schema, struct ib_results *ret)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_mlperf, name);

	ib_samples_begin(r);
	r->schema_id = schema_ids[schema];
	return r;
}

/* --- summary --- */

enum section { RESULTS, STATISTICS, PARAMETERS };

static char *trimmed(const char *s, size_t n)
{
	while (n && strchr(" \t\r", *s))
		s++, n--;
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	return ib_strndup(s, n);
}

static void take_verdict(struct verdict *v, const char *name, const char *value)
{
	const struct {
		const char *name;
		int8_t *held;
	} flags[] = {{"Result is", &v->valid},
		     {"Performance constraints satisfied", &v->constraints},
		     {"Min duration satisfied", &v->duration},
		     {"Min queries satisfied", &v->queries},
		     {"Early stopping satisfied", &v->stopping}};

	for (size_t i = 0; i < IB_LEN(flags); i++)
		if (strcmp(name, flags[i].name) == 0)
			*flags[i].held = yes(value);
	if (strcmp(name, "Scenario") == 0 && !v->scenario)
		v->scenario = ib_strdup(value);
	if (strcmp(name, "Mode") == 0 && !v->mode)
		v->mode = ib_strdup(value);
}

static double number(const char *text)
{
	char *end;
	double v = text[strspn(text, "0123456789.eE+-")] == '\0' && *text ? strtod(text, &end) : NAN;

	return isfinite(v) ? v : NAN;
}

static void take_parameter(struct ib_result *r, const char *name, const char *value)
{
	static const struct {
		const char *name;
		enum ib_setting_key key;
	} rows[] = {{"target_qps", IB_SET_RATE}, {"qsl_rng_seed", IB_SET_SEED}, {"max_async_queries", IB_SET_CONCURRENCY}};

	for (size_t i = 0; i < IB_LEN(rows); i++)
		if (strcmp(name, rows[i].name) == 0)
			ib_setting_put(&r->settings, rows[i].key, value, "the file");
}

static void take_line(struct ib_result *r, struct verdict *v, enum section section, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	ib_auto_free char *name = NULL, *value = NULL;
	double claimed;

	if (!colon || (n && line[0] == ' ' && n > 1 && line[1] == '*'))
		return;
	name = trimmed(line, (size_t)(colon - line));
	value = trimmed(colon + 1, n - (size_t)(colon + 1 - line));
	take_verdict(v, name, value);
	if (section == PARAMETERS) {
		take_parameter(r, name, value);
		return;
	}
	claimed = number(value);
	if (isnan(claimed))
		return;
	ib_samples_stated(r, name, claimed);
	r->claims[r->n_claims - 1].headline = section == RESULTS;
}

/* "No errors encountered during test." and "12 ERRORS encountered. See detailed log." */
static void take_count(struct verdict *v, const char *line, size_t n)
{
	int64_t count = strtoll(line, NULL, 10);

	if (memmem(line, n, "ERRORS encountered", strlen("ERRORS encountered")))
		v->errors = count;
	if (memmem(line, n, "WARNINGS encountered", strlen("WARNINGS encountered")))
		v->warnings = count;
}

static void read_summary(const char *text, size_t n, const char *name, struct ib_results *ret)
{
	struct ib_result *r = begin(name, 0, ret);
	struct verdict v = {.valid = -1, .constraints = -1, .duration = -1, .queries = -1, .stopping = -1};
	enum section section = RESULTS;

	for (size_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - text) - at : n - at;

		if (memmem(text + at, len, "Additional Stats", strlen("Additional Stats")))
			section = STATISTICS;
		if (memmem(text + at, len, "Test Parameters Used", strlen("Test Parameters Used")))
			section = PARAMETERS;
		take_count(&v, text + at, len);
		if (len <= LINE_MAX)
			take_line(r, &v, section, text + at, len);
		at += len + 1;
	}
	judge(r, &v);
	if (section != PARAMETERS)
		ib_strv_add(&r->missing, "Test Parameters Used");
	verdict_clear(&v);
}

/* --- detail --- */

/* The first text under a key. */
static void take_text(char **to, const char *text)
{
	if (text && !*to)
		*to = ib_asprintf("%.60s", text);
}

static void take_flag(struct verdict *v, const char *key, bool held)
{
	const struct {
		const char *key;
		int8_t *held;
	} flags[] = {{"result_perf_constraints_met", &v->constraints},
		     {"result_min_duration_met", &v->duration},
		     {"result_min_queries_met", &v->queries},
		     {"early_stopping_met", &v->stopping}};

	for (size_t i = 0; i < IB_LEN(flags); i++)
		if (strcmp(key, flags[i].key) == 0)
			*flags[i].held = held;
}

static void take_detail(struct ib_result *r, struct verdict *v, const char *key, const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_boolean(value))
		take_flag(v, key, json_is_true(value));
	else if (strcmp(key, "result_validity") == 0 && text)
		v->valid = yes(text);
	else if (strcmp(key, "effective_scenario") == 0)
		take_text(&v->scenario, text);
	else if (strcmp(key, "effective_test_mode") == 0)
		take_text(&v->mode, text);
	else if (strcmp(key, "loadgen_version") == 0)
		take_text(&r->client_version, text);
	else if (strcmp(key, "num_errors") == 0 && json_is_integer(value))
		v->errors = json_integer_value(value);
	else if (ib_starts(key, "result_") && json_is_number(value))
		ib_samples_stated(r, key, json_number_value(value));
}

static int detail_line(struct ib_result *r, struct verdict *v, const char *line, size_t n, struct ib_err *err)
{
	size_t mark = strlen(MARK);
	ib_auto_json json_t *o = NULL;
	const char *key;
	int e;

	if (n <= mark || !is_detail(line, n)) {
		r->foreign_lines += n > 0;
		return 0;
	}
	e = ib_json_load_foreign(line + mark, n - mark, r->file, &o, err);
	if (e < 0)
		return e;
	key = json_string_value(json_object_get(o, "key"));
	if (key)
		take_detail(r, v, key, json_object_get(o, "value"));
	return 0;
}

static int read_detail(const char *text, size_t n, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = begin(name, 1, ret);
	struct verdict v = {.valid = -1, .constraints = -1, .duration = -1, .queries = -1, .stopping = -1};
	size_t line = 0;
	int e = 0;

	for (size_t at = 0; e == 0 && at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - text) - at : n - at;

		line++;
		e = detail_line(r, &v, text + at, len, err);
		at += len + 1;
	}
	if (e == 0)
		judge(r, &v);
	verdict_clear(&v);
	return e < 0 ? ib_wrap(err, "file line %zu", line) : 0;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);
	int r = ib_client_slurp(in, name, &b, err);

	if (r < 0)
		return r;
	if (is_detail(ib_buf_str(&b), b.len))
		return read_detail(b.data, b.len, name, ret, err);
	read_summary(ib_buf_str(&b), b.len, name, ret);
	return 0;
}

const struct ib_client ib_client_mlperf = {
	.name = "mlperf-loadgen",
	.title = "MLPerf LoadGen: summary and detail logs, aggregates only",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
};
