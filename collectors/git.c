/* SPDX-License-Identifier: Apache-2.0 */
/* State of the git repository around the working directory, by libgit2 in a child: no hook, no filter program, no user
 * configuration takes part. */
#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/str.h"
#include "collectors/collector.h"
#include "redact/redact.h"

#define TIMEOUT_NS (20 * IB_NS)
#define PACKED_MAX (8u << 20)
#define POINTER_MAX 1024 /* an LFS pointer is a short text */

static void free_repository(git_repository **p)
{
	git_repository_free(*p);
}

static void free_status(git_status_list **p)
{
	git_status_list_free(*p);
}

static const struct ib_fact absent = {IB_FACT_ABSENT, 0};

static void oid_leaf(json_t *out, const char *path, const git_oid *id)
{
	char hex[GIT_OID_HEXSZ + 1];

	git_oid_tostr(hex, sizeof(hex), id);
	ib_leaf_str(out, path, hex);
}

static void head(git_repository *repo, json_t *out)
{
	git_reference *ref = NULL;

	if (git_repository_head(&ref, repo) < 0) { /* no commit yet */
		ib_leaf_missing(out, "commit", absent);
		ib_leaf_missing(out, "branch", absent);
		return;
	}
	oid_leaf(out, "commit", git_reference_target(ref));
	if (git_reference_is_branch(ref))
		ib_leaf_str(out, "branch", git_reference_shorthand(ref));
	else
		ib_leaf_missing(out, "branch", absent);
	git_reference_free(ref);
}

/* The URL of origin, else of the first remote: without user information, through the text rules. */
static void remote(const struct ib_ctx *ctx, git_repository *repo, json_t *out)
{
	git_strarray names = {0};
	git_remote *r = NULL;

	if (git_remote_lookup(&r, repo, "origin") < 0 && git_remote_list(&names, repo) == 0 && names.count)
		(void)!git_remote_lookup(&r, repo, names.strings[0]);
	if (r && git_remote_url(r)) {
		ib_auto_free char *url = ib_url_scrub(git_remote_url(r));
		ib_auto_free char *clean = ib_redact_text(ctx->redact, url);

		ib_leaf_str(out, "remote", clean);
	} else {
		ib_leaf_missing(out, "remote", absent);
	}
	git_remote_free(r);
	git_strarray_dispose(&names);
}

struct walk {
	const struct ib_ctx *ctx;
	json_t *list;
};

static void set_oid(json_t *o, const char *key, const git_oid *id)
{
	char hex[GIT_OID_HEXSZ + 1];

	ib_json_set_str(o, key, id ? git_oid_tostr(hex, sizeof(hex), id) : NULL);
}

static int submodule(git_submodule *sm, const char *name, void *arg)
{
	struct walk *w = arg;
	json_t *o = ib_json_object();
	ib_auto_free char *path = ib_redact_text(w->ctx->redact, git_submodule_path(sm));

	(void)name;
	ib_json_set_str(o, "path", path);
	set_oid(o, "commit", git_submodule_index_id(sm));
	set_oid(o, "checked_out", git_submodule_wd_id(sm)); /* null: not checked out */
	ib_json_add(w->list, o);
	return 0;
}

static void submodules(const struct ib_ctx *ctx, git_repository *repo, json_t *out)
{
	struct walk w = {ctx, ib_json_array()};

	if (git_submodule_foreach(repo, submodule, &w) < 0) {
		json_decref(w.list);
		ib_leaf_missing(out, "submodules", (struct ib_fact){IB_FACT_ERROR, 0});
		return;
	}
	ib_leaf(out, "submodules", w.list);
}

/* --- the dirty digest: SHA-256 over sorted lines "mode sha256 path" of changed and untracked files --- */

