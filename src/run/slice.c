/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of logs, redacted. The redactor sees blocks of whole lines: small ones, since its work grows with the square of what it sees. */
#include "run/slice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"

#define BUFFER (1u << 20)
#define BLOCK (16u << 10)
#define BLOCK_MIN 256u
#define KEY_MAX (64u << 10) /* a private key is not cut in two where it is not longer than this */

struct keeper {
	const struct ib_redactor *redactor;
	const struct ib_segment *seg;
	size_t n, at;       /* segments, and the one being read */
	uint64_t place;     /* within it */
	uint64_t total, max;
	size_t block;       /* about how much is redacted, and kept or left out, at a time */
	uint64_t done;      /* bytes of the slice that are behind us */
	uint64_t head_end;  /* of what was kept before the gap */
	bool in_gap;
	bool ended_line;    /* what was kept last ends a line */
	bool torn;          /* what was read last does not */
	int fd;             /* of the file, or -1: not made yet */
	int dir_fd;
	const char *path;
	struct ib_sha256 *sha;
	struct ib_slice *out;
	char *buf;
	size_t len;         /* bytes in buf */
};

/* Fills the buffer. False: the slice has ended. */
static int fill(struct keeper *k, struct ib_err *err)
{
	while (k->len < BUFFER && k->at < k->n) {
		const struct ib_segment *s = &k->seg[k->at];
		uint64_t left = s->to - s->from - k->place;
		size_t want = BUFFER - k->len < left ? BUFFER - k->len : (size_t)left;
		ssize_t got = want ? pread(s->fd, k->buf + k->len, want, (off_t)(s->from + k->place)) : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot read the log");
		k->len += (size_t)got;
		k->place += (uint64_t)got;
		if (got > 0 && k->place < s->to - s->from)
			continue;
		k->at++; /* done, or shorter than it was */
		k->place = 0;
	}
	return 0;
}

/* A private key that begins in n bytes and does not end there, or NULL. */
static const char *open_key(const char *p, size_t n)
{
	const char *end = p + n, *key = memmem(p, n, "-----BEGIN ", 11);

	while (key) {
		const char *close = memmem(key, (size_t)(end - key), "-----END ", 9);

		if (!close)
			return key;
		key = memmem(close, (size_t)(end - close), "-----BEGIN ", 11);
	}
	return NULL;
}

/* The length of the next block: whole lines, and no private key cut in two. Of a line longer than the buffer, the whole buffer. */
static size_t block(const struct keeper *k)
{
	size_t want = k->len < k->block ? k->len : k->block;
	const char *line = memrchr(k->buf, '\n', want);
	size_t cut;

	if (!line)
		line = memchr(k->buf + want, '\n', k->len - want);
	if (!line)
		return k->len;
	cut = (size_t)(line - k->buf) + 1;
	if (open_key(k->buf, cut)) {
		size_t ahead = k->len - cut < KEY_MAX ? k->len - cut : KEY_MAX;
		const char *end = memmem(k->buf + cut, ahead, "-----END ", 9);
		const char *behind = end ? memchr(end, '\n', k->len - (size_t)(end - k->buf)) : NULL;

		return behind ? (size_t)(behind - k->buf) + 1 : cut + ahead;
	}
	return cut;
}

/* Redacts n bytes, which may hold any byte. */
static void redact(const struct ib_redactor *r, const char *p, size_t n, struct ib_buf *out)
{
	while (n) {
		size_t zeros = 0, text = strnlen(p, n);
		ib_auto_free char *piece = text ? ib_strndup(p, text) : NULL;
		ib_auto_free char *clean = piece ? ib_redact_text(r, piece) : NULL;

		if (clean)
			ib_buf_adds(out, clean);
		while (text + zeros < n && !p[text + zeros])
			zeros++;
		ib_buf_add(out, p + text, zeros);
		p += text + zeros;
		n -= text + zeros;
	}
}

