/* SPDX-License-Identifier: Apache-2.0 */
/* ib-run: runs a command, or a contract's plan, and keeps the evidence. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/exit.h"
#include "base/str.h"
#include "model/contract.h"
#include "run/analysis.h"
#include "run/expect.h"
#include "run/note.h"
#include "run/plan.h"
#include "run/run.h"
#include "tools/opt.h"

enum {
	OPT_STUDY = 1,
	OPT_GROUP,
	OPT_CACHE,
	OPT_REPEAT,
	OPT_TIMEOUT,
	OPT_GRACE,
	OPT_NO_PROGRESS,
	OPT_MEMORY,
	OPT_PTY,
	OPT_NO_NETWORK,
	OPT_NO_SAMPLE,
	OPT_NO_CAPTURE,
	OPT_DRY_RUN,
	OPT_QUIET,
	OPT_PLAN,
	OPT_CHECK,
	OPT_ONLY,
	OPT_AMEND,
	OPT_RESULTS_KNOWN,
	OPT_EXCLUDE,
	OPT_NOTE,
	OPT_ANALYSIS,
	OPT_RECORD_WORKLOAD,
	OPT_RECORD_BODIES,
	OPT_CEILING,
	OPT_REASON,
};

static const struct ib_opt options[] = {
	{.id = OPT_STUDY, .letter = 'C', .name = "study", .metavar = "DIR", .help = "the study; made when absent"},
	{.id = OPT_GROUP, .letter = 'g', .name = "group", .metavar = "NAME", .help = "group that the run belongs to"},
	{.id = OPT_CACHE, .name = "cache", .metavar = "CONDITION", .help = "cold, reset, warm, reuse or unspecified"},
	{.id = OPT_REPEAT, .name = "repeat", .metavar = "N", .help = "number of this repeat, from 1"},
	{.id = OPT_TIMEOUT, .name = "timeout", .metavar = "DURATION", .help = "end the command after 90s, 10m, 2h"},
	{.id = OPT_GRACE, .name = "grace", .metavar = "DURATION", .help = "wait between TERM and KILL (default 10s)"},
	{.id = OPT_NO_PROGRESS, .name = "no-progress", .metavar = "DURATION", .help = "end a command that writes nothing for so long"},
	{.id = OPT_MEMORY, .name = "memory", .metavar = "SIZE", .help = "memory that the command may use, such as 8GiB"},
	{.id = OPT_PTY, .name = "pty", .help = "give the command a terminal"},
	{.id = OPT_NO_NETWORK, .name = "no-network", .help = "give the command only a loopback of its own"},
	{.id = OPT_NO_SAMPLE, .name = "no-sample", .help = "do not sample the load during the run"},
	{.id = OPT_NO_CAPTURE, .name = "no-capture", .help = "take no captures"},
	{.id = OPT_DRY_RUN, .letter = 'n', .name = "dry-run", .help = "say what would be run, and do nothing"},
	{.id = OPT_QUIET, .letter = 'q', .name = "quiet", .help = "no chatter on standard error"},
	{.id = OPT_PLAN, .letter = 'p', .name = "plan", .metavar = "CONTRACT", .help = "carry out the plan of a contract"},
	{.id = OPT_CHECK, .name = "check", .help = "with --plan: only look whether it can be done"},
	{.id = OPT_ONLY, .name = "only", .metavar = "SLOTS", .help = "with --plan: GROUP[.CELL[.rN]],..."},
	{.id = OPT_AMEND, .name = "amend", .help = "with --plan: the contract changed after results"},
	{.id = OPT_RESULTS_KNOWN, .name = "results-known", .metavar = "yes|no", .help = "with --amend: whether results were known by then"},
	{.id = OPT_EXCLUDE, .name = "exclude", .metavar = "RUN", .help = "leave a run out of the results, visibly"},
	{.id = OPT_NOTE, .name = "note", .metavar = "TEXT", .help = "enter a remark into the ledger"},
	{.id = OPT_RECORD_WORKLOAD, .name = "record-workload", .help = "with --plan: record what clients send, run nothing"},
	{.id = OPT_RECORD_BODIES, .name = "record-bodies", .help = "with --record-workload: keep the requests too"},
	{.id = OPT_CEILING, .name = "ceiling", .help = "with --plan: measure the clients by themselves"},
	{.id = OPT_ANALYSIS, .name = "analysis", .help = "the command makes figures or tables from the study"},
	{.id = OPT_REASON, .name = "reason", .metavar = "TEXT", .help = "with --amend, --exclude: why"},
	{0},
};

static const char *const synopsis[] = {"[options] [--] COMMAND [ARGUMENT...]", "[options] --plan CONTRACT", "[options] --analysis [--] COMMAND [ARGUMENT...]",
				       "[-C DIR] --exclude RUN --reason TEXT", "[-C DIR] --note TEXT", NULL};
static const char *const exits[] = {
	"the command's own; or",
	"124  the command timed out, or made no progress",
	"125  ib-run itself failed or was used wrongly, or the run was refused",
	"126  the command cannot be executed",
	"127  the command was not found",
	"128+n  signal n ended the command or interrupted ib-run",
	"with --plan: 0 every run as expected, 1 some run not, 2 contract error,",
	"3 the study cannot be read or written",
	NULL,
};

static const struct ib_tool tool = {
	.name = "ib-run",
	.summary = "Runs a benchmark unchanged and keeps what happened as evidence.",
	.synopsis = synopsis,
	.opts = options,
	.exits = exits,
	.stop_at_operand = true,
};

enum mode { MODE_COMMAND, MODE_PLAN, MODE_EXCLUDE, MODE_NOTE, MODE_ANALYSIS };

struct args {
	const char *study, *exclude, *note;
	struct ib_run_spec spec;
	struct ib_plan_options plan;
	enum mode mode;
	bool quiet;
	int info; /* IB_OPT_HELP or IB_OPT_VERSION, or 0 */
};

