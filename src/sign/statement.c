/* SPDX-License-Identifier: Apache-2.0 */
/* The signed in-toto Statement. */
#include "sign/statement.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define COUNT_MAX ((json_int_t)1 << 53)

const char *const ib_statement_run_keys[IB_STATEMENT_RUNS] = {"planned",     "started",   "completed", "failed",   "timed_out",
							      "interrupted", "abandoned", "refused",   "excluded", "imported"};

/* {"sha256":hex}, or null. */
static json_t *digest(const char *hex)
{
	json_t *o;

	if (!hex)
		return NULL;
	o = ib_json_object();
	ib_json_set_str(o, "sha256", hex);
	return o;
}

static void add_subject(json_t *list, const char *name, const char *hex)
{
	json_t *o;

	if (!hex)
		return;
	o = ib_json_object();
	ib_json_set_str(o, "name", name);
	ib_json_set(o, "digest", digest(hex));
	ib_json_add(list, o);
}

static json_t *subjects(const struct ib_statement_facts *f)
{
	json_t *list = ib_json_array();

	add_subject(list, "tagmanifest-sha256.txt", f->tagmanifest);
	add_subject(list, "manifest-sha256.txt", f->manifest);
	add_subject(list, "data/contract.yaml", f->contract);
	add_subject(list, "data/ledger.jsonl", f->ledger);
	add_subject(list, "data/report/index.html", f->report);
	return list;
}

static json_t *predicate(const struct ib_statement_facts *f, const struct ib_statement *s)
{
	json_t *p = ib_json_object(), *study = ib_json_object(), *tool = ib_json_object(), *ledger = NULL, *runs = NULL;

	ib_json_set_str(study, "name", f->study);
	ib_json_set_str(study, "question", s->question);
	if (s->head[0]) {
		ledger = ib_json_object();
		ib_json_set_str(ledger, "head", s->head);
		ib_json_set_int(ledger, "length", (int64_t)s->length);
	}
	if (s->has_runs)
		runs = ib_json_object();
	for (int i = 0; s->has_runs && i < IB_STATEMENT_RUNS; i++)
		ib_json_set_int(runs, ib_statement_run_keys[i], (int64_t)s->runs[i]);
	ib_json_set_str(tool, "name", s->tool_name);
	ib_json_set_str(tool, "version", s->tool_version);
	ib_json_set_str(tool, "commit", s->tool_commit);
	ib_json_set(p, "study", study);
	ib_json_set(p, "contract", digest(f->contract));
	ib_json_set(p, "ledger", ledger);
	ib_json_set(p, "runs", runs);
	ib_json_set(p, "withheld", digest(f->withheld));
	ib_json_set(p, "tool", tool);
	return p;
}

static json_t *build(const struct ib_statement_facts *f, const struct ib_statement *s)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "_type", IB_STATEMENT_TYPE);
	ib_json_set(o, "subject", subjects(f));
	ib_json_set_str(o, "predicateType", IB_PREDICATE_TYPE);
	ib_json_set(o, "predicate", predicate(f, s));
	return o;
}

/* Control characters that have no short escape. */
static bool has_control(const char *s)
{
	for (; s && *s; s++)
		if ((unsigned char)*s < 0x20 && !strchr("\b\f\n\r\t", *s))
			return true;
	return false;
}

static bool texts_ok(const struct ib_statement *s)
{
	return !has_control(s->question) && !has_control(s->tool_name) && !has_control(s->tool_version) && !has_control(s->tool_commit);
}

int ib_statement_make(const struct ib_statement_facts *f, const struct ib_statement *s, struct ib_buf *b, struct ib_err *err)
{
	ib_auto_json json_t *o = NULL;

	if (!texts_ok(s))
		return ib_fail(err, IB_E_USAGE, 0, "the study's question holds a control character, which a packet cannot say");
	o = build(f, s);
	ib_json_write(o, b);
	return ib_buf_check(b, "Statement", err);
}

/* True when o is an object with exactly these members, in this order. The list ends with NULL. */
__attribute__((sentinel)) static bool members(const json_t *o, ...)
{
	const char *want;
	bool good = json_is_object(o);
	void *at = good ? json_object_iter((json_t *)(uintptr_t)o) : NULL;
	va_list ap;

	va_start(ap, o);
	while ((want = va_arg(ap, const char *))) {
		good = good && at && strcmp(json_object_iter_key(at), want) == 0;
		at = good ? json_object_iter_next((json_t *)(uintptr_t)o, at) : NULL;
	}
	va_end(ap);
	return good && !at;
}

static bool is_text(const json_t *o, const char *key, const char *text)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s && strcmp(s, text) == 0;
}

/* {"sha256":hex} */
static bool is_digest(const json_t *o)
{
	const char *hex = json_string_value(json_object_get(o, "sha256"));

	return members(o, "sha256", NULL) && hex && ib_is_hex(hex, 64);
}

static bool is_digest_or_null(const json_t *o)
{
	return json_is_null(o) || is_digest(o);
}

static bool read_count(const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= COUNT_MAX)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

static bool read_text(const json_t *o, const char *key, bool may_be_null, char **ret)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		*ret = ib_strdup(json_string_value(v));
	return json_is_string(v) || (may_be_null && json_is_null(v));
}

