/* SPDX-License-Identifier: Apache-2.0 */
/* One slot of a plan becomes one run: what its steps do. */
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "run/answer.h"
#include "run/cache.h"
#include "run/expect.h"
#include "run/hooks.h"
#include "run/identity.h"
#include "run/inside.h"
#include "run/nodes.h"
#include "run/permitted.h"
#include "run/plan_inside.h"
#include "run/probe.h"
#include "run/ready.h"
#include "run/residency.h"
#include "run/serverlog.h"

#define METRICS_MAX (16u << 20)
#define FETCH_NS (10 * IB_NS)
#define IDLE_NS (60 * IB_NS)

struct slot_run {
	const struct ib_contract *contract;
	const struct ib_contract_group *group;
	const struct ib_contract_slot *slot;
	const json_t *nodes; /* captures of other nodes, or NULL */
	struct ib_endpoints endpoints; /* pages of the servers' metrics */
	struct ib_server_logs *logs;
};

static int step_permit(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;

	return ib_permitted(run, s->contract, s->group, err);
}

static int step_ready(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;

	ib_nodes_note(run, s->nodes);
	return ib_ready_wait(run, s->contract, err);
}

static int step_check(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;

	return s->group->output_check ? ib_run_answer_check(run, s->group->output_check, err) : 0;
}

static int step_quiesce(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;

	return s->group->evidence.engine ? ib_ready_idle(run, &s->group->evidence, IDLE_NS, err) : 0;
}

static bool has_hook(const struct ib_contract_hook *hook)
{
	return hook->command || hook->http;
}

/* A reset that must leave another server process. */
static int reset_server(struct ib_run *run, const struct slot_run *s, struct ib_err *err)
{
	const struct ib_contract_hook *reset = &s->group->reset;
	struct ib_endpoints seen = {0};
	int64_t since = ib_wall_ns(run->ctx->clock);
	int r;

	if (reset->restart)
		ib_endpoints_look(run, &s->group->evidence, &seen);
	r = ib_hook_run(run, "00-reset", reset, err);
	if (r == 0)
		r = ib_ready_wait(run, s->contract, err); /* a reset may restart the server */
	if (r == 0 && reset->restart)
		r = ib_endpoints_renewed(run, &s->group->evidence, &seen, since, err);
	ib_endpoints_clear(&seen);
	return r;
}

static int step_reset(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;
	int r = 0;

	if (s->slot->condition == IB_CACHE_UNSPECIFIED)
		return 0;
	if (has_hook(&s->group->reset))
		r = reset_server(run, s, err);
	return r < 0 ? r : ib_residency_drop(run, s->group->reset.page_cache, err);
}

static int step_warmup(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;
	bool fill = s->slot->condition == IB_CACHE_WARM || s->slot->condition == IB_CACHE_REUSE;
	int r;

	if (!fill || !has_hook(&s->group->warmup))
		return 0;
	r = ib_hook_run(run, "01-warmup", &s->group->warmup, err);
	return r < 0 || !s->group->evidence.engine ? r : ib_ready_idle(run, &s->group->evidence, IDLE_NS, err);
}

static void note(struct ib_run *run, const char *what, const struct ib_err *why)
{
	ib_strv_take(&run->record->notes, ib_asprintf("%s: %s", what, why->text));
}

/* What the endpoint says of itself, where it has a word for it. */
static void identify(struct ib_run *run, const char *endpoint)
{
	static const char *const pages[][2] = {{"/version", "version.json"}, {"/v1/models", "models.json"}};
	const char *host = strstr(endpoint, "://");
	size_t n = host ? (size_t)(host - endpoint) + 3 + strcspn(host + 3, "/?#") : 0;

	for (size_t i = 0; n && i < IB_LEN(pages); i++) {
		ib_auto_free char *url = ib_asprintf("%.*s%s", (int)n, endpoint, pages[i][0]);
		ib_auto_buf struct ib_buf body = IB_BUF(METRICS_MAX);
		struct ib_err why = {0};

		if (ib_probe(run, url, FETCH_NS, &body, &why) == 0 && ib_probe_keep(run, pages[i][1], ib_buf_str(&body), &why) < 0)
			note(run, pages[i][1], &why);
	}
}

static int step_before(void *arg, struct ib_run *run, struct ib_err *err)
{
	struct slot_run *s = arg;

	(void)err;
	if (s->contract->endpoint)
		identify(run, s->contract->endpoint);
	ib_residency_look(run, s->group->evidence.files, IB_RESIDENCY_BEFORE);
	if (s->group->has_evidence)
		ib_endpoints_before(run, &s->group->evidence, &s->endpoints);
	s->logs = ib_server_logs_begin(run, s->contract->server_logs);
	return 0;
}

