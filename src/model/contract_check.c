/* SPDX-License-Identifier: Apache-2.0 */
/* What one key of a contract alone cannot tell: references between keys, conditions that need other keys, secrets. */
#include <regex.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_internal.h"

#define REGEX_MAX 1000

struct checker {
	const struct ib_yaml *y;
	const json_t *json;
	const char *file;
	const struct ib_contract_options *options;
};

static struct ib_yaml_at place_of(const struct ib_yaml *map, const char *key)
{
	const struct ib_yaml *y = ib_yaml_get(map, key);

	return y ? y->at : map->at;
}

/* The member of a list of maps whose name is that, among the first n; NULL for none. */
static const struct ib_yaml *named(const struct ib_yaml *list, const char *name, size_t n)
{
	const struct ib_yaml *c = list ? list->child : NULL;

	for (; c && n; c = c->next, n--)
		if (strcmp(ib_yaml_get(c, "name")->text, name) == 0)
			return c;
	return NULL;
}

static int not_known(const struct checker *k, const struct ib_yaml *y, const char *what, const struct ib_yaml *list, size_t n, struct ib_err *err)
{
	ib_auto_free const char **names = ib_realloc(NULL, n + 1, sizeof(*names));
	const struct ib_yaml *c = list ? list->child : NULL;
	const char *near;
	size_t i = 0;

	for (; c && i < n; c = c->next)
		names[i++] = ib_yaml_get(c, "name")->text;
	names[i] = NULL;
	near = ib_nearest(y->text, names);
	if (near)
		return ib_yaml_fail(err, k->file, y->at, "no %s is called '%s'; did you mean '%s'?", what, y->text, near);
	return ib_yaml_fail(err, k->file, y->at, "no %s is called '%s'", what, y->text);
}

static int check_unique_in(const struct checker *k, const struct ib_yaml *list, const char *key, struct ib_err *err)
{
	size_t i = 0;

	if (list && list->n > 1000)
		return ib_yaml_fail(err, k->file, list->at, "more than 1000 elements in '%s'", key);
	for (const struct ib_yaml *c = list ? list->child : NULL; c; c = c->next, i++) {
		const struct ib_yaml *name = ib_yaml_get(c, "name");
		const struct ib_yaml *first = named(list, name->text, i);

		if (first)
			return ib_yaml_fail(err, k->file, name->at, "name '%s' occurs twice in '%s', first on line %u", name->text, key, ib_yaml_get(first, "name")->at.line);
	}
	return 0;
}

static int check_unique(const struct checker *k, const char *key, struct ib_err *err)
{
	return check_unique_in(k, ib_yaml_get(k->y, key), key, err);
}

/* Exactly one of the keys a and b. */
static int check_one_of(const struct checker *k, const struct ib_yaml *map, const char *a, const char *b, struct ib_err *err)
{
	const struct ib_yaml *ya = ib_yaml_get(map, a), *yb = ib_yaml_get(map, b);

	if (ya && yb)
		return ib_yaml_fail(err, k->file, yb->key_at, "'%s' and '%s' exclude each other", a, b);
	if (!ya && !yb)
		return ib_yaml_fail(err, k->file, map->at, "one of '%s' and '%s' is missing", a, b);
	return 0;
}

