/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of settings share: a table of flags looked up in a command line or in a printed configuration. */
#ifndef IB_CLIENTS_SETTINGS_H
#define IB_CLIENTS_SETTINGS_H

#include "clients/client.h"

#define IB_SETTING_MAX 4096 /* bytes of one value; a longer one is not taken */

/* The text given for a flag, allocated, or NULL: not given. name may end with "/key": the value of key within "key=value,…". many: all words that follow
 * the flag, joined by a blank. */
struct ib_given {
	char *(*find)(const void *arg, const char *name, bool many);
	const void *arg;
	const char *from; /* static text, for ib_settings.from */
};

/* Takes what the client's table names. The first flag of the table that sets a key has it. Lengths of a kind of data set ("random_…") count only when that
 * is the data set. */
void ib_settings_apply(const struct ib_client *c, const struct ib_given *given, struct ib_settings *s);
/* Are two names of a flag the same, dashes and underscores being equal and leading ones not counting? n: bytes of a, b up to its end or "/". */
bool ib_setting_same_name(const char *a, size_t n, const char *b);
/* An address without user, password and query: neither says where requests went, and both may hold a secret. Allocated. */
char *ib_setting_url(const char *url);
/* What a command line of an unknown client sets by the names that most of them have: a guess, for advice only. */
void ib_settings_from_flags(const char *const *argv, size_t n, struct ib_settings *s);
/* --- settings_json.c --- */
/* The value at a path of keys and element numbers joined by "/" ("spec/data/0") below j, or NULL. */
const json_t *ib_setting_at(const json_t *j, const char *path);
/* A number as the text of a setting: whole ones without a point. Allocated. */
char *ib_setting_text(double v);
/* Adds what another command or configuration of the same run says: of settings that disagree none is known. first: there is nothing yet to disagree with. */
void ib_settings_agree(struct ib_settings *s, struct ib_settings *other, bool first);

#endif
