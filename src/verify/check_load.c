/* SPDX-License-Identifier: Apache-2.0 */
/* S19: what a record says of the load is what its samples say. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

#define WITHIN 1e-4 /* samples are written with six digits */

static double number(const json_t *o, const char *key, const char *inner)
{
	const json_t *v = json_object_get(o, key);

	if (inner)
		v = json_object_get(v, inner);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static double joules(const json_t *load, const char *word)
{
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(load, "energy"), i, one) {
		const char *source = json_string_value(json_object_get(one, "source"));

		if (source && strstr(source, word))
			return number(one, "joules", NULL);
	}
	return NAN;
}

static void values(struct ib_finding *one, double expected, double found)
{
	char want[40], got[40];

	snprintf(want, sizeof(want), "%.6g", expected);
	snprintf(got, sizeof(got), "%.6g", found);
	ib_finding_values(one, isnan(expected) ? "none" : want, isnan(found) ? "none" : got);
}

static void compare(const struct ib_check *self, const struct ib_study_run *run, const char *what, double samples, double record, struct ib_findings *f)
{
	if ((isnan(samples) && isnan(record)) || fabs(samples - record) <= WITHIN * fmax(fabs(samples), 1e-3))
		return;
	values(ib_check_fail(self, f, IB_E_BINDING, run->doc.path, "its %s is not that of its samples", what), samples, record);
}

static void one_run(const struct ib_check *self, const struct ib_study_run *run, struct ib_findings *f)
{
	const json_t *load = run->record.section[IB_SECTION_LOAD], *sampler = run->record.section[IB_SECTION_SAMPLER];
	const struct ib_samples *s = &run->samples;
	double gpu = joules(load, "NVML");

	compare(self, run, "number of samples", (double)s->lines, number(sampler, "samples", NULL), f);
	compare(self, run, "client's mean share of the processors", s->client_mean, number(load, "client_cores", "mean"), f);
	compare(self, run, "client's largest share of the processors", s->client_max, number(load, "client_cores", "max"), f);
	compare(self, run, "others' share of the processors", s->outside_mean, number(load, "outside_cores", "mean"), f);
	compare(self, run, "largest number of running requests", s->running_max, number(load, "server", "running_max"), f);
	compare(self, run, "energy of the processors", s->package_j, joules(load, "RAPL package"), f);
	if (!isnan(gpu))
		compare(self, run, "energy of the GPUs", s->gpu_j, gpu, f);
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_study_run *one = &v->runs[i];
		ib_auto_free char *path = ib_run_path(one, "samples.jsonl");

		if (!one->has_record || !one->record.section[IB_SECTION_LOAD])
			continue;
		if (one->samples.why)
			ib_check_fail(self, f, IB_E_BINDING, path, "its samples cannot be read: %s", one->samples.why);
		else if (one->samples.lines)
			one_run(self, one, f);
		else
			ib_check_skip(self, f, path, "the samples of this run could not be read: they are withheld, changed or too large");
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_load = {
	.id = "S19",
	.level = IB_FINDING_E,
	.title = "what records say of the load is what their samples say",
	.reads = "samples.jsonl of each run, summed up again: number of samples, the processors that client and others used, running requests, energy; within 0.01 %",
	.means = "the record's words on the load are not those of its sampler",
	.todo = "do not rely on what is said about the load; ask for the run to be repeated",
	.run = run,
};
