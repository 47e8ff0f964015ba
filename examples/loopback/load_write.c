/* SPDX-License-Identifier: Apache-2.0 */
/* Records as ib-requests(5), and a summary for people. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/str.h"
#include "examples/loopback/load.h"
#include "examples/loopback/loopback.h"

static const char *const outcome_names[] = {[LD_INCOMPLETE] = "incomplete", [LD_OK] = "ok", [LD_ERROR] = "error", [LD_TIMEOUT] = "timeout"};

static void set_number(json_t *o, const char *key, int64_t v)
{
	ib_json_set(o, key, v == LD_NONE ? NULL : json_integer(v));
}

static void set_text(json_t *o, const char *key, const char *s)
{
	ib_json_set_str(o, key, s && *s ? s : NULL);
}

static json_t *fingerprints(const struct ld_run *r, bool *synthetic)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < r->plan->n; i++) {
		const char *f = r->plan->v[i].fingerprint;
		bool known = !*f;

		for (size_t k = 0; k < json_array_size(list) && !known; k++)
			known = strcmp(json_string_value(json_array_get(list, k)), f) == 0;
		if (!known)
			ib_json_add_str(list, f);
		*synthetic = *synthetic || ib_starts(f, LB_SYNTHETIC);
	}
	return list;
}

static json_t *args_json(const struct ld_run *r)
{
	const struct ld_config *c = r->config;
	int64_t measured = (int64_t)(r->plan->n - r->plan->warmups_n);
	int64_t cap = c->max_concurrency;
	json_t *a = ib_json_object();

	if (cap == LD_NONE && measured > LD_WORKERS_MAX)
		cap = LD_WORKERS_MAX; /* not asked for, but there */
	set_text(a, "model", r->model);
	ib_json_set_int(a, "seed", c->seed);
	ib_json_set_int(a, "num_prompts", measured);
	ib_json_set_int(a, "num_warmups", c->num_warmups);
	set_number(a, "max_concurrency", cap);
	ib_json_set(a, "request_rate_hz", c->request_rate_hz > 0 ? json_real(c->request_rate_hz) : NULL);
	set_number(a, "input_tokens", c->workload ? LD_NONE : c->input_tokens);
	set_number(a, "output_tokens", c->workload ? LD_NONE : c->output_tokens);
	ib_json_set_int(a, "timeout_ns", c->timeout_ns);
	ib_json_set_bool(a, "stream", true);
	return a;
}

static json_t *header_json(const struct ld_run *r)
{
	const struct ld_plan *p = r->plan;
	json_t *h = ib_json_object();
	json_t *client = ib_json_object();
	json_t *endpoint = ib_json_object();
	json_t *window = NULL;
	json_t *workload = NULL;
	bool synthetic = ib_starts(r->version, LB_SYNTHETIC);
	char at[IB_TIME_LEN];

	ib_time_text(r->origin_wall_ns, 9, at);
	ib_json_set_str(client, "name", "ib-load");
	ib_json_set_str(client, "version", PACKAGE_VERSION);
	ib_json_set_str(endpoint, "url", r->config->url);
	ib_json_set_str(endpoint, "api", r->config->chat ? "chat" : "completions");
	set_text(endpoint, "version", r->version);
	ib_json_set(endpoint, "system_fingerprints", fingerprints(r, &synthetic));
	if (r->window_start_ns != LD_NONE) {
		window = ib_json_object();
		ib_json_set_int(window, "start_ns", r->window_start_ns - r->origin_ns);
		ib_json_set_int(window, "end_ns", r->window_end_ns - r->origin_ns);
	}
	if (r->config->workload) {
		workload = ib_json_object();
		ib_json_set_str(workload, "path", r->config->workload);
		ib_json_set_str(workload, "sha256", p->workload_sha256);
		ib_json_set_int(workload, "prompts", p->workload_prompts);
	}
	ib_json_set_str(h, "schema", "urn:ibtools:requests:v1");
	ib_json_set(h, "client", client);
	ib_json_set(h, "converter", NULL);
	ib_json_set_str(h, "origin_at", at);
	ib_json_set(h, "window", window);
	ib_json_set_bool(h, "complete", r->signal == 0);
	ib_json_set(h, "synthetic", synthetic ? json_true() : NULL);
	ib_json_set(h, "endpoint", endpoint);
	ib_json_set(h, "workload", workload);
	ib_json_set(h, "args", args_json(r));
	return h;
}

static json_t *gaps_json(const struct ld_request *q)
{
	json_t *list = NULL;

	if (q->pieces == 0)
		return NULL;
	list = ib_json_array();
	for (size_t i = 0; i < q->itl_n; i++)
		ib_json_add(list, json_integer(q->itl_ns[i]));
	return list;
}

