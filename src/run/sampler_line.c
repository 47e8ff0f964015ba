/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as lines of JSON, written without a tree. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "run/sampler_inside.h"

#define REAL(f, u) {#f, u, offsetof(struct ib_sample, f), true}
#define WHOLE(f, u) {#f, u, offsetof(struct ib_sample, f), false}

/* The plain fields, in the order of the line. */
static const struct field {
	const char *name, *unit;
	size_t at;
	bool real;
} fields[] = {
	REAL(busy_cores, "cores"), REAL(steal_cores, "cores"), REAL(iowait_cores, "cores"), REAL(client_cores, "cores"), REAL(client_thread_cores, "cores"),
	REAL(own_cores, "cores"), REAL(outside_cores, "cores"), WHOLE(client_processes, "processes"), WHOLE(context_switches, "switches"),
	WHOLE(throttles, "events"), REAL(psi_cpu_some_pct, "%"), REAL(psi_memory_some_pct, "%"), REAL(psi_memory_full_pct, "%"), REAL(psi_io_some_pct, "%"),
	REAL(psi_io_full_pct, "%"), WHOLE(frequency_min_hz, "Hz"), WHOLE(frequency_mean_hz, "Hz"), WHOLE(frequency_max_hz, "Hz"),
	REAL(temperature_max_c, "Cel"), WHOLE(memory_available_bytes, "bytes"), WHOLE(swap_used_bytes, "bytes"), REAL(package_j, "J"), REAL(dram_j, "J"),
};

void ib_sample_init(struct ib_sample *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < IB_LEN(fields); i++) {
		const double none = NAN;
		const int64_t no = IB_NONE;

		memcpy((char *)s + fields[i].at, fields[i].real ? (const void *)&none : (const void *)&no, 8);
	}
	s->busiest_n = s->gpus_n = -1;
}

/* Six digits are more than a tick tells. */
static void real(struct ib_buf *b, double v)
{
	if (!isfinite(v))
		ib_buf_adds(b, "null");
	else
		ib_buf_addf(b, "%.6g", v);
}

static void whole(struct ib_buf *b, int64_t v)
{
	if (v == IB_NONE)
		ib_buf_adds(b, "null");
	else
		ib_buf_addf(b, "%" PRId64, v);
}

static const char *status_of(const struct ib_host *h, const struct ib_tasks *t, const char *name)
{
	static const struct {
		const char *begin;
		size_t at;
	} facts[] = {
		{"psi_", offsetof(struct ib_host, psi_fact)},
		{"frequency_", offsetof(struct ib_host, frequency.fact)},
		{"temperature_", offsetof(struct ib_host, temperature.fact)},
		{"throttles", offsetof(struct ib_host, throttle.fact)},
		{"memory_", offsetof(struct ib_host, meminfo_fact)},
		{"swap_", offsetof(struct ib_host, meminfo_fact)},
		{"package_", offsetof(struct ib_host, package.fact)},
		{"dram_", offsetof(struct ib_host, dram.fact)},
	};
	struct ib_fact fact = h->stat_fact;

	for (size_t i = 0; i < IB_LEN(facts); i++)
		if (strncmp(name, facts[i].begin, strlen(facts[i].begin)) == 0)
			memcpy(&fact, (const char *)h + facts[i].at, sizeof(fact));
	if (t->proc < 0 && (strncmp(name, "client_", 7) == 0 || strncmp(name, "own_", 4) == 0 || strncmp(name, "outside_", 8) == 0))
		fact = (struct ib_fact){IB_FACT_ABSENT, 0};
	return ib_fact_name(fact.status);
}

void ib_sample_header(const struct ib_host *h, const struct ib_tasks *t, int64_t interval_ns, size_t urls, struct ib_buf *b)
{
	ib_buf_addf(b, "{\"schema\":\"urn:ibtools:samples:v1\",\"interval_ns\":%" PRId64 ",\"doubles_after\":%d,\"rare_every\":%d,\"clock\":\"boottime\",\"cpus\":",
		    interval_ns, IB_SAMPLE_DOUBLE, IB_SAMPLE_RARE);
	whole(b, h->cpus ? h->cpus : IB_NONE);
	ib_buf_addf(b, ",\"ticks_per_s\":%" PRId64 ",\"servers\":%zu,\"fields\":{", h->hz, urls);
	for (size_t i = 0; i < IB_LEN(fields); i++)
		ib_buf_addf(b, "%s\"%s\":{\"unit\":\"%s\",\"status\":\"%s\"}", i ? "," : "", fields[i].name, fields[i].unit, status_of(h, t, fields[i].name));
	ib_buf_adds(b, "}}\n");
}

