/* SPDX-License-Identifier: Apache-2.0 */
/* A26: what changed around a run between the capture before and the one after it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/load.h"

#define OUTSIDE 0.10      /* of the processors, on average */
#define STOLEN 0.01
#define GPU_REASONS 0xe8 /* hardware slowdown, thermal (software, hardware), power brake: not idleness, not settings */

/* What may not change during a run, whatever moves from moment to moment. */
static const enum ib_fact_key fixed[] = {IB_FACT_BOOT, IB_FACT_NODE, IB_FACT_KERNEL, IB_FACT_GPU, IB_FACT_GPU_DRIVER, IB_FACT_CLOCKSOURCE};
/* Counters that should stand still. */
static const enum ib_fact_key still[] = {IB_FACT_CORE_THROTTLES, IB_FACT_PACKAGE_THROTTLES};

static double number(const struct ib_facts *f, enum ib_fact_key k)
{
	return f->v[k] ? strtod(f->v[k], NULL) : NAN;
}

static void differs(const struct ib_check *self, const struct ib_study_run *run, enum ib_fact_key k, const char *what, struct ib_findings *f)
{
	struct ib_finding *one = ib_check_fail(self, f, IB_OK, run->doc.path, "%s between the captures before and after the run: %s", what,
			ib_fact_key_name(k));

	ib_finding_values(one, run->before.v[k], run->after.v[k]);
}

static void one_run(const struct ib_check *self, const struct ib_study_run *run, struct ib_findings *f)
{
	double swapped = number(&run->before, IB_FACT_SWAP_FREE_BYTES) - number(&run->after, IB_FACT_SWAP_FREE_BYTES);

	for (size_t i = 0; i < IB_LEN(fixed); i++)
		if (run->before.v[fixed[i]] && run->after.v[fixed[i]] && strcmp(run->before.v[fixed[i]], run->after.v[fixed[i]]) != 0)
			differs(self, run, fixed[i], "changed", f);
	for (size_t i = 0; i < IB_LEN(still); i++)
		if (number(&run->after, still[i]) > number(&run->before, still[i]))
			differs(self, run, still[i], "the processor was throttled", f);
	if (swapped > 1e6)
		differs(self, run, IB_FACT_SWAP_FREE_BYTES, "memory was swapped out", f);
}

/* What was seen between the captures. */
static void sampled(const struct ib_check *self, const struct ib_study_run *run, struct ib_findings *f)
{
	struct ib_load_facts l;

	ib_load_facts(&run->record, &l);
	if (l.throttles)
		ib_check_fail(self, f, IB_OK, run->doc.path, "processors were throttled by their temperature while the command ran: %" PRId64 " times", l.throttles);
	if (l.outside_mean >= OUTSIDE * l.cpus)
		ib_check_fail(self, f, IB_OK, run->doc.path, "others used %.2g of %.0f processors on average while the command ran%s%s", l.outside_mean, l.cpus,
			      l.busiest ? ", at most: " : "", l.busiest ? l.busiest : "");
	if (l.steal_mean >= STOLEN * l.cpus)
		ib_check_fail(self, f, IB_OK, run->doc.path, "the hypervisor took %.2g of %.0f processors on average while the command ran", l.steal_mean, l.cpus);
	if (l.gpu_reasons & GPU_REASONS)
		ib_check_fail(self, f, IB_OK, run->doc.path, "a GPU lowered its clocks while the command ran: reasons 0x%" PRIx64, (uint64_t)l.gpu_reasons);
}

static bool bracketed(const struct ib_record *r)
{
	return ib_streq(r->capture_before, "ok") && ib_streq(r->capture_after, "ok");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, runs = 0, open = 0;

	if (!v->study) {
		ib_check_skip(self, f, NULL, "clocks, throttling and load before and after the runs are in no file");
		return;
	}
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_study_run *one = v->runs[i].run;

		if (!one->has_record || one->record.time.started_ns == IB_NONE)
			continue;
		runs++;
		open += !bracketed(&one->record);
		one_run(self, one, f);
		sampled(self, one, f);
	}
	if (!runs) {
		ib_check_skip(self, f, NULL, "no run was measured");
	} else if (open) {
		ib_auto_free char *why = ib_asprintf("%zu of %zu measured runs have no capture before or after them", open, runs);

		ib_check_skip(self, f, NULL, why);
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_bracketing = {
	.id = "A26",
	.level = IB_FINDING_I,
	.title = "nothing disturbed the machine around and during each run",
	.reads = "before.json and after.json of each run: boot, kernel, GPU and driver, clock source, throttle counters, free swap; and the load "
		 "sampled during the run: throttling, others' share of the processors (10 % on average), stolen time (1 %), reasons for lower GPU clocks",
	.means = "the machine was throttled, swapped or changed while it was measured",
	.todo = "look at the run beside the others (--show RUN) before trusting its tail; cool the machine, or repeat the run",
	.audit = run,
};
