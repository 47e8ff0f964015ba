/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of what a client leaves behind: records of each request, in the run's own directory, one result a run. */
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "run/lint.h"

#define CONFIG_MAX (1u << 20)

/* --- L11: what a client must be told so that its numbers can be derived again --- */

struct need {
	const char *client, *flags; /* one of them, separated by "|" */
	const char *holds;          /* its value must hold this; NULL: it must be there. "{output_dir}": any placeholder of the run's own */
	const char *why;
};

static const struct need needs[] = {
	{"vllm-bench", "--save-result", NULL, "without it no result file is written"},
	{"vllm-bench", "--save-detailed", NULL, "without it there are no records of requests, and no TTFT derives"},
	{"vllm-bench", "--result-dir|--result-filename", "{output_dir}", "results of all runs would land in one directory"},
	{"vllm-bench", "--percentile-metrics", "e2el", "end-to-end times are not in its summary otherwise"},
	{"sglang-bench", "--output-file", "{output_dir}", "it appends to one file of the study otherwise"},
	{"sglang-bench", "--output-details", NULL, "without it there are no records, and failed requests leave no trace"},
	{"guidellm", "--output|--output-path|--output-dir|--outputs", "{output_dir}", "it overwrites 'benchmarks.json' otherwise"},
	{"aiperf", "--output-artifact-dir|--artifact-dir|--artifact-directory", "{output_dir}", "a run replaces the records of the one before otherwise"},
	{"aiperf", "--random-seed", NULL, "without it nobody can send the same prompts again"},
	{"inference-perf", "--storage.local_storage.path", "{output_dir}", "its reports land beside those of other runs otherwise"},
	{"genai-bench", "--experiment-base-dir", "{output_dir}", "its folder lands beside those of other runs otherwise"},
};

static bool fits(const struct need *n, const char *value)
{
	if (!value)
		return false;
	return !n->holds || (strcmp(n->holds, "{output_dir}") == 0 ? ib_lint_own(value) : strstr(value, n->holds) != NULL);
}

/* Does one of the flags fit? */
static bool meets(const struct need *n, const struct ib_lint_cell *c)
{
	for (const char *at = n->flags; *at;) {
		size_t len = strcspn(at, "|");
		ib_auto_free char *one = ib_strndup(at, len);

		if (fits(n, ib_lint_flag(c, one)))
			return true;
		at += len + (at[len] == '|');
	}
	return false;
}

/* A client that writes into the working directory is fine where a shell goes to the run's own first. */
static bool goes_there(const struct ib_lint_cell *c)
{
	for (size_t i = 0; i < json_array_size(c->slot->command); i++) {
		const char *word = json_string_value(json_array_get(c->slot->command, i)), *cd = strstr(word, "cd ");

		if (cd && ib_lint_own(cd))
			return true;
	}
	return false;
}

/* Records are off in inference-perf unless its configuration asks for them. */
static void look_config(const struct ib_lint_view *v, const struct ib_lint_cell *c, struct ib_lint_out *out)
{
	const char *path = ib_lint_flag(c, "-c|--config|--config_file"), *flag = ib_lint_flag(c, "--report.request_lifecycle.per_request");
	ib_auto_buf struct ib_buf b = IB_BUF(CONFIG_MAX);
	const char *at;

	if (flag ? strcasecmp(flag, "true") == 0 : !path || v->study_fd < 0 || ib_read_file(v->study_fd, path, &b, NULL) < 0)
		return;
	at = strstr(ib_buf_str(&b), "per_request:");
	if (!at || strncasecmp(at + 12 + strspn(at + 12, " "), "true", 4) != 0)
		ib_lint_say(out, c->group, c->slot, "'%s' does not set 'per_request: true': without it there are no records of requests",
			    path ? path : "the command");
}

static void look_results(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];

		/* one cell of a group speaks for the others: what they differ in is values */
		if (!c->client || (i && v->cells[i - 1].group == c->group))
			continue;
		for (size_t k = 0; k < IB_LEN(needs); k++)
			if (strcmp(needs[k].client, c->client->name) == 0 && !meets(&needs[k], c) && !(needs[k].holds && goes_there(c)))
				ib_lint_say(out, c->group, NULL, "%.*s%s%s is missing: %s", (int)strcspn(needs[k].flags, "|"), needs[k].flags,
					    needs[k].holds ? " " : "", needs[k].holds ? needs[k].holds : "", needs[k].why);
		if (strcmp(c->client->name, "inference-perf") == 0)
			look_config(v, c, out);
	}
}

