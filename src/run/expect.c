/* SPDX-License-Identifier: Apache-2.0 */
/* Is what a run's client says about its requests what was expected? */
#include "run/expect.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

struct row {
	struct ib_record *record;
	const char *key;
};

static void conclude(const struct row *row, const char *expected, const char *found, enum ib_expectation_status status)
{
	ib_record_add_expectation(row->record, row->key, expected, found, status);
	if (status != IB_EXPECT_MET && strcmp(row->key, "exit_status") != 0) {
		ib_auto_free char *reason = ib_asprintf("expectation:%s", row->key);

		ib_record_fail(row->record, reason);
	}
}

/* least: found may be more. */
static void compare(struct ib_record *record, const char *key, int64_t expected, int64_t found, bool least)
{
	struct row row = {record, key};
	ib_auto_free char *e = ib_asprintf("%" PRId64, expected);
	ib_auto_free char *f = found == IB_NONE ? NULL : ib_asprintf("%" PRId64, found);
	bool met = least ? found >= expected : found == expected;

	conclude(&row, e, f, found == IB_NONE ? IB_EXPECT_UNKNOWN : met ? IB_EXPECT_MET : IB_EXPECT_UNMET);
}

static void compare_rate(struct ib_record *record, double least)
{
	struct row row = {record, "success_rate_min"};
	int64_t n = record->requests.attempted, ok = record->requests.succeeded;
	double rate = n > 0 && ok != IB_NONE ? (double)ok / (double)n : NAN;
	ib_auto_free char *f = isnan(rate) ? NULL : ib_asprintf("%.6g", rate);
	ib_auto_free char *e = ib_asprintf("%.6g", least);

	conclude(&row, e, f, isnan(rate) ? IB_EXPECT_UNKNOWN : rate >= least ? IB_EXPECT_MET : IB_EXPECT_UNMET);
}

static void compare_server(struct ib_record *record)
{
	struct row row = {record, "server_output_tokens"};
	int64_t client = record->requests.output_tokens, server = record->server_output_tokens;
	ib_auto_free char *e = client == IB_NONE ? ib_strdup("as many as the client reports") : ib_asprintf("%" PRId64, client);
	ib_auto_free char *f = server == IB_NONE ? NULL : ib_asprintf("%" PRId64, server);

	conclude(&row, e, f, client == IB_NONE || server == IB_NONE ? IB_EXPECT_UNKNOWN : client == server ? IB_EXPECT_MET : IB_EXPECT_UNMET);
}

void ib_expect_judge(const struct ib_contract_expect *expect, int64_t files, struct ib_record *record)
{
	compare(record, "exit_status", expect->exit_status, record->exit.status, false);
	if (expect->attempts != IB_UNSET)
		compare(record, "attempts", expect->attempts, record->requests.attempted, false);
	if (!isnan(expect->success_rate_min))
		compare_rate(record, expect->success_rate_min);
	if (expect->output_tokens != IB_UNSET)
		compare(record, "output_tokens", expect->output_tokens, record->requests.output_tokens, false);
	if (expect->output_tokens_min != IB_UNSET)
		compare(record, "output_tokens_min", expect->output_tokens_min, record->requests.output_tokens, true);
	if (expect->server_output_tokens)
		compare_server(record);
	if (expect->output_files_min != IB_UNSET)
		compare(record, "output_files_min", expect->output_files_min, files, true);
	if (isnan(expect->success_rate_min))
		ib_expect_honest_status(record);
}

void ib_expect_honest_status(struct ib_record *record)
{
	const struct ib_record_requests *q = &record->requests;
	bool failed = q->failed > 0 || q->timed_out > 0 || q->unaccounted > 0; /* IB_NONE is below 0 */
	bool none = q->attempted > 0 && q->succeeded == 0;

	if (record->exit.status == 0 && (failed || none))
		ib_record_fail(record, "errors_with_status_0");
}

int ib_expect_step(void *arg, struct ib_run *run, struct ib_err *err)
{
	int64_t input_tokens, files;
	int r = ib_expect_read(run, &input_tokens, &files, err);

	(void)arg;
	if (r < 0)
		return r;
	ib_expect_honest_status(run->record);
	return 0;
}
