/* SPDX-License-Identifier: Apache-2.0 */
/* Recording what a client sends: the digest of each request body in a canonical form, in order of arrival. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"

/* Keys of a body that may differ from one sending of a request to the next and are no part of the work. */
const char *const lb_volatile_keys[] = {"metadata", "request_id", "rid", "safety_identifier", "stream_options", "user", NULL};

static bool is_volatile(const char *key)
{
	for (size_t i = 0; lb_volatile_keys[i]; i++)
		if (strcmp(lb_volatile_keys[i], key) == 0)
			return true;
	return false;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The same value with the keys of all objects in byte order; at the top without the volatile ones. New reference. */
static json_t *canonical(const json_t *j, bool top)
{
	json_t *o, *v;

	if (json_is_array(j)) {
		o = ib_json_array();
		for (size_t i = 0; i < json_array_size(j); i++)
			ib_json_add(o, canonical(json_array_get(j, i), false));
		return o;
	}
	if (json_is_object(j)) {
		ib_auto_free const char **keys = ib_realloc(NULL, json_object_size(j) + 1, sizeof(*keys));
		const char *key;
		size_t n = 0;

		json_object_foreach((json_t *)(uintptr_t)j, key, v)
			keys[n++] = key;
		qsort(keys, n, sizeof(*keys), by_bytes);
		o = ib_json_object();
		for (size_t i = 0; i < n; i++)
			if (!top || !is_volatile(keys[i]))
				ib_json_set(o, keys[i], canonical(json_object_get(j, keys[i]), false));
		return o;
	}
	return json_incref((json_t *)(uintptr_t)j);
}

int lb_record_open(struct lb_server *s, struct ib_err *err)
{
	const char *path = s->config.record_file;

	s->record_fd = -1;
	if (!path)
		return 0;
	s->record_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	if (s->record_fd < 0)
		return ib_fail(err, errno == EEXIST ? IB_E_EXISTS : IB_E_IO, errno, "cannot make the recording '%s'", path);
	return 0;
}

/* A recording with a hole would lie: it ends here, aloud, and what reads it finds no line of its end. */
static void append(struct lb_server *s, const struct ib_buf *b)
{
	struct ib_err err;

	if (ib_buf_check(b, "a recorded request", &err) < 0 || ib_write_all(s->record_fd, b->data, b->len, "recording", &err) < 0) {
		fprintf(stderr, "ib-loopback: %s; the recording ends\n", err.text);
		close(s->record_fd);
		s->record_fd = -1;
		s->record_broken = true;
	}
}

void lb_record(struct lb_server *s, const char *path, const char *data, size_t n, const json_t *body, const char *prompt_sha256)
{
	ib_auto_buf struct ib_buf text = IB_BUF(LB_BODY_MAX), line = IB_BUF(2 * LB_BODY_MAX);
	ib_auto_json json_t *o = NULL, *form = NULL;
	char hex[65];

	if (!s->config.record_file)
		return;
	form = body ? canonical(body, true) : NULL;
	if (form)
		ib_json_write(form, &text);
	else
		ib_buf_add(&text, data, n);
	ib_sha256_of(ib_buf_str(&text), text.len, hex);
	o = ib_json_object();
	ib_json_set_int(o, "n", 0);
	ib_json_set_str(o, "path", path);
	ib_json_set_str(o, "sha256", hex);
	ib_json_set_str(o, "prompt_sha256", *prompt_sha256 ? prompt_sha256 : NULL);
	ib_json_set_int(o, "bytes", (int64_t)text.len);
	ib_json_set_bool(o, "canonical", form != NULL);
	if (s->config.record_bodies)
		ib_json_set(o, "body", json_incref(form));
	pthread_mutex_lock(&s->lock);
	if (s->record_fd >= 0) {
		ib_json_set_int(o, "n", (int64_t)s->record_lines++);
		ib_json_write(o, &line);
		ib_buf_addc(&line, '\n');
		append(s, &line);
	}
	pthread_mutex_unlock(&s->lock);
}

/* The last line says that none is missing before it. */
void lb_record_close(struct lb_server *s)
{
	ib_auto_json json_t *o = ib_json_object();
	ib_auto_buf struct ib_buf b = IB_BUF(1024);

	if (s->record_fd < 0)
		return;
	ib_json_set_int(o, "requests", (int64_t)s->record_lines);
	ib_json_write(o, &b);
	ib_buf_addc(&b, '\n');
	append(s, &b);
	if (s->record_fd >= 0)
		close(s->record_fd);
	s->record_fd = -1;
}
