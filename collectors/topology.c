/* SPDX-License-Identifier: Apache-2.0 */
/* Topology by hwloc, in a child: packages, cores, caches, NUMA nodes, and the whole as XML, which is kept by digest. */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_LINUX_LANDLOCK_H
#include <linux/landlock.h>
#endif

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "collectors/collector.h"

#define TIMEOUT_NS (10 * IB_NS)
#define CPU "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"

/* --- a child confined to a recorded root: hwloc follows absolute links out of it --- */

#ifdef HAVE_LINUX_LANDLOCK_H
static bool landlock(int root)
{
	const struct landlock_ruleset_attr handled = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE};
	struct landlock_path_beneath_attr below = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, .parent_fd = root};
	ib_auto_fd int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);

	return rules >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}
#else
static bool landlock(int root)
{
	(void)root;
	return false;
}
#endif

/* Makes the root directory ours: links then resolve as they did on the recorded machine. Where that is not allowed, nothing
 * outside of it can be read. *ret_path is where hwloc finds the tree. */
static bool confine(const struct ib_root *root, const char **ret_path)
{
	if (fchdir(ib_root_fd(root)) < 0)
		return false;
	if (chroot(".") == 0 || (unshare(CLONE_NEWUSER) == 0 && chroot(".") == 0)) {
		*ret_path = "/."; /* "/" would mean the live system to hwloc */
		return true;
	}
	*ret_path = ".";
	return landlock(ib_root_fd(root));
}

/* --- in the child --- */

/* hwloc obeys many variables; what the user's environment says must not change what is recorded. */
static void clean_environment(void)
{
	for (char **e = environ; *e;) {
		ib_auto_free char *name = ib_strndup(*e, strcspn(*e, "="));

		if (ib_starts(name, "HWLOC_"))
			unsetenv(name);
		else
			e++;
	}
	setenv("HWLOC_COMPONENTS", "linux,stop", 1); /* the x86 component asks the running processor, whatever the root */
	setenv("HWLOC_PLUGINS_PATH", "", 1);
	setenv("HWLOC_HIDE_ERRORS", "2", 1);
}

/* hwloc's own words about a strange /sys, even those of a failed assertion, are not for the user's terminal. */
static void be_silent(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		(void)dup2(null, STDERR_FILENO);
}

/* Keeps only those attributes that describe a kind of machine: not its name, serial numbers, addresses or our process. */
static void strip_infos(hwloc_obj_t obj)
{
	static const char *const kept[] = {"Architecture", "Backend", "CPUFamilyNumber", "CPUModel", "CPUModelNumber", "CPURevision", "CPUStepping",
		"CPUType", "CPUVendor", "CoreType", "DMIBIOSDate", "DMIBIOSVendor", "DMIBIOSVersion", "DMIBoardName", "DMIBoardVendor", "DMIProductName", "DMISysVendor",
		"Inclusive", "MemoryTier", "MemoryMode", "PlatformModel", "PlatformName", "Type", NULL};
	unsigned n = 0;

	for (unsigned i = 0; i < obj->infos_count; i++) {
		bool keep = false;

		for (size_t k = 0; kept[k] && !keep; k++)
			keep = ib_streq(obj->infos[i].name, kept[k]);
		if (keep) {
			obj->infos[n++] = obj->infos[i];
		} else {
			free(obj->infos[i].name);
			free(obj->infos[i].value);
		}
	}
	obj->infos_count = n;
	for (hwloc_obj_t c = obj->first_child; c; c = c->next_sibling)
		strip_infos(c);
	for (hwloc_obj_t c = obj->memory_first_child; c; c = c->next_sibling)
		strip_infos(c);
	for (hwloc_obj_t c = obj->misc_first_child; c; c = c->next_sibling)
		strip_infos(c);
}

/* A level that a machine does not have, or does not tell, is absent rather than 0. */
static void count(hwloc_topology_t t, json_t *out, const char *leaf, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(t, type);

	if (n > 0)
		ib_leaf_int(out, leaf, n);
	else
		ib_leaf_missing(out, leaf, (struct ib_fact){IB_FACT_ABSENT, 0});
}

static void numa_nodes(hwloc_topology_t t, json_t *out)
{
	json_t *list = ib_json_array();
	char cpus[1024];

	for (hwloc_obj_t n = NULL; (n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n));) {
		json_t *o = ib_json_object();

		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), n->cpuset);
		ib_json_set_int(o, "index", n->os_index);
		ib_json_set_int(o, "memory_bytes", (int64_t)n->attr->numanode.local_memory);
		ib_json_set_str(o, "cpus", cpus);
		ib_json_add(list, o);
	}
	ib_leaf(out, "numa_nodes", list);
}

