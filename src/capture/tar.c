/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a recorded root as a ustar archive. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "capture/tarfile.h"

#define BLOCK 512
#define NAME_MAX_BYTES 100
#define DEPTH_MAX 32

struct packer {
	const struct ib_drain *out;
	struct ib_buf content;
};

static int put(const struct packer *p, const void *data, size_t n, struct ib_err *err)
{
	return p->out->write(p->out->arg, data, n, err);
}

/* Mode, owner and time say nothing of the recorded machine: they are always the same. */
static void header(char h[BLOCK], const char *name, size_t size)
{
	unsigned sum = 0;

	memset(h, 0, BLOCK);
	memcpy(h, name, strlen(name));
	memcpy(h + 100, "0000644", 7);
	memcpy(h + 108, "0000000", 7);
	memcpy(h + 116, "0000000", 7);
	snprintf(h + 124, 12, "%011zo", size);
	memcpy(h + 136, "00000000000", 11);
	memset(h + 148, ' ', 8);
	h[156] = '0';
	memcpy(h + 257, "ustar", 6);
	memcpy(h + 263, "00", 2);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	h[155] = ' ';
}

static int pack_file(struct packer *p, int dir_fd, const char *base, const char *path, struct ib_err *err)
{
	static const char zeros[BLOCK];
	char h[BLOCK];
	int r;

	ib_buf_reset(&p->content);
	if ((r = ib_read_file(dir_fd, base, &p->content, err)) < 0)
		return r;
	if (strlen(path) >= NAME_MAX_BYTES)
		return ib_fail(err, IB_E_LIMIT, 0, "'%s' is too long a name for an archive; record into a directory", path);
	header(h, path, p->content.len);
	if ((r = put(p, h, BLOCK, err)) < 0 || (r = put(p, ib_buf_str(&p->content), p->content.len, err)) < 0)
		return r;
	return put(p, zeros, (BLOCK - p->content.len % BLOCK) % BLOCK, err);
}

/* Takes fd over. */
static int list(int fd, struct ib_strv *ret, struct ib_err *err)
{
	ib_auto_dir DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return ib_fail(err, IB_E_IO, errno, "cannot read the recorded root");
	}
	for (struct dirent *d = readdir(dir); d; d = readdir(dir))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			ib_strv_add(ret, d->d_name);
	ib_strv_sort(ret);
	return 0;
}

static int pack_dir(struct packer *p, int fd, const char *path, int depth, struct ib_err *err)
{
	ib_auto_strv struct ib_strv names = {0};
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (again < 0 || depth > DEPTH_MAX)
		return ib_fail(err, IB_E_IO, errno, "cannot read the recorded root");
	r = list(again, &names, err);
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		ib_auto_free char *name = ib_asprintf("%s%s%s", path, *path ? "/" : "", names.v[i]);
		ib_auto_fd int below = openat(fd, names.v[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		r = below >= 0 ? pack_dir(p, below, name, depth + 1, err) : pack_file(p, fd, names.v[i], name, err);
	}
	return r;
}

int ib_record_pack(int dir_fd, const struct ib_drain *out, struct ib_err *err)
{
	static const char zeros[2 * BLOCK], mark[] = "\n" IB_RECORD_MARK "\n";
	struct packer p = {.out = out, .content = IB_BUF(16u << 20)};
	int r = put(&p, mark, sizeof(mark) - 1, err);

	if (r == 0)
		r = pack_dir(&p, dir_fd, "", 0, err);
	if (r == 0)
		r = put(&p, zeros, sizeof(zeros), err);
	ib_buf_clear(&p.content);
	return r;
}
