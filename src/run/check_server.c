/* SPDX-License-Identifier: Apache-2.0 */
/* --check: the server: ready, the model that is meant, its tokenizer, reset route, counters. Only what changes nothing is asked: no reset is posted. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "run/check.h"
#include "model/engine.h"

#define BODY_MAX (16u << 20)

/* --- readiness --- */

static void look_ready(struct ib_preflight *p)
{
	ib_auto_buf struct ib_buf body = IB_BUF(BODY_MAX);
	struct ib_err err = {0};
	int status = 0;

	if (!p->contract->readiness.url) {
		ib_preflight_say(p, IB_CHECKED_NOT, p->contract->readiness.command ? "readiness is a command, and none is run here"
										  : "the contract does not say how a server that is ready is told");
		return;
	}
	if (ib_preflight_ask(p, p->contract->readiness.url, NULL, &body, &status, &err) < 0)
		ib_preflight_say(p, IB_CHECKED_FAIL, "%s: runs are refused until it is there", err.text);
	else if (status != 200)
		ib_preflight_say(p, IB_CHECKED_FAIL, "the answer's status is %d: runs are refused until it is 200 to 299", status);
	else
		ib_preflight_say(p, IB_CHECKED_OK, "the server is ready");
}

const struct ib_plan_check ib_plan_check_ready = {.name = "readiness", .title = "the server is ready", .look = look_ready};

/* --- model --- */

static const char *text_at(const json_t *o, const char *a, const char *b)
{
	return json_string_value(json_object_get(json_object_get(o, a), b));
}

/* The entry of a list of models whose id is that, or NULL. */
static const json_t *served(const json_t *models, const char *id)
{
	const json_t *data = json_object_get(models, "data");

	for (size_t i = 0; i < json_array_size(data); i++)
		if (ib_streq(json_string_value(json_object_get(json_array_get(data, i), "id")), id))
			return json_array_get(data, i);
	return NULL;
}

static const char *first_id(const json_t *models)
{
	const char *id = json_string_value(json_object_get(json_array_get(json_object_get(models, "data"), 0), "id"));

	return id ? id : "no model";
}

/* Asks the endpoint for a path; NULL where there is no JSON to be had: why is in err. New reference. */
static json_t *ask_json(const struct ib_preflight *p, const char *path, const char *body, struct ib_err *err)
{
	const char *endpoint = ib_preflight_endpoint(p);
	ib_auto_free char *origin = endpoint ? ib_preflight_origin(endpoint) : NULL, *url = origin ? ib_asprintf("%s%s", origin, path) : NULL;
	ib_auto_buf struct ib_buf answer = IB_BUF(BODY_MAX);
	json_t *j = NULL;
	int status = 0;

	if (!url)
		(void)!ib_fail(err, IB_E_STATE, 0, "neither the contract nor a command names an endpoint");
	else if (ib_preflight_ask(p, url, body, &answer, &status, err) < 0)
		return NULL;
	else if (status != 200)
		(void)!ib_fail(err, IB_E_STATE, 0, "%s is answered with status %d", path, status);
	else if (ib_json_load_foreign(ib_buf_str(&answer), answer.len, path, &j, err) < 0)
		return NULL;
	return j;
}

static void look_id(struct ib_preflight *p, const json_t *models, const char *id, const char *who)
{
	if (served(models, id))
		ib_preflight_say(p, IB_CHECKED_OK, "'%s' is served, as %s says", id, who);
	else
		ib_preflight_say(p, IB_CHECKED_FAIL, "%s says '%s', and '%s' is served", who, id, first_id(models));
}

static void look_context(struct ib_preflight *p, const json_t *models, const char *id)
{
	const json_t *wanted = json_object_get(json_object_get(p->contract->json, "serving"), "context_length");
	const json_t *has = json_object_get(served(models, id), "max_model_len");

	if (json_is_integer(wanted) && json_is_integer(has) && json_integer_value(wanted) != json_integer_value(has))
		ib_preflight_say(p, IB_CHECKED_FAIL, "the contract says a context of %lld tokens, the server has %lld", (long long)json_integer_value(wanted),
				 (long long)json_integer_value(has));
}

static void look_model(struct ib_preflight *p)
{
	const char *id = text_at(p->contract->json, "model", "id"), *last = NULL;
	struct ib_err err = {0};
	ib_auto_json json_t *models = ask_json(p, "/v1/models", NULL, &err);

	if (!models) {
		ib_preflight_say(p, IB_CHECKED_NOT, "what is served is not known: %s", err.text);
		return;
	}
	if (id) {
		look_id(p, models, id, "the contract");
		look_context(p, models, id);
	}
	for (size_t i = 0; i < p->view->n; i++) {
		const struct ib_lint_cell *c = &p->view->cells[i];
		const char *name = ib_lint_flag(c, "--served-model-name"), *asked = name && *name ? name : c->settings.v[IB_SET_MODEL];
		ib_auto_free char *who = ib_asprintf("the command of %s.%s", c->group->name, c->slot->cell);

		if (!asked || strpbrk(asked, "{$") || ib_streq(asked, last) || ib_streq(asked, id))
			continue;
		last = asked;
		look_id(p, models, asked, who);
	}
	if (!id && !last)
		ib_preflight_say(p, IB_CHECKED_NOT, "'%s' is served, and neither contract nor command names a model", first_id(models));
}

