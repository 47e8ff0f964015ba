/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a ledger: the accounting that follows from its entries. */
#include "ledger/read.h"

#include <string.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/str.h"

int ib_ledger_each(const char *data, size_t n, int (*each)(void *arg, const struct ib_entry *e, struct ib_err *err), void *arg, struct ib_err *err)
{
	int64_t seq = 1;

	for (size_t at = 0; at < n; seq++) {
		const char *end = memchr(data + at, '\n', n - at);
		ib_auto_json json_t *j = NULL;
		ib_auto_entry struct ib_entry e = {0};
		char where[64];
		int r;

		snprintf(where, sizeof(where), "ledger.jsonl:%lld", (long long)seq);
		if (!end)
			return ib_fail_at(err, IB_E_LEDGER, where, "'%s' is torn: it does not end with a newline", where);
		if (end - (data + at) >= IB_ENTRY_MAX)
			return ib_fail_at(err, IB_E_LIMIT, where, "'%s' is longer than %d bytes", where, IB_ENTRY_MAX);
		if ((r = ib_json_load(data + at, (size_t)(end - (data + at)), where, &j, err)) < 0 || (r = ib_entry_from_json(j, where, &e, err)) < 0)
			return r;
		if (e.seq != seq)
			return ib_fail_at(err, IB_E_LEDGER, where, "'%s' has seq %lld, expected %lld", where, (long long)e.seq, (long long)seq);
		r = each(arg, &e, err);
		if (r != 0)
			return r;
		at = (size_t)(end - data) + 1;
	}
	return 0;
}

/* Runs are found through an open hash table of indices: a ledger may hold many. */
struct builder {
	struct ib_ledger_view *v;
	size_t *slots; /* index + 1, 0: free */
	size_t slots_n;
};

