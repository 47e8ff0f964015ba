/* SPDX-License-Identifier: Apache-2.0 */
/* One result of vllm bench serve, off the stream: its arrays straight into columns, its other values into a small object. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/vllm.h"
#include "json/pick.h"

#define SECONDS_MAX 1e12 /* of any time, either way: arithmetic on them stays finite */

/* The arrays, in the order in which their lengths are compared. */
enum array { INPUT_LENS, OUTPUT_LENS, TTFTS, LATENCIES, START_TIMES, QUEUE_TIMES, ITLS, ERRORS, TEXTS, ARRAYS };

static const char *const names[ARRAYS] = {"input_lens", "output_lens", "ttfts", "latencies", "start_times", "queue_times", "itls", "errors", "generated_texts"};

struct reading {
	json_t *scalars;
	bool there[ARRAYS];
	size_t n[ARRAYS];
	struct ib_reals reals[ITLS + 1]; /* of itls all gaps, one request after the other */
	size_t *gaps_at;
	uint64_t *hashes;
	bool *errors;
	size_t room[ARRAYS]; /* of the three above */
};

/* Room for one more item of size bytes at v, of which there are n. */
static void *room(void *v, size_t n, size_t *room, size_t size)
{
	if (n + 1 < *room)
		return v;
	*room = *room ? *room * 2 : 256;
	return ib_realloc(v, *room, size);
}

static bool is_time(double v)
{
	return fabs(v) <= SECONDS_MAX;
}

static int read_reals(struct ib_stream *s, enum array a, struct reading *r, struct ib_err *err)
{
	const struct ib_reals *v = &r->reals[a];
	ib_auto_free char *where = ib_asprintf("'%s'", names[a]);
	bool counts = a == INPUT_LENS || a == OUTPUT_LENS;
	int e = ib_stream_reals(s, where, &r->reals[a], NULL, err);

	for (size_t i = 0; e == 0 && i < v->n; i++) {
		bool good = counts ? v->v[i] >= 0 && v->v[i] <= INT32_MAX && v->v[i] == floor(v->v[i]) : is_time(v->v[i]);

		if (!good && !isnan(v->v[i]))
			return ib_stream_fail(s, err, IB_E_SYNTAX, "element %zu of '%s' is not a %s", i, names[a], counts ? "count" : "time in seconds");
	}
	r->n[a] = v->n;
	return e;
}

static int read_gaps(struct ib_stream *s, struct reading *r, struct ib_err *err)
{
	struct ib_reals *v = &r->reals[ITLS];
	size_t from = v->n;
	bool null;
	int e = ib_stream_reals(s, "'itls'", v, &null, err);

	if (e < 0)
		return ib_wrap(err, "request %zu", r->n[ITLS]);
	if (null)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "element %zu of 'itls' is not an array", r->n[ITLS]);
	for (size_t i = from; i < v->n; i++)
		if (!is_time(v->v[i])) /* null is none, either */
			return ib_stream_fail(s, err, IB_E_SYNTAX, "gap %zu of request %zu in 'itls' is not a time in seconds", i - from, r->n[ITLS]);
	r->gaps_at = room(r->gaps_at, r->n[ITLS], &r->room[ITLS], sizeof(*r->gaps_at));
	r->gaps_at[r->n[ITLS]++] = from;
	return 0;
}

/* Length and not text: a string may begin with a byte 0. */
static int read_error(struct ib_stream *s, struct reading *r, struct ib_err *err)
{
	struct ib_token t;
	int e = ib_stream_peek(s, &t, err);

	if (e < 0)
		return e;
	r->errors = room(r->errors, r->n[ERRORS], &r->room[ERRORS], sizeof(*r->errors));
	r->errors[r->n[ERRORS]++] = t.kind == IB_TOKEN_STRING ? t.bytes > 0 : t.kind != IB_TOKEN_NULL;
	return ib_stream_skip(s, err);
}

static int read_text(struct ib_stream *s, struct reading *r, struct ib_err *err)
{
	struct ib_token t;
	int e = ib_stream_next(s, &t, err);

	if (e < 0)
		return e;
	if (t.kind != IB_TOKEN_STRING && t.kind != IB_TOKEN_NULL)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "element %zu of 'generated_texts' is not a string", r->n[TEXTS]);
	r->hashes = room(r->hashes, r->n[TEXTS], &r->room[TEXTS], sizeof(*r->hashes));
	r->hashes[r->n[TEXTS]++] = t.kind == IB_TOKEN_STRING ? t.hash : 0;
	return 0;
}

static int read_elements(struct ib_stream *s, enum array a, struct reading *r, struct ib_err *err)
{
	struct ib_token t;
	int e = ib_stream_next(s, &t, err); /* '[' */

	while (e == 0) {
		e = ib_stream_peek(s, &t, err);
		if (e == 0 && t.kind == IB_TOKEN_ARRAY_END)
			return ib_stream_next(s, &t, err);
		if (e == 0)
			e = a == ITLS ? read_gaps(s, r, err) : a == ERRORS ? read_error(s, r, err) : read_text(s, r, err);
	}
	return e;
}

