/* SPDX-License-Identifier: Apache-2.0 */
/* The way from a contract's YAML to its typed form; apart from contract.c, so that readers of the typed form need no YAML. */
#include "model/contract.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_internal.h"

/* 'varies' left out: all variables. */
static void fill_varies(json_t *groups)
{
	size_t i;
	json_t *g;

	json_array_foreach(groups, i, g) {
		json_t *varies = json_object_get(g, "varies");
		const char *key;
		json_t *v;

		if (json_array_size(varies) > 0)
			continue;
		json_object_foreach(json_object_get(g, "matrix"), key, v)
			ib_json_add_str(varies, key);
	}
}

static int plan_groups(const struct ib_yaml *y, const json_t *groups, const char *file, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *plan = ib_json_array();
	const struct ib_yaml *g = ib_yaml_get(y, "groups")->child;
	size_t budget = IB_CONTRACT_PLAN_MAX;

	for (size_t i = 0; i < json_array_size(groups); i++, g = g->next) {
		const struct ib_yaml *matrix = ib_yaml_get(g, "matrix");
		struct ib_err why;

		if (ib_contract_plan_group(json_array_get(groups, i), plan, &budget, &why) < 0)
			return ib_yaml_fail(err, file, matrix ? matrix->at : g->at, "%s", why.text);
	}
	*ret = ib_steal(&plan);
	return 0;
}

static int typed_form(const struct ib_yaml *y, const char *sha256, const char *file, const struct ib_contract_options *options, json_t **ret,
		      struct ib_err *err)
{
	ib_auto_json json_t *keys = NULL, *plan = NULL, *o = ib_json_object();
	int r;

	if (y->kind != IB_YAML_MAP)
		return ib_yaml_fail(err, file, y->at, "a contract must be a map: lines like 'study: name'");
	r = ib_contract_typed(y, ib_contract_fields, file, &keys, err);
	if (r == 0)
		r = ib_contract_check(y, keys, file, options, err);
	if (r == 0)
		r = plan_groups(y, json_object_get(keys, "groups"), file, &plan, err);
	if (r == 0)
		r = ib_contract_check_targets(y, plan, file, err);
	if (r < 0)
		return r;
	fill_varies(json_object_get(keys, "groups"));
	ib_json_set_str(o, "schema", IB_CONTRACT_SCHEMA);
	ib_json_set_str(o, "source_sha256", sha256);
	if (json_object_update(o, keys) < 0)
		return ib_fail(err, IB_E_INTERNAL, 0, "cannot put the contract together");
	ib_json_set(o, "plan", ib_steal(&plan));
	*ret = ib_steal(&o);
	return 0;
}

int ib_contract_parse(const char *data, size_t n, const char *name, const struct ib_contract_options *options, struct ib_contract *ret, struct ib_err *err)
{
	ib_auto_yaml struct ib_yaml *y = NULL;
	ib_auto_json json_t *json = NULL;
	char sha256[IB_HEX_LEN];
	int r = ib_yaml_load(data, n, name, &y, err);

	if (r < 0)
		return r;
	ib_sha256_of(data, n, sha256);
	r = typed_form(y, sha256, name, options, &json, err);
	if (r < 0)
		return r;
	r = ib_contract_from_json(json, name, ret, err);
	return r < 0 ? ib_wrap(err, "cannot read back the typed form") : 0;
}
