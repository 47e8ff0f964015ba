/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the contract's code: the table of keys, and the passes that a contract goes through. */
#ifndef IB_MODEL_CONTRACT_INTERNAL_H
#define IB_MODEL_CONTRACT_INTERNAL_H

#include "json/yaml.h"
#include "model/contract.h"
#include "model/template.h"

enum ib_field_type {
	IB_FIELD_TEXT,
	IB_FIELD_NAME,
	IB_FIELD_INTEGER,
	IB_FIELD_NUMBER,
	IB_FIELD_BOOLEAN,
	IB_FIELD_DURATION,
	IB_FIELD_SIZE,
	IB_FIELD_CHOICE,
	IB_FIELD_URL,
	IB_FIELD_DIGEST,
	IB_FIELD_PATH,
	IB_FIELD_COMMAND,
	IB_FIELD_TEXTS,
	IB_FIELD_NAMES,
	IB_FIELD_URLS,
	IB_FIELD_OPTIONS, /* map: name -> text */
	IB_FIELD_MATRIX,  /* map: name -> list of text */
	IB_FIELD_OBJECT,
	IB_FIELD_OBJECTS,
};

/* One key of a contract. */
struct ib_field {
	const char *key;
	const char *json; /* key of the typed form; NULL: the same */
	enum ib_field_type type;
	bool required;
	int64_t min, max;              /* of integers, durations (ns), sizes (bytes) and numbers, where max > 0 */
	const char *const *names;      /* of a choice, ends with NULL */
	const struct ib_field *fields; /* of an object */
	const char *fallback;          /* what an unset key means, written as in YAML; an object with "" is there with all its defaults */
};

/* The keys of the top level; a table ends with key NULL. */
extern const struct ib_field ib_contract_fields[];

/* YAML by the table into JSON: types, ranges, required and unknown keys. */
IB_MUST int ib_contract_typed(const struct ib_yaml *map, const struct ib_field *fields, const char *file, json_t **ret, struct ib_err *err);

/* What one key alone cannot tell: references, conditions, secrets, commands (see below). json is the typed form of y, without plan. */
IB_MUST int ib_contract_check(const struct ib_yaml *y, const json_t *json, const char *file, const struct ib_contract_options *options, struct ib_err *err);
/* Placeholders, ${env:NAME} and hosts in commands and URLs (part of ib_contract_check). */
IB_MUST int ib_contract_check_commands(const struct ib_yaml *y, const char *file, struct ib_err *err);
/* The cells of targets; plan is the list of slots. */
IB_MUST int ib_contract_check_targets(const struct ib_yaml *y, const json_t *plan, const char *file, struct ib_err *err);

/* Bytes that the slots of a plan may take. */
#define IB_CONTRACT_PLAN_MAX (8u << 20)

/* Appends the slots of one group (typed form) to plan, numbered on from its length. *budget, at first IB_CONTRACT_PLAN_MAX, shrinks. IB_E_USAGE: more than
 * IB_CONTRACT_SLOTS_MAX slots, budget used up, two cells that cannot be told apart. */
IB_MUST int ib_contract_plan_group(const json_t *group, json_t *plan, size_t *budget, struct ib_err *err);
/* The next output of SplitMix64. */
uint64_t ib_splitmix64(uint64_t *state);

#endif
