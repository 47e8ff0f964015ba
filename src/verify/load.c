/* SPDX-License-Identifier: Apache-2.0 */
/* A record's section "load". What has another shape is passed over. */
#include "verify/load.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

#define COVERED 0.9 /* of the run's time, at least */

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static int64_t counted(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && json_integer_value(v) > 0 ? json_integer_value(v) : 0;
}

void ib_load_facts(const struct ib_record *r, struct ib_load_facts *ret)
{
	const json_t *load = r->section[IB_SECTION_LOAD], *saturated = json_object_get(load, "client_saturated");

	*ret = (struct ib_load_facts){.known = load != NULL, .saturated = json_is_true(saturated) ? 1 : json_is_false(saturated) ? 0 : 2};
	ret->share = number(load, "client_saturated_share");
	ret->thread_max = number(json_object_get(load, "client_thread_cores"), "max");
	ret->cpus = number(load, "cpus");
	ret->outside_mean = number(json_object_get(load, "outside_cores"), "mean");
	ret->steal_mean = number(json_object_get(load, "steal_cores"), "mean");
	ret->busiest = json_string_value(json_object_get(json_object_get(load, "busiest_outside"), "name"));
	ret->throttles = counted(load, "throttles");
	ret->gpu_reasons = counted(json_object_get(load, "gpus"), "throttle_reasons");
}

static const json_t *counter(const json_t *all, const char *word)
{
	size_t i;
	json_t *one;

	json_array_foreach(all, i, one) {
		const char *source = json_string_value(json_object_get(one, "source"));

		if (source && strstr(source, word) && isfinite(number(one, "joules")))
			return one;
	}
	return NULL;
}

bool ib_load_energy(const struct ib_record *r, struct ib_energy *ret, const char **ret_why)
{
	const json_t *load = r->section[IB_SECTION_LOAD], *all = json_object_get(load, "energy"), *here = json_object_get(load, "colocated");
	const char *why = json_string_value(json_object_get(load, "colocated_why"));
	const json_t *one = counter(all, "NVML");

	if (!one)
		one = counter(all, "RAPL package");
	*ret_why = NULL;
	if (!load)
		*ret_why = "the load was not sampled";
	else if (!one)
		*ret_why = "no energy counter was read";
	else if (json_is_false(here))
		*ret_why = "the energy counters are those of the client's machine, not of the server's";
	else if (!json_is_true(here) && !ib_streq(why, "no endpoint is known"))
		*ret_why = "it is not known whether the energy counters are those of the server's machine";
	else if (r->time.monotonic_ns == IB_NONE || !(number(one, "covered_ns") >= COVERED * (double)r->time.monotonic_ns))
		*ret_why = "the energy counter does not cover the run";
	if (*ret_why)
		return false;
	*ret = (struct ib_energy){.joules = number(one, "joules"), .source = json_string_value(json_object_get(one, "source")),
				  .scope = json_string_value(json_object_get(one, "scope"))};
	return true;
}

struct ib_stat ib_load_energy_per_token(const struct ib_audit_run *run, const struct ib_result *res)
{
	struct ib_measured m = {.columns = &res->columns, .duration_s = res->duration_s};
	struct ib_energy energy;
	const char *why;

	if (!run->run || !run->run->has_record)
		return ib_stat_not_recorded("no energy counter was read");
	if (!ib_load_energy(&run->run->record, &energy, &why))
		return ib_stat_not_recorded(why);
	if (res->partial || run->results->n != 1)
		return ib_stat_not_recorded("the counter covers more than the requests of this result");
	m.energy = &energy;
	return ib_energy_per_output_token.scalar(&m);
}
