/* SPDX-License-Identifier: Apache-2.0 */
/* What a source of evidence (a packet being read, a study directory being walked) hands to the checks: every file in byte order of
 * its path below the study's root, with its digest; of some files, the bytes too. The sink parses only bytes whose digest was compared. */
#ifndef IB_VERIFY_EVIDENCE_H
#define IB_VERIFY_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ib_evidence_sink {
	/* Does the sink want the bytes of this file (path below the study's root, size known)? Files of at most 16 MiB only. */
	bool (*wants)(void *arg, const char *path, uint64_t size);
	/* One file, after its digest was established (in a packet: after it matched the manifest). data is NULL unless wanted. */
	void (*file)(void *arg, const char *path, uint64_t size, const char *sha256, const char *data);
	void *arg;
};

#endif
