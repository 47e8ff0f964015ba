/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a machine recorded by a stranger's tar, with checksums put right first: nothing but plain files and directories comes of it; what is taken
 * is, packed and unpacked again, the same bytes. */
#include "fuzz.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "capture/tarfile.h"
#include "scratch.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/untar";

#define BLOCK 512

static void fix_checksums(uint8_t *data, size_t n)
{
	static const char mark[] = IB_RECORD_MARK "\n";
	const uint8_t *at = memmem(data, n, mark, sizeof(mark) - 1);
	size_t start = at ? (size_t)(at - data) + sizeof(mark) - 1 : 0;

	for (; start + BLOCK <= n; start += BLOCK) {
		uint8_t *h = data + start;
		unsigned sum = 8 * ' ';
		char spelt[16];

		if (memcmp(h + 257, "ustar", 5) != 0)
			continue;
		for (int i = 0; i < BLOCK; i++)
			sum += i >= 148 && i < 156 ? 0 : h[i];
		snprintf(spelt, sizeof(spelt), "%06o", sum);
		memcpy(h + 148, spelt, 7);
		h[155] = ' ';
	}
}

static int unpack(const char *data, size_t n)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_fd int dir = scratch_open();
	struct ib_err err = {0};
	int r = ib_record_unpack(&in, dir, &err);

	REQUIRE(r == 0 || err.text[0]);
	REQUIRE(r != IB_E_IO);
	return r;
}

static size_t pack(struct ib_buf *ret)
{
	ib_auto_fd int dir = open(scratch_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct ib_drain out = ib_drain_to_buf(ret);
	size_t files = scratch_count();

	return ib_record_pack(dir, &out, NULL) < 0 ? SIZE_MAX : files;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_free char *copy = ib_alloc(n ? n : 1);
	ib_auto_buf struct ib_buf first = IB_BUF(8u << 20), second = IB_BUF(8u << 20);
	size_t files;

	if (n > 1 << 20)
		return 0;
	memcpy(copy, data, n);
	fix_checksums((uint8_t *)copy, n);
	if (unpack(copy, n) < 0) {
		(void)scratch_count();
		return 0;
	}
	files = pack(&first);
	if (files == SIZE_MAX) /* a name that is too long for a plain header */
		return 0;
	REQUIRE(unpack(ib_buf_str(&first), first.len) == 0 && pack(&second) == files);
	REQUIRE(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	return 0;
}