static int read_array(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct reading *r = row;
	enum array a = INPUT_LENS;
	struct ib_token t;
	int e = ib_stream_peek(s, &t, err);

	while (strcmp(names[a], key) != 0)
		a++;
	ib_json_set(r->scalars, key, NULL);
	if (e < 0 || t.kind == IB_TOKEN_NULL)
		return e < 0 ? e : ib_stream_skip(s, err);
	if (t.kind != IB_TOKEN_ARRAY)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "key '%s' is not an array", key);
	r->there[a] = true;
	return a < ITLS ? read_reals(s, a, r, err) : read_elements(s, a, r, err);
}

/* Only that it is there is of interest: it tells the schema. */
static int pass(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct reading *r = row;

	ib_json_set(r->scalars, key, NULL);
	return ib_stream_skip(s, err);
}

static const struct ib_pick table[] = {
	{.path = "", .kind = IB_PICK_SCALARS, .at = offsetof(struct reading, scalars)},
	{.path = "input_lens", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "output_lens", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "ttfts", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "latencies", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "start_times", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "queue_times", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "itls", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "errors", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "generated_texts", .kind = IB_PICK_CALL, .each = read_array},
	{.path = "server_ttfts", .kind = IB_PICK_CALL, .each = pass},
	{.path = "steady_state", .kind = IB_PICK_CALL, .each = pass},
	{.path = NULL},
};

/* --- into columns --- */

static double *take(struct ib_reals *r, bool there)
{
	double *v = there && r->n ? ib_realloc(ib_steal(&r->v), r->n, sizeof(*v)) : NULL;

	return v;
}

static int64_t *take_counts(const struct ib_reals *r, bool there)
{
	int64_t *v = there ? ib_columns_ints(r->n) : NULL;

	for (size_t i = 0; v && i < r->n; i++)
		if (!isnan(r->v[i]))
			v[i] = (int64_t)r->v[i];
	return v;
}

static int count_rows(const struct ib_stream *s, const struct reading *r, size_t *ret, struct ib_err *err)
{
	const char *name = ib_stream_name(s);
	int first = -1;

	*ret = 0;
	for (int a = 0; a < ARRAYS; a++) {
		if (!r->there[a])
			continue;
		if (first >= 0 && r->n[a] != *ret)
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': array '%s' has %zu elements, '%s' has %zu", name, names[a], r->n[a], names[first], *ret);
		if (first < 0)
			first = a;
		*ret = r->n[a];
	}
	return 0;
}

static void give(struct reading *r, struct ib_vllm_object *to)
{
	struct ib_columns *c = &to->columns;

	c->input_tokens = take_counts(&r->reals[INPUT_LENS], r->there[INPUT_LENS]);
	c->output_tokens = take_counts(&r->reals[OUTPUT_LENS], r->there[OUTPUT_LENS]);
	c->ttft_s = take(&r->reals[TTFTS], r->there[TTFTS]);
	c->e2e_s = take(&r->reals[LATENCIES], r->there[LATENCIES]);
	c->start_s = take(&r->reals[START_TIMES], r->there[START_TIMES]);
	c->queue_s = take(&r->reals[QUEUE_TIMES], r->there[QUEUE_TIMES]);
	if (r->there[ITLS] && c->n) {
		c->itl_n = r->reals[ITLS].n;
		c->itl_s = take(&r->reals[ITLS], true);
		c->itl_at = ib_steal(&r->gaps_at);
		c->itl_at[c->n] = c->itl_n;
	}
	c->output_hash = ib_steal(&r->hashes);
	to->errors = ib_steal(&r->errors);
	to->scalars = ib_steal(&r->scalars);
}

static void clear(struct reading *r)
{
	json_decref(r->scalars);
	for (size_t a = 0; a < IB_LEN(r->reals); a++)
		ib_reals_clear(&r->reals[a]);
	free(r->gaps_at);
	free(r->hashes);
	free(r->errors);
}

void ib_vllm_object_clear(struct ib_vllm_object *o)
{
	json_decref(o->scalars);
	ib_columns_clear(&o->columns);
	free(o->errors);
	*o = (struct ib_vllm_object){0};
}

int ib_vllm_read(struct ib_stream *s, struct ib_vllm_object *ret, struct ib_err *err)
{
	struct reading r = {0};
	int e = ib_pick(s, table, &r, NULL, err);

	*ret = (struct ib_vllm_object){0};
	if (e == 0)
		e = count_rows(s, &r, &ret->columns.n, err);
	if (e == 0)
		give(&r, ret);
	clear(&r);
	return e;
}