static bool read_ledger(const json_t *o, struct ib_statement *s)
{
	const char *head = json_string_value(json_object_get(o, "head"));

	if (json_is_null(o))
		return true;
	if (!members(o, "head", "length", NULL) || !head || !ib_is_hex(head, 64) || !read_count(o, "length", &s->length))
		return false;
	memcpy(s->head, head, IB_HEX_LEN);
	return true;
}

static bool read_runs(const json_t *o, struct ib_statement *s)
{
	const char *const *k = ib_statement_run_keys;
	bool good = members(o, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8], k[9], NULL);

	if (json_is_null(o))
		return true;
	for (int i = 0; good && i < IB_STATEMENT_RUNS; i++)
		good = read_count(o, k[i], &s->runs[i]);
	s->has_runs = good;
	return good;
}

static bool read_predicate(const json_t *p, struct ib_statement *s)
{
	const json_t *study = json_object_get(p, "study"), *tool = json_object_get(p, "tool");

	return members(p, "study", "contract", "ledger", "runs", "withheld", "tool", NULL) && members(study, "name", "question", NULL) &&
	       read_text(study, "question", true, &s->question) && is_digest_or_null(json_object_get(p, "contract")) &&
	       is_digest_or_null(json_object_get(p, "withheld")) && read_ledger(json_object_get(p, "ledger"), s) && read_runs(json_object_get(p, "runs"), s) &&
	       members(tool, "name", "version", "commit", NULL) && read_text(tool, "name", false, &s->tool_name) &&
	       read_text(tool, "version", false, &s->tool_version) && read_text(tool, "commit", true, &s->tool_commit);
}

static int wrong(struct ib_err *err, enum ib_code code, const char *why)
{
	return ib_fail(err, code, 0, "the signed Statement: %s", why);
}

static int check_subjects(const json_t *got, const json_t *want, struct ib_err *err)
{
	size_t i;
	json_t *s;

	json_array_foreach(got, i, s)
		if (!members(s, "name", "digest", NULL) || !json_is_string(json_object_get(s, "name")) || !is_digest(json_object_get(s, "digest")))
			return wrong(err, IB_E_DSSE, "a subject is not a name and a SHA-256");
	if (!json_is_array(got) || json_array_size(got) != json_array_size(want))
		return wrong(err, IB_E_DSSE, "its subjects are not those of a packet");
	json_array_foreach(got, i, s)
		if (!is_text(s, "name", json_string_value(json_object_get(json_array_get(want, i), "name"))))
			return wrong(err, IB_E_DSSE, "its subjects are not those of a packet");
	json_array_foreach(got, i, s)
		if (!json_equal(s, json_array_get(want, i)))
			return ib_fail(err, IB_E_HASH, 0, "the signed digest of '%s' differs", json_string_value(json_object_get(s, "name")));
	return 0;
}

static int check_bindings(const json_t *o, const struct ib_statement_facts *f, const struct ib_statement *s, struct ib_err *err)
{
	ib_auto_json json_t *want = build(f, s);

	if (!json_equal(json_object_get(o, "predicate"), json_object_get(want, "predicate")))
		return wrong(err, IB_E_BINDING, "its predicate names another study, contract or list of what is withheld than the packet");
	if (!f->ledger != !s->head[0])
		return wrong(err, IB_E_BINDING, f->ledger ? "it does not name the ledger" : "it names a ledger that the packet does not hold");
	if (f->ledger && memcmp(s->head, f->seal, 8) != 0)
		return wrong(err, IB_E_BINDING, "the ledger's head is not the one in the name of the top directory");
	return 0;
}

static int check(const json_t *o, const char *data, size_t n, const struct ib_statement_facts *f, struct ib_statement *s, struct ib_err *err)
{
	ib_auto_json json_t *want = subjects(f);
	ib_auto_buf struct ib_buf again = IB_BUF(IB_JSON_MAX);
	int r;

	if (!members(o, "_type", "subject", "predicateType", "predicate", NULL) || !is_text(o, "_type", IB_STATEMENT_TYPE) ||
	    !is_text(o, "predicateType", IB_PREDICATE_TYPE))
		return wrong(err, IB_E_DSSE, "not a Statement v1 with predicate type " IB_PREDICATE_TYPE);
	if (!read_predicate(json_object_get(o, "predicate"), s))
		return wrong(err, IB_E_DSSE, "its predicate is not that of a packet");
	r = check_subjects(json_object_get(o, "subject"), want, err);
	if (r < 0)
		return r;
	r = check_bindings(o, f, s, err);
	if (r < 0)
		return r;
	ib_json_write(o, &again);
	if (again.len != n || memcmp(ib_buf_str(&again), data, n) != 0 || !texts_ok(s))
		return wrong(err, IB_E_DSSE, "it is not in its one form");
	return 0;
}

int ib_statement_check(const char *data, size_t n, const struct ib_statement_facts *f, struct ib_statement *ret, struct ib_err *err)
{
	ib_auto_statement struct ib_statement s = {0};
	ib_auto_json json_t *o = NULL;
	int r = ib_json_load(data, n, "Statement", &o, err);

	if (r < 0)
		return r;
	r = check(o, data, n, f, &s, err);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct ib_statement){0};
	return 0;
}

void ib_statement_clear(struct ib_statement *s)
{
	free(s->question);
	free(s->tool_name);
	free(s->tool_version);
	free(s->tool_commit);
	*s = (struct ib_statement){0};
}