static int check_matrix(const struct checker *k, const struct ib_yaml *group, struct ib_err *err)
{
	const struct ib_yaml *matrix = ib_yaml_get(group, "matrix"), *condition = ib_yaml_get(ib_yaml_get(group, "cache"), "condition");

	for (const struct ib_yaml *v = matrix ? matrix->child : NULL; v; v = v->next) {
		enum ib_condition c;

		for (size_t i = 0; ib_template_reserved[i]; i++)
			if (strcmp(v->key, ib_template_reserved[i]) == 0)
				return ib_yaml_fail(err, k->file, v->key_at, "variable '%s' has the name of a placeholder: choose another", v->key);
		if (v->n > 1000)
			return ib_yaml_fail(err, k->file, v->at, "more than 1000 values of variable '%s'", v->key);
		for (const struct ib_yaml *a = v->child; a; a = a->next)
			for (const struct ib_yaml *b = v->child; b != a; b = b->next)
				if (strcmp(a->text, b->text) == 0)
					return ib_yaml_fail(err, k->file, a->at, "value '%.60s' of variable '%s' occurs twice", a->text, v->key);
		if (strcmp(v->key, "cache") != 0)
			continue;
		if (condition)
			return ib_yaml_fail(err, k->file, condition->key_at, "'condition' and the variable 'cache' exclude each other");
		for (const struct ib_yaml *a = v->child; a; a = a->next)
			if (!ib_condition_parse(a->text, &c))
				return ib_yaml_fail(err, k->file, a->at, "variable 'cache' cannot be '%.60s'; it is one of: cold, reset, warm, reuse, unspecified", a->text);
	}
	return 0;
}

static int check_varies(const struct checker *k, const struct ib_yaml *group, struct ib_err *err)
{
	const struct ib_yaml *varies = ib_yaml_get(group, "varies"), *matrix = ib_yaml_get(group, "matrix"), *fixed = ib_yaml_get(group, "fixed");

	for (const struct ib_yaml *v = varies ? varies->child : NULL; v; v = v->next)
		if (!ib_yaml_get(matrix, v->text))
			return ib_yaml_fail(err, k->file, v->at, "'%s' varies, but is no variable of the matrix", v->text);
	for (const struct ib_yaml *f = fixed ? fixed->child : NULL; f; f = f->next)
		if (ib_yaml_get(matrix, f->key))
			return ib_yaml_fail(err, k->file, f->key_at, "'%s' is fixed, but is a variable of the matrix", f->key);
	return 0;
}

/* Does a run of the group have this condition? *ret_at is where it says so. */
static bool has_condition(const struct ib_yaml *group, const char *name, struct ib_yaml_at *ret_at)
{
	const struct ib_yaml *c = ib_yaml_get(ib_yaml_get(group, "cache"), "condition");
	const struct ib_yaml *values = ib_yaml_get(ib_yaml_get(group, "matrix"), "cache");

	if (c && strcmp(c->text, name) == 0) {
		*ret_at = c->at;
		return true;
	}
	for (const struct ib_yaml *v = values ? values->child : NULL; v; v = v->next)
		if (strcmp(v->text, name) == 0) {
			*ret_at = v->at;
			return true;
		}
	return false;
}

static int check_counters(const struct checker *k, const struct ib_yaml *engine, const struct ib_yaml *counters, struct ib_err *err)
{
	bool custom = engine && strcmp(engine->text, "custom") == 0;

	if (custom && !(ib_yaml_get(counters, "queries") && ib_yaml_get(counters, "hits")))
		return ib_yaml_fail(err, k->file, engine->at, "engine 'custom' needs 'counters' with 'queries' and 'hits'");
	if (counters && !custom)
		return ib_yaml_fail(err, k->file, counters->key_at, "'counters' belongs to engine 'custom'");
	return 0;
}

/* Counters need an engine and where they are; page-cache residency needs files. */
static int check_evidence(const struct checker *k, const struct ib_yaml *e, struct ib_err *err)
{
	const struct ib_yaml *engine = ib_yaml_get(e, "engine"), *files = ib_yaml_get(e, "files");
	const struct ib_yaml *shares[] = {ib_yaml_get(e, "resident_share_min"), ib_yaml_get(e, "resident_share_max")};
	bool urls = ib_yaml_get(e, "metrics_url") || ib_yaml_get(e, "metrics_urls");
	int r = urls ? check_one_of(k, e, "metrics_url", "metrics_urls", err) : 0;

	if (r < 0)
		return r;
	if (!engine && !files)
		return ib_yaml_fail(err, k->file, e->at, "one of 'engine' and 'files' is missing");
	if (engine && !urls)
		return ib_yaml_fail(err, k->file, e->at, "one of 'metrics_url' and 'metrics_urls' is missing");
	if (!engine && urls)
		return ib_yaml_fail(err, k->file, e->at, "'engine' is missing: whose names do the counters have?");
	for (size_t i = 0; i < IB_LEN(shares); i++)
		if (shares[i] && !files)
			return ib_yaml_fail(err, k->file, shares[i]->key_at, "'%s' needs 'files'", shares[i]->key);
	return check_counters(k, engine, ib_yaml_get(e, "counters"), err);
}

