/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest or bag-info.txt that is taken is made again from what was read, byte for byte. */
#include "fuzz.h"

#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/bag.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/manifest";

static void try_manifest(const uint8_t *data, size_t n)
{
	ib_auto_manifest struct ib_manifest m;
	ib_auto_buf struct ib_buf again = IB_BUF(1u << 20);
	char *text = ib_alloc(n + 1);

	memcpy(text, data, n);
	if (ib_manifest_parse(text, n, "manifest-sha256.txt", "demo-20261130-01234567", true, &m, NULL) < 0)
		return;
	for (size_t i = 0; i < m.n; i++) {
		ib_buf_addf(&again, "%s  %s\n", ib_manifest_sha256(&m, i), ib_manifest_path(&m, i));
		REQUIRE(ib_manifest_find(&m, ib_manifest_path(&m, i)) == ib_manifest_sha256(&m, i));
	}
	REQUIRE(again.len == n && memcmp(again.data, data, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_free char *text = ib_alloc(n + 1);
	uint64_t bytes, files;

	if (n > 1 << 16)
		return 0;
	memcpy(text, data, n);
	try_manifest(data, n);
	if (ib_bag_info_parse(text, n, &bytes, &files, NULL) == 0) {
		ib_auto_free char *tail = ib_asprintf("\nPayload-Oxum: %llu.%llu\n", (unsigned long long)bytes, (unsigned long long)files);

		REQUIRE(ib_ends(text, tail));
	}
	return 0;
}