const struct ib_plan_check ib_plan_check_model = {.name = "model", .title = "the model that is meant is the one that is served", .look = look_model};

/* --- tokenizer --- */

static const char known_text[] = "The quick brown fox jumps over 13 lazy dogs; naive cafe, 3.14159 and a tab.\tEnd";

/* tokenizer.json of the contract, where it is at hand. Allocated, or NULL. */
static char *local_tokenizer(const struct ib_preflight *p)
{
	const json_t *files = json_object_get(json_object_get(p->contract->json, "tokenizer"), "files");

	for (size_t i = 0; i < json_array_size(files); i++) {
		const char *path = json_string_value(json_object_get(json_array_get(files, i), "path"));
		ib_auto_free char *full = path ? path[0] == '/' ? ib_strdup(path) : ib_asprintf("%s/%s", p->study, path) : NULL;

		if (full && ib_ends(full, "tokenizer.json") && access(full, R_OK) == 0)
			return ib_steal(&full);
	}
	return NULL;
}

/* Tokens of the known text by a local tokenizer; IB_UNSET where no library for it is installed. */
static int64_t count_locally(const struct ib_preflight *p, const char *tokenizer)
{
	static const char script[] = "import sys\nfrom tokenizers import Tokenizer\nprint(len(Tokenizer.from_file(sys.argv[1]).encode(sys.argv[2]).ids))";
	const char *const argv[] = {"python3", "-c", script, tokenizer, known_text, NULL};
	struct ib_spawn what = {.argv = argv, .env = p->ctx->env, .timeout_ns = 60 * IB_NS};
	ib_auto_buf struct ib_buf out = IB_BUF(4096);
	struct ib_child_end end = {0};
	ib_auto_free char *line = NULL;
	int64_t n = IB_UNSET;

	if (ib_spawn(&what, &out, &end, NULL) < 0 || end.status != 0)
		return IB_UNSET;
	line = ib_strndup(ib_buf_str(&out), strcspn(ib_buf_str(&out), "\r\n"));
	return ib_parse_int(line, 0, 1 << 20, &n, NULL) < 0 ? IB_UNSET : n;
}

/* vLLM takes "prompt" and counts; llama.cpp takes "content" and lists. */
static int count_served(const struct ib_preflight *p, int64_t *ret, struct ib_err *err)
{
	const char *id = text_at(p->contract->json, "model", "id");
	ib_auto_json json_t *request = ib_json_object(), *answer = NULL;
	ib_auto_buf struct ib_buf body = IB_BUF(65536);
	const json_t *count, *tokens;

	if (id)
		ib_json_set_str(request, "model", id);
	ib_json_set_str(request, "prompt", known_text);
	ib_json_set_str(request, "content", known_text);
	ib_json_set_bool(request, "add_special", true);
	ib_json_write(request, &body);
	answer = ask_json(p, "/tokenize", ib_buf_str(&body), err);
	if (!answer)
		return err->code;
	count = json_object_get(answer, "count");
	tokens = json_object_get(answer, "tokens");
	if (!json_is_integer(count) && !json_is_array(tokens))
		return ib_fail(err, IB_E_SYNTAX, 0, "/tokenize counts nothing");
	*ret = json_is_integer(count) ? json_integer_value(count) : (int64_t)json_array_size(tokens);
	return 0;
}

static void look_tokenizer(struct ib_preflight *p)
{
	ib_auto_free char *file = local_tokenizer(p);
	struct ib_err err = {0};
	int64_t server = 0, local;
	int r = count_served(p, &server, &err);

	local = r == 0 && file ? count_locally(p, file) : IB_UNSET;
	if (r < 0)
		ib_preflight_say(p, IB_CHECKED_NOT, "the server does not tokenize for others: %s", err.text);
	else if (!file)
		ib_preflight_say(p, IB_CHECKED_NOT, "the server makes %" PRId64 " tokens of a known text; 'tokenizer: files' names no tokenizer.json that is at hand to "
						    "compare with", server);
	else if (local == IB_UNSET)
		ib_preflight_say(p, IB_CHECKED_NOT, "the server makes %" PRId64 " tokens of a known text; python3 has no 'tokenizers' to compare with", server);
	else if (local != server)
		ib_preflight_say(p, IB_CHECKED_FAIL, "of a known text the server makes %" PRId64 " tokens and the client's tokenizer %" PRId64 ": lengths that are asked for "
						     "are not those that are served", server, local);
	else
		ib_preflight_say(p, IB_CHECKED_OK, "server and client make the same %" PRId64 " tokens of a known text", server);
}

const struct ib_plan_check ib_plan_check_tokenizer = {.name = "tokenizer", .title = "client and server count tokens alike", .look = look_tokenizer};