/* What would fail every time is said before anything is run. */
static int check_patterns(const struct checker *k, const struct ib_yaml *a, struct ib_err *err)
{
	const struct ib_yaml *regex = ib_yaml_get(a, "regex"), *json = ib_yaml_get(a, "json");
	char why[160];
	regex_t re;
	int r;

	if (json && json->text[0] != '/')
		return ib_yaml_fail(err, k->file, json->at, "'%.60s' is no JSON Pointer: it begins with '/', as in '/choices/0/text'", json->text);
	if (!regex)
		return 0;
	if (strlen(regex->text) > REGEX_MAX)
		return ib_yaml_fail(err, k->file, regex->at, "a regular expression has at most %d bytes", REGEX_MAX);
	r = regcomp(&re, regex->text, REG_EXTENDED | REG_NOSUB);
	if (r != 0) {
		regerror(r, &re, why, sizeof(why));
		return ib_yaml_fail(err, k->file, regex->at, "'%.60s' is no POSIX extended regular expression: %s", regex->text, why);
	}
	regfree(&re);
	return 0;
}

/* Is anything expected of the output, or of the value at 'json', besides equals and near? */
static bool expects_text(const struct ib_yaml *a)
{
	return ib_yaml_get(a, "exact") || ib_yaml_get(a, "contains") || ib_yaml_get(a, "regex");
}

static int check_value(const struct checker *k, const struct ib_yaml *a, struct ib_err *err)
{
	const struct ib_yaml *json = ib_yaml_get(a, "json"), *equals = ib_yaml_get(a, "equals"), *near = ib_yaml_get(a, "near");
	const struct ib_yaml *value = equals ? equals : near, *tolerance = ib_yaml_get(a, "tolerance");

	if (value && !json)
		return ib_yaml_fail(err, k->file, value->key_at, "'%s' needs 'json': which value?", value->key);
	if (equals && near)
		return ib_yaml_fail(err, k->file, near->key_at, "'equals' and 'near' exclude each other");
	if ((near != NULL) != (tolerance != NULL))
		return ib_yaml_fail(err, k->file, near ? near->key_at : tolerance->key_at, "'near' and 'tolerance' belong together");
	if (json && !value && !expects_text(a))
		return ib_yaml_fail(err, k->file, json->key_at, "'json' needs 'equals', 'near', 'exact', 'contains' or 'regex': what must the value be?");
	return 0;
}

/* An answer comes from somewhere and is compared with something. */
static int check_answer(const struct checker *k, const struct ib_yaml *a, struct ib_err *err)
{
	const struct ib_yaml *body = ib_yaml_get(a, "body");
	int r = check_one_of(k, a, "command", "http", err);

	if (r < 0)
		return r;
	if ((ib_yaml_get(a, "http") != NULL) != (body != NULL))
		return ib_yaml_fail(err, k->file, body ? body->key_at : a->at, "'http' and 'body' belong together: what is posted where");
	if (!ib_yaml_get(a, "json") && !expects_text(a))
		return ib_yaml_fail(err, k->file, a->at, "nothing is expected: one of 'exact', 'contains', 'regex' and 'json' is missing");
	r = check_value(k, a, err);
	return r < 0 ? r : check_patterns(k, a, err);
}

