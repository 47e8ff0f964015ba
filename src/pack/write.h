/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the archive of a sealed study. */
#ifndef IB_PACK_WRITE_H
#define IB_PACK_WRITE_H

#include "pack/seal.h"
#include "sign/keys.h"
#include "base/source.h"

struct ib_pack_written {
	char top[64];
	char tagmanifest_sha256[IB_HEX_LEN];
	uint64_t files, bytes, withheld;
};

/* key NULL: without a signature. IB_E_STATE when a file is not what was digested before. */
IB_MUST int ib_pack_write(const struct ib_pack_study *s, const struct ib_privkey *key, const struct ib_drain *out, bool zstd,
			  struct ib_pack_written *ret, struct ib_err *err);

#endif
