/* SPDX-License-Identifier: Apache-2.0 */
/* Names in packets. utf8proc composes and folds; what is allowed stands in our own table. */
#include "store/names.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/str.h"

static bool is_ascii(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] >= 0x80)
			return false;
	return true;
}

static bool allowed(uint32_t c)
{
	size_t low = 0, high = ib_name_range_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c < ib_name_ranges[mid][0])
			high = mid;
		else if (c > ib_name_ranges[mid][1])
			low = mid + 1;
		else
			return true;
	}
	return false;
}

/* Next code point of valid UTF-8; *i moves on. */
static uint32_t next_point(const char *s, size_t *i)
{
	unsigned char first = (unsigned char)s[(*i)++];
	int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
	uint32_t c = more == 0 ? first : first & (0x3Fu >> more);

	while (more--)
		c = c << 6 | ((unsigned char)s[(*i)++] & 0x3Fu);
	return c;
}

static int refuse(struct ib_err *err, const char *path, size_t n, const char *why)
{
	ib_auto_free char *shown = ib_strndup(path, n < 200 ? n : 200);

	return ib_fail_at(err, IB_E_PATH, shown, "name '%s' cannot be in a packet: %s", shown, why);
}

static int check_components(const char *path, size_t n, struct ib_err *err)
{
	for (size_t start = 0, i = 0; i <= n; i++) {
		size_t k = i - start;
		const char *c = path + start;

		if (i < n && path[i] != '/')
			continue;
		if (k == 0 || (k == 1 && c[0] == '.') || (k == 2 && c[0] == '.' && c[1] == '.'))
			return refuse(err, path, n, "a component is empty, '.' or '..'");
		if (k > IB_COMPONENT_MAX)
			return refuse(err, path, n, "a component is longer than 255 bytes");
		if (c[0] == ' ' || c[k - 1] == ' ' || c[k - 1] == '.')
			return refuse(err, path, n, "a component begins or ends with a space, or ends with a dot");
		start = i + 1;
	}
	return 0;
}

/* NFC form, allocated, or NULL. */
static char *compose(const char *s, size_t n, utf8proc_option_t more)
{
	utf8proc_uint8_t *out = NULL;

	if (utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &out, UTF8PROC_STABLE | more) < 0)
		return NULL;
	return (char *)out;
}

int ib_name_check(const char *path, size_t n, struct ib_err *err)
{
	ib_auto_free char *nfc = NULL;

	if (n > IB_PATH_MAX)
		return refuse(err, path, n, "it is longer than 1024 bytes");
	if (!ib_utf8_valid(path, n))
		return refuse(err, path, n, "it is not UTF-8");
	for (size_t i = 0; i < n;) {
		uint32_t c = next_point(path, &i);

		if (!allowed(c)) {
			char why[80];

			snprintf(why, sizeof(why), "character U+%04X is not allowed", c);
			return refuse(err, path, n, why);
		}
	}
	if (!is_ascii(path, n)) {
		nfc = compose(path, n, UTF8PROC_COMPOSE);
		if (!nfc || strlen(nfc) != n || memcmp(nfc, path, n) != 0)
			return refuse(err, path, n, "it is not in Unicode normalization form C");
	}
	return check_components(path, n, err);
}

bool ib_name_is_plain(const char *s, size_t n)
{
	if (n < 1 || n > 32 || s[0] == '_' || s[0] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '_' || s[i] == '-'))
			return false;
	return true;
}

/* --- the set --- */

/* 16 bytes of the SHA-256 of the folded name: a collision made on purpose only gets its maker refused. */
struct slot {
	uint64_t a, b; /* both 0: free */
};

struct table {
	struct slot *v;
	size_t cap, n;
};

struct ib_names {
	struct table files, dirs;
	struct ib_sha256 *sha;
	char *last_dir; /* folded directory of the previous path: its parents are in already */
};

struct ib_names *ib_names_new(void)
{
	struct ib_names *s = ib_alloc(sizeof(*s));

	s->sha = ib_sha256_new();
	return s;
}

