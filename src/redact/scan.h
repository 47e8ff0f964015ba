/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the scanner's files only. */
#ifndef IB_REDACT_SCAN_H
#define IB_REDACT_SCAN_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

#include "redact/redact.h"

#define IB_MARK "<redacted:"

struct ib_text {
	const char *s;
	size_t n;
};

enum ib_alphabet { IB_ALNUM, IB_UPPER, IB_WORD, IB_URL, IB_BASE64 };

static inline bool ib_scan_alnum(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/* Length, at most max, of the run of an alphabet at a place. */
size_t ib_scan_run(const struct ib_text *t, size_t at, enum ib_alphabet a, size_t max);
bool ib_scan_at(const struct ib_text *t, size_t at, const char *word);
bool ib_scan_placeholder(const char *s, size_t n);
/* Shannon entropy, bits a character. */
double ib_scan_entropy(const char *s, size_t n);

bool ib_scan_found(struct ib_hit *ret, const char *rule, size_t at, size_t n); /* fills ret; true */

/* tokens.c: at is the start of a word, of the dashes for pem */
bool ib_scan_token(const struct ib_text *t, size_t at, struct ib_hit *ret);
bool ib_scan_pem(const struct ib_text *t, size_t at, struct ib_hit *ret);

/* url.c: at is behind "://", or behind '?' or '&' */
bool ib_scan_userinfo(const struct ib_text *t, size_t at, struct ib_hit *ret);
bool ib_scan_path_token(const struct ib_text *t, size_t at, struct ib_hit *ret);
bool ib_scan_query(const struct ib_text *t, size_t at, struct ib_hit *ret);

#endif
