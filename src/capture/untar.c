/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a recorded root that a stranger's tar program wrote. Nothing in it is trusted: names, kinds and sizes are checked before anything
 * is made, and only plain files and directories are. */
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
#define LEAD_MAX 65536 /* what may stand before the archive */
#define FILE_BYTES_MAX (16u << 20)
#define BYTES_MAX (256u << 20)
#define ENTRIES_MAX 100000
#define PAX_BYTES_MAX 65536
#define DEPTH_MAX 32

struct header { /* POSIX.1-1988 */
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6], version[2], uname[32], gname[32], major[8], minor[8],
		prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "ustar header");

struct untar {
	const struct ib_source *in;
	int dir_fd;
	char *lead; /* read ahead */
	size_t lead_n, lead_at;
	uint64_t offset, bytes;
	size_t entries;
	char path[BLOCK]; /* of the current entry */
};

static int refuse(const struct untar *t, enum ib_code code, const char *why, struct ib_err *err)
{
	return ib_fail_at(err, code, t->path, "the archive is refused at byte %llu%s%s%s: %s", (unsigned long long)t->offset, t->path[0] ? ", '" : "", t->path,
			  t->path[0] ? "'" : "", why);
}

/* --- bytes --- */

static int take(struct untar *t, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	size_t have = t->lead_n - t->lead_at, more = 0;
	int r = 0;

	have = have < n ? have : n;
	memcpy(data, t->lead + t->lead_at, have);
	t->lead_at += have;
	if (have < n)
		r = t->in->read(t->in->arg, (char *)data + have, n - have, &more, err);
	*ret_n = have + more;
	t->offset += *ret_n;
	return r;
}

static int take_all(struct untar *t, void *data, size_t n, struct ib_err *err)
{
	size_t got;
	int r = take(t, data, n, &got, err);

	return r == 0 && got < n ? refuse(t, IB_E_TRUNC, "it is cut off", err) : r;
}

static bool is_header(const char *block)
{
	const struct header *h = (const struct header *)(const void *)block;

	return memcmp(h->magic, "ustar", 5) == 0;
}

/* gzip, zstd, xz, bzip2, zip */
static bool is_compressed(const char *data, size_t n)
{
	static const char magic[][4] = {{'\x1f', '\x8b', 0, 0}, {'\x28', '\xb5', '\x2f', '\xfd'}, {'\xfd', '7', 'z', 'X'}, {'B', 'Z', 'h', 0}, {'P', 'K', 3, 4}};

	for (size_t i = 0; i < IB_LEN(magic); i++) {
		size_t len = strnlen(magic[i], sizeof(magic[i]));

		if (n > len && memcmp(data, magic[i], len) == 0)
			return true;
	}
	return false;
}

/* Finds where the archive starts. */
static int find_start(struct untar *t, struct ib_err *err)
{
	static const char mark[] = IB_RECORD_MARK "\n";
	size_t n = sizeof(mark) - 1;
	int r;

	t->lead = ib_alloc(LEAD_MAX);
	r = t->in->read(t->in->arg, t->lead, LEAD_MAX, &t->lead_n, err);
	if (r < 0)
		return r;
	if (t->lead_n == 0)
		return refuse(t, IB_E_TRUNC, "there is none, not a byte", err);
	if (t->lead_n >= BLOCK && is_header(t->lead))
		return 0;
	for (const char *at = t->lead; (at = memmem(at, t->lead_n - (size_t)(at - t->lead), mark, n)); at++)
		if (at == t->lead || at[-1] == '\n' || at[-1] == '\r') {
			t->lead_at = (size_t)(at - t->lead) + n;
			t->offset = t->lead_at;
			return 0;
		}
	if (is_compressed(t->lead, t->lead_n))
		return refuse(t, IB_E_TAR, "it is compressed; send the tar as it is", err);
	return refuse(t, IB_E_TAR, "there is none, neither a tar header nor the recorder's first line", err);
}

/* --- a header --- */

static bool octal(const char *field, size_t n, uint64_t *ret)
{
	size_t i = 0, digits = 0;
	uint64_t v = 0;

	while (i < n && field[i] == ' ')
		i++;
	for (; i < n && field[i] >= '0' && field[i] <= '7'; i++, digits++)
		v = v << 3 | (uint64_t)(field[i] - '0');
	*ret = v;
	return digits > 0 && (i == n || field[i] == '\0' || field[i] == ' ');
}

