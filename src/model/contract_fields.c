/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a contract: type, range and meaning of an unset key. man/ib-contract.5 and the schema say the same. */
#include "model/contract_internal.h"

#define NS_MAX 1000000000000000000LL
#define NS_PER_S 1000000000LL
#define COUNT_MAX 1000000000000LL

static const struct ib_field file_fields[] = {
	{.key = "path", .type = IB_FIELD_TEXT, .required = true},
	{.key = "sha256", .type = IB_FIELD_DIGEST},
	{.key = "bytes", .type = IB_FIELD_INTEGER, .max = INT64_MAX},
	{0},
};

static const struct ib_field model_fields[] = {
	{.key = "id", .type = IB_FIELD_TEXT, .required = true},
	{.key = "revision", .type = IB_FIELD_TEXT},
	{.key = "files", .type = IB_FIELD_OBJECTS, .fields = file_fields},
	{.key = "licence", .type = IB_FIELD_TEXT},
	{.key = "access", .type = IB_FIELD_TEXT},
	{0},
};

static const struct ib_field serving_fields[] = {
	{.key = "engine", .type = IB_FIELD_TEXT},
	{.key = "version", .type = IB_FIELD_TEXT},
	{.key = "commit", .type = IB_FIELD_TEXT},
	{.key = "precision", .type = IB_FIELD_TEXT},
	{.key = "quantisation", .type = IB_FIELD_TEXT},
	{.key = "context_length", .type = IB_FIELD_INTEGER, .min = 1, .max = COUNT_MAX},
	{.key = "prefix_cache", .type = IB_FIELD_TEXT},
	{.key = "endpoint", .type = IB_FIELD_URL},
	{.key = "mode", .type = IB_FIELD_TEXT},
	{.key = "colocated", .type = IB_FIELD_BOOLEAN},
	{.key = "command", .type = IB_FIELD_COMMAND},
	{.key = "options", .type = IB_FIELD_OPTIONS},
	{0},
};

static const struct ib_field workload_fields[] = {
	{.key = "name", .type = IB_FIELD_NAME, .required = true},
	{.key = "description", .type = IB_FIELD_TEXT},
	{.key = "file", .type = IB_FIELD_PATH},
	{.key = "generator", .type = IB_FIELD_COMMAND},
	{.key = "seed", .type = IB_FIELD_INTEGER, .min = INT64_MIN + 1, .max = INT64_MAX},
	{.key = "sha256", .type = IB_FIELD_DIGEST},
	{.key = "licence", .type = IB_FIELD_TEXT},
	{.key = "shareable", .type = IB_FIELD_BOOLEAN, .fallback = "true"},
	{.key = "record", .type = IB_FIELD_BOOLEAN, .fallback = "false"},
	{.key = "prompt_key", .type = IB_FIELD_TEXT},
	{0},
};

static const struct ib_field readiness_fields[] = {
	{.key = "url", .type = IB_FIELD_URL},
	{.key = "command", .type = IB_FIELD_COMMAND},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX, .fallback = "60s"},
	{.key = "interval", .json = "interval_ns", .type = IB_FIELD_DURATION, .min = 10000000, .max = NS_MAX, .fallback = "500ms"},
	{0},
};

static const char *const conditions[] = {"cold", "reset", "warm", "reuse", "unspecified", NULL};
static const char *const engines[] = {"vllm", "sglang", "llamacpp", "custom", NULL};
static const char *const clients[] = {"vllm", "guidellm", "aiperf", "sglang", "inference-perf", "llama-bench", "command", NULL};
static const char *const networks[] = {"host", "none", NULL};
static const char *const recorders[] = {"agentless", "installed", NULL};
static const char *const moments[] = {"before", "after", "both", NULL};
static const char *const loads[] = {"open", "closed", "saturation", NULL};
static const char *const orders[] = {"sequential", "interleaved", "shuffled", NULL};
static const char *const directions[] = {"lower", "higher", "within", NULL};

