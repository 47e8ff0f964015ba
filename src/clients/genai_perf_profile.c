/* SPDX-License-Identifier: Apache-2.0 */
/* The profile that genai-perf computes from: a time stamp for each request and each response, in ns, with what came. Tokens are not in it: the client counts
 * them with its tokenizer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/genai_perf.h"
#include "json/pick.h"

/* One request. */
struct request {
	int64_t at;
	int64_t *times;
	size_t n_times, room;
	bool *content; /* of each response: does it hold text? */
	size_t n_content, room_content;
	bool failed;
};

static void request_clear(struct request *r)
{
	free(r->times);
	free(r->content);
}

/* An experiment, and the results that all of them go to. */
struct profile {
	const char *name;
	struct ib_results *ret;
	size_t now; /* index of the result at hand */
};

static int each_time(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct request *r = row;
	struct ib_token t;
	int e = ib_stream_next(s, &t, err);

	(void)key;
	if (e < 0)
		return e;
	if (t.kind != IB_TOKEN_NUMBER || !t.whole || t.integer < 0)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "an element of 'response_timestamps' is not a time in ns");
	if (r->n_times == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->times = ib_realloc(r->times, r->room, sizeof(*r->times));
	}
	r->times[r->n_times++] = t.integer;
	return 0;
}

/* Is something behind the first key of this name that is neither "" nor null? */
static bool says(const char *text, const char *key)
{
	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
		const char *v = at + strlen(key);

		v += strspn(v, " :");
		if (*v == '"' && v[1] != '"')
			return true;
	}
	return false;
}

static int read_response(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	bool *content = row;
	struct ib_token t;
	int e = ib_stream_next(s, &t, err);

	(void)key;
	if (e < 0)
		return e;
	if (t.kind == IB_TOKEN_OBJECT || t.kind == IB_TOKEN_ARRAY)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "'response' is not a string");
	*content = t.kind == IB_TOKEN_STRING && (says(t.text, "\"content\"") || says(t.text, "\"text\"") || says(t.text, "\"text_output\"") ||
						 says(t.text, "\"generated_text\"") || says(t.text, "\"reasoning_content\""));
	return 0;
}

static int each_output(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	static const struct ib_pick table[] = {{.path = "response", .kind = IB_PICK_CALL, .each = read_response}, {.path = NULL}};
	struct request *r = row;

	(void)key;
	if (r->n_content == r->room_content) {
		r->room_content = r->room_content ? 2 * r->room_content : 64;
		r->content = ib_realloc(r->content, r->room_content, sizeof(*r->content));
	}
	r->content[r->n_content] = false;
	return ib_pick(s, table, &r->content[r->n_content++], NULL, err);
}

/* Responses without text do not count; a request without any that counts is left out by the client. */
static void add_row(const struct request *r, struct ib_result *result)
{
	struct ib_row row = ib_row_empty();
	int64_t last = -1, n = 0;

	row.start_s = (double)r->at / 1e9;
	for (size_t i = 0; i < r->n_times && i < r->n_content; i++) {
		if (!r->content[i])
			continue;
		if (n == 0)
			row.ttft_s = (double)(r->times[i] - r->at) / 1e9;
		else
			ib_columns_gap(&result->columns, (double)(r->times[i] - last) / 1e9);
		last = r->times[i];
		n++;
	}
	if (n)
		row.e2e_s = row.last_s = (double)(last - r->at) / 1e9;
	row.chunks = n;
	row.outcome = n ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED;
	ib_columns_add(&result->columns, &row);
}

#define AT(field) offsetof(struct request, field)

static int each_request(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	static const struct ib_pick table[] = {
		{.path = "timestamp", .kind = IB_PICK_INT, .at = AT(at)},
		{.path = "response_timestamps", .kind = IB_PICK_EACH, .each = each_time},
		{.path = "response_outputs", .kind = IB_PICK_EACH, .each = each_output},
		{.path = NULL},
	};
	__attribute__((cleanup(request_clear))) struct request r = {.at = -1};
	struct profile *p = row;
	int e = ib_pick(s, table, &r, NULL, err);

	(void)key;
	if (e < 0)
		return e;
	if (r.at < 0 || (r.n_content && r.n_content != r.n_times))
		return ib_stream_fail(s, err, IB_E_SYNTAX, "a request without its time stamp, or with other numbers of times and responses");
	add_row(&r, &p->ret->v[p->now]);
	return 0;
}

static int read_mode(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct profile *p = row;
	ib_auto_json json_t *o = NULL;
	int e = ib_pick_tree(s, &o, err);
	const char *mode = json_string_value(json_object_get(o, "mode"));
	double value = json_number_value(json_object_get(o, "value"));

	(void)key;
	if (e == 0 && mode && !p->ret->v[p->now].label)
		p->ret->v[p->now].label = ib_asprintf("%.40s %.6g", mode, value);
	return e;
}

static int each_experiment(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	static const struct ib_pick table[] = {
		{.path = "experiment", .kind = IB_PICK_CALL, .each = read_mode},
		{.path = "requests", .kind = IB_PICK_EACH, .each = each_request},
		{.path = NULL},
	};
	struct profile *p = row;
	struct ib_result *r;
	int e;

	(void)key;
	if (p->ret->n == IB_RESULTS_MAX)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %d experiments", IB_RESULTS_MAX);
	r = ib_results_add(p->ret, &ib_client_genai_perf, p->name);
	p->now = p->ret->n - 1;
	r->schema_id = ib_genai_perf_schemas[1];
	r->part = IB_PART_RECORDS;
	r->unknown_version = true;
	r->ttft = &ib_ttft_first_content;
	r->itl = &ib_itl_content_gaps;
	r->e2e = &ib_e2e_last_content;
	e = ib_pick(s, table, p, NULL, err);
	if (e < 0)
		return e;
	r = &p->ret->v[p->now];
	ib_columns_end(&r->columns);
	if (r->columns.n)
		ib_result_count(r);
	return 0;
}

int ib_genai_perf_profile(struct ib_stream *s, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_pick table[] = {{.path = "experiments", .kind = IB_PICK_EACH, .each = each_experiment}, {.path = NULL}};
	struct profile p = {.name = name, .ret = ret};

	return ib_pick(s, table, &p, NULL, err);
}
