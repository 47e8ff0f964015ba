/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution, C library, and what speaks for a container. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"

/* The value of NAME in os-release text: unquoted, or NULL. Allocated. */
static char *value_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *v = line + n + 1;
		size_t len;

		if (strncmp(line, name, n) != 0 || line[n] != '=')
			continue;
		len = strcspn(v, "\n");
		if (len >= 2 && (v[0] == '"' || v[0] == '\'') && v[len - 1] == v[0])
			return ib_strndup(v + 1, len - 2);
		return ib_strndup(v, len);
	}
	return NULL;
}

static void release(struct ib_ctx *ctx, json_t *out)
{
	static const char *const fields[][2] = {{"ID", "id"}, {"VERSION_ID", "version_id"}, {"PRETTY_NAME", "pretty_name"}, {"VARIANT_ID", "variant_id"},
		{"BUILD_ID", "build_id"}};
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	struct ib_fact fact = ib_read_text(ctx, "/etc/os-release", &b);

	if (fact.status == IB_FACT_ABSENT)
		fact = ib_read_text(ctx, "/usr/lib/os-release", &b);
	for (size_t i = 0; i < IB_LEN(fields); i++) {
		ib_auto_free char *value = fact.status == IB_FACT_OK ? value_of(ib_buf_str(&b), fields[i][0]) : NULL;

		if (value)
			ib_leaf_str(out, fields[i][1], value);
		else
			ib_leaf_missing(out, fields[i][1], fact.status == IB_FACT_OK ? (struct ib_fact){IB_FACT_ABSENT, 0} : fact);
	}
}

static json_t *ask_libc(struct ib_ctx *ctx, void *arg)
{
	(void)ctx;
	(void)arg;
	return ib_json_str(gnu_get_libc_version());
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	static const char *const evidence[][2] = {{"/.dockerenv", "dockerenv"}, {"/run/.containerenv", "containerenv"},
		{"/run/systemd/container", "systemd_container"}};
	json_t *libc, *list = ib_json_array();

	(void)err;
	release(ctx, out);
	libc = ib_live_ask(ctx, "libc", ask_libc, NULL);
	if (libc)
		ib_leaf(out, "glibc_version", libc);
	else
		ib_leaf_missing(out, "glibc_version", (struct ib_fact){IB_FACT_ABSENT, 0});
	/* facts, not a verdict: each of these also occurs outside of containers */
	for (size_t i = 0; i < IB_LEN(evidence); i++)
		if (ib_root_exists(ctx->root, evidence[i][0]).status == IB_FACT_OK)
			ib_json_add_str(list, evidence[i][1]);
	ib_leaf(out, "container_evidence", list);
	return 0;
}

static const char *const reads[] = {"/etc/os-release", "/usr/lib/os-release", "/.dockerenv", "/run/.containerenv", "/run/systemd/container",
	"gnu_get_libc_version(3)", NULL};

const struct ib_collector ib_collector_os = {
	.name = "os",
	.title = "distribution, C library, container evidence",
	.reads = reads,
	.collect = collect,
};