/* What empties the cache. */
static int check_reset(const struct checker *k, const struct ib_yaml *reset, struct ib_err *err)
{
	const struct ib_yaml *command = ib_yaml_get(reset, "command"), *http = ib_yaml_get(reset, "http");

	if (command && http)
		return ib_yaml_fail(err, k->file, http->key_at, "'command' and 'http' exclude each other");
	if (!command && !http && !ib_yaml_get(reset, "page_cache"))
		return ib_yaml_fail(err, k->file, reset->at, "one of 'command', 'http' and 'page_cache' is missing");
	return 0;
}

static int check_cache(const struct checker *k, const struct ib_yaml *group, struct ib_err *err)
{
	const struct ib_yaml *cache = ib_yaml_get(group, "cache"), *reset = ib_yaml_get(cache, "reset"), *evidence = ib_yaml_get(cache, "evidence");
	const struct ib_yaml *expect = ib_yaml_get(ib_yaml_get(group, "expect"), "server_output_tokens");
	struct ib_yaml_at at;
	int r = evidence ? check_evidence(k, evidence, err) : 0;

	if (r == 0 && reset)
		r = check_reset(k, reset, err);
	if (r < 0)
		return r;
	if (has_condition(group, "reset", &at) && !reset)
		return ib_yaml_fail(err, k->file, at, "cache condition 'reset' needs 'reset' in 'cache': what empties it");
	if (has_condition(group, "reuse", &at) && !ib_yaml_get(cache, "reason"))
		return ib_yaml_fail(err, k->file, at, "cache condition 'reuse' needs 'reason' in 'cache': why the cache is reused");
	if (expect && strcmp(expect->text, "true") == 0 && !ib_yaml_get(evidence, "engine"))
		return ib_yaml_fail(err, k->file, expect->at, "'server_output_tokens' needs 'evidence' in 'cache': where the server's counters are");
	return 0;
}

static int check_group(const struct checker *k, const struct ib_yaml *group, size_t i, struct ib_err *err)
{
	const struct ib_yaml *order = ib_yaml_get(group, "order"), *gate = ib_yaml_get(group, "gate"), *workload = ib_yaml_get(group, "workload");
	const struct ib_yaml *groups = ib_yaml_get(k->y, "groups"), *workloads = ib_yaml_get(k->y, "workloads");
	int r = check_matrix(k, group, err);

	if (r == 0)
		r = check_varies(k, group, err);
	if (r == 0)
		r = check_cache(k, group, err);
	if (r == 0 && ib_yaml_get(group, "output_check"))
		r = check_answer(k, ib_yaml_get(group, "output_check"), err);
	if (r < 0)
		return r;
	if (order && strcmp(order->text, "shuffled") == 0 && !ib_yaml_get(group, "seed"))
		return ib_yaml_fail(err, k->file, order->at, "order 'shuffled' needs 'seed'");
	if (gate && !named(groups, gate->text, i))
		return not_known(k, gate, "earlier group", groups, i, err);
	if (workload && !named(workloads, workload->text, SIZE_MAX))
		return not_known(k, workload, "workload", workloads, workloads ? workloads->n : 0, err);
	return 0;
}

