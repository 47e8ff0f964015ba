/* SPDX-License-Identifier: Apache-2.0 */
/* What all samples of a run together say: the record's section "load". */
#include <string.h>

#include "base/clock.h"
#include "run/sampler_inside.h"

#define SATURATED_THREAD 0.90 /* of a core */
#define SATURATED_LIMIT 0.95  /* of what the client may use */
#define SATURATED_SHARE 0.5   /* of the samples */

void ib_load_init(struct ib_load *l, int64_t cpus, int64_t short_ns)
{
	*l = (struct ib_load){.cpus = cpus, .short_ns = short_ns, .limit_cores = NAN, .throttles = IB_NONE, .package_j = NAN, .dram_j = NAN, .first_preemptions = NAN,
			      .last_preemptions = NAN, .gpu_power_max_w = NAN};
	for (int i = 0; i < IB_SAMPLE_GPUS; i++)
		l->gpu_energy_first_mj[i] = l->gpu_energy_last_mj[i] = IB_NONE;
}

static void add(struct ib_mean *m, double v, double weight)
{
	if (!isfinite(v))
		return;
	m->max = m->n && m->max > v ? m->max : v;
	m->sum += v * weight;
	m->weight += weight;
	m->n++;
}

static double mean(const struct ib_mean *m)
{
	return m->n ? m->sum / m->weight : NAN;
}

static void judge(struct ib_load *l, const struct ib_sample *s)
{
	bool thread = s->client_thread_cores >= SATURATED_THREAD, limit = s->client_cores >= SATURATED_LIMIT * l->limit_cores;

	if (isnan(s->client_cores) || (isnan(s->client_thread_cores) && s->client_cores >= SATURATED_THREAD && !limit))
		return;
	l->judged++;
	l->saturated += thread || limit;
}

static void add_gpus(struct ib_load *l, const struct ib_sample *s)
{
	if (s->gpus_n <= 0)
		return;
	if (!l->gpus) {
		l->gpus = s->gpus_n;
		l->gpu_first_ns = s->monotonic_ns;
	}
	l->gpu_last_ns = s->monotonic_ns;
	for (int i = 0; i < s->gpus_n; i++) {
		const struct ib_sample_gpu *g = &s->gpus[i];

		if (l->gpu_energy_first_mj[i] == IB_NONE)
			l->gpu_energy_first_mj[i] = g->energy_mj;
		l->gpu_energy_last_mj[i] = g->energy_mj;
		if (g->throttle_reasons != IB_NONE)
			l->gpu_throttle_reasons |= g->throttle_reasons;
		if (g->power_mw != IB_NONE && !((double)g->power_mw / 1000 <= l->gpu_power_max_w))
			l->gpu_power_max_w = (double)g->power_mw / 1000;
	}
}

static void add_rates(struct ib_load *l, const struct ib_sample *s, double weight)
{
	judge(l, s);
	add(&l->client, s->client_cores, weight);
	add(&l->thread, s->client_thread_cores, weight);
	add(&l->outside, s->outside_cores, weight);
	add(&l->busy, s->busy_cores, weight);
	add(&l->steal, s->steal_cores, weight);
	add(&l->iowait, s->iowait_cores, weight);
}

void ib_load_add(struct ib_load *l, const struct ib_sample *s)
{
	if (!l->samples++)
		l->first_ns = s->monotonic_ns;
	else if (s->monotonic_ns - l->last_ns >= l->short_ns)
		add_rates(l, s, (double)(s->monotonic_ns - l->last_ns) / IB_NS);
	l->last_ns = s->monotonic_ns;
	if (s->throttles != IB_NONE)
		l->throttles = (l->throttles == IB_NONE ? 0 : l->throttles) + s->throttles;
	l->package_j = s->package_j;
	l->dram_j = s->dram_j;
	if (s->busiest_n > 0 && s->busiest[0].cores > l->busiest.cores)
		l->busiest = s->busiest[0];
	add_gpus(l, s);
	if (!s->has_server)
		return;
	add(&l->running, s->server.running, 1);
	add(&l->waiting, s->server.waiting, 1);
	add(&l->kv, s->server.kv_cache_use, 1);
	if (isnan(l->first_preemptions))
		l->first_preemptions = s->server.preemptions;
	l->last_preemptions = s->server.preemptions;
}

static void set_mean(json_t *o, const char *key, const struct ib_mean *m)
{
	json_t *v = m->n ? ib_json_object() : NULL;

	if (v) {
		ib_json_set_real(v, "mean", mean(m));
		ib_json_set_real(v, "max", m->max);
		ib_json_set_int(v, "samples", m->n);
	}
	ib_json_set(o, key, v);
}