static int set_cache(struct args *a, const char *arg, struct ib_err *err)
{
	enum ib_condition c;

	if (!ib_condition_parse(arg, &c))
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is no cache condition: cold, reset, warm, reuse or unspecified", arg);
	a->spec.cache_condition = ib_condition_name(c);
	return 0;
}

static int set_repeat(struct args *a, const char *arg, struct ib_err *err)
{
	int64_t n = 1;
	int r = ib_parse_int(arg, 1, 1000000, &n, err);

	a->spec.repeat = (int)n;
	return r < 0 ? ib_fail(err, IB_E_USAGE, 0, "'%s' is not the number of a repeat, from 1", arg) : 0;
}

/* No grace at all is not the default that 0 stands for in struct ib_run_spec. */
static int set_grace(struct args *a, const char *arg, struct ib_err *err)
{
	int r = ib_duration_parse(arg, &a->spec.grace_ns, err);

	if (r == 0 && a->spec.grace_ns == 0)
		a->spec.grace_ns = 1;
	return r;
}

/* Bytes, or so many of a unit. */
static int set_memory(struct args *a, const char *arg, struct ib_err *err)
{
	static const char *const units[] = {"", "KiB", "MiB", "GiB"};
	size_t n = strspn(arg, "0123456789");
	ib_auto_free char *digits = ib_strndup(arg, n);
	int64_t v = 0;

	for (size_t i = 0; n && i < IB_LEN(units); i++)
		if (strcmp(arg + n, units[i]) == 0 && ib_parse_int(digits, 1, INT64_MAX >> (10 * i), &v, NULL) == 0) {
			a->spec.memory_bytes = v << (10 * i);
			return 0;
		}
	return ib_fail(err, IB_E_USAGE, 0, "'%s' is no size: a number of bytes, or such as 512MiB or 8GiB", arg);
}

static int set_results_known(struct args *a, const char *arg, struct ib_err *err)
{
	if (strcmp(arg, "yes") != 0 && strcmp(arg, "no") != 0)
		return ib_fail(err, IB_E_USAGE, 0, "--results-known is yes or no, not '%s'", arg);
	a->plan.results_known = arg;
	return 0;
}

/* Options that are a switch or a text. True: this was one. */
static bool set_plain(struct args *a, int id, const char *arg)
{
	const struct {
		int id;
		bool *flag;
		const char **text;
	} all[] = {
		{OPT_STUDY, NULL, &a->study},
		{OPT_GROUP, NULL, &a->spec.group},
		{OPT_PTY, &a->spec.pty, NULL},
		{OPT_NO_NETWORK, &a->spec.no_network, NULL},
		{OPT_NO_SAMPLE, &a->spec.no_sample, NULL},
		{OPT_NO_CAPTURE, &a->spec.no_capture, NULL},
		{OPT_DRY_RUN, &a->plan.dry_run, NULL},
		{OPT_QUIET, &a->quiet, NULL},
		{OPT_PLAN, NULL, &a->plan.contract},
		{OPT_CHECK, &a->plan.check, NULL},
		{OPT_RECORD_WORKLOAD, &a->plan.record_workload, NULL},
		{OPT_RECORD_BODIES, &a->plan.record_bodies, NULL},
		{OPT_CEILING, &a->plan.ceiling, NULL},
		{OPT_ONLY, NULL, &a->plan.only},
		{OPT_AMEND, &a->plan.amend, NULL},
		{OPT_EXCLUDE, NULL, &a->exclude},
		{OPT_NOTE, NULL, &a->note},
		{OPT_REASON, NULL, &a->plan.reason},
	};

	for (size_t i = 0; i < IB_LEN(all); i++) {
		if (all[i].id != id)
			continue;
		if (all[i].flag)
			*all[i].flag = true;
		else
			*all[i].text = arg;
		return true;
	}
	return false;
}

