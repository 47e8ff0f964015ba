/* SPDX-License-Identifier: Apache-2.0 */
/* From what is not checkable to what would make it so. */
#include "verify/ask.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *id, *request;
} requests[] = {
	{"A10", "per-request records"},
	{"A07", "how many requests were asked for and failed"},
	{"A16", "the client's command line"},
	{"A19", "/metrics before and after each run"},
	{"A25", "CPU, GPU, driver, kernel of the server's machine"},
	{"A23", "versions of client and server"},
	{"A22", "the model's revision or the weights' SHA-256"},
	{"A32", "the server's command line or start-up log"},
	{"A20", "the prompts, or their digest and seed"},
	{"A17", "every repeat, the failed ones too"},
	{"A27", "the commit of the scripts"},
};

static bool open(const struct ib_findings *f, const char *id)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].status == IB_NOT_CHECKABLE && strcmp(f->v[i].id, id) == 0)
			return true;
	return false;
}

size_t ib_ask(const struct ib_findings *f, const char **ret, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && k < n; i++)
		if (open(f, requests[i].id))
			ret[k++] = requests[i].request;
	return k;
}
