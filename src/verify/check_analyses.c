/* SPDX-License-Identifier: Apache-2.0 */
/* S18: an analysis is the one that the ledger holds; the figures are those it wrote, and what it read is what the study holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* A file that an analysis wrote or removed, and the line of the ledger of that analysis. */
struct written {
	const char *path;
	int64_t seq;
};

struct analysis {
	const struct ib_entry *e;
	const struct ib_study_doc *doc;
};

struct work {
	const struct ib_check *self;
	const struct ib_study_view *v;
	struct ib_findings *f;
	struct analysis *v_analyses;
	size_t n;
	struct written *written; /* sorted */
	size_t n_written;
};

/* A member of a list in the document; sha256 NULL: it was not known. */
struct member {
	const char *path, *sha256;
	int64_t bytes;
};

static bool read_member(const json_t *one, struct member *ret)
{
	return ib_get_str(one, "files", "path", &ret->path, NULL) == 0 && ib_get_hex_opt(one, "files", "sha256", &ret->sha256, NULL) == 0 &&
	       ib_get_int(one, "files", "bytes", 0, INT64_MAX, &ret->bytes, NULL) == 0;
}

static int by_path_and_line(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	int d = strcmp(x->path, y->path);

	return d ? d : (x->seq > y->seq) - (x->seq < y->seq);
}

/* The line of the last analysis that wrote (or removed) the file, or 0. */
static int64_t last_writer(const struct work *w, const char *path)
{
	size_t lo = 0, hi = w->n_written;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(w->written[mid].path, path) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && strcmp(w->written[lo - 1].path, path) == 0 ? w->written[lo - 1].seq : 0;
}

static void add_written(struct work *w, const struct analysis *a, const char *key)
{
	const json_t *list = json_object_get(a->doc->json, key), *one;
	size_t n = json_array_size(list), i;

	w->written = ib_realloc(w->written, w->n_written + n + 1, sizeof(*w->written));
	json_array_foreach(list, i, one) {
		const char *path;

		if (ib_get_str(one, key, "path", &path, NULL) == 0)
			w->written[w->n_written++] = (struct written){path, a->e->seq};
	}
}

/* --- the document --- */

static const struct ib_study_doc *doc_of(const struct ib_study_view *v, const struct ib_entry *e)
{
	for (size_t i = 0; i < v->n_analyses; i++)
		if (strcmp(v->analyses[i].path, e->file) == 0 && strcmp(v->analyses[i].sha256, e->sha256) == 0)
			return &v->analyses[i];
	return NULL;
}

/* The document of an entry, when it can be relied on. */
static const struct ib_study_doc *document(const struct work *w, const struct ib_entry *e)
{
	const struct ib_study_file *have = ib_study_find_file(w->v, e->file);
	const char *declared = have ? NULL : ib_study_withheld(w->v, e->file);
	const struct ib_study_doc *doc = doc_of(w->v, e);
	struct ib_err err;

	bool abandoned = ib_ends(e->file, "/" IB_ANALYSIS_BEGUN);

	if (!ib_starts(e->file, "analysis/"))
		ib_check_fail(w->self, w->f, IB_E_LEDGER, "ledger.jsonl", "line %" PRId64 ": an analysis is kept outside analysis/", e->seq);
	else if (!have && declared && strcmp(declared, e->sha256) == 0)
		ib_check_skip(w->self, w->f, e->file, "withheld");
	else if (!have)
		ib_check_fail(w->self, w->f, IB_E_MISSING, e->file, "the ledger holds this analysis, but it is not there");
	else if (!*have->sha256)
		ib_check_skip(w->self, w->f, e->file, "could not be read");
	else if ((int64_t)have->bytes != e->bytes || strcmp(have->sha256, e->sha256) != 0)
		ib_finding_values(ib_check_fail(w->self, w->f, IB_E_HASH, e->file, "its bytes are not those that the ledger holds"), e->sha256, have->sha256);
	else if (abandoned)
		ib_check_open(w->self, w->f, e->file, "this analysis was abandoned: its ib-run did not end, and what it read and wrote is not known");
	else if (!doc)
		ib_check_skip(w->self, w->f, e->file, "not read: there are too many analyses");
	else if (!doc->json)
		ib_check_fail(w->self, w->f, doc->code, e->file, "%s", doc->why ? doc->why : "could not be read");
	else if (ib_get_schema(doc->json, e->file, IB_ANALYSIS_SCHEMA, &err) < 0)
		ib_check_fail(w->self, w->f, err.code, e->file, "%s", err.text);
	else
		return doc;
	return NULL;
}

