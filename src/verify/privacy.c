/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for what should not leave a machine. */
#include "verify/privacy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "redact/redact.h"

#define HITS_MAX 500

struct scan {
	struct ib_privacy *to;
	const char *file;
};

static void note(struct ib_privacy *p, const char *file, enum ib_private sort, const char *rule, uint64_t line)
{
	for (size_t i = p->n; i > 0; i--) {
		struct ib_private_hit *h = &p->v[i - 1];

		if (strcmp(h->file, file) != 0)
			break;
		if (h->sort == sort) {
			h->n++;
			return;
		}
	}
	if (p->n >= HITS_MAX) {
		p->more = true;
		return;
	}
	p->v = ib_realloc(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct ib_private_hit){ib_strdup(file), sort, rule, line, 1};
}

static void secret(void *arg, uint64_t line, const char *rule)
{
	struct scan *s = arg;

	note(s->to, s->file, IB_PRIVATE_SECRET, rule, line);
}

/* Accounts that are nobody's. */
static bool nobody(const char *name, size_t n)
{
	static const char *const names[] = {"user", "username", "users", "ubuntu", "debian", "runner", "root", "admin", "ec2-user", "jovyan", "vllm",
			"app", "node", "me", "USER", "shared"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == n && strncmp(names[i], name, n) == 0)
			return true;
	return n == 0;
}

/* Length of the account's name behind "/home/" or "/Users/". */
static size_t account(const char *s)
{
	size_t n = 0;

	while (n < 33 && (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-' || s[n] == '.'))
		n++;
	return n < 33 ? n : 0;
}

/* Letters, digits and what glues words together: an address ends before none of these. */
static bool glued(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '-' || c == '_' || c == '+';
}

/* Up to three digits, at most 255; -1: no part of an address. */
static int part_of(const char **at, const char *end)
{
	int v = 0, digits = 0;

	for (; *at < end && isdigit((unsigned char)**at) && digits < 4; ++*at, digits++)
		v = v * 10 + (**at - '0');
	return digits && digits < 4 && v < 256 ? v : -1;
}

/* Is it an IPv4 address of a machine, as a whole word? Loopback and multicast are none; nor are low numbers, which are versions. */
static bool address(const char *s, const char *start, const char *end, size_t *ret_n)
{
	const char *at = s;
	int part[4];

	*ret_n = 1;
	if (s > start && glued(s[-1]))
		return false;
	for (int i = 0; i < 4; i++) {
		if (i && (at >= end || *at++ != '.'))
			return false;
		part[i] = part_of(&at, end);
		if (part[i] < 0)
			return false;
	}
	*ret_n = (size_t)(at - s);
	if (at < end && glued(*at))
		return false;
	return (part[0] == 10 || part[0] > 30) && part[0] != 127 && part[0] < 224;
}

/* Home directories and addresses. */
static void look(struct ib_privacy *p, const char *file, const char *data, size_t n)
{
	const char *end = data + n;
	uint64_t line = 1;

	for (const char *s = data; s < end; s++) {
		size_t skip = 0;

		if (*s == '\n') {
			line++;
		} else if (*s == '/' && (ib_starts(s, "/home/") || ib_starts(s, "/Users/"))) {
			const char *name = s + (s[1] == 'h' ? 6 : 7);

			skip = account(name);
			if (!nobody(name, skip))
				note(p, file, IB_PRIVATE_HOME, NULL, line);
		} else if (isdigit((unsigned char)*s) && address(s, data, end, &skip)) {
			note(p, file, IB_PRIVATE_ADDRESS, NULL, line);
			s += skip - 1;
		}
	}
}

void ib_privacy_scan(struct ib_privacy *p, const char *file, const char *data, size_t n)
{
	struct scan s = {p, file};

	if (n > IB_PRIVACY_MAX) {
		p->too_large++;
		return;
	}
	p->scanned++;
	ib_scan_text(data, n, secret, &s);
	look(p, file, data, n);
}

void ib_privacy_scan_fd(struct ib_privacy *p, const char *file, int fd, uint64_t bytes)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_PRIVACY_MAX + 1);
	struct ib_err err;

	if (bytes > IB_PRIVACY_MAX)
		p->too_large++;
	else if (lseek(fd, 0, SEEK_SET) == 0 && ib_read_all(fd, file, &b, &err) == 0)
		ib_privacy_scan(p, file, ib_buf_str(&b), b.len);
}

void ib_privacy_clear(struct ib_privacy *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].file);
	free(p->v);
	*p = (struct ib_privacy){0};
}

const char *ib_private_name(enum ib_private sort)
{
	static const char *const names[] = {
		[IB_PRIVATE_SECRET] = "secrets", [IB_PRIVATE_HOME] = "home directories of users", [IB_PRIVATE_ADDRESS] = "addresses of machines"};

	return names[sort];
}
