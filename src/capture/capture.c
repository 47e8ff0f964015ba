/* SPDX-License-Identifier: Apache-2.0 */
/* Running a table of collectors. */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "redact/redact.h"

void ib_capture_clear(struct ib_capture *c)
{
	json_decref(c->doc);
	free(c->xml);
	*c = (struct ib_capture){0};
}

static int64_t cpu_of(int who)
{
	struct rusage use;

	if (getrusage(who, &use) < 0)
		return 0;
	return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * IB_NS + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
}

/* CPU time of this process and of the children that it has waited for. */
static int64_t cpu_ns(void)
{
	return cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
}

/* Moves out's "xml", which is no leaf, to the capture; the leaf holds its digest. */
static void take_xml(json_t *out, struct ib_capture *c)
{
	const char *xml = json_string_value(json_object_get(out, "xml"));

	if (xml && !c->xml) {
		c->xml = ib_strdup(xml);
		ib_sha256_of(xml, strlen(xml), c->xml_sha256);
		ib_leaf_str(out, "xml_sha256", c->xml_sha256);
	}
	json_object_del(out, "xml");
}

static json_t *run_one(struct ib_ctx *ctx, const struct ib_collector *collector, struct ib_capture *c)
{
	ib_auto_json json_t *out = ib_leaf_out();
	json_t *entry = ib_json_object(), *errors = ib_json_array();
	int64_t wall = ib_monotonic_ns(ctx->clock), cpu = cpu_ns();
	struct ib_err err = {0};
	int r;

	ib_root_restrict(ctx->root, collector->reads);
	r = collector->collect(ctx, out, &err);
	if (r < 0)
		ib_json_add_str(errors, err.text);
	if (ib_root_refused(ctx->root)) {
		ib_auto_free char *text = ib_asprintf("collector '%s' does not declare that it reads '%s'", collector->name, ib_root_refused(ctx->root));

		ib_json_add_str(errors, text);
	}
	ib_root_restrict(ctx->root, NULL);
	take_xml(out, c);
	ib_json_set_str(entry, "status", r == IB_E_TIMEOUT ? "timeout" : json_array_size(errors) ? "error" : "ok");
	ib_json_set_int(entry, "wall_ns", ib_monotonic_ns(ctx->clock) - wall);
	ib_json_set_int(entry, "cpu_ns", cpu_ns() - cpu);
	ib_json_set(entry, "errors", errors);
	ib_json_set(entry, "data", json_incref(json_object_get(out, "data")));
	ib_json_set(entry, "missing", json_incref(json_object_get(out, "missing")));
	return entry;
}

/* --- the stable digest --- */

static bool unstable(const struct ib_collector *c, const char *path)
{
	for (const char *const *p = c->unstable; p && *p; p++)
		if (fnmatch(*p, path, 0) == 0) /* '*' goes over slashes: patterns stay short */
			return true;
	return false;
}

static void strip(const struct ib_collector *c, json_t *value, const char *prefix);

static void strip_array(const struct ib_collector *c, json_t *list, const char *prefix)
{
	json_t *value;
	size_t i;

	json_array_foreach(list, i, value) {
		ib_auto_free char *below = ib_asprintf("%s%zu/", prefix, i);

		strip(c, value, below);
	}
}

/* Takes the unstable leaves out of a collector's data (depth first, paths as in "missing"). */
static void strip(const struct ib_collector *c, json_t *o, const char *prefix)
{
	const char *key;
	json_t *value;
	void *next;

	if (json_is_array(o))
		strip_array(c, o, prefix);
	json_object_foreach_safe(o, next, key, value) {
		ib_auto_free char *path = ib_asprintf("%s%s", prefix, key);
		ib_auto_free char *below = ib_asprintf("%s/", path);

		if (unstable(c, path))
			json_object_del(o, key);
		else
			strip(c, value, below);
	}
}

static void add_stable(const struct ib_collector *c, const json_t *entry, json_t *stable)
{
	json_t *data = json_deep_copy(json_object_get(entry, "data")), *missing = json_deep_copy(json_object_get(entry, "missing"));
	json_t *o = ib_json_object();
	const char *key;
	json_t *value;
	void *next;

	strip(c, data, "");
	json_object_foreach_safe(missing, next, key, value)
		if (unstable(c, key))
			json_object_del(missing, key);
	ib_json_set(o, "status", json_incref(json_object_get(entry, "status")));
	ib_json_set(o, "data", data);
	ib_json_set(o, "missing", missing);
	ib_json_set(stable, c->name, o);
}

/* --- the document --- */

/* Label of the machine: its machine-id, else its node name. Neither is written anywhere. */
static void set_node(struct ib_ctx *ctx, json_t *doc)
{
	ib_auto_buf struct ib_buf b = IB_BUF(256);
	char label[IB_PSEUDONYM_LEN];
	struct utsname u;

	if (ib_read_text(ctx, "/etc/machine-id", &b).status != IB_FACT_OK || b.len < 8) {
		ib_buf_reset(&b);
		if (ctx->live && ctx->live->running && uname(&u) == 0)
			ib_buf_adds(&b, u.nodename);
	}
	if (b.len)
		ib_pseudonym(ctx->redact, "node", b.data, b.len, label);
	ib_json_set_str(doc, "node", b.len ? label : NULL);
}

