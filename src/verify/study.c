/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence sink of a study: the table of files, and the documents that are read from them. What the ledger means is in runs.c. */
#include "verify/study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/beside.h"
#include "verify/run_files.h"
#include "verify/runs.h"

#define HELD_MAX (256u << 20)
#define PROBLEMS_MAX 1000
#define CONTRACTS_MAX 1000
#define CAPTURES_MAX 10000

void ib_study_view_init(struct ib_study_view *v)
{
	*v = (struct ib_study_view){0};
}

void ib_study_problem(struct ib_study_view *v, const char *check, enum ib_code code, const char *path, const char *why)
{
	struct ib_study_problem *p;

	if (v->n_problems >= PROBLEMS_MAX)
		return;
	v->problems = ib_realloc(v->problems, v->n_problems + 1, sizeof(*v->problems));
	p = &v->problems[v->n_problems++];
	*p = (struct ib_study_problem){.check = check, .code = code, .path = ib_strdup(path), .why = ib_strdup(why)};
}

/* The name X of "<dir>X<suffix>" when X has no slash, allocated; else NULL. */
static char *stem(const char *path, const char *dir, const char *suffix)
{
	size_t d = strlen(dir), s = strlen(suffix), n = strlen(path);

	if (n <= d + s || !ib_starts(path, dir) || !ib_ends(path, suffix) || strchr(path + d, '/'))
		return NULL;
	return ib_strndup(path + d, n - d - s);
}

const char *ib_study_split(const char *path, char ret_id[IB_RUN_ID_MAX])
{
	const char *slash;
	size_t n;

	if (!ib_starts(path, "runs/"))
		return NULL;
	path += 5;
	slash = strchr(path, '/');
	n = slash ? (size_t)(slash - path) : 0;
	if (n == 0 || n >= IB_RUN_ID_MAX)
		return NULL;
	memcpy(ret_id, path, n);
	ret_id[n] = '\0';
	return slash + 1;
}

