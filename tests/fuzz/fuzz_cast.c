/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a terminal showed, in any pieces: each line of the view is JSON, and its text is the same however the bytes came in pieces, to the
 * scanner of secrets, too. The first byte says how large the pieces are. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "pack/cast.h"
#include "run/cast.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/cast";

/* The texts of all events, one behind the other. */
static void text_of(int fd, struct ib_buf *ret)
{
	off_t size = lseek(fd, 0, SEEK_END);
	ib_auto_free char *all = ib_alloc((size_t)size + 1);
	const char *line = all, *end = all + size, *stop;

	REQUIRE(pread(fd, all, (size_t)size, 0) == size && size > 0 && end[-1] == '\n');
	for (size_t i = 0; line < end; line = stop + 1, i++) {
		ib_auto_json json_t *j = NULL;
		json_t *text;

		stop = memchr(line, '\n', (size_t)(end - line));
		REQUIRE(ib_json_load_foreign(line, (size_t)(stop - line), "line", &j, NULL) == 0);
		REQUIRE(i ? json_is_array(j) && json_array_size(j) == 3 : json_is_object(j));
		text = json_array_get(j, 2);
		if (i && strcmp(json_string_value(json_array_get(j, 1)), "o") == 0)
			ib_buf_add(ret, json_string_value(text), json_string_length(text));
	}
}

/* The scanner of secrets reads the same text. */
static void require_same(int fd, const char *text, size_t n)
{
	struct ib_source_fd file = {fd, "cast"};
	ib_auto_free char *got = ib_alloc(n + 2);
	struct ib_cast_text t;
	struct ib_source source = ib_cast_text_source(&t, ib_source_from_fd(&file));
	size_t got_n;

	REQUIRE(lseek(fd, 0, SEEK_SET) == 0 && source.read(source.arg, got, n + 1, &got_n, NULL) == 0);
	REQUIRE(got_n == n && (n == 0 || memcmp(got, text, n) == 0));
}

static void show(const uint8_t *data, size_t n, size_t piece, struct ib_buf *ret)
{
	ib_auto_fd int fd = memfd_create("cast", MFD_CLOEXEC);
	struct winsize size = {.ws_col = 80, .ws_row = 24};
	struct ib_cast c;

	REQUIRE(fd >= 0);
	ib_cast_begin(&c, dup(fd), size, 1);
	for (size_t at = 0; at < n; at += piece) {
		ib_cast_output(&c, (const char *)data + at, n - at < piece ? n - at : piece);
		size.ws_col = (unsigned short)(data[at] & 1 ? 80 : 81);
		ib_cast_resize(&c, size);
	}
	ib_cast_end(&c);
	REQUIRE(c.fd == -1 && c.sys == 0);
	text_of(fd, ret);
	require_same(fd, ret->data, ret->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_buf struct ib_buf whole = IB_BUF(4u << 20), pieces = IB_BUF(4u << 20);

	if (n < 1 || n > 1 << 16)
		return 0;
	show(data + 1, n - 1, n, &whole);
	show(data + 1, n - 1, 1 + data[0] % 7, &pieces);
	REQUIRE(whole.len == pieces.len && (whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0));
	return 0;
}
