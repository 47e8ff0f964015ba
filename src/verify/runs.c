/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as the ledger tells them, bound to the files and records that were found. */
#include "verify/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define REGISTRATIONS_MAX 1000

static void take_entry(void *arg, uint64_t seq, const char *line, size_t n, const json_t *json)
{
	struct ib_study_view *v = arg;
	struct ib_study_entry *e;
	char where[64];
	struct ib_err err;

	(void)line;
	(void)n;
	if ((v->n_entries & (v->n_entries - 1)) == 0)
		v->entries = ib_realloc(v->entries, v->n_entries ? v->n_entries * 2 : 1, sizeof(*v->entries));
	e = &v->entries[v->n_entries++];
	*e = (struct ib_study_entry){0};
	snprintf(where, sizeof(where), "ledger.jsonl line %llu", (unsigned long long)seq);
	if (ib_entry_from_json(json, where, &e->e, &err) == 0)
		return;
	*e = (struct ib_study_entry){.why = ib_strdup(err.text), .code = err.code};
}

static void problem_at(struct ib_study_view *v, const struct ib_study_entry *e, const char *what)
{
	ib_auto_free char *why = ib_asprintf("line %lld: %s '%s'", (long long)e->e.seq, what, e->e.run);

	ib_study_problem(v, "S04", IB_E_LEDGER, "ledger.jsonl", why);
}

