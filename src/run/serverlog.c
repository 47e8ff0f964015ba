/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a server's logs. */
#include "run/serverlog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "model/template.h"
#include "redact/redact.h"
#include "run/hooks.h"
#include "run/inside.h"
#include "run/serverlog_file.h"

#define DEFAULT_MAX (64u << 20)
#define DEFAULT_TIMEOUT_NS (30 * IB_NS)
#define COMMAND_GRACE_NS (2 * IB_NS)
#define OUTPUT_MAX (4ull << 30) /* a command that prints more is ended */
#define LOOK_NS (IB_NS / 10)
#define WHY_MAX 300

struct server_log {
	const char *name;      /* of the contract */
	const json_t *command; /* or NULL: a file */
	int64_t timeout_ns;
	uint64_t max;
	char *file;            /* as it is opened */
	char *source;          /* as it is recorded: redacted */
	char *trouble;         /* it cannot even be looked for: why */
	struct ib_log_place place;
};

struct ib_server_logs {
	struct server_log *v;
	size_t n;
	int64_t since_ns;
};

/* What the record says of one log. */
struct entry {
	const char *status; /* ok, absent, denied, timeout, error, withheld */
	char *why;
	bool rotated, truncated, has_slice;
	struct ib_slice slice;
	char *banner, *banner_why;
	bool banner_known;
	uint64_t stderr_bytes;
	int64_t exit_status;
};

static int64_t number(const json_t *o, const char *key, int64_t fallback)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : fallback;
}

/* The command as it is recorded. */
static char *source_of(const struct ib_run *run, const json_t *command)
{
	ib_auto_strv struct ib_strv argv = {0}, clean = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(4096);

	ib_hook_argv(command, &argv);
	ib_redact_argv(run->study->redactor, argv.v, &clean);
	for (size_t i = 0; i < clean.n; i++)
		ib_buf_addf(&b, "%s%s", i ? " " : "", clean.v[i]);
	return ib_buf_steal(&b);
}

static void begin_file(struct ib_run *run, struct server_log *l, const char *file)
{
	struct ib_err why = {0};

	l->place.fd = -1;
	l->source = ib_redact_text(run->study->redactor, file);
	if (ib_run_expand(run, file, true, &l->file, &why) < 0)
		l->trouble = ib_strdup(why.text);
	else
		ib_log_place(run->study->fd, l->file, &l->place);
}

struct ib_server_logs *ib_server_logs_begin(struct ib_run *run, const json_t *list)
{
	struct ib_server_logs *logs;
	size_t n = json_array_size(list);

	if (!n)
		return NULL;
	logs = ib_alloc(sizeof(*logs));
	logs->v = ib_alloc(n * sizeof(*logs->v));
	logs->n = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct server_log *l = &logs->v[i];

		l->name = json_string_value(json_object_get(o, "name"));
		l->command = json_object_get(o, "command"); /* typed forms hold null for what is unset */
		if (!json_is_array(l->command))
			l->command = NULL;
		l->timeout_ns = number(o, "timeout_ns", DEFAULT_TIMEOUT_NS);
		l->max = (uint64_t)number(o, "max_bytes", DEFAULT_MAX);
		if (l->command)
			l->source = source_of(run, l->command);
		else
			begin_file(run, l, json_string_value(json_object_get(o, "file")));
	}
	logs->since_ns = ib_wall_ns(run->ctx->clock);
	return logs;
}

/* --- slices --- */

static const char *status_of(int sys)
{
	return sys == ENOENT || sys == ENOTDIR ? "absent" : sys == EACCES || sys == EPERM ? "denied" : "error";
}

static void say(struct entry *e, const char *status, char *why)
{
	e->status = status;
	free(e->why);
	e->why = why;
}

/* Keeps segments as server/NAME.SUFFIX. False: *ret_why says why not. */
static bool keep(struct ib_run *run, const struct server_log *l, const char *suffix, const struct ib_segment *seg, size_t n, uint64_t max, struct ib_slice *ret,
		 enum ib_code *ret_code, char **ret_why)
{
	ib_auto_free char *path = ib_asprintf("server/%s.%s", l->name, suffix);
	struct ib_err err = {0};
	int r = ib_make_dirs(run->dir_fd, "server", 0755, &err);

	if (r == 0)
		r = ib_slice_keep(run->study->redactor, seg, n, max, run->dir_fd, path, ret, &err);
	if (r == 0)
		return true;
	*ret_code = (enum ib_code)r;
	*ret_why = ib_strdup(err.text);
	return false;
}

static void keep_slice(struct ib_run *run, const struct server_log *l, const struct ib_segment *seg, size_t n, struct entry *e)
{
	enum ib_code code = IB_E_IO;
	char *why = NULL;

	e->has_slice = keep(run, l, "log", seg, n, l->max, &e->slice, &code, &why);
	if (!e->has_slice)
		say(e, code == IB_E_STATE ? "withheld" : "error", why);
}

