/* SPDX-License-Identifier: Apache-2.0 */
/* ib-verify: a path in, a verdict on the screen or as findings out. */
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/exit.h"
#include "base/str.h"
#include "tools/lockdown.h"
#include "tools/opt.h"
#include "verify/explain.h"
#include "verify/verify.h"

enum {
	OPT_TRUST = 1,
	OPT_FINGERPRINT,
	OPT_UNSIGNED_OK,
	OPT_STRICT,
	OPT_EXPECT_HEAD,
	OPT_SHOW,
	OPT_JSON,
	OPT_QUIET,
	OPT_RULES,
	OPT_EXPLAIN,
	OPT_LIST_CLIENTS,
	OPT_REQUESTS,
	OPT_REQUIRE_SANDBOX,
	OPT_EXTRACT,
	OPT_PRINCIPAL,
	OPT_VERIFY_TIME
};

static const struct ib_opt options[] = {
	{.id = OPT_TRUST, .letter = 't', .name = "trust", .metavar = "FILE", .help = "trust the public keys in FILE ('-': stdin)"},
	{.id = OPT_FINGERPRINT, .letter = 'f', .name = "fingerprint", .metavar = "SHA256:...", .help = "trust the key of this fingerprint"},
	{.id = OPT_PRINCIPAL, .letter = 'p', .name = "principal", .metavar = "WHO", .help = "require WHO's key, as allowed_signers names it"},
	{.id = OPT_VERIFY_TIME, .name = "verify-time", .metavar = "TIME", .help = "judge the dates of keys at TIME, not now"},
	{.id = OPT_UNSIGNED_OK, .name = "unsigned-ok", .help = "do not require a trusted signature"},
	{.id = OPT_EXPECT_HEAD, .name = "expect-head", .metavar = "SHA256", .help = "require that the ledger ends with this entry"},
	{.id = OPT_STRICT, .name = "strict", .help = "let warnings decide too"},
	{.id = OPT_SHOW, .letter = 's', .name = "show", .metavar = "RUN", .help = "show one run in detail"},
	{.id = OPT_RULES, .name = "rules", .metavar = "FILE", .help = "take the levels of checks from FILE"},
	{.id = OPT_REQUESTS, .name = "requests", .metavar = "FILE", .help = "write the requests to the new FILE (.jsonl, .csv)"},
	{.id = OPT_EXTRACT, .letter = 'x', .name = "extract", .metavar = "DIR", .help = "write the files of an intact packet to the new DIR"},
	{.id = OPT_REQUIRE_SANDBOX, .name = "require-sandbox", .help = "read nothing without Landlock and seccomp"},
	{.id = OPT_JSON, .letter = 'j', .name = "json", .help = "print the findings as JSON"},
	{.id = OPT_QUIET, .letter = 'q', .name = "quiet", .help = "print nothing, only exit"},
	{.id = OPT_EXPLAIN, .letter = 'e', .name = "explain", .metavar = "NAME", .help = "explain a check (A15) or a metric (tpot)"},
	{.id = OPT_LIST_CLIENTS, .name = "list-clients", .help = "list the clients whose results are read"},
	{0},
};

static const char *const synopsis[] = {"[OPTION]... PACKET", "[OPTION]... STUDY", "[OPTION]... STUDY/runs/RUN",
					"[OPTION]... FOLDER | RESULT", "--explain NAME | --list-clients", NULL};
static const char *const exits[] = {
	"0  everything required holds",
	"1  the evidence does not hold",
	"2  wrong use",
	"3  could not decide: no trusted key, something unsupported or unreadable",
	"4  input refused: neither a packet nor a result, or malformed",
	NULL,
};
static const struct ib_tool tool = {
	.name = "ib-verify",
	.summary = "check that benchmark evidence is intact, whose it is, and whether it adds up",
	.synopsis = synopsis,
	.opts = options,
	.exits = exits,
};

struct request {
	struct ib_verify_opts opts;
	struct ib_strv trust, fingerprints;
	const char *path, *show, *rules, *requests, *explain, *extract;
	bool json, quiet, require_sandbox;
	int info; /* --help, --version, --explain or --list-clients: no evidence is needed; or 0 */
};

static int set(struct request *q, int id, const char *arg, struct ib_err *err)
{
	switch (id) {
	case OPT_TRUST:
		ib_strv_add(&q->trust, arg);
		break;
	case OPT_FINGERPRINT:
		ib_strv_add(&q->fingerprints, arg);
		break;
	case OPT_EXPECT_HEAD:
		if (!ib_is_hex(arg, 64))
			return ib_fail(err, IB_E_USAGE, 0, "option '--expect-head' needs a SHA-256 of 64 lower-case hex digits, not '%s'", arg);
		q->opts.expect_head = arg;
		break;
	case OPT_SHOW:
		q->show = arg;
		break;
	case OPT_REQUESTS:
		q->requests = arg;
		break;
	case OPT_RULES:
		q->rules = arg;
		break;
	case OPT_PRINCIPAL:
		q->opts.principal = arg;
		break;
	case OPT_VERIFY_TIME:
		if (ib_time_parse(arg, &q->opts.at_ns, err) < 0)
			return ib_fail(err, IB_E_USAGE, 0, "option '--verify-time' needs a time such as 2026-11-30T16:00:00Z, not '%s'", arg);
		break;
	case OPT_EXTRACT:
		q->extract = arg;
		break;
	case OPT_EXPLAIN:
		q->explain = arg;
		q->info = id;
		break;
	case OPT_LIST_CLIENTS:
		q->info = id;
		break;
	case IB_OPT_OPERAND:
		if (q->path)
			return ib_fail(err, IB_E_USAGE, 0, "one packet, study or run at a time: '%s' is one too many", arg);
		q->path = arg;
		break;
	case IB_OPT_HELP:
	case IB_OPT_VERSION:
		q->info = id;
		break;
	default:
		q->opts.unsigned_ok |= id == OPT_UNSIGNED_OK;
		q->opts.strict |= id == OPT_STRICT;
		q->json |= id == OPT_JSON;
		q->quiet |= id == OPT_QUIET;
		q->require_sandbox |= id == OPT_REQUIRE_SANDBOX;
	}
	return 0;
}

