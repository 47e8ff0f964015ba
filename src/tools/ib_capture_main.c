/* SPDX-License-Identifier: Apache-2.0 */
/* ib-capture: describes this machine and its software. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/ctx.h"
#include "base/digest.h"
#include "base/exit.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/source.h"
#include "base/str.h"
#include "base/tmp.h"
#include "capture/capture.h"
#include "capture/tarfile.h"
#include "json/json.h"
#include "redact/redact.h"
#include "tools/opt.h"

enum { OPT_LIST = 1, OPT_ONLY, OPT_SKIP, OPT_ROOT, OPT_RECORD, OPT_OUTPUT, OPT_STORE, OPT_RECORDER, OPT_JSON };

static const struct ib_opt opts[] = {
	{.id = OPT_LIST, .letter = 'l', .name = "list", .help = "list the collectors and what each may read"},
	{.id = OPT_ONLY, .name = "only", .metavar = "NAMES", .help = "run only these collectors (comma-separated)"},
	{.id = OPT_SKIP, .name = "skip", .metavar = "NAMES", .help = "leave these collectors out (comma-separated)"},
	{.id = OPT_ROOT, .name = "root", .metavar = "DIR", .help = "describe the machine recorded in DIR (-: stdin)"},
	{.id = OPT_RECORD, .name = "record", .metavar = "DIR", .help = "copy what is read to the new DIR (-: stdout)"},
	{.id = OPT_OUTPUT, .letter = 'o', .name = "output", .metavar = "FILE", .help = "write the capture to the new file FILE"},
	{.id = OPT_STORE, .name = "store", .metavar = "STUDY", .help = "keep the capture in STUDY, print its SHA-256"},
	{.id = OPT_RECORDER, .name = "recorder", .help = "print the shell script that feeds --root -"},
	{.id = OPT_JSON, .name = "json", .help = "print JSON (a capture always is)"},
	{0},
};
static const char *const synopsis[] = {
	"[--only NAMES | --skip NAMES] [-o FILE | --store STUDY]",
	"{--root DIR | --record DIR} [OPTION...]",
	"--list [--json] | --recorder",
	NULL,
};
static const char *const exits[] = {
	"0  the capture is made (a failed collector is noted in it)",
	"2  wrong command line, or FILE exists",
	"3  the system said no, or the capture would hold a secret",
	"4  the recorded root is refused: ib-replay.json or the archive is malformed",
	NULL,
};
static const struct ib_tool tool = {
	.name = "ib-capture",
	.summary = "Describes this machine and its software at an instant, without secrets.",
	.synopsis = synopsis,
	.opts = opts,
	.exits = exits,
};

struct args {
	const char *only, *skip, *root, *record, *output, *store;
	bool list, recorder, json;
	bool refused; /* the recorded root is malformed */
	int info; /* IB_OPT_HELP or IB_OPT_VERSION */
};

static bool named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0'))
			return true;
	return false;
}

static bool want(void *arg, const char *name)
{
	const struct args *a = arg;

	return a->only ? named(a->only, name) : !named(a->skip, name);
}

/* Every name in a list must be a collector's. */
static int check_names(const char *list, struct ib_err *err)
{
	const char *names[64];
	size_t n = 0;

	for (; ib_collectors_all[n] && n < IB_LEN(names) - 1; n++)
		names[n] = ib_collectors_all[n]->name;
	names[n] = NULL;
	for (const char *p = list; p;) {
		size_t len = strcspn(p, ",");
		ib_auto_free char *word = ib_strndup(p, len);
		const char *near = ib_nearest(word, names);
		bool known = false;

		for (size_t i = 0; i < n; i++)
			known |= strcmp(names[i], word) == 0;
		if (!known && near)
			return ib_fail(err, IB_E_USAGE, 0, "unknown collector '%s'; did you mean '%s'?", word, near);
		if (!known)
			return ib_fail(err, IB_E_USAGE, 0, "unknown collector '%s'; --list names them", word);
		p = p[len] ? p + len + 1 : NULL;
	}
	return 0;
}

