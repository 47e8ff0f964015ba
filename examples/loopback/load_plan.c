/* SPDX-License-Identifier: Apache-2.0 */
/* What will be sent: generated prompts or a workload file, warm-ups, moments of arrival. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/str.h"
#include "examples/loopback/load.h"
#include "examples/loopback/loopback.h"

#define WORKLOAD_MAX (256u << 20)
#define WARMUP_SALT 0x7761726d75700000ULL /* warm-ups get other prompts than what is measured */
#define ARRIVAL_MAX_S 1e9 /* nobody waits 31 years; in nanoseconds it still fits */
#define ARRIVAL_SALT 0x6172726976616c00ULL

static struct ld_request *append(struct ld_plan *p)
{
	struct ld_request *q = &p->v[p->n++];

	*q = (struct ld_request){
		.due_ns = LD_NONE, .start_ns = LD_NONE, .end_ns = LD_NONE, .queue_ns = LD_NONE, .ttft_ns = LD_NONE, .e2e_ns = LD_NONE,
		.input_tokens = LD_NONE, .output_tokens = LD_NONE, .input_tokens_asked = LD_NONE, .output_tokens_asked = LD_NONE,
	};
	return q;
}

static void generate(struct ld_plan *p, const struct ld_config *c, uint64_t seed, int64_t n, bool warmup)
{
	for (int64_t i = 0; i < n; i++) {
		struct ld_request *q = append(p);
		struct ib_buf b = IB_BUF(16u << 20);

		lb_prompt(seed, (uint64_t)i, (size_t)c->input_tokens, &b);
		q->prompt = ib_buf_steal(&b);
		q->warmup = warmup;
		q->index = i;
		q->input_tokens_asked = c->input_tokens;
		q->output_tokens_asked = c->output_tokens;
	}
}

static int parse_line(struct ld_request *q, const struct ld_config *c, const char *line, size_t n, const char *where, struct ib_err *err)
{
	ib_auto_json json_t *j = NULL;
	const char *prompt;
	int r = ib_json_load(line, n, where, &j, err);

	if (r == 0)
		r = ib_get_str(j, where, "prompt", &prompt, err);
	if (r == 0)
		r = ib_get_int_opt(j, where, "input_tokens", 1, INT32_MAX, LD_NONE, &q->input_tokens_asked, err);
	if (r == 0)
		r = ib_get_int_opt(j, where, "output_tokens", 1, INT32_MAX, c->output_tokens, &q->output_tokens_asked, err);
	if (r < 0)
		return r;
	if (!*prompt)
		return ib_fail(err, IB_E_SYNTAX, 0, "%s: the prompt is empty", where);
	q->prompt = ib_strdup(prompt);
	return 0;
}

static size_t count_lines(const struct ib_buf *b)
{
	size_t n = b->len && b->data[b->len - 1] != '\n';

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

/* How many prompts to take from a workload of so many. */
static int choose_count(const struct ld_config *c, size_t lines, size_t *ret_n, struct ib_err *err)
{
	if (lines == 0 || lines > LD_REQUESTS_MAX)
		return ib_fail(err, IB_E_SYNTAX, 0, "workload '%s' holds %zu prompts; 1 to %d are possible", c->workload, lines, LD_REQUESTS_MAX);
	if (c->num_prompts != LD_NONE && (size_t)c->num_prompts > lines)
		return ib_fail(err, IB_E_USAGE, 0, "workload '%s' holds %zu prompts, %" PRId64 " are asked", c->workload, lines, c->num_prompts);
	*ret_n = c->num_prompts == LD_NONE ? lines : (size_t)c->num_prompts;
	return 0;
}

static int load_workload(struct ld_plan *p, const struct ld_config *c, const struct ib_buf *b, size_t n, struct ib_err *err)
{
	const char *at = b->data;
	char where[300];

	for (size_t i = 0; i < n; i++) {
		const char *end = memchr(at, '\n', (size_t)(b->data + b->len - at));
		struct ld_request *q = append(p);
		int r;

		if (!end)
			end = b->data + b->len;
		snprintf(where, sizeof(where), "%.200s: line %zu", c->workload, i + 1);
		r = parse_line(q, c, at, (size_t)(end - at), where, err);
		if (r < 0)
			return r;
		q->index = (int64_t)i;
		at = end + 1;
	}
	return 0;
}

static void set_arrivals(struct ld_plan *p, const struct ld_config *c)
{
	uint64_t state = lb_mix((uint64_t)c->seed, ARRIVAL_SALT);
	double at_s = 0;

	for (size_t i = p->warmups_n; i < p->n; i++) {
		/* (0, 1]: the logarithm exists */
		double u = (double)((lb_next(&state) >> 11) + 1) / 9007199254740992.0;

		at_s = fmin(at_s - log(u) / c->request_rate_hz, ARRIVAL_MAX_S);
		p->v[i].due_ns = (int64_t)(at_s * (double)IB_NS);
	}
}

int ld_plan_make(struct ld_plan *p, const struct ld_config *c, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(WORKLOAD_MAX);
	size_t n = c->num_prompts == LD_NONE ? 40 : (size_t)c->num_prompts;
	int r = 0;

	*p = (struct ld_plan){0};
	if (c->workload) {
		r = ib_read_file(AT_FDCWD, c->workload, &b, err);
		if (r < 0)
			return r;
		p->workload_prompts = (int64_t)count_lines(&b);
		ib_sha256_of(ib_buf_str(&b), b.len, p->workload_sha256);
		r = choose_count(c, (size_t)p->workload_prompts, &n, err);
		if (r < 0)
			return r;
	}
	if ((c->workload ? 0 : (int64_t)n) + c->num_warmups > WORKLOAD_MAX / LB_WORD_LEN / c->input_tokens)
		return ib_fail(err, IB_E_USAGE, 0, "that many prompts of %" PRId64 " tokens are more than the limit of %u MiB", c->input_tokens, WORKLOAD_MAX >> 20);
	p->v = ib_alloc((n + (size_t)c->num_warmups) * sizeof(*p->v));
	generate(p, c, lb_mix((uint64_t)c->seed, WARMUP_SALT), c->num_warmups, true);
	p->warmups_n = p->n;
	if (c->workload)
		r = load_workload(p, c, &b, n, err);
	else
		generate(p, c, (uint64_t)c->seed, (int64_t)n, false);
	if (r == 0 && c->request_rate_hz > 0)
		set_arrivals(p, c);
	return r;
}

int ld_plan_save(const struct ld_plan *p, const char *path, char ret_hex[65], struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(WORKLOAD_MAX);
	int r;

	for (size_t i = p->warmups_n; i < p->n; i++) {
		ib_auto_json json_t *j = ib_json_object();

		ib_json_set_str(j, "prompt", p->v[i].prompt);
		ib_json_set_int(j, "input_tokens", p->v[i].input_tokens_asked);
		ib_json_set_int(j, "output_tokens", p->v[i].output_tokens_asked);
		ib_json_write(j, &b);
		ib_buf_addc(&b, '\n');
	}
	r = ib_buf_check(&b, "workload", err);
	if (r == 0)
		r = ib_write_file(AT_FDCWD, path, ib_buf_str(&b), b.len, 0644, false, err);
	if (r == 0)
		ib_sha256_of(ib_buf_str(&b), b.len, ret_hex);
	return r;
}

void ld_plan_clear(struct ld_plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].prompt);
		free(p->v[i].itl_ns);
	}
	free(p->v);
	*p = (struct ld_plan){0};
}
