/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a recorded workload. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/recording.h"

#define REQUESTS_MAX 10000000

static int by_text(const void *a, const void *b)
{
	return memcmp(a, b, IB_HEX_LEN);
}

static size_t count_unique(char (*sorted)[IB_HEX_LEN], size_t n)
{
	size_t u = n ? 1 : 0;

	for (size_t i = 1; i < n; i++)
		u += memcmp(sorted[i], sorted[i - 1], IB_HEX_LEN) != 0;
	return u;
}

/* Sorted copy; allocated, never NULL. */
static void *sorted_copy(const void *v, size_t n)
{
	char (*copy)[IB_HEX_LEN] = ib_realloc(NULL, n + 1, IB_HEX_LEN);

	if (n) {
		memcpy(copy, v, n * IB_HEX_LEN);
		qsort(copy, n, IB_HEX_LEN, by_text);
	}
	return copy;
}

static void conclude(struct ib_recorded *r, char (*prompts)[IB_HEX_LEN])
{
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();
	char (*all)[IB_HEX_LEN] = sorted_copy(r->sha256, r->n);

	for (size_t i = 0; i < r->n; i++) {
		ib_sha256_add(sha, all[i], 64);
		ib_sha256_add(sha, "\n", 1);
	}
	ib_sha256_hex(sha, r->set_sha256);
	r->unique = count_unique(all, r->n);
	free(all);
	if (r->prompts)
		qsort(prompts, r->prompts, IB_HEX_LEN, by_text);
	r->unique_prompts = count_unique(prompts, r->prompts);
}

/* One line: a request, or (*ret_end) the number of all. */
static int take(struct ib_recorded *r, char (**prompts)[IB_HEX_LEN], const char *line, size_t n, bool *ret_end, struct ib_err *err)
{
	ib_auto_json json_t *j = NULL;
	int64_t at;
	int e = ib_json_load(line, n, "the recording", &j, err);

	if (e < 0)
		return e;
	if (json_object_get(j, "requests")) {
		e = ib_get_int(j, "the recording", "requests", 0, REQUESTS_MAX, &at, err);
		if (e == 0 && at != (int64_t)r->n)
			return ib_fail(err, IB_E_TRUNC, 0, "the recording holds %zu requests, and says that it holds %lld", r->n, (long long)at);
		*ret_end = true;
		return e;
	}
	if ((e = ib_get_int(j, "the recording", "n", (int64_t)r->n, (int64_t)r->n, &at, err)) < 0)
		return e;
	if ((r->n & (r->n - 1)) == 0) {
		r->sha256 = ib_realloc(r->sha256, r->n ? r->n * 2 : 1, IB_HEX_LEN);
		*prompts = ib_realloc(*prompts, r->n ? r->n * 2 : 1, IB_HEX_LEN);
	}
	(*prompts)[r->prompts][0] = '\0';
	if ((e = ib_get_hex_copy(j, "the recording", "sha256", r->sha256[r->n], err)) < 0 ||
	    (e = ib_get_hex_copy_opt(j, "the recording", "prompt_sha256", (*prompts)[r->prompts], err)) < 0)
		return e;
	r->prompts += (*prompts)[r->prompts][0] != '\0';
	r->n++;
	ib_buf_add(&r->lines, line, n);
	ib_buf_addc(&r->lines, '\n');
	return 0;
}

int ib_recorded_read(const char *data, size_t n, bool kept, struct ib_recorded *ret, struct ib_err *err)
{
	ib_auto_recorded struct ib_recorded r = {.lines = IB_BUF((size_t)1 << 31)};
	ib_auto_free void *owned = NULL;
	char (*prompts)[IB_HEX_LEN] = NULL;
	bool end = kept;
	int e = 0;

	for (size_t at = 0, line = 0; e == 0 && at < n; line++) {
		const char *stop = memchr(data + at, '\n', n - at);

		if (!stop)
			e = ib_fail(err, IB_E_TRUNC, 0, "the recording does not end with a whole line");
		else if (r.n >= REQUESTS_MAX)
			e = ib_fail(err, IB_E_LIMIT, 0, "more than %d requests", REQUESTS_MAX);
		else if (!kept && end)
			e = ib_fail(err, IB_E_TRAILING, 0, "something follows the end of the recording");
		else if (!kept || line > 0)
			e = take(&r, &prompts, data + at, (size_t)(stop - data) - at, &end, err);
		at = stop ? (size_t)(stop - data) + 1 : n;
		owned = prompts;
	}
	if (e == 0 && !end)
		e = ib_fail(err, IB_E_TRUNC, 0, "the end of the recording is missing");
	if (e == 0)
		e = ib_buf_check(&r.lines, "the recording", err);
	if (e < 0)
		return e;
	conclude(&r, prompts);
	*ret = r;
	r = (struct ib_recorded){0};
	return 0;
}

void ib_recorded_clear(struct ib_recorded *r)
{
	ib_buf_clear(&r->lines);
	free(r->sha256);
	*r = (struct ib_recorded){0};
}

size_t ib_recorded_differ(const struct ib_recorded *a, const struct ib_recorded *b, size_t *ret_first)
{
	char (*have)[IB_HEX_LEN] = sorted_copy(a->sha256, a->n), (*want)[IB_HEX_LEN] = sorted_copy(b->sha256, b->n);
	size_t i = 0, k = 0, n = 0;

	*ret_first = b->n;
	while (k < b->n) {
		int d = i < a->n ? memcmp(have[i], want[k], IB_HEX_LEN) : 1;

		if (d > 0) { /* one that a does not have, or not as often */
			for (size_t p = 0; p < *ret_first; p++)
				if (memcmp(b->sha256[p], want[k], IB_HEX_LEN) == 0)
					*ret_first = p;
			n++;
		}
		i += d <= 0;
		k += d >= 0;
	}
	free(have);
	free(want);
	return n;
}
