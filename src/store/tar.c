/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical tar profile: the encoder. */
#include "store/tar.h"

#include <stdio.h>
#include <string.h>

/* Offsets of ustar's fields. */
enum { NAME = 0, MODE = 100, UID = 108, GID = 116, SIZE = 124, MTIME = 136, CHECKSUM = 148, TYPE = 156, MAGIC = 257, MAJOR = 329, MINOR = 337, PREFIX = 345 };

size_t ib_tar_padding(uint64_t n)
{
	return (size_t)(-n & (IB_TAR_BLOCK - 1));
}

/* width digits with leading zeros, and a NUL. */
static void octal(unsigned char *at, int width, uint64_t v)
{
	at[width] = '\0';
	while (width--) {
		at[width] = (unsigned char)('0' + (v & 7));
		v >>= 3;
	}
}

static void put_header(unsigned char *h, char type, const char *prefix, size_t prefix_n, const char *name, size_t name_n, const struct ib_tar_meta *m)
{
	unsigned sum = 0;

	memset(h, 0, IB_TAR_BLOCK);
	memcpy(h + NAME, name, name_n);
	octal(h + MODE, 7, m->mode);
	octal(h + UID, 7, 0);
	octal(h + GID, 7, 0);
	octal(h + SIZE, 11, m->bytes);
	octal(h + MTIME, 11, m->mtime);
	memset(h + CHECKSUM, ' ', 8);
	h[TYPE] = (unsigned char)type;
	memcpy(h + MAGIC, "ustar\0" "00", 8);
	octal(h + MAJOR, 7, 0);
	octal(h + MINOR, 7, 0);
	memcpy(h + PREFIX, prefix, prefix_n);
	for (int i = 0; i < IB_TAR_BLOCK; i++)
		sum += h[i];
	octal(h + CHECKSUM, 6, sum);
}

/* Splits at the first slash that leaves a name of 1 to 100 bytes. *ret_prefix_n is 0 for a path that fits the name field. */
static bool split(const char *path, size_t n, size_t *ret_prefix_n)
{
	const char *slash;
	size_t from = n > 101 ? n - 101 : 1;

	*ret_prefix_n = 0;
	if (n <= 100)
		return true;
	slash = memchr(path + from, '/', n - from);
	if (!slash || slash - path > 155)
		return false;
	*ret_prefix_n = (size_t)(slash - path);
	return true;
}

/* "LEN path=PATH\n", where LEN counts itself. */
static size_t pax_record(const char *path, char *out, size_t room)
{
	size_t body = strlen(path) + 7, total = body + 1;
	char digits[24];

	for (;;) {
		size_t n = (size_t)snprintf(digits, sizeof(digits), "%zu", total);

		if (n + body == total)
			break;
		total = n + body;
	}
	return (size_t)snprintf(out, room, "%s path=%s\n", digits, path);
}

size_t ib_tar_encode(const struct ib_tar_meta *m, unsigned char ret[IB_TAR_HEADER_MAX])
{
	size_t n = strlen(m->path), prefix_n, used = 0;
	char own[32];

	if (split(m->path, n, &prefix_n)) {
		size_t skip = prefix_n ? prefix_n + 1 : 0;

		put_header(ret, '0', m->path, prefix_n, m->path + skip, n - skip, m);
		return IB_TAR_BLOCK;
	}
	snprintf(own, sizeof(own), "PaxHeaders/%08u", m->index);
	memset(ret, 0, IB_TAR_HEADER_MAX);
	used = pax_record(m->path, (char *)ret + IB_TAR_BLOCK, IB_TAR_HEADER_MAX - 2 * IB_TAR_BLOCK);
	put_header(ret, 'x', "", 0, own, strlen(own), &(struct ib_tar_meta){.mode = 0644, .bytes = used, .mtime = m->mtime});
	used += IB_TAR_BLOCK + ib_tar_padding(used);
	put_header(ret + used, '0', "", 0, own, strlen(own), m);
	return used + IB_TAR_BLOCK;
}