/* The server's count where it gave one, else the number of pieces with text. */
static void set_tokens(json_t *o, const struct ld_request *q)
{
	bool usage = q->output_tokens != LD_NONE;
	int64_t out = q->output_tokens;
	const char *source = usage ? "usage" : NULL;

	if (!usage && q->pieces > 0) {
		out = q->pieces;
		source = "chunks";
	}
	set_number(o, "input_tokens", q->input_tokens);
	set_number(o, "output_tokens_asked", q->output_tokens_asked);
	set_number(o, "output_tokens", out);
	ib_json_set_str(o, "token_source", source);
}

static json_t *request_json(const struct ld_run *r, const struct ld_request *q)
{
	json_t *o = ib_json_object();
	char hex[IB_HEX_LEN];

	ib_sha256_of(q->prompt, strlen(q->prompt), hex);
	ib_json_set_int(o, "index", q->index);
	ib_json_set_bool(o, "warmup", q->warmup);
	set_number(o, "start_ns", q->start_ns == LD_NONE ? LD_NONE : q->start_ns - r->origin_ns);
	set_number(o, "queue_ns", q->queue_ns);
	set_number(o, "ttft_ns", q->ttft_ns);
	ib_json_set(o, "itl_ns", gaps_json(q));
	set_number(o, "e2e_ns", q->e2e_ns);
	set_number(o, "input_tokens_asked", q->input_tokens_asked);
	set_tokens(o, q);
	ib_json_set_str(o, "outcome", outcome_names[q->outcome]);
	set_number(o, "http_status", q->http_status ? q->http_status : LD_NONE);
	set_text(o, "error_class", q->error_class);
	set_text(o, "error", q->error);
	set_text(o, "finish_reason", q->finish_reason);
	ib_json_set_str(o, "prompt_sha256", hex);
	return o;
}

static void add_line(struct ib_buf *b, json_t *j)
{
	ib_auto_json json_t *owned = j;

	ib_json_write(owned, b);
	ib_buf_addc(b, '\n');
}

int ld_write(const struct ld_run *r, const char *path, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(2000u << 20);
	int e;

	add_line(&b, header_json(r));
	for (size_t i = 0; i < r->plan->n; i++)
		add_line(&b, request_json(r, &r->plan->v[i]));
	e = ib_buf_check(&b, "the records", err);
	if (e == 0)
		e = ib_write_file(AT_FDCWD, path, b.data, b.len, 0644, false, err);
	return e;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Linear interpolation between the two nearest of n sorted values, in milliseconds. */
static double percentile_ms(const int64_t *v, size_t n, double p)
{
	double at = (double)(n - 1) * p;
	size_t i = (size_t)at;
	double low = (double)v[i];
	double high = (double)v[i + 1 < n ? i + 1 : i];

	return (low + (high - low) * (at - (double)i)) / 1e6;
}

void ld_summary(const struct ld_run *r)
{
	const struct ld_plan *p = r->plan;
	size_t measured = p->n - p->warmups_n;
	ib_auto_free int64_t *ttft = ib_alloc((measured + 1) * sizeof(*ttft));
	size_t counts[4] = {0}, n = 0, counted = 0;
	int64_t tokens = 0;
	double seconds = (double)(r->window_end_ns - r->window_start_ns) / 1e9;

	for (size_t i = p->warmups_n; i < p->n; i++) {
		const struct ld_request *q = &p->v[i];

		counts[q->outcome]++;
		if (q->outcome == LD_OK && q->ttft_ns != LD_NONE)
			ttft[n++] = q->ttft_ns;
		if (q->outcome == LD_OK && q->output_tokens != LD_NONE) {
			tokens += q->output_tokens;
			counted++;
		}
	}
	printf("endpoint   %s %s\n", r->config->url, r->version[0] ? r->version : "(says no version)");
	printf("requests   %zu asked, %zu ok, %zu failed, %zu timed out, %zu incomplete\n", measured, counts[LD_OK], counts[LD_ERROR], counts[LD_TIMEOUT],
	       counts[LD_INCOMPLETE]);
	if (r->window_start_ns == LD_NONE || r->config->warm_only)
		return;
	printf("window     %.3f s, %.2f ok/s, ", seconds, (double)counts[LD_OK] / seconds);
	if (counted == counts[LD_OK])
		printf("%.1f output tokens/s\n", (double)tokens / seconds);
	else
		printf("- output tokens/s (the endpoint did not count them)\n");
	qsort(ttft, n, sizeof(*ttft), by_value);
	if (n == 0)
		printf("TTFT       -\n");
	else if (n < 20) /* too few for a p95 */
		printf("TTFT       p50 %.2f ms, max %.2f ms (n = %zu)\n", percentile_ms(ttft, n, 0.50), percentile_ms(ttft, n, 1), n);
	else
		printf("TTFT       p50 %.2f ms, p95 %.2f ms (n = %zu)\n", percentile_ms(ttft, n, 0.50), percentile_ms(ttft, n, 0.95), n);
}
