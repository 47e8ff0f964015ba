/* SPDX-License-Identifier: Apache-2.0 */
/* A29: every file keeps its name wherever the evidence is unpacked. */
#include <string.h>

#include "base/str.h"
#include "store/names.h"
#include "verify/check.h"

#define SHOWN 20

struct names {
	struct ib_names *set;
	size_t bad;
};

static void one_name(const struct ib_check *self, struct names *n, const char *path, struct ib_findings *f)
{
	struct ib_err err;
	int r = ib_name_check(path, strlen(path), &err);

	if (r == 0)
		r = ib_names_add(n->set, path, &err);
	if (r == 0 || err.code == IB_E_LIMIT)
		return;
	if (n->bad++ < SHOWN)
		ib_check_fail_as(self, f, IB_FINDING_W, path, "%s",
				 err.code == IB_E_DUP ? "its name is the same as another's where case or Unicode form do not count: one of them is lost "
						"when unpacked there"
						      : "its name cannot be kept everywhere: a packet could not hold it");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	struct names n = {.set = ib_names_new()};
	size_t before = f->n;

	for (size_t i = 0; v->study && i < v->study->n_files; i++)
		one_name(self, &n, v->study->files[i].path, f);
	for (size_t i = 0; !v->study && i < v->n_files; i++)
		one_name(self, &n, v->files[i].path, f);
	if (n.bad > SHOWN)
		ib_check_fail_as(self, f, IB_FINDING_W, NULL, "%zu more names cannot be kept everywhere", n.bad - SHOWN);
	ib_names_free(&n.set);
	if (v->single)
		ib_check_skip(self, f, NULL, "one file by itself: nothing is packed");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_portable = {
	.id = "A29",
	.level = IB_FINDING_E,
	.title = "every file keeps its name wherever it is unpacked",
	.reads = "the names of all files, by the rules of ib-packet(5): length, characters, no two alike where case or Unicode form do not count. A "
		 "packet's reader refuses what "
		 "fails here; in a study or folder it is a warning",
	.means = "unpacked on another system, files are lost, overwritten or named otherwise",
	.todo = "rename the files before they are packed",
	.audit = run,
};
