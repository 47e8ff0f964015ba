/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text in Markdown, and its width. */
#include "report/escape.h"

#include <string.h>

void ib_escape_markdown(struct ib_buf *b, const char *s, size_t max)
{
	ib_auto_buf struct ib_buf text = IB_BUF(b->max);
	const char *p;

	ib_escape_text(&text, s, max);
	p = ib_buf_str(&text);
	for (size_t i = 0; p[i]; i++) {
		/* "www." alone makes a link in some dialects */
		bool www = p[i] == '.' && i >= 3 && strncasecmp(p + i - 3, "www", 3) == 0;

		if (www || strchr("\\`*_[]<>|~&$#:@!{}", p[i]))
			ib_buf_addc(b, '\\');
		ib_buf_addc(b, p[i]);
	}
}

size_t ib_text_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xC0) != 0x80;
	return n;
}
