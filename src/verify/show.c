/* SPDX-License-Identifier: Apache-2.0 */
/* --show RUN: one run, one step deeper than the screen. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "metrics/formula.h"
#include "verify/load.h"
#include "verify/text.h"
#include "verify/verify.h"

static void line(struct ib_buf *b, const char *name, const char *value)
{
	ib_buf_addf(b, "%-13s ", name);
	ib_text_safe(b, value, 200);
	ib_buf_addc(b, '\n');
}

static void instant(struct ib_buf *b, const char *name, int64_t ns)
{
	char text[IB_TIME_LEN];

	if (ns != IB_NONE)
		ib_time_text(ns, 3, text);
	line(b, name, ns == IB_NONE ? NULL : text);
}

static void count(struct ib_buf *b, const char *name, int64_t n)
{
	if (n < 0)
		ib_buf_addf(b, "  %s -", name);
	else
		ib_buf_addf(b, "  %s %" PRId64, name, n);
}

static void ttft_ms(struct ib_buf *b, const char *name, const struct ib_result *r, double p)
{
	struct ib_stat s = ib_result_percentile(r, r->ttft, p);
	struct ib_interval in = ib_result_percentile_interval(r, r->ttft, p);

	if (s.state != IB_STAT_VALUE) {
		ib_buf_addf(b, "  %s - (%s)", name, s.why ? s.why : "not recorded");
		return;
	}
	ib_buf_addf(b, "  %s %.2f ms (n %zu", name, s.value * 1000, s.n);
	if (in.state == IB_STAT_VALUE)
		ib_buf_addf(b, ", 95 %% interval %.2f to %.2f", in.low * 1000, in.high * 1000);
	ib_buf_addc(b, ')');
}

static void result(struct ib_buf *b, const struct ib_result *r)
{
	line(b, "result", r->file);
	ib_buf_addf(b, "%-13s", "  requests");
	count(b, "attempted", r->requests.attempted);
	count(b, "succeeded", r->requests.succeeded);
	count(b, "failed", r->requests.failed);
	count(b, "timed out", r->requests.timed_out);
	ib_buf_adds(b, "\n  TTFT       ");
	ttft_ms(b, "p50", r, 50);
	ttft_ms(b, "p95", r, 95);
	ib_buf_addf(b, "  formula %s\n", r->ttft->name);
	for (size_t i = 0; i < r->n_claims; i++) {
		const struct ib_claim *c = &r->claims[i];

		if (c->status != IB_CLAIM_DIFFERS)
			continue;
		ib_buf_adds(b, "  claim       ");
		ib_text_safe(b, c->name, 60);
		ib_buf_addf(b, ": claimed %.6g, derived %.6g\n", c->claimed, c->derived.value);
	}
}

static void record(struct ib_buf *b, const struct ib_record *r)
{
	static const char *const evidence[] = {[IB_UNCONFIRMED] = "unconfirmed", [IB_CONFIRMED] = "confirmed", [IB_CONTRADICTED] = "contradicted"};

	for (size_t i = 0; i < r->reasons.n; i++)
		line(b, i ? "" : "reasons", r->reasons.v[i]);
	instant(b, "started", r->time.started_ns);
	instant(b, "finished", r->time.finished_ns);
	ib_buf_addf(b, "%-13s ", "cache");
	ib_text_safe(b, r->cache.condition ? r->cache.condition : "unspecified", 20);
	ib_buf_addf(b, ", %s", evidence[r->cache.evidence]);
	if (r->cache.why) {
		ib_buf_adds(b, ": ");
		ib_text_safe(b, r->cache.why, 160);
	}
	ib_buf_addc(b, '\n');
	if (r->synthetic == 1)
		line(b, "synthetic", r->synthetic_why ? r->synthetic_why : "yes");
	for (size_t i = 0; i < r->expectations_n; i++)
		if (r->expectations[i].status == IB_EXPECT_UNMET) {
			ib_buf_addf(b, "%-13s ", "unmet");
			ib_text_safe(b, r->expectations[i].key, 60);
			ib_buf_adds(b, ": expected ");
			ib_text_safe(b, r->expectations[i].expected, 60);
			ib_buf_adds(b, ", found ");
			ib_text_safe(b, r->expectations[i].found, 60);
			ib_buf_addc(b, '\n');
		}
}

/* What the samples say, where there are some; and energy per token, where a counter covers it. */
static void load(struct ib_buf *b, const struct ib_study_run *run)
{
	const struct ib_audit_run view = {.run = run, .results = &run->results};
	struct ib_load_facts l;
	struct ib_energy energy;
	const char *why;

	ib_load_facts(&run->record, &l);
	if (!l.known)
		return;
	ib_buf_addf(b, "%-13s client %s", "load", l.saturated == 1 ? "saturated" : l.saturated == 0 ? "not saturated" : "not known");
	if (!isnan(l.outside_mean))
		ib_buf_addf(b, ", others used %.2g of %.0f processors", l.outside_mean, l.cpus);
	ib_buf_addc(b, '\n');
	if (!ib_load_energy(&run->record, &energy, &why))
		return;
	ib_buf_addf(b, "%-13s %.6g J by ", "energy", energy.joules);
	ib_text_safe(b, energy.source, 60);
	ib_buf_adds(b, ": ");
	ib_text_safe(b, energy.scope, 100);
	ib_buf_addc(b, '\n');
	for (size_t i = 0; i < run->results.n; i++) {
		struct ib_stat st = ib_load_energy_per_token(&view, &run->results.v[i]);

		if (st.state == IB_STAT_VALUE)
			ib_buf_addf(b, "  per output token %.6g J  formula %s\n", st.value, ib_energy_per_output_token.name);
	}
}

