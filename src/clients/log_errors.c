/* SPDX-License-Identifier: Apache-2.0 */
/* Answers with an error, told from the words of a line. */
#include "clients/log_errors.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"

#define LINE_MAX_BYTES 1024 /* of a longer line the beginning */

/* --- one line --- */

/* Is there one of the statuses, as a number of its own, at s? */
static bool status_at(const char *line, size_t n, size_t i)
{
	static const char *const statuses[] = {"429", "500", "502", "503", "504"};
	bool before = i > 0 && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '.' || line[i - 1] == '_');
	bool after = i + 3 < n && (isalnum((unsigned char)line[i + 3]) || (line[i + 3] == '.' && i + 4 < n && isdigit((unsigned char)line[i + 4])));

	if (i + 3 > n || before || after)
		return false;
	for (size_t k = 0; k < IB_LEN(statuses); k++)
		if (memcmp(line + i, statuses[k], 3) == 0)
			return true;
	return false;
}

static bool holds(const char *line, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++)
		if (strncasecmp(line + i, word, len) == 0)
			return true;
	return false;
}

/* Words that make such a number a status, not a count or a time. */
static bool about_http(const char *line, size_t n)
{
	static const char *const words[] = {"http", "status", "error code", "response code", "error 5", "error: 5", "error 429", "service unavailable",
					    "internal server error", "bad gateway", "gateway time", "too many requests"};

	for (size_t i = 0; i < IB_LEN(words); i++)
		if (holds(line, n, words[i]))
			return true;
	return false;
}

bool ib_log_line_error(const char *line, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++)
		if ((line[i] == '4' || line[i] == '5') && status_at(line, n, i))
			return about_http(line, n) && !holds(line, n, "GET /");
	return false;
}

/* --- a file --- */

struct lines {
	char line[LINE_MAX_BYTES];
	size_t n;
	int64_t found;
};

static void add(struct lines *l, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] != '\n' && data[i] != '\r') {
			if (l->n < sizeof(l->line))
				l->line[l->n++] = data[i];
			continue;
		}
		l->found += ib_log_line_error(l->line, l->n);
		l->n = 0;
	}
}

int64_t ib_log_errors_fd(int fd)
{
	struct lines l = {.n = 0};
	char block[16384];
	off_t all = 0;
	ssize_t k;

	while (all < IB_LOG_ERRORS_MAX && (k = pread(fd, block, sizeof(block), all)) > 0) {
		add(&l, block, (size_t)k);
		all += k;
	}
	add(&l, "\n", 1);
	return l.found;
}

int64_t ib_log_errors(int dirfd, const char *path)
{
	ib_auto_fd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? 0 : ib_log_errors_fd(fd);
}

int64_t ib_log_errors_in(const char *data, size_t n)
{
	struct lines l = {.n = 0};

	add(&l, data, n);
	add(&l, "\n", 1);
	return l.found;
}

bool ib_log_named(const char *path)
{
	static const char *const ends[] = {".log", ".txt", ".out", ".err"};

	for (size_t i = 0; i < IB_LEN(ends); i++)
		if (ib_ends(path, ends[i]))
			return true;
	return false;
}
