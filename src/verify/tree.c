/* SPDX-License-Identifier: Apache-2.0 */
/* The sealed tree, and what is declared as not part of it. */
#include "verify/tree.h"

#include <string.h>

#include "base/str.h"
#include "store/bag.h"

static const char *declared(const struct ib_study_view *v, const char *path)
{
	const json_t *list = json_object_get(v->withheld.json, "withheld");
	size_t lo = 0, hi = json_array_size(list);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const json_t *one = json_array_get(list, mid);
		const char *name = json_string_value(json_object_get(one, "path"));
		int d = name ? strcmp(path, name) : 1;

		if (d == 0)
			return json_string_value(json_object_get(one, "sha256"));
		if (d < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

const char *ib_study_withheld(const struct ib_study_view *v, const char *path)
{
	return v->seal ? declared(v, path) : NULL; /* before the seal nothing vouches for the list */
}

bool ib_study_in_tree(const struct ib_study_view *v, const char *path)
{
	return ib_tree_covers(path) && !declared(v, path);
}

bool ib_study_tree(const struct ib_study_view *v, char ret_hex[IB_HEX_LEN])
{
	ib_auto_sha256 struct ib_sha256 *sum = ib_sha256_new();

	for (size_t i = 0; i < v->n_files; i++) {
		const struct ib_study_file *file = &v->files[i];

		if (!ib_study_in_tree(v, file->path))
			continue;
		if (!*file->sha256)
			return false;
		ib_sha256_add(sum, file->sha256, IB_HEX_LEN - 1);
		ib_sha256_add(sum, "  data/", 7);
		ib_sha256_add(sum, file->path, strlen(file->path));
		ib_sha256_add(sum, "\n", 1);
	}
	ib_sha256_hex(sum, ret_hex);
	return true;
}
