/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out the plan of a contract. */
#include "run/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "model/template.h"
#include "ledger/append.h"
#include "redact/redact.h"
#include "run/check.h"
#include "run/ceiling.h"
#include "run/plan_inside.h"
#include "run/quality.h"
#include "run/quality_sweep.h"
#include "run/recording.h"
#include "run/stop.h"

#define LEDGER_MAX (1u << 30)
#define TAKEN_TRIES 20
#define TAKEN_WAIT_NS (IB_NS / 20)
#define TAIL_MAX (8u << 20) /* bytes that a ledger gains between two runs, and that are not worth reading all of it again */

static int load(struct ib_plan *p, struct ib_err *err)
{
	char found[IB_SECRET_WORDS];
	struct ib_contract_options options = {ib_scan_words, found};
	struct ib_err why;
	int r = ib_read_file(AT_FDCWD, p->options->contract, &p->source, &why);

	if (r < 0)
		return ib_fail(err, IB_E_USAGE, 0, "cannot read the contract: %s", why.text);
	r = ib_contract_parse(ib_buf_str(&p->source), p->source.len, p->options->contract, &options, &p->contract, err);
	if (r < 0)
		return r;
	if (ib_contract_write(&p->contract, &p->json, p->json_sha256, &why) < 0)
		return ib_fail(err, IB_E_USAGE, 0, "the contract is too large: %s", why.text);
	return 0;
}

