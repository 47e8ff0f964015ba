/* SPDX-License-Identifier: Apache-2.0 */
/* The one escaper of the verdict screen. */
#include "verify/text.h"

#include <string.h>

void ib_text_safe(struct ib_buf *b, const char *s, size_t max)
{
	size_t n = s ? strlen(s) : 0;

	if (!s)
		ib_buf_addc(b, '-');
	for (size_t i = 0; i < n && i < max; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c < 0x7f && c != '\\')
			ib_buf_addc(b, (char)c);
		else
			ib_buf_addf(b, "\\x%02X", c);
	}
	if (n > max)
		ib_buf_adds(b, "...");
}

void ib_text_wrap(struct ib_buf *b, const char *label, const char *text)
{
	const int indent = 14, width = 80;
	int at = indent;

	if (!text)
		return;
	ib_buf_addf(b, "  %-*s", indent - 2, label);
	while (*text) {
		int n = (int)strcspn(text, " ");

		if (at > indent && at + 1 + n > width) {
			ib_buf_addf(b, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			ib_buf_addc(b, ' ');
			at++;
		}
		ib_buf_add(b, text, (size_t)n);
		at += n;
		text += n;
		text += strspn(text, " ");
	}
	ib_buf_addc(b, '\n');
}

void ib_text_bytes(struct ib_buf *b, uint64_t n)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double v = (double)n;
	size_t u = 0;

	for (; v >= 1000 && u + 1 < sizeof(units) / sizeof(units[0]); u++)
		v /= 1000;
	ib_buf_addf(b, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}
