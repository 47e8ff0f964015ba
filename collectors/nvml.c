/* SPDX-License-Identifier: Apache-2.0 */
/* Loading NVIDIA's management library. */
#include "collectors/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

_Static_assert(sizeof(struct ib_nvml_memory_v1) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct ib_nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct ib_nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct ib_nvml_utilisation) == 8, "nvmlUtilization_t");

static const struct symbol {
	const char *name;
	size_t at;
	bool required;
} symbols[] = {
	{"nvmlInit_v2", offsetof(struct ib_nvml, init), true},
	{"nvmlShutdown", offsetof(struct ib_nvml, shutdown), true},
	{"nvmlErrorString", offsetof(struct ib_nvml, error_string), true},
	{"nvmlSystemGetDriverVersion", offsetof(struct ib_nvml, driver_version), true},
	{"nvmlDeviceGetCount_v2", offsetof(struct ib_nvml, count), true},
	{"nvmlDeviceGetHandleByIndex_v2", offsetof(struct ib_nvml, by_index), true},
	{"nvmlDeviceGetName", offsetof(struct ib_nvml, name), true},
	{"nvmlDeviceGetUUID", offsetof(struct ib_nvml, uuid), true},
	{"nvmlSystemGetCudaDriverVersion_v2", offsetof(struct ib_nvml, cuda_version), false},
	{"nvmlDeviceGetPciInfo_v3", offsetof(struct ib_nvml, pci), false},
	{"nvmlDeviceGetMemoryInfo", offsetof(struct ib_nvml, memory), false},
	{"nvmlDeviceGetMemoryInfo_v2", offsetof(struct ib_nvml, memory_v2), false},
	{"nvmlDeviceGetCudaComputeCapability", offsetof(struct ib_nvml, capability), false},
	{"nvmlDeviceGetVbiosVersion", offsetof(struct ib_nvml, vbios), false},
	{"nvmlDeviceGetUtilizationRates", offsetof(struct ib_nvml, utilisation), false},
	{"nvmlDeviceGetPowerUsage", offsetof(struct ib_nvml, power), false},
	{"nvmlDeviceGetClockInfo", offsetof(struct ib_nvml, clock), false},
	{"nvmlDeviceGetTemperature", offsetof(struct ib_nvml, temperature), false},
	{"nvmlDeviceGetCurrentClocksEventReasons", offsetof(struct ib_nvml, event_reasons), false},
	{"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct ib_nvml, throttle_reasons), false},
	{"nvmlDeviceGetTotalEnergyConsumption", offsetof(struct ib_nvml, energy), false},
};

struct ib_fact ib_nvml_fact(int code)
{
	switch (code) {
	case IB_NVML_SUCCESS:
		return (struct ib_fact){IB_FACT_OK, 0};
	case IB_NVML_NO_SYMBOL:
	case IB_NVML_NOT_SUPPORTED:
	case IB_NVML_FUNCTION_NOT_FOUND:
	case IB_NVML_DEPRECATED:
		return (struct ib_fact){IB_FACT_UNSUPPORTED, 0};
	case IB_NVML_NO_PERMISSION:
		return (struct ib_fact){IB_FACT_DENIED, 0};
	case IB_NVML_NOT_FOUND:
	case IB_NVML_DRIVER_NOT_LOADED:
	case IB_NVML_LIBRARY_NOT_FOUND:
		return (struct ib_fact){IB_FACT_ABSENT, 0};
	case IB_NVML_TIMED_OUT:
		return (struct ib_fact){IB_FACT_TIMEOUT, 0};
	default:
		return (struct ib_fact){IB_FACT_ERROR, 0};
	}
}

/* Fills the table; returns the name of the first required symbol that is missing, or NULL. */
static const char *load_symbols(void *library, struct ib_nvml *n)
{
	for (size_t i = 0; i < IB_LEN(symbols); i++) {
		void *f = dlsym(library, symbols[i].name);

		if (!f && symbols[i].required)
			return symbols[i].name;
		memcpy((char *)n + symbols[i].at, &f, sizeof(f));
	}
	return NULL;
}

bool ib_nvml_load(struct ib_nvml *ret, const char **ret_missing)
{
	void *library = dlopen(IB_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	*ret = (struct ib_nvml){0};
	*ret_missing = NULL;
	if (library)
		*ret_missing = load_symbols(library, ret);
	return library != NULL;
}

char *ib_nvml_path(const struct ib_nvml *n)
{
	void *f;
	Dl_info info;

	memcpy(&f, &n->init, sizeof(f));
	return f && dladdr(f, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
}
