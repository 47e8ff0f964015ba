/* SPDX-License-Identifier: Apache-2.0 */
/* Node captures: launcher → recorder → archive → ib-capture → captures/<sha256>.json. */
#include "run/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "model/template.h"
#include "redact/redact.h"
#include "run/inside.h"

#define TEXT_MAX 65536         /* kept of what a process says */
#define TOGETHER_MAX 32        /* nodes asked at a time */
#define GRACE_NS (2 * IB_NS)   /* between TERM and KILL of a launcher */
#define ENTRY_CAPTURES_MAX 500 /* digests that find room in a ledger entry; the record has them all */
#define STORE_NS (20 * IB_NS)  /* for ib-capture, once the launcher has ended */

/* One of the two processes of a node. */
struct process {
	pid_t pid;    /* 0: not running (any more) */
	int sys;      /* errno when it could not be started */
	int status;   /* as waitpid() gives it */
	int said;     /* its text: stderr of a launcher and of ib-capture */
};

struct job {
	const json_t *node;
	struct process launcher, tool;
	int printed; /* by ib-capture: the digest */
	int64_t term_at, kill_at, give_up_at;
	bool started, ended, timed_out;
};

struct nodes {
	const struct ib_ctx *ctx;
	struct ib_study *study;
	struct ib_signals *signals;
	char *tool, *recorder;
	struct job *jobs;
	size_t n;
};

static const char *name_of(const struct job *j)
{
	return json_string_value(json_object_get(j->node, "name"));
}

static int64_t now(const struct nodes *all)
{
	return ib_monotonic_ns(all->ctx->clock);
}

/* --- starting --- */

/* A file in memory that cannot grow: what is said beyond it is lost. */
static int bounded_file(void)
{
	int fd = memfd_create("ib-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, TEXT_MAX) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Starts argv in a session of its own: no terminal to ask for a password, no Ctrl-C but through us. */
static void start(struct process *p, char *const *argv, char *const *env, int in, int out, int said)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;

	sigfillset(&all);
	sigdelset(&all, SIGHUP); /* nohup holds for it, too */
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, said, 2);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	p->sys = posix_spawnp(&p->pid, argv[0], &files, &attr, argv, env);
	if (p->sys)
		p->pid = 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
}

/* launch, expanded, and behind it what runs on the node. */
static int launcher_argv(const struct nodes *all, const struct job *j, bool installed, struct ib_strv *ret, struct ib_err *err)
{
	static const char *const behind[2][4] = {{"sh", "-s", NULL}, {"ib-capture", "--record", "-", NULL}};
	struct ib_template t = {.env = all->ctx->env, .mode = IB_TEMPLATE_STRICT};
	json_t *arg;
	size_t i;

	json_array_foreach(json_object_get(j->node, "launch"), i, arg) {
		ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);
		int r = ib_template_expand(&t, json_string_value(arg), &b, err);

		if (r == 0)
			r = ib_buf_check(&b, "an argument of the launcher", err);
		if (r < 0)
			return r;
		ib_strv_add(ret, ib_buf_str(&b));
	}
	for (i = 0; behind[installed][i]; i++)
		ib_strv_add(ret, behind[installed][i]);
	return 0;
}

