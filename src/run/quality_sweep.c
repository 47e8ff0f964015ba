/* SPDX-License-Identifier: Apache-2.0 */
/* Quality checks and the ledger. */
#include "run/quality_sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "run/aside.h"
#include "run/files.h"
#include "run/runid.h"

#define LEDGER_MAX (1u << 30)

struct known {
	struct ib_strv files; /* of quality entries */
	int64_t last_finish, last_after;
};

static int note(void *arg, const struct ib_entry *e, struct ib_err *err)
{
	struct known *k = arg;

	(void)err;
	if (e->kind == IB_ENTRY_FINISH)
		k->last_finish = e->seq;
	if (e->kind == IB_ENTRY_QUALITY)
		ib_strv_add(&k->files, e->file);
	if (e->kind == IB_ENTRY_QUALITY && strstr(e->file, "Z-after-"))
		k->last_after = e->seq;
	return 0;
}

static int read_ledger(const struct ib_plan *plan, struct known *k, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	int r = ib_read_file(plan->study.fd, "ledger.jsonl", &b, err);

	return r < 0 ? r : ib_ledger_each(ib_buf_str(&b), b.len, note, k, err);
}

/* A result that was written, but not yet entered, goes: whether it is whole is not known. */
static int abandon(struct ib_plan *plan, const char *id, const char *path, struct ib_err *err)
{
	static const struct timespec none = {0};
	ib_auto_record struct ib_record record;
	ib_auto_free char *dir = ib_asprintf("quality/%s", id);
	ib_auto_fd int fd = openat(plan->study.fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ib_auto_json json_t *o = NULL;
	const char *when = strstr(id, "-after-") ? "after" : "before";
	int r;

	ib_record_init(&record);
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", dir);
	if (unlinkat(fd, "result.json", 0) < 0 && errno != ENOENT)
		return ib_fail(err, IB_E_IO, errno, "cannot remove '%s'", path);
	unlinkat(fd, "output", AT_REMOVEDIR);
	r = ib_run_files(fd, &none, &record, err);
	if (r < 0)
		return r;
	o = ib_quality_result(plan, id, when, "abandoned", "the ib-run that made it did not end", &record);
	r = ib_aside_keep(plan, IB_ENTRY_QUALITY, path, o, err);
	if (r == 0)
		ib_run_files_freeze(fd);
	return r;
}

int ib_quality_sweep(struct ib_plan *plan, struct ib_err *err)
{
	struct known k = {0};
	ib_auto_dir DIR *d = ib_list_dir(plan->study.fd, "quality");
	ib_auto_strv struct ib_strv ids = {0};
	int r;

	if (!d) /* none was ever made */
		return 0;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && e->d_type == DT_DIR && strlen(e->d_name) < IB_RUN_ID_MAX)
			ib_strv_add(&ids, e->d_name);
	ib_strv_sort(&ids);
	r = ids.n ? read_ledger(plan, &k, err) : 0;
	for (size_t i = 0; r == 0 && i < ids.n; i++) {
		ib_auto_free char *path = ib_asprintf("quality/%s/result.json", ids.v[i]);

		if (ib_strv_has(&k.files, path))
			continue;
		ib_log(plan->ctx, IB_LOG_WARNING, "an earlier quality check did not end: recorded as abandoned: quality/%s", ids.v[i]);
		r = abandon(plan, ids.v[i], path, err);
	}
	ib_strv_clear(&k.files);
	return r;
}

int ib_quality_due_after(const struct ib_plan *plan, bool *ret, struct ib_err *err)
{
	struct known k = {0};
	int r = read_ledger(plan, &k, err);

	*ret = k.last_finish > k.last_after;
	ib_strv_clear(&k.files);
	return r;
}
