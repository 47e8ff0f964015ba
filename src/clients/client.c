/* SPDX-License-Identifier: Apache-2.0 */
/* The table of clients: recognition and reading. */
#include "clients/client.h"

#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"

const struct ib_client *const ib_clients[] = {
	&ib_client_requests,
	&ib_client_vllm_bench,
	&ib_client_inferencebench,
	&ib_client_hyperfine,
	&ib_client_pyperf,
	&ib_client_llama_bench,
	&ib_client_vllm_latency,
	&ib_client_vllm_throughput,
	&ib_client_mlperf,
	&ib_client_sglang,
	&ib_client_inference_perf,
	&ib_client_genai_bench,
	&ib_client_llmperf,
	&ib_client_llmd,
	&ib_client_aiperf,
	&ib_client_genai_perf,
	&ib_client_guidellm,
	NULL,
};

const struct ib_client *ib_client_recognise(const char *data, size_t n)
{
	const struct ib_head head = ib_head_of(data, n);

	for (size_t i = 0; head.n && ib_clients[i]; i++)
		if (ib_clients[i]->recognise(&head))
			return ib_clients[i];
	return NULL;
}

static int read_peeked(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct ib_peeked *p = arg;
	size_t k = p->head.n - p->head.at < n ? p->head.n - p->head.at : n, more = 0;
	int r = 0;

	memcpy(data, p->head.data + p->head.at, k);
	p->head.at += k;
	if (k < n)
		r = p->rest->read(p->rest->arg, (char *)data + k, n - k, &more, err);
	*ret_n = k + more;
	return r;
}

int ib_client_peek(const struct ib_source *in, char *data, size_t n, struct ib_peeked *p, struct ib_source *ret, struct ib_err *err)
{
	*p = (struct ib_peeked){.head = {.data = data}, .rest = in};
	*ret = (struct ib_source){.read = read_peeked, .arg = p};
	return in->read(in->arg, data, n, &p->head.n, err);
}

int ib_client_read_source(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_results struct ib_results found = {0};
	ib_auto_free char *head = ib_alloc(IB_HEAD_MAX);
	struct ib_peeked p;
	struct ib_source all;
	const struct ib_client *client;
	int r;

	*ret = (struct ib_results){0};
	r = ib_client_peek(in, head, IB_HEAD_MAX, &p, &all, err);
	if (r < 0)
		return r;
	client = ib_client_recognise(head, p.head.n);
	if (!client)
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "'%s' is not a result file of a known client", name);
	r = client->read(&all, name, &found, err);
	if (r < 0)
		return r;
	if (!found.n)
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s' holds no result", name);
	for (size_t i = 0; i < found.n; i++) {
		found.v[i].index = i;
		if (found.v[i].n_claims >= IB_CLAIMS_MAX) /* some may be left out: the false one among them */
			return ib_fail_at(err, IB_E_LIMIT, name, "'%s' holds more numbers than the limit of %d", name, IB_CLAIMS_MAX - 1);
	}
	ib_results_move(ret, &found);
	return 0;
}

int ib_client_read(const char *data, size_t n, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	int r = ib_client_read_source(&in, name, ret, err);

	if (r == 0)
		ib_results_derive(ret);
	return r;
}

/* For readers that need all bytes at once. */
int ib_client_slurp(const struct ib_source *in, const char *name, struct ib_buf *b, struct ib_err *err)
{
	ib_auto_free char *part = ib_alloc(IB_HEAD_MAX);
	size_t n = IB_HEAD_MAX;

	while (n == IB_HEAD_MAX) {
		int r = in->read(in->arg, part, IB_HEAD_MAX, &n, err);

		if (r < 0)
			return r;
		ib_buf_add(b, part, n);
		r = ib_buf_check(b, name, err);
		if (r < 0)
			return r;
	}
	return 0;
}
