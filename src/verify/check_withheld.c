/* SPDX-License-Identifier: Apache-2.0 */
/* S13: what the study does not ship is declared, with digest, size and reason. */
#include <string.h>

#include "store/bag.h"
#include "verify/check.h"

static void still_there(const struct ib_check *self, const struct ib_study_view *v, const char *path, int64_t bytes, const char *sha256, struct ib_findings *f)
{
	const struct ib_study_file *have = ib_study_find_file(v, path);

	if (!have || !*have->sha256)
		return;
	if ((int64_t)have->bytes != bytes || strcmp(have->sha256, sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, path, "declared as withheld, yet there, with other bytes"), sha256, have->sha256);
	else if (v->anchored)
		ib_check_fail(self, f, IB_E_BINDING, path, "declared as withheld, yet there");
}

static void one_item(const struct ib_check *self, const struct ib_study_view *v, const json_t *one, const char **last, struct ib_findings *f)
{
	const char *where = v->withheld.path, *path, *reason, *sha256;
	struct ib_err err;
	int64_t bytes;

	if (ib_get_str(one, where, "path", &path, &err) < 0 || ib_get_str(one, where, "reason", &reason, &err) < 0 ||
	    ib_get_hex(one, where, "sha256", &sha256, &err) < 0 || ib_get_int(one, where, "bytes", 0, INT64_MAX, &bytes, &err) < 0) {
		ib_check_fail(self, f, err.code, where, "%s", err.text);
		return;
	}
	if (*last && strcmp(*last, path) >= 0)
		ib_check_fail(self, f, IB_E_BINDING, where, "'%s' is not in byte order: it follows '%s'", path, *last);
	*last = path;
	if (ib_tree_needed(path))
		ib_check_fail(self, f, IB_E_BINDING, where, "'%s' cannot be withheld: the verdict rests on it", path);
	still_there(self, v, path, bytes, sha256, f);
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;
	const char *last = NULL;
	const json_t *list;
	struct ib_err err;

	if (!v->withheld.path) {
		ib_check_skip(self, f, NULL, "nothing is declared as withheld");
		return;
	}
	if (!v->withheld.json) {
		const char *why = v->withheld.why ? v->withheld.why : "cannot be read";

		ib_check_fail(self, f, v->withheld.why ? v->withheld.code : IB_E_IO, v->withheld.path, "%s", why);
		return;
	}
	if (ib_get_schema(v->withheld.json, v->withheld.path, "urn:ibtools:withheld:v1", &err) < 0 ||
	    ib_get_arr(v->withheld.json, v->withheld.path, "withheld", &list, &err) < 0) {
		ib_check_fail(self, f, err.code, v->withheld.path, "%s", err.text);
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++)
		one_item(self, v, json_array_get(list, i), &last, f);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_withheld = {.id = "S13", .level = IB_FINDING_E, .title = "what is withheld is declared with digest and reason", .run = run};