static const struct ib_field reset_fields[] = {
	{.key = "command", .type = IB_FIELD_COMMAND},
	{.key = "http", .type = IB_FIELD_URL},
	{.key = "page_cache", .type = IB_FIELD_TEXTS},
	{.key = "restart", .type = IB_FIELD_BOOLEAN, .fallback = "false"},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX, .fallback = "60s"},
	{0},
};

static const struct ib_field warmup_fields[] = {
	{.key = "command", .type = IB_FIELD_COMMAND, .required = true},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX, .fallback = "10m"},
	{0},
};

static const struct ib_field counter_fields[] = {
	{.key = "queries", .type = IB_FIELD_TEXTS},
	{.key = "hits", .type = IB_FIELD_TEXTS},
	{.key = "output_tokens", .type = IB_FIELD_TEXTS},
	{.key = "busy", .type = IB_FIELD_TEXTS},
	{0},
};

static const struct ib_field evidence_fields[] = {
	{.key = "engine", .type = IB_FIELD_CHOICE, .names = engines},
	{.key = "metrics_url", .type = IB_FIELD_URL},
	{.key = "metrics_urls", .type = IB_FIELD_URLS},
	{.key = "counters", .type = IB_FIELD_OBJECT, .fields = counter_fields},
	{.key = "files", .type = IB_FIELD_TEXTS},
	{.key = "resident_share_min", .type = IB_FIELD_NUMBER, .min = 0, .max = 1},
	{.key = "resident_share_max", .type = IB_FIELD_NUMBER, .min = 0, .max = 1},
	{.key = "queries", .type = IB_FIELD_INTEGER, .min = 0, .max = COUNT_MAX},
	{.key = "hits_max", .type = IB_FIELD_INTEGER, .min = 0, .max = COUNT_MAX, .fallback = "0"},
	{.key = "hit_share_min", .type = IB_FIELD_NUMBER, .min = 0, .max = 1},
	{0},
};

static const struct ib_field cache_fields[] = {
	{.key = "condition", .type = IB_FIELD_CHOICE, .names = conditions, .fallback = "unspecified"},
	{.key = "reset", .type = IB_FIELD_OBJECT, .fields = reset_fields},
	{.key = "warmup", .type = IB_FIELD_OBJECT, .fields = warmup_fields},
	{.key = "evidence", .type = IB_FIELD_OBJECT, .fields = evidence_fields},
	{.key = "reason", .type = IB_FIELD_TEXT},
	{0},
};

static const struct ib_field expect_fields[] = {
	{.key = "exit_status", .type = IB_FIELD_INTEGER, .min = 0, .max = 255, .fallback = "0"},
	{.key = "attempts", .type = IB_FIELD_INTEGER, .min = 0, .max = COUNT_MAX},
	{.key = "success_rate_min", .type = IB_FIELD_NUMBER, .min = 0, .max = 1},
	{.key = "output_tokens", .type = IB_FIELD_INTEGER, .min = 0, .max = COUNT_MAX},
	{.key = "output_tokens_min", .type = IB_FIELD_INTEGER, .min = 0, .max = COUNT_MAX},
	{.key = "server_output_tokens", .type = IB_FIELD_BOOLEAN, .fallback = "false"},
	{.key = "output_files_min", .type = IB_FIELD_INTEGER, .min = 0, .max = 1000000},
	{0},
};

/* An output and what it must be. */
#define ANSWER_FIELDS                                                                                                                                 \
	{.key = "http", .type = IB_FIELD_URL}, {.key = "body", .type = IB_FIELD_TEXT}, {.key = "command", .type = IB_FIELD_COMMAND},                    \
		{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX, .fallback = "60s"},                         \
		{.key = "exact", .type = IB_FIELD_TEXT}, {.key = "contains", .type = IB_FIELD_TEXTS}, {.key = "regex", .type = IB_FIELD_TEXT},           \
		{.key = "json", .type = IB_FIELD_TEXT}, {.key = "equals", .type = IB_FIELD_TEXT}, {.key = "near", .type = IB_FIELD_NUMBER},              \
	{                                                                                                                                               \
		.key = "tolerance", .type = IB_FIELD_NUMBER, .min = 0, .max = NS_MAX                                                                     \
	}

