/* SPDX-License-Identifier: Apache-2.0 */
/* Files opened for reading. Equal events in a row are one event, so that nothing can be counted: what is closed after reading has been read, and so
 * has what was opened and never closed. */
#include "run/opened.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/auto.h"

#define NAMES_MAX 200000u
#define WATCHES_MAX 200000

static void say(struct ib_opened *o, char *why)
{
	if (o->why)
		free(why);
	else
		o->why = why;
}

void ib_opened_begin(const char *root, const struct ib_strv *dirs, struct ib_opened *ret)
{
	*ret = (struct ib_opened){.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
	if (ret->fd < 0)
		say(ret, ib_asprintf("what is opened cannot be watched (%s)", strerror(errno)));
	for (size_t i = 0; ret->fd >= 0 && i < dirs->n; i++) {
		ib_auto_free char *path = ib_asprintf("%s/%s", root, dirs->v[i]);
		int watch = inotify_add_watch(ret->fd, path, IN_OPEN | IN_CLOSE | IN_ONLYDIR | IN_DONT_FOLLOW);

		if (watch < 0 || watch > WATCHES_MAX) {
			say(ret, ib_asprintf("'%s' cannot be watched (%s)", *dirs->v[i] ? dirs->v[i] : ".", watch < 0 ? strerror(errno) : "too many directories"));
			if (errno == ENOSPC)
				break;
			continue;
		}
		while (ret->dirs.n < (size_t)watch)
			ib_strv_add(&ret->dirs, "");
		ib_strv_add(&ret->dirs, dirs->v[i]); /* at its descriptor: they count up */
	}
}

static size_t place_of(const struct ib_opened *o, const char *path)
{
	uint64_t hash = 1469598103934665603u;
	size_t at;

	for (const char *p = path; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	for (at = hash & (o->room - 1); o->names[at].path && strcmp(o->names[at].path, path) != 0; at = (at + 1) & (o->room - 1))
		;
	return at;
}

static void grow(struct ib_opened *o)
{
	struct ib_opened_name *old = o->names;
	size_t n = o->room;

	o->room = n ? 2 * n : 1024;
	o->names = ib_alloc(o->room * sizeof(*o->names));
	for (size_t i = 0; i < n; i++)
		if (old[i].path)
			o->names[place_of(o, old[i].path)] = old[i];
	free(old);
}

static void count(struct ib_opened *o, const struct inotify_event *e)
{
	const char *dir = e->wd >= 0 && (size_t)e->wd < o->dirs.n ? o->dirs.v[e->wd] : NULL;
	ib_auto_free char *path = dir && e->len ? ib_asprintf("%s%s%s", dir, *dir ? "/" : "", e->name) : NULL;
	size_t at;

	if (e->mask & IN_Q_OVERFLOW)
		say(o, ib_strdup("more files were opened at once than the kernel keeps in mind"));
	if (!path || (e->mask & (IN_ISDIR | IN_IGNORED)))
		return;
	if (2 * (o->n + 1) > o->room)
		grow(o);
	at = place_of(o, path);
	if (!o->names[at].path && o->n >= NAMES_MAX) {
		say(o, ib_asprintf("more than %u files were opened", NAMES_MAX));
		return;
	}
	if (!o->names[at].path) {
		o->names[at].path = ib_steal(&path);
		o->n++;
	}
	o->names[at].read |= (e->mask & IN_CLOSE_NOWRITE) != 0;
	o->names[at].written |= (e->mask & IN_CLOSE_WRITE) != 0;
}

void ib_opened_take(struct ib_opened *o)
{
	char events[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while (o->fd >= 0 && (n = read(o->fd, events, sizeof(events))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		for (const char *p = events; p < events + n;) {
			const struct inotify_event *e = (const void *)p;

			count(o, e);
			p += sizeof(*e) + e->len;
		}
	}
}

void ib_opened_end(struct ib_opened *o, struct ib_strv *ret)
{
	ib_opened_take(o);
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	for (size_t i = 0; i < o->room; i++)
		if (o->names[i].path)
			ib_strv_add(ret, o->names[i].path);
	ib_strv_sort(ret);
}

bool ib_opened_only_written(const struct ib_opened *o, const char *path)
{
	const struct ib_opened_name *name = o->room ? &o->names[place_of(o, path)] : NULL;

	return name && name->path && name->written && !name->read;
}

void ib_opened_clear(struct ib_opened *o)
{
	if (o->fd >= 0)
		close(o->fd);
	for (size_t i = 0; i < o->room; i++)
		free(o->names[i].path);
	free(o->names);
	free(o->why);
	ib_strv_clear(&o->dirs);
	*o = (struct ib_opened){.fd = -1};
}
