/* SPDX-License-Identifier: Apache-2.0 */
/* S17: what was made beside the runs (quality checks, recorded workloads, ceilings of clients) is what the ledger holds, file by file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static const struct kept {
	enum ib_entry_kind kind;
	const char *dir;
} kinds[] = {
	{IB_ENTRY_QUALITY, "quality/"},
	{IB_ENTRY_RECORDING, "workload/recorded/"},
	{IB_ENTRY_CEILING, "ceiling/"},
};

/* The entries of these kinds, sorted by their file. */
struct entries {
	const struct ib_entry **v;
	size_t n;
};

static const struct kept *kept_of(const struct ib_study_entry *e)
{
	for (size_t i = 0; !e->why && i < IB_LEN(kinds); i++)
		if (kinds[i].kind == e->e.kind)
			return &kinds[i];
	return NULL;
}

static int by_file(const void *a, const void *b)
{
	return strcmp((*(const struct ib_entry *const *)a)->file, (*(const struct ib_entry *const *)b)->file);
}

static bool known(const struct entries *l, const char *file)
{
	const struct ib_entry wanted = {.file = (char *)(uintptr_t)file}, *key = &wanted;

	return l->n && bsearch(&key, l->v, l->n, sizeof(l->v[0]), by_file) != NULL;
}

static void missing(const struct ib_check *self, const struct ib_study_view *v, const char *path, const char *sha256, const char *who, struct ib_findings *f)
{
	const char *declared = ib_study_withheld(v, path);

	if (!declared)
		ib_check_fail(self, f, IB_E_MISSING, path, "%s lists this file, but it is not there", who);
	else if (strcmp(declared, sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, path, "declared as withheld with another digest than %s holds", who), sha256, declared);
}

static void same(const struct ib_check *self, const struct ib_study_file *have, int64_t bytes, const char *sha256, const char *who, struct ib_findings *f)
{
	if (!*have->sha256)
		ib_check_skip(self, f, have->path, "could not be read");
	else if ((int64_t)have->bytes != bytes || strcmp(have->sha256, sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, have->path, "its bytes are not those that %s lists", who), sha256, have->sha256);
}

static void one_entry(const struct ib_check *self, const struct ib_study_view *v, const struct ib_entry *e, const struct kept *kept, struct ib_findings *f)
{
	const struct ib_study_file *have = ib_study_find_file(v, e->file);

	if (!ib_starts(e->file, kept->dir))
		ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "line %" PRId64 ": a file of this kind is kept outside %s", e->seq, kept->dir);
	else if (!have)
		missing(self, v, e->file, e->sha256, "the ledger", f);
	else
		same(self, have, e->bytes, e->sha256, "the ledger", f);
}

/* --- the files of one quality check: both lists are in byte order --- */

struct listed {
	const char *path, *sha256;
	int64_t bytes;
};

/* Where a comparison of both lists is. */
struct pair {
	const struct ib_study_view *v;
	const struct ib_study_doc *doc;
	const json_t *list;
	char *dir;
	size_t at, i; /* file of the study, member of the list */
	const char *last;
};

/* false: the list is not what it should be. */
static bool next_listed(const struct pair *p, struct listed *ret)
{
	const json_t *one = json_array_get(p->list, p->i);

	return ib_get_str(one, "files", "path", &ret->path, NULL) == 0 && ib_get_hex(one, "files", "sha256", &ret->sha256, NULL) == 0 &&
	       ib_get_int(one, "files", "bytes", 0, INT64_MAX, &ret->bytes, NULL) == 0 && strcmp(ret->path, p->last) > 0;
}

/* The next file below the directory but the result itself, or NULL. */
static const struct ib_study_file *next_file(struct pair *p)
{
	if (p->at < p->v->n_files && strcmp(p->v->files[p->at].path, p->doc->path) == 0)
		p->at++;
	return p->at < p->v->n_files && ib_starts(p->v->files[p->at].path, p->dir) ? &p->v->files[p->at] : NULL;
}

