/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs: the driver's files, then the management library, loaded late in a child with a time limit, by our own
 * prototypes. A symbol or value that is not there is a status of its leaf. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/str.h"
#include "collectors/collector.h"
#include "collectors/nvml.h"
#include "redact/redact.h"

#define TIMEOUT_NS (10 * IB_NS)     /* without persistence mode the first query starts the GPU up */
#define GPUS_MAX 256

/* --- in the child --- */

/* Which file answered: a library that does not belong to the driver shows by this and by the versions. */
static void library_file(struct ib_ctx *ctx, const struct ib_nvml *n, json_t *out)
{
	ib_auto_free char *path = NULL, *clean = NULL;
	ib_auto_fd int fd = -1;
	char hex[IB_HEX_LEN];
	uint64_t bytes;

	path = ib_nvml_path(n);
	if (path)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ib_sha256_fd(fd, path, hex, &bytes, NULL) < 0) {
		ib_leaf_missing(out, "library/path", ib_nvml_fact(IB_NVML_NOT_FOUND));
		ib_leaf_missing(out, "library/sha256", ib_nvml_fact(IB_NVML_NOT_FOUND));
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
	if (code == IB_NVML_SUCCESS)
		ib_leaf_str(out, leaf, text);
	else
		ib_leaf_missing(out, leaf, ib_nvml_fact(code));
}

static void number_leaf(json_t *out, unsigned gpu, const char *key, uint64_t v)
{
	ib_auto_free char *leaf = ib_asprintf("gpus/%u/%s", gpu, key);

	if (v > INT64_MAX) /* all ones: not available */
		ib_leaf_missing(out, leaf, ib_nvml_fact(IB_NVML_NOT_SUPPORTED));
	else
		ib_leaf_int(out, leaf, (int64_t)v);
}

static void memory(const struct ib_nvml *n, ib_nvml_device d, unsigned gpu, json_t *out)
{
	static const char *const keys[] = {"memory_total_bytes", "memory_reserved_bytes", "memory_used_bytes", "memory_free_bytes", "memory_api"};
	struct ib_nvml_memory_v2 v2 = {.version = IB_NVML_MEMORY_V2};
	struct ib_nvml_memory_v1 v1 = {0};
	ib_auto_free char *api = ib_asprintf("gpus/%u/memory_api", gpu);
	int code = n->memory_v2 ? n->memory_v2(d, &v2) : IB_NVML_NO_SYMBOL, first = code;

	if (code != IB_NVML_SUCCESS && n->memory) {
		code = n->memory(d, &v1);
		v2 = (struct ib_nvml_memory_v2){.total = v1.total, .reserved = UINT64_MAX, .free = v1.free, .used = v1.used};
	}
	if (code != IB_NVML_SUCCESS) {
		for (size_t i = 0; i < IB_LEN(keys); i++) {
			ib_auto_free char *leaf = ib_asprintf("gpus/%u/%s", gpu, keys[i]);

			ib_leaf_missing(out, leaf, ib_nvml_fact(code));
		}
		return;
	}
	number_leaf(out, gpu, keys[0], v2.total);
	number_leaf(out, gpu, keys[1], v2.reserved);
	number_leaf(out, gpu, keys[2], v2.used);
	number_leaf(out, gpu, keys[3], v2.free);
	ib_leaf_str(out, api, first == IB_NVML_SUCCESS ? "v2" : "v1");
}

static void identity(struct ib_ctx *ctx, const struct ib_nvml *n, ib_nvml_device d, unsigned gpu, json_t *out)
{
	ib_auto_free char *name = ib_asprintf("gpus/%u/name", gpu), *uuid = ib_asprintf("gpus/%u/uuid", gpu), *vbios = ib_asprintf("gpus/%u/vbios_version", gpu);
	char text[97] = "", label[IB_PSEUDONYM_LEN];
	int code = n->name(d, text, 96);

	text_leaf(out, name, code, text, sizeof(text));
	memset(text, 0, sizeof(text));
	code = n->uuid(d, text, 96);
	text[sizeof(text) - 1] = '\0';
	ib_pseudonym(ctx->redact, "gpu", text, strlen(text), label);
	if (code == IB_NVML_SUCCESS)
		ib_leaf_str(out, uuid, label);
	else
		ib_leaf_missing(out, uuid, ib_nvml_fact(code));
	memset(text, 0, sizeof(text));
	code = n->vbios ? n->vbios(d, text, 32) : IB_NVML_NO_SYMBOL;
	text_leaf(out, vbios, code, text, sizeof(text));
}

static void capability(const struct ib_nvml *n, ib_nvml_device d, unsigned gpu, json_t *out)
{
	ib_auto_free char *leaf = ib_asprintf("gpus/%u/compute_capability", gpu), *text = NULL;
	int major = 0, minor = 0, code = n->capability ? n->capability(d, &major, &minor) : IB_NVML_NO_SYMBOL;

	text = ib_asprintf("%d.%d", major, minor);
	if (code == IB_NVML_SUCCESS)
		ib_leaf_str(out, leaf, text);
	else
		ib_leaf_missing(out, leaf, ib_nvml_fact(code));
}

struct found {
	ib_nvml_device d;
	unsigned index;
	int code, pci_code;
	struct ib_nvml_pci pci;
};

/* By bus id: the library's order is not CUDA's and need not be stable. */
static int by_bus(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = strcmp(x->pci.bus_id, y->pci.bus_id);

	return order ? order : (int)x->index - (int)y->index;
}