static const struct ib_field answer_fields[] = {ANSWER_FIELDS, {0}};
static const struct ib_field case_fields[] = {{.key = "name", .type = IB_FIELD_NAME, .required = true}, ANSWER_FIELDS, {0}};

static const struct ib_field group_fields[] = {
	{.key = "name", .type = IB_FIELD_NAME, .required = true},
	{.key = "question", .type = IB_FIELD_TEXT},
	{.key = "diagnostic", .type = IB_FIELD_BOOLEAN, .fallback = "false"},
	{.key = "fixed", .type = IB_FIELD_OPTIONS},
	{.key = "varies", .type = IB_FIELD_NAMES},
	{.key = "matrix", .type = IB_FIELD_MATRIX},
	{.key = "load", .type = IB_FIELD_CHOICE, .names = loads},
	{.key = "repeats", .type = IB_FIELD_INTEGER, .min = 1, .max = 1000, .required = true},
	{.key = "order", .type = IB_FIELD_CHOICE, .names = orders, .fallback = "sequential"},
	{.key = "seed", .type = IB_FIELD_INTEGER, .min = 0, .max = INT64_MAX},
	{.key = "gate", .type = IB_FIELD_NAME},
	{.key = "workload", .type = IB_FIELD_NAME},
	{.key = "cache", .type = IB_FIELD_OBJECT, .fields = cache_fields, .fallback = ""},
	{.key = "output_check", .type = IB_FIELD_OBJECT, .fields = answer_fields},
	{.key = "client", .type = IB_FIELD_CHOICE, .names = clients, .fallback = "command"},
	{.key = "command", .type = IB_FIELD_COMMAND, .required = true},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX},
	{.key = "no_progress", .json = "no_progress_ns", .type = IB_FIELD_DURATION, .min = NS_PER_S, .max = NS_MAX},
	{.key = "pty", .type = IB_FIELD_BOOLEAN, .fallback = "false"},
	{.key = "network", .type = IB_FIELD_CHOICE, .names = networks, .fallback = "host"},
	{.key = "grace", .json = "grace_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX},
	{.key = "memory", .json = "memory_bytes", .type = IB_FIELD_SIZE, .min = 1, .max = INT64_MAX},
	{.key = "convert", .type = IB_FIELD_COMMAND},
	{.key = "expect", .type = IB_FIELD_OBJECT, .fields = expect_fields, .fallback = ""},
	{0},
};

static const struct ib_field quality_fields[] = {
	{.key = "command", .type = IB_FIELD_COMMAND},
	{.key = "cases", .type = IB_FIELD_OBJECTS, .fields = case_fields},
	{.key = "when", .type = IB_FIELD_CHOICE, .names = moments, .fallback = "before"},
	{.key = "workload", .type = IB_FIELD_NAME},
	{.key = "metric", .type = IB_FIELD_TEXT},
	{.key = "minimum", .type = IB_FIELD_NUMBER},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX},
	{0},
};

static const struct ib_field target_fields[] = {
	{.key = "group", .type = IB_FIELD_NAME, .required = true},
	{.key = "cell", .type = IB_FIELD_NAME},
	{.key = "metric", .type = IB_FIELD_TEXT, .required = true},
	{.key = "value", .type = IB_FIELD_NUMBER},
	{.key = "tolerance", .type = IB_FIELD_NUMBER, .min = 0, .max = 1000000},
	{.key = "direction", .type = IB_FIELD_CHOICE, .names = directions},
	{0},
};

static const struct ib_field withhold_fields[] = {
	{.key = "path", .type = IB_FIELD_PATH, .required = true},
	{.key = "reason", .type = IB_FIELD_TEXT, .required = true},
	{0},
};

