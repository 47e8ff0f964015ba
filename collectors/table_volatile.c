/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors that ib-run calls in-process, before and after a run: plain file reads only. */
#include "collectors/collector.h"

extern const struct ib_collector ib_collector_load, ib_collector_clocks, ib_collector_memory;

const struct ib_collector *const ib_collectors_volatile[] = {&ib_collector_load, &ib_collector_clocks, &ib_collector_memory, NULL};
