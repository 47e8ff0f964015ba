/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a client's result file, written as ib-requests in both forms and read back: what was written must be taken. */
#include <stdlib.h>

#include "base/buf.h"
#include "clients/client.h"
#include "clients/export.h"
#include "fuzz.h"

const char ib_fuzz_corpus[] = "tests/data/clients/requests";

static void round_trip(const struct ib_result *r, enum ib_requests_form form)
{
	ib_auto_buf struct ib_buf b = IB_BUF(64u << 20);
	const struct ib_drain out = ib_drain_to_buf(&b);
	ib_auto_results struct ib_results back = {0};
	struct ib_err err = {0};

	if (ib_requests_write(r, form, &out, &err) < 0)
		return;
	if (ib_client_read(ib_buf_str(&b), b.len, "back", &back, &err) < 0 || back.n != 1 || back.v[0].columns.n != r->columns.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	if (ib_client_read((const char *)data, n, "fuzz", &all, &err) < 0)
		return 0;
	for (size_t i = 0; i < all.n && i < 4; i++) {
		round_trip(&all.v[i], IB_REQUESTS_JSONL);
		round_trip(&all.v[i], IB_REQUESTS_CSV);
	}
	return 0;
}
