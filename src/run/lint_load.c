/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of the load: a cap that a rate never reaches, percentiles of too few requests, a number measured once. */
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/read.h"
#include "run/lint.h"

#define LEDGER_MAX (64u << 20)
#define OUTPUT_MAX (64u << 20) /* bytes of an earlier run's results that are read for its median */

/* --- earlier runs --- */

/* Bytes of the regular files below, or OUTPUT_MAX + 1 when it is no flat directory of that size. */
static int64_t output_bytes(int fd)
{
	ib_auto_dir DIR *d = ib_list_dir(fd, ".");
	int64_t n = 0;

	if (!d)
		return OUTPUT_MAX + 1;
	for (const struct dirent *e = readdir(d); e && n <= OUTPUT_MAX; e = readdir(d)) {
		struct stat st;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			n += st.st_size;
	}
	return n;
}

static double median_of(int study_fd, const char *run)
{
	ib_auto_free char *path = ib_asprintf("runs/%s/output", run);
	ib_auto_fd int fd = openat(study_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	ib_auto_outputs struct ib_outputs found = {0};
	struct ib_stat st;

	if (fd < 0 || output_bytes(fd) > OUTPUT_MAX || ib_client_read_dir(fd, &found, NULL) < 0 || found.results.n != 1 || !found.results.v[0].e2e)
		return NAN;
	st = ib_result_percentile(&found.results.v[0], found.results.v[0].e2e, 50);
	return st.state == IB_STAT_VALUE && st.value > 0 ? st.value : NAN;
}

static double last_of(const struct ib_lint_view *v, const struct ib_ledger_view *l, const char *group, char **ret_run)
{
	for (size_t i = l->runs_n; i-- > 0;) {
		const struct ib_ledger_run *run = &l->runs[i];
		double s;

		if (run->state != IB_STATE_COMPLETED || run->excluded || !ib_streq(run->group, group))
			continue;
		s = median_of(v->study_fd, run->id);
		if (!isnan(s))
			*ret_run = ib_strdup(run->id);
		return s;
	}
	return NAN;
}

double ib_lint_e2e(const struct ib_lint_view *v, const struct ib_contract_group *g, char **ret_run)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_ledger_view struct ib_ledger_view l = {0};
	double s;

	*ret_run = NULL;
	if (v->study_fd < 0 || ib_read_file(v->study_fd, "ledger.jsonl", &b, NULL) < 0 || ib_ledger_view_load(ib_buf_str(&b), b.len, &l, NULL) < 0)
		return NAN;
	s = last_of(v, &l, g->name, ret_run);
	return isnan(s) && g->gate ? last_of(v, &l, g->gate, ret_run) : s;
}

/* --- L05 --- */

/* A number that limits something: finite and positive. */
static double limit_of(const struct ib_lint_cell *c, enum ib_setting_key key)
{
	double n = ib_setting_number(&c->settings, key);

	return isfinite(n) && n > 0 ? n : NAN;
}

/* Requests in flight are rate times time in the system (Little): a cap that is never reached is no cap that was measured. */
static void one_cap(const struct ib_lint_view *v, const struct ib_lint_cell *c, double rate, double cap, struct ib_lint_out *out)
{
	ib_auto_free char *run = NULL;
	double e2e = ib_lint_e2e(v, c->group, &run);

	if (isnan(e2e))
		ib_lint_say(out, c->group, c->slot, "at %g requests/s the cap of %g is reached only when requests take longer than %.3g s each: else the cap is unused, and "
						    "nothing is measured at it", rate, cap, cap / rate);
	else if (rate * e2e < cap)
		ib_lint_say(out, c->group, c->slot, "%g requests/s will leave the cap of %g unused: at the %.3g s that a request took in run '%s' (median, end to end) "
						    "about %.2g are in flight", rate, cap, e2e, run, rate * e2e);
	else
		ib_lint_say(out, c->group, c->slot, "the cap of %g will keep %g requests/s from being reached: at the %.3g s that a request took in run '%s' they take "
						    "%.3g in flight, and wait in the client", cap, rate, e2e, run, rate * e2e);
}

static void look_cap(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->n; i++) {
		double rate = limit_of(&v->cells[i], IB_SET_RATE), cap = limit_of(&v->cells[i], IB_SET_CONCURRENCY);

		if (!isnan(rate) && !isnan(cap))
			one_cap(v, &v->cells[i], rate, cap, out);
	}
}

const struct ib_lint ib_lint_cap = {.id = "L05", .title = "a command has a finite rate or a cap, not both", .look = look_cap};

/* --- L06 --- */

/* The highest percentile that a text names ("ttft_p99_ms", "P99.9 TTFT"), or 0. */
static double percentile_in(const char *text)
{
	double highest = 0;

	for (const char *at = text; *at; at++) {
		char *end;
		double p;

		if ((*at != 'p' && *at != 'P') || (at > text && isalnum((unsigned char)at[-1])) || !isdigit((unsigned char)at[1]))
			continue;
		p = strtod(at + 1, &end);
		if (p > highest && p < 100)
			highest = p;
	}
	return highest;
}

/* Of gaps between tokens a run has many more samples than requests. */
static bool of_gaps(const char *metric)
{
	return strcasestr(metric, "itl") || strcasestr(metric, "inter") || strcasestr(metric, "icl");
}

/* The highest percentile that is wanted of a group. */
static const char *wanted(const struct ib_lint_view *v, const struct ib_contract_group *g, double *ret_p)
{
	const json_t *metrics = json_object_get(v->contract->json, "metrics");
	const char *which = NULL;

	*ret_p = 0;
	for (size_t i = 0; i < json_array_size(metrics) + v->contract->targets_n; i++) {
		bool target = i >= json_array_size(metrics);
		const struct ib_contract_target *t = target ? &v->contract->targets[i - json_array_size(metrics)] : NULL;
		const char *name = t ? t->metric : json_string_value(json_array_get(metrics, i));
		double p = of_gaps(name) || (t && strcmp(t->group, g->name) != 0) ? 0 : percentile_in(name);

		if (p > *ret_p) {
			*ret_p = p;
			which = name;
		}
	}
	return which;
}

static double requests_of(const struct ib_lint_cell *c)
{
	double n = ib_setting_number(&c->settings, IB_SET_REQUESTS);

	return isfinite(n) ? n : c->group->expect.attempts != IB_UNSET ? (double)c->group->expect.attempts : NAN;
}

static void look_samples(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct ib_lint_cell *c = &v->cells[i];
		double p, n = requests_of(c);
		const char *metric = wanted(v, c->group, &p);

		if (metric && !c->group->diagnostic && !isnan(n) && n < (double)ib_percentile_needs(p))
			ib_lint_say(out, c->group, c->slot, "%g requests are too few for '%s': p%g takes %zu, of fewer it is all but the maximum", n, metric, p,
				    ib_percentile_needs(p));
	}
}

const struct ib_lint ib_lint_samples = {.id = "L06", .title = "runs have enough requests for the percentiles that are wanted", .look = look_samples};

/* --- L07 --- */

static void look_repeats(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++)
		if (v->contract->groups[i].repeats == 1 && !v->contract->groups[i].diagnostic)
			ib_lint_say(out, &v->contract->groups[i], NULL, "each cell is run once: how far its numbers vary will not be known");
}

const struct ib_lint ib_lint_repeats = {.id = "L07", .title = "cells of headline groups are repeated", .look = look_repeats};
