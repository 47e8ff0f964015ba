/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs: the driver's files, then the management library, loaded late in a child with a time limit, by our own
 * prototypes. A symbol or value that is not there is a status of its leaf. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/str.h"
#include "collectors/collector.h"
#include "redact/redact.h"

#define LIBRARY "libnvidia-ml.so.1" /* by soname only: never the unversioned name, never a path */
#define TIMEOUT_NS (10 * IB_NS)     /* without persistence mode the first query starts the GPU up */
#define GPUS_MAX 256

/* Return codes that we tell apart. */
enum { SUCCESS = 0, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, TIMED_OUT = 10, LIBRARY_NOT_FOUND = 12, FUNCTION_NOT_FOUND = 13,
	DEPRECATED = 26, NO_SYMBOL = -1 };

typedef struct nvml_device *device;

struct memory_v1 {
	uint64_t total, free, used; /* used includes what the driver reserves */
};

struct memory_v2 {
	unsigned version;
	uint64_t total, reserved, free, used;
};

struct pci_info {
	char bus_id_legacy[16];
	unsigned domain, bus, device, ids, subsystem_ids;
	char bus_id[32];
};

_Static_assert(sizeof(struct memory_v1) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct pci_info) == 68, "nvmlPciInfo_t");

#define VERSION_WORD(type, n) ((unsigned)sizeof(type) | (n) << 24)

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int);
	int (*driver_version)(char *, unsigned);
	int (*count)(unsigned *);
	int (*by_index)(unsigned, device *);
	int (*name)(device, char *, unsigned);
	int (*uuid)(device, char *, unsigned);
	/* optional */
	int (*cuda_version)(int *);
	int (*pci)(device, struct pci_info *);
	int (*memory)(device, struct memory_v1 *);
	int (*memory_v2)(device, struct memory_v2 *);
	int (*capability)(device, int *, int *);
	int (*vbios)(device, char *, unsigned);
};

