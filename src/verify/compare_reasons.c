/* SPDX-License-Identifier: Apache-2.0 */
/* Why two results are not comparable. */
#include "verify/compare_reasons.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

#define FAILED_WITHIN 0.01
#define TOKENS_WITHIN 0.01
#define HITS_WITHIN 0.02

static const struct {
	const char *code, *reason;
} codes[IB_NC_CODES] = {
	{"NC_FORMULA", "their times follow other formulas"},
	{"NC_CLIENT", "another client, or version of it"},
	{"NC_AMENDED", "the contract was amended between them"},
	{"NC_STATE", "one did not go to its end, was excluded, or is diagnostic"},
	{"NC_SYNTHETIC", "one measured a stand-in"},
	{"NC_CACHE", "other cache conditions, or other evidence for them"},
	{"NC_FAILURES", "other shares of failed requests: survivors only"},
	{"NC_WORKLOAD", "another workload was sent"},
	{"NC_TOKENS", "not the same work: token totals more than 1 % apart"},
	{"NC_MODEL", "another model was asked for"},
	{"NC_BUILD", "another build of server, driver or kernel"},
	{"NC_HARDWARE", "another machine"},
	{"NC_OVERLAP", "they were measured at the same time"},
};

const char *ib_nc_code(size_t bit)
{
	return codes[bit].code;
}

const char *ib_nc_reason(size_t bit)
{
	return codes[bit].reason;
}

void ib_nc_list(struct ib_buf *b, unsigned why)
{
	bool any = false;

	for (size_t i = 0; i < IB_NC_CODES; i++)
		if (why & (1u << i)) {
			ib_buf_addf(b, "%s%s", any ? " " : "", codes[i].code);
			any = true;
		}
}

/* --- what a group means to vary --- */

static unsigned varied_by(const char *name)
{
	static const struct {
		const char *word;
		unsigned bits;
	} words[] = {
		{"cache", IB_NC_CACHE},
		{"model", IB_NC_MODEL | IB_NC_TOKENS},
		{"precision", IB_NC_MODEL},
		{"dtype", IB_NC_MODEL},
		{"quant", IB_NC_MODEL},
		{"workload", IB_NC_WORKLOAD | IB_NC_TOKENS},
		{"dataset", IB_NC_WORKLOAD | IB_NC_TOKENS},
		{"prompt", IB_NC_WORKLOAD | IB_NC_TOKENS},
		{"len", IB_NC_TOKENS},
		{"token", IB_NC_TOKENS},
		{"input", IB_NC_TOKENS},
		{"output", IB_NC_TOKENS},
		{"requests", IB_NC_TOKENS},
		{"engine", IB_NC_BUILD},
		{"version", IB_NC_BUILD},
		{"build", IB_NC_BUILD},
		{"driver", IB_NC_BUILD},
		{"kernel", IB_NC_BUILD},
		{"gpu", IB_NC_HARDWARE | IB_NC_BUILD},
		{"machine", IB_NC_HARDWARE | IB_NC_BUILD},
		{"hardware", IB_NC_HARDWARE | IB_NC_BUILD},
		{"node", IB_NC_HARDWARE | IB_NC_BUILD},
		{"client", IB_NC_CLIENT | IB_NC_FORMULA},
	};
	unsigned bits = 0;

	for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(name, words[i].word))
			bits |= words[i].bits;
	return bits;
}

static unsigned intended(const json_t *group)
{
	const json_t *varies = json_object_get(group, "varies");
	json_t *matrix = json_object_get(group, "matrix"), *values, *one;
	const char *name;
	unsigned bits = 0;
	size_t i;

	json_object_foreach(matrix, name, values)
		bits |= varied_by(name);
	json_array_foreach(varies, i, one)
		bits |= varied_by(json_string_value(one));
	return bits;
}

/* --- one reason each --- */

static unsigned when(bool yes, unsigned bit)
{
	return yes ? bit : 0;
}

