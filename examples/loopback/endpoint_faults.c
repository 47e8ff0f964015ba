/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong on purpose: which requests, by which names. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "examples/loopback/endpoint.h"
#include "examples/loopback/loopback.h"

#define MILLION 1000000ULL
#define NAP_MS 50 /* between two looks at the stop flag */

static const char *const names[LB_FAULTS] = {
	[LB_FAULT_HTTP500] = "http500",
	[LB_FAULT_HTTP503] = "http503",
	[LB_FAULT_STREAM_ERROR] = "stream_error",
	[LB_FAULT_STREAM_CUT] = "stream_cut",
	[LB_FAULT_EARLY_STOP] = "early_stop",
	[LB_FAULT_BUNDLED] = "bundled",
	[LB_FAULT_NO_USAGE] = "no_usage",
	[LB_FAULT_HANG] = "hang",
	[LB_FAULT_LATE] = "late",
	[LB_FAULT_SLOW_START] = "slow_start",
};

const char *lb_fault_name(enum lb_fault f)
{
	return names[f];
}

static int find(const char *arg, size_t n)
{
	for (int i = LB_FAULT_NONE + 1; i < LB_FAULTS_SHARED; i++)
		if (strlen(names[i]) == n && memcmp(names[i], arg, n) == 0)
			return i;
	return LB_FAULT_NONE;
}

int lb_fault_parse(const char *arg, struct lb_config *config, struct ib_err *err)
{
	const char *value = strchr(arg, '=');
	int f = value ? find(arg, (size_t)(value - arg)) : LB_FAULT_NONE;
	int64_t sum = 0;
	double share;
	char *end;

	if (f == LB_FAULT_NONE)
		return ib_fail(err, IB_E_USAGE, 0,
			       "unknown fault '%s'; known, each with =SHARE: http500, http503, stream_error, stream_cut, early_stop, bundled, no_usage, hang, late", arg);
	share = strtod(value + 1, &end);
	if (end == value + 1 || *end || !(share >= 0 && share <= 1))
		return ib_fail(err, IB_E_USAGE, 0, "a share must be between 0 and 1, not '%s'", value + 1);
	config->fault_ppm[f] = llround(share * (double)MILLION);
	for (int i = 0; i < LB_FAULTS; i++)
		sum += config->fault_ppm[i];
	if (sum > (int64_t)MILLION)
		return ib_fail(err, IB_E_USAGE, 0, "the shares of all faults together are above 1 with '%s'", arg);
	return 0;
}

enum lb_fault lb_fault_of(const struct lb_config *config, uint64_t number)
{
	uint64_t left = MILLION; /* what the faults before this one left, in millionths */

	for (int f = LB_FAULT_NONE + 1; f < LB_FAULTS_SHARED; f++) {
		uint64_t ppm = (uint64_t)config->fault_ppm[f];
		uint64_t share = ppm == 0 ? 0 : ppm * MILLION / left;
		uint64_t phase = lb_mix((uint64_t)config->seed, 499 + (uint64_t)f) % MILLION;
		uint64_t before = (number * share + phase) / MILLION;

		if (before != ((number + 1) * share + phase) / MILLION)
			return (enum lb_fault)f;
		number -= before; /* its place among those that are left */
		left -= ppm;
	}
	return LB_FAULT_NONE;
}

bool lb_fault_starting(const struct lb_server *s)
{
	return lb_now_ns() - s->started_ns < s->config.slow_start_ns;
}

void lb_fault_hang(struct lb_conn *c)
{
	while (!atomic_load(&c->server->stopping) && !c->gone) {
		struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};

		c->gone = poll(&p, 1, NAP_MS) == 1 && !atomic_load(&c->server->stopping);
	}
}
