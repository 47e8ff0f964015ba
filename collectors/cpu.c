/* SPDX-License-Identifier: Apache-2.0 */
/* Processors: raw identities as the kernel prints them, instruction sets, frequency policy. Labels are left to the reader. */
#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"

#define CPU "/sys/devices/system/cpu"
#define MODELS_MAX 16
#define POLICIES_MAX 1024

/* Lines of /proc/cpuinfo, over all architectures, and our keys. */
static const char *const fields[][2] = {
	{"vendor_id", "vendor"},
	{"model name", "model_name"},
	{"cpu family", "family"},
	{"model", "model"},
	{"stepping", "stepping"},
	{"microcode", "microcode"},
	{"CPU implementer", "implementer"},
	{"CPU architecture", "architecture"},
	{"CPU variant", "variant"},
	{"CPU part", "part"},
	{"CPU revision", "revision"},
	{"cpu", "cpu"},
	{"isa", "isa"},
	{"uarch", "uarch"},
	{"Model Name", "model_name"},
	{"CPU Family", "family"},
};

/* "key<blanks>: value" -> our key, or NULL. */
static const char *parse_line(const char *line, size_t n, const char **ret_value, size_t *ret_n)
{
	const char *colon = memchr(line, ':', n);
	size_t key_n = colon ? (size_t)(colon - line) : 0;

	if (!colon)
		return NULL;
	while (key_n && (line[key_n - 1] == ' ' || line[key_n - 1] == '\t'))
		key_n--;
	*ret_value = colon + 1 + (colon + 1 < line + n && colon[1] == ' ');
	*ret_n = (size_t)(line + n - *ret_value);
	for (size_t i = 0; i < IB_LEN(fields); i++)
		if (strlen(fields[i][0]) == key_n && memcmp(fields[i][0], line, key_n) == 0)
			return fields[i][1];
	return NULL;
}

static bool is_key(const char *line, size_t n, const char *key)
{
	size_t k = strlen(key);

	return n > k && memcmp(line, key, k) == 0 && (line[k] == ' ' || line[k] == '\t' || line[k] == ':');
}

/* Instruction sets of the first processor, sorted. */
static json_t *flags_of(const char *text, size_t n)
{
	ib_auto_free char *copy = ib_strndup(text, n);
	ib_auto_strv struct ib_strv words = {0};
	json_t *list = ib_json_array();
	char *state = NULL;

	for (char *w = strtok_r(copy, " \t", &state); w; w = strtok_r(NULL, " \t", &state))
		ib_strv_add(&words, w);
	ib_strv_sort(&words);
	for (size_t i = 0; i < words.n; i++)
		ib_json_add_str(list, words.v[i]);
	return list;
}

/* Adds a processor to the list of distinct models. */
static void count_model(json_t *models, json_t *model)
{
	json_t *other;
	size_t i;

	json_array_foreach(models, i, other) {
		ib_auto_json json_t *bare = json_copy(other);

		json_object_del(bare, "count");
		if (json_equal(bare, model)) {
			ib_json_set_int(other, "count", json_integer_value(json_object_get(other, "count")) + 1);
			return;
		}
	}
	if (json_array_size(models) == MODELS_MAX)
		return;
	other = json_deep_copy(model);
	ib_json_set_int(other, "count", 1);
	ib_json_add(models, other);
}

static void cpuinfo_line(json_t *out, json_t *model, const char *line, size_t n)
{
	const char *value = "";
	size_t value_n = 0;
	const char *key = parse_line(line, n, &value, &value_n);

	if (key) {
		ib_auto_free char *text = ib_strndup(value, value_n);

		ib_json_set_str(model, key, text);
	} else if ((is_key(line, n, "flags") || is_key(line, n, "Features")) && !json_object_get(json_object_get(out, "data"), "flags")) {
		ib_leaf(out, "flags", flags_of(value, value_n));
	}
}

struct parser {
	json_t *models, *model;
	bool in_processor; /* behind a "processor" line, before the next blank one */
};

static void flush(struct parser *p)
{
	if (json_object_size(p->model))
		count_model(p->models, p->model);
	json_object_clear(p->model);
}

/* A processor's lines start at its number and end at a blank line. What stands before belongs to the first, what stands behind the
 * last describes the board (with its serial number, on some): it counts only where no processor had lines of its own. */
static void parse_cpuinfo(json_t *out, struct parser *p, const char *text)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		if (n == 0 && p->in_processor) {
			flush(p);
			p->in_processor = false;
		} else if (is_key(line, n, "processor")) {
			if (p->in_processor)
				flush(p);
			p->in_processor = true;
		}
		cpuinfo_line(out, p->model, line, n);
		line += n + (line[n] == '\n');
	}
	if (p->in_processor || !json_array_size(p->models))
		flush(p);
}

