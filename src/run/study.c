/* SPDX-License-Identifier: Apache-2.0 */
/* A study directory opened for work. */
#include "run/study.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "redact/redact.h"
#include "run/tree.h"

static const char *default_path(void)
{
	return access("ledger.jsonl", F_OK) == 0 ? "." : "ib-study";
}

static int open_dir(const char *path, struct ib_study *s, struct ib_err *err)
{
	struct stat st;
	int r;

	if ((r = ib_make_dirs(AT_FDCWD, path, 0755, err)) < 0 || (r = ib_open_dir(AT_FDCWD, path, &s->fd, err)) < 0)
		return ib_wrap(err, "cannot open the study");
	s->path = realpath(path, NULL);
	if (!s->path)
		return ib_fail(err, IB_E_IO, errno, "cannot resolve '%s'", path);
	r = ib_make_dirs(s->fd, "runs", 0755, err);
	if (r == 0 && fstatat(s->fd, "runs", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) /* ib-verify would refuse what is made there */
		r = ib_fail(err, IB_E_EXISTS, 0, "'runs' is a symbolic link, and evidence is kept in real directories; name a study elsewhere with '-C'");
	return r < 0 ? ib_wrap(err, "cannot write into the study '%s'", path) : 0;
}

/* Pseudonym of the boot id, or NULL. */
static char *boot_label(const struct ib_redactor *r)
{
	ib_auto_buf struct ib_buf b = IB_BUF(256);
	ib_auto_fd int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char label[IB_PSEUDONYM_LEN];

	if (fd < 0 || ib_read_all(fd, "boot_id", &b, NULL) < 0 || b.len < 36)
		return NULL;
	ib_pseudonym(r, "boot", b.data, 36, label);
	return ib_strdup(label);
}

/* The study's name stands in its first entry. */
static int read_name(struct ib_study *s, struct ib_err *err)
{
	ib_auto_fd int fd = openat(s->fd, "ledger.jsonl", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ib_auto_free char *data = ib_alloc(IB_ENTRY_MAX);
	ib_auto_json json_t *j = NULL;
	const char *end, *name;
	size_t n = 0;
	int r;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open 'ledger.jsonl'");
	if ((r = ib_read_upto(fd, data, IB_ENTRY_MAX, "ledger.jsonl", &n, err)) < 0)
		return r;
	end = memchr(data, '\n', n);
	if (!end)
		return ib_fail(err, IB_E_LEDGER, 0, "'ledger.jsonl' has no first entry");
	if ((r = ib_json_load(data, (size_t)(end - data), "ledger.jsonl:1", &j, err)) < 0 || (r = ib_get_str(j, "ledger.jsonl:1", "study", &name, err)) < 0)
		return ib_wrap(err, "'%s' is not a study", s->path);
	s->name = ib_strdup(name);
	return 0;
}

static int first_entry(struct ib_study *s, const char *name, const char *source_sha256, const char *json_sha256, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_CONTRACT};
	const char *base = strrchr(s->path, '/');
	bool done;
	int r;

	e.study = ib_strdup(name ? name : base && base[1] ? base + 1 : "study");
	if ((r = ib_gate(s->redactor, e.study, strlen(e.study), "the study's name", err)) < 0)
		return r;
	if (source_sha256 && json_sha256) {
		memcpy(e.source_sha256, source_sha256, IB_HEX_LEN);
		memcpy(e.json_sha256, json_sha256, IB_HEX_LEN);
	}
	return ib_ledger_append_first(s->ledger, &e, &done, err);
}

static int sweep_analyses(const struct ib_ctx *ctx, struct ib_study *s, struct ib_err *err)
{
	size_t adopted, abandoned;
	int r = ib_ledger_mark_analyses(s->ledger, &adopted, &abandoned, err);

	if (r == 0 && abandoned)
		ib_log(ctx, IB_LOG_WARNING, "%zu earlier %s did not end: recorded as abandoned", abandoned, abandoned == 1 ? "analysis" : "analyses");
	if (r == 0 && adopted)
		ib_log(ctx, IB_LOG_INFO, "%zu earlier %s ended without a ledger entry: adopted", adopted, adopted == 1 ? "analysis" : "analyses");
	return r;
}

static int sweep(const struct ib_ctx *ctx, struct ib_study *s, struct ib_err *err)
{
	ib_auto_free char *runs = ib_asprintf("%s/runs", s->path), *run = NULL;
	size_t adopted, abandoned;
	int r = ib_ledger_mark_abandoned(s->ledger, &adopted, &abandoned, err);

	if (r < 0)
		return r;
	if (abandoned)
		ib_log(ctx, IB_LOG_WARNING, "%zu earlier %s did not end: recorded as abandoned", abandoned, abandoned == 1 ? "run" : "runs");
	if (adopted)
		ib_log(ctx, IB_LOG_INFO, "%zu earlier %s had a record but no finish entry: adopted", adopted, adopted == 1 ? "run" : "runs");
	s->survivors = ib_ledger_any_abandoned(s->ledger) ? ib_tree_survivors(runs, &run) : 0;
	if (s->survivors > 0)
		ib_log(ctx, IB_LOG_WARNING, "still alive from abandoned runs, and disturbing this one: %lld %s (of '%s')", (long long)s->survivors,
		       s->survivors == 1 ? "process" : "processes", run ? run : "?");
	return sweep_analyses(ctx, s, err);
}

int ib_study_open(const struct ib_ctx *ctx, const char *path, const char *name, const char *source_sha256, const char *json_sha256,
		  struct ib_study *ret, struct ib_err *err)
{
	ib_auto_study struct ib_study s = {.fd = -1};
	ib_auto_free char *boot = NULL;
	int r;

	if ((r = open_dir(path ? path : default_path(), &s, err)) < 0 || (r = ib_redactor_new(ctx, s.path, &s.redactor, err)) < 0)
		return r;
	boot = boot_label(s.redactor);
	if ((r = ib_ledger_open(ctx, s.fd, boot, true, &s.ledger, err)) < 0 || (r = first_entry(&s, name, source_sha256, json_sha256, err)) < 0 ||
	    (r = read_name(&s, err)) < 0 || (r = sweep(ctx, &s, err)) < 0)
		return r;
	*ret = s;
	s = (struct ib_study){.fd = -1};
	return 0;
}

void ib_study_clear(struct ib_study *s)
{
	ib_ledger_free(&s->ledger);
	ib_redactor_free(&s->redactor);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s->name);
	free(s->capture_note);
	*s = (struct ib_study){.fd = -1};
}
