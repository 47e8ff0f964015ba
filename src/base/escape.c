/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping by allow-list: printable ASCII, and other characters but for the ranges that hide or rearrange text. */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define DASH "\u2014"

/* Decodes one character of valid UTF-8 at p; returns its length. */
static size_t decode(const unsigned char *p, uint32_t *ret)
{
	if (p[0] < 0x80) {
		*ret = p[0];
		return 1;
	}
	if (p[0] < 0xE0) {
		*ret = (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
		return 2;
	}
	if (p[0] < 0xF0) {
		*ret = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
		return 3;
	}
	*ret = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
	return 4;
}

/* Characters that a reader cannot see, or that change how others are shown. */
static bool hidden(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{0x7F, 0xA0},	  {0xAD, 0xAD},	    {0x300, 0x36F},   {0x483, 0x489},	{0x591, 0x5C7},	    {0x610, 0x61A},   {0x61C, 0x61C},
		{0x64B, 0x65F},	  {0x115F, 0x1160}, {0x1680, 0x1680}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
		{0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x20D0, 0x20FF}, {0x2800, 0x2800},   {0x3000, 0x3000}, {0x3164, 0x3164},
		{0xD800, 0xF8FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFF}, {0x1D165, 0x1D1AD},
		{0xE0000, 0x10FFFF},
	};

	for (size_t i = 0; i < IB_LEN(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return c < 0x20;
}

static void add_escaped(struct ib_buf *b, uint32_t c)
{
	if (c == '\n')
		ib_buf_adds(b, "\\n");
	else if (c == '\t')
		ib_buf_adds(b, "\\t");
	else if (c < 0x100)
		ib_buf_addf(b, "\\x%02X", (unsigned)c);
	else
		ib_buf_addf(b, c > 0xFFFF ? "\\U%08X" : "\\u%04X", (unsigned)c);
}

void ib_escape_text(struct ib_buf *b, const char *s, size_t max)
{
	const unsigned char *p = (const unsigned char *)s;
	bool utf8 = s && ib_utf8_valid(s, strlen(s));
	size_t n = 0;

	if (!s) {
		ib_buf_adds(b, DASH);
		return;
	}
	while (*p) {
		uint32_t c = *p;
		size_t len = utf8 ? decode(p, &c) : 1;

		if (n++ >= max) {
			ib_buf_adds(b, "\u2026");
			return;
		}
		if (c == '\\')
			ib_buf_adds(b, "\\\\");
		else if (hidden(c) || (!utf8 && c >= 0x80))
			add_escaped(b, c);
		else
			ib_buf_add(b, p, len);
		p += len;
	}
}
