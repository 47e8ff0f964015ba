/* SPDX-License-Identifier: Apache-2.0 */
/* A30: the evidence gives no secret and no person away; what may be done with it, and what is not shipped, is said. */
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static const struct ib_privacy *privacy_of(const struct ib_audit_view *v)
{
	return v->study ? &v->study->privacy : &v->privacy;
}

static void one_hit(const struct ib_check *self, const struct ib_private_hit *h, struct ib_findings *f)
{
	enum ib_level_of level = h->sort == IB_PRIVATE_SECRET ? IB_FINDING_W : IB_FINDING_I;
	struct ib_finding *one;

	if (h->sort == IB_PRIVATE_SECRET)
		one = ib_check_fail_as(self, f, level, h->file, "holds what looks like a secret (%s)%s: its value is not shown here", h->rule, h->n > 1
				? ", and more" : "");
	else
		one = ib_check_fail_as(self, f, level, h->file, "names %s: %zu", ib_private_name(h->sort), h->n);
	if (!one->where)
		one->where = ib_asprintf("line %llu", (unsigned long long)h->line);
}

/* A word about what may be done with it. */
static bool licensed(const struct ib_audit_view *v)
{
	const json_t *list = v->study ? json_object_get(v->study->contract, "workloads") : NULL;
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one)
		if (json_is_string(json_object_get(one, "licence")))
			return true;
	for (i = 0; i < v->n_files; i++) {
		const char *slash = strrchr(v->files[i].path, '/'), *name = slash ? slash + 1 : v->files[i].path;

		if (strncasecmp(name, "licen", 5) == 0 || strncasecmp(name, "copying", 7) == 0)
			return true;
	}
	return false;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	const struct ib_privacy *p = privacy_of(v);
	size_t before = f->n;

	for (size_t i = 0; i < p->n; i++)
		one_hit(self, &p->v[i], f);
	if (p->more)
		ib_check_fail(self, f, IB_OK, NULL, "more files than are listed give something away");
	ib_check_hints(self, v, f);
	if (p->too_large) {
		ib_auto_free char *why = ib_asprintf("%zu files are larger than 16 MiB and were not looked through", p->too_large);

		ib_check_skip(self, f, NULL, why);
	} else if (!p->scanned && f->n == before) {
		ib_check_skip(self, f, NULL, "no file was looked through");
	}
	if (!licensed(v) && !v->single)
		ib_check_skip(self, f, NULL, "what may be done with workloads and results is in no file: there is no licence");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_privacy = {
	.id = "A30",
	.level = IB_FINDING_W,
	.title = "the evidence gives away no secret, user or machine",
	.reads = "results and the texts beside them, up to 16 MiB each: secrets by the rules of ib-pack (a warning); home directories of users and "
		 "addresses of machines (a note); a "
		 "licence. What was found is never shown, only where",
	.means = "whoever gets the evidence gets a key, or learns who and where",
	.todo = "revoke the key; take it out, or pack a numeric copy; ask for a licence before publishing",
	.audit = run,
};
