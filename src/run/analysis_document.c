/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.json: what an analysis was, what it read, what it wrote. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "json/json.h"
#include "model/record.h"
#include "redact/redact.h"
#include "run/analysis_inside.h"

#define LIST_MAX 20000u /* files in a list: what is more is counted */

/* A path as it may be written: as it is, unless the gate refuses it. */
static void set_path(const struct ib_analysis_work *w, json_t *o, const char *path)
{
	ib_auto_free char *clean = ib_gate(w->study.redactor, path, strlen(path), "a path", NULL) < 0 ? ib_redact_text(w->study.redactor, path) : NULL;

	ib_json_set_str(o, "path", clean ? clean : path);
}

static void set_file(const struct ib_analysis_work *w, json_t *o, const char *path, uint64_t bytes, const char *sha256)
{
	set_path(w, o, path);
	ib_json_set_int(o, "bytes", (int64_t)bytes);
	ib_json_set_str(o, "sha256", *sha256 ? sha256 : NULL);
}

/* Digest of a file of the study as it is now, or "". */
static void digest(const struct ib_analysis_work *w, const char *path, char ret[IB_HEX_LEN])
{
	ib_auto_fd int fd = openat(w->study.fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t bytes;

	if (fd < 0 || ib_sha256_fd(fd, path, ret, &bytes, NULL) < 0)
		ret[0] = '\0';
}

/* Did another ib-run work in the study meanwhile? */
static bool disturbed(const struct ib_analysis_work *w)
{
	const struct ib_snapshot_file *a = ib_snapshot_find(&w->before, "ledger.jsonl"), *b = ib_snapshot_find(&w->after, "ledger.jsonl");

	return a && b && a->bytes != b->bytes;
}

/* --- inputs --- */

static bool is_script(const struct ib_analysis_work *w, const char *path)
{
	for (size_t i = 0; i < w->n_scripts; i++)
		if (w->scripts[i].in_study && strcmp(w->scripts[i].path, path) == 0)
			return true;
	return false;
}

/* Has the analysis read what was there before? What it opened only to write it has not; a data base is opened for writing, and stays as it is. */
static bool is_input(const struct ib_analysis_work *w, const struct ib_snapshot_file *was, const struct ib_snapshot_file *is)
{
	if (!was || is_script(w, was->path))
		return false;
	return !ib_opened_only_written(&w->opened, was->path) || (is && ib_snapshot_same(was, is));
}

/* The digest is that of before. */
static json_t *input(const struct ib_analysis_work *w, const struct ib_snapshot_file *was, const struct ib_snapshot_file *is)
{
	char sha256[IB_HEX_LEN] = "";
	json_t *o = ib_json_object();

	if (was->sha256[0])
		memcpy(sha256, was->sha256, IB_HEX_LEN);
	else if (is && ib_snapshot_same(was, is))
		digest(w, was->path, sha256);
	set_file(w, o, was->path, was->bytes, sha256);
	return o;
}

static json_t *inputs(const struct ib_analysis_work *w)
{
	json_t *o = ib_json_object(), *list = ib_json_array();
	const char *why = w->opened.why;

	if (!w->ended)
		why = "the analysis has only begun";
	if (!why && w->before.partial)
		why = "the study has more files than are looked at, or some that cannot be";
	for (size_t i = 0; i < w->read.n; i++) {
		const struct ib_snapshot_file *was = ib_snapshot_find(&w->before, w->read.v[i]), *is = ib_snapshot_find(&w->after, w->read.v[i]);

		if (!is_input(w, was, is))
			continue;
		if (json_array_size(list) < LIST_MAX)
			ib_json_add(list, input(w, was, is));
		else if (!why)
			why = "more files were read than are listed";
	}
	ib_json_set_str(o, "status", w->ended && !w->opened.dirs.n ? "unsupported" : why ? "incomplete" : "ok");
	ib_json_set_str(o, "why", why);
	ib_json_set(o, "files", list);
	return o;
}

/* --- what it wrote --- */

/* Is it a log, which is not what the command wrote? */
static bool is_own(const struct ib_analysis_work *w, const char *path)
{
	size_t n = strlen(w->dir);

	return ib_starts(path, w->dir) && (strcmp(path + n, "/stdout.log") == 0 || strcmp(path + n, "/stderr.log") == 0);
}

/* What another analysis has begun meanwhile. */
static bool is_begun(const char *path)
{
	return ib_starts(path, "analysis/") && ib_ends(path, "/" IB_ANALYSIS_BEGUN);
}

static bool changed(const struct ib_snapshot_file *was, const struct ib_snapshot_file *is)
{
	if (!was || ib_snapshot_same(was, is))
		return !was;
	/* a change of the mode alone is none */
	return was->ino != is->ino || was->bytes != is->bytes || was->mtime.tv_sec != is->mtime.tv_sec || was->mtime.tv_nsec != is->mtime.tv_nsec ||
	       strcmp(was->sha256, is->sha256) != 0;
}

static json_t *outputs(const struct ib_analysis_work *w)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < w->after.n; i++) {
		const struct ib_snapshot_file *is = &w->after.files[i], *was = ib_snapshot_find(&w->before, is->path);
		json_t *one;

		if (!ib_analysis_may_write(is->path) || is_own(w, is->path) || is_begun(is->path) || !changed(was, is) || json_array_size(list) >= LIST_MAX)
			continue;
		one = ib_json_object();
		set_file(w, one, is->path, is->bytes, is->sha256);
		ib_json_set_str(one, "was_sha256", was && was->sha256[0] ? was->sha256 : NULL);
		ib_json_add(list, one);
	}
	return list;
}

