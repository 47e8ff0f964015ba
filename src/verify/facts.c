/* SPDX-License-Identifier: Apache-2.0 */
/* Short texts out of captures and endpoint pages. */
#include "verify/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define TEXT_MAX 400
#define LISTED_MAX 64

/* A path from the capture's "collectors" to a text or number. */
struct leaf {
	enum ib_fact_key key;
	const char *path[5];
};

static const struct leaf leaves[] = {
	{IB_FACT_OS, {"os", "data", "pretty_name"}},
	{IB_FACT_KERNEL, {"kernel", "data", "release"}},
	{IB_FACT_CLOCKSOURCE, {"kernel", "data", "clocksource"}},
	{IB_FACT_CORES, {"topology", "data", "cores"}},
	{IB_FACT_MEMORY_BYTES, {"memory", "data", "total_bytes"}},
	{IB_FACT_GPU_DRIVER, {"gpu_nvidia", "data", "driver_version"}},
	{IB_FACT_CUDA, {"gpu_nvidia", "data", "cuda_version"}},
	{IB_FACT_GIT_COMMIT, {"git", "data", "commit"}},
	{IB_FACT_GIT_DIRTY_SHA256, {"git", "data", "dirty_sha256"}},
	{IB_FACT_LOAD, {"load", "data", "average_1m"}},
	{IB_FACT_CORE_THROTTLES, {"clocks", "data", "core_throttles"}},
	{IB_FACT_PACKAGE_THROTTLES, {"clocks", "data", "package_throttles"}},
	{IB_FACT_SWAP_FREE_BYTES, {"memory", "data", "swap_free_bytes"}},
};

static const json_t *at(const json_t *o, const char *const *path)
{
	for (; *path && o; path++)
		o = json_object_get(o, *path);
	return o;
}

/* A text, number or truth value as text; NULL for anything else. */
static char *text_of(const json_t *j)
{
	char number[32];

	if (json_is_string(j))
		return ib_strndup(json_string_value(j), strnlen(json_string_value(j), TEXT_MAX));
	if (json_is_integer(j))
		return ib_asprintf("%" PRId64, (int64_t)json_integer_value(j));
	if (!json_is_real(j))
		return NULL;
	ib_json_double(json_real_value(j), number);
	return ib_strdup(number);
}

static void put(struct ib_facts *f, enum ib_fact_key k, char *text)
{
	if (f->v[k])
		free(text);
	else
		f->v[k] = text;
}

static void cpu(const json_t *all, struct ib_facts *f)
{
	const json_t *models = at(all, (const char *const[]){"cpu", "data", "models", NULL}), *one = json_array_get(models, 0);
	const char *name = json_string_value(json_object_get(one, "model_name"));

	if (name)
		put(f, IB_FACT_CPU, ib_asprintf("%" PRId64 " x %.200s%s", (int64_t)json_integer_value(json_object_get(one, "count")), name,
						json_array_size(models) > 1 ? " and others" : ""));
}

static void numa(const json_t *all, struct ib_facts *f)
{
	const json_t *nodes = at(all, (const char *const[]){"topology", "data", "numa_nodes", NULL});

	if (json_is_array(nodes))
		put(f, IB_FACT_NUMA, ib_asprintf("%zu", json_array_size(nodes)));
}

static void gpus(const json_t *all, struct ib_facts *f)
{
	const json_t *entry = json_object_get(all, "gpu_nvidia"), *list = at(entry, (const char *const[]){"data", "gpus", NULL});
	const json_t *why = at(entry, (const char *const[]){"missing", "gpus", "status", NULL});
	struct ib_buf uuids = IB_BUF(TEXT_MAX * 4);
	size_t n = json_array_size(list);
	const char *name;

	if (!n) {
		if (ib_streq(json_string_value(why), "absent") || json_is_array(list))
			put(f, IB_FACT_GPU, ib_strdup("none"));
		return;
	}
	name = json_string_value(json_object_get(json_array_get(list, 0), "name"));
	put(f, IB_FACT_GPU, ib_asprintf("%zu x %.200s", n, name ? name : "unnamed"));
	for (size_t i = 0; i < n && i < LISTED_MAX; i++) {
		const char *uuid = json_string_value(json_object_get(json_array_get(list, i), "uuid"));

		if (uuid)
			ib_buf_addf(&uuids, "%s%.40s", uuids.len ? " " : "", uuid);
	}
	if (uuids.len)
		put(f, IB_FACT_GPU_UUIDS, ib_buf_steal(&uuids));
	ib_buf_clear(&uuids);
}

