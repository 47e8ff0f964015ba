/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a document (schemas/report-v1.schema.json). Total: every key is there, what is not known is null beside a state. */
#include <math.h>

#include "clients/client.h"
#include "report/report.h"

static json_t *real(double v)
{
	json_t *o = ib_json_object(), *j;

	ib_json_set_real(o, "v", v);
	j = json_incref(json_object_get(o, "v"));
	json_decref(o);
	return j;
}

static void set_count(json_t *o, const char *key, int64_t v)
{
	if (v < 0)
		ib_json_set(o, key, NULL);
	else
		ib_json_set_int(o, key, v);
}

static json_t *stat_json(const struct ib_report_row *row, const struct ib_stat *s, double claimed)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "state", row->established ? ib_stat_state_name(s->state) : "not_established");
	ib_json_set(o, "value", real(s->value));
	ib_json_set(o, "max", real(s->max));
	ib_json_set(o, "claimed", real(claimed));
	ib_json_set_str(o, "why", s->why);
	return o;
}

static json_t *ttft_json(const struct ib_report_row *row)
{
	json_t *o = ib_json_object();
	const struct ib_stat *p50 = &row->p50_ms.stat;

	ib_json_set_str(o, "formula", row->result ? row->result->ttft->name : NULL);
	ib_json_set_str(o, "rule", ib_rule_name(IB_RULE_LINEAR));
	set_count(o, "n", p50->state == IB_STAT_VALUE ? (int64_t)p50->n : IB_NOT_IN_FILE);
	ib_json_set(o, "p50_ms", stat_json(row, p50, row->p50_ms.claimed));
	ib_json_set(o, "p95_ms", stat_json(row, &row->p95_ms.stat, row->p95_ms.claimed));
	return o;
}

static json_t *throughput_json(const struct ib_report_row *row)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "formula", ib_requests_over_duration.name);
	ib_json_set(o, "requests_hz", stat_json(row, &row->rate_hz, NAN));
	ib_json_set_real(o, "window_s", row->result ? row->result->duration_s : NAN);
	ib_json_set_str(o, "window", row->result ? row->result->window : NULL);
	return o;
}

static json_t *cache_json(const struct ib_report_row *row)
{
	static const char *const evidence[] = {[IB_UNCONFIRMED] = "unconfirmed", [IB_CONFIRMED] = "confirmed", [IB_CONTRADICTED] = "contradicted"};
	const struct ib_record *r = &row->run->record;
	bool known = row->run->has_record && row->established;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "condition", !known ? NULL : r->cache.condition ? r->cache.condition : "unspecified");
	ib_json_set_str(o, "evidence", known ? evidence[r->cache.evidence] : NULL);
	return o;
}

static json_t *strings(const struct ib_strv *l)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; l && i < l->n; i++)
		ib_json_add_str(a, l->v[i]);
	return a;
}

static json_t *row_json(const struct ib_report_row *row)
{
	const struct ib_study_run *run = row->run;
	bool known = run->has_record && row->established;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "run_id", run->id);
	ib_json_set_str(o, "group", run->start ? run->start->e.group : NULL);
	ib_json_set_str(o, "cell", run->start ? run->start->e.cell : NULL);
	set_count(o, "repeat", run->start ? run->start->e.repeat : IB_NOT_IN_FILE);
	set_count(o, "attempt", run->start ? run->start->e.attempt : IB_NOT_IN_FILE);
	ib_json_set_str(o, "state", run->running ? "running" : ib_state_name(run->state));
	ib_json_set(o, "reasons", strings(known ? &run->record.reasons : NULL));
	ib_json_set_bool(o, "excluded", run->exclusion != NULL);
	ib_json_set_bool(o, "diagnostic", row->diagnostic);
	ib_json_set_bool(o, "established", row->established);
	if (known && run->record.synthetic != IB_NONE)
		ib_json_set_bool(o, "synthetic", row->synthetic);
	else
		ib_json_set(o, "synthetic", row->synthetic ? json_true() : NULL);
	ib_json_set_str(o, "file", row->result ? row->result->file : NULL);
	ib_json_set_str(o, "client", row->result ? row->result->client->name : NULL);
	ib_json_set_str(o, "schema_id", row->result ? row->result->schema_id : NULL);
	ib_json_set(o, "requests", ib_requests_json(&row->requests));
	ib_json_set(o, "ttft", ttft_json(row));
	ib_json_set(o, "throughput", throughput_json(row));
	ib_json_set(o, "cache", cache_json(row));
	ib_json_set(o, "notes", strings(&row->notes));
	return o;
}

static void render(const struct ib_report *r, struct ib_buf *b)
{
	ib_auto_json json_t *o = ib_json_object();
	json_t *tool = ib_json_object(), *subject = ib_json_object(), *runs = ib_json_array();

	ib_json_set_str(o, "schema", IB_REPORT_SCHEMA);
	ib_json_set_str(tool, "version", PACKAGE_VERSION);
	ib_json_set_str(tool, "commit", IB_COMMIT[0] ? IB_COMMIT : NULL);
	ib_json_set(o, "tool", tool);
	ib_json_set_str(subject, "path", r->verdict->path);
	ib_json_set_str(subject, "kind", ib_kind_name(r->verdict->kind));
	ib_json_set_str(subject, "sha256", r->verdict->sha256);
	ib_json_set(o, "subject", subject);
	ib_json_set_str(o, "study", r->study);
	ib_json_set_str(o, "question", r->question);
	ib_json_set(o, "verdicts", ib_verdicts_json(r->verdict));
	ib_json_set(o, "counts", r->verdict->kind == IB_KIND_RUN ? NULL : ib_run_counts_json(&r->verdict->counts));
	for (size_t i = 0; i < r->n; i++)
		ib_json_add(runs, row_json(&r->rows[i]));
	ib_json_set(o, "runs", runs);
	ib_json_set_int(o, "exit", r->verdict->exit);
	ib_json_write_pretty(o, b);
}

const struct ib_report_format ib_report_json = {.name = "json", .render = render};
