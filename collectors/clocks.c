/* SPDX-License-Identifier: Apache-2.0 */
/* Clock frequencies at this moment and throttling so far. */
#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"

#define CPUFREQ "/sys/devices/system/cpu/cpufreq"
#define POLICIES_MAX 16 /* reading one may interrupt the processor that it asks about */
#define CPUS_MAX 64

static bool read_int(struct ib_ctx *ctx, const char *file, int64_t *ret, struct ib_fact *fact)
{
	ib_auto_buf struct ib_buf b = IB_BUF(64);

	*fact = ib_read_text(ctx, file, &b);
	if (fact->status == IB_FACT_OK && ib_parse_int(ib_buf_str(&b), 0, INT64_MAX / 1000, ret, NULL) < 0)
		*fact = (struct ib_fact){IB_FACT_ERROR, EINVAL};
	return fact->status == IB_FACT_OK;
}

static void frequencies(struct ib_ctx *ctx, json_t *out)
{
	ib_auto_strv struct ib_strv list = {0};
	struct ib_fact fact = ib_root_list(ctx->root, CPUFREQ, &list), why = {IB_FACT_ABSENT, 0};
	int64_t low = INT64_MAX, high = 0, sampled = 0, khz;

	for (size_t i = 0; i < list.n && sampled < POLICIES_MAX; i++) {
		ib_auto_free char *file = ib_asprintf(CPUFREQ "/%s/scaling_cur_freq", list.v[i]);

		if (!ib_starts(list.v[i], "policy") || !read_int(ctx, file, &khz, &why))
			continue;
		sampled++;
		low = khz < low ? khz : low;
		high = khz > high ? khz : high;
	}
	ib_leaf_int(out, "sampled_policies", sampled);
	if (sampled) {
		ib_leaf_int(out, "frequency_min_hz", low * 1000);
		ib_leaf_int(out, "frequency_max_hz", high * 1000);
		return;
	}
	if (fact.status == IB_FACT_OK)
		fact = why;
	ib_leaf_missing(out, "frequency_min_hz", fact);
	ib_leaf_missing(out, "frequency_max_hz", fact);
}

/* Sum over processors of a throttle counter. */
static void throttled(struct ib_ctx *ctx, json_t *out, const char *leaf, const char *name)
{
	struct ib_fact why = {IB_FACT_ABSENT, 0};
	int64_t sum = 0, v;
	bool any = false;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		ib_auto_free char *file = ib_asprintf("/sys/devices/system/cpu/cpu%d/thermal_throttle/%s", cpu, name);

		if (!read_int(ctx, file, &v, &why))
			break; /* the first that is missing ends the row */
		any = true;
		sum += v;
	}
	if (any)
		ib_leaf_int(out, leaf, sum);
	else
		ib_leaf_missing(out, leaf, why);
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)err;
	frequencies(ctx, out);
	throttled(ctx, out, "core_throttles", "core_throttle_count");
	throttled(ctx, out, "package_throttles", "package_throttle_count");
	return 0;
}

static const char *const reads[] = {CPUFREQ, CPUFREQ "/policy*/scaling_cur_freq", "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count",
	"/sys/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count", NULL};

const struct ib_collector ib_collector_clocks = {
	.name = "clocks",
	.title = "clock frequencies now, thermal throttling so far",
	.flags = IB_COLLECTOR_VOLATILE,
	.reads = reads,
	.collect = collect,
};