/* Takes what the ledger has gained since it was last looked at; false: it has to be read again. */
static bool follow(struct ib_plan *p, off_t size)
{
	ib_auto_buf struct ib_buf b = IB_BUF(TAIL_MAX);
	ib_auto_fd int fd = openat(p->study.fd, "ledger.jsonl", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t n;

	if (!p->view_bytes || size < p->view_bytes || size - p->view_bytes > (off_t)TAIL_MAX || fd < 0 || lseek(fd, p->view_bytes, SEEK_SET) < 0 ||
	    ib_read_all(fd, "ledger.jsonl", &b, NULL) < 0 || !ib_slots_follow(&p->slots, ib_buf_str(&b), b.len, &n))
		return false;
	p->view_bytes += (off_t)n;
	return true;
}

/* Looks at the ledger again if it has grown: most slots of a plan that is resumed are filled, and between two runs little is added to it. */
static int refresh(struct ib_plan *p, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_ledger_view struct ib_ledger_view view = {0};
	struct stat st;
	int r;

	if (fstatat(p->study.fd, "ledger.jsonl", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect 'ledger.jsonl'");
	if ((p->view_bytes && st.st_size == p->view_bytes) || follow(p, st.st_size))
		return 0;
	r = ib_read_file(p->study.fd, "ledger.jsonl", &b, err);
	if (r == 0)
		r = ib_ledger_view_load(ib_buf_str(&b), b.len, &view, err);
	if (r < 0)
		return r;
	p->view_bytes = (off_t)b.len;
	ib_slots_update(&p->slots, &view, p->json_sha256);
	return 0;
}

/* Slots that are still to be run. */
static size_t count_empty(const struct ib_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->contract.slots_n; i++)
		n += p->slots.v[i].selected && p->slots.v[i].state == IB_SLOT_EMPTY;
	return n;
}

static void summarise(const struct ib_plan *p, const struct ib_contract_slot *slot, const struct ib_record *r)
{
	ib_auto_buf struct ib_buf b = IB_BUF(600);

	for (size_t i = 0; i < r->reasons.n; i++)
		ib_buf_addf(&b, "%s%s", i ? ", " : " (", r->reasons.v[i]);
	if (r->reasons.n)
		ib_buf_addc(&b, ')');
	ib_log(p->ctx, IB_LOG_INFO, "%" PRId64 "/%zu %s.%s r%02" PRId64 ": %s%s, cache %s %s: runs/%s", slot->slot + 1, p->contract.slots_n, slot->group, slot->cell,
	       slot->repeat, ib_state_name(r->state), ib_buf_str(&b), ib_condition_name(slot->condition),
	       r->cache.evidence == IB_CONFIRMED ? "confirmed" : r->cache.evidence == IB_CONTRADICTED ? "contradicted" : "unconfirmed", r->run_id);
	for (size_t i = 0; r->state != IB_STATE_COMPLETED && i < r->notes.n; i++)
		ib_log(p->ctx, IB_LOG_INFO, "  %s", r->notes.v[i]);
}

/* Has a signal arrived? */
static bool is_interrupted(struct ib_plan *p)
{
	ib_signals_wait(&p->signals, 0, -1);
	if (p->signals.caught)
		ib_log(p->ctx, IB_LOG_WARNING, "interrupted: the same command resumes the plan");
	return p->signals.caught != 0;
}

/* Runs one slot; the progress line knows how long it took. */
static int run_slot(struct ib_plan *p, const struct ib_contract_slot *slot, int attempt, struct ib_record *ret_record, struct ib_err *err)
{
	int64_t from = ib_monotonic_ns(p->ctx->clock);
	int r;

	p->progress.at = (size_t)slot->slot + 1;
	p->progress.total = p->contract.slots_n;
	p->progress.left = count_empty(p);
	r = ib_plan_slot(p, slot, attempt, ret_record, err);
	if (r == 0 && ret_record->state != IB_STATE_REFUSED && ret_record->state != IB_STATE_INTERRUPTED)
		ib_progress_took(&p->progress, ib_monotonic_ns(p->ctx->clock) - from);
	return r;
}

/* May the group of a slot begin? */
static bool gate_open(const struct ib_plan *p, const struct ib_contract_group *g)
{
	size_t open = g->gate ? ib_slots_open(&p->slots, g->gate) : 0;

	if (open)
		ib_log(p->ctx, IB_LOG_WARNING, "group '%s' waits for '%s', of which %zu runs are missing or not as expected: the plan stops here", g->name, g->gate,
		       open);
	return open == 0;
}

/* Nobody else carries out a plan here: a slot that is taken was that of an ib-run which was killed, and whose child may hold the run for a moment. */
static int await_end(struct ib_plan *p, size_t at, struct ib_err *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < TAKEN_TRIES && p->slots.v[at].state == IB_SLOT_TAKEN && !p->signals.caught; i++) {
		size_t adopted, abandoned;

		ib_signals_wait(&p->signals, TAKEN_WAIT_NS, -1);
		r = ib_ledger_mark_abandoned(p->study.ledger, &adopted, &abandoned, err);
		if (r == 0)
			r = refresh(p, err);
	}
	return r;
}

/* Runs one slot if it needs it. *ret_go false: the plan stops here. */
static int visit(struct ib_plan *p, size_t at, struct ib_stop *stop, bool *ret_go, struct ib_err *err)
{
	const struct ib_contract_slot *slot = &p->contract.slots[at];
	ib_auto_record struct ib_record record;
	int r;

	ib_record_init(&record);
	*ret_go = true;
	if (!p->slots.v[at].selected)
		return 0;
	r = refresh(p, err);
	if (r == 0 && p->slots.v[at].state == IB_SLOT_TAKEN)
		r = await_end(p, at, err);
	if (r < 0)
		return r;
	if (p->slots.v[at].state == IB_SLOT_TAKEN)
		ib_log(p->ctx, IB_LOG_WARNING, "slot %" PRId64 " is being run by another ib-run", slot->slot);
	if (p->slots.v[at].state != IB_SLOT_EMPTY)
		return 0;
	*ret_go = gate_open(p, &p->contract.groups[slot->group_at]) && !ib_stop_time(p->ctx, &p->contract, stop);
	if (!*ret_go)
		return 0;
	r = run_slot(p, slot, p->slots.v[at].attempts + 1, &record, err);
	if (r < 0)
		return r;
	summarise(p, slot, &record);
	*ret_go = !is_interrupted(p) && !ib_stop_run(p->ctx, &p->contract, &record, stop);
	return 0;
}

/* Says how far the plan is, when something is left of it. */
static void conclude(const struct ib_plan *p, size_t open)
{
	size_t selected = ib_slots_selected(&p->slots);

	if (open > 0)
		ib_log(p->ctx, IB_LOG_INFO, "%zu of %zu slots are filled as expected", selected - open, selected);
	if (selected < p->contract.slots_n)
		ib_log(p->ctx, IB_LOG_INFO, "--only left %zu of the plan's %zu slots out", p->contract.slots_n - selected, p->contract.slots_n);
}

/* Is there a slot left to be run? */
static bool any_empty(const struct ib_plan *p)
{
	for (size_t i = 0; i < p->contract.slots_n; i++)
		if (p->slots.v[i].selected && p->slots.v[i].state == IB_SLOT_EMPTY)
			return true;
	return false;
}

/* The quality check before the first run of this ib-run. */
static int check_before(struct ib_plan *p, bool *ret_go, struct ib_err *err)
{
	int r = refresh(p, err);

	if (r < 0 || !any_empty(p))
		return r;
	r = ib_quality(p, "before", ret_go, err);
	if (r == 0 && !*ret_go)
		ib_log(p->ctx, IB_LOG_WARNING, "the quality check did not pass: the plan stops here; the same command makes it again");
	return r;
}

/* The one after the last run of the plan. */
static int check_after(struct ib_plan *p, bool *ret_go, struct ib_err *err)
{
	bool due = false;
	int r = p->contract.quality && !any_empty(p) ? ib_quality_due_after(p, &due, err) : 0;

	return r < 0 || !due ? r : ib_quality(p, "after", ret_go, err);
}

static int carry_out(struct ib_plan *p, int *ret_exit, struct ib_err *err)
{
	struct ib_stop stop = {.began_ns = ib_monotonic_ns(p->ctx->clock)};
	size_t open;
	bool go = true;
	int r = 0;

	r = check_before(p, &go, err);
	for (size_t i = 0; r == 0 && go && i < p->contract.slots_n; i++)
		r = visit(p, i, &stop, &go, err);
	if (r == 0)
		r = refresh(p, err);
	if (r == 0 && go)
		r = check_after(p, &go, err);
	if (r < 0)
		return r;
	open = ib_slots_open(&p->slots, NULL);
	conclude(p, open);
	*ret_exit = open > 0 || !go ? 1 : 0;
	return 0;
}

static void plan_clear(struct ib_plan *p)
{
	ib_contract_clear(&p->contract);
	ib_buf_clear(&p->source);
	ib_buf_clear(&p->json);
	json_decref(p->nodes);
	ib_study_clear(&p->study);
	ib_slots_clear(&p->slots);
	ib_progress_clear(&p->progress);
	if (p->lock_fd >= 0)
		close(p->lock_fd);
}

/* What may be wrong with the options, before anything is written. */
static int check_options(struct ib_plan *p, struct ib_err *err)
{
	const struct ib_plan_options *o = p->options;
	const char *rule = o->reason ? ib_scan_value(o->reason, strlen(o->reason)) : NULL;

	if (o->amend && (!o->reason || !*o->reason))
		return ib_fail(err, IB_E_USAGE, 0, "--amend needs --reason TEXT");
	if (rule)
		return ib_fail(err, IB_E_USAGE, 0, "the reason holds a secret (%s), and would stand in the ledger for ever", rule);
	ib_slots_init(&p->slots, &p->contract);
	return o->only ? ib_slots_select(&p->slots, o->only, err) : 0;
}

/* What is asked for in place of the runs. */
static int carry_out_aside(struct ib_plan *p, int *ret_exit, struct ib_err *err)
{
	int recorded = 0, measured = 0, r = 0;

	if (p->options->record_workload)
		r = ib_recording(p, p->options->record_bodies, &recorded, err);
	if (r == 0 && p->options->ceiling)
		r = ib_ceiling(p, &measured, err);
	*ret_exit = recorded || measured || is_interrupted(p) ? 1 : 0;
	return r;
}

static int carry_out_registered(struct ib_plan *p, int *ret_exit, struct ib_err *err)
{
	int r = ib_plan_env(p->ctx, &p->contract, err);

	if (r == 0)
		r = ib_plan_register(p, err);
	if (r == 0)
		r = ib_signals_init(&p->signals, err);
	if (r < 0)
		return r;
	r = p->options->record_workload || p->options->ceiling ? carry_out_aside(p, ret_exit, err) : carry_out(p, ret_exit, err);
	ib_signals_clear(&p->signals);
	return r;
}

/* How many of the selected slots are still to be run? All, where there is no ledger that can be read. */
static size_t count_left(struct ib_plan *p, const char *study)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_ledger_view struct ib_ledger_view view = {0};
	ib_auto_free char *path = ib_asprintf("%s/ledger.jsonl", study);

	if (ib_read_file(AT_FDCWD, path, &b, NULL) == 0 && ib_ledger_view_load(ib_buf_str(&b), b.len, &view, NULL) == 0)
		ib_slots_update(&p->slots, &view, p->json_sha256);
	return ib_slots_open(&p->slots, NULL);
}

