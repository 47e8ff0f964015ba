/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's management library by our own prototypes, loaded late: it may be missing, of another driver, hang or crash, so that it is called in a process
 * of its own only. */
#ifndef IB_COLLECTORS_NVML_H
#define IB_COLLECTORS_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/root.h"

#define IB_NVML_LIBRARY "libnvidia-ml.so.1" /* by soname only: never the unversioned name, never a path */

/* Return codes that we tell apart. */
enum {
	IB_NVML_NO_SYMBOL = -1,
	IB_NVML_SUCCESS = 0,
	IB_NVML_NOT_SUPPORTED = 3,
	IB_NVML_NO_PERMISSION = 4,
	IB_NVML_NOT_FOUND = 6,
	IB_NVML_DRIVER_NOT_LOADED = 9,
	IB_NVML_TIMED_OUT = 10,
	IB_NVML_LIBRARY_NOT_FOUND = 12,
	IB_NVML_FUNCTION_NOT_FOUND = 13,
	IB_NVML_DEPRECATED = 26,
};

/* Clocks and sensors, as the library numbers them. */
enum { IB_NVML_CLOCK_SM = 1, IB_NVML_CLOCK_MEMORY = 2, IB_NVML_SENSOR_GPU = 0 };

typedef struct nvml_device *ib_nvml_device;

struct ib_nvml_memory_v1 {
	uint64_t total, free, used; /* used includes what the driver reserves */
};

struct ib_nvml_memory_v2 {
	unsigned version;
	uint64_t total, reserved, free, used;
};
#define IB_NVML_MEMORY_V2 ((unsigned)sizeof(struct ib_nvml_memory_v2) | 2u << 24)

struct ib_nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device, ids, subsystem_ids;
	char bus_id[32];
};

struct ib_nvml_utilisation {
	unsigned gpu, memory; /* percent of the time since the library looked before */
};

/* Functions; of the optional ones some are NULL. */
struct ib_nvml {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int);
	int (*driver_version)(char *, unsigned);
	int (*count)(unsigned *);
	int (*by_index)(unsigned, ib_nvml_device *);
	int (*name)(ib_nvml_device, char *, unsigned);
	int (*uuid)(ib_nvml_device, char *, unsigned);
	/* optional */
	int (*cuda_version)(int *);
	int (*pci)(ib_nvml_device, struct ib_nvml_pci *);
	int (*memory)(ib_nvml_device, struct ib_nvml_memory_v1 *);
	int (*memory_v2)(ib_nvml_device, struct ib_nvml_memory_v2 *);
	int (*capability)(ib_nvml_device, int *, int *);
	int (*vbios)(ib_nvml_device, char *, unsigned);
	int (*utilisation)(ib_nvml_device, struct ib_nvml_utilisation *);
	int (*power)(ib_nvml_device, unsigned *);               /* mW */
	int (*clock)(ib_nvml_device, int, unsigned *);          /* MHz */
	int (*temperature)(ib_nvml_device, int, unsigned *);    /* degrees Celsius */
	int (*event_reasons)(ib_nvml_device, unsigned long long *);
	int (*throttle_reasons)(ib_nvml_device, unsigned long long *); /* the same, by its name of before driver 535 */
	int (*energy)(ib_nvml_device, unsigned long long *);    /* mJ since the driver was loaded */
};

/* False: there is no library. *ret_missing: the first symbol that must be there and is not, or NULL. */
bool ib_nvml_load(struct ib_nvml *ret, const char **ret_missing);
/* The file that it was loaded from, resolved; allocated, or NULL. */
char *ib_nvml_path(const struct ib_nvml *n);
/* The status that a return code stands for. */
struct ib_fact ib_nvml_fact(int code);

#endif