void ib_names_free(struct ib_names **s)
{
	if (!*s)
		return;
	free((*s)->files.v);
	free((*s)->dirs.v);
	free((*s)->last_dir);
	ib_sha256_free(&(*s)->sha);
	free(*s);
	*s = NULL;
}

static struct slot slot_of(struct ib_names *s, const char *key, size_t n)
{
	uint8_t raw[IB_SHA256_LEN];
	struct slot k;

	ib_sha256_add(s->sha, key, n);
	ib_sha256_raw(s->sha, raw);
	memcpy(&k, raw, sizeof(k));
	if (!k.a && !k.b)
		k.b = 1;
	return k;
}

/* Place of k, or the free place where it belongs. */
static struct slot *probe(const struct table *t, struct slot k)
{
	size_t i = (size_t)k.a & (t->cap - 1);

	while ((t->v[i].a || t->v[i].b) && (t->v[i].a != k.a || t->v[i].b != k.b))
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

static bool has(const struct table *t, struct slot k)
{
	const struct slot *p = t->cap ? probe(t, k) : NULL;

	return p && (p->a || p->b);
}

static void put(struct table *t, struct slot k)
{
	struct slot *p;

	if (t->n * 2 >= t->cap) {
		struct table bigger = {.cap = t->cap ? t->cap * 2 : 64, .n = t->n};

		bigger.v = ib_alloc(bigger.cap * sizeof(struct slot));
		for (size_t i = 0; i < t->cap; i++)
			if (t->v[i].a || t->v[i].b)
				*probe(&bigger, t->v[i]) = t->v[i];
		free(t->v);
		*t = bigger;
	}
	p = probe(t, k);
	if (!p->a && !p->b)
		t->n++;
	*p = k;
}

/* The key that names are compared by: NFC(casefold(NFD(path))). */
static char *fold(const char *path, size_t n)
{
	ib_auto_free char *nfd = NULL;
	char *key;

	if (is_ascii(path, n)) {
		key = ib_strndup(path, n);
		for (char *p = key; *p; p++)
			if (*p >= 'A' && *p <= 'Z')
				*p = (char)(*p - 'A' + 'a');
		return key;
	}
	nfd = compose(path, n, UTF8PROC_DECOMPOSE);
	return nfd ? compose(nfd, strlen(nfd), UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD) : NULL;
}

static int collides(struct ib_err *err, const char *path, const char *how)
{
	return ib_fail_at(err, IB_E_DUP, path, "name '%.300s' %s", path, how);
}

/* Adds the directories above key; IB_E_DUP when one of them is a file. */
static int add_parents(struct ib_names *s, const char *key, const char *path, struct ib_err *err)
{
	const char *slash = strrchr(key, '/');
	size_t dir_n = slash ? (size_t)(slash - key) : 0;

	if (!slash || (s->last_dir && strlen(s->last_dir) == dir_n && memcmp(s->last_dir, key, dir_n) == 0))
		return 0;
	for (slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct slot k = slot_of(s, key, (size_t)(slash - key));

		if (has(&s->files, k))
			return collides(err, path, "has a file as its parent");
		put(&s->dirs, k);
	}
	free(s->last_dir);
	s->last_dir = ib_strndup(key, dir_n);
	if (s->dirs.n > IB_NAMES_MAX)
		return ib_fail_at(err, IB_E_LIMIT, path, "more than %u directories", IB_NAMES_MAX);
	return 0;
}

int ib_names_add(struct ib_names *s, const char *path, struct ib_err *err)
{
	ib_auto_free char *key = fold(path, strlen(path));
	struct slot k;
	int r;

	if (!key)
		return ib_fail_at(err, IB_E_PATH, path, "name '%.300s' cannot be folded", path);
	k = slot_of(s, key, strlen(key));
	if (has(&s->files, k))
		return collides(err, path, "is there twice, or differs from another in case only");
	if (has(&s->dirs, k))
		return collides(err, path, "is a file and a directory");
	r = add_parents(s, key, path, err);
	if (r < 0)
		return r;
	put(&s->files, k);
	if (s->files.n > IB_NAMES_MAX + 1024)
		return ib_fail_at(err, IB_E_LIMIT, path, "more than %u files", IB_NAMES_MAX);
	return 0;
}
