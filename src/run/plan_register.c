/* SPDX-License-Identifier: Apache-2.0 */
/* A contract becomes the one in force of a study: its files, its entry in the ledger. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/append.h"
#include "run/note.h"
#include "run/plan_inside.h"

#define LEDGER_MAX (1u << 30)
#define LOCK_TRIES 20
#define LOCK_WAIT_US 50000

int ib_plan_ledger(const struct ib_plan *plan, struct ib_ledger_view *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	int r = ib_read_file(plan->study.fd, "ledger.jsonl", &b, err);

	return r < 0 ? r : ib_ledger_view_load(ib_buf_str(&b), b.len, ret, err);
}

/* Writes a file of contracts/; one that is there already must be the same. */
static int keep(int study_fd, const char *sha256, const char *suffix, const struct ib_buf *content, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("contracts/%s.%s", sha256, suffix);
	ib_auto_buf struct ib_buf there = IB_BUF(IB_JSON_MAX);
	int r;

	if (faccessat(study_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return ib_write_file(study_fd, path, content->data, content->len, 0444, false, err);
	r = ib_read_file(study_fd, path, &there, err);
	if (r < 0)
		return r;
	if (there.len != content->len || memcmp(there.data, content->data, there.len) != 0)
		return ib_fail(err, IB_E_STATE, 0, "'%s' is there with other content: made by another version of ibtools, or changed since", path);
	return 0;
}

static int keep_files(const struct ib_plan *plan, int fd, struct ib_err *err)
{
	int r = keep(fd, plan->contract.source_sha256, "yaml", &plan->source, err);

	if (r == 0)
		r = keep(fd, plan->contract.source_sha256, "json", &plan->json, err);
	return r < 0 ? ib_wrap(err, "cannot keep the contract in the study") : 0;
}

static int amend(struct ib_plan *plan, bool results_known, const char *reason, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_AMENDMENT, .results_known = results_known};

	e.study = ib_strdup(plan->contract.study);
	e.reason = ib_strdup(reason);
	memcpy(e.source_sha256, plan->contract.source_sha256, IB_HEX_LEN);
	memcpy(e.json_sha256, plan->json_sha256, IB_HEX_LEN);
	return ib_ledger_append(plan->study.ledger, &e, NULL, NULL, err);
}

/* Runs that somebody may have seen the result of: all but those that measured nothing. */
static size_t count_seen(const struct ib_ledger_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->runs_n; i++)
		n += v->runs[i].state != IB_STATE_REFUSED;
	return n;
}

/* An author may say that results were known where the ledger cannot tell, never that they were not where it can. */
static int results_known(const struct ib_plan *plan, const struct ib_ledger_view *v, bool *ret, struct ib_err *err)
{
	const char *said = plan->options->results_known;
	size_t seen = count_seen(v);

	if (said && strcmp(said, "yes") != 0 && strcmp(said, "no") != 0)
		return ib_fail(err, IB_E_USAGE, 0, "--results-known takes yes or no");
	if (seen && ib_streq(said, "no"))
		return ib_fail(err, IB_E_USAGE, 0, "--results-known no: the ledger holds %zu runs that were measured before this change", seen);
	*ret = seen > 0 || ib_streq(said, "yes");
	return 0;
}

/* May this contract be the one in force? *ret_known: it is already; else *ret_seen: results may be known to its author. */
static int check(const struct ib_plan *plan, const char *study, const struct ib_ledger_view *v, bool *ret_known, bool *ret_seen, struct ib_err *err)
{
	const struct ib_ledger_contract *last = &v->contracts[v->contracts_n - 1];

	*ret_known = strcmp(last->source_sha256, plan->contract.source_sha256) == 0;
	if (!last->source_sha256[0])
		return ib_fail(err, IB_E_USAGE, 0, "the study '%s' holds runs without a contract: name another directory with -C", study);
	if (strcmp(v->study, plan->contract.study) != 0)
		return ib_fail(err, IB_E_USAGE, 0, "the study '%s' is called '%s', the contract's is '%s': name another directory with -C", study, v->study,
			       plan->contract.study);
	if (!*ret_known && v->runs_n > 0 && !plan->options->amend)
		return ib_fail(err, IB_E_USAGE, 0,
			       "the contract changed after %zu runs: with --amend --reason TEXT it becomes an amendment, whose runs are never pooled with those before; "
			       "or name another study with -C",
			       v->runs_n);
	return *ret_known ? 0 : results_known(plan, v, ret_seen, err);
}

