/* SPDX-License-Identifier: Apache-2.0 */
/* Collectors that call libraries which may hang or crash: the calls are made in a child, which answers in JSON lines. */
#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/spawn.h"
#include "collectors/collector.h"

struct call {
	struct ib_ctx *ctx;
	const struct ib_answer_job *job;
};

static int in_child(void *arg, int fd)
{
	const struct call *call = arg;

	return call->job->run(call->ctx, call->job->arg, fd);
}

void ib_answer_emit(int fd, const json_t *out)
{
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);

	ib_json_write(out, &text);
	ib_buf_addc(&text, '\n');
	if (text.overflow || ib_write_all(fd, ib_buf_str(&text), text.len, "answer", NULL) < 0)
		_exit(1);
}

/* Every whole line is one answer; a torn last one is left out. */
static int merge_lines(const struct ib_answer_job *job, const struct ib_buf *text, json_t *out, struct ib_err *err)
{
	const char *line = ib_buf_str(text), *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		ib_auto_json json_t *answer = NULL;
		int r = ib_json_load(line, (size_t)(end - line), job->name, &answer, err);

		if (r < 0)
			return r;
		ib_leaf_merge(out, answer);
	}
	return 0;
}

int ib_answer_run(struct ib_ctx *ctx, const struct ib_answer_job *job, json_t *out, struct ib_err *err)
{
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	struct call call = {ctx, job};
	struct ib_child_end end;
	int r = ib_child_call(in_child, &call, job->timeout_ns, &text, &end, err);

	if (r == 0 && !end.overflow)
		r = merge_lines(job, &text, out, err);
	if (r < 0)
		return r;
	if (end.timed_out)
		return ib_fail(err, IB_E_TIMEOUT, 0, "'%s' gave no answer within %.1f s and was killed", job->name, (double)job->timeout_ns / (double)IB_NS);
	if (end.overflow)
		return ib_fail(err, IB_E_LIMIT, 0, "'%s' answered with more than %u bytes and was killed", job->name, IB_JSON_MAX);
	if (end.signal)
		return ib_fail(err, IB_E_IO, 0, "'%s' was ended by signal %d (SIG%s)", job->name, end.signal, sigabbrev_np(end.signal));
	if (end.status != 0)
		return ib_fail(err, IB_E_IO, 0, "'%s' failed with status %d", job->name, end.status);
	return 0;
}

struct question {
	const struct ib_answer_job *job;
	struct ib_err *err;
	int r;
};

static json_t *ask(struct ib_ctx *ctx, void *arg)
{
	struct question *q = arg;
	json_t *answer = ib_leaf_out();

	q->r = ib_answer_run(ctx, q->job, answer, q->err);
	return answer;
}

int ib_answer_ask(struct ib_ctx *ctx, const struct ib_answer_job *job, json_t *out, bool *ret_known, struct ib_err *err)
{
	struct question q = {.job = job, .err = err};
	ib_auto_json json_t *answer = ib_live_ask(ctx, job->name, ask, &q);

	*ret_known = answer != NULL;
	if (answer)
		ib_leaf_merge(out, answer);
	return q.r;
}
