/* SPDX-License-Identifier: Apache-2.0 */
/* A contract as one struct: names, look-ups, writing and clearing. */
#include "model/contract.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_internal.h"

static const char *const condition_names[] = {
	[IB_CACHE_UNSPECIFIED] = "unspecified", [IB_CACHE_COLD] = "cold", [IB_CACHE_RESET] = "reset", [IB_CACHE_WARM] = "warm", [IB_CACHE_REUSE] = "reuse"};

const char *ib_condition_name(enum ib_condition c)
{
	return (size_t)c < IB_LEN(condition_names) ? condition_names[c] : "unspecified";
}

bool ib_condition_parse(const char *name, enum ib_condition *ret)
{
	for (size_t i = 0; i < IB_LEN(condition_names); i++)
		if (strcmp(condition_names[i], name) == 0) {
			*ret = (enum ib_condition)i;
			return true;
		}
	return false;
}

bool ib_name_valid(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n > 0 && n <= IB_NAME_MAX && !s[n] && s[0] != '_' && s[0] != '-';
}

int ib_contract_write(const struct ib_contract *c, struct ib_buf *ret, char ret_sha256[IB_HEX_LEN], struct ib_err *err)
{
	int r;

	ib_json_write_pretty(c->json, ret);
	r = ib_buf_check(ret, "the contract's typed form", err);
	if (r < 0)
		return r;
	ib_sha256_of(ib_buf_str(ret), ret->len, ret_sha256);
	return 0;
}

void ib_contract_clear(struct ib_contract *c)
{
	free(c->workloads);
	free(c->groups);
	free(c->slots);
	free(c->targets);
	free(c->withhold);
	if (c->json)
		json_decref(c->json);
	*c = (struct ib_contract){0};
}

const struct ib_contract_group *ib_contract_group(const struct ib_contract *c, const char *name)
{
	for (size_t i = 0; i < c->groups_n; i++)
		if (strcmp(c->groups[i].name, name) == 0)
			return &c->groups[i];
	return NULL;
}

const struct ib_contract_workload *ib_contract_workload(const struct ib_contract *c, const char *name)
{
	for (size_t i = 0; i < c->workloads_n; i++)
		if (strcmp(c->workloads[i].name, name) == 0)
			return &c->workloads[i];
	return NULL;
}

size_t ib_evidence_urls(const struct ib_contract_evidence *e)
{
	return e->metrics_url ? 1 : json_array_size(e->metrics_urls);
}

const char *ib_evidence_url(const struct ib_contract_evidence *e, size_t i)
{
	return e->metrics_url ? e->metrics_url : json_string_value(json_array_get(e->metrics_urls, i));
}
