/* SPDX-License-Identifier: Apache-2.0 */
/* A source that digests what it gives. */
#include "verify/hashed.h"

#include "base/auto.h"
#include "base/str.h"

#define PART (64u << 10)

static int read_hashed(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct ib_source_hashed *s = arg;
	int r = s->from->read(s->from->arg, data, n, ret_n, err);

	if (r < 0)
		return r;
	ib_sha256_add(s->sum, data, *ret_n);
	s->bytes += *ret_n;
	return 0;
}

struct ib_source ib_source_from_hashed(struct ib_source_hashed *s)
{
	return (struct ib_source){.read = read_hashed, .arg = s};
}

int ib_source_drain(const struct ib_source *in, struct ib_err *err)
{
	ib_auto_free char *part = ib_alloc(PART);
	size_t n = PART;
	int r = 0;

	while (r == 0 && n == PART)
		r = in->read(in->arg, part, PART, &n, err);
	return r;
}

void ib_evidence_stream(const struct ib_evidence_sink *sink, const char *path, const struct ib_source *in)
{
	ib_auto_sha256 struct ib_sha256 *sum = ib_sha256_new();
	struct ib_source_hashed hashed = {.from = in, .sum = sum};
	const struct ib_source both = ib_source_from_hashed(&hashed);
	char hex[IB_HEX_LEN] = "";

	if (!sink->stream(sink->arg, path, &both))
		return;
	if (ib_source_drain(&both, NULL) == 0)
		ib_sha256_hex(sum, hex);
	sink->streamed(sink->arg, path, hex);
}