static int set_option(struct args *a, int id, const char *arg, struct ib_err *err)
{
	if (set_plain(a, id, arg))
		return 0;
	switch (id) {
	case OPT_CACHE:
		return set_cache(a, arg, err);
	case OPT_REPEAT:
		return set_repeat(a, arg, err);
	case OPT_TIMEOUT:
		return ib_duration_parse(arg, &a->spec.timeout_ns, err);
	case OPT_GRACE:
		return set_grace(a, arg, err);
	case OPT_NO_PROGRESS:
		return ib_duration_parse(arg, &a->spec.no_progress_ns, err);
	case OPT_MEMORY:
		return set_memory(a, arg, err);
	case OPT_RESULTS_KNOWN:
		return set_results_known(a, arg, err);
	case OPT_ANALYSIS:
		a->mode = MODE_ANALYSIS;
		return 0;
	default:
		a->info = id;
		return 0;
	}
}

/* What is to be done follows from --plan, --exclude, --note and --analysis, of which there may be one. */
static int choose_mode(struct args *a, bool command, struct ib_err *err)
{
	int n = (a->plan.contract != NULL) + (a->exclude != NULL) + (a->note != NULL) + (a->mode == MODE_ANALYSIS);

	if (n > 1)
		return ib_fail(err, IB_E_USAGE, 0, "--plan, --exclude, --note and --analysis exclude each other");
	if (a->plan.contract)
		a->mode = MODE_PLAN;
	else if (a->exclude)
		a->mode = MODE_EXCLUDE;
	else if (a->note)
		a->mode = MODE_NOTE;
	if (a->mode == MODE_PLAN && command)
		return ib_fail(err, IB_E_USAGE, 0, "--plan takes its commands from the contract, not from the command line");
	if ((a->mode == MODE_EXCLUDE || a->mode == MODE_NOTE) && command)
		return ib_fail(err, IB_E_USAGE, 0, "--exclude and --note run no command");
	if ((a->mode == MODE_COMMAND || a->mode == MODE_ANALYSIS) && !command)
		return ib_fail(err, IB_E_USAGE, 0, "no command given");
	return 0;
}

static int check_recording(const struct args *a, struct ib_err *err)
{
	const struct ib_plan_options *p = &a->plan;

	if (a->mode != MODE_PLAN && (p->record_workload || p->ceiling))
		return ib_fail(err, IB_E_USAGE, 0, "--record-workload and --ceiling belong to --plan");
	if (p->record_bodies && !p->record_workload)
		return ib_fail(err, IB_E_USAGE, 0, "--record-bodies belongs to --record-workload");
	return 0;
}

/* Options that say nothing without another one. */
static int check_options(const struct args *a, struct ib_err *err)
{
	const struct ib_plan_options *p = &a->plan;
	bool plan_only = p->amend || p->check || p->only;

	if (a->mode != MODE_PLAN && plan_only)
		return ib_fail(err, IB_E_USAGE, 0, "--check, --only and --amend belong to --plan");
	if (p->reason && !p->amend && a->mode != MODE_EXCLUDE)
		return ib_fail(err, IB_E_USAGE, 0, "--reason belongs to --amend and --exclude");
	if (p->results_known && !p->amend)
		return ib_fail(err, IB_E_USAGE, 0, "--results-known belongs to --amend");
	if (a->mode == MODE_EXCLUDE && (!p->reason || !*p->reason))
		return ib_fail(err, IB_E_USAGE, 0, "--exclude needs --reason TEXT: why is the run left out?");
	if (p->check + p->dry_run > 1)
		return ib_fail(err, IB_E_USAGE, 0, "--check and --dry-run exclude each other");
	return 0;
}

static int parse(int argc, char **argv, struct args *a, struct ib_err *err)
{
	struct ib_opt_state s;
	const char *arg;
	int id, r;

	ib_opt_init(&s, &tool, argc, argv);
	while (!a->info && (id = ib_opt_next(&s, &arg, err)) != IB_OPT_END) {
		r = id < 0 ? id : set_option(a, id, arg, err);
		if (r < 0)
			return r;
	}
	a->spec.argv = argv + s.at;
	if (a->info)
		return 0;
	r = choose_mode(a, s.at < argc, err);
	if (r == 0)
		r = check_recording(a, err);
	return r < 0 ? r : check_options(a, err);
}