/* --- what it lists --- */

/* Says so when a file of the study is not as it was: missing and other say what that means. */
static void compare(const struct work *w, const struct member *m, const char *missing, const char *other)
{
	const struct ib_study_file *have = ib_study_find_file(w->v, m->path);
	const char *declared = have ? NULL : ib_study_withheld(w->v, m->path), *found = have ? have->sha256 : declared;

	if (!m->sha256 || (have && !*have->sha256))
		return;
	if (!found)
		ib_check_fail_as(w->self, w->f, IB_FINDING_W, m->path, "%s", missing);
	else if (strcmp(found, m->sha256) != 0)
		ib_finding_values(ib_check_fail_as(w->self, w->f, IB_FINDING_W, m->path, "%s", other), m->sha256, found);
}

static void outputs(const struct work *w, const struct analysis *a)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(a->doc->json, "outputs"), i, one) {
		struct member m;

		if (!read_member(one, &m))
			ib_check_fail(w->self, w->f, IB_E_BINDING, a->doc->path, "an output in its list has no path, size and digest");
		else if (last_writer(w, m.path) == a->e->seq)
			compare(w, &m, "an analysis wrote this file, but it is not there", "is not what the analysis wrote: it was changed later");
	}
}

/* The ledger grows; what an analysis itself wrote over is compared as its output. */
static void inputs(const struct work *w, const struct analysis *a, const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		struct member m;

		if (json_is_false(json_object_get(one, "in_study")))
			continue;
		if (!read_member(one, &m))
			ib_check_fail(w->self, w->f, IB_E_BINDING, a->doc->path, "an input in its list has no path, size and digest");
		else if (strcmp(m.path, "ledger.jsonl") != 0 && last_writer(w, m.path) != a->e->seq)
			compare(w, &m, "an analysis read this file, but it is not there: its figures were made from more than the study holds",
				"an analysis read other bytes under this name: its figures were made from other data than the study holds");
	}
}

/* Its own logs are evidence as those of a run are. */
static void logs(const struct work *w, const struct analysis *a)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(a->doc->json, "logs"), i, one) {
		struct member m;
		const struct ib_study_file *have;

		if (!read_member(one, &m) || !m.sha256)
			continue;
		have = ib_study_find_file(w->v, m.path);
		if (!have && !ib_study_withheld(w->v, m.path))
			ib_check_fail(w->self, w->f, IB_E_MISSING, m.path, "the analysis lists this log, but it is not there");
		else if (have && *have->sha256 && strcmp(have->sha256, m.sha256) != 0)
			ib_finding_values(ib_check_fail(w->self, w->f, IB_E_HASH, m.path, "its bytes are not those that the analysis lists"), m.sha256, have->sha256);
	}
}

static void elsewhere(const struct work *w, const struct analysis *a)
{
	const json_t *list = json_object_get(a->doc->json, "elsewhere");
	size_t n = json_array_size(list);
	const char *path = json_string_value(json_object_get(json_array_get(list, 0), "path"));

	if (n)
		ib_check_fail_as(w->self, w->f, IB_FINDING_W, a->doc->path, "%zu %s of the study outside analysis/ and report/ changed while it ran, the first '%.200s'",
				 n, n == 1 ? "file" : "files", path ? path : "?");
}

