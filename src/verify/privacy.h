/* SPDX-License-Identifier: Apache-2.0 */
/* What evidence gives away about people and machines, found while files are read: secrets, home directories, addresses. Where, never what. */
#ifndef IB_VERIFY_PRIVACY_H
#define IB_VERIFY_PRIVACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ib_private { IB_PRIVATE_SECRET, IB_PRIVATE_HOME, IB_PRIVATE_ADDRESS, IB_PRIVATE_SORTS };

/* All of one sort in one file. */
struct ib_private_hit {
	char *file;
	enum ib_private sort;
	const char *rule; /* of a secret: the scanner's name for it (static text) */
	uint64_t line;    /* of the first */
	size_t n;
};

struct ib_privacy {
	struct ib_private_hit *v;
	size_t n;
	size_t scanned, too_large; /* files */
	bool more; /* hits in further files are not listed */
};

#define IB_PRIVACY_MAX (16u << 20) /* bytes of a file that is looked through */

/* Looks through n bytes with a byte 0 behind them. */
void ib_privacy_scan(struct ib_privacy *p, const char *file, const char *data, size_t n);
/* The same for an open file, from its start; its position is undefined afterwards. Larger ones than IB_PRIVACY_MAX are counted, not read. */
void ib_privacy_scan_fd(struct ib_privacy *p, const char *file, int fd, uint64_t bytes);
void ib_privacy_clear(struct ib_privacy *p);
const char *ib_private_name(enum ib_private sort); /* "home directories of users" */

#endif