static const struct symbol {
	const char *name;
	size_t at;
	bool required;
} symbols[] = {
	{"nvmlInit_v2", offsetof(struct nvml, init), true},
	{"nvmlShutdown", offsetof(struct nvml, shutdown), true},
	{"nvmlErrorString", offsetof(struct nvml, error_string), true},
	{"nvmlSystemGetDriverVersion", offsetof(struct nvml, driver_version), true},
	{"nvmlDeviceGetCount_v2", offsetof(struct nvml, count), true},
	{"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, by_index), true},
	{"nvmlDeviceGetName", offsetof(struct nvml, name), true},
	{"nvmlDeviceGetUUID", offsetof(struct nvml, uuid), true},
	{"nvmlSystemGetCudaDriverVersion_v2", offsetof(struct nvml, cuda_version), false},
	{"nvmlDeviceGetPciInfo_v3", offsetof(struct nvml, pci), false},
	{"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory), false},
	{"nvmlDeviceGetMemoryInfo_v2", offsetof(struct nvml, memory_v2), false},
	{"nvmlDeviceGetCudaComputeCapability", offsetof(struct nvml, capability), false},
	{"nvmlDeviceGetVbiosVersion", offsetof(struct nvml, vbios), false},
};

static struct ib_fact fact_of(int code)
{
	switch (code) {
	case SUCCESS:
		return (struct ib_fact){IB_FACT_OK, 0};
	case NO_SYMBOL:
	case NOT_SUPPORTED:
	case FUNCTION_NOT_FOUND:
	case DEPRECATED:
		return (struct ib_fact){IB_FACT_UNSUPPORTED, 0};
	case NO_PERMISSION:
		return (struct ib_fact){IB_FACT_DENIED, 0};
	case NOT_FOUND:
	case DRIVER_NOT_LOADED:
	case LIBRARY_NOT_FOUND:
		return (struct ib_fact){IB_FACT_ABSENT, 0};
	case TIMED_OUT:
		return (struct ib_fact){IB_FACT_TIMEOUT, 0};
	default:
		return (struct ib_fact){IB_FACT_ERROR, 0};
	}
}

/* --- in the child --- */

/* Fills the table; returns the name of the first required symbol that is missing, or NULL. */
static const char *load_symbols(void *library, struct nvml *n)
{
	for (size_t i = 0; i < IB_LEN(symbols); i++) {
		void *f = dlsym(library, symbols[i].name);

		if (!f && symbols[i].required)
			return symbols[i].name;
		memcpy((char *)n + symbols[i].at, &f, sizeof(f));
	}
	return NULL;
}

/* Which file answered: a library that does not belong to the driver shows by this and by the versions. */
static void library_file(struct ib_ctx *ctx, void *f, json_t *out)
{
	ib_auto_free char *path = NULL, *clean = NULL;
	ib_auto_fd int fd = -1;
	char hex[IB_HEX_LEN];
	uint64_t bytes;
	Dl_info info;

	if (dladdr(f, &info) && info.dli_fname)
		path = realpath(info.dli_fname, NULL);
	if (path)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ib_sha256_fd(fd, path, hex, &bytes, NULL) < 0) {
		ib_leaf_missing(out, "library/path", fact_of(NOT_FOUND));
		ib_leaf_missing(out, "library/sha256", fact_of(NOT_FOUND));
		return;
	}
	clean = ib_redact_text(ctx->redact, path);
	ib_leaf_str(out, "library/path", clean);
	ib_leaf_str(out, "library/sha256", hex);
}

/* One text of the library: always ended, and no more than text. */
static void text_leaf(json_t *out, const char *leaf, int code, char *text, size_t size)
{
	text[size - 1] = '\0';
	if (code == SUCCESS)
		ib_leaf_str(out, leaf, text);
	else
		ib_leaf_missing(out, leaf, fact_of(code));
}

static void number_leaf(json_t *out, unsigned gpu, const char *key, uint64_t v)
{
	ib_auto_free char *leaf = ib_asprintf("gpus/%u/%s", gpu, key);

	if (v > INT64_MAX) /* all ones: not available */
		ib_leaf_missing(out, leaf, fact_of(NOT_SUPPORTED));
	else
		ib_leaf_int(out, leaf, (int64_t)v);
}

static void memory(const struct nvml *n, device d, unsigned gpu, json_t *out)
{
	static const char *const keys[] = {"memory_total_bytes", "memory_reserved_bytes", "memory_used_bytes", "memory_free_bytes", "memory_api"};
	struct memory_v2 v2 = {.version = VERSION_WORD(struct memory_v2, 2)};
	struct memory_v1 v1 = {0};
	ib_auto_free char *api = ib_asprintf("gpus/%u/memory_api", gpu);
	int code = n->memory_v2 ? n->memory_v2(d, &v2) : NO_SYMBOL, first = code;

	if (code != SUCCESS && n->memory) {
		code = n->memory(d, &v1);
		v2 = (struct memory_v2){.total = v1.total, .reserved = UINT64_MAX, .free = v1.free, .used = v1.used};
	}
	if (code != SUCCESS) {
		for (size_t i = 0; i < IB_LEN(keys); i++) {
			ib_auto_free char *leaf = ib_asprintf("gpus/%u/%s", gpu, keys[i]);

			ib_leaf_missing(out, leaf, fact_of(code));
		}
		return;
	}
	number_leaf(out, gpu, keys[0], v2.total);
	number_leaf(out, gpu, keys[1], v2.reserved);
	number_leaf(out, gpu, keys[2], v2.used);
	number_leaf(out, gpu, keys[3], v2.free);
	ib_leaf_str(out, api, first == SUCCESS ? "v2" : "v1");
}

static void identity(struct ib_ctx *ctx, const struct nvml *n, device d, unsigned gpu, json_t *out)
{
	ib_auto_free char *name = ib_asprintf("gpus/%u/name", gpu), *uuid = ib_asprintf("gpus/%u/uuid", gpu), *vbios = ib_asprintf("gpus/%u/vbios_version", gpu);
	char text[97] = "", label[IB_PSEUDONYM_LEN];
	int code = n->name(d, text, 96);

	text_leaf(out, name, code, text, sizeof(text));
	memset(text, 0, sizeof(text));
	code = n->uuid(d, text, 96);
	text[sizeof(text) - 1] = '\0';
	ib_pseudonym(ctx->redact, "gpu", text, strlen(text), label);
	if (code == SUCCESS)
		ib_leaf_str(out, uuid, label);
	else
		ib_leaf_missing(out, uuid, fact_of(code));
	memset(text, 0, sizeof(text));
	code = n->vbios ? n->vbios(d, text, 32) : NO_SYMBOL;
	text_leaf(out, vbios, code, text, sizeof(text));
}

static void capability(const struct nvml *n, device d, unsigned gpu, json_t *out)
{
	ib_auto_free char *leaf = ib_asprintf("gpus/%u/compute_capability", gpu), *text = NULL;
	int major = 0, minor = 0, code = n->capability ? n->capability(d, &major, &minor) : NO_SYMBOL;

	text = ib_asprintf("%d.%d", major, minor);
	if (code == SUCCESS)
		ib_leaf_str(out, leaf, text);
	else
		ib_leaf_missing(out, leaf, fact_of(code));
}

struct found {
	device d;
	unsigned index;
	int code, pci_code;
	struct pci_info pci;
};

/* By bus id: the library's order is not CUDA's and need not be stable. */
static int by_bus(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = strcmp(x->pci.bus_id, y->pci.bus_id);

	return order ? order : (int)x->index - (int)y->index;
}

static void one_gpu(struct ib_ctx *ctx, const struct nvml *n, const struct found *f, unsigned gpu, json_t *out)
{
	ib_auto_free char *bus = ib_asprintf("gpus/%u/bus_id", gpu), *handle = ib_asprintf("gpus/%u/handle", gpu);
	char text[sizeof(f->pci.bus_id) + 1] = "";
	json_t *o = ib_json_object();

	ib_json_set_str(o, "vendor", "nvidia");
	ib_json_set_int(o, "index", f->index);
	ib_json_add(json_object_get(json_object_get(out, "data"), "gpus"), o);
	if (f->code != SUCCESS) {
		ib_leaf_missing(out, handle, fact_of(f->code));
		return;
	}
	memcpy(text, f->pci.bus_id, sizeof(f->pci.bus_id));
	text_leaf(out, bus, f->pci_code, text, sizeof(text));
	identity(ctx, n, f->d, gpu, out);
	memory(n, f->d, gpu, out);
	capability(n, f->d, gpu, out);
}

static void gpus(struct ib_ctx *ctx, const struct nvml *n, json_t *out)
{
	ib_auto_free struct found *list = NULL;
	unsigned count = 0;
	int code = n->count(&count);

	if (code != SUCCESS || count > GPUS_MAX) {
		ib_leaf_missing(out, "gpus", code ? fact_of(code) : (struct ib_fact){IB_FACT_ERROR, ERANGE});
		return;
	}
	ib_leaf(out, "gpus", ib_json_array());
	list = ib_alloc((count + 1) * sizeof(*list));
	for (unsigned i = 0; i < count; i++) {
		list[i].index = i;
		list[i].code = n->by_index(i, &list[i].d);
		list[i].pci_code = list[i].code == SUCCESS && n->pci ? n->pci(list[i].d, &list[i].pci) : NO_SYMBOL;
		list[i].pci.bus_id[sizeof(list[i].pci.bus_id) - 1] = '\0';
	}
	qsort(list, count, sizeof(*list), by_bus);
	for (unsigned i = 0; i < count; i++)
		one_gpu(ctx, n, &list[i], i, out);
}

static void versions(const struct nvml *n, json_t *out)
{
	char text[81] = "";
	ib_auto_free char *cuda = NULL;
	int v = 0, code = n->driver_version(text, 80);

	text_leaf(out, "driver_version", code, text, sizeof(text));
	code = n->cuda_version ? n->cuda_version(&v) : NO_SYMBOL;
	cuda = ib_asprintf("%d.%d", v / 1000, v % 1000 / 10);
	if (code == SUCCESS)
		ib_leaf_str(out, "cuda_version", cuda);
	else
		ib_leaf_missing(out, "cuda_version", fact_of(code));
}

/* Leaves that nothing can be said about, because the library is not there, unfit, or does not start. */
static void no_answer(json_t *out, struct ib_fact why)
{
	static const char *const leaves[] = {"driver_version", "cuda_version", "gpus"};

	for (size_t i = 0; i < IB_LEN(leaves); i++)
		ib_leaf_missing(out, leaves[i], why);
}

static void start(struct ib_ctx *ctx, const struct nvml *n, json_t *out)
{
	int code = n->init();
	const char *text = n->error_string(code);

	ib_leaf_int(out, "init/code", code); /* a fact of its own: 18 is a driver that does not match its library */
	ib_leaf_str(out, "init/text", text ? text : "");
	if (code != SUCCESS) {
		no_answer(out, fact_of(code));
		return;
	}
	versions(n, out);
	gpus(ctx, n, out);
}

static int run(struct ib_ctx *ctx, void *arg, int fd)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	ib_auto_json json_t *out = ib_leaf_out(), *rest = ib_leaf_out();
	struct nvml n = {0};
	const char *missing;

	(void)arg;
	if (!library) {
		ib_leaf_missing(out, "library", (struct ib_fact){IB_FACT_ABSENT, 0});
		no_answer(out, (struct ib_fact){IB_FACT_ABSENT, 0});
		ib_answer_emit(fd, out);
		return 0;
	}
	missing = load_symbols(library, &n);
	library_file(ctx, dlsym(library, "nvmlInit_v2"), out);
	if (missing) {
		ib_leaf_str(out, "library/missing_symbol", missing);
		no_answer(out, fact_of(NO_SYMBOL));
		ib_answer_emit(fd, out);
		return 0;
	}
	ib_answer_emit(fd, out); /* kept when the library hangs */
	start(ctx, &n, rest);
	ib_answer_emit(fd, rest);
	if (json_integer_value(json_object_get(json_object_get(json_object_get(rest, "data"), "init"), "code")) == SUCCESS)
		n.shutdown();
	return 0;
}