static int start_job(struct nodes *all, struct job *j, struct ib_err *err)
{
	bool installed = ib_streq(json_string_value(json_object_get(j->node, "recorder")), "installed");
	char arg[][10] = {"--root", "-", "--store"};
	char *const tool[] = {all->tool, arg[0], arg[1], arg[2], all->study->path, NULL};
	ib_auto_fd int script = open(installed ? "/dev/null" : all->recorder, O_RDONLY | O_CLOEXEC);
	ib_auto_fd int from = -1, to = -1;
	ib_auto_strv struct ib_strv argv = {0};
	int ends[2], r;

	if (all->signals->caught)
		return ib_fail(err, IB_E_STATE, 0, "interrupted by a signal");
	if (script < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s': is ibtools installed completely?", all->recorder);
	j->launcher.said = bounded_file();
	j->tool.said = bounded_file();
	j->printed = bounded_file();
	if (j->launcher.said < 0 || j->tool.said < 0 || j->printed < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot hold what its processes say");
	from = ends[0];
	to = ends[1];
	if ((r = launcher_argv(all, j, installed, &argv, err)) < 0)
		return r;
	start(&j->launcher, argv.v, all->ctx->env, script, to, j->launcher.said);
	if (j->launcher.sys)
		return ib_fail(err, IB_E_IO, j->launcher.sys, "cannot execute '%s'", argv.v[0]);
	start(&j->tool, tool, all->ctx->env, from, j->printed, j->tool.said);
	j->term_at = now(all) + json_integer_value(json_object_get(j->node, "timeout_ns"));
	j->kill_at = j->term_at + GRACE_NS;
	j->give_up_at = j->kill_at + STORE_NS;
	if (j->tool.sys) {
		kill(-j->launcher.pid, SIGKILL);
		return ib_fail(err, IB_E_IO, j->tool.sys, "cannot execute '%s'", all->tool);
	}
	return 0;
}

/* --- waiting --- */

static void reap(struct process *p)
{
	if (p->pid && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
		p->pid = 0;
}

/* What is due: TERM and KILL of the launcher, the end of ib-capture. Its own end of the pipe is what ends ib-capture in an orderly way. */
static void attend(const struct nodes *all, struct job *j)
{
	int64_t at = now(all);

	reap(&j->launcher);
	reap(&j->tool);
	if (!j->launcher.pid && !j->tool.pid) {
		j->ended = true;
		return;
	}
	if (!j->launcher.pid && j->give_up_at > at + STORE_NS) /* something that the launcher left holds the pipe */
		j->give_up_at = at + STORE_NS;
	if (all->signals->caught && at < j->term_at) {
		j->give_up_at -= j->term_at - at;
		j->kill_at -= j->term_at - at;
		j->term_at = at;
	}
	if (j->launcher.pid && at >= j->term_at && !j->timed_out) {
		j->timed_out = true;
		kill(-j->launcher.pid, SIGTERM);
	}
	if (j->launcher.pid && at >= j->kill_at)
		kill(-j->launcher.pid, SIGKILL);
	if (j->tool.pid && at >= j->give_up_at)
		kill(-j->tool.pid, SIGKILL);
}

static int64_t next_event(const struct nodes *all, const struct job *j)
{
	const int64_t at[] = {j->term_at, j->kill_at, j->give_up_at};
	int64_t t = now(all);

	for (size_t i = 0; i < IB_LEN(at); i++)
		if (at[i] > t)
			return at[i] - t;
	return IB_NS / 10;
}

/* --- what came of it --- */

static char *text_of(int fd)
{
	char *text = ib_alloc(TEXT_MAX + 1);
	ssize_t n = fd >= 0 ? pread(fd, text, TEXT_MAX, 0) : 0;

	text[n > 0 ? n : 0] = '\0'; /* and it ends at the first byte 0 that was not written over */
	return text;
}

/* The last line that says something, as plain text. Allocated. */
static char *last_line(const struct nodes *all, int fd)
{
	ib_auto_free char *text = text_of(fd);
	ib_auto_free char *line = NULL;
	char *state = NULL;

	for (char *l = strtok_r(text, "\r\n", &state); l; l = strtok_r(NULL, "\r\n", &state)) {
		free(line);
		line = ib_strndup(l, strnlen(l, 300));
	}
	for (char *c = line; c && *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return line ? ib_redact_text(all->study->redactor, line) : NULL;
}

/* Why there is no capture. Allocated. */
static char *reason(const struct nodes *all, const struct job *j)
{
	ib_auto_free char *said = last_line(all, j->tool.said);
	const char *what = said && ib_starts(said, "ib-capture: ") ? said + strlen("ib-capture: ") : said;

	if (all->signals->caught)
		return ib_strdup("interrupted by a signal");
	if (j->timed_out)
		return ib_asprintf("no answer within %lld s", (long long)(json_integer_value(json_object_get(j->node, "timeout_ns")) / IB_NS));
	if (WIFSIGNALED(j->tool.status))
		return ib_strdup("ib-capture was ended: the archive did not end in time, or it crashed");
	if (WIFSIGNALED(j->launcher.status))
		return ib_asprintf("the launcher was ended by signal %d", WTERMSIG(j->launcher.status));
	if (WEXITSTATUS(j->launcher.status))
		return ib_asprintf("the launcher ended with status %d", WEXITSTATUS(j->launcher.status));
	return ib_asprintf("%s", what ? what : "ib-capture gave no reason");
}

/* The label that a capture has for its node. */
static json_t *label_of(const struct nodes *all, const char *sha256)
{
	ib_auto_free char *path = ib_asprintf("captures/%s.json", sha256);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	ib_auto_json json_t *doc = NULL;

	if (ib_read_file(all->study->fd, path, &b, NULL) < 0 || ib_json_load(b.data, b.len, path, &doc, NULL) < 0)
		return NULL;
	return json_incref(json_object_get(doc, "node"));
}

static json_t *entry(const struct job *j, const char *status, const char *why, json_t *label, const char *sha256)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "name", name_of(j));
	ib_json_set_str(o, "status", status);
	ib_json_set_str(o, "why", why);
	ib_json_set(o, "node", label);
	ib_json_set_str(o, "capture", sha256);
	return o;
}

static json_t *judge(const struct nodes *all, const struct job *j, const struct ib_err *early)
{
	ib_auto_free char *printed = text_of(j->printed), *why = NULL, *said = NULL;

	printed[strcspn(printed, "\n")] = '\0';
	if (!early->code && WIFEXITED(j->tool.status) && WEXITSTATUS(j->tool.status) == 0 && ib_is_hex(printed, 64)) /* the archive was whole */
		return entry(j, "ok", NULL, label_of(all, printed), printed);
	why = early->code ? ib_redact_text(all->study->redactor, early->text) : reason(all, j);
	said = last_line(all, j->launcher.said);
	ib_log(all->ctx, IB_LOG_WARNING, "there is no capture of node '%s': %s%s%s", name_of(j), why, said ? "; its launcher said: " : "", said ? said : "");
	return entry(j, j->timed_out && !all->signals->caught ? "timeout" : "error", why, NULL, NULL);
}

static void close_job(struct job *j)
{
	const int fds[] = {j->launcher.said, j->tool.said, j->printed};

	for (size_t i = 0; i < IB_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	j->launcher.said = j->tool.said = j->printed = -1;
}

/* --- all of them --- */

/* Starts what may start, looks after what runs. Returns how long until something is due; 0: all have ended. */
static int64_t round_trip(struct nodes *all, json_t *list)
{
	int64_t wait = 0;
	size_t running = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct job *j = &all->jobs[i];
		struct ib_err early = {0};

		if (j->ended)
			continue;
		if (!j->started && running >= TOGETHER_MAX)
			continue;
		if (!j->started) {
			j->started = true;
			if (start_job(all, j, &early) < 0 && !j->launcher.pid)
				j->ended = true;
		}
		if (!j->ended)
			attend(all, j);
		if (j->ended) {
			json_array_set_new(list, i, judge(all, j, &early));
			close_job(j);
		} else {
			int64_t due = next_event(all, j);

			running++;
			wait = wait == 0 || due < wait ? due : wait;
		}
	}
	return wait;
}

void ib_nodes_capture(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals, const json_t *nodes, json_t **ret)
{
	ib_auto_free char *tool = ib_run_capture_tool(), *recorder = ib_helper_path("ib-record-node");
	struct nodes all = {.ctx = ctx, .study = study, .signals = signals, .tool = tool, .recorder = recorder, .n = json_array_size(nodes)};
	ib_auto_free struct job *jobs = ib_realloc(NULL, all.n + 1, sizeof(*jobs));
	json_t *list;
	int64_t wait;

	*ret = NULL;
	if (all.n == 0)
		return;
	list = ib_json_array();
	for (size_t i = 0; i < all.n; i++) {
		jobs[i] = (struct job){.node = json_array_get(nodes, i), .launcher = {.said = -1}, .tool = {.said = -1}, .printed = -1};
		ib_json_add(list, json_null());
	}
	all.jobs = jobs;
	ib_log(ctx, IB_LOG_INFO, "capturing %zu other %s", all.n, all.n == 1 ? "machine" : "machines");
	while ((wait = round_trip(&all, list)) > 0)
		ib_signals_wait(signals, wait, -1);
	*ret = list;
}

void ib_nodes_note(struct ib_run *run, const json_t *captured)
{
	const json_t *o;
	size_t i;

	if (!captured)
		return;
	ib_record_set(run->record, IB_SECTION_NODES, json_deep_copy(captured));
	json_array_foreach(captured, i, o) {
		const char *capture = json_string_value(json_object_get(o, "capture"));

		if (capture && run->captures.n < ENTRY_CAPTURES_MAX)
			ib_strv_add(&run->captures, capture);
		else if (!capture)
			ib_strv_take(&run->record->notes, ib_asprintf("there is no capture of node '%s': %s", json_string_value(json_object_get(o, "name")),
								      json_string_value(json_object_get(o, "why"))));
	}
}
