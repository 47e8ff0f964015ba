/* SPDX-License-Identifier: Apache-2.0 */
/* --rules FILE. */
#include "verify/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "verify/check.h"

#define RULES_MAX (64u << 10)

static const char *const levels[] = {[IB_FINDING_E] = "E", [IB_FINDING_W] = "W", [IB_FINDING_I] = "I"};

static bool of_audit(const struct ib_check *c)
{
	return c && c->audit;
}

static int unknown_check(const char *path, const char *id, struct ib_err *err)
{
	const char *names[100];
	const char *near;
	size_t n = 0;

	if (ib_check_find(id))
		return ib_fail(err, IB_E_USAGE, 0, "'%s': /levels/%s: levels of checks A01 to A37 can be changed, not what a study's structure shows", path, id);
	for (size_t i = 0; ib_audit_checks[i] && n + 1 < IB_LEN(names); i++)
		names[n++] = ib_audit_checks[i]->id;
	names[n] = NULL;
	near = ib_nearest(id, names);
	return ib_fail(err, IB_E_USAGE, 0, "'%s': /levels/%s: there is no such check%s%s%s", path, id, near ? "; did you mean '" : "", near ? near : "",
		       near ? "'?" : "");
}

static int one_level(const char *path, const char *id, const json_t *value, struct ib_rules *r, struct ib_err *err)
{
	const struct ib_check *check = ib_check_find(id);
	const char *word = json_string_value(value);

	if (!of_audit(check) || strcmp(check->id, id) != 0)
		return unknown_check(path, id, err);
	for (size_t l = 0; word && l < IB_LEN(levels); l++)
		if (strcmp(levels[l], word) == 0) {
			r->v[r->n++] = (struct ib_rule_level){check, (enum ib_level_of)l};
			return 0;
		}
	return ib_fail(err, IB_E_USAGE, 0, "'%s': /levels/%s: a level is \"E\", \"W\" or \"I\"", path, id);
}

static int fill(json_t *j, const char *path, struct ib_rules *r, struct ib_err *err)
{
	json_t *all = json_object_get(j, "levels");
	const char *key;
	json_t *value;
	int e = ib_get_schema(j, path, "urn:ibtools:rules:v1", err);

	json_object_foreach(j, key, value)
		if (e == 0 && strcmp(key, "schema") != 0 && strcmp(key, "levels") != 0 && strcmp(key, "why") != 0)
			e = ib_fail(err, IB_E_USAGE, 0, "'%s': unknown key '/%s': rules hold \"schema\", \"levels\" and, for people, \"why\"", path, key);
	if (e == 0 && !json_is_object(all))
		e = ib_fail(err, IB_E_USAGE, 0, "'%s': /levels: an object is needed, such as {\"A15\": \"W\"}", path);
	if (e < 0)
		return e;
	r->v = ib_alloc((json_object_size(all) + 1) * sizeof(*r->v));
	json_object_foreach(all, key, value)
		if (e == 0)
			e = one_level(path, key, value, r, err);
	return e;
}

int ib_rules_load(const char *path, struct ib_rules *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(RULES_MAX);
	ib_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ib_auto_json json_t *j = NULL;
	int r;

	*ret = (struct ib_rules){0};
	if (fd < 0)
		return ib_fail(err, IB_E_USAGE, errno, "cannot open the rules '%s'", path);
	r = ib_read_all(fd, path, &b, err);
	if (r == 0)
		r = ib_json_load(ib_buf_str(&b), b.len, path, &j, err);
	if (r == 0)
		r = fill(j, path, ret, err);
	if (r < 0) {
		ib_rules_clear(ret);
		err->code = IB_E_USAGE;
		return ib_wrap(err, "rules");
	}
	ret->file = ib_strdup(path);
	ib_sha256_of(ib_buf_str(&b), b.len, ret->sha256);
	return 0;
}

void ib_rules_clear(struct ib_rules *r)
{
	free(r->file);
	free(r->v);
	*r = (struct ib_rules){0};
}

size_t ib_rules_apply(const struct ib_rules *r, struct ib_findings *f)
{
	size_t changed = 0;

	for (size_t i = 0; r && i < r->n; i++) {
		changed += r->v[i].level != r->v[i].check->level;
		for (size_t k = 0; k < f->n; k++)
			if (f->v[k].status != IB_NOT_CHECKABLE && strcmp(f->v[k].id, r->v[i].check->id) == 0)
				f->v[k].level = r->v[i].level;
	}
	return changed;
}

json_t *ib_rules_json(const struct ib_rules *r)
{
	json_t *o, *all;

	if (!r || !r->file)
		return NULL;
	o = ib_json_object();
	all = ib_json_object();
	ib_json_set_str(o, "file", r->file);
	ib_json_set_str(o, "sha256", r->sha256);
	for (size_t i = 0; i < r->n; i++)
		ib_json_set_str(all, r->v[i].check->id, levels[r->v[i].level]);
	ib_json_set(o, "levels", all);
	return o;
}
