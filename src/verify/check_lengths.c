/* SPDX-License-Identifier: Apache-2.0 */
/* A16: prompts and answers are as long as the label says: the command line, the requests themselves, the name of the file or directory. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

#define APART 0.05 /* share by which mean and label may differ */
#define LABEL_LEAST 8 /* smaller numbers in names count something else */

struct lengths {
	double asked, got;
	const char *from;   /* who asked */
	int64_t shorter, n; /* answers shorter than asked, of n; -1: not known */
};

/* The number behind "out", "osl" … in a name: "_out128", "-osl_128"; NaN: there is none, or more than one. */
static double label(const char *name, const char *const *words)
{
	double found = NAN;

	for (size_t w = 0; words[w]; w++)
		for (const char *c = strstr(name, words[w]); c; c = strstr(c + 1, words[w])) {
			const char *digits = c + strlen(words[w]);
			char *end;
			unsigned long v;

			if (c > name && isalpha((unsigned char)c[-1]))
				continue;
			digits += *digits == '-' || *digits == '_' || *digits == '=';
			if (!isdigit((unsigned char)*digits))
				continue;
			v = strtoul(digits, &end, 10);
			if (isalnum((unsigned char)*end) || v < LABEL_LEAST || v > 10000000)
				continue;
			if (found > 0 && fabs(found - (double)v) > 0)
				return NAN;
			found = (double)v;
		}
	return found;
}

/* Mean of a column over the successes. NaN: not all of them say. */
static double mean_each(const struct ib_columns *c, const int64_t *asked)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; asked && i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (asked[i] < 0)
			return NAN;
		sum += (double)asked[i];
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void ask(struct lengths *l, double asked, const char *from)
{
	if (isnan(l->asked) && asked > 0) {
		l->asked = asked;
		l->from = from;
	}
}

static struct lengths of(const struct ib_audit_run *run, const struct ib_result *res, bool output)
{
	static const char *const in_words[] = {"input", "isl", "in", NULL}, *const out_words[] = {"output", "osl", "out", NULL};
	const char *const *words = output ? out_words : in_words;
	int64_t tokens = output ? res->output_tokens : res->input_tokens, n = res->requests.succeeded;
	struct lengths l = {.asked = NAN, .got = tokens >= 0 && n > 0 ? (double)tokens / (double)n : NAN, .shorter = output ? res->requests.short_output : -1, .n = n};
	enum ib_setting_key key = output ? IB_SET_OUTPUT_LEN : IB_SET_INPUT_LEN;
	const char *slash = strrchr(res->file, '/');

	if (res->partial) /* totals may be of more requests than the records, or the other way round */
		l.got = mean_each(&res->columns, output ? res->columns.output_tokens : res->columns.input_tokens);
	ask(&l, mean_each(&res->columns, output ? res->columns.output_asked : res->columns.input_asked), "the requests");
	ask(&l, ib_audit_number(run, res, key), res->settings.v[key] ? res->settings.from[key] : run->context->settings.from[key]);
	ask(&l, label(slash ? slash + 1 : res->file, words), "the file's name");
	if (!run->run) /* a run's own directory has a name that ib-run gave it */
		ask(&l, label(run->name, words), "the directory's name");
	return l;
}

/* Lengths that vary at random by a share vary in their mean by less. */
static double allowed(const struct ib_audit_run *run, const struct ib_result *res, int64_t n)
{
	double range = ib_audit_number(run, res, IB_SET_LENGTH_RANGE);

	return APART + (range > 0 && n > 0 ? fmin(range, 1) / sqrt((double)n) : 0);
}

/* Returns whether the two could be compared. */
static bool compare(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, bool output, struct ib_findings *f)
{
	struct lengths l = of(run, res, output);
	const char *what = output ? "answers" : "prompts";
	struct ib_finding *one;
	char want[32], got[32];

	if (isnan(l.asked) || isnan(l.got))
		return false;
	if (fabs(l.got - l.asked) <= allowed(run, res, l.n) * l.asked)
		return true;
	if (l.shorter > 0)
		one = ib_check_fail(self, f, IB_OK, res->file, "%s have %.1f tokens on average where %s asked for %.0f: %" PRId64 " of %" PRId64 " are shorter", what, l.got,
				    l.from, l.asked, l.shorter, l.n);
	else
		one = ib_check_fail(self, f, IB_OK, res->file, "%s have %.1f tokens on average where %s asked for %.0f", what, l.got, l.from, l.asked);
	snprintf(want, sizeof(want), "%.6g", l.asked);
	snprintf(got, sizeof(got), "%.6g", l.got);
	ib_finding_values(one, want, got);
	return true;
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	bool in, out;

	if (res->requests.succeeded == 0)
		return;
	in = compare(self, run, res, false, f);
	out = compare(self, run, res, true, f);
	if (!in && !out)
		ib_check_skip(self, f, res->file, "how many tokens were asked for, or how many there were, is not known");
	else if (!out)
		ib_check_skip(self, f, res->file, "how many output tokens were asked for, or how many there were, is not known");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_lengths = {
	.id = "A16",
	.level = IB_FINDING_W,
	.title = "prompts and answers are as long as asked for",
	.reads = "mean input and output tokens of the successes against what the requests, the command line, the configuration or the name of file or directory "
		 "(\"_out128\") say: within 5 %, and what a random range of lengths explains",
	.means = "answers ended early or were cut, prompts were made by another tokenizer, or the label is wrong: rates and times are of other work than it says",
	.todo = "label the run with the lengths that were measured; compare it with runs of these only; look at the server's finish reasons",
	.audit = run,
};