static size_t hash(const char *s)
{
	size_t h = 1469598103934665603u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

static size_t *slot(struct builder *b, const char *id)
{
	size_t i = hash(id) % b->slots_n;

	while (b->slots[i] && strcmp(b->v->runs[b->slots[i] - 1].id, id) != 0)
		i = (i + 1) % b->slots_n;
	return &b->slots[i];
}

static struct ib_ledger_run *find(struct builder *b, const char *id)
{
	size_t *s = b->slots_n ? slot(b, id) : NULL;

	return s && *s ? &b->v->runs[*s - 1] : NULL;
}

static void grow(struct builder *b)
{
	if (b->slots_n > 2 * b->v->runs_n)
		return;
	free(b->slots);
	b->slots_n = 4 * b->v->runs_n + 64;
	b->slots = ib_alloc(b->slots_n * sizeof(*b->slots));
	for (size_t i = 0; i < b->v->runs_n; i++)
		*slot(b, b->v->runs[i].id) = i + 1;
}

static int fail(const struct ib_entry *e, struct ib_err *err, const char *what)
{
	char where[64];

	snprintf(where, sizeof(where), "ledger.jsonl:%lld", (long long)e->seq);
	return ib_fail_at(err, IB_E_LEDGER, where, "'%s': %s: '%s'", where, what, e->run ? e->run : ib_entry_kind_name(e->kind));
}

static void add_contract(struct ib_ledger_view *v, const struct ib_entry *e)
{
	struct ib_ledger_contract *c;

	v->contracts = ib_realloc(v->contracts, v->contracts_n + 1, sizeof(*v->contracts));
	c = &v->contracts[v->contracts_n++];
	*c = (struct ib_ledger_contract){.seq = e->seq, .wall_ns = e->wall_ns, .reason = ib_strdup(e->reason), .results_known = e->results_known};
	memcpy(c->source_sha256, e->source_sha256, IB_HEX_LEN);
	memcpy(c->json_sha256, e->json_sha256, IB_HEX_LEN);
	if (!v->study)
		v->study = ib_strdup(e->study);
}

static int add_start(struct builder *b, const struct ib_entry *e, struct ib_err *err)
{
	struct ib_ledger_view *v = b->v;
	struct ib_ledger_run *run;

	if (find(b, e->run))
		return fail(e, err, "this run was started before");
	v->runs = ib_realloc(v->runs, v->runs_n + 1, sizeof(*v->runs));
	run = &v->runs[v->runs_n++];
	*run = (struct ib_ledger_run){
		.id = ib_strdup(e->run),
		.group = ib_strdup(e->group),
		.cell = ib_strdup(e->cell),
		.repeat = e->repeat,
		.attempt = e->attempt,
		.started_ns = e->wall_ns,
		.started_seq = e->seq,
		.finished_ns = IB_NONE,
		.state = IB_STATE_ABANDONED,
		.open = true,
		.contract = v->contracts_n - 1,
	};
	memcpy(run->capture, e->capture, IB_HEX_LEN);
	grow(b);
	*slot(b, run->id) = v->runs_n;
	return 0;
}

static int add_end(struct builder *b, const struct ib_entry *e, struct ib_err *err)
{
	struct ib_ledger_run *run = find(b, e->run);

	if (!run)
		return fail(e, err, "this run was never started");
	if (e->kind == IB_ENTRY_EXCLUSION) {
		run->excluded = true;
		free(run->exclusion_reason);
		run->exclusion_reason = ib_strdup(e->reason);
		b->v->counts.excluded++;
		return 0;
	}
	if (!run->open)
		return fail(e, err, "this run has ended before");
	run->open = false;
	if (e->kind == IB_ENTRY_FINISH) {
		run->state = e->state;
		run->finished_ns = e->wall_ns;
		run->finished_seq = e->seq;
		memcpy(run->record_sha256, e->record_sha256, IB_HEX_LEN);
	}
	return 0;
}

static int add(void *arg, const struct ib_entry *e, struct ib_err *err)
{
	struct builder *b = arg;
	struct ib_ledger_view *v = b->v;

	v->length = e->seq;
	v->sealed_seq = 0;
	if (e->seq == 1 && e->kind != IB_ENTRY_CONTRACT)
		return fail(e, err, "the first entry is no contract");
	if (e->seq > 1 && e->kind == IB_ENTRY_CONTRACT)
		return fail(e, err, "a second contract entry; a changed contract is an amendment");
	switch (e->kind) {
	case IB_ENTRY_CONTRACT:
	case IB_ENTRY_AMENDMENT:
		add_contract(v, e);
		return 0;
	case IB_ENTRY_START:
		return add_start(b, e, err);
	case IB_ENTRY_FINISH:
	case IB_ENTRY_ABANDONED:
	case IB_ENTRY_EXCLUSION:
		return add_end(b, e, err);
	case IB_ENTRY_TORN:
		v->torn++;
		return 0;
	case IB_ENTRY_IMPORT:
		v->counts.imported++;
		return 0;
	case IB_ENTRY_SEAL:
		v->sealed_seq = e->seq;
		v->seal_runs = e->runs;
		v->seal_wall_ns = e->wall_ns;
		memcpy(v->seal_tree, e->tree_sha256, IB_HEX_LEN);
		return 0;
	default:
		return 0;
	}
}

static void count(struct ib_ledger_view *v)
{
	int64_t *const by_state[IB_STATE_COUNT] = {
		[IB_STATE_COMPLETED] = &v->counts.completed, [IB_STATE_FAILED] = &v->counts.failed,
		[IB_STATE_TIMED_OUT] = &v->counts.timed_out, [IB_STATE_INTERRUPTED] = &v->counts.interrupted,
		[IB_STATE_REFUSED] = &v->counts.refused,     [IB_STATE_IMPORTED] = &v->counts.imported,
		[IB_STATE_ABANDONED] = &v->counts.abandoned,
	};

	v->counts.started = v->counts.planned = (int64_t)v->runs_n;
	for (size_t i = 0; i < v->runs_n; i++)
		++*by_state[v->runs[i].state];
}

/* Digest of the last line, without its LF. */
static void set_head(struct ib_ledger_view *v, const char *data, size_t n)
{
	const char *end = data + n - 1, *start = end;

	while (start > data && start[-1] != '\n')
		start--;
	ib_sha256_of(start, (size_t)(end - start), v->head);
}

int ib_ledger_view_load(const char *data, size_t n, struct ib_ledger_view *ret, struct ib_err *err)
{
	struct builder b = {.v = ret};
	int r;

	*ret = (struct ib_ledger_view){0};
	r = ib_ledger_each(data, n, add, &b, err);
	free(b.slots);
	if (r < 0) {
		ib_ledger_view_clear(ret);
		return r;
	}
	if (n)
		set_head(ret, data, n);
	count(ret);
	return 0;
}

void ib_ledger_view_clear(struct ib_ledger_view *v)
{
	for (size_t i = 0; i < v->runs_n; i++) {
		free(v->runs[i].id);
		free(v->runs[i].group);
		free(v->runs[i].cell);
		free(v->runs[i].exclusion_reason);
	}
	for (size_t i = 0; i < v->contracts_n; i++)
		free(v->contracts[i].reason);
	free(v->runs);
	free(v->contracts);
	free(v->study);
	*v = (struct ib_ledger_view){0};
}

const struct ib_ledger_run *ib_ledger_view_find(const struct ib_ledger_view *v, const char *run_id)
{
	for (size_t i = 0; i < v->runs_n; i++)
		if (strcmp(v->runs[i].id, run_id) == 0)
			return &v->runs[i];
	return NULL;
}
