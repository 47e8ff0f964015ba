/* SPDX-License-Identifier: Apache-2.0 */
/* A25: on which hardware, and that the runs of a group were on the same. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static const enum ib_fact_key needed[] = {IB_FACT_CPU, IB_FACT_CORES, IB_FACT_NUMA, IB_FACT_MEMORY_BYTES, IB_FACT_KERNEL, IB_FACT_GPU};
static const enum ib_fact_key compared[] = {IB_FACT_CPU, IB_FACT_CORES, IB_FACT_MEMORY_BYTES, IB_FACT_GPU, IB_FACT_GPU_UUIDS, IB_FACT_GPU_DRIVER,
		IB_FACT_NODE};

static bool measured(const struct ib_study_run *run)
{
	return run->has_record && run->record.state != IB_STATE_REFUSED;
}

static const struct ib_facts *node_of(const struct ib_study_view *s, const struct ib_study_run *run)
{
	return measured(run) ? ib_study_capture(s, run->record.capture_node) : NULL;
}

/* What of the machine the captures do not say; NULL: nothing. Allocated. */
static char *lacking(const struct ib_facts *node)
{
	struct ib_buf b = IB_BUF(400);

	for (size_t i = 0; i < IB_LEN(needed); i++)
		if (!node->v[needed[i]])
			ib_buf_addf(&b, "%s%s", b.len ? ", " : "", ib_fact_key_name(needed[i]));
	if (node->v[IB_FACT_GPU] && strcmp(node->v[IB_FACT_GPU], "none") != 0 && !node->v[IB_FACT_GPU_DRIVER])
		ib_buf_addf(&b, "%sgpu_driver", b.len ? ", " : "");
	return b.len ? ib_buf_steal(&b) : NULL;
}

static bool varies(const json_t *group, const char *what)
{
	const json_t *list = json_object_get(group, "varies");
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one)
		if (ib_streq(json_string_value(one), what) || ib_streq(json_string_value(one), "hardware") || ib_streq(json_string_value(one), "machine"))
			return true;
	return false;
}

/* A run against the first one of its group. */
static void one_pair(const struct ib_check *self, const struct ib_audit_run *a, const struct ib_facts *fa, const struct ib_audit_run *b,
		const struct ib_facts *fb,
		     struct ib_findings *f)
{
	for (size_t i = 0; i < IB_LEN(compared); i++) {
		const char *x = fa->v[compared[i]], *y = fb->v[compared[i]];

		if (!x || !y || strcmp(x, y) == 0 || varies(b->group, ib_fact_key_name(compared[i])))
			continue;
		ib_finding_values(ib_check_fail(self, f, IB_OK, b->run->doc.path, "was on other hardware than run '%s' of its group: %s", a->name,
						ib_fact_key_name(compared[i])),
				  x, y);
		return;
	}
}

static bool same_group(const struct ib_audit_run *a, const struct ib_audit_run *b)
{
	return a->run->start && b->run->start && ib_streq(a->run->start->e.group, b->run->start->e.group);
}

struct tally {
	size_t runs, captured;
	const struct ib_facts *first;
};

static void of_study(const struct ib_check *self, const struct ib_audit_view *v, struct tally *t, struct ib_findings *f)
{
	const struct ib_audit_run *lead = NULL;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];
		const struct ib_facts *node = node_of(v->study, run->run);

		t->runs += measured(run->run);
		t->captured += node != NULL;
		if (!node)
			continue;
		if (!t->first)
			t->first = node;
		if (lead && same_group(lead, run))
			one_pair(self, lead, node_of(v->study, lead->run), run, node, f);
		else
			lead = run;
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_free char *missing = NULL, *why = NULL;
	size_t before = f->n;
	struct tally t = {0};

	ib_check_hints(self, v, f);
	if (!v->study) {
		ib_check_skip(self, f, NULL, "on which CPU, GPU, driver and kernel it was measured is in no file: a capture (ib-capture) of the server's "
				"machine would say");
		return;
	}
	of_study(self, v, &t, f);
	missing = t.first ? lacking(t.first) : NULL;
	if (!t.captured)
		why = ib_strdup("no run refers to a capture of its machine");
	else if (t.captured < t.runs)
		why = ib_asprintf("%zu of %zu measured runs refer to no capture of their machine", t.runs - t.captured, t.runs);
	else if (missing)
		why = ib_asprintf("the capture does not say: %s", missing);
	if (why)
		ib_check_skip(self, f, NULL, why);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_hardware = {
	.id = "A25",
	.level = IB_FINDING_W,
	.title = "the hardware is captured, and the same within each group",
	.reads = "the captures that the records refer to: CPU, cores, NUMA nodes, memory, kernel, GPU with driver; a GPU that was looked for and is not "
		 "there counts as said",
	.means = "runs of one group were on different machines or GPUs, and the group does not say that this varies",
	.todo = "compare only runs of one machine, or make the machine what varies; without captures ask for CPU, GPU, driver, kernel and topology of the "
		 "server's machine",
	.audit = run,
};