static int step_after(void *arg, struct ib_run *run, struct ib_err *err)
{
	struct slot_run *s = arg;

	if (s->group->has_evidence)
		ib_endpoints_after(run, &s->group->evidence, &s->endpoints);
	ib_residency_look(run, s->group->evidence.files, IB_RESIDENCY_AFTER);
	ib_server_logs_end(run, s->logs);
	return run->signals->count > run->signals_seen ? ib_fail(err, IB_E_STATE, 0, "interrupted by a signal") : 0;
}

static int step_convert(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;
	struct ib_contract_hook hook = {.command = s->group->convert, .timeout_ns = s->group->timeout_ns};

	return hook.command ? ib_hook_run(run, "02-convert", &hook, err) : 0;
}

/* The verdict on the cache condition, from all endpoints' counters together and from the files. */
static void judge_cache(const struct slot_run *s, struct ib_run *run, int64_t input_tokens)
{
	const struct ib_endpoints *e = &s->endpoints;
	ib_auto_free char *before = ib_endpoints_join(e->before, e->n), *after = ib_endpoints_join(e->after, e->n);

	if (s->group->evidence.engine || s->group->evidence.files)
		ib_cache_judge(&s->group->evidence, s->slot->condition, before, after, input_tokens, run->record);
}

static int step_outcome(void *arg, struct ib_run *run, struct ib_err *err)
{
	const struct slot_run *s = arg;
	int64_t input_tokens, files;
	int r = ib_expect_read(run, &input_tokens, &files, err);

	if (r < 0)
		return r;
	judge_cache(s, run, input_tokens);
	ib_expect_judge(&s->group->expect, files, run->record);
	return 0;
}

/* The workloads of a group: its own, or all that are files. */
static size_t list_workloads(const struct slot_run *s, struct ib_run_workload *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->contract->workloads_n; i++) {
		const struct ib_contract_workload *w = &s->contract->workloads[i];

		if (w->file && (!s->group->workload || strcmp(s->group->workload, w->name) == 0))
			ret[n++] = (struct ib_run_workload){w->name, w->file, w->sha256};
	}
	return n;
}

int ib_plan_slot(struct ib_plan *plan, const struct ib_contract_slot *slot, int attempt, struct ib_record *ret_record, struct ib_err *err)
{
	const struct ib_contract *c = &plan->contract;
	struct slot_run s = {.contract = c, .group = &c->groups[slot->group_at], .slot = slot};
	ib_auto_free struct ib_run_workload *workloads = ib_realloc(NULL, c->workloads_n + 1, sizeof(*workloads));
	ib_auto_free struct ib_var *variables = NULL;
	ib_auto_strv struct ib_strv argv = {0};
	struct ib_run_spec spec = {
		.group = slot->group,
		.cell = slot->cell,
		.repeat = (int)slot->repeat,
		.attempt = attempt,
		.strict_placeholders = true,
		.cache_condition = ib_condition_name(slot->condition),
		.timeout_ns = s.group->timeout_ns,
		.grace_ns = s.group->grace_ns,
		.client = s.group->client,
		.no_progress_ns = s.group->no_progress_ns,
		.memory_bytes = s.group->memory_bytes == IB_UNSET ? 0 : s.group->memory_bytes,
		.pty = s.group->pty,
		.no_network = s.group->no_network,
		.progress = &plan->progress,
		.expected_status = (int)s.group->expect.exit_status,
		.no_capture = plan->options->no_capture,
		.no_sample = !c->sample || plan->options->no_sample,
		.sample_interval_ns = c->sample_interval_ns,
		.contract_sha256 = plan->json_sha256,
		.workloads = workloads,
		.workloads_n = list_workloads(&s, workloads),
		.steps = {&s, step_ready, step_check, step_quiesce, step_reset, step_warmup, step_before, step_after, step_convert, step_outcome,
			  step_permit},
	};
	int r;

	spec.variables_n = ib_run_variables(slot->variables, &variables);
	spec.variables = variables;
	spec.sampling = (struct ib_run_sampling){s.group->has_evidence ? &s.group->evidence : NULL, c->endpoint};
	ib_hook_argv(slot->command, &argv);
	spec.argv = argv.v;
	if (!plan->options->no_capture && !plan->nodes_asked) /* once, before the first run of this process */
		ib_nodes_capture(plan->ctx, &plan->study, &plan->signals, c->nodes, &plan->nodes);
	plan->nodes_asked = true;
	s.nodes = plan->nodes;
	r = ib_run_one(plan->ctx, &plan->study, &plan->signals, &spec, ret_record, err);
	ib_endpoints_clear(&s.endpoints);
	ib_server_logs_free(&s.logs);
	return r;
}
