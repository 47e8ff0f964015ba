/* SPDX-License-Identifier: Apache-2.0 */
/* All collectors, in the order in which they run: what changes from moment to moment first, what perturbs it last. */
#include "collectors/collector.h"

extern const struct ib_collector ib_collector_load, ib_collector_clocks, ib_collector_memory, ib_collector_os, ib_collector_kernel, ib_collector_cpu,
	ib_collector_environment, ib_collector_gpu_nvidia, ib_collector_git, ib_collector_topology;

const struct ib_collector *const ib_collectors_all[] = {
	&ib_collector_load,
	&ib_collector_clocks,
	&ib_collector_memory,
	&ib_collector_os,
	&ib_collector_kernel,
	&ib_collector_cpu,
	&ib_collector_environment,
	&ib_collector_gpu_nvidia,
	&ib_collector_git,
	&ib_collector_topology,
	NULL,
};