static json_t *removed(const struct ib_analysis_work *w)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < w->before.n; i++) {
		const char *path = w->before.files[i].path;

		if (ib_analysis_may_write(path) && !is_begun(path) && !ib_snapshot_find(&w->after, path) && json_array_size(list) < LIST_MAX) {
			json_t *one = ib_json_object();

			set_path(w, one, path);
			ib_json_add(list, one);
		}
	}
	return list;
}

/* The run that a path is of had not ended before. */
static bool of_open_run(const struct ib_analysis_work *w, const char *path)
{
	const char *slash = ib_starts(path, "runs/") ? strchr(path + 5, '/') : NULL;
	ib_auto_free char *record = slash ? ib_asprintf("%.*s/record.json", (int)(slash - path), path) : NULL;

	return record && !ib_snapshot_find(&w->before, record);
}

/* What other ib-runs write. */
static bool of_others(const struct ib_analysis_work *w, const char *path)
{
	static const char *const dirs[] = {"ledger.jsonl", "ledger.torn/", "captures/", "contracts/", "quality/", "ceiling/", "workload/recorded/"};
	size_t i = 0;

	if (strcmp(path, "ledger.jsonl") != 0 && !disturbed(w))
		return false;
	while (i < IB_LEN(dirs) && !ib_starts(path, dirs[i]))
		i++;
	return i < IB_LEN(dirs) || of_open_run(w, path);
}

static void add_elsewhere(const struct ib_analysis_work *w, json_t *list, const char *path, const char *what)
{
	json_t *one;

	if (ib_analysis_may_write(path) || of_others(w, path) || json_array_size(list) >= LIST_MAX)
		return;
	one = ib_json_object();
	set_path(w, one, path);
	ib_json_set_str(one, "change", what);
	ib_json_add(list, one);
}

/* Changes of the study that no analysis should make. */
static json_t *elsewhere(const struct ib_analysis_work *w)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < w->after.n; i++) {
		const struct ib_snapshot_file *is = &w->after.files[i], *was = ib_snapshot_find(&w->before, is->path);

		if (changed(was, is))
			add_elsewhere(w, list, is->path, was ? "changed" : "created");
	}
	for (size_t i = 0; i < w->before.n; i++)
		if (!ib_snapshot_find(&w->after, w->before.files[i].path))
			add_elsewhere(w, list, w->before.files[i].path, "removed");
	return list;
}

static json_t *logs(const struct ib_analysis_work *w)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < w->after.n; i++) {
		const struct ib_snapshot_file *f = &w->after.files[i];

		if (is_own(w, f->path)) {
			json_t *one = ib_json_object();

			set_file(w, one, f->path, f->bytes, f->sha256);
			ib_json_add(list, one);
		}
	}
	return list;
}

/* --- the rest --- */

static json_t *scripts(const struct ib_analysis_work *w)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < w->n_scripts; i++) {
		json_t *one = ib_json_object();

		ib_json_set_int(one, "argument", (int64_t)w->scripts[i].argument);
		ib_json_set_bool(one, "in_study", w->scripts[i].in_study);
		set_file(w, one, w->scripts[i].path, w->scripts[i].bytes, w->scripts[i].sha256);
		ib_json_add(list, one);
	}
	return list;
}

static json_t *argv(const struct ib_analysis_work *w)
{
	ib_auto_strv struct ib_strv clean = {0};
	json_t *list = ib_json_array();

	ib_redact_argv(w->study.redactor, w->asked, &clean);
	for (size_t i = 0; i < clean.n; i++)
		ib_json_add_str(list, clean.v[i]);
	return list;
}

