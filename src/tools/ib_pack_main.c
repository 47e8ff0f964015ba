/* SPDX-License-Identifier: Apache-2.0 */
/* ib-pack: seals a study and writes its packet. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/exit.h"
#include "base/str.h"
#include "pack/pack.h"
#include "store/foreign.h"
#include "tools/opt.h"

enum { OPT_STUDY = 1, OPT_KEY, OPT_OUT, OPT_NEW_KEY, OPT_P256, OPT_UNSIGNED, OPT_ALLOW };

static const struct ib_opt opts[] = {
	{.id = OPT_STUDY, .letter = 'C', .name = "study", .metavar = "DIR", .help = "the study (default: . or ./ib-study)"},
	{.id = OPT_KEY, .letter = 'k', .name = "key", .metavar = "FILE", .help = "sign with this private key (PEM)"},
	{.id = OPT_OUT, .letter = 'o', .name = "output", .metavar = "FILE", .help = "the packet: NAME.tar or NAME.tar.zst"},
	{.id = OPT_NEW_KEY, .name = "new-key", .metavar = "NAME", .help = "make NAME.pem and NAME.pub.pem and exit"},
	{.id = OPT_P256, .name = "p256", .help = "with --new-key: ECDSA P-256 instead of Ed25519"},
	{.id = OPT_UNSIGNED, .name = "unsigned", .help = "pack without a signature"},
	{.id = OPT_ALLOW, .name = "allow-secret", .metavar = "FILE", .help = "this file may hold what looks like one"},
	{0},
};

static const char *const synopsis[] = {"[-C DIR] --key FILE -o FILE.tar[.zst]", "--new-key NAME [--p256]", NULL};

static const char *const exits[] = {
	"0  the packet, or the key, is written",
	"1  the study does not verify: no packet was written",
	"2  wrong use, a file in the way, a run still going on, or a secret found",
	"3  input or output failed, or something is not supported",
	"4  the study holds something that a packet cannot",
	NULL,
};

static const struct ib_tool tool = {
	.name = "ib-pack",
	.summary = "Verifies and seals a study and writes it as one signed file for anybody.",
	.synopsis = synopsis,
	.opts = opts,
	.exits = exits,
};

struct cli {
	struct ib_pack_opts pack;
	const char *new_key;
	bool p256;
	const char **allow;
	int info; /* --help or --version */
};

static void say(void *arg, enum ib_level level, const char *line)
{
	(void)arg;
	fprintf(stderr, "%s: %s%s\n", tool.name, level == IB_LOG_WARNING ? "warning: " : "", line);
}

static int take(struct cli *c, int id, const char *arg, struct ib_err *err)
{
	switch (id) {
	case OPT_STUDY:
		c->pack.study = arg;
		return 0;
	case OPT_KEY:
		if (c->pack.key)
			return ib_fail(err, IB_E_USAGE, 0, "'--key' was given twice: a packet is signed with one key");
		c->pack.key = arg;
		return 0;
	case OPT_OUT:
		c->pack.out = arg;
		return 0;
	case OPT_NEW_KEY:
		c->new_key = arg;
		return 0;
	case OPT_P256:
		c->p256 = true;
		return 0;
	case OPT_UNSIGNED:
		c->pack.is_unsigned = true;
		return 0;
	case OPT_ALLOW:
		c->allow = ib_realloc(c->allow, c->pack.allow_secret_n + 1, sizeof(*c->allow));
		c->allow[c->pack.allow_secret_n++] = arg;
		return 0;
	case IB_OPT_HELP:
	case IB_OPT_VERSION:
		c->info = id;
		return 0;
	default:
		return ib_fail(err, IB_E_USAGE, 0, "needless argument '%s'", arg ? arg : "");
	}
}

static int parse(int argc, char **argv, struct cli *c, struct ib_err *err)
{
	struct ib_opt_state s;
	const char *arg;
	int id, r = 0;

	ib_opt_init(&s, &tool, argc, argv);
	while (r == 0 && !c->info && (id = ib_opt_next(&s, &arg, err)) != IB_OPT_END)
		r = id < 0 ? id : take(c, id, arg, err);
	if (r < 0 || c->info)
		return r;
	c->pack.allow_secret = c->allow;
	c->pack.list = ib_foreign_list;
	if (c->new_key && (c->pack.key || c->pack.out || c->pack.is_unsigned))
		return ib_fail(err, IB_E_USAGE, 0, "'--new-key' makes a key and packs nothing");
	if (!c->new_key && !c->pack.out)
		return ib_fail(err, IB_E_USAGE, 0, "no packet named; '-o NAME.tar.zst' does that");
	if (c->pack.key && c->pack.is_unsigned)
		return ib_fail(err, IB_E_USAGE, 0, "'--key' and '--unsigned' exclude each other");
	return 0;
}

static int new_key(const struct cli *c)
{
	char fingerprint[64];
	struct ib_err err;

	if (ib_pack_new_key(c->new_key, c->p256, fingerprint, &err) < 0)
		return ib_tool_error(&tool, &err);
	printf("private key  %s.pem (keep it)\n"
	       "public key   %s.pub.pem (give it to whoever checks your packets, and not inside them)\n"
	       "fingerprint  %s\n",
	       c->new_key, c->new_key, fingerprint);
	return ib_tool_finish(&tool, IB_EXIT_OK);
}

static void print_result(const struct cli *c, const struct ib_pack_result *r)
{
	printf("packet       %s, %" PRIu64 " bytes\n", c->pack.out, r->packet_bytes);
	printf("holds        %s: %" PRIu64 " files, %" PRIu64 " bytes", r->top, r->files, r->bytes);
	if (r->withheld)
		printf("; %" PRIu64 " withheld", r->withheld);
	printf("\nsealed       ledger of %" PRIu64 " entries, head %.16s (%s)\n", r->ledger_length, r->head, r->sealed_now ? "now" : "before");
	printf("signed       %s\n", r->fingerprint[0] ? r->fingerprint : "not: nothing says whose it is");
	printf("check        ib-verify %s %s\n", r->fingerprint[0] ? "--trust KEY.pub.pem" : "--unsigned-ok", c->pack.out);
}

static int pack(const struct cli *c)
{
	const struct ib_ctx ctx = {.clock = &ib_clock_system, .env = environ, .log = say};
	struct ib_pack_result result;
	struct ib_err err;

	if (ib_pack(&ctx, &c->pack, &result, &err) < 0)
		return ib_tool_error(&tool, &err);
	print_result(c, &result);
	return ib_tool_finish(&tool, IB_EXIT_OK);
}

int main(int argc, char **argv)
{
	struct cli c = {0};
	struct ib_err err;
	int status;

	ib_crypto_init();
	if (parse(argc, argv, &c, &err) < 0)
		status = ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	else if (c.info)
		status = ib_opt_info(&tool, c.info);
	else
		status = c.new_key ? new_key(&c) : pack(&c);
	free(c.allow);
	return status;
}