static void one_gpu(struct ib_ctx *ctx, const struct ib_nvml *n, const struct found *f, unsigned gpu, json_t *out)
{
	ib_auto_free char *bus = ib_asprintf("gpus/%u/bus_id", gpu), *handle = ib_asprintf("gpus/%u/handle", gpu);
	char text[sizeof(f->pci.bus_id) + 1] = "";
	json_t *o = ib_json_object();

	ib_json_set_str(o, "vendor", "nvidia");
	ib_json_set_int(o, "index", f->index);
	ib_json_add(json_object_get(json_object_get(out, "data"), "gpus"), o);
	if (f->code != IB_NVML_SUCCESS) {
		ib_leaf_missing(out, handle, ib_nvml_fact(f->code));
		return;
	}
	memcpy(text, f->pci.bus_id, sizeof(f->pci.bus_id));
	text_leaf(out, bus, f->pci_code, text, sizeof(text));
	identity(ctx, n, f->d, gpu, out);
	memory(n, f->d, gpu, out);
	capability(n, f->d, gpu, out);
}

static void gpus(struct ib_ctx *ctx, const struct ib_nvml *n, json_t *out)
{
	ib_auto_free struct found *list = NULL;
	unsigned count = 0;
	int code = n->count(&count);

	if (code != IB_NVML_SUCCESS || count > GPUS_MAX) {
		ib_leaf_missing(out, "gpus", code ? ib_nvml_fact(code) : (struct ib_fact){IB_FACT_ERROR, ERANGE});
		return;
	}
	ib_leaf(out, "gpus", ib_json_array());
	list = ib_alloc((count + 1) * sizeof(*list));
	for (unsigned i = 0; i < count; i++) {
		list[i].index = i;
		list[i].code = n->by_index(i, &list[i].d);
		list[i].pci_code = list[i].code == IB_NVML_SUCCESS && n->pci ? n->pci(list[i].d, &list[i].pci) : IB_NVML_NO_SYMBOL;
		list[i].pci.bus_id[sizeof(list[i].pci.bus_id) - 1] = '\0';
	}
	qsort(list, count, sizeof(*list), by_bus);
	for (unsigned i = 0; i < count; i++)
		one_gpu(ctx, n, &list[i], i, out);
}

static void versions(const struct ib_nvml *n, json_t *out)
{
	char text[81] = "";
	ib_auto_free char *cuda = NULL;
	int v = 0, code = n->driver_version(text, 80);

	text_leaf(out, "driver_version", code, text, sizeof(text));
	code = n->cuda_version ? n->cuda_version(&v) : IB_NVML_NO_SYMBOL;
	cuda = ib_asprintf("%d.%d", v / 1000, v % 1000 / 10);
	if (code == IB_NVML_SUCCESS)
		ib_leaf_str(out, "cuda_version", cuda);
	else
		ib_leaf_missing(out, "cuda_version", ib_nvml_fact(code));
}

/* Leaves that nothing can be said about, because the library is not there, unfit, or does not start. */
static void no_answer(json_t *out, struct ib_fact why)
{
	static const char *const leaves[] = {"driver_version", "cuda_version", "gpus"};

	for (size_t i = 0; i < IB_LEN(leaves); i++)
		ib_leaf_missing(out, leaves[i], why);
}

static void start(struct ib_ctx *ctx, const struct ib_nvml *n, json_t *out)
{
	int code = n->init();
	const char *text = n->error_string(code);

	ib_leaf_int(out, "init/code", code); /* a fact of its own: 18 is a driver that does not match its library */
	ib_leaf_str(out, "init/text", text ? text : "");
	if (code != IB_NVML_SUCCESS) {
		no_answer(out, ib_nvml_fact(code));
		return;
	}
	versions(n, out);
	gpus(ctx, n, out);
}

static int run(struct ib_ctx *ctx, void *arg, int fd)
{
	ib_auto_json json_t *out = ib_leaf_out(), *rest = ib_leaf_out();
	struct ib_nvml n;
	const char *missing;

	(void)arg;
	if (!ib_nvml_load(&n, &missing)) {
		ib_leaf_missing(out, "library", (struct ib_fact){IB_FACT_ABSENT, 0});
		no_answer(out, (struct ib_fact){IB_FACT_ABSENT, 0});
		ib_answer_emit(fd, out);
		return 0;
	}
	library_file(ctx, &n, out);
	if (missing) {
		ib_leaf_str(out, "library/missing_symbol", missing);
		no_answer(out, ib_nvml_fact(IB_NVML_NO_SYMBOL));
		ib_answer_emit(fd, out);
		return 0;
	}
	ib_answer_emit(fd, out); /* kept when the library hangs */
	start(ctx, &n, rest);
	ib_answer_emit(fd, rest);
	if (json_integer_value(json_object_get(json_object_get(json_object_get(rest, "data"), "init"), "code")) == IB_NVML_SUCCESS)
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

static const char *const reads[] = {"/proc/driver/nvidia/version", "/sys/module/nvidia/version", IB_NVML_LIBRARY, NULL};
static const char *const unstable[] = {"gpus/*/memory_used_bytes", "gpus/*/memory_free_bytes", NULL};

const struct ib_collector ib_collector_gpu_nvidia = {
	.name = "gpu_nvidia",
	.title = "NVIDIA driver, CUDA version, GPUs and their memory",
	.reads = reads,
	.unstable = unstable,
	.collect = collect,
};
