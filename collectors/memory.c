/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: sizes, what is free now, huge pages, the settings that change how it behaves. */
#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"

/* "MemTotal:       16384 kB": the number behind a name at a line's start. */
static bool field(const char *text, const char *name, int64_t *ret)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *v = line + n + 1;
		ib_auto_free char *digits = NULL;

		if (strncmp(line, name, n) != 0 || line[n] != ':')
			continue;
		v += strspn(v, " \t");
		digits = ib_strndup(v, strspn(v, "0123456789"));
		return ib_parse_int(digits, 0, INT64_MAX / 1024, ret, NULL) == 0;
	}
	return false;
}

static void meminfo(struct ib_ctx *ctx, json_t *out)
{
	static const struct {
		const char *name, *leaf;
		int64_t factor;
	} fields[] = {
		{"MemTotal", "total_bytes", 1024},
		{"MemAvailable", "available_bytes", 1024},
		{"MemFree", "free_bytes", 1024},
		{"Cached", "cached_bytes", 1024},
		{"Dirty", "dirty_bytes", 1024},
		{"SwapTotal", "swap_total_bytes", 1024},
		{"SwapFree", "swap_free_bytes", 1024},
		{"HugePages_Total", "huge_pages", 1},
		{"HugePages_Free", "huge_pages_free", 1},
		{"Hugepagesize", "huge_page_bytes", 1024},
	};
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	struct ib_fact fact = ib_read_text(ctx, "/proc/meminfo", &b);
	int64_t v;

	for (size_t i = 0; i < IB_LEN(fields); i++) {
		if (fact.status != IB_FACT_OK)
			ib_leaf_missing(out, fields[i].leaf, fact);
		else if (field(ib_buf_str(&b), fields[i].name, &v))
			ib_leaf_int(out, fields[i].leaf, v * fields[i].factor);
		else
			ib_leaf_missing(out, fields[i].leaf, (struct ib_fact){IB_FACT_ABSENT, 0});
	}
}

static void chosen(struct ib_ctx *ctx, json_t *out, const char *leaf, const char *file)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4096);
	struct ib_fact fact = ib_read_text(ctx, file, &b);
	ib_auto_free char *word = ib_chosen(ib_buf_str(&b));

	if (fact.status == IB_FACT_OK)
		ib_leaf_str(out, leaf, word);
	else
		ib_leaf_missing(out, leaf, fact);
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)err;
	meminfo(ctx, out);
	chosen(ctx, out, "transparent_huge_pages/enabled", "/sys/kernel/mm/transparent_hugepage/enabled");
	chosen(ctx, out, "transparent_huge_pages/defrag", "/sys/kernel/mm/transparent_hugepage/defrag");
	ib_leaf_file_int(ctx, out, "numa_balancing", "/proc/sys/kernel/numa_balancing", 1);
	ib_leaf_file_int(ctx, out, "swappiness", "/proc/sys/vm/swappiness", 1);
	ib_leaf_file_int(ctx, out, "overcommit_memory", "/proc/sys/vm/overcommit_memory", 1);
	ib_leaf_file_int(ctx, out, "zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", 1);
	return 0;
}

static const char *const reads[] = {"/proc/meminfo", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/mm/transparent_hugepage/defrag",
	"/proc/sys/kernel/numa_balancing", "/proc/sys/vm/swappiness",
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/zone_reclaim_mode", NULL};
static const char *const unstable[] = {"available_bytes", "free_bytes", "cached_bytes", "dirty_bytes", "swap_free_bytes", "huge_pages_free", NULL};

const struct ib_collector ib_collector_memory = {
	.name = "memory",
	.title = "memory sizes, what is free now, huge pages, policies",
	.reads = reads,
	.unstable = unstable,
	.collect = collect,
};