static const struct ib_field server_log_fields[] = {
	{.key = "name", .type = IB_FIELD_NAME, .required = true},
	{.key = "file", .type = IB_FIELD_TEXT},
	{.key = "command", .type = IB_FIELD_COMMAND},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX, .fallback = "30s"},
	{.key = "max", .json = "max_bytes", .type = IB_FIELD_SIZE, .min = 1, .max = INT64_MAX, .fallback = "64MiB"},
	{0},
};

static const struct ib_field node_fields[] = {
	{.key = "name", .type = IB_FIELD_NAME, .required = true},
	{.key = "launch", .type = IB_FIELD_COMMAND, .required = true},
	{.key = "recorder", .type = IB_FIELD_CHOICE, .names = recorders, .fallback = "agentless"},
	{.key = "timeout", .json = "timeout_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX, .fallback = "60s"},
	{0},
};

static const struct ib_field sampling_fields[] = {
	{.key = "enabled", .type = IB_FIELD_BOOLEAN, .fallback = "true"},
	{.key = "interval", .json = "interval_ns", .type = IB_FIELD_DURATION, .min = NS_PER_S / 10, .max = 3600 * NS_PER_S, .fallback = "1s"},
	{0},
};

static const struct ib_field stop_fields[] = {
	{.key = "failed_runs", .type = IB_FIELD_INTEGER, .min = 0, .max = 1000000, .fallback = "1"},
	{.key = "refused_runs", .type = IB_FIELD_INTEGER, .min = 0, .max = 1000000, .fallback = "0"},
	{.key = "contradicted_runs", .type = IB_FIELD_INTEGER, .min = 0, .max = 1000000, .fallback = "0"},
	{.key = "after", .json = "after_ns", .type = IB_FIELD_DURATION, .min = 1, .max = NS_MAX},
	{.key = "when", .type = IB_FIELD_TEXTS},
	{0},
};

const struct ib_field ib_contract_fields[] = {
	{.key = "study", .type = IB_FIELD_NAME, .required = true},
	{.key = "question", .type = IB_FIELD_TEXT},
	{.key = "boundary", .type = IB_FIELD_TEXT},
	{.key = "decision", .type = IB_FIELD_TEXT},
	{.key = "model", .type = IB_FIELD_OBJECT, .fields = model_fields},
	{.key = "tokenizer", .type = IB_FIELD_OBJECT, .fields = model_fields},
	{.key = "serving", .type = IB_FIELD_OBJECT, .fields = serving_fields},
	{.key = "decoding", .type = IB_FIELD_OPTIONS},
	{.key = "metrics", .type = IB_FIELD_TEXTS},
	{.key = "workloads", .type = IB_FIELD_OBJECTS, .fields = workload_fields},
	{.key = "readiness", .type = IB_FIELD_OBJECT, .fields = readiness_fields},
	{.key = "permission", .type = IB_FIELD_TEXT},
	{.key = "server_log", .type = IB_FIELD_TEXT},
	{.key = "server_logs", .type = IB_FIELD_OBJECTS, .fields = server_log_fields},
	{.key = "nodes", .type = IB_FIELD_OBJECTS, .fields = node_fields},
	{.key = "sampling", .type = IB_FIELD_OBJECT, .fields = sampling_fields, .fallback = ""},
	{.key = "groups", .type = IB_FIELD_OBJECTS, .fields = group_fields, .required = true},
	{.key = "quality", .type = IB_FIELD_OBJECT, .fields = quality_fields},
	{.key = "targets", .type = IB_FIELD_OBJECTS, .fields = target_fields},
	{.key = "withhold", .type = IB_FIELD_OBJECTS, .fields = withhold_fields},
	{.key = "limitations", .type = IB_FIELD_TEXTS},
	{.key = "next", .type = IB_FIELD_TEXT},
	{.key = "stop", .type = IB_FIELD_OBJECT, .fields = stop_fields, .fallback = ""},
	{0},
};
