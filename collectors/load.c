/* SPDX-License-Identifier: Apache-2.0 */
/* Other work on the machine: load averages, pressure, stolen time. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"

static void averages(struct ib_ctx *ctx, json_t *out)
{
	static const char *const keys[] = {"average_1m", "average_5m", "average_15m"};
	ib_auto_buf struct ib_buf b = IB_BUF(256);
	struct ib_fact fact = ib_read_text(ctx, "/proc/loadavg", &b);
	double v[3];
	long running, tasks;

	if (fact.status == IB_FACT_OK && sscanf(ib_buf_str(&b), "%lf %lf %lf %ld/%ld", &v[0], &v[1], &v[2], &running, &tasks) != 5)
		fact = (struct ib_fact){IB_FACT_ERROR, EINVAL};
	for (size_t i = 0; i < IB_LEN(keys); i++)
		if (fact.status == IB_FACT_OK)
			ib_leaf(out, keys[i], json_real(v[i]));
		else
			ib_leaf_missing(out, keys[i], fact);
	if (fact.status == IB_FACT_OK) {
		ib_leaf_int(out, "tasks_running", running);
		ib_leaf_int(out, "tasks", tasks);
	} else {
		ib_leaf_missing(out, "tasks_running", fact);
		ib_leaf_missing(out, "tasks", fact);
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" behind a line's first word. */
static json_t *pressure_line(const char *text, const char *word)
{
	double avg10, avg60, avg300;
	int64_t total;
	const char *line = strstr(text, word);
	json_t *o;

	if (!line || sscanf(line + strlen(word), " avg10=%lf avg60=%lf avg300=%lf total=%" SCNd64, &avg10, &avg60, &avg300, &total) != 4)
		return NULL;
	o = ib_json_object();
	ib_json_set_real(o, "avg10_pct", avg10);
	ib_json_set_real(o, "avg60_pct", avg60);
	ib_json_set_real(o, "avg300_pct", avg300);
	ib_json_set_int(o, "total_us", total);
	return o;
}

static void pressure(struct ib_ctx *ctx, json_t *out, const char *resource)
{
	static const char *const words[] = {"some", "full"};
	ib_auto_free char *file = ib_asprintf("/proc/pressure/%s", resource);
	ib_auto_buf struct ib_buf b = IB_BUF(1024);
	struct ib_fact fact = ib_read_text(ctx, file, &b);

	for (size_t i = 0; i < 2; i++) {
		ib_auto_free char *leaf = ib_asprintf("pressure/%s/%s", resource, words[i]);
		json_t *o = fact.status == IB_FACT_OK ? pressure_line(ib_buf_str(&b), words[i]) : NULL;

		if (o)
			ib_leaf(out, leaf, o);
		else /* a kernel may give "some" alone */
			ib_leaf_missing(out, leaf, fact.status == IB_FACT_OK ? (struct ib_fact){IB_FACT_ABSENT, 0} : fact);
	}
}

/* The summary line of /proc/stat, in clock ticks since boot. */
static void ticks(struct ib_ctx *ctx, json_t *out)
{
	static const char *const keys[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"};
	ib_auto_buf struct ib_buf b = IB_BUF(16u << 20);
	struct ib_fact fact = ib_read_text(ctx, "/proc/stat", &b);
	int64_t v[10] = {0};
	int n = 0;

	if (fact.status == IB_FACT_OK)
		n = sscanf(ib_buf_str(&b), "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &v[0],
			   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9]);
	for (size_t i = 0; i < IB_LEN(keys); i++) {
		ib_auto_free char *leaf = ib_asprintf("ticks/%s", keys[i]);

		if ((int)i < n)
			ib_leaf_int(out, leaf, v[i]);
		else
			ib_leaf_missing(out, leaf, fact.status == IB_FACT_OK ? (struct ib_fact){IB_FACT_ABSENT, 0} : fact);
	}
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)err;
	averages(ctx, out);
	pressure(ctx, out, "cpu");
	pressure(ctx, out, "memory");
	pressure(ctx, out, "io");
	ticks(ctx, out);
	return 0;
}

static const char *const reads[] = {"/proc/loadavg", "/proc/pressure/*", "/proc/stat", NULL};

const struct ib_collector ib_collector_load = {
	.name = "load",
	.title = "load averages, pressure stall information, stolen time",
	.flags = IB_COLLECTOR_VOLATILE,
	.reads = reads,
	.collect = collect,
};
