/* SPDX-License-Identifier: Apache-2.0 */
/* gzip and zstd input: the same bytes and the same end whatever the sizes that it is asked for. */
#include "fuzz.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "store/inflate.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/inflate";

#define OUTPUT_MAX (1u << 20)

static int unpack(const uint8_t *data, size_t n, size_t step, struct ib_buf *out)
{
	struct ib_source_mem mem = {.data = (const char *)data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_inflate struct ib_inflate *i = NULL;
	ib_auto_free char *part = ib_alloc(step);
	int r = ib_inflate_open(&in, "f", &i, NULL);
	size_t k = step;

	while (r == 0 && k == step && out->len < OUTPUT_MAX) {
		const struct ib_source from = ib_inflate_source(i);

		k = 0;
		r = from.read(from.arg, part, step, &k, NULL);
		ib_buf_add(out, part, k);
	}
	REQUIRE(ib_inflate_format(i) || (r == 0 && (out->len >= OUTPUT_MAX || out->len == n)));
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_buf struct ib_buf a = IB_BUF(4u << 20), b = IB_BUF(4u << 20);
	int r = unpack(data, n, 65536, &a), s = unpack(data, n, 511, &b);
	size_t both = a.len < b.len ? a.len : b.len;

	REQUIRE(both == 0 || memcmp(a.data, b.data, both) == 0);
	REQUIRE(a.len >= OUTPUT_MAX || b.len >= OUTPUT_MAX || (r == s && (r < 0 || a.len == b.len)));
	return 0;
}