/* The first file whose path is not before prefix. */
static size_t first_below(const struct ib_study_view *v, const char *prefix)
{
	size_t lo = 0, hi = v->n_files;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(v->files[mid].path, prefix) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool compare(const struct ib_check *self, struct pair *p, struct ib_findings *f)
{
	const struct ib_study_file *have = next_file(p);
	struct listed want = {.path = "", .sha256 = ""};
	ib_auto_free char *path = NULL;
	int d;

	if (p->i < json_array_size(p->list) && !next_listed(p, &want)) {
		ib_check_fail(self, f, IB_E_BINDING, p->doc->path, "its list of files is not one of paths in byte order with sizes and digests");
		return false;
	}
	if (!have && !*want.path)
		return false;
	path = ib_asprintf("%s%s", p->dir, want.path);
	d = !have ? 1 : !*want.path ? -1 : strcmp(have->path, path);
	if (d < 0)
		ib_check_fail(self, f, IB_E_EXTRA, have->path, "not in the list of its quality check: it was added later");
	else if (d > 0)
		missing(self, p->v, path, want.sha256, "its quality check", f);
	else
		same(self, have, want.bytes, want.sha256, "its quality check", f);
	p->at += d <= 0;
	p->i += d >= 0;
	if (d >= 0)
		p->last = want.path;
	return true;
}

static void of_check(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_doc *doc, struct ib_findings *f)
{
	ib_auto_free char *dir = ib_strndup(doc->path, strlen(doc->path) - strlen("result.json"));
	struct pair p = {.v = v, .doc = doc, .list = json_object_get(doc->json, "files"), .dir = dir, .at = first_below(v, dir), .last = ""};

	while (compare(self, &p, f))
		;
}

static void documents(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_quality; i++) {
		const struct ib_study_doc *doc = &v->quality[i];
		struct ib_err err;

		if (!doc->json)
			ib_check_fail(self, f, doc->code, doc->path, "%s", doc->why ? doc->why : "could not be read");
		else if (ib_get_schema(doc->json, doc->path, "urn:ibtools:quality:v1", &err) < 0)
			ib_check_fail(self, f, err.code, doc->path, "%s", err.text);
		else
			of_check(self, v, doc, f);
	}
}

/* Is it a file of a quality check that the ledger knows? Those are compared with its list. */
static bool of_known_check(const struct entries *l, const char *path)
{
	const char *slash = ib_starts(path, "quality/") ? strchr(path + strlen("quality/"), '/') : NULL;
	ib_auto_free char *doc = slash ? ib_asprintf("%.*s/result.json", (int)(slash - path), path) : NULL;

	return doc && known(l, doc);
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	ib_auto_free const struct ib_entry **sorted = ib_realloc(NULL, v->n_entries + 1, sizeof(*sorted));
	struct entries l = {.v = sorted};
	size_t before = f->n;

	for (size_t i = 0; i < v->n_entries; i++) {
		const struct kept *kept = kept_of(&v->entries[i]);

		if (!kept)
			continue;
		one_entry(self, v, &v->entries[i].e, kept, f);
		sorted[l.n++] = &v->entries[i].e;
	}
	if (l.n)
		qsort(sorted, l.n, sizeof(*sorted), by_file);
	for (size_t k = 0; k < IB_LEN(kinds); k++)
		for (size_t i = first_below(v, kinds[k].dir); i < v->n_files && ib_starts(v->files[i].path, kinds[k].dir); i++)
			if (!known(&l, v->files[i].path) && !of_known_check(&l, v->files[i].path))
				ib_check_fail(self, f, IB_E_EXTRA, v->files[i].path, "no entry of the ledger knows this file");
	documents(self, v, f);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_kept = {
	.id = "S17", .level = IB_FINDING_E, .title = "quality checks, recordings and ceilings are what the ledger holds", .run = run};
