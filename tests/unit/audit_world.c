/* SPDX-License-Identifier: Apache-2.0 */
/* Views in memory. */
#include "audit_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/client.h"

#define REQUESTS 20

char world_group[] = "g", world_cell[] = "c", world_other[] = "other";

static void fill(struct ib_result *r, size_t at)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		struct ib_row row = ib_row_empty();

		row.start_s = (double)i * 0.1;
		row.ttft_s = 0.010 + (double)i * 0.0001;
		row.e2e_s = row.ttft_s + 0.05;
		row.input_tokens = row.input_asked = 10;
		row.output_tokens = row.output_asked = 5;
		row.prompt_hash = i + 1;
		row.output_hash = i + 100;
		row.outcome = IB_OUTCOME_SUCCEEDED;
		ib_columns_add(&r->columns, &row);
	}
	ib_columns_end(&r->columns);
	r->requests.asked = REQUESTS;
	r->duration_s = 2.0;
	r->ttft = &ib_ttft_first_chunk;
	r->schema_id = "test/1";
	r->client_version = ib_strdup("1.0");
	r->concurrency_asked = 4;
	ib_result_count(r);
	r->requests.attempted = REQUESTS;
	(void)at;
}

void world_begin(struct world *w, size_t n, bool study)
{
	*w = (struct world){0};
	ib_study_view_init(&w->s);
	w->v = (struct ib_audit_view){.study = study ? &w->s : NULL, .runs = w->runs, .n_runs = n};
	w->s.runs = w->study_runs;
	w->s.n_runs = w->s.n_ledger_runs = n;
	for (size_t i = 0; i < n; i++) {
		struct ib_audit_run *a = &w->runs[i];
		struct ib_study_run *r = &w->study_runs[i];
		ib_auto_free char *file = ib_asprintf("run-%zu/result.json", i);

		a->name = ib_asprintf("run-%zu", i);
		fill(ib_results_add(&a->own, ib_clients[0], file), i);
		a->results = &a->own;
		a->context = &a->own_context;
		for (int k = 0; k < IB_COUNTERS; k++)
			a->own_context.before.v[k] = a->own_context.after.v[k] = NAN;
		if (!study)
			continue;
		w->starts[i].e = (struct ib_entry){.kind = IB_ENTRY_START, .seq = (int64_t)i + 2, .group = world_group, .cell = world_cell};
		*r = (struct ib_study_run){.id = a->name, .start = &w->starts[i], .state = IB_STATE_COMPLETED, .has_record = true};
		ib_record_init(&r->record);
		r->doc.path = a->name;
		r->record.state = IB_STATE_COMPLETED;
		r->record.time.started_ns = (int64_t)i * 100000000000;
		r->record.time.finished_ns = r->record.time.started_ns + 50000000000;
		r->record.time.monotonic_ns = 50000000000;
		r->context = a->own_context;
		a->run = r;
	}
}

void world_end(struct world *w)
{
	for (size_t i = 0; i < w->v.n_runs; i++) {
		if (w->v.study)
			ib_record_clear(&w->study_runs[i].record);
		ib_facts_clear(&w->study_runs[i].before);
		ib_facts_clear(&w->study_runs[i].after);
		ib_results_clear(&w->runs[i].own);
		ib_context_clear(&w->runs[i].own_context);
		free(w->runs[i].name);
	}
	for (size_t i = 0; i < w->s.n_captures; i++)
		ib_facts_clear(&w->s.captures[i].facts);
	free(w->s.captures);
	ib_privacy_clear(&w->v.privacy);
	ib_findings_clear(&w->f);
}

struct ib_result *world_result(struct world *w, size_t i)
{
	return &w->runs[i].own.v[0];
}

struct ib_context *world_context(struct world *w, size_t i)
{
	return &w->runs[i].own_context;
}

static void page(struct ib_counters *c, const char *file, double prompt, double hits, double made, double done)
{
	c->file = ib_strdup(file);
	c->engine = "vllm";
	c->v[IB_COUNTER_PROMPT_TOKENS] = c->v[IB_COUNTER_CACHE_QUERIES] = prompt;
	c->v[IB_COUNTER_CACHE_HITS] = hits;
	c->v[IB_COUNTER_OUTPUT_TOKENS] = made;
	c->v[IB_COUNTER_DONE_LENGTH] = done;
	c->v[IB_COUNTER_DONE_ABORT] = c->v[IB_COUNTER_DONE_ERROR] = 0;
}

void world_pages(struct world *w, size_t i, double from, double prompt, double hits, double made, double done)
{
	ib_auto_free char *before = ib_asprintf("run-%zu/before.txt", i), *after = ib_asprintf("run-%zu/after.txt", i);

	page(&w->runs[i].own_context.before, before, from, 0, from, from);
	page(&w->runs[i].own_context.after, after, from + prompt, hits, from + made, from + done);
}

void world_setting(struct world *w, size_t i, enum ib_setting_key k, const char *text)
{
	ib_setting_put(&world_result(w, i)->settings, k, text, "the file");
}

enum ib_status world_check(struct world *w, const char *id)
{
	const struct ib_check *c = ib_check_find(id);
	enum ib_status best = IB_NOT_CHECKABLE;

	ib_findings_clear(&w->f);
	c->audit(c, &w->v, &w->f);
	for (size_t i = 0; i < w->f.n; i++) {
		const struct ib_finding *one = &w->f.v[i];

		if (one->status == IB_FAIL && one->level != IB_FINDING_I)
			return IB_FAIL;
		best = one->status == IB_PASS ? IB_PASS : best;
	}
	return best;
}

bool world_says(const struct world *w, const char *text)
{
	for (size_t i = 0; i < w->f.n; i++)
		if (w->f.v[i].status == IB_FAIL && strstr(w->f.v[i].message, text))
			return true;
	for (size_t i = 0; i < w->f.n; i++)
		printf("# %s: %s\n", w->f.v[i].id, w->f.v[i].message);
	return false;
}
