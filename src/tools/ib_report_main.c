/* SPDX-License-Identifier: Apache-2.0 */
/* ib-report: the table of a study's runs. */
#include <stdio.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/exit.h"
#include "report/produce.h"
#include "tools/lockdown.h"
#include "tools/opt.h"

enum { OPT_STUDY = 1, OPT_FORMAT, OPT_OUTPUT, OPT_TRUST, OPT_FINGERPRINT, OPT_UNSIGNED_OK, OPT_STRICT, OPT_REQUIRE_SANDBOX };

static const struct ib_opt opts[] = {
	{.id = OPT_STUDY, .letter = 'C', .name = "study", .metavar = "DIR", .help = "the study (default: . or ./ib-study)"},
	{.id = OPT_FORMAT, .letter = 'f', .name = "format", .metavar = "FORMAT", .help = "text (default), md or json"},
	{.id = OPT_OUTPUT, .letter = 'o', .name = "output", .metavar = "FILE", .help = "write to a new file, never over an old one"},
	{.id = OPT_TRUST, .name = "trust", .metavar = "FILE", .help = "keys whose signature is trusted (may repeat)"},
	{.id = OPT_FINGERPRINT, .name = "fingerprint", .metavar = "FP", .help = "trust the key SHA256:... (may repeat)"},
	{.id = OPT_UNSIGNED_OK, .name = "unsigned-ok", .help = "a packet without signature is enough"},
	{.id = OPT_STRICT, .name = "strict", .help = "warnings change the exit status too"},
	{.id = OPT_REQUIRE_SANDBOX, .name = "require-sandbox", .help = "read nothing without Landlock and seccomp"},
	{0},
};

static const struct ib_tool tool = {
	.name = "ib-report",
	.summary = "Verifies a study or packet and prints the table of its runs.",
	.synopsis = (const char *const[]){"[OPTIONS] [-C STUDY | STUDY | PACKET]", NULL},
	.opts = opts,
	.exits = (const char *const[]){"0  the report is written; everything required holds", "1  the report is written; the evidence does not hold",
				       "2  wrong command line, or the output file exists", "3  could not decide: I/O, no trusted key, unsupported",
				       "4  the input was refused", NULL},
};

#define KEYS_MAX 64

struct args {
	struct ib_report_opts opts;
	struct ib_lockdown lockdown;
	const char *trust[KEYS_MAX], *fingerprints[KEYS_MAX];
	const char *path;
};

static int add_key(const char **list, size_t *n, const char *value, struct ib_err *err)
{
	if (*n == KEYS_MAX)
		return ib_fail(err, IB_E_USAGE, 0, "more than %d trusted keys", KEYS_MAX);
	list[(*n)++] = value;
	return 0;
}

static int apply(struct args *a, int id, const char *value, struct ib_err *err)
{
	switch (id) {
	case OPT_FORMAT:
		a->opts.format = ib_report_format_find(value);
		return a->opts.format ? 0 : ib_fail(err, IB_E_USAGE, 0, "format '%s' is not text, md or json", value);
	case OPT_OUTPUT:
		a->opts.output = value;
		return 0;
	case OPT_TRUST:
		return add_key(a->trust, &a->opts.verify.n_trust, value, err);
	case OPT_FINGERPRINT:
		return add_key(a->fingerprints, &a->opts.verify.n_fingerprints, value, err);
	case OPT_UNSIGNED_OK:
		a->opts.verify.unsigned_ok = true;
		return 0;
	case OPT_STRICT:
		a->opts.verify.strict = true;
		return 0;
	case OPT_REQUIRE_SANDBOX:
		a->lockdown.require = true;
		return 0;
	default: /* an operand, or -C */
		if (a->path)
			return ib_fail(err, IB_E_USAGE, 0, "one study or packet at a time: '%s' is the second", value);
		a->path = value;
		return 0;
	}
}

/* Without an operand as ib-run: the current directory if it holds a ledger, else ./ib-study. */
static const char *default_path(void)
{
	return access("ledger.jsonl", F_OK) == 0 ? "." : "ib-study";
}

int main(int argc, char **argv)
{
	struct ib_ctx ctx = {.clock = &ib_clock_system, .env = environ};
	struct args a = {0};
	struct ib_opt_state state;
	struct ib_err err = {0};
	const char *value;
	int id, r = 0, status = IB_EXIT_OK;

	ib_crypto_init();
	ib_opt_init(&state, &tool, argc, argv);
	while (r == 0 && (id = ib_opt_next(&state, &value, &err)) != IB_OPT_END) {
		if (id == IB_OPT_HELP || id == IB_OPT_VERSION)
			return ib_opt_info(&tool, id);
		r = id < 0 ? id : apply(&a, id, value, &err);
	}
	if (r < 0)
		return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	a.opts.verify.trust = a.trust;
	a.opts.verify.fingerprints = a.fingerprints;
	a.lockdown.writes = a.opts.output;
	a.opts.verify.ready = ib_lockdown;
	a.opts.verify.ready_arg = &a.lockdown;
	r = ib_report_produce(&ctx, a.path ? a.path : default_path(), &a.opts, stdout, &status, &err);
	return ib_tool_finish(&tool, r < 0 ? ib_tool_error(&tool, &err) : status);
}