/* A standard descriptor that is closed would be taken by the next file that is opened. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static void say(void *arg, enum ib_level level, const char *line)
{
	(void)arg;
	ib_tool_say(&tool, level == IB_LOG_WARNING ? "warning: " : "", line);
}

static void summarise(const struct ib_ctx *ctx, const struct ib_study *study, const struct ib_record *r)
{
	ib_auto_buf struct ib_buf why = IB_BUF(900);

	for (size_t i = 0; i < r->reasons.n; i++)
		ib_buf_addf(&why, "%s%s", i ? ", " : " (", r->reasons.v[i]);
	if (r->reasons.n)
		ib_buf_adds(&why, ")");
	for (size_t i = 0; i < r->notes.n; i++)
		ib_log(ctx, IB_LOG_INFO, "%s", r->notes.v[i]);
	ib_log(ctx, IB_LOG_INFO, "%s%s: %s/runs/%s", ib_state_name(r->state), ib_buf_str(&why), study->path, r->run_id);
}

static int run_command(const struct ib_ctx *ctx, const struct args *a, struct ib_err *err)
{
	ib_auto_study struct ib_study study = {.fd = -1};
	ib_auto_record struct ib_record record;
	struct ib_signals signals;
	int r, status;

	ib_record_init(&record);
	if ((r = ib_signals_init(&signals, err)) < 0)
		return r;
	if ((r = ib_study_open(ctx, a->study, NULL, NULL, NULL, &study, err)) < 0 || (r = ib_run_one(ctx, &study, &signals, &a->spec, &record, err)) < 0)
		return r;
	summarise(ctx, &study, &record);
	status = ib_run_exit_status(&record, &signals);
	ib_signals_clear(&signals);
	return status;
}

static int run_plan(const struct ib_ctx *ctx, struct args *a, struct ib_err *err)
{
	ib_auto_buf struct ib_buf listing = IB_BUF(64u << 20);
	int status = IB_EXIT_UNDECIDED, r;

	a->plan.study = a->study;
	a->plan.no_capture = a->spec.no_capture;
	a->plan.no_sample = a->spec.no_sample;
	r = ib_plan(ctx, &a->plan, &listing, &status, err);

	if (r < 0) {
		ib_tool_error(&tool, err);
		return r == IB_E_USAGE ? IB_EXIT_USAGE : IB_EXIT_UNDECIDED;
	}
	fwrite(ib_buf_str(&listing), 1, listing.len, stdout);
	return ib_tool_finish(&tool, status);
}

static int run_analysis(const struct ib_ctx *ctx, const struct args *a, struct ib_err *err)
{
	struct ib_analysis_options o = {.study = a->study, .argv = a->spec.argv, .timeout_ns = a->spec.timeout_ns, .grace_ns = a->spec.grace_ns};
	int status = IB_EXIT_RUN_ERROR, r = ib_analysis(ctx, &o, &status, err);

	return r < 0 ? r : status;
}

static int add_note(const struct ib_ctx *ctx, const struct args *a, struct ib_err *err)
{
	const struct ib_note_options o = {.study = a->study, .exclude = a->exclude, .reason = a->plan.reason, .note = a->note};

	return ib_note(ctx, &o, err);
}

static int dry_run(const struct args *a)
{
	for (char *const *s = a->spec.argv; *s; s++)
		printf("%s%s", s == a->spec.argv ? "" : " ", *s);
	printf("\n");
	return ib_tool_finish(&tool, IB_EXIT_OK);
}

/* An error outside of plan mode. */
static int fail(const struct ib_err *err)
{
	ib_tool_error(&tool, err);
	return IB_EXIT_RUN_ERROR;
}

static int run_mode(const struct ib_ctx *ctx, struct args *a)
{
	struct ib_err err = {0};
	int r;

	if (a->mode == MODE_PLAN)
		return run_plan(ctx, a, &err);
	if ((a->mode == MODE_COMMAND || a->mode == MODE_ANALYSIS) && a->plan.dry_run)
		return dry_run(a);
	if (a->mode == MODE_COMMAND)
		r = run_command(ctx, a, &err);
	else if (a->mode == MODE_ANALYSIS)
		r = run_analysis(ctx, a, &err);
	else
		r = add_note(ctx, a, &err);
	return r >= 0 ? r : fail(&err);
}

int main(int argc, char **argv)
{
	struct args a = {.spec = {.repeat = 1, .attempt = 1, .steps = {.outcome = ib_expect_step}}};
	struct ib_ctx ctx = {.clock = &ib_clock_system, .env = environ};
	struct ib_err err = {0};

	ib_crypto_init();
	fill_standard_fds();
	if (parse(argc, argv, &a, &err) < 0)
		return ib_tool_usage(&tool, &err, a.plan.contract ? IB_EXIT_USAGE : IB_EXIT_RUN_ERROR);
	if (a.info)
		return ib_opt_info(&tool, a.info);
	if (!a.quiet)
		ctx.log = say;
	return run_mode(&ctx, &a);
}
