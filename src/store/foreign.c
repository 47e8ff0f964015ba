/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive as a second reader of what we wrote. */
#include "store/foreign.h"

#include <archive.h>
#include <archive_entry.h>

static void free_archive(struct archive **a)
{
	archive_read_free(*a);
}

static int trouble(struct archive *a, struct ib_err *err)
{
	return ib_fail(err, IB_E_INTERNAL, 0, "libarchive does not read the packet: %s", archive_error_string(a));
}

int ib_foreign_list(int fd, int (*each)(void *arg, const char *path, uint64_t bytes, struct ib_err *err), void *arg, struct ib_err *err)
{
	__attribute__((cleanup(free_archive))) struct archive *a = archive_read_new();
	struct archive_entry *entry;
	int k;

	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK || archive_read_support_filter_zstd(a) != ARCHIVE_OK)
		return ib_fail(err, IB_E_INTERNAL, 0, "libarchive cannot be set up");
	if (archive_read_open_fd(a, fd, 65536) != ARCHIVE_OK)
		return trouble(a, err);
	/* a warning is all that a name that the locale cannot spell gives: its UTF-8 form is there */
	while ((k = archive_read_next_header(a, &entry)) == ARCHIVE_OK || k == ARCHIVE_WARN) {
		const char *path = archive_entry_pathname_utf8(entry);
		uint64_t bytes = 0;
		const void *block;
		size_t n;
		la_int64_t at;
		int r;

		if (!path)
			path = archive_entry_pathname(entry);
		if (!path || archive_entry_filetype(entry) != AE_IFREG)
			return ib_fail(err, IB_E_INTERNAL, 0, "libarchive reads an entry that is not a file");
		while ((k = archive_read_data_block(a, &block, &n, &at)) == ARCHIVE_OK)
			bytes = (uint64_t)at + n;
		if (k != ARCHIVE_EOF)
			return trouble(a, err);
		r = each(arg, path, bytes, err);
		if (r < 0)
			return r;
	}
	return k == ARCHIVE_EOF ? 0 : trouble(a, err);
}
