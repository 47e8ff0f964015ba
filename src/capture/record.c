/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded roots: a copy of exactly the files that were read, redacted, and the answers that have no path. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "capture/capture.h"
#include "capture/inside.h"
#include "json/json.h"
#include "redact/redact.h"

#define REPLAY_FILE "ib-replay.json"

struct ib_recorder {
	struct ib_ctx *ctx;
	int dir;
	json_t *facts, *answers;
	struct ib_err err; /* the first failure, given by ib_recorder_finish() */
};

/* Files that name the machine: what follows from them is in the replay file as labels. */
static bool never_copied(const char *path)
{
	return strcmp(path, "/etc/machine-id") == 0 || strcmp(path, "/proc/sys/kernel/random/boot_id") == 0;
}

static char *clean_text(struct ib_recorder *r, const char *path, const char *data, size_t n)
{
	if (!ib_utf8_valid(data, n) || strlen(data) != n)
		return NULL;
	if (strcmp(path, "/proc/cmdline") == 0)
		return ib_cmdline_redact(r->ctx, data);
	return ib_redact_text(r->ctx->redact, data);
}

static int copy(struct ib_recorder *r, const char *path, const char *data, size_t n, struct ib_err *err)
{
	const char *relative = path + strspn(path, "/");
	ib_auto_free char *clean = clean_text(r, path, data, n), *parent = ib_strdup(relative);
	char *slash = strrchr(parent, '/');
	int e = 0;

	if (!clean) /* no text: nothing of ours reads such a file */
		return 0;
	if (slash) {
		*slash = '\0';
		e = ib_make_dirs(r->dir, parent, 0777, err);
	}
	if (e == 0)
		e = ib_gate(r->ctx->redact, clean, strlen(clean), path, err);
	/* read a second time, the same file may say something else: the first reading stays */
	if (e == 0)
		e = ib_write_file(r->dir, relative, clean, strlen(clean), 0644, false, err);
	return e == IB_E_EXISTS ? 0 : e;
}

static void watch(void *arg, const char *path, struct ib_fact fact, const char *data, size_t n)
{
	struct ib_recorder *r = arg;

	if (r->err.code || never_copied(path) || fact.status == IB_FACT_ABSENT)
		return;
	if (fact.status != IB_FACT_OK) {
		json_t *o = ib_json_object();

		ib_json_set_str(o, "status", ib_fact_name(fact.status));
		ib_json_set_int(o, "errno", fact.sys);
		ib_json_set(r->facts, path, o);
	} else if (data) {
		(void)!copy(r, path, data, n, &r->err); /* kept in r->err */
	} else {
		(void)!ib_make_dirs(r->dir, path + strspn(path, "/"), 0777, &r->err);
	}
}

int ib_recorder_start(struct ib_ctx *ctx, const char *dir, struct ib_recorder **ret, struct ib_err *err)
{
	ib_auto_fd int fd = -1;
	ib_auto_dir DIR *list = NULL;
	struct ib_recorder *r;
	int e = ib_make_dirs(AT_FDCWD, dir, 0777, err);

	if (e == 0)
		e = ib_open_dir(AT_FDCWD, dir, &fd, err);
	if (e < 0)
		return e;
	list = ib_list_dir(fd, ".");
	if (!list)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", dir);
	for (struct dirent *d = readdir(list); d; d = readdir(list))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			return ib_fail(err, IB_E_EXISTS, 0, "'%s' is not empty; give a new directory to record into", dir);
	r = ib_alloc(sizeof(*r));
	r->ctx = ctx;
	r->dir = ib_steal_fd(&fd);
	r->facts = ib_json_object();
	r->answers = ib_json_object();
	ib_root_watch(ctx->root, watch, r);
	*ret = r;
	return 0;
}

json_t *ib_recorder_answers(struct ib_recorder *r)
{
	return r->answers;
}

int ib_recorder_finish(struct ib_recorder *r, const struct ib_capture *c, struct ib_err *err)
{
	ib_auto_json json_t *doc = ib_json_object();
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	json_t *identity = ib_json_object();
	int e;

	ib_root_watch(r->ctx->root, NULL, NULL);
	if (r->err.code) {
		*err = r->err;
		return ib_wrap(err, "recording");
	}
	ib_json_set_str(doc, "schema", IB_REPLAY_SCHEMA);
	ib_json_set(identity, "node", json_incref(json_object_get(c->doc, "node")));
	ib_json_set(identity, "boot", json_incref(json_object_get(c->doc, "boot")));
	ib_json_set(doc, "identity", identity);
	ib_json_set(doc, "facts", json_incref(r->facts));
	ib_json_set(doc, "answers", json_incref(r->answers));
	ib_json_write_pretty(doc, &text);
	e = ib_buf_check(&text, REPLAY_FILE, err);
	if (e == 0)
		e = ib_gate(r->ctx->redact, text.data, text.len, REPLAY_FILE, err);
	return e < 0 ? e : ib_write_file(r->dir, REPLAY_FILE, text.data, text.len, 0644, false, err);
}

void ib_recorder_free(struct ib_recorder **r)
{
	if (!*r)
		return;
	close((*r)->dir);
	json_decref((*r)->facts);
	json_decref((*r)->answers);
	free(*r);
	*r = NULL;
}

static int load_file(struct ib_ctx *ctx, json_t **ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	ib_auto_json json_t *doc = NULL;
	struct ib_fact fact = ib_root_read(ctx->root, "/" REPLAY_FILE, &text);
	int r;

	if (fact.status == IB_FACT_ABSENT)
		return ib_node_load(ctx, ret, err);
	if (fact.status != IB_FACT_OK)
		return ib_fail(err, IB_E_IO, fact.sys, "cannot read '" REPLAY_FILE "' of the recorded root");
	r = ib_json_load(text.data, text.len, REPLAY_FILE, &doc, err);
	if (r == 0)
		r = ib_get_schema(doc, REPLAY_FILE, IB_REPLAY_SCHEMA, err);
	if (r == 0)
		*ret = ib_steal(&doc);
	return r;
}

int ib_replay_load(struct ib_ctx *ctx, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *doc = NULL;
	const char *path;
	json_t *o;
	int r = load_file(ctx, &doc, err);

	*ret = NULL;
	if (r < 0)
		return r;
	json_object_foreach(json_object_get(doc, "facts"), path, o) {
		const char *status;
		int64_t sys;

		r = ib_get_str(o, path, "status", &status, err);
		if (r == 0)
			r = ib_get_int(o, path, "errno", 0, 4095, &sys, err);
		if (r < 0)
			return ib_wrap(err, "'" REPLAY_FILE "'");
		ib_root_set_fact(ctx->root, path, (struct ib_fact){ib_fact_parse(status), (int)sys});
	}
	*ret = ib_steal(&doc);
	return 0;
}
