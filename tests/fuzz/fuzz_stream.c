/* SPDX-License-Identifier: Apache-2.0 */
/* The streaming reader against the strict loader: what one takes, the other takes, with equal values, but for what is listed here. And against itself:
 * tokens, skipping and arrays of numbers agree, wherever the buffer ends. The first byte says where that is; mostly, for speed, it does
 * not end within the text. */
#include "fuzz.h"

#include <string.h>

#include "base/str.h"
#include "json/pick.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/stream";

#define BUFFER 262144

enum way { TREE, SKIP, TOKENS };

static int end(struct ib_stream *s)
{
	struct ib_token t = {.kind = IB_TOKEN_NULL};
	bool more = false;
	int r = 0;

	while (r == 0 && t.kind != IB_TOKEN_END)
		r = ib_stream_next(s, &t, NULL);
	if (r == 0)
		r = ib_stream_document(s, &more, NULL);
	REQUIRE(r < 0 || !more);
	return r;
}

/* 1: nothing in it */
static int read_way(const char *data, size_t n, enum way way, json_t **ret)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
	bool more = false;
	int r = ib_stream_document(s, &more, NULL);

	if (r < 0 || !more)
		return r < 0 ? r : 1;
	if (way == TREE)
		r = ib_pick_tree(s, ret, NULL);
	else if (way == SKIP)
		r = ib_stream_skip(s, NULL);
	return r < 0 ? r : end(s);
}

/* Why the loader may refuse what the stream takes: a byte-order mark, integers beyond 64 bits, and more depth than it allows. */
static bool excused(const char *data, size_t n, const char *why)
{
	if (n >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
		return true;
	return strstr(why, "too big") || strstr(why, "nested");
}

static void against_loader(const char *data, size_t n)
{
	ib_auto_json json_t *ours = NULL, *theirs = NULL;
	struct ib_err err = {0};
	int r = read_way(data, n, TREE, &ours), l = ib_json_load_foreign(data, n, "f", &theirs, &err);

	if (l == 0)
		REQUIRE(r == 0 || r == IB_E_LIMIT);
	if (r == 0 && l < 0)
		REQUIRE(excused(data, n, err.text));
	if (r == 0 && l == 0)
		REQUIRE(json_equal(ours, theirs));
}

static void against_itself(const char *data, size_t n, size_t pad)
{
	int tokens = read_way(data, n, TOKENS, NULL), skipped = read_way(data, n, SKIP, NULL), moved;
	char *copy = ib_alloc(pad + n + 1);

	memset(copy, ' ', pad);
	memcpy(copy + pad, data, n);
	moved = read_way(copy, pad + n, TOKENS, NULL);
	REQUIRE(skipped == tokens && (moved == tokens || (n && (unsigned char)data[0] == 0xEF)));
	free(copy);
}

static void numbers(const char *data, size_t n)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
	ib_auto_json json_t *tree = NULL;
	struct ib_reals v = {0};
	bool more = false, null = false;

	if (ib_stream_document(s, &more, NULL) == 0 && more && ib_stream_reals(s, "a", &v, &null, NULL) == 0 && end(s) == 0) {
		REQUIRE(read_way(data, n, TREE, &tree) == 0 && (null ? json_is_null(tree) : json_array_size(tree) == v.n));
		for (size_t i = 0; i < v.n; i++) {
			const json_t *e = json_array_get(tree, i);

			REQUIRE(json_is_null(e) ? v.v[i] != v.v[i] : json_number_value(e) == v.v[i]);
		}
	}
	ib_reals_clear(&v);
}

static void lines(const char *data, size_t n)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	const struct ib_stream_opts opts = {.lines = true, .literals = true, .hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", &opts);
	struct ib_token t;
	bool more = true;
	int r = 0;

	while (r == 0 && more) {
		r = ib_stream_document(s, &more, NULL);
		if (r == 0 && more)
			r = ib_stream_skip(s, NULL);
		if (r == 0 && more)
			r = ib_stream_next(s, &t, NULL);
		REQUIRE(r < 0 || !more || t.kind == IB_TOKEN_END);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data + 1;

	if (n < 1 || n > 100000)
		return 0;
	against_loader(text, n - 1);
	against_itself(text, n - 1, data[0] & 128 ? BUFFER - (data[0] & 127) : 1);
	numbers(text, n - 1);
	lines(text, n - 1);
	return 0;
}