static void one_analysis(const struct work *w, const struct analysis *a)
{
	const json_t *in = json_object_get(a->doc->json, "inputs");
	const char *status = json_string_value(json_object_get(in, "status")), *why = json_string_value(json_object_get(in, "why"));

	outputs(w, a);
	inputs(w, a, json_object_get(a->doc->json, "scripts"));
	inputs(w, a, json_object_get(in, "files"));
	logs(w, a);
	elsewhere(w, a);
	if (!status || strcmp(status, "ok") != 0)
		ib_check_open(w->self, w->f, a->doc->path, "all that it read is not known: %.200s", why ? why : "not recorded");
}

/* Does an entry hold the file of that name in the directory of n bytes? */
static bool known(const struct ib_study_view *v, const char *dir, size_t n, const char *name)
{
	for (size_t i = 0; i < v->n_entries; i++) {
		const struct ib_study_entry *e = &v->entries[i];

		if (!e->why && e->e.kind == IB_ENTRY_ANALYSIS && strncmp(e->e.file, dir, n) == 0 && strcmp(e->e.file + n, name) == 0)
			return true;
	}
	return false;
}

/* An analysis without an entry, by a document in its directory of n bytes. */
static void unknown_one(const struct work *w, const char *path, size_t n)
{
	ib_auto_free char *ended = ib_asprintf("%.*s/" IB_ANALYSIS_ENDED, (int)n, path);
	bool is_end = strcmp(path + n, "/" IB_ANALYSIS_ENDED) == 0;

	if (known(w->v, path, n, "/" IB_ANALYSIS_ENDED) || known(w->v, path, n, "/" IB_ANALYSIS_BEGUN))
		return;
	if (is_end)
		ib_check_fail_as(w->self, w->f, IB_FINDING_W, path, "no entry of the ledger knows this analysis");
	else if (!ib_study_find_file(w->v, ended))
		ib_check_open(w->self, w->f, path,
			      "this analysis has no entry in the ledger: it is at work, or its ib-run did not end, which the next ib-run or ib-pack records");
}

/* Everything else below analysis/ is the author's own. */
static void unknown_ones(const struct work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->v->n_files && n < 1000; i++) {
		const char *path = w->v->files[i].path, *slash = ib_starts(path, "analysis/") ? strchr(path + strlen("analysis/"), '/') : NULL;

		if (!slash || (strcmp(slash, "/" IB_ANALYSIS_ENDED) != 0 && strcmp(slash, "/" IB_ANALYSIS_BEGUN) != 0))
			continue;
		n++;
		unknown_one(w, path, (size_t)(slash - path));
	}
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	struct work w = {.self = self, .v = v, .f = f, .v_analyses = ib_realloc(NULL, v->n_entries + 1, sizeof(*w.v_analyses))};
	size_t before = f->n;

	for (size_t i = 0; i < v->n_entries; i++) {
		const struct ib_study_entry *e = &v->entries[i];
		const struct ib_study_doc *doc = !e->why && e->e.kind == IB_ENTRY_ANALYSIS ? document(&w, &e->e) : NULL;

		if (doc)
			w.v_analyses[w.n++] = (struct analysis){&e->e, doc};
	}
	for (size_t i = 0; i < w.n; i++) {
		add_written(&w, &w.v_analyses[i], "outputs");
		add_written(&w, &w.v_analyses[i], "removed");
	}
	if (w.n_written)
		qsort(w.written, w.n_written, sizeof(*w.written), by_path_and_line);
	for (size_t i = 0; i < w.n; i++)
		one_analysis(&w, &w.v_analyses[i]);
	unknown_ones(&w);
	free(w.v_analyses);
	free(w.written);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_analyses = {
	.id = "S18", .level = IB_FINDING_E, .title = "analyses are what the ledger holds, figures what they wrote", .run = run};