static int check(const struct args *a, struct ib_err *err)
{
	int r;

	if (a->only && a->skip)
		return ib_fail(err, IB_E_USAGE, 0, "--only and --skip exclude each other");
	if (a->output && a->store)
		return ib_fail(err, IB_E_USAGE, 0, "--output and --store exclude each other");
	if (a->root && a->record)
		return ib_fail(err, IB_E_USAGE, 0, "--record copies the running system: it does not go with --root");
	if (a->record && strcmp(a->record, "-") == 0 && a->store)
		return ib_fail(err, IB_E_USAGE, 0, "'--record -' and --store both need standard output; record into a directory");
	r = check_names(a->only, err);
	return r < 0 ? r : check_names(a->skip, err);
}

static int parse(int argc, char **argv, struct args *a, struct ib_err *err)
{
	struct ib_opt_state s;
	const char *arg;
	int id;

	ib_opt_init(&s, &tool, argc, argv);
	while ((id = ib_opt_next(&s, &arg, err)) > 0) {
		switch (id) {
		case OPT_LIST:
			a->list = true;
			break;
		case OPT_ONLY:
			a->only = arg;
			break;
		case OPT_SKIP:
			a->skip = arg;
			break;
		case OPT_ROOT:
			a->root = arg;
			break;
		case OPT_RECORD:
			a->record = arg;
			break;
		case OPT_OUTPUT:
			a->output = arg;
			break;
		case OPT_STORE:
			a->store = arg;
			break;
		case OPT_RECORDER:
			a->recorder = true;
			break;
		case OPT_JSON:
			a->json = true;
			break;
		case IB_OPT_OPERAND:
			return ib_fail(err, IB_E_USAGE, 0, "unexpected argument '%s'", arg);
		default:
			a->info = id;
			return 0;
		}
	}
	return id < 0 ? id : check(a, err);
}

static json_t *list_json(void)
{
	json_t *list = ib_json_array();

	for (const struct ib_collector *const *c = ib_collectors_all; *c; c++) {
		json_t *o = ib_json_object(), *reads = ib_json_array();

		ib_json_set_str(o, "name", (*c)->name);
		ib_json_set_str(o, "title", (*c)->title);
		ib_json_set_bool(o, "volatile", (*c)->flags & IB_COLLECTOR_VOLATILE);
		for (const char *const *p = (*c)->reads; *p; p++)
			ib_json_add_str(reads, *p);
		ib_json_set(o, "reads", reads);
		ib_json_add(list, o);
	}
	return list;
}

static void print_list(bool json)
{
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	ib_auto_json json_t *list = json ? list_json() : NULL;

	if (json) {
		ib_json_write_pretty(list, &text);
		fputs(ib_buf_str(&text), stdout);
		return;
	}
	for (const struct ib_collector *const *c = ib_collectors_all; *c; c++) {
		printf("%-12s %s\n", (*c)->name, (*c)->title);
		for (const char *const *p = (*c)->reads; *p; p++)
			printf("    %s\n", *p);
	}
}

/* Where the capture goes: a study, a file, or standard output. */
static int deliver(const struct ib_ctx *ctx, const struct args *a, const struct ib_capture *c, struct ib_err *err)
{
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	char sha256[IB_HEX_LEN];
	int r;

	if (a->store) {
		ib_auto_fd int study = -1;

		r = ib_open_dir(AT_FDCWD, a->store, &study, err);
		if (r == 0)
			r = ib_capture_store(ctx, study, c, sha256, err);
		if (r == 0)
			puts(sha256);
		return r;
	}
	r = ib_capture_text(ctx, c->doc, &text, err);
	if (r == 0 && a->output)
		return ib_write_file(AT_FDCWD, a->output, text.data, text.len, 0644, false, err);
	if (r == 0)
		fwrite(text.data, 1, text.len, stdout);
	return r;
}

/* A recording for standard output is made in a directory first. */
static int record_dir(const struct ib_ctx *ctx, const char *record, struct ib_tmp *tmp, const char **ret, struct ib_err *err)
{
	int r = 0;

	*ret = record;
	if (strcmp(record, "-") == 0) {
		r = ib_tmp_make(ctx, tmp, err);
		*ret = tmp->path;
	}
	return r;
}

static int finish_recording(struct ib_recorder *recorder, const struct ib_capture *c, const struct ib_tmp *tmp, struct ib_err *err)
{
	struct ib_source_fd out = {STDOUT_FILENO, "standard output"};
	struct ib_drain drain = ib_drain_to_fd(&out);
	int r = ib_recorder_finish(recorder, c, err);

	return r < 0 || !tmp->path ? r : ib_record_pack(tmp->fd, &drain, err);
}

