/* SPDX-License-Identifier: Apache-2.0 */
/* Documents beside the runs that the ledger holds. */
#include "verify/beside.h"

#include <string.h>

#include "base/str.h"

#define DOCUMENTS_MAX 1000 /* of a kind */

/* "<dir>X<name>", with no slash in X. */
static bool is_document(const char *path, const char *dir, const char *name)
{
	const char *slash = ib_starts(path, dir) ? strchr(path + strlen(dir), '/') : NULL;

	return slash && strcmp(slash, name) == 0;
}

static bool is_quality(const char *path)
{
	return is_document(path, "quality/", "/result.json");
}

static bool is_analysis(const char *path)
{
	return is_document(path, "analysis/", "/analysis.json");
}

static bool is_ceiling(const char *path)
{
	return ib_starts(path, "ceiling/") && ib_ends(path, ".json") && !strchr(path + strlen("ceiling/"), '/');
}

bool ib_beside_is(const char *path)
{
	return is_quality(path) || is_analysis(path) || is_ceiling(path);
}

static bool recorded(const struct ib_study_view *v, enum ib_entry_kind kind, const char *path, const char *sha256)
{
	for (size_t i = 0; i < v->n_entries; i++) {
		const struct ib_study_entry *e = &v->entries[i];

		if (!e->why && e->e.kind == kind && strcmp(e->e.file, path) == 0)
			return strcmp(e->e.sha256, sha256) == 0;
	}
	return false;
}

static struct ib_study_doc *add(struct ib_study_doc **list, size_t *n)
{
	if (*n >= DOCUMENTS_MAX)
		return NULL;
	*list = ib_realloc(*list, *n + 1, sizeof(**list));
	(*list)[*n] = (struct ib_study_doc){0};
	return &(*list)[(*n)++];
}

struct ib_study_doc *ib_beside_add(struct ib_study_view *v, const char *path, const char *sha256)
{
	/* in a packet analyses and ceilings come before the ledger, and the manifest vouches for them */
	if (is_analysis(path) && (v->anchored || recorded(v, IB_ENTRY_ANALYSIS, path, sha256)))
		return add(&v->analyses, &v->n_analyses);
	if (is_ceiling(path) && (v->anchored || recorded(v, IB_ENTRY_CEILING, path, sha256)))
		return add(&v->ceilings, &v->n_ceilings);
	if (is_quality(path) && recorded(v, IB_ENTRY_QUALITY, path, sha256))
		return add(&v->quality, &v->n_quality);
	return NULL;
}
