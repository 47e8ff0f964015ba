/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical tar profile: the reader. What a header says is taken only when encoding it anew gives the same bytes. */
#include "store/tar.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define PAX_MAX 2048

struct ib_tar {
	struct ib_unpacker *in;
	struct ib_names *names;
	uint64_t offset, left;
	size_t padding; /* of the file being read */
	uint64_t mtime;
	bool have_mtime;
	uint32_t index;
	char path[2 * IB_TAR_BLOCK + PAX_MAX]; /* of the current file */
	size_t path_n; /* a byte 0 inside must not hide what follows it */
	unsigned char seen[IB_TAR_HEADER_MAX]; /* its header blocks as they came */
	size_t seen_n;
};

struct ib_tar *ib_tar_new(struct ib_unpacker *u)
{
	struct ib_tar *t = ib_alloc(sizeof(*t));

	t->in = u;
	t->names = ib_names_new();
	return t;
}

void ib_tar_free(struct ib_tar **t)
{
	if (*t) {
		ib_names_free(&(*t)->names);
		free(*t);
	}
	*t = NULL;
}

uint64_t ib_tar_left(const struct ib_tar *t)
{
	return t->left;
}

static int refuse(const struct ib_tar *t, enum ib_code code, const char *why, struct ib_err *err)
{
	char where[40];

	snprintf(where, sizeof(where), "offset %llu", (unsigned long long)t->offset);
	return ib_fail_at(err, code, t->path[0] ? t->path : where, "'%.300s': %s", t->path[0] ? t->path : where, why);
}

/* Exactly n bytes. */
static int take(struct ib_tar *t, void *data, size_t n, struct ib_err *err)
{
	size_t got;
	int r = ib_unpacker_read(t->in, data, n, &got, err);

	if (r < 0)
		return r;
	t->offset += got;
	if (t->offset > IB_TAR_SIZE_MAX)
		return refuse(t, IB_E_LIMIT, "the packet is larger than the limit of 64 GiB", err);
	if (got < n)
		return refuse(t, IB_E_TRUNC, "the input ends inside the archive", err);
	return 0;
}

static bool all_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* One header block, appended to seen; *ret_type is 0 for a block of zeros. */
static int take_header(struct ib_tar *t, const unsigned char **ret, char *ret_type, struct ib_err *err)
{
	unsigned char *h = t->seen + t->seen_n;
	unsigned sum = 8 * ' ';
	char spelt[16];
	int r = take(t, h, IB_TAR_BLOCK, err);

	if (r < 0)
		return r;
	*ret = h;
	*ret_type = 0;
	if (all_zero(h, IB_TAR_BLOCK))
		return 0;
	for (int i = 0; i < IB_TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? 0 : h[i];
	snprintf(spelt, sizeof(spelt), "%06o", sum);
	if (memcmp(h + 257, "ustar\0" "00", 8) != 0)
		return refuse(t, IB_E_TAR, "no ustar header where one belongs", err);
	if (memcmp(h + 148, spelt, 7) != 0 || h[155] != ' ')
		return refuse(t, IB_E_TAR, "the header's checksum, or its spelling, is wrong", err);
	if (h[156] && strchr("gLKXSDMNVA", h[156]))
		return refuse(t, IB_E_TAR, "an extension header that packets do not use", err);
	if (h[156] != '0' && h[156] != 'x')
		return refuse(t, IB_E_TYPE, "an entry that is not a file", err);
	*ret_type = (char)h[156];
	t->seen_n += IB_TAR_BLOCK;
	return 0;
}

/* Eleven octal digits and a NUL. */
static bool read_octal(const unsigned char *p, uint64_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 11; i++) {
		if (p[i] < '0' || p[i] > '7')
			return false;
		*ret = *ret << 3 | (uint64_t)(p[i] - '0');
	}
	return p[11] == 0;
}

/* "LEN path=PATH\n" of n bytes into t->path. */
static bool read_pax(struct ib_tar *t, const char *data, size_t n)
{
	size_t len = 0, i = 0;

	while (i < n && i < 4 && data[i] >= (i ? '0' : '1') && data[i] <= '9')
		len = len * 10 + (size_t)(data[i++] - '0');
	if (i == 0 || len != n || n < i + 8 || memcmp(data + i, " path=", 6) != 0 || data[n - 1] != '\n')
		return false;
	n -= i + 7;
	memcpy(t->path, data + i + 6, n);
	t->path[n] = '\0';
	t->path_n = n;
	return true;
}

/* The pax header's data, then the header of its file. */
static int take_pax(struct ib_tar *t, const unsigned char **h, struct ib_err *err)
{
	uint64_t n;
	size_t all;
	char type;
	int r;

	if (!read_octal(*h + 124, &n) || n == 0 || n > PAX_MAX)
		return refuse(t, IB_E_TAR, "size of a pax header", err);
	all = (size_t)n + ib_tar_padding(n);
	r = take(t, t->seen + t->seen_n, all, err);
	if (r < 0)
		return r;
	if (!read_pax(t, (const char *)t->seen + t->seen_n, (size_t)n)) {
		t->path[0] = '\0';
		return refuse(t, IB_E_TAR, "a pax header that holds something else than one path", err);
	}
	t->seen_n += all;
	r = take_header(t, h, &type, err);
	if (r < 0)
		return r;
	return type == '0' ? 0 : refuse(t, IB_E_TAR, "a pax header without its file", err);
}