static int by_id_and_seq(const void *a, const void *b)
{
	const struct ib_entry *x = &(*(const struct ib_study_entry *const *)a)->e, *y = &(*(const struct ib_study_entry *const *)b)->e;
	int d = strcmp(x->run, y->run);

	return d ? d : (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_seq(const void *a, const void *b)
{
	const struct ib_entry *x = &(*(const struct ib_study_entry *const *)a)->e, *y = &(*(const struct ib_study_entry *const *)b)->e;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_id(const void *a, const void *b, void *arg)
{
	const struct ib_study_run *runs = arg;

	return strcmp(runs[*(const size_t *)a].id, runs[*(const size_t *)b].id);
}

static void build_index(struct ib_study_view *v)
{
	v->index = ib_realloc(v->index, v->n_runs, sizeof(*v->index));
	v->n_index = v->n_runs;
	for (size_t i = 0; i < v->n_runs; i++)
		v->index[i] = i;
	if (v->n_index > 1)
		qsort_r(v->index, v->n_index, sizeof(*v->index), by_id, v->runs);
}

struct ib_study_run *ib_study_find_run(const struct ib_study_view *v, const char *id)
{
	size_t lo = 0, hi = v->n_index;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = strcmp(id, v->runs[v->index[mid]].id);

		if (d == 0)
			return &v->runs[v->index[mid]];
		if (d < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static struct ib_study_run *add_run(struct ib_study_view *v, const char *id)
{
	struct ib_study_run *run;

	if ((v->n_runs & (v->n_runs - 1)) == 0)
		v->runs = ib_realloc(v->runs, v->n_runs ? v->n_runs * 2 : 1, sizeof(*v->runs));
	run = &v->runs[v->n_runs++];
	*run = (struct ib_study_run){.id = ib_strdup(id), .state = IB_STATE_ABANDONED};
	return run;
}

void ib_study_add_run(struct ib_study_view *v, const char *id)
{
	add_run(v, id);
	v->n_ledger_runs = v->n_runs;
	build_index(v);
}

/* One run for each ID that was started, in the order of the first start. */
static void make_runs(struct ib_study_view *v)
{
	const struct ib_study_entry **starts = ib_alloc(v->n_entries * sizeof(*starts));
	size_t n = 0, unique = 0;

	for (size_t i = 0; i < v->n_entries; i++)
		if (!v->entries[i].why && v->entries[i].e.kind == IB_ENTRY_START)
			starts[n++] = &v->entries[i];
	if (n > 1)
		qsort(starts, n, sizeof(*starts), by_id_and_seq);
	for (size_t i = 0; i < n; i++) {
		if (unique && strcmp(starts[unique - 1]->e.run, starts[i]->e.run) == 0)
			problem_at(v, starts[i], "a second start of run");
		else
			starts[unique++] = starts[i];
	}
	if (unique > 1)
		qsort(starts, unique, sizeof(*starts), by_seq);
	for (size_t i = 0; i < unique; i++) {
		struct ib_study_run *run = add_run(v, starts[i]->e.run);

		run->start = starts[i];
	}
	v->n_ledger_runs = v->n_runs;
	free(starts);
	build_index(v);
}

static void end_run(struct ib_study_view *v, const struct ib_study_entry *e)
{
	struct ib_study_run *run = ib_study_find_run(v, e->e.run);

	if (!run) {
		problem_at(v, e, "the end of a run that was never started,");
	} else if (e->e.seq < run->start->e.seq) {
		problem_at(v, e, "the end of a run before its start,");
	} else if (run->ends++) {
		problem_at(v, e, "a second end of run");
	} else if (e->e.kind == IB_ENTRY_FINISH) {
		run->finish = e;
	} else {
		run->abandoned = e;
	}
}

static void exclude_run(struct ib_study_view *v, const struct ib_study_entry *e)
{
	struct ib_study_run *run = ib_study_find_run(v, e->e.run);

	if (!run)
		problem_at(v, e, "the exclusion of a run that was never started,");
	else if (!run->exclusion)
		run->exclusion = e;
}

static void register_contract(struct ib_study_view *v, const struct ib_study_entry *e)
{
	if (v->n_registrations >= REGISTRATIONS_MAX) {
		ib_study_problem(v, "S09", IB_E_LIMIT, "ledger.jsonl", "a ledger holds at most 1000 contracts and amendments");
		return;
	}
	v->registrations = ib_realloc(v->registrations, v->n_registrations + 1, sizeof(*v->registrations));
	v->registrations[v->n_registrations++] = e;
	v->contract_entry = e;
}

bool ib_study_registered(const struct ib_study_view *v, const char *json_sha256)
{
	for (size_t i = 0; i < v->n_registrations; i++)
		if (strcmp(v->registrations[i]->e.json_sha256, json_sha256) == 0)
			return true;
	return false;
}

void ib_study_read_ledger(struct ib_study_view *v, const char *data, uint64_t size)
{
	struct ib_err err;

	v->has_ledger = true;
	ib_chain_init(&v->chain, take_entry, v);
	if (!data) {
		v->ledger_problem = ib_strdup(size > IB_JSON_MAX ? "larger than the limit of 16 MiB" : "cannot be read");
		v->ledger_code = size > IB_JSON_MAX ? IB_E_LIMIT : IB_E_IO;
		return;
	}
	if (ib_chain_feed(&v->chain, data, size, &err) < 0) {
		v->ledger_problem = ib_strdup(err.text);
		v->ledger_code = err.code;
	} else {
		ib_chain_end(&v->chain);
	}
	make_runs(v);
	for (size_t i = 0; i < v->n_entries; i++) {
		const struct ib_study_entry *e = &v->entries[i];

		if (e->why)
			continue;
		if (e->e.kind == IB_ENTRY_CONTRACT || e->e.kind == IB_ENTRY_AMENDMENT)
			register_contract(v, e);
		else if (e->e.kind == IB_ENTRY_FINISH || e->e.kind == IB_ENTRY_ABANDONED)
			end_run(v, e);
		else if (e->e.kind == IB_ENTRY_EXCLUSION)
			exclude_run(v, e);
	}
	if (v->n_entries && v->n_entries == v->chain.length && v->entries[v->n_entries - 1].e.kind == IB_ENTRY_SEAL)
		v->seal = &v->entries[v->n_entries - 1];
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ib_study_file *)a)->path, ((const struct ib_study_file *)b)->path);
}

/* Directories below runs/ that no start entry names become runs of their own, so that the checks can name them. */
static void add_strangers(struct ib_study_view *v)
{
	char id[IB_RUN_ID_MAX], last[IB_RUN_ID_MAX] = "";
	const char *before = NULL;

	for (size_t i = 0; i < v->n_files; i++)
		if (ib_study_split(v->files[i].path, id) && strcmp(id, last) != 0) {
			ib_strv_add(&v->dirs, id);
			memcpy(last, id, sizeof(last));
		}
	ib_strv_sort(&v->dirs);
	for (size_t i = 0; i < v->dirs.n; i++) {
		bool again = before && strcmp(before, v->dirs.v[i]) == 0;

		before = v->dirs.v[i];
		if (!again && !ib_study_find_run(v, before))
			add_run(v, before);
	}
	build_index(v);
	for (size_t i = 0; i < v->dirs.n; i++)
		ib_study_find_run(v, v->dirs.v[i])->has_dir = true;
}

static void bind_files(struct ib_study_view *v)
{
	struct ib_study_run *run = NULL;
	char id[IB_RUN_ID_MAX];

	for (size_t i = 0; i < v->n_files; i++) {
		if (!ib_study_split(v->files[i].path, id))
			continue;
		if (!run || strcmp(run->id, id) != 0) {
			run = ib_study_find_run(v, id);
			run->first_file = i;
		}
		run->n_files++;
	}
}

/* A packet's manifest vouches for a result before the run's record is read; here the two must agree, or it is no result of this run. */
static void drop_foreign_results(struct ib_study_view *v, struct ib_study_run *run)
{
	for (size_t i = 0; i < run->results.n; i++) {
		const char *path = run->results.v[i].file;
		const struct ib_study_file *have = ib_study_find_file(v, path);
		const struct ib_record_file *listed = ib_study_listed(run, path + strlen("runs/") + strlen(run->id) + 1);

		if (!have || !listed || strcmp(have->sha256, listed->sha256) != 0) {
			ib_results_clear(&run->results);
			return;
		}
	}
}

static void set_state(struct ib_study_run *run)
{
	if (run->finish) {
		run->state = run->finish->e.state;
	} else if (!run->abandoned && run->start) {
		run->running = run->locked;
		run->adopted = !run->locked && run->has_record;
		if (run->adopted)
			run->state = run->record.state;
	}
}

static const json_t *contract_document(const struct ib_study_view *v, const struct ib_entry *e)
{
	for (size_t i = 0; *e->json_sha256 && i < v->n_contracts; i++)
		if (strcmp(v->contracts[i].sha256, e->json_sha256) == 0)
			return v->contracts[i].json;
	return NULL;
}

const struct ib_entry *ib_study_contract_at(const struct ib_study_view *v, int64_t seq, const json_t **ret_json)
{
	const struct ib_entry *last = NULL;

	for (size_t i = 0; i < v->n_registrations && v->registrations[i]->e.seq < seq; i++)
		last = &v->registrations[i]->e;
	if (ret_json)
		*ret_json = last ? contract_document(v, last) : NULL;
	return last;
}

static int by_file_and_index(const void *a, const void *b)
{
	const struct ib_result *x = a, *y = b;
	int d = strcmp(x->file, y->file);

	return d ? d : (x->index > y->index) - (x->index < y->index);
}

/* In one order, whether a file was held or read as a stream. */
static void end_results(struct ib_results *all)
{
	if (all->n > 1)
		qsort(all->v, all->n, sizeof(*all->v), by_file_and_index);
	ib_results_derive(all);
}

void ib_study_view_end(struct ib_study_view *v)
{
	if (v->n_files > 1)
		qsort(v->files, v->n_files, sizeof(*v->files), by_path);
	add_strangers(v);
	bind_files(v);
	for (size_t i = 0; i < v->n_runs; i++)
		set_state(&v->runs[i]);
	for (size_t i = 0; i < v->n_runs; i++) {
		drop_foreign_results(v, &v->runs[i]);
		ib_results_apply(&v->runs[i].results, &v->runs[i].context.settings);
		end_results(&v->runs[i].results);
	}
	v->contract = v->contract_entry ? contract_document(v, &v->contract_entry->e) : NULL;
}

void ib_study_count(const struct ib_study_view *v, struct ib_run_counts *ret)
{
	const json_t *plan = json_object_get(v->contract, "plan");
	struct ib_run_counts c = {0};
	int64_t *const by_state[IB_STATE_COUNT] = {
		[IB_STATE_COMPLETED] = &c.completed,     [IB_STATE_FAILED] = &c.failed,   [IB_STATE_TIMED_OUT] = &c.timed_out,
		[IB_STATE_INTERRUPTED] = &c.interrupted, [IB_STATE_REFUSED] = &c.refused, [IB_STATE_IMPORTED] = &c.imported,
		[IB_STATE_ABANDONED] = &c.abandoned,
	};

	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *run = &v->runs[i];

		c.started++;
		if (!run->running && by_state[run->state])
			++*by_state[run->state];
	}
	for (size_t i = 0; i < v->n_entries; i++)
		if (!v->entries[i].why && v->entries[i].e.kind == IB_ENTRY_EXCLUSION)
			c.excluded++;
	c.planned = json_is_array(plan) ? (int64_t)json_array_size(plan) : c.started;
	*ret = c;
}

void ib_study_runs_clear(struct ib_study_view *v)
{
	for (size_t i = 0; i < v->n_entries; i++) {
		ib_entry_clear(&v->entries[i].e);
		free(v->entries[i].why);
	}
	free(v->entries);
	for (size_t i = 0; i < v->n_runs; i++) {
		struct ib_study_run *run = &v->runs[i];

		free(run->id);
		ib_study_doc_clear(&run->doc);
		if (run->has_record)
			ib_record_clear(&run->record);
		ib_results_clear(&run->results);
		ib_samples_clear(&run->samples);
		ib_strv_clear(&run->torn_results);
		ib_strv_clear(&run->compressed);
		ib_strv_clear(&run->argv);
		ib_pages_clear(&run->pages);
		ib_context_clear(&run->context);
		ib_facts_clear(&run->before);
		ib_facts_clear(&run->after);
	}
	free(v->runs);
	free(v->index);
	free(v->registrations);
	free(v->ledger_problem);
	ib_chain_clear(&v->chain);
}
