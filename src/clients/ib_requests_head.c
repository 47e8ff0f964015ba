/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an ib-requests(5) file: who measured, what was asked, what the times mean. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/clients.h"
#include "clients/ib_requests.h"

static const char the_file[] = "the file";
static const char own_window[] = "first request due to last request done, warm-ups excluded";

int ib_requests_head(struct ib_requests_file *f, json_t *head, struct ib_err *err)
{
	const char *schema;
	int r;

	f->head = head;
	if (!json_is_object(head))
		return ib_requests_fail(f, err, "the header is not an object");
	r = ib_get_str(head, f->name, "schema", &schema, err);
	if (r < 0)
		return r;
	if (strcmp(schema, IB_REQUESTS_SCHEMA) != 0)
		return ib_fail_at(err, IB_E_UNSUPPORTED, f->name, "'%s' has schema '%s', this version reads '%s'", f->name, schema, IB_REQUESTS_SCHEMA);
	f->converted = json_is_object(json_object_get(head, "converter"));
	f->samples = ib_streq(json_string_value(json_object_get(head, "kind")), "samples");
	f->first_start = IB_NOT_IN_FILE;
	return 0;
}

static int read_ns(const json_t *o, const char *name, const char *key, int64_t *ret, struct ib_err *err)
{
	return ib_get_int_opt(o, name, key, 0, IB_REQUESTS_MAX - 1, IB_NOT_IN_FILE, ret, err);
}

static int read_window(const json_t *head, const char *name, struct ib_result *r, struct ib_err *err)
{
	int64_t start, end, length = IB_NOT_IN_FILE;
	const json_t *w;
	int e = ib_get_obj_opt(head, name, "window", &w, err);

	if (e == 0)
		e = read_ns(head, name, "duration_ns", &length, err);
	if (e < 0)
		return e;
	if (length >= 0)
		r->duration_s = (double)length / IB_REQUESTS_NS;
	if (!w)
		return 0;
	e = ib_get_int(w, name, "start_ns", 0, IB_REQUESTS_MAX - 1, &start, err);
	if (e == 0)
		e = ib_get_int(w, name, "end_ns", 0, IB_REQUESTS_MAX - 1, &end, err);
	if (e < 0)
		return e;
	if (end < start)
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': the window ends before it starts", name);
	r->duration_s = (double)(end - start) / IB_REQUESTS_NS;
	r->window = own_window;
	return 0;
}

/* --- settings --- */

static void put_number(struct ib_result *r, enum ib_setting_key k, const json_t *a, const char *key)
{
	const json_t *v = json_object_get(a, key);
	ib_auto_free char *text = json_is_integer(v) ? ib_asprintf("%" JSON_INTEGER_FORMAT, json_integer_value(v)) : NULL;

	ib_setting_put(&r->settings, k, text, the_file);
}

/* Those without a name in "args", as the file's converter found them. */
static void read_settings(const json_t *head, struct ib_result *r)
{
	const json_t *all = json_object_get(head, "settings");

	for (enum ib_setting_key k = IB_SET_NOTHING + 1; k < IB_SETTINGS; k++)
		ib_setting_put(&r->settings, k, json_string_value(json_object_get(all, ib_setting_name(k))), the_file);
}

static int read_args(const json_t *head, const char *name, struct ib_result *r, int64_t *ret_warmups, struct ib_err *err)
{
	const json_t *a, *rate;
	int e = ib_get_obj_opt(head, name, "args", &a, err);

	*ret_warmups = IB_NOT_IN_FILE;
	if (e < 0 || !a)
		return e;
	e = read_ns(a, name, "num_prompts", &r->requests.asked, err);
	if (e == 0)
		e = read_ns(a, name, "num_warmups", ret_warmups, err);
	if (e == 0)
		e = read_ns(a, name, "max_concurrency", &r->concurrency_asked, err);
	rate = json_object_get(a, "request_rate_hz");
	if (json_is_number(rate))
		r->rate_asked = json_number_value(rate);
	else if (json_is_null(rate))
		r->rate_asked = INFINITY;
	ib_setting_put(&r->settings, IB_SET_MODEL, json_string_value(json_object_get(a, "model")), the_file);
	put_number(r, IB_SET_SEED, a, "seed");
	put_number(r, IB_SET_REQUESTS, a, "num_prompts");
	put_number(r, IB_SET_WARMUPS, a, "num_warmups");
	put_number(r, IB_SET_CONCURRENCY, a, "max_concurrency");
	put_number(r, IB_SET_INPUT_LEN, a, "input_tokens");
	put_number(r, IB_SET_OUTPUT_LEN, a, "output_tokens");
	return e;
}

