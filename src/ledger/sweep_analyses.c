/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses whose ib-run was killed: entered in the ledger with their document, or else with what was known when they began. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/ledger.h"

#define LEDGER_MAX (1u << 30)

/* Is it the directory of an analysis, 20261130T160000Z-9f3a1c7e? All else below analysis/ is the author's own. */
static bool is_id(const char *s)
{
	static const char form[] = "dddddddd.dddddd.-xxxxxxxx";

	for (size_t i = 0; i < sizeof(form) - 1; i++) {
		bool digit = s[i] >= '0' && s[i] <= '9', hex = digit || (s[i] >= 'a' && s[i] <= 'f');

		if (!s[i] || (form[i] == 'd' && !digit) || (form[i] == 'x' && !hex) || (form[i] == '-' && s[i] != '-'))
			return false;
	}
	return s[8] == 'T' && s[15] == 'Z' && !s[sizeof(form) - 1];
}

/* Directories that look unended: begun.json is there, or nothing at all. Costs nothing where no analysis was killed. */
static void candidates(int study_fd, struct ib_strv *ret)
{
	ib_auto_dir DIR *d = ib_list_dir(study_fd, "analysis");

	for (struct dirent *e; d && (e = readdir(d));) {
		ib_auto_free char *begun = ib_asprintf("analysis/%.64s/" IB_ANALYSIS_BEGUN, e->d_name);
		ib_auto_free char *ended = ib_asprintf("analysis/%.64s/" IB_ANALYSIS_ENDED, e->d_name);

		if (is_id(e->d_name) && (faccessat(study_fd, begun, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || faccessat(study_fd, ended, F_OK, AT_SYMLINK_NOFOLLOW) < 0))
			ib_strv_add(ret, e->d_name);
	}
	ib_strv_sort(ret);
}

/* The files of the entries of analyses. Like the search for open runs, it looks only at what our own writer puts into a line. */
static int read_known(struct ib_ledger *l, struct ib_strv *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	int r = ib_read_file(l->study_fd, "ledger.jsonl", &b, err);
	const char *data = ib_buf_str(&b), *end;

	for (const char *p = data; r == 0 && (end = memchr(p, '\n', (size_t)(data + b.len - p))); p = end + 1) {
		ib_auto_free char *kind = ib_ledger_value_of(p, (size_t)(end - p), "\"kind\":\"");
		ib_auto_free char *file = kind && strcmp(kind, "analysis") == 0 ? ib_ledger_value_of(p, (size_t)(end - p), "\"file\":\"") : NULL;

		if (file)
			ib_strv_take(ret, ib_steal(&file));
	}
	return r;
}

/* The document of that name, when it is whole and of this analysis: its file, size and digest go into e. */
static bool take(int study_fd, const char *id, const char *name, struct ib_entry *e)
{
	ib_auto_free char *path = ib_asprintf("analysis/%s/%s", id, name);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	ib_auto_json json_t *j = NULL;
	const char *is = NULL;

	if (ib_read_file(study_fd, path, &b, NULL) < 0 || !b.len || ib_json_load(b.data, b.len, path, &j, NULL) < 0 ||
	    ib_get_schema(j, path, IB_ANALYSIS_SCHEMA, NULL) < 0 || ib_get_str(j, path, "id", &is, NULL) < 0 || strcmp(is, id) != 0)
		return false;
	e->file = ib_steal(&path);
	e->bytes = (int64_t)b.len;
	ib_sha256_of(b.data, b.len, e->sha256);
	return true;
}

static bool is_known(const struct ib_strv *known, const char *id, const char *name)
{
	ib_auto_free char *path = ib_asprintf("analysis/%s/%s", id, name);

	return ib_strv_has(known, path);
}

static int end_analysis(struct ib_ledger *l, const struct ib_strv *known, const char *id, size_t *adopted, size_t *abandoned, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_ANALYSIS};
	ib_auto_free char *path = ib_asprintf("analysis/%s", id);
	ib_auto_fd int dir_fd = openat(l->study_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool ended, done;
	int r;

	if (dir_fd < 0 || flock(dir_fd, LOCK_EX | LOCK_NB) < 0) /* it is at work */
		return 0;
	if (unlinkat(l->study_fd, path, AT_REMOVEDIR) == 0 || is_known(known, id, IB_ANALYSIS_BEGUN)) /* nothing was begun in an empty one */
		return 0;
	ended = is_known(known, id, IB_ANALYSIS_ENDED);
	if (!ended && take(l->study_fd, id, IB_ANALYSIS_ENDED, &e))
		++*adopted;
	else if (!ended && take(l->study_fd, id, IB_ANALYSIS_BEGUN, &e))
		++*abandoned;
	else if (!ended)
		return 0; /* not ours, or no longer: ib-verify says what it is */
	if (e.file && (r = ib_ledger_append_locked(l, &e, false, &done, err)) < 0)
		return r;
	if (ended || ib_ends(e.file, "/" IB_ANALYSIS_ENDED))
		unlinkat(dir_fd, IB_ANALYSIS_BEGUN, 0); /* what it says is in the other */
	return 0;
}

int ib_ledger_mark_analyses(struct ib_ledger *l, size_t *ret_adopted, size_t *ret_abandoned, struct ib_err *err)
{
	ib_auto_strv struct ib_strv ids = {0}, known = {0};
	int r;

	*ret_adopted = *ret_abandoned = 0;
	candidates(l->study_fd, &ids);
	if (!ids.n)
		return 0;
	r = ib_ledger_lock(l, err);
	if (r < 0)
		return r;
	r = read_known(l, &known, err);
	for (size_t i = 0; r == 0 && i < ids.n; i++)
		r = end_analysis(l, &known, ids.v[i], ret_adopted, ret_abandoned, err);
	ib_ledger_unlock(l);
	return r;
}
