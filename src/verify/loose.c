/* SPDX-License-Identifier: Apache-2.0 */
/* Loose files: recognition by content and reading by streaming. */
#include "verify/loose.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "clients/client.h"
#include "model/record.h"
#include "store/inflate.h"
#include "verify/hashed.h"

#define LOOK (64u << 10)

static int rewind_fd(int fd, const char *name, struct ib_err *err)
{
	return lseek(fd, 0, SEEK_SET) < 0 ? ib_fail(err, IB_E_IO, errno, "cannot read '%s' from its start", name) : 0;
}

/* The beginning of the contents, decompressed. Of a file that does not decompress, what did. */
static int look(int fd, const char *name, char *head, size_t *ret_n, struct ib_err *err)
{
	struct ib_source_fd from = {.fd = fd, .name = name};
	const struct ib_source raw = ib_source_from_fd(&from);
	ib_auto_inflate struct ib_inflate *contents = NULL;
	struct ib_source in;
	int r = ib_inflate_open(&raw, name, &contents, err);

	*ret_n = 0;
	if (r < 0)
		return r;
	in = ib_inflate_source(contents);
	r = in.read(in.arg, head, LOOK, ret_n, err);
	return r == IB_E_SYNTAX || r == IB_E_TRUNC || r == IB_E_LIMIT ? 0 : r;
}

static bool is_archive(const char *head, size_t n)
{
	static const struct {
		size_t at, n;
		const char *magic;
	} kinds[] = {
		{0, 4, "PK\003\004"}, {0, 6, "7z\274\257\047\034"}, {0, 6, "\3757zXZ"}, {0, 3, "BZh"}, {257, 5, "ustar"},
		{0, 2, "\037\213"}, {0, 4, "\050\265\057\375"}, {0, 2, "\377\376"}, {0, 2, "\376\377"},
	};

	for (size_t i = 0; i < IB_LEN(kinds); i++)
		if (n >= kinds[i].at + kinds[i].n && memcmp(head + kinds[i].at, kinds[i].magic, kinds[i].n) == 0)
			return true;
	return false;
}

/* Index of the first character at or behind i that is no space, or n. */
static size_t skip_space(const char *head, size_t n, size_t i)
{
	while (i < n && (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n'))
		i++;
	return i;
}

/* An object, or an array of something else than the word in brackets that lines of logs begin with. */
static bool begins_json(const char *head, size_t n)
{
	size_t first = skip_space(head, n, n >= 3 && memcmp(head, "\357\273\277", 3) == 0 ? 3 : 0);
	size_t next = skip_space(head, n, first + 1);

	if (next >= n)
		return false;
	return head[first] == '{' ? strchr("\"}", head[next]) != NULL : head[first] == '[' && strchr("{[\"", head[next]);
}

int ib_loose_look(int fd, const char *name, enum ib_loose *ret, struct ib_err *err)
{
	ib_auto_free char *head = ib_alloc(LOOK);
	size_t n;
	int r = look(fd, name, head, &n, err);

	if (r == 0)
		r = rewind_fd(fd, name, err);
	if (r < 0)
		return r;
	if (ib_client_recognise(head, n))
		*ret = IB_LOOSE_RESULT;
	else if (memmem(head, n, "\"" IB_RECORD_SCHEMA "\"", strlen(IB_RECORD_SCHEMA) + 2))
		*ret = IB_LOOSE_RECORD;
	else if (is_archive(head, n))
		*ret = IB_LOOSE_ARCHIVE;
	else if (!n || memchr(head, '\0', n))
		*ret = IB_LOOSE_OTHER;
	else
		*ret = begins_json(head, n) ? IB_LOOSE_JSON : IB_LOOSE_TEXT;
	return 0;
}

static int read_contents(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_inflate struct ib_inflate *contents = NULL;
	struct ib_source from;
	int r = ib_inflate_open(in, name, &contents, err);

	if (r < 0)
		return r;
	from = ib_inflate_source(contents);
	return ib_client_read_source(&from, name, ret, err);
}

int ib_loose_read(int fd, const char *name, struct ib_results *ret, char ret_hex[IB_HEX_LEN], struct ib_err *err)
{
	ib_auto_sha256 struct ib_sha256 *sum = ib_sha256_new();
	struct ib_source_fd from = {.fd = fd, .name = name};
	const struct ib_source raw = ib_source_from_fd(&from);
	struct ib_source_hashed hashed = {.from = &raw, .sum = sum};
	const struct ib_source in = ib_source_from_hashed(&hashed);
	struct ib_err ignored;
	int r = read_contents(&in, name, ret, err);

	/* a reader that gave up has not seen all bytes */
	if (ib_source_drain(&in, r < 0 ? &ignored : err) < 0) {
		ib_results_clear(ret);
		ret_hex[0] = '\0';
		return r < 0 ? r : err->code;
	}
	ib_sha256_hex(sum, ret_hex);
	return r;
}
