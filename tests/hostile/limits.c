/* SPDX-License-Identifier: Apache-2.0 */
/* limits FILES BYTES: the tar reader on an archive that is made while it is read: FILES files of BYTES bytes each. Prints the class, how many files were
 * read and how many bytes of the archive, so that the limits of packets can be tested without a disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "store/tar.h"

struct maker {
	uint64_t files, bytes, at, left; /* left: of the body and its padding */
	uint64_t given;
	unsigned char head[IB_TAR_HEADER_MAX];
	size_t head_at, head_n;
};

static void next_file(struct maker *m)
{
	char path[64];
	struct ib_tar_meta meta = {.path = path, .mode = 0644, .bytes = m->bytes, .index = (uint32_t)m->at};

	snprintf(path, sizeof(path), "top/%08" PRIu64, m->at++);
	m->head_n = ib_tar_encode(&meta, m->head);
	m->head_at = 0;
	m->left = m->bytes + ib_tar_padding(m->bytes);
}

/* Bodies are zeros: the buffer is not even written to, which is what makes 64 GiB bearable. */
static int make(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct maker *m = arg;
	size_t done = 0;

	(void)err;
	while (done < n) {
		size_t k;

		if (m->head_at == m->head_n && !m->left) {
			if (m->at == m->files)
				break;
			next_file(m);
		}
		if (m->head_at < m->head_n) {
			k = m->head_n - m->head_at < n - done ? m->head_n - m->head_at : n - done;
			memcpy((char *)data + done, m->head + m->head_at, k);
			m->head_at += k;
		} else {
			k = m->left < n - done ? (size_t)m->left : n - done;
			if (k < 2048 || m->left == k)
				memset((char *)data + done, 0, k);
			m->left -= k;
		}
		done += k;
	}
	m->given += done;
	*ret_n = done;
	return 0;
}

int main(int argc, char **argv)
{
	struct maker m = {.files = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, .bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0};
	const struct ib_source in = {.read = make, .arg = &m};
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	ib_auto_tar struct ib_tar *tar = NULL;
	struct ib_tar_meta meta;
	struct ib_err err = {0};
	uint64_t files = 0;
	bool end = false;
	int r;

	if (argc < 3)
		return 2;
	r = ib_unpacker_open(&in, &u, &err);
	tar = ib_tar_new(u);
	while (r == 0 && !end) {
		r = ib_tar_next(tar, &meta, &end, &err);
		files += r == 0 && !end;
	}
	printf("%s %" PRIu64 " %" PRIu64 "\n", r < 0 ? ib_code_name((enum ib_code)r) : "end", files, m.given >> 30);
	return 0;
}