static void set_client(const struct ib_load *l, json_t *o)
{
	bool judged = l->judged > 0;

	set_mean(o, "client_cores", &l->client);
	set_mean(o, "client_thread_cores", &l->thread);
	ib_json_set_real(o, "client_limit_cores", l->limit_cores);
	if (judged)
		ib_json_set_bool(o, "client_saturated", (double)l->saturated >= SATURATED_SHARE * (double)l->judged);
	else
		ib_json_set(o, "client_saturated", NULL);
	ib_json_set(o, "client_saturated_share", judged ? json_real((double)l->saturated / (double)l->judged) : NULL);
	ib_json_set_str(o, "client_why", judged ? NULL : !l->client.n ? "the command ended before there were two samples" : "its processes could not be followed");
}

static json_t *counter(double joules, const char *source, const char *scope, int64_t covered_ns)
{
	json_t *o = ib_json_object();

	ib_json_set_real(o, "joules", joules);
	ib_json_set_str(o, "source", source);
	ib_json_set_str(o, "scope", scope);
	ib_json_set_int(o, "covered_ns", covered_ns);
	return o;
}

/* GPUs: from the first answer of the helper to the last, which is a little less than the run. */
static void add_gpu_energy(const struct ib_load *l, json_t *to)
{
	double j = 0;

	for (int64_t i = 0; i < l->gpus && i < IB_SAMPLE_GPUS; i++) {
		if (l->gpu_energy_first_mj[i] == IB_NONE || l->gpu_energy_last_mj[i] == IB_NONE || l->gpu_energy_last_mj[i] < l->gpu_energy_first_mj[i])
			return;
		j += (double)(l->gpu_energy_last_mj[i] - l->gpu_energy_first_mj[i]) / 1000;
	}
	if (l->gpus && l->gpu_last_ns > l->gpu_first_ns)
		ib_json_add(to, counter(j, "NVML total energy", "all GPUs that this machine shows; no CPU, memory or fans", l->gpu_last_ns - l->gpu_first_ns));
}

static void set_energy(const struct ib_load *l, json_t *o)
{
	json_t *all = ib_json_array();

	if (isfinite(l->package_j))
		ib_json_add(all, counter(l->package_j, "RAPL package", "all processor packages of this machine; no memory, GPU or fans", l->last_ns - l->first_ns));
	if (isfinite(l->dram_j))
		ib_json_add(all, counter(l->dram_j, "RAPL dram", "memory of this machine", l->last_ns - l->first_ns));
	add_gpu_energy(l, all);
	ib_json_set(o, "energy", all);
}

static void set_machine(const struct ib_load *l, json_t *o)
{
	json_t *busiest = l->busiest.name[0] ? ib_json_object() : NULL;

	ib_json_set(o, "cpus", l->cpus ? json_integer(l->cpus) : NULL);
	set_mean(o, "busy_cores", &l->busy);
	set_mean(o, "outside_cores", &l->outside);
	set_mean(o, "steal_cores", &l->steal);
	set_mean(o, "iowait_cores", &l->iowait);
	if (busiest) {
		ib_json_set_str(busiest, "name", l->busiest.name);
		ib_json_set_real(busiest, "cores", l->busiest.cores);
	}
	ib_json_set(o, "busiest_outside", busiest);
	ib_json_set(o, "throttles", l->throttles != IB_NONE ? json_integer(l->throttles) : NULL);
}

static void set_gpus(const struct ib_load *l, json_t *o)
{
	json_t *g = l->gpus ? ib_json_object() : NULL;

	if (g) {
		ib_json_set_int(g, "count", l->gpus);
		ib_json_set_real(g, "power_max_w", l->gpu_power_max_w);
		ib_json_set_int(g, "throttle_reasons", l->gpu_throttle_reasons);
	}
	ib_json_set(o, "gpus", g);
}

static void set_server(const struct ib_load *l, json_t *o)
{
	json_t *s = l->running.n ? ib_json_object() : NULL;

	if (s) {
		ib_json_set_real(s, "running_max", l->running.max);
		ib_json_set_real(s, "running_mean", mean(&l->running));
		ib_json_set_real(s, "waiting_max", l->waiting.n ? l->waiting.max : NAN);
		ib_json_set_real(s, "kv_cache_use_max", l->kv.n ? l->kv.max : NAN);
		ib_json_set_real(s, "preemptions", l->last_preemptions >= l->first_preemptions ? l->last_preemptions - l->first_preemptions : NAN);
		ib_json_set_int(s, "samples", l->running.n);
	}
	ib_json_set(o, "server", s);
}

json_t *ib_load_json(const struct ib_load *l)
{
	json_t *o = ib_json_object();

	set_client(l, o);
	set_machine(l, o);
	set_gpus(l, o);
	set_energy(l, o);
	set_server(l, o);
	return o;
}