static void add_gpus(const struct ib_sample *s, struct ib_buf *b)
{
	if (s->gpus_n < 0) {
		ib_buf_adds(b, "null");
		return;
	}
	ib_buf_addc(b, '[');
	for (int i = 0; i < s->gpus_n; i++) {
		const struct ib_sample_gpu *g = &s->gpus[i];
		const struct {
			const char *name;
			int64_t v;
		} all[] = {{"index", g->index}, {"utilisation_pct", g->utilisation_pct}, {"memory_used_bytes", g->memory_used_bytes},
			   {"memory_total_bytes", g->memory_total_bytes}, {"power_mw", g->power_mw}, {"sm_clock_hz", g->sm_clock_hz},
			   {"memory_clock_hz", g->memory_clock_hz}, {"temperature_c", g->temperature_c}, {"throttle_reasons", g->throttle_reasons},
			   {"energy_mj", g->energy_mj}};

		for (size_t k = 0; k < IB_LEN(all); k++) {
			ib_buf_addf(b, "%s\"%s\":", k ? "," : i ? ",{" : "{", all[k].name);
			whole(b, all[k].v);
		}
		ib_buf_addc(b, '}');
	}
	ib_buf_addc(b, ']');
}

static void add_server(const struct ib_sample *s, struct ib_buf *b)
{
	const struct {
		const char *name;
		double v;
	} all[] = {{"running", s->server.running}, {"waiting", s->server.waiting}, {"kv_cache_use", s->server.kv_cache_use},
		   {"preemptions", s->server.preemptions}, {"prompt_tokens", s->server.prompt_tokens}, {"generation_tokens", s->server.generation_tokens}};

	if (!s->has_server) {
		ib_buf_adds(b, "null");
		return;
	}
	for (size_t k = 0; k < IB_LEN(all); k++) {
		ib_buf_addf(b, "%s\"%s\":", k ? "," : "{", all[k].name);
		if (isfinite(all[k].v))
			ib_buf_addf(b, "%.17g", all[k].v); /* counters in full */
		else
			ib_buf_adds(b, "null");
	}
	ib_buf_addc(b, '}');
}

static void add_busiest(const struct ib_sample *s, struct ib_buf *b)
{
	if (s->busiest_n < 0) {
		ib_buf_adds(b, "null");
		return;
	}
	ib_buf_addc(b, '[');
	for (int i = 0; i < s->busiest_n; i++) {
		ib_buf_addf(b, "%s{\"name\":\"%s\",\"cores\":", i ? "," : "", s->busiest[i].name);
		real(b, s->busiest[i].cores);
		ib_buf_addc(b, '}');
	}
	ib_buf_addc(b, ']');
}

void ib_sample_line(const struct ib_sample *s, struct ib_buf *b)
{
	char at[IB_TIME_LEN];

	ib_time_text(s->wall_ns, 3, at);
	ib_buf_addf(b, "{\"monotonic_ns\":%" PRId64 ",\"at\":\"%s\"", s->monotonic_ns, at);
	for (size_t i = 0; i < IB_LEN(fields); i++) {
		double v;
		int64_t n;

		ib_buf_addf(b, ",\"%s\":", fields[i].name);
		memcpy(fields[i].real ? (void *)&v : (void *)&n, (const char *)s + fields[i].at, 8);
		if (fields[i].real)
			real(b, v);
		else
			whole(b, n);
	}
	ib_buf_adds(b, ",\"busiest\":");
	add_busiest(s, b);
	ib_buf_adds(b, ",\"gpus\":");
	add_gpus(s, b);
	ib_buf_adds(b, ",\"server\":");
	add_server(s, b);
	ib_buf_adds(b, "}\n");
}
