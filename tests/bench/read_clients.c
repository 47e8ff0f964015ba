/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one result file, derives its claims, and says how long that took and how much memory. For bench-clients.sh. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "clients/client.h"
#include "json/pick.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(const char *what, double since)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("%s %.3f s, peak %ld MB\n", what, now_s() - since, u.ru_maxrss >> 10);
}

/* The reader alone: every document read over. */
static int pass_over(const struct ib_source *in, const char *path, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.sequence = true, .literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, path, &opts);
	struct ib_token t;
	bool more = true;
	int r = 0;

	while (r == 0 && more) {
		r = ib_stream_document(s, &more, err);
		if (r == 0 && more)
			r = ib_stream_skip(s, err);
		if (r == 0 && more)
			r = ib_stream_next(s, &t, err);
	}
	return r;
}

/* Records alone state nothing: then the statistics that their client would. */
static void show(const struct ib_result *r)
{
	const struct ib_formula *const all[] = {r->ttft, r->tpot, r->itl, r->e2e, &ib_input_length, &ib_output_length};

	for (size_t i = 0; i < IB_LEN(all); i++) {
		struct ib_quantile q[] = {{50, IB_RULE_LINEAR, 0}, {99, IB_RULE_LINEAR, 0}};
		ib_auto_series struct ib_series s = {0};
		struct ib_moments m;

		if (!all[i] || !all[i]->series)
			continue;
		all[i]->series(&r->columns, &s);
		m = ib_series_moments(&s);
		ib_series_quantiles(&s, q, IB_LEN(q));
		printf("%s %.17g %.17g %.17g %.17g\n", all[i]->name, m.mean, q[0].value, m.std, q[1].value);
	}
}

int main(int argc, char **argv)
{
	ib_auto_fd int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct ib_source_fd from = {.fd = fd, .name = argv[1]};
	const struct ib_source in = ib_source_from_fd(&from);
	ib_auto_results struct ib_results results = {0};
	struct ib_err err = {0};
	double began = now_s();
	int r;

	if (fd < 0)
		return 2;
	if (argc > 2) {
		r = pass_over(&in, argv[1], &err);
		report("reading over it", began);
	} else {
		r = ib_client_read_source(&in, argv[1], &results, &err);
		report("reading", began);
		ib_results_derive(&results);
		for (size_t i = 0; i < results.n; i++)
			if (!results.v[i].n_claims)
				show(&results.v[i]);
		report("reading and deriving", began);
		for (size_t i = 0; i < results.n; i++)
			for (size_t k = 0; k < results.v[i].n_claims; k++)
				printf("%s %.17g %s\n", results.v[i].claims[k].key, results.v[i].claims[k].derived.value,
				       ib_claim_status_name(results.v[i].claims[k].status));
	}
	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	return r < 0;
}
