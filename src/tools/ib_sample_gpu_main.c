/* SPDX-License-Identifier: Apache-2.0 */
/* ib-sample-gpu: for every line on standard input, what NVIDIA's GPUs do at this moment. A helper of ib-run's sampler, which must not hang where a
 * driver does. An answer is a line "CODE BYTES" (200; 404: no library, no driver or no GPU; 500: anything else), then a line a GPU: index, utilisation in
 * percent, used and total bytes of memory, mW, Hz of the processors and of memory, degrees Celsius, reasons for lower clocks, mJ since the driver was
 * loaded; "-" where the library does not say. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/exit.h"
#include "collectors/nvml.h"

#define GPUS_MAX 16
#define HERTZ 1000000

static void add(struct ib_buf *b, int code, uint64_t v, char end)
{
	if (code == IB_NVML_SUCCESS && v <= INT64_MAX)
		ib_buf_addf(b, "%" PRIu64 "%c", v, end);
	else
		ib_buf_addf(b, "-%c", end);
}

static void add_memory(const struct ib_nvml *n, ib_nvml_device d, struct ib_buf *b)
{
	struct ib_nvml_memory_v2 v2 = {.version = IB_NVML_MEMORY_V2};
	struct ib_nvml_memory_v1 v1 = {0};
	int code = n->memory_v2 ? n->memory_v2(d, &v2) : IB_NVML_NO_SYMBOL;

	if (code != IB_NVML_SUCCESS && n->memory) {
		code = n->memory(d, &v1);
		v2.used = v1.used;
		v2.total = v1.total;
	}
	add(b, code, v2.used, ' ');
	add(b, code, v2.total, ' ');
}

static void add_clock(const struct ib_nvml *n, ib_nvml_device d, int which, struct ib_buf *b)
{
	unsigned mhz = 0;
	int code = n->clock ? n->clock(d, which, &mhz) : IB_NVML_NO_SYMBOL;

	add(b, code, (uint64_t)mhz * HERTZ, ' ');
}

static void add_gpu(const struct ib_nvml *n, unsigned i, struct ib_buf *b)
{
	struct ib_nvml_utilisation use = {0};
	unsigned long long reasons = 0, energy = 0;
	unsigned v = 0;
	ib_nvml_device d;
	int code = n->by_index(i, &d);

	add(b, IB_NVML_SUCCESS, i, ' ');
	if (code != IB_NVML_SUCCESS) {
		ib_buf_adds(b, "- - - - - - - - -\n");
		return;
	}
	code = n->utilisation ? n->utilisation(d, &use) : IB_NVML_NO_SYMBOL;
	add(b, code, use.gpu, ' ');
	add_memory(n, d, b);
	code = n->power ? n->power(d, &v) : IB_NVML_NO_SYMBOL;
	add(b, code, v, ' ');
	add_clock(n, d, IB_NVML_CLOCK_SM, b);
	add_clock(n, d, IB_NVML_CLOCK_MEMORY, b);
	code = n->temperature ? n->temperature(d, IB_NVML_SENSOR_GPU, &v) : IB_NVML_NO_SYMBOL;
	add(b, code, v, ' ');
	code = n->event_reasons ? n->event_reasons(d, &reasons) : n->throttle_reasons ? n->throttle_reasons(d, &reasons) : IB_NVML_NO_SYMBOL;
	add(b, code, reasons, ' ');
	code = n->energy ? n->energy(d, &energy) : IB_NVML_NO_SYMBOL;
	add(b, code, energy, '\n');
}

/* The status of the library: 200, 404 or 500. */
static int load(struct ib_nvml *n)
{
	const char *missing;
	int code;

	if (!ib_nvml_load(n, &missing))
		return 404;
	if (missing)
		return 500;
	code = n->init();
	return code == IB_NVML_SUCCESS ? 200 : ib_nvml_fact(code).status == IB_FACT_ABSENT ? 404 : 500;
}

static int list(const struct ib_nvml *n, struct ib_buf *b)
{
	unsigned count = 0;
	int code = n->count(&count);

	if (code != IB_NVML_SUCCESS)
		return 500;
	for (unsigned i = 0; i < count && i < GPUS_MAX; i++)
		add_gpu(n, i, b);
	return count ? 200 : 404;
}

int main(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	struct ib_nvml n;
	int c, status = load(&n);

	while ((c = getchar()) != EOF) {
		int code = status;

		if (c != '\n')
			continue;
		ib_buf_reset(&b);
		if (code == 200)
			code = list(&n, &b);
		if (printf("%d %zu\n%s", code, b.len, ib_buf_str(&b)) < 0 || fflush(stdout) != 0)
			return IB_EXIT_UNDECIDED;
	}
	return IB_EXIT_OK;
}