static bool sum_holds(const struct header *h)
{
	const unsigned char *b = (const unsigned char *)h;
	size_t at = offsetof(struct header, sum);
	uint64_t want, sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= at && i < at + sizeof(h->sum) ? ' ' : b[i];
	return octal(h->sum, sizeof(h->sum), &want) && want == sum;
}

/* A relative path of printable ASCII, no deeper than 32 directories, without an empty, "." or ".." part. "" is the top directory. */
static bool is_plain(const char *path)
{
	size_t depth = 0;

	for (const char *c = path; *c; c++)
		if (*c < ' ' || *c > '~')
			return false;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 0 || (n == 1 && path[0] == '.') || (n == 2 && path[0] == '.' && path[1] == '.') || ++depth > DEPTH_MAX)
			return false;
		path += n + (path[n] == '/');
	}
	return true;
}

/* Name as it is used: without "./" before and "/" behind it. */
static int set_path(struct untar *t, const struct header *h, struct ib_err *err)
{
	bool gnu = h->version[0] == ' '; /* GNU's own format has other things where the prefix is */
	ib_auto_free char *name = ib_strndup(h->name, strnlen(h->name, sizeof(h->name)));
	ib_auto_free char *prefix = ib_strndup(h->prefix, gnu ? 0 : strnlen(h->prefix, sizeof(h->prefix)));
	ib_auto_free char *path = *prefix ? ib_asprintf("%s/%s", prefix, name) : ib_strdup(name);
	const char *p = path;

	for (size_t n = strlen(path); n && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	if (!*path)
		return refuse(t, IB_E_PATH, "a name is empty or '/'", err);
	if (ib_starts(p, "./"))
		p += 2;
	else if (strcmp(p, ".") == 0)
		p++;
	if (!is_plain(p))
		return refuse(t, IB_E_PATH, "a name is absolute, too deep, not printable ASCII, or has an empty, '.' or '..' part", err);
	memcpy(t->path, p, strlen(p) + 1);
	return 0;
}

static bool all_zero(const char *b, size_t n)
{
	return n == 0 || (b[0] == 0 && memcmp(b, b + 1, n - 1) == 0);
}

/* Behind the first block of zeros: a second one, then nothing but the zeros that fill up a record. */
static int check_end(struct untar *t, struct ib_err *err)
{
	char block[BLOCK];
	size_t n, total = 0;
	int r;

	t->path[0] = '\0';
	if ((r = take_all(t, block, BLOCK, err)) < 0)
		return r;
	if (!all_zero(block, BLOCK))
		return refuse(t, IB_E_TAR, "only one block of zeros ends it", err);
	do {
		if ((r = take(t, block, BLOCK, &n, err)) < 0)
			return r;
		total += n;
		if (!all_zero(block, n) || total > (1u << 20))
			return refuse(t, IB_E_TRAILING, "something stands behind its end", err);
	} while (n == BLOCK);
	return 0;
}

/* --- entries --- */

static int skip_padding(struct untar *t, uint64_t size, struct ib_err *err)
{
	char rest[BLOCK];
	size_t n = (BLOCK - size % BLOCK) % BLOCK;

	return n ? take_all(t, rest, n, err) : 0;
}

static int make_parents(struct untar *t, const char *path, struct ib_err *err)
{
	int r = ib_make_dirs(t->dir_fd, path, 0700, err);

	return r == IB_E_EXISTS ? refuse(t, IB_E_DUP, "a file stands where a directory is needed", err) : r;
}

static int copy_out(struct untar *t, int fd, uint64_t size, struct ib_err *err)
{
	char chunk[16384];

	while (size > 0) {
		size_t n = size < sizeof(chunk) ? (size_t)size : sizeof(chunk);
		int r = take_all(t, chunk, n, err);

		if (r == 0)
			r = ib_write_all(fd, chunk, n, t->path, err);
		if (r < 0)
			return r;
		size -= n;
	}
	return 0;
}

static int add_file(struct untar *t, uint64_t size, struct ib_err *err)
{
	ib_auto_free char *parent = ib_strdup(t->path);
	char *slash = strrchr(parent, '/');
	ib_auto_fd int fd = -1;
	int r = 0;

	if (!t->path[0])
		return refuse(t, IB_E_PATH, "a file has the name of the top directory", err);
	t->bytes += size;
	if (size > FILE_BYTES_MAX || t->bytes > BYTES_MAX)
		return refuse(t, IB_E_LIMIT, "it is larger than a recorded machine may be (16 MiB a file, 256 MiB in all)", err);
	if (slash) {
		*slash = '\0';
		r = make_parents(t, parent, err);
	}
	if (r < 0)
		return r;
	fd = openat(t->dir_fd, t->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return refuse(t, IB_E_DUP, "the name occurs twice", err);
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make '%s'", t->path);
	r = copy_out(t, fd, size, err);
	return r < 0 ? r : skip_padding(t, size, err);
}

static int add_dir(struct untar *t, uint64_t size, struct ib_err *err)
{
	if (size)
		return refuse(t, IB_E_TAR, "a directory with a size", err);
	return t->path[0] ? make_parents(t, t->path, err) : 0;
}

/* Keys of a pax header that change nothing we use. */
static bool harmless(const char *key)
{
	static const char *const keys[] = {"mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return ib_starts(key, "LIBARCHIVE.") || ib_starts(key, "SCHILY.xattr.") || ib_starts(key, "RHT.");
}

/* "LENGTH KEY=VALUE\n" one after the other. */
static int pass_pax(struct untar *t, uint64_t size, struct ib_err *err)
{
	ib_auto_free char *data = NULL;
	size_t at = 0;
	int r;

	if (size > PAX_BYTES_MAX)
		return refuse(t, IB_E_LIMIT, "a pax header of more than 64 KiB", err);
	data = ib_alloc(size + 1);
	if ((r = take_all(t, data, size, err)) < 0 || (r = skip_padding(t, size, err)) < 0)
		return r;
	while (at < size) {
		size_t digits = strspn(data + at, "0123456789"), n = 0, key_n;
		char *key;

		for (size_t i = 0; i < digits && i < 6; i++)
			n = n * 10 + (size_t)(data[at + i] - '0');
		if (!digits || data[at + digits] != ' ' || n <= digits + 2 || n > size - at || data[at + n - 1] != '\n')
			return refuse(t, IB_E_TAR, "a pax header that is none", err);
		key = data + at + digits + 1;
		key_n = strcspn(key, "=");
		if (key_n >= n - digits - 1)
			return refuse(t, IB_E_TAR, "a pax header that is none", err);
		key[key_n] = '\0';
		if (!harmless(key))
			return refuse(t, IB_E_TAR, "a pax header for more than times and owners", err);
		at += n;
	}
	return 0;
}

static int entry(struct untar *t, const struct header *h, struct ib_err *err)
{
	uint64_t size;
	int r;

	t->path[0] = '\0';
	if (!is_header((const char *)h) || !sum_holds(h))
		return refuse(t, IB_E_TAR, "the header's checksum does not hold, or it is no ustar header", err);
	if (++t->entries > ENTRIES_MAX)
		return refuse(t, IB_E_LIMIT, "more than 100000 entries", err);
	if (!octal(h->size, sizeof(h->size), &size))
		return refuse(t, IB_E_TAR, "the size is no octal number", err);
	if (h->type == 'x' || h->type == 'g') /* their names mean nothing */
		return pass_pax(t, size, err);
	if (h->type == 'L' || h->type == 'K')
		return refuse(t, IB_E_PATH, "a name of more than 100 bytes", err);
	if ((r = set_path(t, h, err)) < 0)
		return r;
	switch (h->type) {
	case '0':
	case '\0':
		return add_file(t, size, err);
	case '5':
		return add_dir(t, size, err);
	default:
		return refuse(t, IB_E_TYPE, "neither a file nor a directory: a recorded machine has no links and no devices", err);
	}
}

static int entries(struct untar *t, struct ib_err *err)
{
	struct header h;
	int r;

	while ((r = take_all(t, &h, BLOCK, err)) == 0) {
		if (all_zero((const char *)&h, BLOCK))
			return check_end(t, err);
		if ((r = entry(t, &h, err)) < 0)
			return r;
	}
	return r;
}

int ib_record_unpack(const struct ib_source *in, int dir_fd, struct ib_err *err)
{
	struct untar t = {.in = in, .dir_fd = dir_fd};
	int r = find_start(&t, err);

	if (r == 0)
		r = entries(&t, err);
	free(t.lead);
	return r;
}