static int load_answers(struct ib_ctx *ctx, struct args *a, json_t **ret, struct ib_err *err)
{
	int r = ib_replay_load(ctx, ret, err);

	a->refused = r == IB_E_SYNTAX || r == IB_E_USAGE;
	return r;
}

/* Runs the collectors with ctx->root set; records on the way when that is asked for. */
static int run(struct ib_ctx *ctx, struct args *a, struct ib_err *err)
{
	ib_auto_tmp struct ib_tmp tmp = IB_TMP_NONE;
	ib_auto_capture struct ib_capture c = {0};
	ib_auto_json json_t *replay = NULL;
	struct ib_recorder *recorder __attribute__((cleanup(ib_recorder_free))) = NULL;
	struct ib_live live = {.running = !a->root};
	const char *dir = NULL;
	int r = 0;

	if (a->root)
		r = load_answers(ctx, a, &replay, err);
	if (r == 0 && a->record)
		r = record_dir(ctx, a->record, &tmp, &dir, err);
	if (r == 0 && a->record)
		r = ib_recorder_start(ctx, dir, &recorder, err);
	if (r < 0)
		return r;
	live.replay = replay;
	live.record = recorder ? ib_recorder_answers(recorder) : NULL;
	ctx->live = a->root && !replay ? NULL : &live;
	r = ib_capture_run(ctx, ib_collectors_all, want, a, &c, err);
	if (r == 0 && recorder)
		r = finish_recording(recorder, &c, &tmp, err);
	if (r == 0 && (!tmp.path || a->output))
		r = deliver(ctx, a, &c, err);
	ctx->live = NULL;
	return r;
}

static void chatter(void *arg, enum ib_level level, const char *line)
{
	(void)arg;
	(void)level;
	fprintf(stderr, "%s: %s\n", tool.name, line);
}

/* The recorded machine that stands on standard input, as a directory. */
static int unpack(const struct ib_ctx *ctx, struct ib_tmp *ret, struct ib_err *err)
{
	struct ib_source_fd in = {STDIN_FILENO, "standard input"};
	struct ib_source source = ib_source_from_fd(&in);
	int r = ib_tmp_make(ctx, ret, err);

	return r < 0 ? r : ib_record_unpack(&source, ret->fd, err);
}

static int capture(struct args *a, struct ib_err *err)
{
	ib_auto_redactor struct ib_redactor *redact = NULL;
	ib_auto_tmp struct ib_tmp tmp = IB_TMP_NONE;
	ib_auto_root struct ib_root *root = NULL;
	struct ib_ctx ctx = {.clock = &ib_clock_system, .env = environ, .log = chatter};
	int r = ib_redactor_new(&ctx, a->store, &redact, err);

	if (r == 0 && a->root && strcmp(a->root, "-") == 0)
		r = unpack(&ctx, &tmp, err);
	if (r == 0)
		r = ib_root_open(tmp.path ? tmp.path : a->root ? a->root : "/", &root, err);
	if (r < 0)
		return r;
	ctx.redact = redact;
	ctx.root = root;
	return run(&ctx, a, err);
}

/* The agentless recorder, as it is installed. */
static int print_recorder(struct ib_err *err)
{
	ib_auto_free char *path = ib_helper_path("ib-record-node");
	ib_auto_buf struct ib_buf text = IB_BUF(1u << 20);
	int r = ib_read_file(AT_FDCWD, path, &text, err);

	if (r == 0)
		fwrite(text.data, 1, text.len, stdout);
	return r;
}

int main(int argc, char **argv)
{
	struct args a = {0};
	struct ib_err err = {0};
	int r = parse(argc, argv, &a, &err);

	ib_crypto_init();
	if (r < 0)
		return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	if (a.info)
		return ib_opt_info(&tool, a.info);
	if (a.list) {
		print_list(a.json);
		return ib_tool_finish(&tool, IB_EXIT_OK);
	}
	r = a.recorder ? print_recorder(&err) : capture(&a, &err);
	if (r < 0) {
		int code = ib_tool_error(&tool, &err);

		/* neither is a mistake of the command line; the first is a secret */
		return err.code == IB_E_STATE ? IB_EXIT_UNDECIDED : a.refused ? IB_EXIT_REFUSED : code;
	}
	return ib_tool_finish(&tool, IB_EXIT_OK);
}
