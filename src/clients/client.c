/* SPDX-License-Identifier: Apache-2.0 */
/* The table of clients: recognition and reading. */
#include "clients/client.h"

#include <string.h>

#include "clients/head.h"

const struct ib_client *const ib_clients[] = {
	&ib_client_requests,
	&ib_client_vllm_bench,
	NULL,
};

const struct ib_client *ib_client_recognise(const char *data, size_t n)
{
	const struct ib_head head = {data, n < IB_HEAD_MAX ? n : IB_HEAD_MAX};

	for (size_t i = 0; n && ib_clients[i]; i++)
		if (ib_clients[i]->recognise(&head))
			return ib_clients[i];
	return NULL;
}

int ib_client_read(const char *data, size_t n, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_results struct ib_results found = {0};
	const struct ib_client *client = ib_client_recognise(data, n);
	int r;

	*ret = (struct ib_results){0};
	if (!client)
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "'%s' is not a result file of a known client", name);
	if (n > IB_CLIENT_MAX)
		return ib_fail_at(err, IB_E_LIMIT, name, "'%s' is larger than the limit of %u bytes for a result file", name, IB_CLIENT_MAX);
	r = client->read(data, n, name, &found, err);
	if (r < 0)
		return r;
	if (!found.n)
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s' holds no result", name);
	for (size_t i = 0; i < found.n; i++)
		found.v[i].index = i;
	ib_results_move(ret, &found);
	return 0;
}
