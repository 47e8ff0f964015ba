/* SPDX-License-Identifier: Apache-2.0 */
/* Results as parts of documents: the findings' "results", and the "requests" of a record. */
#include <math.h>

#include "clients/client.h"

static void set_count(json_t *o, const char *key, int64_t v)
{
	if (v < 0)
		ib_json_set(o, key, NULL);
	else
		ib_json_set_int(o, key, v);
}

/* A whole number as an integer, so that a count reads as one. */
static void set_number(json_t *o, const char *key, double v)
{
	if (v >= 0 && v < 9e15 && !(v < floor(v)) && !(v > floor(v)))
		ib_json_set_int(o, key, (int64_t)v);
	else
		ib_json_set_real(o, key, v);
}

static json_t *claim_json(const struct ib_claim *c)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "name", c->name);
	ib_json_set_str(o, "key", c->key);
	ib_json_set_str(o, "formula", c->formula->name);
	set_number(o, "claimed", c->claimed);
	set_number(o, "derived", c->derived.value);
	ib_json_set_str(o, "status", ib_claim_status_name(c->status));
	ib_json_set_real(o, "tolerance", c->tolerance);
	ib_json_set_str(o, "why", c->why);
	return o;
}

json_t *ib_requests_json(const struct ib_requests *q)
{
	json_t *o = ib_json_object();

	set_count(o, "attempted", q->attempted);
	set_count(o, "succeeded", q->succeeded);
	set_count(o, "failed", q->failed);
	set_count(o, "timed_out", q->timed_out);
	set_count(o, "incomplete", q->incomplete);
	set_count(o, "without_output", q->without_output);
	set_count(o, "short_output", q->short_output);
	set_count(o, "asked", q->asked);
	return o;
}

json_t *ib_result_json(const struct ib_result *r, const char *run_id)
{
	json_t *o = ib_json_object(), *claims = ib_json_array(), *missing = ib_json_array();

	ib_json_set_str(o, "file", r->file);
	ib_json_set_str(o, "client", r->client->name);
	ib_json_set_str(o, "client_version", r->client_version);
	ib_json_set_str(o, "schema_id", r->schema_id);
	ib_json_set_str(o, "run_id", run_id);
	ib_json_set(o, "requests", ib_requests_json(&r->requests));
	for (size_t i = 0; i < r->n_claims; i++)
		ib_json_add(claims, claim_json(&r->claims[i]));
	ib_json_set(o, "claims", claims);
	ib_json_set_int(o, "index", (int64_t)r->index);
	for (size_t i = 0; i < r->missing.n; i++)
		ib_json_add_str(missing, r->missing.v[i]);
	ib_json_set(o, "missing", missing);
	return o;
}

json_t *ib_result_record_json(const struct ib_result *r)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "client", r ? r->client->name : NULL);
	ib_json_set_str(o, "schema_id", r ? r->schema_id : NULL);
	set_count(o, "attempted", r ? r->requests.attempted : IB_NOT_IN_FILE);
	set_count(o, "succeeded", r ? r->requests.succeeded : IB_NOT_IN_FILE);
	set_count(o, "failed", r ? r->requests.failed : IB_NOT_IN_FILE);
	set_count(o, "timed_out", r ? r->requests.timed_out : IB_NOT_IN_FILE);
	set_count(o, "output_tokens", r ? r->output_tokens : IB_NOT_IN_FILE);
	return o;
}
