/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel release, command line, mitigations, clock source. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"
#include "redact/redact.h"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"

static json_t *ask_uname(struct ib_ctx *ctx, void *arg)
{
	struct utsname u;
	json_t *o;

	(void)ctx;
	(void)arg;
	if (uname(&u) < 0)
		return NULL;
	o = ib_json_object(); /* never the node name */
	ib_json_set_str(o, "sysname", u.sysname);
	ib_json_set_str(o, "release", u.release);
	ib_json_set_str(o, "version", u.version);
	ib_json_set_str(o, "machine", u.machine);
	return o;
}

static void name(struct ib_ctx *ctx, json_t *out)
{
	static const char *const keys[] = {"sysname", "release", "version", "machine"};
	ib_auto_json json_t *u = ib_live_ask(ctx, "uname", ask_uname, NULL);

	for (size_t i = 0; i < IB_LEN(keys); i++) {
		json_t *v = u ? json_object_get(u, keys[i]) : NULL;

		if (v)
			ib_leaf(out, keys[i], json_incref(v));
		else
			ib_leaf_missing(out, keys[i], (struct ib_fact){IB_FACT_ABSENT, 0});
	}
}

/* Parameters that name this machine, its network or its disks rather than describe it. */
static bool identity(const char *key, size_t n)
{
	static const char *const keys[] = {"ip", "nfsroot", "nfsaddrs", "hostname", "systemd.hostname", "ds", "BOOTIF", "netroot",
		"iscsi_initiator", "rd.iscsi.initiator", "systemd.machine_id", "cloud-config-url", "inst.ks", "ks", "url", "autoinstall", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (strlen(keys[i]) == n && memcmp(keys[i], key, n) == 0)
			return true;
	return false;
}

/* One parameter: the name rule, identities, identifiers of disks, then the text rules. Marks stay as they are. */
static char *redact_parameter(const struct ib_ctx *ctx, const char *word)
{
	static const char *const ids[] = {"UUID=", "PARTUUID=", "LABEL=", "PARTLABEL="};
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL, *rule = NULL;
	size_t n = equals ? (size_t)(equals - word) : 0;

	if (!value || !*value || ib_starts(value, "<redacted:"))
		return ib_redact_text(ctx->redact, word);
	if (ib_name_secret(word, n))
		rule = "named-secret";
	else if (identity(word, n))
		rule = "identity";
	for (size_t i = 0; !rule && i < IB_LEN(ids); i++)
		if (ib_starts(value, ids[i])) {
			value += strlen(ids[i]);
			rule = ib_starts(value, "<redacted:") ? NULL : "identity";
			break;
		}
	if (!rule)
		return ib_redact_text(ctx->redact, word);
	ib_auto_free char *mark = ib_redact_mark(ctx->redact, rule, value, strlen(value));

	return ib_asprintf("%.*s%s", (int)(value - word), word, mark);
}

char *ib_cmdline_redact(const struct ib_ctx *ctx, const char *cmdline)
{
	struct ib_buf b = IB_BUF(1u << 20);

	while (*cmdline) {
		size_t n = strcspn(cmdline, " \t\n");
		ib_auto_free char *word = ib_strndup(cmdline, n), *clean = n ? redact_parameter(ctx, word) : NULL;

		if (clean) {
			if (b.len)
				ib_buf_addc(&b, ' ');
			ib_buf_adds(&b, clean);
		}
		cmdline += n + (cmdline[n] != '\0');
	}
	return ib_buf_steal(&b);
}

static void command_line(struct ib_ctx *ctx, json_t *out)
{
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	struct ib_fact fact = ib_read_text(ctx, "/proc/cmdline", &b);
	ib_auto_free char *clean = NULL;

	if (fact.status != IB_FACT_OK) {
		ib_leaf_missing(out, "cmdline", fact);
		return;
	}
	clean = ib_cmdline_redact(ctx, ib_buf_str(&b));
	ib_leaf_str(out, "cmdline", clean);
}

static void mitigations(struct ib_ctx *ctx, json_t *out)
{
	ib_auto_strv struct ib_strv list = {0};
	struct ib_fact fact = ib_root_list(ctx->root, VULNERABILITIES, &list);

	if (fact.status != IB_FACT_OK) {
		ib_leaf_missing(out, "mitigations", fact);
		return;
	}
	ib_leaf(out, "mitigations", ib_json_object());
	for (size_t i = 0; i < list.n && i < 100; i++) {
		if (!ib_leaf_name(list.v[i]))
			continue;
		ib_auto_free char *leaf = ib_asprintf("mitigations/%s", list.v[i]), *file = ib_asprintf("%s/%s", VULNERABILITIES, list.v[i]);

		ib_leaf_file(ctx, out, leaf, file);
	}
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)err;
	name(ctx, out);
	command_line(ctx, out);
	mitigations(ctx, out);
	ib_leaf_file_int(ctx, out, "tainted", "/proc/sys/kernel/tainted", 1);
	ib_leaf_file(ctx, out, "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	return 0;
}

static const char *const reads[] = {"uname(2)", "/proc/cmdline", VULNERABILITIES "/**", "/proc/sys/kernel/tainted",
	"/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL};

const struct ib_collector ib_collector_kernel = {
	.name = "kernel",
	.title = "kernel release, command line, mitigations, clock source",
	.reads = reads,
	.collect = collect,
};