static int read_synthetic(const json_t *head, const char *name, struct ib_result *r, struct ib_err *err)
{
	const json_t *endpoint;
	const char *print;
	int e = ib_get_obj_opt(head, name, "endpoint", &endpoint, err);

	if (e < 0)
		return e;
	ib_setting_put(&r->settings, IB_SET_ENDPOINT, endpoint ? json_string_value(json_object_get(endpoint, "url")) : NULL, the_file);
	if (!json_is_true(json_object_get(head, "synthetic")))
		return 0;
	print = endpoint ? json_string_value(json_array_get(json_object_get(endpoint, "system_fingerprints"), 0)) : NULL;
	r->synthetic = print ? ib_asprintf("endpoint fingerprint '%.200s'", print) : ib_strdup("the file says so");
	return 0;
}

/* --- what the columns hold --- */

/* The formula called so in the header, or, when it may be, none. Of a name that is not known here nothing of the file may pass. */
static void pick(const json_t *formulas, const char *key, bool may_be_none, struct ib_result *r, const struct ib_formula **ret)
{
	const char *name = json_string_value(json_object_get(formulas, key));
	const struct ib_formula *f = name ? ib_formula_find(name) : NULL;

	r->unknown_version = r->unknown_version || (name && !f);
	if (f || may_be_none)
		*ret = f;
}

static void read_formulas(const json_t *head, struct ib_result *r)
{
	const json_t *formulas = json_object_get(head, "formulas");

	r->ttft = &ib_ttft_first_text;
	r->itl = &ib_itl_text_gaps;
	if (!json_is_object(formulas))
		return;
	pick(formulas, "ttft", false, r, &r->ttft);
	pick(formulas, "tpot", true, r, &r->tpot);
	pick(formulas, "itl", true, r, &r->itl);
	pick(formulas, "e2e", false, r, &r->e2e);
}

/* First start and last end of the measured requests, in seconds from the first line. */
static void read_span(const struct ib_requests_file *f, int64_t origin_ns, struct ib_result *r)
{
	const struct ib_columns *c = &f->columns;
	double base = ((double)origin_ns + (double)f->first_start) / IB_REQUESTS_NS;

	for (size_t i = 0; f->first_start >= 0 && i < c->n; i++) {
		double start = base + c->start_s[i], end = start + c->e2e_s[i];

		if (c->warmup[i])
			continue;
		r->began_at = fmin(r->began_at, start); /* of a number and NaN the number */
		r->ended_at = fmax(r->ended_at, end);
	}
}

static int read_origin(const struct ib_requests_file *f, struct ib_result *r, struct ib_err *err)
{
	const char *text;
	int64_t origin;
	int e = ib_get_str_opt(f->head, f->name, "origin_at", &text, err);

	if (e < 0 || !text)
		return e;
	e = ib_time_parse(text, &origin, err);
	if (e < 0)
		return ib_wrap(err, "'%s': origin_at", f->name);
	read_span(f, origin, r);
	return 0;
}

static int read_partial(const struct ib_requests_file *f, struct ib_result *r, struct ib_err *err)
{
	const char *partial;
	int e = ib_get_str_opt(f->head, f->name, "partial", &partial, err);

	if (e < 0)
		return e;
	r->partial = ib_strdup(partial);
	if (json_is_false(json_object_get(f->head, "complete")))
		r->cut = ib_strdup("the client was interrupted, says the header");
	return 0;
}

int ib_requests_describe(const struct ib_requests_file *f, struct ib_result *r, int64_t *ret_warmups, struct ib_err *err)
{
	const json_t *client;
	const char *version = NULL;
	int e = ib_get_obj(f->head, f->name, "client", &client, err);

	if (e == 0)
		e = ib_get_str_opt(client, f->name, "version", &version, err);
	if (e == 0)
		e = read_window(f->head, f->name, r, err);
	if (e == 0)
		e = read_args(f->head, f->name, r, ret_warmups, err);
	if (e == 0)
		e = read_synthetic(f->head, f->name, r, err);
	if (e == 0)
		e = read_origin(f, r, err);
	if (e == 0)
		e = read_partial(f, r, err);
	if (e < 0)
		return e;
	r->client_version = ib_strdup(version);
	r->any_benchmark = f->samples;
	read_formulas(f->head, r);
	read_settings(f->head, r);
	return 0;
}
