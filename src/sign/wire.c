/* SPDX-License-Identifier: Apache-2.0 */
/* The SSH wire format. */
#include "sign/wire.h"

#include <string.h>

bool ib_wire_u32(struct ib_wire *w, uint32_t *ret)
{
	if (w->left < 4)
		return false;
	*ret = (uint32_t)w->p[0] << 24 | (uint32_t)w->p[1] << 16 | (uint32_t)w->p[2] << 8 | w->p[3];
	w->p += 4;
	w->left -= 4;
	return true;
}

bool ib_wire_byte(struct ib_wire *w, uint8_t *ret)
{
	if (!w->left)
		return false;
	*ret = *w->p++;
	w->left--;
	return true;
}

bool ib_wire_string(struct ib_wire *w, const uint8_t **ret, size_t *ret_n)
{
	uint32_t n;

	if (!ib_wire_u32(w, &n) || n > w->left)
		return false;
	*ret = w->p;
	*ret_n = n;
	w->p += n;
	w->left -= n;
	return true;
}

bool ib_wire_is(struct ib_wire *w, const char *text)
{
	struct ib_wire ahead = *w;
	const uint8_t *s;
	size_t n;

	if (!ib_wire_string(&ahead, &s, &n) || n != strlen(text) || memcmp(s, text, n) != 0)
		return false;
	*w = ahead;
	return true;
}

void ib_wire_add_string(struct ib_buf *b, const void *data, size_t n)
{
	const uint8_t len[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};

	ib_buf_add(b, len, sizeof(len));
	ib_buf_add(b, data, n);
}