static int check_secrets(const struct checker *k, const struct ib_yaml *y, struct ib_err *err)
{
	for (; y; y = y->next) {
		const char *found = y->text ? k->options->secret(k->options->arg, y->text) : NULL;
		int r;

		if (found && y->key)
			return ib_yaml_fail(err, k->file, y->at, "the value of '%s' holds %s: write ${env:NAME} instead, or leave it out", y->key, found);
		if (found)
			return ib_yaml_fail(err, k->file, y->at, "this value holds %s: write ${env:NAME} instead, or leave it out", found);
		r = y->child ? check_secrets(k, y->child, err) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_quality(const struct checker *k, const struct ib_yaml *quality, struct ib_err *err)
{
	const struct ib_yaml *workload = ib_yaml_get(quality, "workload"), *workloads = ib_yaml_get(k->y, "workloads"), *cases = ib_yaml_get(quality, "cases");
	const struct ib_yaml *minimum = ib_yaml_get(quality, "minimum");
	int r = check_unique_in(k, cases, "cases", err);

	if (r < 0)
		return r;
	if (!ib_yaml_get(quality, "command") && !(cases && cases->child))
		return ib_yaml_fail(err, k->file, quality->at, "one of 'command' and 'cases' is missing");
	if (minimum && !(ib_yaml_get(quality, "command") && ib_yaml_get(quality, "metric")))
		return ib_yaml_fail(err, k->file, minimum->key_at, "'minimum' needs 'command' and 'metric': of which number?");
	if (workload && !named(workloads, workload->text, SIZE_MAX))
		return not_known(k, workload, "workload", workloads, workloads ? workloads->n : 0, err);
	for (const struct ib_yaml *c = cases ? cases->child : NULL; r == 0 && c; c = c->next)
		r = check_answer(k, c, err);
	return r;
}

static int check_top(const struct checker *k, struct ib_err *err)
{
	const struct ib_yaml *readiness = ib_yaml_get(k->y, "readiness"), *workloads = ib_yaml_get(k->y, "workloads");
	const struct ib_yaml *quality = ib_yaml_get(k->y, "quality"), *logs = ib_yaml_get(k->y, "server_logs");
	int r = readiness ? check_one_of(k, readiness, "url", "command", err) : 0;

	for (const struct ib_yaml *w = workloads ? workloads->child : NULL; r == 0 && w; w = w->next)
		if (!ib_yaml_get(w, "file") && !ib_yaml_get(w, "generator") && !ib_yaml_get(w, "record"))
			return ib_yaml_fail(err, k->file, w->at, "one of 'file', 'generator' and 'record' is missing");
	for (const struct ib_yaml *l = logs ? logs->child : NULL; r == 0 && l; l = l->next)
		r = check_one_of(k, l, "file", "command", err);
	return r == 0 && quality ? check_quality(k, quality, err) : r;
}

int ib_contract_check(const struct ib_yaml *y, const json_t *json, const char *file, const struct ib_contract_options *options, struct ib_err *err)
{
	struct checker k = {y, json, file, options};
	size_t i = 0;
	int r = check_unique(&k, "groups", err);

	if (r == 0)
		r = check_unique(&k, "workloads", err);
	if (r == 0)
		r = check_unique(&k, "server_logs", err);
	if (r == 0)
		r = check_unique(&k, "nodes", err);
	if (r == 0)
		r = check_top(&k, err);
	for (const struct ib_yaml *g = ib_yaml_get(y, "groups")->child; r == 0 && g; g = g->next)
		r = check_group(&k, g, i++, err);
	if (r == 0)
		r = ib_contract_check_commands(y, file, err);
	if (r == 0 && options && options->secret)
		r = check_secrets(&k, y, err);
	return r;
}

int ib_contract_check_targets(const struct ib_yaml *y, const json_t *plan, const char *file, struct ib_err *err)
{
	struct checker k = {.y = y, .file = file};
	const struct ib_yaml *groups = ib_yaml_get(y, "groups"), *targets = ib_yaml_get(y, "targets");

	if (targets && targets->n > 1000)
		return ib_yaml_fail(err, file, targets->at, "more than 1000 elements in 'targets'");
	for (const struct ib_yaml *t = targets ? targets->child : NULL; t; t = t->next) {
		const struct ib_yaml *group = ib_yaml_get(t, "group"), *cell = ib_yaml_get(t, "cell");
		bool found = !cell;

		if (!named(groups, group->text, SIZE_MAX))
			return not_known(&k, group, "group", groups, groups->n, err);
		for (size_t i = 0; !found && i < json_array_size(plan); i++) {
			const json_t *slot = json_array_get(plan, i);

			found = strcmp(json_string_value(json_object_get(slot, "group")), group->text) == 0 &&
				strcmp(json_string_value(json_object_get(slot, "cell")), cell->text) == 0;
		}
		if (!found)
			return ib_yaml_fail(err, file, place_of(t, "cell"), "group '%s' has no cell '%s'", group->text, cell->text);
	}
	return 0;
}