/* --check: looks, and writes nothing. */
static int check_plan(struct ib_plan *p, struct ib_buf *listing, int *ret_exit, struct ib_err *err)
{
	ib_auto_free char *study = ib_plan_study(p->options);
	struct ib_lint_view view;
	struct ib_preflight check = {.ctx = p->ctx, .contract = &p->contract, .view = &view, .study = study, .out = listing};
	bool failed;

	check.slots_open = count_left(p, study);
	ib_lint_view_init(&view, &p->contract, study);
	ib_preflight(&check, &failed);
	ib_lint_view_clear(&view);
	*ret_exit = failed ? 1 : 0;
	return ib_buf_check(listing, "the list of checks", err);
}

int ib_plan(const struct ib_ctx *ctx, const struct ib_plan_options *options, struct ib_buf *listing, int *ret_exit, struct ib_err *err)
{
	__attribute__((cleanup(plan_clear))) struct ib_plan p = {
		.ctx = ctx, .options = options, .source = IB_BUF(2u << 20), .json = IB_BUF(IB_JSON_MAX), .study = {.fd = -1}, .lock_fd = -1};
	ib_auto_free char *study = NULL;
	int r = load(&p, err);

	if (r == 0)
		r = check_options(&p, err);
	if (r < 0)
		return r;
	if (options->check)
		return check_plan(&p, listing, ret_exit, err);
	if (!options->dry_run)
		return carry_out_registered(&p, ret_exit, err);
	ib_plan_list(&p.contract, &p.slots, listing);
	study = ib_plan_study(options);
	ib_plan_lint(&p.contract, study, listing);
	*ret_exit = 0;
	return ib_buf_check(listing, "the list of commands", err);
}