static void keep_banner(struct ib_run *run, const struct server_log *l, struct entry *e)
{
	struct ib_slice slice;
	struct ib_segment seg;
	enum ib_code code;

	if (!ib_log_banner(&l->place, &seg, &e->banner_known))
		e->banner_why = ib_strdup("the log does not reach back to the server's start, or the slice itself does");
	else if (keep(run, l, "banner", &seg, 1, seg.to - seg.from, &slice, &code, &e->banner_why) && slice.kept_bytes)
		e->banner = ib_asprintf("server/%s.banner", l->name);
}

static void end_file(struct ib_run *run, const struct server_log *l, struct entry *e)
{
	struct ib_log_part part;

	ib_log_since(&l->place, &part);
	e->rotated = part.rotated;
	e->truncated = part.truncated;
	if (part.sys) {
		say(e, status_of(part.sys), ib_asprintf("'%s' cannot be opened (%s)", l->source, part.sys == ENOTSUP ? "no regular file" : strerror(part.sys)));
	} else {
		say(e, "ok", ib_steal(&part.why));
		keep_slice(run, l, part.seg, part.n, e);
		keep_banner(run, l, e);
	}
	ib_log_part_clear(&part);
}

/* --- commands --- */

static int nameless(const struct ib_run *run)
{
	int fd = openat(run->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("log", MFD_CLOEXEC);
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static bool too_much(void *arg, int64_t now_ns)
{
	const int *fds = arg;

	(void)now_ns;
	return size_of(fds[0]) + size_of(fds[1]) > OUTPUT_MAX;
}

/* The command with its times: from before the measured command until now, outwards to whole units. */
static int expand(struct ib_run *run, const struct server_log *l, int64_t since_ns, int64_t until_ns, struct ib_strv *ret, struct ib_err *err)
{
	char since[IB_TIME_LEN], until[IB_TIME_LEN];
	ib_auto_free char *since_unix = ib_asprintf("%" PRId64, (int64_t)(since_ns / IB_NS)), *until_unix = ib_asprintf("%" PRId64, (int64_t)(until_ns / IB_NS + 1));
	const struct ib_template_var vars[] = {{"since", since}, {"until", until}, {"since_unix", since_unix}, {"until_unix", until_unix}};
	const struct ib_template t = {.vars = vars, .n = IB_LEN(vars), .mode = IB_TEMPLATE_PARTIAL};
	ib_auto_strv struct ib_strv argv = {0}, timed = {0};
	int r;

	ib_time_text(since_ns, 3, since);
	ib_time_text(until_ns + IB_NS / 1000, 3, until);
	ib_hook_argv(l->command, &argv);
	for (size_t i = 0; i < argv.n; i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

		if ((r = ib_template_expand(&t, argv.v[i], &b, err)) < 0 || (r = ib_buf_check(&b, "an argument", err)) < 0)
			return r;
		ib_strv_take(&timed, ib_buf_steal(&b));
	}
	return ib_run_expand_all(run, timed.v, true, ret, err);
}

/* The first line of what it said on stderr. */
static char *first_words(const struct ib_run *run, int fd)
{
	char text[WHY_MAX + 1];
	ssize_t n = pread(fd, text, WHY_MAX, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n\r")] = '\0';
	return ib_redact_text(run->study->redactor, text);
}

static void judge(const struct ib_run *run, const struct ib_child_result *res, int err_fd, struct entry *e)
{
	ib_auto_free char *words = first_words(run, err_fd);

	e->exit_status = res->exit_status;
	if (res->exec_errno != IB_NONE)
		say(e, status_of((int)res->exec_errno), ib_asprintf("the command cannot be executed (%s)", strerror((int)res->exec_errno)));
	else if (res->interrupted_by)
		say(e, "error", ib_strdup("interrupted by a signal"));
	else if (res->ended_by_tick)
		say(e, "error", ib_asprintf("the command printed more than %llu bytes and was ended", OUTPUT_MAX));
	else if (res->timed_out)
		say(e, "timeout", ib_strdup("the command did not end in time"));
	else if (res->signal != IB_NONE)
		say(e, "error", ib_asprintf("the command was ended by signal %" PRId64, res->signal));
	else if (res->exit_status != 0)
		say(e, "error", ib_asprintf("the command ended with status %" PRId64 "%s%s", res->exit_status, *words ? ": " : "", words));
	else
		say(e, "ok", NULL);
}

/* Container engines print on stderr what the container printed there. */
static void keep_stderr(struct ib_run *run, const struct server_log *l, int fd, struct entry *e)
{
	struct ib_segment seg = {fd, 0, size_of(fd)};
	struct ib_slice slice = {0};
	enum ib_code code;
	char *why = NULL;

	if (!keep(run, l, "err", &seg, 1, l->max, &slice, &code, &why))
		say(e, code == IB_E_STATE ? "withheld" : "error", why);
	e->stderr_bytes = slice.bytes;
}

static void end_command(struct ib_run *run, const struct server_log *l, int64_t since_ns, struct entry *e)
{
	ib_auto_fd int out = nameless(run), errors = nameless(run), null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fds[] = {out, errors};
	ib_auto_strv struct ib_strv argv = {0};
	struct ib_child_spec spec = {.env = run->env,
				     .stdin_fd = null,
				     .stdout_fd = out,
				     .stderr_fd = errors,
				     .timeout_ns = l->timeout_ns,
				     .grace_ns = COMMAND_GRACE_NS,
				     .tick = too_much,
				     .tick_arg = fds,
				     .tick_ns = LOOK_NS};
	struct ib_child_result res = {0};
	struct ib_err why = {0};
	struct ib_segment seg = {.fd = out};

	if (run->signals->caught) {
		say(e, "error", ib_strdup("not asked: interrupted by a signal"));
		return;
	}
	if (out < 0 || errors < 0) {
		say(e, "error", ib_asprintf("the command's output cannot be held (%s)", strerror(errno)));
		return;
	}
	if (expand(run, l, since_ns, ib_wall_ns(run->ctx->clock), &argv, &why) < 0) {
		say(e, "error", ib_strdup(why.text));
		return;
	}
	spec.argv = argv.v;
	if (ib_child_run(run->ctx, run->signals, &spec, &res, &why) < 0) {
		say(e, "error", ib_strdup(why.text));
		return;
	}
	judge(run, &res, errors, e);
	if (res.exec_errno != IB_NONE)
		return;
	seg.to = size_of(out);
	keep_slice(run, l, &seg, 1, e);
	keep_stderr(run, l, errors, e);
}

/* --- the record --- */

static void set_count(json_t *o, const char *key, bool known, uint64_t n)
{
	ib_json_set_int(o, key, (int64_t)n);
	if (!known)
		ib_json_set(o, key, NULL);
}

static json_t *to_json(const struct server_log *l, const struct entry *e)
{
	const struct ib_slice *s = &e->slice;
	ib_auto_free char *file = e->has_slice && s->kept_bytes ? ib_asprintf("server/%s.log", l->name) : NULL;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "name", l->name);
	ib_json_set_str(o, "status", e->status);
	ib_json_set_str(o, "why", e->why);
	ib_json_set_str(o, "from", l->command ? "command" : "file");
	ib_json_set_str(o, "source", l->source);
	ib_json_set_str(o, "file", file);
	set_count(o, "bytes", e->has_slice, s->bytes);
	set_count(o, "lines", e->has_slice && s->lines != IB_SLICE_UNKNOWN, s->lines);
	set_count(o, "kept_bytes", e->has_slice, s->kept_bytes);
	set_count(o, "gap_bytes", e->has_slice, s->gap_bytes);
	ib_json_set_str(o, "sha256", e->has_slice && s->sha256[0] ? s->sha256 : NULL);
	ib_json_set(o, "redacted", e->has_slice ? json_boolean(s->redacted) : NULL);
	ib_json_set(o, "rotated", l->command ? NULL : json_boolean(e->rotated));
	ib_json_set(o, "truncated", l->command ? NULL : json_boolean(e->truncated));
	ib_json_set_str(o, "banner", e->banner);
	ib_json_set_str(o, "banner_from", e->banner ? e->banner_known ? "server_start" : "file_start" : NULL);
	ib_json_set_str(o, "banner_why", e->banner_why);
	set_count(o, "exit_status", e->exit_status != IB_NONE, (uint64_t)e->exit_status);
	set_count(o, "stderr_bytes", l->command && e->has_slice, e->stderr_bytes);
	return o;
}

void ib_server_logs_end(struct ib_run *run, const struct ib_server_logs *logs)
{
	json_t *list;

	if (!logs)
		return;
	list = ib_json_array();
	for (size_t i = 0; i < logs->n; i++) {
		const struct server_log *l = &logs->v[i];
		struct entry e = {.status = "error", .exit_status = IB_NONE};

		if (l->trouble)
			say(&e, "error", ib_strdup(l->trouble));
		else if (l->command)
			end_command(run, l, logs->since_ns, &e);
		else
			end_file(run, l, &e);
		ib_json_add(list, to_json(l, &e));
		free(e.why);
		free(e.banner);
		free(e.banner_why);
	}
	ib_record_set(run->record, IB_SECTION_SERVER_LOGS, list);
}

void ib_server_logs_free(struct ib_server_logs **logs)
{
	if (!*logs)
		return;
	for (size_t i = 0; i < (*logs)->n; i++) {
		struct server_log *l = &(*logs)->v[i];

		ib_log_place_clear(&l->place);
		free(l->file);
		free(l->source);
		free(l->trouble);
	}
	free((*logs)->v);
	free(*logs);
	*logs = NULL;
}
