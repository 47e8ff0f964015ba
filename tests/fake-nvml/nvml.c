/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for the NVIDIA management library, for tests only. It answers from a scene, a text file named by
 * IB_FAKE_NVML_SCENE: one "word value" a line, one "gpu …" line a device. All scenes are made up. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gpu {
	char bus[32], uuid[96], name[97];
	uint64_t total, reserved, used, free;
	int memory, memory_v2; /* return codes */
	int name_n;            /* bytes of the name, which need not end with a NUL */
	uint64_t energy;       /* mJ; more with every question */
};

static struct {
	int init, cuda, n;
	char driver[80], hang[16], crash[16];
	struct gpu gpus[16];
} scene;

struct memory_v1 {
	uint64_t total, free, used;
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

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char *text, unsigned n);
int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct gpu **ret);
int nvmlDeviceGetName(struct gpu *g, char *text, unsigned n);
int nvmlDeviceGetUUID(struct gpu *g, char *text, unsigned n);
int nvmlDeviceGetPciInfo_v3(struct gpu *g, struct pci_info *info);
int nvmlDeviceGetMemoryInfo(struct gpu *g, struct memory_v1 *m);
int nvmlDeviceGetMemoryInfo_v2(struct gpu *g, struct memory_v2 *m);
int nvmlDeviceGetUtilizationRates(struct gpu *g, unsigned use[2]);
int nvmlDeviceGetPowerUsage(struct gpu *g, unsigned *mw);
int nvmlDeviceGetClockInfo(struct gpu *g, int which, unsigned *mhz);
int nvmlDeviceGetTemperature(struct gpu *g, int sensor, unsigned *celsius);
int nvmlDeviceGetCurrentClocksEventReasons(struct gpu *g, unsigned long long *reasons);
int nvmlDeviceGetTotalEnergyConsumption(struct gpu *g, unsigned long long *mj);

/* \xHH becomes a byte, so that a scene can hold what is no text. */
static int unescape(const char *from, char *to, int max)
{
	int n = 0;

	while (*from && *from != '\n' && n < max) {
		unsigned byte;

		if (sscanf(from, "\\x%2x", &byte) == 1) {
			to[n++] = (char)byte;
			from += 4;
		} else {
			to[n++] = *from++;
		}
	}
	return n;
}

static void read_gpu(const char *line)
{
	struct gpu *g = &scene.gpus[scene.n++];
	const char *name = strstr(line, "name=");

	sscanf(line, "gpu bus=%31s uuid=%95s total=%lu reserved=%lu used=%lu free=%lu memory=%d memory_v2=%d", g->bus, g->uuid, &g->total, &g->reserved, &g->used,
	       &g->free, &g->memory, &g->memory_v2);
	if (name)
		g->name_n = unescape(name + 5, g->name, 96);
}

static void step(const char *where)
{
	if (strcmp(scene.hang, where) == 0)
		for (;;)
			pause();
	if (strcmp(scene.crash, where) == 0)
		raise(SIGSEGV);
}

int nvmlInit_v2(void)
{
	const char *path = getenv("IB_FAKE_NVML_SCENE");
	FILE *f = path ? fopen(path, "r") : NULL;
	char line[512];

	if (!f)
		return 999;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "init %d", &scene.init);
		sscanf(line, "cuda %d", &scene.cuda);
		sscanf(line, "driver %79s", scene.driver);
		sscanf(line, "hang %15s", scene.hang);
		sscanf(line, "crash %15s", scene.crash);
		if (strncmp(line, "gpu ", 4) == 0 && scene.n < 16)
			read_gpu(line);
	}
	fclose(f);
	step("init");
	return scene.init;
}

int nvmlShutdown(void)
{
	step("shutdown");
	return 0;
}

const char *nvmlErrorString(int code)
{
	return code == 0 ? "Success" : code == 18 ? "Driver/library version mismatch" : "Some error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned n)
{
	snprintf(text, n, "%s", scene.driver);
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = (unsigned)scene.n;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct gpu **ret)
{
	*ret = &scene.gpus[i];
	return 0;
}

int nvmlDeviceGetName(struct gpu *g, char *text, unsigned n)
{
	step("name");
	memset(text, 0, n);
	memcpy(text, g->name, (unsigned)g->name_n < n ? (unsigned)g->name_n : n); /* at full length without a NUL */
	return 0;
}

#ifndef WITHOUT_UUID
int nvmlDeviceGetUUID(struct gpu *g, char *text, unsigned n)
{
	snprintf(text, n, "%s", g->uuid);
	return 0;
}
#endif

int nvmlDeviceGetPciInfo_v3(struct gpu *g, struct pci_info *info)
{
	memset(info, 0, sizeof(*info));
	memcpy(info->bus_id, g->bus, sizeof(info->bus_id));
	return 0;
}

int nvmlDeviceGetMemoryInfo(struct gpu *g, struct memory_v1 *m)
{
	*m = (struct memory_v1){g->total, g->free, g->used + g->reserved};
	return g->memory;
}

/* What moves: made up, the same for all. */
int nvmlDeviceGetUtilizationRates(struct gpu *g, unsigned use[2])
{
	(void)g;
	step("sample");
	use[0] = 42;
	use[1] = 7;
	return 0;
}

int nvmlDeviceGetPowerUsage(struct gpu *g, unsigned *mw)
{
	(void)g;
	*mw = 250000;
	return 0;
}

int nvmlDeviceGetClockInfo(struct gpu *g, int which, unsigned *mhz)
{
	(void)g;
	*mhz = which == 1 ? 1500 : 2600;
	return 0;
}

int nvmlDeviceGetTemperature(struct gpu *g, int sensor, unsigned *celsius)
{
	(void)g;
	*celsius = 61;
	return sensor == 0 ? 0 : 2;
}

int nvmlDeviceGetTotalEnergyConsumption(struct gpu *g, unsigned long long *mj)
{
	g->energy += 1000;
	*mj = 5000000 + g->energy;
	return 0;
}

#ifndef OLD
int nvmlDeviceGetCurrentClocksEventReasons(struct gpu *g, unsigned long long *reasons)
{
	(void)g;
	*reasons = 4;
	return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = scene.cuda;
	return 0;
}

int nvmlDeviceGetMemoryInfo_v2(struct gpu *g, struct memory_v2 *m)
{
	if (m->version != (sizeof(*m) | 2u << 24))
		return 25;
	*m = (struct memory_v2){m->version, g->total, g->reserved, g->free, g->used};
	return g->memory_v2;
}
#endif