const struct ib_lint ib_lint_results = {
	.id = "L11", .title = "a known client keeps the records of its requests, in the run's own directory", .look = look_results};

/* --- L20: the client that the contract names --- */

static void look_client(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	static const char *const names[][2] = {{"vllm", "vllm"}, {"guidellm", "guidellm"}, {"aiperf", "aiperf"}, {"sglang", "sglang"},
					       {"inference-perf", "inference-perf"}, {"llama-bench", "llama-bench"}};

	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];

		if (i && v->cells[i - 1].group == c->group)
			continue;
		for (size_t k = 0; k < IB_LEN(names) && c->client && c->group->client; k++)
			if (strcmp(names[k][0], c->group->client) == 0 && !ib_starts(c->client->name, names[k][1]))
				ib_lint_say(out, c->group, NULL, "'client' is %s and the command that of %s", c->group->client, c->client->name);
	}
}

const struct ib_lint ib_lint_client = {.id = "L20", .title = "the command is that of the client that is named", .look = look_client};

/* --- L12 --- */

static bool list_own(const json_t *command)
{
	for (size_t i = 0; i < json_array_size(command); i++)
		if (ib_lint_own(json_string_value(json_array_get(command, i))))
			return true;
	return false;
}

static void look_output_dir(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i];

		if (!list_own(g->command) && !list_own(g->convert))
			ib_lint_say(out, g, NULL, "neither command nor 'convert' uses {output_dir}: what it writes belongs to no run, and only its output on the terminal "
						  "is kept");
	}
}

const struct ib_lint ib_lint_output_dir = {.id = "L12", .title = "results are written to {output_dir}", .look = look_output_dir};

/* --- L13 --- */

static void look_shared_file(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	static const char flags[] = "-o|--output|--output-file|--output-path|--result-filename|--export-json|--out|--results-dir|--log_outdir";

	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];
		const char *file = ib_lint_flag(c, flags), *dir = ib_lint_flag(c, "--result-dir|--output-dir|--out-dir"), *dot = file ? strrchr(file, '.') : NULL;

		if (!dot || !dot[1] || strchr(dot, '/') || ib_lint_own(file) || (dir && ib_lint_own(dir)) || (i && v->cells[i - 1].group == c->group) || goes_there(c))
			continue;
		ib_lint_say(out, c->group, NULL, "every repeat writes '%s': one overwrites the other, or adds to it", file);
	}
}

const struct ib_lint ib_lint_shared_file = {.id = "L13", .title = "repeats share no result file", .look = look_shared_file};

/* --- L14 --- */

/* Why a run would hold several results, or NULL. */
static const char *several(const struct ib_lint_cell *c)
{
	const char *rate = c->settings.v[IB_SET_RATE], *cap = c->settings.v[IB_SET_CONCURRENCY], *runs = ib_lint_flag(c, "--num-runs"), *profile;

	if (c->commands > 1)
		return "its command starts a client more than once";
	if (!c->client)
		return NULL;
	if ((rate && strchr(rate, ',')) || (cap && strchr(cap, ',')))
		return "a list of rates or caps is several measurements in one run";
	if (ib_lint_flag(c, "--append-result"))
		return "--append-result adds to a file that has a result";
	if (runs && strcmp(runs, "1") != 0)
		return "--num-runs repeats within a run";
	profile = strcmp(c->client->name, "guidellm") == 0 ? ib_lint_flag(c, "--profile|--rate-type") : NULL;
	return profile && strstr(profile, "sweep") ? "a sweep is several measurements in one run" : NULL;
}

static void look_many_results(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->n; i++) {
		const char *why = several(&v->cells[i]);

		if (why)
			ib_lint_say(out, v->cells[i].group, v->cells[i].slot,
				    "%s: one invocation a run, so that a late failure loses one result and each has its evidence", why);
	}
}

const struct ib_lint ib_lint_many_results = {.id = "L14", .title = "a run holds one result of one client", .look = look_many_results};