/* --- reset --- */

/* Routes that do nothing on GET: vLLM's answer it with 405. Others, SGLang's among them, may reset on any request. */
static bool safe_to_get(const char *url)
{
	static const char *const routes[] = {"/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache"};
	const char *path = strstr(url, "://");
	size_t n;

	path = path ? strchr(path + 3, '/') : NULL;
	n = path ? strcspn(path, "?#") : 0;
	for (size_t i = 0; i < IB_LEN(routes); i++)
		if (n == strlen(routes[i]) && strncmp(path, routes[i], n) == 0)
			return true;
	return false;
}

static void look_route(struct ib_preflight *p, const struct ib_contract_group *g)
{
	ib_auto_buf struct ib_buf body = IB_BUF(BODY_MAX);
	struct ib_err err = {0};
	int status = 0;

	if (!safe_to_get(g->reset.http))
		ib_preflight_say(p, IB_CHECKED_NOT, "group '%s': whether its reset route is there cannot be asked without perhaps resetting", g->name);
	else if (ib_preflight_ask(p, g->reset.http, NULL, &body, &status, &err) < 0)
		ib_preflight_say(p, IB_CHECKED_NOT, "group '%s': %s", g->name, err.text);
	else if (status == 405 || status == 200)
		ib_preflight_say(p, IB_CHECKED_OK, "group '%s': the reset route is there (a GET is answered with %d; nothing was reset)", g->name, status);
	else if (status == 404)
		ib_preflight_say(p, IB_CHECKED_FAIL, "group '%s': the reset route is not there (404); vLLM has it only with VLLM_SERVER_DEV_MODE=1", g->name);
	else
		ib_preflight_say(p, IB_CHECKED_FAIL, "group '%s': the reset route is answered with status %d", g->name, status);
}

static void look_reset(struct ib_preflight *p)
{
	const char *last = NULL;

	for (size_t i = 0; i < p->contract->groups_n; i++) {
		const struct ib_contract_group *g = &p->contract->groups[i];

		if (g->reset.http && !ib_streq(g->reset.http, last))
			look_route(p, g);
		last = g->reset.http ? g->reset.http : last;
	}
}

const struct ib_plan_check ib_plan_check_reset = {.name = "reset", .title = "the route that resets the cache is there", .look = look_reset};

/* --- metrics --- */

/* The first counter that an engine has and the page has not, or NULL. */
static const char *missing_counter(const struct ib_contract_evidence *e, const char *page)
{
	struct ib_engine engine;
	bool late;

	if (!ib_engine_of(e, &engine))
		return NULL;
	late = engine.hits_with && !isnan(ib_prometheus_sum(page, engine.hits_with));
	for (size_t i = 0; i < IB_ENGINE_NAMES; i++) {
		if (engine.queries[i] && isnan(ib_prometheus_sum(page, engine.queries[i])))
			return engine.queries[i];
		if (engine.hits[i] && !late && isnan(ib_prometheus_sum(page, engine.hits[i])))
			return engine.hits[i];
	}
	return NULL;
}

static void look_page(struct ib_preflight *p, const struct ib_contract_group *g, const char *url)
{
	ib_auto_buf struct ib_buf page = IB_BUF(BODY_MAX);
	struct ib_err err = {0};
	const char *missing;
	int status = 0;

	if (ib_preflight_ask(p, url, NULL, &page, &status, &err) < 0) {
		ib_preflight_say(p, IB_CHECKED_NOT, "group '%s': %s", g->name, err.text);
		return;
	}
	missing = status == 200 ? missing_counter(&g->evidence, ib_buf_str(&page)) : NULL;
	if (status != 200)
		ib_preflight_say(p, IB_CHECKED_FAIL, "group '%s': the metrics are answered with status %d: every run would be unconfirmed", g->name, status);
	else if (missing)
		ib_preflight_say(p, IB_CHECKED_FAIL, "group '%s': the metrics do not hold '%s' of engine %s: every run would be unconfirmed", g->name, missing,
				 g->evidence.engine);
	else
		ib_preflight_say(p, IB_CHECKED_OK, "group '%s': the metrics hold the counters of engine %s", g->name, g->evidence.engine);
}

static void look_metrics(struct ib_preflight *p)
{
	ib_auto_strv struct ib_strv done = {0};

	for (size_t i = 0; i < p->contract->groups_n; i++) {
		const struct ib_contract_group *g = &p->contract->groups[i];

		for (size_t k = 0; g->has_evidence && g->evidence.engine && k < ib_evidence_urls(&g->evidence); k++) {
			const char *url = ib_evidence_url(&g->evidence, k);
			bool seen = false;

			for (size_t d = 0; d < done.n; d++)
				seen = seen || strcmp(done.v[d], url) == 0;
			if (!seen)
				look_page(p, g, url);
			ib_strv_add(&done, url);
		}
	}
}

const struct ib_plan_check ib_plan_check_metrics = {.name = "metrics", .title = "the server's metrics hold what evidence is taken from", .look = look_metrics};