/* One entry per kind and size: how many there are, how many PUs share one. */
static void add_cache(json_t *list, const struct hwloc_obj *c)
{
	const char *kind = c->attr->cache.type == HWLOC_OBJ_CACHE_DATA ? "data" : c->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction" : "unified";
	json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		if (json_integer_value(json_object_get(o, "level")) == (int64_t)c->attr->cache.depth && ib_streq(json_string_value(json_object_get(o, "kind")), kind) &&
		    json_integer_value(json_object_get(o, "size_bytes")) == (int64_t)c->attr->cache.size &&
		    json_integer_value(json_object_get(o, "shared_by_pus")) == hwloc_bitmap_weight(c->cpuset)) {
			ib_json_set_int(o, "count", json_integer_value(json_object_get(o, "count")) + 1);
			return;
		}
	}
	o = ib_json_object();
	ib_json_set_int(o, "level", c->attr->cache.depth);
	ib_json_set_str(o, "kind", kind);
	ib_json_set_int(o, "size_bytes", (int64_t)c->attr->cache.size);
	ib_json_set_int(o, "ways", c->attr->cache.associativity);
	ib_json_set_int(o, "shared_by_pus", hwloc_bitmap_weight(c->cpuset));
	ib_json_set_int(o, "count", 1);
	ib_json_add(list, o);
}

static void caches(hwloc_topology_t t, json_t *out)
{
	json_t *list = ib_json_array();

	for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L3ICACHE; type++)
		for (hwloc_obj_t c = NULL; (c = hwloc_get_next_obj_by_type(t, (hwloc_obj_type_t)type, c));)
			add_cache(list, c);
	ib_leaf(out, "caches", list);
}

/* hwloc 2 writes its second format by default, hwloc 3 has to be asked. */
#ifdef HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V2
#define XML_FLAGS HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V2
#else
#define XML_FLAGS 0
#endif

static int describe(hwloc_topology_t t, int fd)
{
	ib_auto_json json_t *out = ib_leaf_out();
	ib_auto_free char *version = NULL;
	char *xml = NULL;
	int n;

	count(t, out, "packages", HWLOC_OBJ_PACKAGE);
	count(t, out, "cores", HWLOC_OBJ_CORE);
	count(t, out, "pus", HWLOC_OBJ_PU);
	numa_nodes(t, out);
	caches(t, out);
	version = ib_asprintf("%u.%u", hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff);
	ib_leaf_str(out, "hwloc_version", version);
	strip_infos(hwloc_get_root_obj(t));
	if (hwloc_topology_export_xmlbuffer(t, &xml, &n, XML_FLAGS) == 0 && xml) {
		ib_json_set_str(out, "xml", xml);
		hwloc_free_xmlbuffer(t, xml);
	} else {
		ib_leaf_missing(out, "xml_sha256", ib_fact_of(errno ? errno : EINVAL));
	}
	ib_answer_emit(fd, out);
	return 0;
}

static int run(struct ib_ctx *ctx, void *arg, int fd)
{
	const char *path = NULL;
	hwloc_topology_t t;

	(void)arg;
	be_silent();
	clean_environment();
	if (!ib_root_is_live(ctx->root)) {
		if (!confine(ctx->root, &path))
			return 2;
		setenv("HWLOC_FSROOT", path, 1);
	}
	if (hwloc_topology_init(&t) < 0)
		return 3;
	hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
	if (hwloc_topology_load(t) < 0)
		return 4;
	describe(t, fd);
	hwloc_topology_destroy(t);
	return 0;
}

/* --- without hwloc: what /proc/cpuinfo says --- */

struct counted {
	struct ib_strv packages, cores; /* "physical id", "physical id/core id", each once */
	int64_t pus;
	bool told; /* every processor so far has both */
};

static void add_once(struct ib_strv *l, char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0) {
			free(s);
			return;
		}
	ib_strv_take(l, s);
}

/* The number behind "key<blanks>: "; false: this is another line. */
static bool number_of(const char *line, const char *key, long *ret)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return false;
	line += n + strspn(line + n, " \t");
	if (*line != ':' || line[1] != ' ' || line[2] < '0' || line[2] > '9')
		return false;
	*ret = strtol(line + 2, NULL, 10);
	return true;
}