/* Both known and different. */
static bool other(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static bool other_tokens(int64_t a, int64_t b)
{
	double x = (double)a, y = (double)b;

	return a != IB_NOT_IN_FILE && b != IB_NOT_IN_FILE && fabs(x - y) > TOKENS_WITHIN * fmax(x, y);
}

/* Requests that did not succeed; NaN: not in the file. */
static double failed(const struct ib_requests *q)
{
	if (q->attempted <= 0 || q->succeeded == IB_NOT_IN_FILE)
		return NAN;
	return 1 - (double)q->succeeded / (double)q->attempted;
}

static double hit_share(const struct ib_context *c)
{
	const struct ib_window w = {.context = c, .output_tokens = NAN};

	return !c->before.file || !c->after.file || ib_window_trouble(&w) ? NAN : ib_window_hits(&w) / ib_window_queries(&w);
}

static unsigned of_results(const struct ib_member *a, const struct ib_member *b)
{
	const struct ib_result *x = a->res, *y = b->res;
	unsigned why = 0;

	why |= when(x->ttft != y->ttft || x->tpot != y->tpot || x->itl != y->itl || x->e2e != y->e2e, IB_NC_FORMULA);
	why |= when(x->client != y->client || other(x->client_version, y->client_version) || other(x->schema_id, y->schema_id), IB_NC_CLIENT);
	why |= when(fabs(failed(&x->requests) - failed(&y->requests)) > FAILED_WITHIN, IB_NC_FAILURES);
	why |= when(other_tokens(x->input_tokens, y->input_tokens) || other_tokens(x->output_tokens, y->output_tokens), IB_NC_TOKENS);
	why |= when(other(ib_audit_setting(a->run, x, IB_SET_MODEL), ib_audit_setting(b->run, y, IB_SET_MODEL)), IB_NC_MODEL);
	why |= when(other(ib_audit_setting(a->run, x, IB_SET_DATASET), ib_audit_setting(b->run, y, IB_SET_DATASET)), IB_NC_WORKLOAD);
	why |= when(!x->synthetic != !y->synthetic, IB_NC_SYNTHETIC);
	why |= when(other(a->run->context->before.engine, b->run->context->before.engine), IB_NC_BUILD);
	why |= when(fabs(hit_share(a->run->context) - hit_share(b->run->context)) > HITS_WITHIN, IB_NC_CACHE);
	return why;
}

static bool overlap(const struct ib_record *x, const struct ib_record *y)
{
	if (x->time.started_ns == IB_NONE || x->time.finished_ns == IB_NONE || y->time.started_ns == IB_NONE || y->time.finished_ns == IB_NONE)
		return false;
	return x->time.started_ns < y->time.finished_ns && y->time.started_ns < x->time.finished_ns;
}

static bool other_workload(const struct ib_record *x, const struct ib_record *y)
{
	for (size_t i = 0; i < x->workloads_n; i++)
		for (size_t k = 0; k < y->workloads_n; k++)
			if (ib_streq(x->workloads[i].name, y->workloads[k].name) && strcmp(x->workloads[i].sha256, y->workloads[k].sha256) != 0)
				return true;
	return false;
}

static bool other_cache(const struct ib_record *x, const struct ib_record *y)
{
	bool odd = (x->cache.evidence == IB_CONTRADICTED) != (y->cache.evidence == IB_CONTRADICTED);

	return odd || !ib_streq(x->cache.condition, y->cache.condition);
}

bool ib_compare_aside(const struct ib_audit_run *run)
{
	return run->run && (run->run->state != IB_STATE_COMPLETED || run->run->exclusion);
}

static bool diagnostic(const struct ib_audit_run *run)
{
	return json_is_true(json_object_get(run->group, "diagnostic"));
}

static unsigned of_captures(const struct ib_study_view *s, const struct ib_study_run *a, const struct ib_study_run *b)
{
	static const enum ib_fact_key build[] = {IB_FACT_KERNEL, IB_FACT_GPU_DRIVER, IB_FACT_CUDA, IB_FACT_GIT_COMMIT};
	static const enum ib_fact_key machine[] = {IB_FACT_NODE, IB_FACT_CPU, IB_FACT_GPU, IB_FACT_GPU_UUIDS, IB_FACT_MEMORY_BYTES};
	const struct ib_facts *x = ib_study_capture(s, a->record.capture_node), *y = ib_study_capture(s, b->record.capture_node);
	unsigned why = when(other(a->before.v[IB_FACT_SERVER_VERSION], b->before.v[IB_FACT_SERVER_VERSION]), IB_NC_BUILD);

	for (size_t i = 0; x && y && i < sizeof(build) / sizeof(build[0]); i++)
		why |= when(other(x->v[build[i]], y->v[build[i]]), IB_NC_BUILD);
	for (size_t i = 0; x && y && i < sizeof(machine) / sizeof(machine[0]); i++)
		why |= when(other(x->v[machine[i]], y->v[machine[i]]), IB_NC_HARDWARE);
	return why;
}

static unsigned of_runs(const struct ib_study_view *s, const struct ib_audit_run *a, const struct ib_audit_run *b)
{
	const struct ib_record *x = &a->run->record, *y = &b->run->record;
	const struct ib_entry *m, *n;
	unsigned why = when(ib_compare_aside(a) || ib_compare_aside(b) || diagnostic(a) != diagnostic(b), IB_NC_STATE);

	if (a->run->start && b->run->start) {
		m = ib_study_contract_at(s, a->run->start->e.seq, NULL);
		n = ib_study_contract_at(s, b->run->start->e.seq, NULL);
		why |= when(m != n, IB_NC_AMENDED);
	}
	if (!a->run->has_record || !b->run->has_record)
		return why;
	why |= when(other_cache(x, y), IB_NC_CACHE);
	why |= when(other_workload(x, y), IB_NC_WORKLOAD);
	why |= when(x->synthetic != IB_NONE && y->synthetic != IB_NONE && x->synthetic != y->synthetic, IB_NC_SYNTHETIC);
	why |= when(overlap(x, y), IB_NC_OVERLAP);
	return why | of_captures(s, a->run, b->run);
}

unsigned ib_compare_reasons(const struct ib_audit_view *v, const struct ib_member *a, const struct ib_member *b, bool across)
{
	unsigned why = of_results(a, b);

	if (a->run->run && b->run->run && a->run != b->run)
		why |= of_runs(v->study, a->run, b->run);
	return across ? why & ~intended(b->run->group) : why;
}