static void set_boot(struct ib_ctx *ctx, json_t *doc)
{
	ib_auto_buf struct ib_buf b = IB_BUF(256);
	char label[IB_PSEUDONYM_LEN];
	bool known = ib_read_text(ctx, "/proc/sys/kernel/random/boot_id", &b).status == IB_FACT_OK && b.len;

	if (known)
		ib_pseudonym(ctx->redact, "boot", b.data, b.len, label);
	ib_json_set_str(doc, "boot", known ? label : NULL);
}

/* Labels of a recorded machine come from its recording. */
static void set_identity(struct ib_ctx *ctx, json_t *doc)
{
	const json_t *replay = ctx->live ? ctx->live->replay : NULL;

	if (replay && json_object_get(replay, "identity")) {
		const json_t *identity = json_object_get(replay, "identity");

		ib_json_set_str(doc, "node", json_string_value(json_object_get(identity, "node")));
		ib_json_set_str(doc, "boot", json_string_value(json_object_get(identity, "boot")));
		return;
	}
	set_node(ctx, doc);
	set_boot(ctx, doc);
}

static json_t *tool(void)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "version", PACKAGE_VERSION);
	ib_json_set_str(o, "commit", IB_COMMIT[0] ? IB_COMMIT : NULL);
	return o;
}

static void run_all(struct ib_ctx *ctx, const struct ib_collector *const *table, bool (*want)(void *arg, const char *name), void *arg, json_t *doc,
		    struct ib_capture *c)
{
	ib_auto_json json_t *stable = ib_json_object();
	json_t *collectors = ib_json_object(), *skipped = ib_json_array();
	ib_auto_buf struct ib_buf text = IB_BUF(SIZE_MAX / 4);
	char sha256[IB_HEX_LEN];

	for (; *table; table++) {
		json_t *entry;

		if (want && !want(arg, (*table)->name)) {
			ib_json_add_str(skipped, (*table)->name);
			continue;
		}
		entry = run_one(ctx, *table, c);
		if (!((*table)->flags & IB_COLLECTOR_VOLATILE))
			add_stable(*table, entry, stable);
		ib_json_set(collectors, (*table)->name, entry);
	}
	ib_json_write(stable, &text);
	ib_sha256_of(ib_buf_str(&text), text.len, sha256);
	ib_json_set_str(doc, "stable_sha256", sha256);
	ib_json_set(doc, "skipped", skipped);
	ib_json_set(doc, "collectors", collectors);
}

int ib_capture_run(struct ib_ctx *ctx, const struct ib_collector *const *table, bool (*want)(void *arg, const char *name), void *arg, struct ib_capture *ret,
		   struct ib_err *err)
{
	static const struct ib_live live = {.running = true};
	int64_t wall = ib_monotonic_ns(ctx->clock), cpu = cpu_ns();
	ib_auto_root struct ib_root *own = NULL;
	struct ib_ctx inner = *ctx;
	char at[IB_TIME_LEN];
	json_t *doc;

	if (!ctx->redact)
		return ib_fail(err, IB_E_INTERNAL, 0, "a capture needs a redactor");
	if (!ctx->root) {
		int r = ib_root_open("/", &own, err);

		if (r < 0)
			return r;
		inner.root = own;
		inner.live = &live;
	}
	*ret = (struct ib_capture){0};
	doc = ib_json_object();
	ib_time_text(ib_wall_ns(ctx->clock), 9, at);
	ib_json_set_str(doc, "schema", IB_CAPTURE_SCHEMA);
	ib_json_set(doc, "tool", tool());
	ib_json_set_str(doc, "at", at);
	ib_json_set_int(doc, "monotonic_ns", wall);
	ib_json_set_str(doc, "source", ib_root_is_live(inner.root) ? "live" : "recorded");
	set_identity(&inner, doc);
	run_all(&inner, table, want, arg, doc, ret);
	ib_json_set_int(doc, "wall_ns", ib_monotonic_ns(ctx->clock) - wall);
	ib_json_set_int(doc, "cpu_ns", cpu_ns() - cpu);
	ret->doc = doc;
	return 0;
}

int ib_capture_text(const struct ib_ctx *ctx, const json_t *doc, struct ib_buf *out, struct ib_err *err)
{
	int r;

	ib_json_write_pretty(doc, out);
	r = ib_buf_check(out, "capture", err);
	return r < 0 ? r : ib_gate(ctx->redact, ib_buf_str(out), out->len, "capture", err);
}

int ib_capture_volatile(struct ib_ctx *ctx, json_t **ret, struct ib_err *err)
{
	ib_auto_capture struct ib_capture c = {0};
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	int r = ib_capture_run(ctx, ib_collectors_volatile, NULL, NULL, &c, err);

	if (r < 0)
		return r;
	r = ib_capture_text(ctx, c.doc, &text, err);
	if (r < 0)
		return r;
	*ret = ib_steal(&c.doc);
	return 0;
}
