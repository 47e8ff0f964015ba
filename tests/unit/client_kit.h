/* SPDX-License-Identifier: Apache-2.0 */
/* What the suites of single clients share: result sets and texts as results, and questions about them. */
#ifndef IB_TESTS_CLIENT_KIT_H
#define IB_TESTS_CLIENT_KIT_H

#include "clients/clients.h"

/* All results of tests/data/clients/sets/<name>; fatal when one cannot be read. */
void kit_set(const char *name, struct ib_outputs *ret);
/* The bytes of a file of the sets. */
void kit_load(const char *name, struct ib_buf *ret);
/* text as a file called name, added to ret; not yet derived. */
int kit_add(const char *text, const char *name, struct ib_results *ret, struct ib_err *err);
/* text alone, derived; the code of its refusal, or IB_OK. */
enum ib_code kit_read(const char *text, struct ib_results *ret);
/* Every beginning of text, and text with every n-th byte turned into others, is read or refused without harm. */
void kit_batter(const char *text, size_t n, size_t step);
/* text with the first occurrence of from replaced; fatal when there is none. */
char *kit_edit(const char *text, const char *from, const char *to);

const struct ib_result *kit_result(const struct ib_results *all, const char *schema_id, const char *label);
size_t kit_status(const struct ib_result *r, enum ib_claim_status s);
/* The number derived for the claim, NaN when there is none. */
double kit_derived(const struct ib_result *r, const char *claim);
enum ib_claim_status kit_claim(const struct ib_result *r, const char *claim);
const struct ib_hint *kit_hint(const struct ib_result *r, const char *check);
bool kit_near(double a, double b);

#endif