static int parse(int argc, char **argv, struct request *q, struct ib_err *err)
{
	struct ib_opt_state s;
	const char *arg;
	int id, r = 0;

	ib_opt_init(&s, &tool, argc, argv);
	while (r == 0 && !q->info && (id = ib_opt_next(&s, &arg, err)) != IB_OPT_END)
		r = id < 0 ? id : set(q, id, arg, err);
	if (r == 0 && !q->info && !q->path)
		r = ib_fail(err, IB_E_USAGE, 0, "nothing to verify was given");
	if (r == 0 && q->extract && q->requests)
		r = ib_fail(err, IB_E_USAGE, 0, "--extract and --requests: one at a time");
	q->opts.trust = (const char *const *)q->trust.v;
	q->opts.n_trust = q->trust.n;
	q->opts.fingerprints = (const char *const *)q->fingerprints.v;
	q->opts.n_fingerprints = q->fingerprints.n;
	return r;
}

static int print(const struct request *q, const struct ib_verdict *v, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(256u << 20);
	const char *no_color = getenv("NO_COLOR");
	int r = 0;

	if (q->json) {
		ib_auto_json json_t *j = ib_verdict_json(v);

		ib_json_write_pretty(j, &b);
	} else if (q->show && !q->requests) {
		r = ib_verdict_show(v, q->show, &b, err);
	} else {
		ib_verdict_screen(v, &q->opts, isatty(STDOUT_FILENO) && !(no_color && *no_color), &b);
	}
	if (r == 0)
		r = ib_buf_check(&b, "the verdict", err);
	if (r == 0 && !q->quiet)
		fwrite(ib_buf_str(&b), 1, b.len, stdout);
	return r;
}

/* What became of --extract, where it was asked for. */
static int judge_extraction(const struct request *q, const struct ib_verdict *v, const struct ib_extract *x, struct ib_err *err)
{
	ib_auto_free char *text = ib_asprintf("'%s': the packet is not intact", q->extract);

	if (!q->extract || x->done)
		return 0;
	if (v->kind != IB_KIND_PACKET && v->exit != IB_EXIT_REFUSED)
		return ib_fail(err, IB_E_USAGE, 0, "--extract takes a packet, and '%s' is a %s", q->path, ib_kind_name(v->kind));
	ib_tool_say(&tool, "nothing was extracted to ", text);
	return 0;
}

static int verify(const struct request *q, struct ib_err *err)
{
	const struct ib_ctx ctx = {.clock = &ib_clock_system};
	ib_auto_rules struct ib_rules rules = {0};
	ib_auto_verdict struct ib_verdict v = {0};
	struct ib_verify_opts opts = q->opts;
	struct ib_lockdown lockdown = {.require = q->require_sandbox, .writes = q->requests};
	ib_auto_extract struct ib_extract x = IB_EXTRACT_NONE;
	int r = 0;

	opts.ready = ib_lockdown;
	opts.ready_arg = &lockdown;
	if (q->rules) {
		r = ib_rules_load(q->rules, &rules, err);
		opts.rules = &rules;
	}
	if (r == 0 && q->extract) {
		r = ib_extract_begin(q->extract, &x, err);
		opts.extract = &x;
		lockdown.extract = &x;
	}
	if (r == 0)
		r = ib_verify_path(&ctx, q->path, &opts, &v, err);
	if (r == 0)
		r = judge_extraction(q, &v, &x, err);
	if (r == 0 && q->requests)
		r = ib_verdict_requests(&v, q->show, q->requests, err);
	if (r == 0)
		r = print(q, &v, err);
	if (r < 0)
		return err->code == IB_E_USAGE ? ib_tool_usage(&tool, err, IB_EXIT_USAGE) : ib_tool_error(&tool, err);
	return ib_tool_finish(&tool, v.exit);
}

/* What needs no evidence: help and explanations. */
static int inform(const struct request *q, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4u << 20);
	int r = 0;

	if (q->info == OPT_EXPLAIN)
		r = ib_explain(q->explain, &b, err);
	else if (q->info == OPT_LIST_CLIENTS)
		ib_explain_clients(&b);
	else
		return ib_opt_info(&tool, q->info);
	if (r == 0)
		r = ib_buf_check(&b, "the explanation", err);
	if (r < 0)
		return ib_tool_usage(&tool, err, IB_EXIT_USAGE);
	fwrite(ib_buf_str(&b), 1, b.len, stdout);
	return ib_tool_finish(&tool, IB_EXIT_OK);
}

int main(int argc, char **argv)
{
	struct request q = {0};
	struct ib_err err;
	int status, r = parse(argc, argv, &q, &err);

	ib_crypto_init();
	if (r < 0)
		status = ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	else if (q.info)
		status = inform(&q, &err);
	else
		status = verify(&q, &err);
	ib_strv_clear(&q.trust);
	ib_strv_clear(&q.fingerprints);
	return status;
}