const struct ib_record_file *ib_study_listed(const struct ib_study_run *run, const char *rest)
{
	size_t lo = 0, hi = run->record.files_n;

	while (run->has_record && lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = strcmp(rest, run->record.files[mid].path);

		if (d == 0)
			return &run->record.files[mid];
		if (d < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static bool wants(void *arg, const char *path, uint64_t size)
{
	const struct ib_study_view *v = arg;

	if (strcmp(path, "ledger.jsonl") == 0 || strcmp(path, "withheld.json") == 0)
		return true;
	if (ib_ends(path, ".json") && (ib_starts(path, "contracts/") || ib_starts(path, "captures/")))
		return true;
	if (ib_beside_is(path))
		return true;
	return ib_run_file_wants(v, path, size);
}

/* Parses into doc, whose digest the caller has compared. */
static void parse(struct ib_study_view *v, struct ib_study_doc *doc, const char *data, uint64_t size)
{
	struct ib_err err = {0};

	v->held_bytes += size;
	if (v->held_bytes > HELD_MAX) {
		doc->why = ib_asprintf("the documents of this study are larger than the limit of %u bytes together", HELD_MAX);
		doc->code = IB_E_LIMIT;
	} else if (ib_json_load(data, size, doc->path, &doc->json, &err) < 0) {
		doc->why = ib_strdup(err.text);
		doc->code = err.code;
	}
}

static void name_doc(struct ib_study_doc *doc, const char *path, const char *sha256)
{
	doc->path = ib_strdup(path);
	memcpy(doc->sha256, sha256, strlen(sha256) + 1);
}

static void too_large(struct ib_study_doc *doc)
{
	doc->why = ib_strdup("larger than the limit of 16 MiB");
	doc->code = IB_E_LIMIT;
}

static void take_contract(struct ib_study_view *v, const char *path, const char *sha256, const char *data, uint64_t size)
{
	struct ib_study_doc *doc;

	if (v->n_contracts >= CONTRACTS_MAX) {
		ib_study_problem(v, "S09", IB_E_LIMIT, path, "a study holds at most 1000 contracts");
		return;
	}
	v->contracts = ib_realloc(v->contracts, v->n_contracts + 1, sizeof(*v->contracts));
	doc = &v->contracts[v->n_contracts++];
	*doc = (struct ib_study_doc){0};
	name_doc(doc, path, sha256);
	if (v->anchored || ib_study_registered(v, sha256)) {
		parse(v, doc, data, size);
		return;
	}
	doc->why = ib_strdup("no entry of the ledger registers these bytes");
	doc->code = IB_E_HASH;
}

static void take_beside(struct ib_study_view *v, const char *path, const char *sha256, const char *data, uint64_t size)
{
	struct ib_study_doc *doc = ib_beside_add(v, path, sha256);

	if (!doc)
		return;
	name_doc(doc, path, sha256);
	parse(v, doc, data, size);
}

static void keep_facts(struct ib_study_view *v, const char *sha256, const json_t *capture)
{
	struct ib_capture_facts *one;

	if (v->n_captures >= CAPTURES_MAX)
		return;
	v->captures = ib_realloc(v->captures, v->n_captures + 1, sizeof(*v->captures));
	one = &v->captures[v->n_captures++];
	*one = (struct ib_capture_facts){0};
	memcpy(one->sha256, sha256, IB_HEX_LEN);
	ib_facts_of_capture(capture, &one->facts);
}

const struct ib_facts *ib_study_capture(const struct ib_study_view *v, const char *sha256)
{
	for (size_t i = 0; *sha256 && i < v->n_captures; i++)
		if (strcmp(v->captures[i].sha256, sha256) == 0)
			return &v->captures[i].facts;
	return NULL;
}

static void take_capture(struct ib_study_view *v, const char *path, const char *sha256, const char *data, uint64_t size)
{
	char *name = stem(path, "captures/", ".json");
	struct ib_study_doc doc = {0};
	struct ib_err err;

	if (name && strcmp(name, sha256) == 0) {
		name_doc(&doc, path, sha256);
		parse(v, &doc, data, size);
		v->held_bytes -= size; /* not kept */
		if (!doc.json)
			ib_study_problem(v, "S10", doc.code, path, doc.why);
		else if (ib_get_schema(doc.json, path, "urn:ibtools:capture:v1", &err) < 0)
			ib_study_problem(v, "S10", err.code, path, err.text);
		else
			keep_facts(v, sha256, doc.json);
		ib_study_doc_clear(&doc);
	}
	free(name);
}

static void take_record(struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *sha256, const char *data, uint64_t size)
{
	struct ib_study_doc *doc = &run->doc;
	struct ib_err err;

	name_doc(doc, path, sha256);
	if (!*sha256)
		return;
	if (run->finish && strcmp(run->finish->e.record_sha256, sha256) != 0) {
		doc->why = ib_strdup("its digest is not the one that the ledger holds");
		doc->code = IB_E_HASH;
		return;
	}
	if (!data) {
		too_large(doc);
		return;
	}
	parse(v, doc, data, size);
	if (!doc->json)
		return;
	if (ib_record_from_json(doc->json, path, &run->record, &err) == 0) {
		run->has_record = true;
		json_decref(ib_steal(&doc->json));
		return;
	}
	run->record = (struct ib_record){0};
	doc->why = ib_strdup(err.text);
	doc->code = err.code;
}

static void take_of_run(struct ib_study_view *v, const char *path, const char *sha256, const char *data, uint64_t size)
{
	char id[IB_RUN_ID_MAX];
	const char *rest = ib_study_split(path, id);
	struct ib_study_run *run = rest ? ib_study_find_run(v, id) : NULL;

	if (!run)
		return;
	if (strcmp(rest, "record.json") != 0)
		ib_run_file_take(v, run, path, rest, sha256, data, size);
	else if (!run->doc.path)
		take_record(v, run, path, sha256, data, size);
}

static void add_file(struct ib_study_view *v, const char *path, uint64_t size, const char *sha256)
{
	struct ib_study_file *f;

	if ((v->n_files & (v->n_files - 1)) == 0) /* a power of two, or none: twice the room */
		v->files = ib_realloc(v->files, v->n_files ? v->n_files * 2 : 1, sizeof(*v->files));
	f = &v->files[v->n_files++];
	*f = (struct ib_study_file){.path = ib_strdup(path), .bytes = size};
	memcpy(f->sha256, sha256, strlen(sha256) + 1);
}

static void file(void *arg, const char *path, uint64_t size, const char *sha256, const char *data)
{
	struct ib_study_view *v = arg;

	add_file(v, path, size, sha256);
	if (strcmp(path, "ledger.jsonl") == 0) {
		ib_study_read_ledger(v, data, size);
	} else if (strcmp(path, "withheld.json") == 0) {
		name_doc(&v->withheld, path, sha256);
		if (data)
			parse(v, &v->withheld, data, size);
		else if (size > IB_JSON_MAX)
			too_large(&v->withheld);
	} else if (data && ib_starts(path, "contracts/")) {
		take_contract(v, path, sha256, data, size);
	} else if (data && ib_beside_is(path)) {
		take_beside(v, path, sha256, data, size);
	} else if (data && ib_starts(path, "captures/")) {
		take_capture(v, path, sha256, data, size);
	} else if (size > IB_JSON_MAX && ib_starts(path, "captures/") && ib_ends(path, ".json")) {
		ib_study_problem(v, "S10", IB_E_LIMIT, path, "larger than the limit of 16 MiB");
	} else if (ib_starts(path, "runs/")) {
		take_of_run(v, path, sha256, data, size);
	}
}

/* A run directory: seen; and where the ledger has no end for it, is somebody still at work in it? */
static void dir(void *arg, const char *path, int fd)
{
	struct ib_study_view *v = arg;
	struct ib_study_run *run;

	if (!ib_starts(path, "runs/") || strchr(path + 5, '/'))
		return;
	ib_strv_add(&v->dirs, path + 5);
	run = ib_study_find_run(v, path + 5);
	if (!run || run->ends)
		return;
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		flock(fd, LOCK_UN);
	else
		run->locked = errno == EWOULDBLOCK;
}

struct ib_evidence_sink ib_study_view_sink(struct ib_study_view *v)
{
	struct ib_evidence_sink sink = {.wants = wants, .file = file, .dir = dir, .arg = v};

	ib_study_stream_sink(&sink);
	return sink;
}

const struct ib_study_file *ib_study_find_file(const struct ib_study_view *v, const char *path)
{
	size_t lo = 0, hi = v->n_files;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = strcmp(path, v->files[mid].path);

		if (d == 0)
			return &v->files[mid];
		if (d < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

void ib_study_doc_clear(struct ib_study_doc *d)
{
	free(d->path);
	free(d->why);
	json_decref(d->json);
	*d = (struct ib_study_doc){0};
}

static void clear_docs(struct ib_study_doc *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ib_study_doc_clear(&list[i]);
	free(list);
}

void ib_study_view_clear(struct ib_study_view *v)
{
	for (size_t i = 0; i < v->n_files; i++)
		free(v->files[i].path);
	free(v->files);
	clear_docs(v->contracts, v->n_contracts);
	clear_docs(v->quality, v->n_quality);
	clear_docs(v->analyses, v->n_analyses);
	clear_docs(v->ceilings, v->n_ceilings);
	for (size_t i = 0; i < v->n_captures; i++)
		ib_facts_clear(&v->captures[i].facts);
	free(v->captures);
	ib_privacy_clear(&v->privacy);
	ib_study_doc_clear(&v->withheld);
	for (size_t i = 0; i < v->n_problems; i++) {
		free(v->problems[i].path);
		free(v->problems[i].why);
	}
	free(v->problems);
	ib_strv_clear(&v->dirs);
	ib_results_clear(&v->streamed);
	free(v->streamed_why);
	ib_study_runs_clear(v);
	*v = (struct ib_study_view){0};
}