static void set_number(json_t *o, const char *key, int64_t v)
{
	ib_json_set_int(o, key, v);
	if (v == IB_NONE)
		ib_json_set(o, key, NULL);
}

static void set_time(json_t *o, const char *key, int64_t ns)
{
	char text[IB_TIME_LEN];

	ib_time_text(ns, 9, text);
	ib_json_set_str(o, key, text);
}

static json_t *times(const struct ib_child_result *res)
{
	json_t *o = ib_json_object();

	set_time(o, "started_at", res->started_ns);
	set_time(o, "finished_at", res->finished_ns);
	ib_json_set_int(o, "monotonic_ns", res->duration_ns);
	return o;
}

static json_t *exits(const struct ib_analysis_work *w)
{
	const struct ib_child_result *res = &w->res;
	json_t *o = ib_json_object();

	set_number(o, "status", w->ended ? res->exit_status : IB_NONE);
	set_number(o, "signal", w->ended ? res->signal : IB_NONE);
	set_number(o, "exec_errno", w->ended ? res->exec_errno : IB_NONE);
	ib_json_set_bool(o, "timed_out", res->timed_out);
	ib_json_set_bool(o, "interrupted", res->interrupted_by != 0);
	return o;
}

static json_t *notes(struct ib_analysis_work *w)
{
	json_t *list = ib_json_array();

	if (disturbed(w))
		ib_strv_add(&w->notes, "another ib-run worked in the study meanwhile: what it opened counts as read here");
	if (w->res.left_behind > 0)
		ib_strv_take(&w->notes, ib_asprintf("%lld processes outlived the command and were ended", (long long)w->res.left_behind));
	if (w->after.partial)
		ib_strv_add(&w->notes, "the study has more files than are looked at, or some that cannot be");
	for (size_t i = 0; i < w->notes.n; i++) {
		ib_auto_free char *clean = ib_redact_text(w->study.redactor, w->notes.v[i]);

		ib_json_add_str(list, clean);
	}
	return list;
}

static json_t *tool(void)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "name", "ib-run");
	ib_json_set_str(o, "version", PACKAGE_VERSION);
	ib_json_set_str(o, "commit", IB_COMMIT[0] ? IB_COMMIT : NULL);
	return o;
}

static json_t *cwd(const struct ib_analysis_work *w)
{
	ib_auto_free char *dir = getcwd(NULL, 0), *clean = dir ? ib_redact_text(w->study.redactor, dir) : NULL;

	return ib_json_str(clean);
}

static json_t *document(struct ib_analysis_work *w, const char *withheld)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "schema", IB_ANALYSIS_SCHEMA);
	ib_json_set_str(o, "id", w->id);
	ib_json_set_str(o, "study", w->study.name);
	ib_json_set_str(o, "status", w->ended ? "ended" : "begun");
	ib_json_set(o, "argv", withheld ? NULL : argv(w));
	ib_json_set(o, "cwd", withheld ? NULL : cwd(w));
	ib_json_set_str(o, "withheld", withheld);
	ib_json_set(o, "scripts", scripts(w));
	ib_json_set(o, "time", w->ended && w->res.exec_errno == IB_NONE ? times(&w->res) : NULL);
	ib_json_set(o, "exit", exits(w));
	ib_json_set(o, "inputs", inputs(w));
	ib_json_set(o, "outputs", outputs(w));
	ib_json_set(o, "removed", removed(w));
	ib_json_set(o, "elsewhere", elsewhere(w));
	ib_json_set(o, "logs", logs(w));
	ib_json_set(o, "notes", withheld ? ib_json_array() : notes(w));
	ib_json_set(o, "tool", tool());
	return o;
}

int ib_analysis_document(struct ib_analysis_work *w, struct ib_buf *ret, struct ib_err *err)
{
	ib_auto_json json_t *all = document(w, NULL);
	size_t n = json_array_size(json_object_get(all, "elsewhere"));
	struct ib_err refused;
	int r;

	if (n)
		ib_log(w->ctx, IB_LOG_WARNING, "the analysis changed %zu %s of the study outside analysis/ and report/: see '%s/analysis.json'", n,
		       n == 1 ? "file" : "files", w->dir);
	ib_json_write_pretty(all, ret);
	if (ib_gate(w->study.redactor, ib_buf_str(ret), ret->len, IB_ANALYSIS_ENDED, &refused) < 0) {
		ib_auto_json json_t *less = document(w, refused.text);

		ib_buf_reset(ret);
		ib_json_write_pretty(less, ret);
	}
	if ((r = ib_buf_check(ret, IB_ANALYSIS_ENDED, err)) < 0)
		return r;
	return ib_gate(w->study.redactor, ret->data, ret->len, IB_ANALYSIS_ENDED, err);
}