static void cpuinfo(struct ib_ctx *ctx, json_t *out)
{
	ib_auto_buf struct ib_buf b = IB_BUF(16u << 20);
	struct ib_fact fact = ib_read_text(ctx, "/proc/cpuinfo", &b);
	ib_auto_json json_t *models = ib_json_array(), *model = ib_json_object();
	struct parser p = {.models = models, .model = model};

	parse_cpuinfo(out, &p, ib_buf_str(&b));
	if (fact.status == IB_FACT_OK)
		fact.status = IB_FACT_ABSENT; /* for what the text does not hold */
	if (json_array_size(models))
		ib_leaf(out, "models", json_incref(models));
	else
		ib_leaf_missing(out, "models", fact);
	if (!json_object_get(json_object_get(out, "data"), "flags"))
		ib_leaf_missing(out, "flags", fact);
}

/* Distinct governors over all policies, with their number: one odd core is worth seeing. */
static void governors(struct ib_ctx *ctx, json_t *out)
{
	ib_auto_strv struct ib_strv list = {0};
	struct ib_fact fact = ib_root_list(ctx->root, CPU "/cpufreq", &list), why = {IB_FACT_ABSENT, 0};
	ib_auto_buf struct ib_buf b = IB_BUF(64);
	json_t *count = ib_json_object();

	for (size_t i = 0; i < list.n && i < POLICIES_MAX; i++) {
		ib_auto_free char *file = ib_asprintf(CPU "/cpufreq/%s/scaling_governor", list.v[i]);

		if (!ib_starts(list.v[i], "policy"))
			continue;
		why = ib_read_text(ctx, file, &b);
		if (why.status == IB_FACT_OK && ib_leaf_name(ib_buf_str(&b)))
			ib_json_set_int(count, ib_buf_str(&b), json_integer_value(json_object_get(count, ib_buf_str(&b))) + 1);
	}
	if (json_object_size(count)) {
		ib_leaf(out, "frequency/governors", count);
		return;
	}
	json_decref(count);
	ib_leaf_missing(out, "frequency/governors", fact.status == IB_FACT_OK ? why : fact);
}

static void frequency(struct ib_ctx *ctx, json_t *out)
{
	ib_leaf_file(ctx, out, "frequency/driver", CPU "/cpu0/cpufreq/scaling_driver");
	governors(ctx, out);
	ib_leaf_file(ctx, out, "frequency/energy_preference", CPU "/cpu0/cpufreq/energy_performance_preference");
	ib_leaf_file_int(ctx, out, "frequency/scaling_min_hz", CPU "/cpu0/cpufreq/scaling_min_freq", 1000);
	ib_leaf_file_int(ctx, out, "frequency/scaling_max_hz", CPU "/cpu0/cpufreq/scaling_max_freq", 1000);
	ib_leaf_file_int(ctx, out, "frequency/hardware_max_hz", CPU "/cpu0/cpufreq/cpuinfo_max_freq", 1000);
	ib_leaf_file_int(ctx, out, "frequency/intel_no_turbo", CPU "/intel_pstate/no_turbo", 1);
	ib_leaf_file_int(ctx, out, "frequency/boost", CPU "/cpufreq/boost", 1);
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)err;
	cpuinfo(ctx, out);
	ib_leaf_file(ctx, out, "online", CPU "/online");
	ib_leaf_file(ctx, out, "present", CPU "/present");
	ib_leaf_file(ctx, out, "isolated", CPU "/isolated");
	ib_leaf_file(ctx, out, "nohz_full", CPU "/nohz_full");
	ib_leaf_file(ctx, out, "smt_control", CPU "/smt/control");
	ib_leaf_file_int(ctx, out, "smt_active", CPU "/smt/active", 1);
	ib_leaf_file(ctx, out, "idle_driver", CPU "/cpuidle/current_driver");
	frequency(ctx, out);
	return 0;
}

static const char *const reads[] = {"/proc/cpuinfo", CPU "/online", CPU "/present", CPU "/isolated", CPU "/nohz_full", CPU "/smt/control", CPU "/smt/active",
	CPU "/cpuidle/current_driver", CPU "/cpu0/cpufreq/scaling_driver", CPU "/cpu0/cpufreq/energy_performance_preference",
	CPU "/cpu0/cpufreq/scaling_min_freq", CPU "/cpu0/cpufreq/scaling_max_freq", CPU "/cpu0/cpufreq/cpuinfo_max_freq", CPU "/cpufreq",
	CPU "/cpufreq/policy*/scaling_governor", CPU "/cpufreq/boost", CPU "/intel_pstate/no_turbo", NULL};

const struct ib_collector ib_collector_cpu = {
	.name = "cpu",
	.title = "processor models, instruction sets, frequency policy",
	.reads = reads,
	.collect = collect,
};
