/* SPDX-License-Identifier: Apache-2.0 */
/* A run's directory is read as a study that holds this run alone: the same sink, the same checks, the ledger of the study around it. */
#include "verify/run_dir.h"

#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/dir.h"
#include "verify/runs.h"
#include "verify/settle.h"

/* Hands every file on under runs/<id>/. */
struct prefix {
	struct ib_evidence_sink to;
	const char *id;
};

static bool wants(void *arg, const char *path, uint64_t size)
{
	const struct prefix *p = arg;
	ib_auto_free char *full = ib_asprintf("runs/%s/%s", p->id, path);

	return p->to.wants(p->to.arg, full, size);
}

static void file(void *arg, const char *path, uint64_t size, const char *sha256, const char *data)
{
	const struct prefix *p = arg;
	ib_auto_free char *full = ib_asprintf("runs/%s/%s", p->id, path);

	p->to.file(p->to.arg, full, size, sha256, data);
}

static bool streams(void *arg, const char *path, uint64_t size)
{
	const struct prefix *p = arg;
	ib_auto_free char *full = ib_asprintf("runs/%s/%s", p->id, path);

	return p->to.streams(p->to.arg, full, size);
}

static bool stream(void *arg, const char *path, const struct ib_source *in)
{
	const struct prefix *p = arg;
	ib_auto_free char *full = ib_asprintf("runs/%s/%s", p->id, path);

	return p->to.stream(p->to.arg, full, in);
}

static void streamed(void *arg, const char *path, const char *sha256)
{
	const struct prefix *p = arg;
	ib_auto_free char *full = ib_asprintf("runs/%s/%s", p->id, path);

	p->to.streamed(p->to.arg, full, sha256);
}

/* The ledger of the study around the run: its bytes are read, but not counted among the run's files. */
static bool read_ledger(int dirfd, struct ib_study_view *v)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	struct ib_err ignored;

	if (ib_read_file(dirfd, "../../ledger.jsonl", &b, &ignored) < 0)
		return false;
	ib_study_read_ledger(v, ib_buf_str(&b), b.len);
	return true;
}

/* The run's ID is the name of its directory, wherever it was reached from. */
static char *last_part(const char *path)
{
	ib_auto_free char *real = realpath(path, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;

	return ib_strdup(slash ? slash + 1 : path);
}

static const struct ib_check vouched = {.id = "S05", .level = IB_FINDING_E, .title = "the ledger holds the record's digest"};

static void check(const struct ib_study_view *v, const char *id, struct ib_audit_view *ret_audit, struct ib_findings *f)
{
	static const char *const wanted[] = {"S01", "S05", "S06", "S14", "S07", "S16"};
	const struct ib_study_run *run = ib_study_find_run(v, id);

	for (size_t i = 0; ib_study_checks[i]; i++)
		for (size_t k = 0; k < IB_LEN(wanted); k++)
			if (strcmp(ib_study_checks[i]->id, wanted[k]) == 0 && (v->has_ledger || k > 3))
				ib_study_checks[i]->run(ib_study_checks[i], v, f);
	if (run) {
		ib_audit_of_study(v, run, ret_audit);
		ib_audit_check(ret_audit, f);
	}
	if (run && run->has_record && strcmp(run->record.run_id, id) != 0)
		ib_finding_values(ib_check_fail(&vouched, f, IB_E_BINDING, run->doc.path, "the record is of another run than its directory is named for"), id,
				  run->record.run_id);
	if (v->has_ledger && !(run && run->start)) {
		ib_check_fail(&vouched, f, IB_E_EXTRA, NULL, "a run that the ledger of its study does not know");
	} else if (!run || !run->finish) {
		struct ib_finding *one = ib_findings_add(f, vouched.id, IB_FINDING_E, IB_NOT_CHECKABLE,
							 "no ledger vouches for this record: verify the study or the packet that the run belongs to");

		one->code = IB_E_UNSUPPORTED;
	}
}

int ib_run_dir_verify(int dirfd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	ib_auto_free char *id = last_part(path);
	struct prefix p = {.to = ib_study_view_sink(&ret->study), .id = id};
	const struct ib_evidence_sink sink = {.wants = wants, .file = file, .streams = streams, .stream = stream, .streamed = streamed, .arg = &p};
	int r;

	if (!read_ledger(dirfd, &ret->study))
		ib_study_add_run(&ret->study, id);
	r = ib_dir_walk(dirfd, path, "S00", &sink, &ret->findings, err);
	ib_study_view_end(&ret->study);
	if (r == IB_E_LIMIT)
		ib_findings_add_err(&ret->findings, err);
	else if (r < 0)
		return r;
	check(&ret->study, id, &ret->audit, &ret->findings);
	ib_verdict_size(ret);
	ib_trust_does_not_apply(ret, opts);
	ret->intact = ret->consistent = IB_HOLDS_YES;
	ret->is_signed = ret->time_stamped = IB_HOLDS_NO;
	ib_verdict_settle(ret, opts);
	return 0;
}
