/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: list, tally, JSON. */
#include "model/finding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/str.h"

#define MAX_FINDINGS 10000

static struct ib_finding *append(struct ib_findings *f)
{
	f->v = ib_realloc(f->v, f->n + 1, sizeof(*f->v));
	f->v[f->n] = (struct ib_finding){0};
	return &f->v[f->n++];
}

/* The finding that stands for those of a sort that were dropped. */
static struct ib_finding *more(struct ib_findings *f, const char *id, enum ib_level_of level, bool other)
{
	struct ib_finding *one;

	if (f->marker[other]) {
		one = &f->v[f->marker[other] - 1];
		free(ib_steal(&one->file));
		free(ib_steal(&one->where));
		free(ib_steal(&one->expected));
		free(ib_steal(&one->found));
		return one;
	}
	one = append(f);
	f->marker[other] = f->n;
	one->id = ib_strdup(id);
	one->level = level;
	one->status = IB_FAIL;
	one->message = ib_asprintf("more than %d findings: the rest is not listed", MAX_FINDINGS);
	return one;
}

struct ib_finding *ib_findings_add(struct ib_findings *f, const char *id, enum ib_level_of level, enum ib_status status, const char *fmt, ...)
{
	bool other = level != IB_FINDING_E;
	struct ib_finding *one;
	va_list ap;

	if (f->kept[other] >= MAX_FINDINGS)
		return more(f, id, level, other);
	f->kept[other]++;
	one = append(f);
	one->id = ib_strdup(id);
	one->level = level;
	one->status = status;
	va_start(ap, fmt);
	if (vasprintf(&one->message, fmt, ap) < 0)
		abort();
	va_end(ap);
	return one;
}

void ib_findings_add_err(struct ib_findings *f, const struct ib_err *err)
{
	struct ib_finding *one = ib_findings_add(f, ib_code_name(err->code), IB_FINDING_E, IB_FAIL, "%s", err->text);

	one->code = err->code;
	if (err->where[0] && !one->file)
		one->file = ib_strdup(err->where);
}

size_t ib_findings_count(const struct ib_findings *f, enum ib_level_of level, enum ib_status status)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->v[i].level == level && f->v[i].status == status;
	return n;
}

static const char *const level_names[] = {[IB_FINDING_E] = "E", [IB_FINDING_W] = "W", [IB_FINDING_I] = "I"};
static const char *const status_names[] = {[IB_NOT_CHECKABLE] = "not_checkable", [IB_PASS] = "pass", [IB_FAIL] = "fail"};

json_t *ib_findings_json(const struct ib_findings *f)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < f->n; i++) {
		const struct ib_finding *one = &f->v[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "id", one->id);
		ib_json_set_str(o, "level", level_names[one->level]);
		ib_json_set_str(o, "status", status_names[one->status]);
		ib_json_set_str(o, "file", one->file);
		ib_json_set_str(o, "where", one->where);
		ib_json_set_str(o, "expected", one->expected);
		ib_json_set_str(o, "found", one->found);
		ib_json_set_str(o, "message", one->message);
		ib_json_set_str(o, "class", one->code ? ib_code_name(one->code) : NULL);
		ib_json_add(a, o);
	}
	return a;
}

json_t *ib_findings_tally(const struct ib_findings *f)
{
	json_t *o = ib_json_object();
	static const enum ib_status order[] = {IB_PASS, IB_FAIL, IB_NOT_CHECKABLE};

	for (size_t s = 0; s < IB_LEN(order); s++) {
		size_t n = 0;

		for (int l = IB_FINDING_E; l <= IB_FINDING_I; l++)
			n += ib_findings_count(f, (enum ib_level_of)l, order[s]);
		ib_json_set_int(o, status_names[order[s]], (int64_t)n);
	}
	return o;
}

void ib_findings_clear(struct ib_findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct ib_finding *one = &f->v[i];

		free(one->id);
		free(one->file);
		free(one->where);
		free(one->expected);
		free(one->found);
		free(one->message);
	}
	free(f->v);
	*f = (struct ib_findings){0};
}
