/* SPDX-License-Identifier: Apache-2.0 */
/* The tar reader, with checksums put right first so that the rest of a header is reached: what it takes is, encoded anew, what was there. Then the whole
 * packet layer over the same bytes. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/tar.h"
#include "verify/packet.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/tar";

static void fix_checksums(uint8_t *data, size_t n)
{
	for (size_t at = 0; at + IB_TAR_BLOCK <= n; at += IB_TAR_BLOCK) {
		uint8_t *h = data + at;
		unsigned sum = 8 * ' ';
		char spelt[16];

		if (memcmp(h + 257, "ustar", 5) != 0)
			continue;
		for (int i = 0; i < IB_TAR_BLOCK; i++)
			sum += i >= 148 && i < 156 ? 0 : h[i];
		snprintf(spelt, sizeof(spelt), "%06o", sum);
		memcpy(h + 148, spelt, 7);
		h[155] = ' ';
	}
}

/* The archive again, from what was read of it; only a whole one can be compared. */
static int rewrite(const uint8_t *data, size_t n, struct ib_buf *again)
{
	struct ib_source_mem mem = {.data = (const char *)data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	ib_auto_tar struct ib_tar *t = NULL;
	unsigned char header[IB_TAR_HEADER_MAX], chunk[4096];
	struct ib_tar_meta m;
	bool end = false;
	size_t k;
	int r = ib_unpacker_open(&in, &u, NULL);

	if (r < 0 || ib_unpacker_is_zstd(u))
		return IB_E_CONTAINER;
	t = ib_tar_new(u);
	while ((r = ib_tar_next(t, &m, &end, NULL)) == 0 && !end) {
		ib_buf_add(again, header, ib_tar_encode(&m, header));
		do {
			r = ib_tar_read(t, chunk, sizeof(chunk), &k, NULL);
			if (r == 0)
				ib_buf_add(again, chunk, k);
		} while (r == 0 && k);
		if (r < 0)
			return r;
		memset(header, 0, IB_TAR_BLOCK);
		ib_buf_add(again, header, ib_tar_padding(m.bytes));
	}
	memset(header, 0, 2 * IB_TAR_BLOCK);
	ib_buf_add(again, header, 2 * IB_TAR_BLOCK);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_free uint8_t *copy = ib_alloc(n ? n : 1);
	ib_auto_buf struct ib_buf again = IB_BUF(8u << 20);
	ib_auto_packet_result struct ib_packet_result result;
	struct ib_findings f = {0};
	struct ib_source_mem mem = {.data = (const char *)copy, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);

	if (n > 1 << 20)
		return 0;
	memcpy(copy, data, n);
	fix_checksums(copy, n);
	if (rewrite(copy, n, &again) == 0)
		REQUIRE(again.len == n && memcmp(again.data, copy, n) == 0);
	REQUIRE(ib_packet_verify(&in, &(struct ib_packet_opts){.trust = NULL}, &result, &f, NULL) == 0);
	REQUIRE(result.code != IB_OK && f.n > 0); /* nobody is trusted here */
	ib_findings_clear(&f);
	return 0;
}