/* --- in this process --- */

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15 …": the first line as it stands. */
static void driver_files(struct ib_ctx *ctx, json_t *out)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4096);
	struct ib_fact fact = ib_read_text(ctx, "/proc/driver/nvidia/version", &b);
	ib_auto_free char *line = ib_strndup(ib_buf_str(&b), strcspn(ib_buf_str(&b), "\n"));

	if (fact.status == IB_FACT_OK)
		ib_leaf_str(out, "driver_file", line);
	else
		ib_leaf_missing(out, "driver_file", fact);
	ib_leaf_file(ctx, out, "module_version", "/sys/module/nvidia/version");
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	const struct ib_answer_job job = {.name = "nvml", .run = run, .timeout_ns = TIMEOUT_NS};
	bool known;
	int r;

	driver_files(ctx, out);
	r = ib_answer_ask(ctx, &job, out, &known, err);
	if (!known)
		no_answer(out, (struct ib_fact){IB_FACT_ABSENT, 0});
	else if (r < 0 && !json_object_get(json_object_get(out, "data"), "gpus"))
		no_answer(out, (struct ib_fact){r == IB_E_TIMEOUT ? IB_FACT_TIMEOUT : IB_FACT_ERROR, 0});
	return r;
}

static const char *const reads[] = {"/proc/driver/nvidia/version", "/sys/module/nvidia/version", LIBRARY, NULL};
static const char *const unstable[] = {"gpus/*/memory_used_bytes", "gpus/*/memory_free_bytes", NULL};

const struct ib_collector ib_collector_gpu_nvidia = {
	.name = "gpu_nvidia",
	.title = "NVIDIA driver, CUDA version, GPUs and their memory",
	.reads = reads,
	.unstable = unstable,
	.collect = collect,
};
