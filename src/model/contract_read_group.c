/* SPDX-License-Identifier: Apache-2.0 */
/* One group of a contract's typed form. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_in.h"

static void read_hook(struct ib_in *group_cache, const char *key, struct ib_contract_hook *ret)
{
	struct ib_in in = ib_in_inner(group_cache, key);

	if (in.r == 0 && in.o) {
		ret->command = ib_in_command(&in, "command", false);
		ret->http = ib_in_text(&in, "http", false);
		ret->page_cache = ib_in_strings(&in, "page_cache");
		ret->restart = ib_in_truth_opt(&in, "restart", false);
		ret->timeout_ns = ib_in_number(&in, "timeout_ns", 1, INT64_MAX, INT64_MAX);
	}
	group_cache->r = in.r;
}

static bool counter_names(const json_t *counters)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)counters, key, v)
	{
		if (!json_is_array(v))
			return false;
		for (size_t i = 0; i < json_array_size(v); i++)
			if (!json_is_string(json_array_get(v, i)))
				return false;
	}
	return true;
}

static void read_evidence(struct ib_in *cache, struct ib_contract_group *group)
{
	struct ib_contract_evidence *ret = &group->evidence;
	struct ib_in in = ib_in_inner(cache, "evidence");

	if (in.r == 0 && in.o) {
		struct ib_in counters = ib_in_inner(&in, "counters");

		group->has_evidence = true;
		in.r = counters.r;
		ret->counters = counters.o;
		ret->engine = ib_in_text(&in, "engine", false);
		ret->metrics_url = ib_in_text(&in, "metrics_url", false);
		ret->metrics_urls = ib_in_strings(&in, "metrics_urls");
		ret->queries = ib_in_number(&in, "queries", 0, IB_IN_COUNT_MAX, IB_UNSET);
		ret->hits_max = ib_in_number(&in, "hits_max", 0, IB_IN_COUNT_MAX, 0);
		ret->hit_share_min = ib_in_real(&in, "hit_share_min");
		ret->files = ib_in_strings(&in, "files");
		ret->resident_share_min = ib_in_real(&in, "resident_share_min");
		ret->resident_share_max = ib_in_real(&in, "resident_share_max");
		if (in.r == 0 && !counter_names(ret->counters))
			in.r = ib_fail_at(in.err, IB_E_SYNTAX, in.where, "'%s': key 'counters' holds something else than lists of names", in.where);
		if (in.r == 0 && (ret->engine != NULL) != (ib_evidence_urls(ret) > 0))
			in.r = ib_fail_at(in.err, IB_E_SYNTAX, in.where, "'%s': evidence has one of 'engine' and a metrics URL without the other", in.where);
	}
	cache->r = in.r;
}

static void read_cache(struct ib_in *group, struct ib_contract_group *ret)
{
	struct ib_in in = ib_in_inner(group, "cache");

	if (in.r == 0 && in.o) {
		ret->condition = ib_in_condition(&in, "condition");
		ret->cache_reason = ib_in_text(&in, "reason", false);
		read_hook(&in, "reset", &ret->reset);
		read_hook(&in, "warmup", &ret->warmup);
		read_evidence(&in, ret);
	}
	group->r = in.r;
}

static void read_expect(struct ib_in *group, struct ib_contract_expect *ret)
{
	struct ib_in in = ib_in_inner(group, "expect");

	*ret = (struct ib_contract_expect){0, IB_UNSET, IB_UNSET, IB_UNSET, IB_UNSET, NAN, false};
	if (in.r == 0 && in.o) {
		ret->exit_status = ib_in_number(&in, "exit_status", 0, 255, 0);
		ret->attempts = ib_in_number(&in, "attempts", 0, IB_IN_COUNT_MAX, IB_UNSET);
		ret->output_tokens = ib_in_number(&in, "output_tokens", 0, IB_IN_COUNT_MAX, IB_UNSET);
		ret->output_tokens_min = ib_in_number(&in, "output_tokens_min", 0, IB_IN_COUNT_MAX, IB_UNSET);
		ret->output_files_min = ib_in_number(&in, "output_files_min", 0, IB_IN_COUNT_MAX, IB_UNSET);
		ret->success_rate_min = ib_in_real(&in, "success_rate_min");
		ret->server_output_tokens = ib_in_truth(&in, "server_output_tokens");
	}
	group->r = in.r;
}

int ib_contract_read_group(struct ib_in *in, struct ib_contract_group *ret)
{
	struct ib_in check;

	ret->name = ib_in_name(in, "name", true);
	ret->question = ib_in_text(in, "question", false);
	ret->diagnostic = ib_in_truth(in, "diagnostic");
	ret->matrix = ib_in_object_of(in, "matrix", true);
	ret->load = ib_in_text(in, "load", false);
	ret->repeats = ib_in_number(in, "repeats", 1, 1000, 0);
	ret->order = ib_in_text(in, "order", true);
	ret->seed = ib_in_number(in, "seed", 0, INT64_MAX, IB_UNSET);
	ret->gate = ib_in_name(in, "gate", false);
	ret->workload = ib_in_name(in, "workload", false);
	ret->command = ib_in_command(in, "command", true);
	ret->convert = ib_in_command(in, "convert", false);
	ret->timeout_ns = ib_in_number(in, "timeout_ns", 1, INT64_MAX, 0);
	ret->grace_ns = ib_in_number(in, "grace_ns", 1, INT64_MAX, 0);
	ret->no_progress_ns = ib_in_number(in, "no_progress_ns", 1, INT64_MAX, 0);
	ret->client = ib_in_text(in, "client", false);
	ret->pty = ib_in_truth_opt(in, "pty", false);
	ret->no_network = ib_streq(ib_in_text(in, "network", false), "none");
	ret->memory_bytes = ib_in_number(in, "memory_bytes", 1, INT64_MAX, IB_UNSET);
	check = ib_in_inner(in, "output_check");
	ret->output_check = check.o;
	read_cache(in, ret);
	read_expect(in, &ret->expect);
	if (!ret->client)
		ret->client = "command";
	if (in->r == 0 && ret->repeats == 0)
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key 'repeats' is missing", in->where);
	return in->r;
}