/* The same before anything is written: a contract that is refused leaves no file behind. */
static int check_early(const struct ib_plan *plan, const char *study, int fd, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	bool known, seen;

	/* a ledger that is absent, or torn and to be repaired, is looked at once the study is open */
	if (ib_read_file(fd, "ledger.jsonl", &b, NULL) < 0 || ib_ledger_view_load(ib_buf_str(&b), b.len, &v, NULL) < 0 || v.contracts_n == 0)
		return 0;
	return check(plan, study, &v, &known, &seen, err);
}

static bool is_registered(const struct ib_ledger_view *v, const char *name)
{
	for (size_t i = 0; i < v->contracts_n; i++)
		if (v->contracts[i].source_sha256[0] && strncmp(v->contracts[i].source_sha256, name, IB_HEX_LEN - 1) == 0)
			return true;
	return false;
}

/* An ib-run that was killed before its contract stood in the ledger leaves files that belong to nothing. We hold the lock: nobody is about to enter them. */
static void tidy(const struct ib_plan *plan, const struct ib_ledger_view *v)
{
	ib_auto_dir DIR *d = ib_list_dir(plan->study.fd, "contracts");

	if (!d)
		return;
	for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
		ib_auto_free char *sha256 = ib_strndup(e->d_name, strnlen(e->d_name, IB_HEX_LEN - 1));
		const char *suffix = e->d_name + strlen(sha256);
		bool ours = ib_is_hex(sha256, IB_HEX_LEN - 1) && (ib_starts(suffix, ".yaml") || ib_starts(suffix, ".json"));

		if (!ours || (!ib_ends(suffix, ".part") && is_registered(v, sha256)) || unlinkat(dirfd(d), e->d_name, 0) < 0)
			continue;
		ib_log(plan->ctx, IB_LOG_INFO, "'contracts/%s' was left by an ib-run that was killed before it was registered: removed", e->d_name);
	}
}

/* Makes this contract the one in force. */
static int enforce(struct ib_plan *plan, struct ib_err *err)
{
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	const char *reason = plan->options->amend ? plan->options->reason : "changed before the first run";
	bool known, seen;
	int r = ib_plan_ledger(plan, &v, err);

	if (r == 0)
		r = check(plan, plan->study.path, &v, &known, &seen, err);
	if (r < 0 || known)
		return r;
	r = ib_note_check(&plan->study, "the reason of an amendment (--reason TEXT)", reason, err);
	return r < 0 ? r : amend(plan, seen, reason, err);
}

/* After its own contract is in force: what else is there belongs to nothing. */
static int tidy_up(const struct ib_plan *plan, struct ib_err *err)
{
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	int r = ib_plan_ledger(plan, &v, err);

	if (r == 0)
		tidy(plan, &v);
	return r;
}

/* Two plans at once would fill the same slots. The lock ends with the process, however that ends; the child of one that was killed just then may hold it for
 * as long as it takes to become another program. */
static int lock(struct ib_plan *plan, const char *study, int fd, struct ib_err *err)
{
	int r = ib_open_dir(fd, "contracts", &plan->lock_fd, err);

	if (r < 0)
		return r;
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(plan->lock_fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			break;
		usleep(LOCK_WAIT_US);
	}
	if (errno == EWOULDBLOCK)
		return ib_fail(err, IB_E_STATE, 0, "another ib-run carries out a plan in the study '%s': wait for its end", study);
	return ib_fail(err, IB_E_IO, errno, "cannot lock 'contracts' of the study '%s'", study);
}

/* The study's directory, locked, with the contract's files in it. */
static int prepare(struct ib_plan *plan, const char *study, struct ib_err *err)
{
	ib_auto_fd int fd = -1;
	int r = ib_make_dirs(AT_FDCWD, study, 0755, err);

	if (r == 0)
		r = ib_open_dir(AT_FDCWD, study, &fd, err);
	if (r == 0)
		r = check_early(plan, study, fd, err);
	if (r == 0)
		r = ib_make_dirs(fd, "contracts", 0755, err);
	if (r == 0)
		r = lock(plan, study, fd, err);
	return r < 0 ? r : keep_files(plan, fd, err);
}

char *ib_plan_study(const struct ib_plan_options *o)
{
	ib_auto_free char *copy = ib_strdup(o->contract);

	return ib_strdup(o->study ? o->study : dirname(copy));
}

int ib_plan_register(struct ib_plan *plan, struct ib_err *err)
{
	ib_auto_free char *study = ib_plan_study(plan->options);
	int r = prepare(plan, study, err);

	if (r == 0)
		r = ib_study_open(plan->ctx, study, plan->contract.study, plan->contract.source_sha256, plan->json_sha256, &plan->study, err);
	if (r == 0)
		r = enforce(plan, err);
	if (r == 0)
		r = tidy_up(plan, err);
	if (r < 0)
		return r;
	if (fchdir(plan->study.fd) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot enter the study '%s'", plan->study.path);
	return 0;
}
