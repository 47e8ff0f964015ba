/* SPDX-License-Identifier: Apache-2.0 */
/* What surrounds the groups of a contract: what is asked, of what, and what the answer cannot say. */
#include <inttypes.h>

#include "base/auto.h"
#include "base/str.h"
#include "init/inside.h"

static void set(struct ib_buf *b, int indent, const char *key, const char *text, const char *comment)
{
	ib_buf_addf(b, "%*s%s: ", indent, "", key);
	ib_init_scalar(b, text);
	ib_buf_addf(b, "%s%s\n", comment ? " # " : "", comment ? comment : "");
}

static void add_head(struct ib_buf *b, const struct ib_init_values *v)
{
	ib_buf_addf(b,
		    "# The plan of a study with %s: what is measured, how, and what must hold, fixed before anything runs.\n"
		    "# Lines marked EDIT hold what only you know. ib-contract(5) explains every key.\n"
		    "#   ib-run --plan contract.yaml --dry-run    every command, in order, and what is odd about them\n"
		    "#   ib-run --plan contract.yaml              runs it; run it again to go on where it stopped\n",
		    v->client->title);
	set(b, 0, "study", v->study, NULL);
	set(b, 0, "question",
	    v->client->in_process ? "What do threads and a longer input change?" : "What do concurrency, a longer input and a filled prefix cache change?",
	    "EDIT: the one question");
	set(b, 0, "boundary", "One model, one server configuration, synthetic prompts of fixed lengths.", "EDIT: what this cannot answer");
	set(b, 0, "decision", "none yet", "EDIT: what is decided with the answer, and which result would change it");
}

static void add_model(struct ib_buf *b, const struct ib_init_options *o, const struct ib_init_values *v)
{
	ib_buf_adds(b, "model:\n");
	set(b, 2, "id", v->model, o->model ? NULL : "EDIT: the name that the server knows it by");
	ib_buf_adds(b, "  # revision: # EDIT: a commit or digest; a branch or 'latest' moves\n  # licence: # EDIT\n");
	if (v->client->in_process)
		return;
	ib_buf_adds(b, "tokenizer:\n");
	set(b, 2, "id", v->tokenizer, o->tokenizer ? NULL : "EDIT: where it differs from the model, such as a local directory");
}

static void add_serving(struct ib_buf *b, const struct ib_init_options *o, const struct ib_init_values *v)
{
	bool served = !v->client->in_process;

	ib_buf_adds(b, "serving:\n");
	set(b, 2, "engine", v->server->engine ? v->server->engine : served ? "unknown" : "llama.cpp", served && !v->server->engine ? "EDIT" : NULL);
	ib_buf_adds(b, "  # version: # EDIT: or commit\n  # precision: # EDIT: bfloat16, fp8 ...; quantisation, context_length too\n");
	if (!served) {
		ib_buf_adds(b, "  mode: in the client's process\n");
		return;
	}
	ib_buf_adds(b, "  # prefix_cache: # EDIT: on or off, and its block size\n");
	set(b, 2, "endpoint", v->endpoint, o->endpoint ? NULL : "EDIT");
	ib_buf_adds(b, "  mode: streaming\n"
		       "  # colocated: true # EDIT: whether client and server share a machine\n"
		       "  # command: [] # EDIT: how the server is started; recorded, not run\n");
	ib_buf_addf(b, "decoding:\n  temperature: \"0\"\n  ignore_eos: \"true\"\n  output_tokens: \"%" PRId64 "\"\n", v->output_tokens);
}

static void add_readiness(struct ib_buf *b, const struct ib_init_options *o, const struct ib_init_values *v)
{
	ib_auto_free char *url = ib_asprintf("%s/health", v->endpoint);

	if (o->permission)
		set(b, 0, "permission", o->permission, "the endpoint is neither this machine nor on a private network");
	if (v->client->in_process)
		return;
	ib_buf_adds(b, "readiness: # before every run; a run without a ready server is refused, not failed\n");
	set(b, 2, "url", url, NULL);
	ib_buf_adds(b, "  timeout: 10m\n"
		       "# server_logs: # EDIT: each run keeps its slice; {since} and {until} are times of the run\n"
		       "#   - name: server\n"
		       "#     command: [journalctl, -u, my-server, --since, \"{since}\", --until, \"{until}\", --no-pager]\n");
}

static void add_quality(struct ib_buf *b, const struct ib_init_values *v)
{
	if (v->client->in_process)
		return;
	ib_buf_addf(b,
		    "# quality: # EDIT: required where model, precision or engine varies; apart from the runs that measure speed\n"
		    "#   cases:\n"
		    "#     - name: capital\n"
		    "#       http: %s/v1/completions\n"
		    "#       body: '{\"model\": \"...\", \"prompt\": \"The capital of France is\", \"max_tokens\": 4, \"temperature\": 0}'\n"
		    "#       json: /choices/0/text\n"
		    "#       contains: [Paris]\n",
		    v->endpoint);
}

static void add_tail(struct ib_buf *b, const struct ib_init_values *v)
{
	ib_buf_adds(b, "# targets: # EDIT: what must come out, fixed before any run\n"
		       "#   - {group: baseline, metric: ttft_p50_ms, value: 200, tolerance: 0.1, direction: lower}\n"
		       "limitations: # EDIT\n");
	if (!v->client->in_process)
		ib_buf_addf(b, "  - Random prompts of one length; %" PRId64 " requests a run support no percentile above p%s.\n", v->prompts,
			    v->prompts >= 100 ? "99" : "95");
	for (const char *const *line = v->client->limits; *line; line++) {
		ib_buf_adds(b, "  - ");
		ib_init_scalar(b, *line);
		ib_buf_addc(b, '\n');
	}
	set(b, 0, "next", "none yet", "EDIT: the experiment that follows");
	ib_buf_adds(b, "stop:\n  failed_runs: 1 # the plan stops at the first run that is not as expected\n");
	if (v->server->evidence && !v->client->in_process)
		ib_buf_adds(b, "  contradicted_runs: 1 # or whose cache condition the counters contradict\n");
}

void ib_init_contract(struct ib_buf *b, const struct ib_init_options *o, const struct ib_init_values *v)
{
	add_head(b, v);
	add_model(b, o, v);
	add_serving(b, o, v);
	ib_buf_adds(b, v->client->in_process ? "metrics: [prompt_throughput, generation_throughput]\n"
					     : "metrics: [ttft, tpot, itl, e2e, request_throughput, output_tokens]\n");
	ib_init_workloads(b, v);
	add_readiness(b, o, v);
	ib_init_groups(b, v);
	add_quality(b, v);
	add_tail(b, v);
}
