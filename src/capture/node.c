/* SPDX-License-Identifier: Apache-2.0 */
/* What the agentless recorder notes beside the files it copies: a shell writes no JSON, so these are plain texts below /ib-node, and the answers
 * of a recorded machine are made of them here. */
#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "capture/inside.h"
#include "json/json.h"

#define DIRECTORY "/ib-node"
#define FACTS_MAX 10000

/* Four lines: uname's sysname, release, version and machine. */
static void add_uname(struct ib_ctx *ctx, json_t *answers)
{
	static const char *const keys[] = {"sysname", "release", "version", "machine"};
	ib_auto_buf struct ib_buf b = IB_BUF(4096);
	json_t *o;
	char *line, *state = NULL;

	if (ib_read_text(ctx, DIRECTORY "/uname", &b).status != IB_FACT_OK || !b.len || !ib_utf8_valid(b.data, b.len))
		return;
	o = ib_json_object();
	line = strtok_r(b.data, "\n", &state);
	for (size_t i = 0; i < IB_LEN(keys) && line; i++, line = strtok_r(NULL, "\n", &state))
		ib_json_set_str(o, keys[i], line);
	ib_json_set(answers, "uname", o);
}

/* "glibc 2.36" as getconf(1) has it. */
static void add_libc(struct ib_ctx *ctx, json_t *answers)
{
	ib_auto_buf struct ib_buf b = IB_BUF(256);

	if (ib_read_text(ctx, DIRECTORY "/libc", &b).status == IB_FACT_OK && ib_starts(ib_buf_str(&b), "glibc ") && ib_utf8_valid(b.data, b.len))
		ib_json_set(answers, "libc", ib_json_str(b.data + strlen("glibc ")));
}

/* NAME=VALUE strings, each ended by a byte 0; the recorder sends allowed names only, and the rules are asked again. */
static void add_environment(struct ib_ctx *ctx, json_t *answers)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	ib_auto_strv struct ib_strv env = {0};
	json_t *o;

	if (ib_root_read(ctx->root, DIRECTORY "/environ", &b).status != IB_FACT_OK)
		return;
	for (size_t at = 0; at < b.len; at += strlen(b.data + at) + 1)
		if (ib_utf8_valid(b.data + at, strlen(b.data + at)))
			ib_strv_add(&env, b.data + at);
	o = ib_environment_json(ctx, env.v);
	ib_json_set(o, "others", NULL); /* not even their names were sent */
	ib_json_set(answers, "environment", o);
}

/* A driver without its library asked is something else than no GPU. */
static void add_gpus(struct ib_ctx *ctx, json_t *answers)
{
	static const char *const leaves[] = {"driver_version", "cuda_version", "gpus"};
	json_t *out;

	if (ib_root_exists(ctx->root, "/proc/driver/nvidia/version").status != IB_FACT_OK)
		return;
	out = ib_leaf_out();
	for (size_t i = 0; i < IB_LEN(leaves); i++)
		ib_leaf_missing(out, leaves[i], (struct ib_fact){IB_FACT_UNSUPPORTED, 0});
	ib_json_set(answers, "nvml", out);
}

/* Lines "denied 13 /path". */
static int add_facts(struct ib_ctx *ctx, json_t *facts, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4u << 20);
	char *state = NULL;
	size_t n = 0;

	if (ib_root_read(ctx->root, DIRECTORY "/status", &b).status != IB_FACT_OK || !b.len)
		return 0;
	for (char *line = strtok_r(b.data, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		char *sys = strchr(line, ' '), *path = sys ? strchr(sys + 1, ' ') : NULL;
		int64_t number;
		json_t *o;

		if (!path || path[1] != '/' || ++n > FACTS_MAX || !ib_utf8_valid(path, strlen(path)))
			return ib_fail(err, IB_E_SYNTAX, 0, "'" DIRECTORY "/status' of the recorded machine has a line that is no status");
		*sys++ = '\0';
		*path++ = '\0';
		if (ib_parse_int(sys, 0, 4095, &number, err) < 0)
			return ib_wrap(err, "'" DIRECTORY "/status' of the recorded machine");
		o = ib_json_object();
		ib_json_set_str(o, "status", ib_fact_name(ib_fact_parse(line)));
		ib_json_set_int(o, "errno", number);
		ib_json_set(facts, path, o);
	}
	return 0;
}

int ib_node_load(struct ib_ctx *ctx, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *doc = NULL;
	json_t *answers, *facts;

	*ret = NULL;
	if (ib_root_exists(ctx->root, DIRECTORY).status != IB_FACT_OK)
		return 0;
	doc = ib_json_object();
	answers = ib_json_object();
	facts = ib_json_object();
	ib_json_set(doc, "schema", ib_json_str(IB_REPLAY_SCHEMA));
	ib_json_set(doc, "answers", answers);
	ib_json_set(doc, "facts", facts);
	add_uname(ctx, answers);
	add_libc(ctx, answers);
	add_environment(ctx, answers);
	add_gpus(ctx, answers);
	if (add_facts(ctx, facts, err) < 0)
		return err->code;
	*ret = ib_steal(&doc);
	return 0;
}