static void path_of_fields(struct ib_tar *t, const unsigned char *h)
{
	size_t prefix = strnlen((const char *)h + 345, 155), name = strnlen((const char *)h, 100), n = 0;

	if (prefix) {
		memcpy(t->path, h + 345, prefix);
		t->path[prefix] = '/';
		n = prefix + 1;
	}
	memcpy(t->path + n, h, name);
	t->path[n + name] = '\0';
	t->path_n = n + name;
}

/* Compares with the header that the encoder makes of the same facts. */
static int compare(struct ib_tar *t, const struct ib_tar_meta *m, struct ib_err *err)
{
	static const struct {
		size_t from, n;
	} outside_mode[] = {{0, 100}, {124, 24}, {156, 109}, {329, 183}};
	unsigned char want[IB_TAR_HEADER_MAX];
	size_t n = ib_tar_encode(m, want), last = n - IB_TAR_BLOCK;
	bool only_mode = n == t->seen_n && memcmp(want, t->seen, last) == 0;

	if (n == t->seen_n && memcmp(want, t->seen, n) == 0)
		return 0;
	for (size_t i = 0; only_mode && i < IB_LEN(outside_mode); i++)
		only_mode = memcmp(want + last + outside_mode[i].from, t->seen + last + outside_mode[i].from, outside_mode[i].n) == 0;
	if (only_mode)
		return refuse(t, IB_E_MODE, "mode or owner is not that of a packet", err);
	return refuse(t, IB_E_TAR, "its header is not what a packet's writer writes", err);
}

static int take_entry(struct ib_tar *t, const unsigned char *h, char type, struct ib_tar_meta *ret, struct ib_err *err)
{
	struct ib_tar_meta m = {.path = t->path, .index = t->index};
	uint64_t mtime;
	int r = 0;

	if (type == 'x')
		r = take_pax(t, &h, err);
	else
		path_of_fields(t, h);
	if (r < 0)
		return r;
	r = ib_name_check(t->path, t->path_n, err);
	if (r < 0)
		return r;
	if (!read_octal(h + 124, &m.bytes) || !read_octal(h + 136, &mtime))
		return refuse(t, IB_E_TAR, "a number is not spelt as in a packet", err);
	if (!t->have_mtime)
		t->mtime = mtime;
	t->have_mtime = true;
	m.mtime = t->mtime;
	m.mode = memcmp(h + 100, "0000755", 8) == 0 ? 0755 : 0644;
	r = compare(t, &m, err);
	if (r < 0)
		return r;
	if (++t->index > IB_NAMES_MAX)
		return refuse(t, IB_E_LIMIT, "more files than the limit of 1,048,576", err);
	t->left = m.bytes;
	t->padding = ib_tar_padding(m.bytes);
	*ret = m;
	return ib_names_add(t->names, t->path, err);
}

/* Rest and padding of the file before. */
static int finish_file(struct ib_tar *t, struct ib_err *err)
{
	char chunk[16384];
	int r = 0;

	while (t->left && r == 0) {
		size_t n;

		r = ib_tar_read(t, chunk, sizeof(chunk), &n, err);
	}
	if (r == 0 && t->padding) {
		size_t n = t->padding;

		t->padding = 0;
		r = take(t, chunk, n, err);
		if (r == 0 && !all_zero((unsigned char *)chunk, n))
			return refuse(t, IB_E_TAR, "the padding behind it is not zero", err);
	}
	return r;
}

static int finish_archive(struct ib_tar *t, struct ib_err *err)
{
	unsigned char block[IB_TAR_BLOCK];
	size_t n;
	int r = take(t, block, sizeof(block), err);

	if (r < 0)
		return r;
	if (!all_zero(block, sizeof(block)))
		return refuse(t, IB_E_TAR, "one block of zeros, then something else", err);
	r = ib_unpacker_read(t->in, block, 1, &n, err);
	if (r == 0 && n)
		return refuse(t, IB_E_TRAILING, "bytes follow the end of the archive", err);
	return r;
}

int ib_tar_next(struct ib_tar *t, struct ib_tar_meta *ret, bool *ret_end, struct ib_err *err)
{
	const unsigned char *h;
	char type;
	int r = finish_file(t, err);

	*ret_end = false;
	if (r < 0)
		return r;
	t->seen_n = 0;
	t->path[0] = '\0';
	r = take_header(t, &h, &type, err);
	if (r < 0)
		return r;
	if (type)
		return take_entry(t, h, type, ret, err);
	*ret_end = true;
	return finish_archive(t, err);
}

int ib_tar_read(struct ib_tar *t, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	size_t k = t->left < n ? (size_t)t->left : n;
	int r = k ? take(t, data, k, err) : 0;

	if (r < 0)
		return r;
	t->left -= k;
	*ret_n = k;
	return 0;
}