static int put(struct keeper *k, const void *data, size_t n, struct ib_err *err)
{
	if (k->fd < 0)
		k->fd = openat(k->dir_fd, k->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (k->fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create '%s'", k->path);
	k->out->kept_bytes += n;
	return ib_write_all(k->fd, data, n, k->path, err);
}

static int put_mark(struct keeper *k, uint64_t gap, struct ib_err *err)
{
	ib_auto_free char *mark = ib_asprintf("%s[ib-run: %" PRIu64 " bytes of the log are left out here]\n", k->ended_line || !k->out->kept_bytes ? "" : "\n", gap);

	k->out->gap_bytes = gap;
	k->in_gap = false;
	return put(k, mark, strlen(mark), err);
}

/* Is the block of n bytes kept, or does it lie between the head and the tail? */
static bool kept(const struct keeper *k, size_t n)
{
	return k->total <= k->max || k->done + n <= k->max / 2 || k->done >= k->total - k->max / 2;
}

static int one_block(struct keeper *k, size_t n, struct ib_err *err)
{
	ib_auto_buf struct ib_buf clean = IB_BUF(64u << 20);
	int r;

	redact(k->redactor, k->buf, n, &clean);
	if ((r = ib_buf_check(&clean, k->path, err)) < 0 || (r = ib_gate(k->redactor, ib_buf_str(&clean), clean.len, k->path, err)) < 0)
		return r;
	k->out->redacted |= clean.len != n || memcmp(clean.data, k->buf, n) != 0;
	ib_sha256_add(k->sha, clean.data, clean.len);
	for (const char *p = k->buf, *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		k->out->lines++;
	if (!kept(k, n)) {
		if (!k->in_gap)
			k->head_end = k->done;
		k->in_gap = true;
	} else {
		if (k->in_gap)
			r = put_mark(k, k->done - k->head_end, err);
		if (r == 0)
			r = put(k, clean.data, clean.len, err);
		k->ended_line = clean.data[clean.len - 1] == '\n';
	}
	k->done += n;
	k->torn = k->buf[n - 1] != '\n';
	memmove(k->buf, k->buf + n, k->len - n);
	k->len -= n;
	return r;
}

static int all_blocks(struct keeper *k, struct ib_err *err)
{
	for (;;) {
		int r = k->len < BUFFER / 2 ? fill(k, err) : 0;

		if (r < 0)
			return r;
		if (k->len == 0)
			break;
		if ((r = one_block(k, block(k), err)) < 0)
			return r;
	}
	return k->in_gap ? put_mark(k, k->done - k->head_end, err) : 0;
}

/* The scanner once more over the file as it is: it sees across the blocks. */
static int last_look(const struct keeper *k, struct ib_err *err)
{
	uint64_t hits = 0;
	int r;

	if (k->fd < 0)
		return 0;
	if (lseek(k->fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read '%s'", k->path);
	r = ib_scan_fd(k->fd, k->path, NULL, NULL, &hits, err);
	if (r < 0)
		return r;
	return hits ? ib_fail(err, IB_E_STATE, 0, "'%s' would hold a secret; nothing is written", k->path) : 0;
}

/* Of what is too large to be read, the head and the tail. Returns how many segments there are in to. */
static size_t ends_of(const struct ib_segment *from, size_t n, uint64_t total, uint64_t half, struct ib_segment *to)
{
	uint64_t at = 0;
	size_t m = 0;

	for (size_t i = 0; i < n; at += from[i].to - from[i].from, i++) {
		struct ib_segment head = from[i], tail = from[i];
		uint64_t len = head.to - head.from, tail_at = total - half;

		head.to = at >= half ? head.from : at + len > half ? head.from + (half - at) : head.to;
		tail.from = at + len <= tail_at ? tail.to : at < tail_at ? tail.from + (tail_at - at) : tail.from;
		if (head.to > head.from)
			to[m++] = head;
		if (tail.to > tail.from)
			to[m++] = tail;
	}
	return m;
}

/* The head and the tail of a huge slice, each as a slice of its own would be read. */
static int keep_ends(struct keeper *k, struct ib_err *err)
{
	ib_auto_free struct ib_segment *ends = ib_realloc(NULL, k->n * 2 + 1, sizeof(*ends));
	uint64_t half = k->max / 2, gap = k->total - 2 * half;
	size_t n = ends_of(k->seg, k->n, k->total, half, ends), heads = 0;
	uint64_t sum = 0;
	int r;

	while (heads < n && sum < half)
		sum += ends[heads].to - ends[heads].from, heads++;
	k->seg = ends;
	k->n = heads;
	k->total = 2 * half; /* both are kept whole */
	if ((r = all_blocks(k, err)) < 0 || (r = put_mark(k, gap, err)) < 0)
		return r;
	k->seg = ends + heads;
	k->n = n - heads;
	k->at = 0;
	return all_blocks(k, err);
}

int ib_slice_keep(const struct ib_redactor *redactor, const struct ib_segment *segments, size_t n, uint64_t max, int dir_fd, const char *path,
		  struct ib_slice *ret, struct ib_err *err)
{
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();
	ib_auto_free char *buf = ib_alloc(BUFFER);
	ib_auto_fd int fd = -1;
	struct ib_slice out = {0};
	struct keeper k = {.redactor = redactor, .seg = segments, .n = n, .max = max, .fd = -1, .dir_fd = dir_fd, .path = path, .sha = sha, .out = &out, .buf = buf};
	uint64_t total = 0;
	bool huge;
	int r;

	for (size_t i = 0; i < n; i++)
		total += segments[i].to - segments[i].from;
	k.total = total;
	k.block = total <= max || max / 8 >= BLOCK ? BLOCK : max / 8 < BLOCK_MIN ? BLOCK_MIN : (size_t)(max / 8);
	huge = k.total > IB_SLICE_READ_MAX && k.total > max;
	r = huge ? keep_ends(&k, err) : all_blocks(&k, err);
	if (r == 0)
		r = last_look(&k, err);
	fd = k.fd;
	if (r < 0) {
		if (fd >= 0)
			unlinkat(dir_fd, path, 0);
		return r;
	}
	out.bytes = huge ? total : k.done;
	out.lines = huge ? IB_SLICE_UNKNOWN : out.lines + k.torn;
	if (!huge)
		ib_sha256_hex(sha, out.sha256);
	*ret = out;
	return 0;
}
