/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix: a short baseline alone and four at a time, a longer input, and what the prefix cache saves. */
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "init/inside.h"

#define LONGER 4 /* times the input of the baseline */

enum { BASELINE, LONGER_INPUT, CACHE_CONTROL };

struct group {
	int kind;
	const char *name, *question, *workload;
};

static const struct group groups[] = {
	{BASELINE, "baseline", "How fast is a short prompt, one at a time and four at a time?", "short"},
	{LONGER_INPUT, "longer-input", "What does four times the input cost?", "long"},
	{CACHE_CONTROL, "cache-control", "What does a prefix cache that holds every prompt save?", "long"},
};

static const struct group alone[] = {
	{BASELINE, "baseline", "How fast is the model with one thread and with four?", "short"},
	{LONGER_INPUT, "longer-input", "What does four times the input cost?", "long"},
};

/* v for one group. */
static struct ib_init_values of_group(const struct ib_init_values *v, const struct group *g)
{
	struct ib_init_values own = *v;

	own.input_tokens = g->kind == BASELINE ? v->input_tokens : v->input_tokens * LONGER;
	own.workload = strcmp(g->workload, "short") == 0 ? "workload/short.jsonl" : "workload/long.jsonl";
	own.out = "{output_dir}";
	own.cap = v->client->in_process ? "{threads}" : g->kind == CACHE_CONTROL ? "1" : "{cap}";
	return own;
}

static bool uses_file(const struct ib_init_values *v)
{
	for (char *const *w = v->command; w && *w; w++)
		if (strstr(*w, "{workload}"))
			return true;
	return false;
}

void ib_init_workloads(struct ib_buf *b, const struct ib_init_values *v)
{
	ib_buf_adds(b, "workloads:\n");
	for (size_t i = 0; i < 2; i++) {
		struct ib_init_values own = of_group(v, &groups[i]);

		ib_buf_addf(b, "  - name: %s\n    description: %" PRId64 " prompts of %" PRId64 " tokens, %" PRId64 " output tokens asked for\n", groups[i].workload,
			    own.prompts, own.input_tokens, own.output_tokens);
		if (uses_file(v)) {
			ib_buf_addf(b, "    file: %s # EDIT: make it, and put its SHA-256 here: the runs are then refused when it changes\n", own.workload);
			ib_buf_adds(b, "    # sha256:\n");
		} else if (v->client->in_process) {
			own.cap = "1";
			ib_init_argv(b, 4, "generator", &own, IB_INIT_WARM_UP, false);
		} else {
			ib_buf_adds(b, "    record: true # the client makes the prompts itself and keeps none: ib-run --record-workload keeps their digests\n");
			ib_buf_addf(b, "    seed: %d\n", IB_INIT_SEED);
		}
		ib_buf_adds(b, "    # licence: # EDIT: of the prompts\n");
	}
}

/* Is the process that listens at the endpoint one that ib-run can see? */
static bool here(const char *endpoint)
{
	static const char *const hosts[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};

	for (size_t i = 0; i < IB_LEN(hosts); i++)
		if (ib_starts(endpoint, hosts[i]) && strchr(":/", endpoint[strlen(hosts[i])]))
			return true;
	return false;
}

static void add_reset(struct ib_buf *b, const struct ib_init_values *v, bool comments)
{
	ib_auto_free char *url = ib_init_literal(v->endpoint);
	const char *path = v->server->reset_path;

	ib_buf_adds(b, "      reset:");
	if (comments)
		ib_buf_addf(b, " # %s", v->server->reset_why);
	if (path) {
		ib_auto_free char *whole = ib_asprintf("%s%s", url, path);

		ib_buf_adds(b, "\n        http: ");
		ib_init_scalar(b, whole);
		ib_buf_addc(b, '\n');
		return;
	}
	ib_buf_addf(b, "\n        command: [./%s]\n        timeout: 5m\n", v->server->reset_restarts ? "restart-server.sh" : "reset-cache.sh");
	if (v->server->reset_restarts && here(v->endpoint))
		ib_buf_addf(b, "        restart: true%s\n", comments ? " # a run whose server is still the same process is refused" : "");
}

static void add_evidence(struct ib_buf *b, const struct ib_init_values *v, const struct group *g, bool comments)
{
	ib_auto_free char *url = ib_asprintf("%s/metrics", v->endpoint);

	if (!v->server->evidence) {
		if (comments)
			ib_buf_adds(b, "      # evidence: # EDIT: without the server's own counters the cache condition stays unconfirmed; ib-contract(5)\n");
		return;
	}
	ib_buf_addf(b, "      evidence:%s\n        engine: %s\n        metrics_url: ",
		    comments ? " # counters before and after each run, not the label, say what happened" : "", v->server->evidence);
	ib_init_scalar(b, url);
	ib_buf_adds(b, "\n        hits_max: 0");
	if (comments)
		ib_buf_adds(b, " # tokens; EDIT: more where all prompts begin alike, as with a chat template or a system prompt");
	ib_buf_addc(b, '\n');
	if (g->kind == CACHE_CONTROL)
		ib_buf_adds(b, "        hit_share_min: 0.8 # of prompt tokens; the rest of a block, and the last token, are always computed\n");
}