static const char *label_of(const struct ib_finding *one)
{
	static const char *const labels[] = {[IB_FINDING_E] = "FAILS", [IB_FINDING_W] = "warning", [IB_FINDING_I] = "note"};

	return one->status == IB_FAIL ? labels[one->level] : "not checkable";
}

static void about(struct ib_buf *b, const struct ib_findings *f, const char *id)
{
	ib_auto_free char *dir = ib_asprintf("runs/%s", id);
	size_t n = strlen(dir);

	for (size_t i = 0; i < f->n; i++) {
		const struct ib_finding *one = &f->v[i];
		const char *at = one->file && one->status != IB_PASS ? strstr(one->file, dir) : NULL;

		if (!at || (at[n] && at[n] != '/'))
			continue;
		ib_buf_addf(b, "%-13s %s ", label_of(one), one->id);
		ib_text_safe(b, one->file, 300);
		ib_buf_adds(b, ": ");
		ib_text_safe(b, one->message, 200);
		ib_buf_addc(b, '\n');
	}
}

/* --- of a folder --- */

static void settings(struct ib_buf *b, const struct ib_audit_run *run, const struct ib_result *res)
{
	for (int k = IB_SET_NOTHING + 1; k < IB_SETTINGS; k++) {
		const char *text = ib_audit_setting(run, res, (enum ib_setting_key)k);
		const char *from = res->settings.v[k] ? res->settings.from[k] : run->context->settings.from[k];

		if (!text)
			continue;
		ib_buf_addf(b, "  %-11s ", ib_setting_name((enum ib_setting_key)k));
		ib_text_safe(b, text, 60);
		ib_buf_addf(b, " (%s)\n", from ? from : "known");
	}
}

/* Findings that name a file of this run's results or pages. */
static bool of_loose(const struct ib_audit_run *run, const char *file)
{
	size_t n = strlen(run->name);

	for (size_t i = 0; i < run->results->n; i++)
		if (ib_streq(run->results->v[i].file, file))
			return true;
	return ib_streq(run->name, file) || ib_streq(run->context->after.file, file) || (strncmp(file, run->name, n) == 0 && file[n] == '/');
}

static void show_loose(const struct ib_verdict *v, const struct ib_audit_run *run, const char *which, struct ib_buf *b)
{
	line(b, "run", run->name);
	for (size_t i = 0; i < run->results->n; i++) {
		const struct ib_result *res = &run->results->v[i];

		if (!ib_streq(run->name, which) && !ib_streq(res->file, which))
			continue;
		result(b, res);
		settings(b, run, res);
	}
	for (size_t i = 0; i < v->findings.n; i++) {
		const struct ib_finding *one = &v->findings.v[i];

		if (one->status == IB_PASS || !one->file || !of_loose(run, one->file))
			continue;
		ib_buf_addf(b, "%-13s %s ", label_of(one), one->id);
		ib_text_safe(b, one->file, 300);
		ib_buf_adds(b, ": ");
		ib_text_safe(b, one->message, 200);
		ib_buf_addc(b, '\n');
	}
}

static const struct ib_audit_run *find_loose(const struct ib_audit_view *v, const char *which)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		if (ib_streq(v->runs[i].name, which))
			return &v->runs[i];
		for (size_t k = 0; k < v->runs[i].results->n; k++)
			if (ib_streq(v->runs[i].results->v[k].file, which))
				return &v->runs[i];
	}
	return NULL;
}

int ib_verdict_show(const struct ib_verdict *v, const char *run_id, struct ib_buf *b, struct ib_err *err)
{
	bool loose = v->kind == IB_KIND_FOLDER || v->kind == IB_KIND_FILE;
	const struct ib_audit_run *other = loose ? find_loose(&v->audit, run_id) : NULL;
	const struct ib_study_run *r = ib_study_find_run(&v->study, run_id);

	if (other) {
		show_loose(v, other, run_id, b);
		return 0;
	}
	if (!r)
		return ib_fail(err, IB_E_USAGE, 0, "there is no run '%s' in '%s'", run_id, v->path);
	line(b, "run", r->id);
	if (v->intact != IB_HOLDS_YES) {
		ib_buf_adds(b, "its numbers are not shown: the bytes are not intact\n");
	} else {
		line(b, "group", r->start ? r->start->e.group : NULL);
		line(b, "cell", r->start ? r->start->e.cell : NULL);
		line(b, "state", r->running ? "running" : ib_state_name(r->state));
		if (r->exclusion)
			line(b, "excluded", r->exclusion->e.reason);
		if (r->has_record)
			record(b, &r->record);
		if (r->has_record)
			load(b, r);
		for (size_t i = 0; i < r->results.n; i++)
			result(b, &r->results.v[i]);
	}
	about(b, &v->findings, r->id);
	return 0;
}
