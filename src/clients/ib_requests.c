/* SPDX-License-Identifier: Apache-2.0 */
/* The interchange format ib-requests(5): JSON Lines, a header and then one request a line, read as it comes; and which of its two forms a file is. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/ib_requests.h"
#include "json/pick.h"

#define ABSENT INT64_MIN

static const char *const schema_ids[] = {IB_REQUESTS_SCHEMA, NULL};

static bool recognise(const struct ib_head *h)
{
	return ib_head_starts(h, "schema", "urn:ibtools:requests:") || ib_requests_is_csv(h->data, h->n);
}

/* One line while it is read. */
struct line {
	struct ib_requests_row row;
	int8_t warmup;
	char *prompt_sha256;
};

/* A word that ends at a byte 0 of its own is another word. */
static int read_word(struct ib_stream *s, const char *what, char **ret, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (r < 0 || t.kind == IB_TOKEN_NULL)
		return r;
	if (t.kind != IB_TOKEN_STRING || t.kept != t.bytes || strlen(t.text) != t.kept)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "'%s' is not a word", what);
	free(*ret);
	*ret = ib_strdup(t.text);
	return 0;
}

static int read_outcome(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	(void)key;
	return read_word(s, "outcome", &((struct line *)row)->row.outcome, err);
}

static int read_class(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	(void)key;
	return read_word(s, "error_class", &((struct line *)row)->row.error_class, err);
}

static int read_gaps(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct line *l = row;
	bool null = false;
	int r = ib_stream_reals(s, "itl_ns", &l->row.gaps, &null, err);

	(void)key;
	l->row.has_gaps = !null;
	return r;
}

#define NUMBER(key, k) {key, IB_PICK_INT, offsetof(struct line, row.v[k]), false, NULL}

static const struct ib_pick request[] = {
	{"index", IB_PICK_INT, offsetof(struct line, row.index), false, NULL},
	{"warmup", IB_PICK_BOOL, offsetof(struct line, warmup), false, NULL},
	NUMBER("start_ns", IB_REQUESTS_START),
	NUMBER("queue_ns", IB_REQUESTS_QUEUE),
	NUMBER("ttft_ns", IB_REQUESTS_TTFT),
	NUMBER("last_ns", IB_REQUESTS_LAST),
	NUMBER("e2e_ns", IB_REQUESTS_E2E),
	NUMBER("input_tokens_asked", IB_REQUESTS_IN_ASKED),
	NUMBER("input_tokens", IB_REQUESTS_IN),
	NUMBER("input_tokens_server", IB_REQUESTS_IN_SERVER),
	NUMBER("output_tokens_asked", IB_REQUESTS_OUT_ASKED),
	NUMBER("output_tokens", IB_REQUESTS_OUT),
	NUMBER("output_tokens_server", IB_REQUESTS_OUT_SERVER),
	NUMBER("chunks", IB_REQUESTS_CHUNKS),
	{"itl_ns", IB_PICK_CALL, 0, false, read_gaps},
	{"outcome", IB_PICK_CALL, 0, false, read_outcome},
	{"error_class", IB_PICK_CALL, 0, false, read_class},
	{"prompt_sha256", IB_PICK_TEXT, offsetof(struct line, prompt_sha256), false, NULL},
	{"prompt_id", IB_PICK_TEXT, offsetof(struct line, row.prompt), false, NULL},
	{"output_id", IB_PICK_TEXT, offsetof(struct line, row.output), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static void begin(struct line *l)
{
	ib_requests_row_reset(&l->row);
	free(l->prompt_sha256);
	l->prompt_sha256 = NULL;
	l->warmup = -1;
	for (size_t k = 0; k < IB_REQUESTS_NUMBERS; k++)
		l->row.v[k] = ABSENT;
}

static int at_end(struct ib_stream *s, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	return r < 0 || t.kind == IB_TOKEN_END ? r : ib_stream_fail(s, err, IB_E_SYNTAX, "more than one value");
}

static int read_request(struct ib_stream *s, struct ib_requests_file *f, struct line *l, struct ib_err *err)
{
	uint64_t column;
	int r;

	begin(l);
	r = ib_pick(s, request, l, NULL, err);
	if (r == 0)
		r = at_end(s, err);
	if (r < 0)
		return r;
	ib_stream_at(s, &f->line, &column);
	for (size_t k = 0; k < IB_REQUESTS_NUMBERS; k++)
		if (l->row.v[k] < 0)
			l->row.v[k] = l->row.v[k] == ABSENT ? IB_NOT_IN_FILE : IB_NOT_IN_FILE - 1; /* -1 in the file is no number that it may hold */
	l->row.warmup = l->warmup == 1;
	if (!l->row.prompt)
		l->row.prompt = ib_steal(&l->prompt_sha256);
	return ib_requests_add(f, &l->row, err);
}

static int read_head(struct ib_stream *s, struct ib_requests_file *f, struct ib_err *err)
{
	json_t *head = NULL;
	int r = ib_pick_tree(s, &head, err);

	f->line = 1;
	if (r == 0)
		r = ib_requests_head(f, head, err);
	return r < 0 ? r : at_end(s, err);
}

/* What is between the documents: nothing else may be there. */
static int check_lines(const struct ib_stream *s, const struct ib_requests_file *f, struct ib_err *err)
{
	const struct ib_stream_notes *n = ib_stream_notes(s);

	if (n->foreign_lines)
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s' line %llu: not a JSON object", f->name, (unsigned long long)n->first_foreign);
	if (n->torn)
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': the last line is not whole: no line feed at its end", f->name);
	return 0;
}

static int read_lines(struct ib_stream *s, struct ib_requests_file *f, struct ib_err *err)
{
	struct line l = {0};
	bool more;
	int r;

	for (;;) {
		r = ib_stream_document(s, &more, err);
		if (r == 0)
			r = check_lines(s, f, err);
		if (r < 0 || !more)
			break;
		r = f->head ? read_request(s, f, &l, err) : read_head(s, f, err);
		if (r < 0)
			break;
	}
	ib_requests_row_clear(&l.row);
	free(l.prompt_sha256);
	if (r == 0 && !f->head)
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s' has no header line", f->name);
	return r;
}

static int read_jsonl(const struct ib_source *in, struct ib_requests_file *f, struct ib_stream_notes *notes, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.lines = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, f->name, &opts);
	int r = read_lines(s, f, err);

	*notes = *ib_stream_notes(s);
	return r;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_requests_file f = {.name = name};
	struct ib_stream_notes notes = {0};
	ib_auto_free char *start = ib_alloc(IB_HEAD_MAX);
	struct ib_peeked peeked;
	struct ib_source all;
	int r = ib_client_peek(in, start, IB_HEAD_MAX, &peeked, &all, err);

	if (r == 0 && ib_requests_is_csv(start, peeked.head.n))
		r = ib_requests_read_csv(&all, &f, &notes, err);
	else if (r == 0)
		r = read_jsonl(&all, &f, &notes, err);
	if (r == 0)
		r = ib_requests_finish(&f, &notes, ret, err);
	ib_requests_file_clear(&f);
	return r;
}

const struct ib_client ib_client_requests = {
	.name = "ib-requests",
	.title = "any load generator, through the interchange format of ib-requests(5), JSON Lines or CSV",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
};
