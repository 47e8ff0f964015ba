/* SPDX-License-Identifier: Apache-2.0 */
/* Beside the runs of a plan. */
#include "run/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "redact/redact.h"
#include "run/inside.h"
#include "run/runid.h"

int ib_aside_begin(struct ib_plan *plan, const char *id, int dir_fd, const char *dir, const struct ib_contract_slot *slot, struct ib_aside *a,
		   struct ib_err *err)
{
	*a = (struct ib_aside){.spec = {.repeat = 1, .attempt = 1, .strict_placeholders = true, .contract_sha256 = plan->json_sha256}};
	ib_record_init(&a->record);
	a->dir = ib_strdup(dir);
	a->output_dir = ib_asprintf("%s/output", dir);
	if (slot) {
		a->spec.group = slot->group;
		a->spec.cell = slot->cell;
		a->spec.repeat = (int)slot->repeat;
		a->spec.variables_n = ib_run_variables(slot->variables, &a->variables);
		a->spec.variables = a->variables;
	}
	ib_run_env(plan->ctx, id, a->dir, a->output_dir, &a->env);
	a->run = (struct ib_run){.ctx = plan->ctx,
				 .study = &plan->study,
				 .spec = &a->spec,
				 .id = id,
				 .group = a->spec.group,
				 .cell = a->spec.cell,
				 .dir_fd = dir_fd,
				 .dir = a->dir,
				 .output_dir = a->output_dir,
				 .env = a->env.v,
				 .signals = &plan->signals,
				 .record = &a->record};
	return ib_make_dirs(dir_fd, "output", 0755, err);
}

void ib_aside_clear(struct ib_aside *a)
{
	ib_record_clear(&a->record);
	ib_strv_clear(&a->env);
	free(a->variables);
	free(a->dir);
	free(a->output_dir);
	*a = (struct ib_aside){0};
}

int ib_aside_id(const struct ib_plan *plan, const char *what, char ret[IB_RUN_ID_MAX], struct ib_err *err)
{
	char at[IB_TIME_LEN];
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
	ib_time_compact(ib_wall_ns(plan->ctx->clock), at);
	snprintf(ret, IB_RUN_ID_MAX, "%s-%.32s-%08" PRIx32, at, what, random);
	return 0;
}

int ib_aside_keep_bytes(struct ib_plan *plan, enum ib_entry_kind kind, const char *path, const struct ib_buf *b, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = kind, .file = ib_strdup(path), .bytes = (int64_t)b->len};
	int r = ib_buf_check(b, path, err);

	if (r == 0)
		r = ib_gate(plan->study.redactor, ib_buf_str(b), b->len, path, err);
	if (r == 0)
		r = ib_write_file(plan->study.fd, path, ib_buf_str(b), b->len, 0444, false, err);
	if (r < 0)
		return r;
	ib_sha256_of(ib_buf_str(b), b->len, e.sha256);
	return ib_ledger_append(plan->study.ledger, &e, NULL, NULL, err);
}

int ib_aside_keep(struct ib_plan *plan, enum ib_entry_kind kind, const char *path, const json_t *document, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);

	ib_json_write_pretty(document, &b);
	return ib_aside_keep_bytes(plan, kind, path, &b, err);
}
