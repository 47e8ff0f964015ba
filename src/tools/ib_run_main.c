/* SPDX-License-Identifier: Apache-2.0 */
/* ib-run: runs a command, or a contract's plan, and keeps the evidence. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/exit.h"
#include "base/str.h"
#include "run/analysis.h"
#include "run/expect.h"
#include "run/plan.h"
#include "run/run.h"
#include "tools/opt.h"

enum { OPT_STUDY = 1, OPT_GROUP, OPT_CACHE, OPT_REPEAT, OPT_TIMEOUT, OPT_GRACE, OPT_NO_CAPTURE, OPT_DRY_RUN, OPT_QUIET, OPT_PLAN, OPT_AMEND, OPT_REASON,
       OPT_ANALYSIS };

static const struct ib_opt options[] = {
	{.id = OPT_STUDY, .letter = 'C', .name = "study", .metavar = "DIR", .help = "the study; made when absent"},
	{.id = OPT_GROUP, .letter = 'g', .name = "group", .metavar = "NAME", .help = "group that the run belongs to"},
	{.id = OPT_CACHE, .name = "cache", .metavar = "CONDITION", .help = "cold, reset, warm, reuse or unspecified"},
	{.id = OPT_REPEAT, .name = "repeat", .metavar = "N", .help = "number of this repeat, from 1"},
	{.id = OPT_TIMEOUT, .name = "timeout", .metavar = "DURATION", .help = "end the command after 90s, 10m, 2h"},
	{.id = OPT_GRACE, .name = "grace", .metavar = "DURATION", .help = "wait between TERM and KILL (default 10s)"},
	{.id = OPT_NO_CAPTURE, .name = "no-capture", .help = "take no captures"},
	{.id = OPT_DRY_RUN, .letter = 'n', .name = "dry-run", .help = "say what would be run, and do nothing"},
	{.id = OPT_QUIET, .letter = 'q', .name = "quiet", .help = "no chatter on standard error"},
	{.id = OPT_PLAN, .letter = 'p', .name = "plan", .metavar = "CONTRACT", .help = "carry out the plan of a contract"},
	{.id = OPT_ANALYSIS, .name = "analysis", .help = "the command makes figures or tables from the study"},
	{.id = OPT_AMEND, .name = "amend", .help = "with --plan: the contract changed after results"},
	{.id = OPT_REASON, .name = "reason", .metavar = "TEXT", .help = "with --amend: why it changed"},
	{0},
};

static const char *const synopsis[] = {"[options] [--] COMMAND [ARGUMENT...]", "[options] --plan CONTRACT", NULL};
static const char *const exits[] = {
	"the command's own; or",
	"124  the command timed out",
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

struct args {
	const char *study, *plan, *reason;
	struct ib_run_spec spec;
	bool dry_run, quiet, amend, analysis;
	int info; /* IB_OPT_HELP or IB_OPT_VERSION, or 0 */
};

static int set_cache(struct args *a, const char *arg, struct ib_err *err)
{
	static const char *const conditions[] = {"cold", "reset", "warm", "reuse", "unspecified", NULL};

	for (size_t i = 0; conditions[i]; i++)
		if (strcmp(conditions[i], arg) == 0) {
			a->spec.cache_condition = conditions[i];
			return 0;
		}
	return ib_fail(err, IB_E_USAGE, 0, "'%s' is no cache condition: cold, reset, warm, reuse or unspecified", arg);
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

static int set_option(struct args *a, int id, const char *arg, struct ib_err *err)
{
	switch (id) {
	case OPT_STUDY:
		a->study = arg;
		return 0;
	case OPT_GROUP:
		a->spec.group = arg;
		return 0;
	case OPT_CACHE:
		return set_cache(a, arg, err);
	case OPT_REPEAT:
		return set_repeat(a, arg, err);
	case OPT_TIMEOUT:
		return ib_duration_parse(arg, &a->spec.timeout_ns, err);
	case OPT_GRACE:
		return set_grace(a, arg, err);
	case OPT_NO_CAPTURE:
		a->spec.no_capture = true;
		return 0;
	case OPT_DRY_RUN:
		a->dry_run = true;
		return 0;
	case OPT_QUIET:
		a->quiet = true;
		return 0;
	case OPT_PLAN:
		a->plan = arg;
		return 0;
	case OPT_AMEND:
		a->amend = true;
		return 0;
	case OPT_ANALYSIS:
		a->analysis = true;
		return 0;
	case OPT_REASON:
		a->reason = arg;
		return 0;
	default:
		a->info = id;
		return 0;
	}
}

static int parse(int argc, char **argv, struct args *a, struct ib_err *err)
{
	struct ib_opt_state s;
	const char *arg;
	int id;

	ib_opt_init(&s, &tool, argc, argv);
	while (!a->info && (id = ib_opt_next(&s, &arg, err)) != IB_OPT_END) {
		int r = id < 0 ? id : set_option(a, id, arg, err);

		if (r < 0)
			return r;
	}
	a->spec.argv = argv + s.at;
	if (a->info)
		return 0;
	if (a->plan && s.at < argc)
		return ib_fail(err, IB_E_USAGE, 0, "--plan takes its commands from the contract, not from the command line");
	if (!a->plan && (a->amend || a->reason))
		return ib_fail(err, IB_E_USAGE, 0, "--amend and --reason belong to --plan");
	if (!a->plan && s.at >= argc)
		return ib_fail(err, IB_E_USAGE, 0, "no command given");
	return 0;
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

static int run_plan(const struct ib_ctx *ctx, const struct args *a, struct ib_err *err)
{
	struct ib_plan_options o = {.contract = a->plan,
				    .study = a->study,
				    .reason = a->reason,
				    .amend = a->amend,
				    .dry_run = a->dry_run,
				    .no_capture = a->spec.no_capture};
	ib_auto_buf struct ib_buf listing = IB_BUF(64u << 20);
	int status = IB_EXIT_UNDECIDED, r = ib_plan(ctx, &o, &listing, &status, err);

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

static int dry_run(const struct args *a)
{
	for (char *const *s = a->spec.argv; *s; s++)
		printf("%s%s", s == a->spec.argv ? "" : " ", *s);
	printf("\n");
	return ib_tool_finish(&tool, IB_EXIT_OK);
}

int main(int argc, char **argv)
{
	struct args a = {.spec = {.repeat = 1, .attempt = 1, .steps = {.outcome = ib_expect_step}}};
	struct ib_ctx ctx = {.clock = &ib_clock_system, .env = environ};
	struct ib_err err = {0};
	int r;

	fill_standard_fds();
	if (parse(argc, argv, &a, &err) < 0)
		return ib_tool_usage(&tool, &err, a.plan ? IB_EXIT_USAGE : IB_EXIT_RUN_ERROR);
	if (a.info)
		return ib_opt_info(&tool, a.info);
	if (!a.quiet)
		ctx.log = say;
	if (a.dry_run && !a.plan)
		return dry_run(&a);
	if (a.plan)
		return run_plan(&ctx, &a, &err);
	r = a.analysis ? run_analysis(&ctx, &a, &err) : run_command(&ctx, &a, &err);
	if (r >= 0)
		return r;
	ib_tool_error(&tool, &err);
	return IB_EXIT_RUN_ERROR;
}
