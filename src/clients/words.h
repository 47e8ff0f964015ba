/* SPDX-License-Identifier: Apache-2.0 */
/* Commands as text (a cmd.txt, a short script), split into words as a shell does. Nothing is run or expanded. */
#ifndef IB_CLIENTS_WORDS_H
#define IB_CLIENTS_WORDS_H

#include "base/str.h"

#define IB_WORDS_TEXT (256u << 10) /* bytes of text looked at */
#define IB_WORDS_MAX 4096          /* words of one command; more are passed over */

struct ib_words {
	const char *at, *end;
};

struct ib_words ib_words_of(const char *text, size_t n);
/* The next command that has a word: false at the end. Quotes and backslashes are taken off, comments, redirections and assignments in front of the command
 * left out; a line end, ";", "&", "|" and parentheses end a command. ret holds its words; what a shell would expand ($x, `x`) stands as it is written. */
bool ib_words_command(struct ib_words *w, struct ib_strv *ret);

#endif
