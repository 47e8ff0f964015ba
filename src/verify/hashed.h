/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and digesting at once, so that what was parsed and what was digested are the same bytes. */
#ifndef IB_VERIFY_HASHED_H
#define IB_VERIFY_HASHED_H

#include "base/digest.h"
#include "verify/evidence.h"

/* A source that digests what it gives: of the same bytes as from. */
struct ib_source_hashed {
	const struct ib_source *from;
	struct ib_sha256 *sum;
	uint64_t bytes;
};
struct ib_source ib_source_from_hashed(struct ib_source_hashed *s);
/* Reads the source to its end. */
IB_MUST int ib_source_drain(const struct ib_source *in, struct ib_err *err);

/* Gives in to sink->stream(), reads what it left, and tells sink->streamed() the digest. */
void ib_evidence_stream(const struct ib_evidence_sink *sink, const char *path, const struct ib_source *in);

#endif