struct processor {
	long package, core;
	bool has_package, has_core, begun;
};

static void end_processor(struct counted *c, struct processor *p)
{
	if (p->has_package && p->has_core) {
		add_once(&c->packages, ib_asprintf("%ld", p->package));
		add_once(&c->cores, ib_asprintf("%ld/%ld", p->package, p->core));
	} else if (p->begun) {
		c->told = false;
	}
	*p = (struct processor){0};
}

static void count_processors(const char *text, struct counted *c)
{
	struct processor p = {0};
	long number;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (number_of(line, "processor", &number)) {
			end_processor(c, &p);
			p.begun = true;
			c->pus++;
		}
		p.has_package |= number_of(line, "physical id", &p.package);
		p.has_core |= number_of(line, "core id", &p.core);
	}
	end_processor(c, &p);
}

static void count_leaf(json_t *out, const char *leaf, int64_t n, struct ib_fact why)
{
	if (n > 0)
		ib_leaf_int(out, leaf, n);
	else
		ib_leaf_missing(out, leaf, why);
}

static void from_cpuinfo(struct ib_ctx *ctx, json_t *out)
{
	static const char *const not_there[] = {"numa_nodes", "caches", "hwloc_version", "xml_sha256"};
	ib_auto_buf struct ib_buf b = IB_BUF(16u << 20);
	struct ib_fact fact = ib_read_text(ctx, "/proc/cpuinfo", &b);
	struct counted c = {.told = true};

	count_processors(ib_buf_str(&b), &c);
	if (fact.status == IB_FACT_OK)
		fact.status = IB_FACT_ABSENT; /* for what the text does not hold */
	count_leaf(out, "packages", c.told ? (int64_t)c.packages.n : 0, fact);
	count_leaf(out, "cores", c.told ? (int64_t)c.cores.n : 0, fact);
	count_leaf(out, "pus", c.pus, fact);
	for (size_t i = 0; i < IB_LEN(not_there); i++)
		ib_leaf_missing(out, not_there[i], (struct ib_fact){IB_FACT_UNSUPPORTED, 0});
	ib_strv_clear(&c.packages);
	ib_strv_clear(&c.cores);
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	const struct ib_answer_job job = {.name = "topology", .run = run, .timeout_ns = TIMEOUT_NS};
	ib_auto_buf struct ib_buf online = IB_BUF(4096);
	struct ib_fact nodes;
	bool known, hwloc;
	int r = ib_answer_ask(ctx, &job, out, &known, err);

	if (!known) /* any copy of a machine's files is enough for hwloc */
		r = ib_answer_run(ctx, &job, out, err);
	hwloc = json_object_get(json_object_get(out, "data"), "pus") != NULL;
	if (!hwloc)
		from_cpuinfo(ctx, out);
	ib_leaf_str(out, "counted_by", hwloc ? "hwloc" : "/proc/cpuinfo");
	nodes = ib_read_text(ctx, NODE "/online", &online);
	if (hwloc && nodes.status != IB_FACT_OK)
		ib_leaf_missing(out, "numa_nodes", nodes); /* hwloc makes one up where the kernel names none */
	return r;
}

/* What hwloc opens for what is kept here. As root it would also look at serial numbers, which are dropped. */
static const char *const reads[] = {"hwloc", CPU "/online", CPU "/possible", CPU "/cpu*/online", CPU "/cpu*/cpu_capacity", CPU "/cpu*/topology/*",
	CPU "/cpu*/cache/index*/*", CPU "/cpu*/cpufreq/base_frequency", CPU "/cpu*/cpufreq/cpuinfo_max_freq", NODE "/online", NODE "/possible",
	NODE "/node*/cpumap", NODE "/node*/distance", NODE "/node*/meminfo", NODE "/node*/hugepages/*/*", NODE "/node*/access*/initiators/*",
	NODE "/node*/memory_side_cache/index*/*", "/sys/kernel/mm/hugepages/*/*", "/sys/class/dmi/id/*", "/proc/cpuinfo", "/proc/meminfo",
	"/proc/self/cgroup", "/proc/self/cpuset", "/proc/mounts", NULL};

const struct ib_collector ib_collector_topology = {
	.name = "topology",
	.title = "packages, cores, caches, NUMA nodes by hwloc, its XML by digest; else what /proc/cpuinfo says",
	.reads = reads,
	.collect = collect,
};