/* mode and digest of what stands at path; "000000" and zeros when nothing does. */
static void content(int workdir, const char *path, const char **ret_mode, char ret_hex[IB_HEX_LEN])
{
	ib_auto_fd int fd = openat(workdir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char target[4096];
	struct stat st;
	uint64_t n;
	ssize_t len;

	*ret_mode = "000000";
	memset(ret_hex, '0', IB_HEX_LEN - 1);
	ret_hex[IB_HEX_LEN - 1] = '\0';
	if (fd < 0) {
		len = readlinkat(workdir, path, target, sizeof(target));
		if (len >= 0) {
			*ret_mode = "120000";
			ib_sha256_of(target, (size_t)len, ret_hex);
		}
		return;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ib_sha256_fd(fd, path, ret_hex, &n, NULL) == 0)
		*ret_mode = st.st_mode & 0100 ? "100755" : "100644";
}

/* True when the staged blob is an LFS pointer whose digest is that of the content: the file is as committed. */
static bool lfs_unchanged(git_repository *repo, const git_oid *id, const char *hex)
{
	static const char version[] = "version https://git-lfs.github.com/spec/v1\n";
	git_blob *blob = NULL;
	bool same = false;

	if (git_oid_is_zero(id) || git_blob_lookup(&blob, repo, id) < 0)
		return false;
	if (git_blob_rawsize(blob) < POINTER_MAX) {
		ib_auto_free char *text = ib_strndup(git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
		const char *oid = ib_starts(text, version) ? strstr(text, "\noid sha256:") : NULL;

		same = oid && strncmp(oid + strlen("\noid sha256:"), hex, IB_HEX_LEN - 1) == 0;
	}
	git_blob_free(blob);
	return same;
}

struct changes {
	struct ib_strv lines;
	int64_t changed, untracked;
};

static void add_change(git_repository *repo, int workdir, const git_status_entry *e, struct changes *c)
{
	const git_diff_delta *d = e->index_to_workdir ? e->index_to_workdir : e->head_to_index;
	const char *path = d->new_file.path ? d->new_file.path : d->old_file.path, *mode;
	char hex[IB_HEX_LEN];

	content(workdir, path, &mode, hex);
	if (e->status == GIT_STATUS_WT_MODIFIED && lfs_unchanged(repo, &d->old_file.id, hex))
		return;
	if (e->status & GIT_STATUS_WT_NEW)
		c->untracked++;
	else
		c->changed++;
	ib_strv_take(&c->lines, ib_asprintf("%s %s %s\n", mode, hex, path));
}

static void dirty(git_repository *repo, json_t *out)
{
	git_status_options opts = GIT_STATUS_OPTIONS_INIT;
	git_status_list *list __attribute__((cleanup(free_status))) = NULL;
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();
	ib_auto_fd int workdir = -1;
	struct changes c = {0};
	char hex[IB_HEX_LEN];

	opts.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS | GIT_STATUS_OPT_EXCLUDE_SUBMODULES | GIT_STATUS_OPT_INCLUDE_UNREADABLE;
	if (git_repository_workdir(repo))
		workdir = open(git_repository_workdir(repo), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (workdir < 0 || git_status_list_new(&list, repo, &opts) < 0) {
		ib_leaf_missing(out, "dirty", (struct ib_fact){git_repository_is_bare(repo) ? IB_FACT_UNSUPPORTED : IB_FACT_ERROR, 0});
		return;
	}
	for (size_t i = 0; i < git_status_list_entrycount(list); i++)
		add_change(repo, workdir, git_status_byindex(list, i), &c);
	ib_strv_sort(&c.lines);
	for (size_t i = 0; i < c.lines.n; i++)
		ib_sha256_add(sha, c.lines.v[i], strlen(c.lines.v[i]));
	ib_sha256_hex(sha, hex);
	ib_leaf(out, "dirty", json_boolean(c.lines.n > 0));
	ib_leaf_int(out, "changed_files", c.changed);
	ib_leaf_int(out, "untracked_files", c.untracked);
	ib_leaf_str(out, "dirty_sha256", hex);
	ib_strv_clear(&c.lines);
}

/* libgit2 says "not found" of a repository of somebody else when no configuration lists safe directories. */
static bool somebody_elses(int code)
{
	git_buf path = {0};
	bool there = code == GIT_EOWNER || (code == GIT_ENOTFOUND && git_repository_discover(&path, ".", 0, NULL) == 0);

	git_buf_dispose(&path);
	return there;
}

static bool is_oid(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return !s[n] && (n == 40 || n == 64);
}

/* The name of a branch that may become a path: no way out, nothing odd. */
static bool is_branch_ref(const char *s)
{
	return ib_starts(s, "refs/heads/") && s[strlen("refs/heads/")] && !strstr(s, "..") && !strstr(s, "//") && strlen(s) < 256 && ib_utf8_valid(s, strlen(s));
}

/* A file below dir that no link leads to; false: there is none. */
static bool read_below(int dir, const char *path, struct ib_buf *b)
{
	ib_auto_fd int fd = ib_open_beneath(dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ib_read_all(fd, path, b, NULL) == 0 && !memchr(ib_buf_str(b), '\0', b->len);
}

/* The first line of a short file. Allocated, or NULL. */
static char *first_line(int dir, const char *path)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4096);

	return read_below(dir, path, &b) ? ib_strndup(ib_buf_str(&b), strcspn(ib_buf_str(&b), "\r\n")) : NULL;
}

/* The commit of a branch: its own file, else its line in packed-refs. Allocated, or NULL. */
static char *branch_commit(int dir, const char *ref)
{
	ib_auto_buf struct ib_buf b = IB_BUF(PACKED_MAX);
	ib_auto_free char *own = first_line(dir, ref);

	if (own)
		return is_oid(own) ? ib_steal(&own) : NULL;
	if (!read_below(dir, "packed-refs", &b))
		return NULL;
	for (const char *line = ib_buf_str(&b); *line; line += strcspn(line, "\n"), line += *line == '\n') {
		ib_auto_free char *one = ib_strndup(line, strcspn(line, "\n"));
		char *name = strchr(one, ' ');

		if (!name || strcmp(name + 1, ref) != 0)
			continue;
		*name = '\0';
		return is_oid(one) ? ib_strdup(one) : NULL;
	}
	return NULL;
}

/* HEAD of a repository that git refuses to open because somebody else owns it: as its files say, with no configuration and no program of it. */
static void head_of_files(const struct ib_ctx *ctx, json_t *out)
{
	ib_auto_free char *commit = NULL, *branch = NULL, *line = NULL;
	ib_auto_fd int dir = -1;
	git_buf path = {0};

	if (git_repository_discover(&path, ".", 0, NULL) == 0)
		dir = open(path.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	git_buf_dispose(&path);
	line = dir < 0 ? NULL : first_line(dir, "HEAD");
	if (line && is_oid(line)) {
		commit = ib_steal(&line);
	} else if (line && ib_starts(line, "ref: ") && is_branch_ref(line + strlen("ref: "))) {
		branch = ib_redact_text(ctx->redact, line + strlen("ref: refs/heads/"));
		commit = branch_commit(dir, line + strlen("ref: "));
	}
	if (commit)
		ib_leaf_str(out, "commit", commit);
	if (branch)
		ib_leaf_str(out, "branch", branch);
}

/* No repository, or one that belongs to somebody else: then nothing in it is opened by git, and its configuration is not read. */
static void refused(const struct ib_ctx *ctx, json_t *out, int code)
{
	static const char *const leaves[] = {"repository", "commit", "branch", "remote", "dirty", "submodules"};
	struct ib_fact why = {IB_FACT_ERROR, 0};

	if (somebody_elses(code))
		why = (struct ib_fact){IB_FACT_DENIED, EPERM};
	else if (code == GIT_ENOTFOUND)
		why = absent;
	if (why.status == IB_FACT_DENIED)
		head_of_files(ctx, out);
	for (size_t i = 0; i < IB_LEN(leaves); i++)
		if (!json_object_get(json_object_get(out, "data"), leaves[i]))
			ib_leaf_missing(out, leaves[i], why);
}

static int run(struct ib_ctx *ctx, void *arg, int fd)
{
	static const int levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
	git_repository *repo __attribute__((cleanup(free_repository))) = NULL;
	ib_auto_json json_t *out = ib_leaf_out(), *rest = ib_leaf_out();
	int r;

	(void)arg;
	if (git_libgit2_init() < 0)
		return 2;
	for (size_t i = 0; i < IB_LEN(levels); i++)
		if (git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") < 0)
			return 2;
	if (git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1) < 0)
		return 2;
	r = git_repository_open_ext(&repo, ".", 0, NULL);
	if (r < 0) {
		refused(ctx, out, r);
		ib_answer_emit(fd, out);
		return 0;
	}
	ib_leaf_str(out, "repository", git_repository_is_bare(repo) ? "bare" : "worktree");
	head(repo, out);
	remote(ctx, repo, out);
	submodules(ctx, repo, out);
	ib_answer_emit(fd, out); /* kept when the slow part runs into the limit */
	dirty(repo, rest);
	ib_answer_emit(fd, rest);
	return 0;
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	const struct ib_answer_job job = {.name = "git", .run = run, .timeout_ns = TIMEOUT_NS};
	bool known;
	int r = ib_answer_ask(ctx, &job, out, &known, err);

	if (!known)
		ib_leaf_missing(out, "repository", absent);
	else if (r < 0 && !json_object_get(json_object_get(out, "data"), "dirty"))
		ib_leaf_missing(out, "dirty", (struct ib_fact){r == IB_E_TIMEOUT ? IB_FACT_TIMEOUT : IB_FACT_ERROR, 0});
	return r;
}

static const char *const reads[] = {"libgit2: the repository around the working directory", NULL};

const struct ib_collector ib_collector_git = {
	.name = "git",
	.title = "commit, branch, remote, dirty digest, submodules of the working directory",
	.reads = reads,
	.collect = collect,
};