static void add_cache(struct ib_buf *b, const struct ib_init_values *v, const struct group *g)
{
	bool comments = g->kind == BASELINE;
	struct ib_init_values warm = *v;

	ib_buf_adds(b, "    cache:\n");
	if (g->kind != CACHE_CONTROL)
		ib_buf_addf(b, "      condition: reset%s\n", comments ? " # emptied before every run: repeats do the same work in the same state" : "");
	add_reset(b, v, comments);
	if (g->kind == CACHE_CONTROL) {
		warm.out = "{run_dir}/hooks";
		ib_buf_adds(b, "      warmup: # before runs of 'reuse': every prompt of the run once, with the same seed; its results are no output of the run\n");
		ib_init_argv(b, 8, "command", &warm, IB_INIT_WARM_UP, false);
		ib_buf_adds(b, "        timeout: 30m\n");
		ib_buf_adds(b, "      reason: Prompts that come again are what a prefix cache is for. # EDIT: why reuse is of interest to you\n");
	}
	add_evidence(b, v, g, comments);
}

static void add_expect(struct ib_buf *b, const struct ib_init_values *v, const struct group *g)
{
	bool comments = g->kind == BASELINE;

	ib_buf_addf(b, "    expect:%s\n      exit_status: 0\n", comments ? " # a run that does otherwise has failed, whatever its exit status" : "");
	if (!v->client->in_process) {
		ib_buf_addf(b, "      attempts: %" PRId64 "%s\n", v->prompts, comments ? " # requests asked for; fewer in the records are unaccounted for" : "");
		ib_buf_addf(b, "      success_rate_min: 1%s\n", comments ? " # no error, and at least one output token" : "");
		ib_buf_addf(b, "      output_tokens: %" PRId64 "%s\n", v->prompts * v->output_tokens,
			    comments ? " # all that were asked for: an early stop is less work" : "");
		if (v->server->evidence)
			ib_buf_addf(b, "      server_output_tokens: true%s\n", comments ? " # the client's count is the server's" : "");
	}
	ib_buf_adds(b, "      output_files_min: 1\n");
}

static void add_matrix(struct ib_buf *b, const struct ib_init_values *v, const struct group *g)
{
	bool comments = g->kind == BASELINE;

	ib_buf_addf(b, "    fixed:\n      input_tokens: \"%" PRId64 "\"\n      output_tokens: \"%" PRId64 "\"\n", v->input_tokens, v->output_tokens);
	if (!v->client->in_process)
		ib_buf_addf(b, "      prompts: \"%" PRId64 "\"\n", v->prompts);
	if (g->kind == CACHE_CONTROL)
		ib_buf_adds(b, "      cap: \"1\"\n    matrix:\n      cache: [reset, reuse]\n");
	else
		ib_buf_addf(b, "    matrix:%s\n      %s: [1, 4]\n", comments ? " # one condition varies, everything else is held; each combination is a cell" : "",
			    v->client->in_process ? "threads" : "cap");
	if (!v->client->in_process)
		ib_buf_addf(b, "    load: closed%s\n", comments ? " # a cap and no rate. 'open': a rate and no cap, or the cap may never be reached" : "");
	ib_buf_addf(b, "    repeats: 3%s\n", comments ? " # chosen before the results; fewer show no spread" : "");
	ib_buf_addf(b, "    order: %s\n", g->kind == CACHE_CONTROL ? "interleaved # drift of the machine falls on both conditions alike" : "sequential");
}

static void add_group(struct ib_buf *b, const struct ib_init_values *v, const struct group *g)
{
	bool comments = g->kind == BASELINE;

	ib_buf_addf(b, "  - name: %s\n    question: %s\n    client: %s\n", g->name, g->question, v->client->name);
	if (!comments)
		ib_buf_adds(b, "    gate: baseline\n");
	add_matrix(b, v, g);
	ib_buf_addf(b, "    workload: %s\n", g->workload);
	if (!v->client->in_process)
		add_cache(b, v, g);
	for (const char *const *line = v->client->about; comments && *line; line++)
		ib_buf_addf(b, "    # %s\n", *line);
	ib_init_argv(b, 4, "command", v, IB_INIT_MEASURE, comments);
	if (v->client->convert)
		ib_init_words(b, 4, "convert", v, v->client->convert);
	ib_buf_addf(b, "    timeout: 30m%s\n", comments ? " # EDIT: well above what a run takes; clients may hang for hours" : "");
	if (v->client->grace)
		ib_buf_addf(b, "    grace: %s%s\n", v->client->grace, comments ? " # what this client may take to write its results once it is interrupted" : "");
	add_expect(b, v, g);
}

void ib_init_groups(struct ib_buf *b, const struct ib_init_values *v)
{
	const struct group *list = v->client->in_process ? alone : groups;
	size_t n = v->client->in_process ? IB_LEN(alone) : IB_LEN(groups);

	ib_buf_adds(b, "groups:\n");
	for (size_t i = 0; i < n; i++) {
		struct ib_init_values own = of_group(v, &list[i]);

		add_group(b, &own, &list[i]);
	}
}