static void git(const json_t *all, struct ib_facts *f)
{
	const json_t *entry = json_object_get(all, "git"), *data = json_object_get(entry, "data"), *dirty = json_object_get(data, "dirty");
	const json_t *subs = json_object_get(data, "submodules");
	const char *why = json_string_value(at(entry, (const char *const[]){"missing", "repository", "status", NULL}));
	const char *status = json_string_value(json_object_get(entry, "status"));
	struct ib_buf off = IB_BUF(TEXT_MAX * 4);

	if (!entry)
		return;
	if (json_is_true(dirty))
		put(f, IB_FACT_GIT_STATE, ib_strdup(json_is_string(json_object_get(data, "dirty_sha256")) ? "dirty" : "dirty, not digested"));
	else if (json_is_false(dirty))
		put(f, IB_FACT_GIT_STATE, ib_strdup("clean"));
	else if (ib_streq(why, "absent"))
		put(f, IB_FACT_GIT_STATE, ib_strdup("none"));
	else
		put(f, IB_FACT_GIT_STATE, ib_asprintf("%.100s", why ? why : status ? status : "not read"));
	for (size_t i = 0; i < json_array_size(subs) && i < LISTED_MAX; i++) {
		const json_t *s = json_array_get(subs, i);
		const char *want = json_string_value(json_object_get(s, "commit")), *have = json_string_value(json_object_get(s, "checked_out"));
		const char *path = json_string_value(json_object_get(s, "path"));

		if (!ib_streq(want, have))
			ib_buf_addf(&off, "%s%.100s", off.len ? ", " : "", path ? path : "unnamed");
	}
	if (off.len)
		put(f, IB_FACT_GIT_SUBMODULES, ib_buf_steal(&off));
	ib_buf_clear(&off);
}

static void moments(const json_t *all, struct ib_facts *f)
{
	const json_t *data = at(all, (const char *const[]){"clocks", "data", NULL});
	const json_t *low = json_object_get(data, "frequency_min_hz"), *high = json_object_get(data, "frequency_max_hz");
	const json_t *total = at(at(all, (const char *const[]){"load", "data", "pressure", NULL}), (const char *const[]){"cpu", "some", "total_us", NULL});

	if (json_is_integer(low) && json_is_integer(high))
		put(f, IB_FACT_FREQUENCY_HZ, ib_asprintf("%" PRId64 "..%" PRId64, (int64_t)json_integer_value(low), (int64_t)json_integer_value(high)));
	put(f, IB_FACT_CPU_PRESSURE_US, text_of(total));
}

void ib_facts_of_capture(const json_t *capture, struct ib_facts *f)
{
	const json_t *all = json_object_get(capture, "collectors");

	put(f, IB_FACT_NODE, text_of(json_object_get(capture, "node")));
	put(f, IB_FACT_BOOT, text_of(json_object_get(capture, "boot")));
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		put(f, leaves[i].key, text_of(at(all, leaves[i].path)));
	cpu(all, f);
	numa(all, f);
	gpus(all, f);
	git(all, f);
	moments(all, f);
}

void ib_facts_of_endpoint(const json_t *page, struct ib_facts *f)
{
	const json_t *models = json_object_get(page, "data"), *first = json_array_get(models, 0);
	const json_t *version = json_object_get(page, "version");

	if (json_is_string(version))
		put(f, IB_FACT_SERVER_VERSION, text_of(version));
	if (!first)
		return;
	put(f, IB_FACT_SERVED_MODEL, text_of(json_object_get(first, "id")));
	put(f, IB_FACT_CONTEXT_LENGTH, text_of(json_object_get(first, "max_model_len")));
}

void ib_facts_clear(struct ib_facts *f)
{
	for (size_t k = 0; k < IB_FACT_KEYS; k++)
		free(f->v[k]);
	*f = (struct ib_facts){0};
}

const char *ib_fact_key_name(enum ib_fact_key k)
{
	static const char *const names[IB_FACT_KEYS] = {
		[IB_FACT_NODE] = "node",
		[IB_FACT_BOOT] = "boot",
		[IB_FACT_OS] = "os",
		[IB_FACT_KERNEL] = "kernel",
		[IB_FACT_CLOCKSOURCE] = "clocksource",
		[IB_FACT_CPU] = "cpu",
		[IB_FACT_CORES] = "cores",
		[IB_FACT_NUMA] = "numa_nodes",
		[IB_FACT_MEMORY_BYTES] = "memory_bytes",
		[IB_FACT_GPU] = "gpu",
		[IB_FACT_GPU_UUIDS] = "gpu_uuids",
		[IB_FACT_GPU_DRIVER] = "gpu_driver",
		[IB_FACT_CUDA] = "cuda",
		[IB_FACT_GIT_COMMIT] = "git_commit",
		[IB_FACT_GIT_STATE] = "git_state",
		[IB_FACT_GIT_DIRTY_SHA256] = "git_dirty_sha256",
		[IB_FACT_GIT_SUBMODULES] = "git_submodules",
		[IB_FACT_LOAD] = "load_1m",
		[IB_FACT_FREQUENCY_HZ] = "frequency_hz",
		[IB_FACT_CORE_THROTTLES] = "core_throttles",
		[IB_FACT_PACKAGE_THROTTLES] = "package_throttles",
		[IB_FACT_SWAP_FREE_BYTES] = "swap_free_bytes",
		[IB_FACT_CPU_PRESSURE_US] = "cpu_pressure_us",
		[IB_FACT_SERVER_VERSION] = "server_version",
		[IB_FACT_SERVED_MODEL] = "served_model",
		[IB_FACT_CONTEXT_LENGTH] = "context_length",
	};

	return names[k];
}
