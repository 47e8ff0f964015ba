/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of a study (man/ib-contract.5): from YAML to its typed form (urn:ibtools:contract:v1), and from there to one
 * struct. The plan's slots are part of the typed form. */
#ifndef IB_MODEL_CONTRACT_H
#define IB_MODEL_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "json/json.h"

#define IB_CONTRACT_SCHEMA "urn:ibtools:contract:v1"
#define IB_CONTRACT_SLOTS_MAX 10000
#define IB_NAME_MAX 32 /* characters of a name: [a-z0-9][a-z0-9_-]{0,31} */
#define IB_UNSET INT64_MIN /* a number that the contract does not give (the same as IB_NONE of a record) */

enum ib_condition { IB_CACHE_UNSPECIFIED, IB_CACHE_COLD, IB_CACHE_RESET, IB_CACHE_WARM, IB_CACHE_REUSE };

/* "cold" …; never NULL. */
const char *ib_condition_name(enum ib_condition c);
/* false when name is no condition. */
bool ib_condition_parse(const char *name, enum ib_condition *ret);
/* Is s a name, as contracts, groups, cells and variables have them? */
bool ib_name_valid(const char *s);

/* Is the host of a URL this machine or on a private network? false also where it cannot be told. */
bool ib_url_private(const char *url);

/* Strings and JSON values point into ib_contract.json. A command is an array of strings, with placeholders. */
struct ib_contract_hook {
	const json_t *command; /* or NULL */
	const char *http;      /* URL to POST to, or NULL */
	const json_t *page_cache; /* reset: array of paths of files to drop from the page cache, or NULL */
	bool restart;          /* reset: the server must be another process afterwards */
	int64_t timeout_ns;
};

struct ib_contract_evidence {
	const char *engine; /* "vllm", "sglang", "llamacpp", "custom", or NULL: no server counters */
	const char *metrics_url;    /* one of both where there is an engine: see ib_evidence_url() */
	const json_t *metrics_urls;
	const json_t *counters;     /* custom: object of arrays of names (queries, hits, output_tokens, busy), or NULL */
	const json_t *files;        /* array of paths whose page-cache residency is looked at, or NULL */
	double resident_share_min, resident_share_max; /* of all bytes of files; or NAN */
	int64_t queries;       /* expected prompt tokens, or IB_UNSET: the client's */
	int64_t hits_max;      /* cold, reset */
	double hit_share_min;  /* warm, reuse; NAN: more than none */
};

struct ib_contract_expect {
	int64_t exit_status;
	int64_t attempts, output_tokens, output_tokens_min, output_files_min; /* or IB_UNSET */
	double success_rate_min;                                              /* or NAN */
	bool server_output_tokens;
};

struct ib_contract_group {
	const char *name, *question, *load, *order, *gate, *workload; /* NULL where unset, but for name and order */
	bool diagnostic;
	const json_t *matrix;  /* object: variable -> array of strings */
	int64_t repeats;
	int64_t seed; /* or IB_UNSET */
	enum ib_condition condition;  /* of the group; a slot's own counts */
	struct ib_contract_hook reset, warmup;  /* command and http NULL: none */
	const char *cache_reason;
	bool has_evidence;
	struct ib_contract_evidence evidence;
	const char *client;              /* "vllm" … "command" */
	const json_t *output_check;      /* typed form of an answer, or NULL */
	const json_t *command, *convert; /* convert may be NULL */
	int64_t timeout_ns, no_progress_ns; /* 0: none */
	bool pty, no_network;
	int64_t grace_ns;                /* 0: that of the client */
	int64_t memory_bytes;            /* or IB_UNSET */
	struct ib_contract_expect expect;
};

struct ib_contract_workload {
	const char *name, *file, *sha256, *licence, *prompt_key; /* NULL where unset, but for name */
	bool shareable, record;
};

struct ib_contract_slot {
	int64_t slot; /* from 0, in the order of execution */
	const char *group, *cell;
	const json_t *variables; /* object: name -> string */
	int64_t repeat;          /* from 1 */
	enum ib_condition condition;
	const json_t *command;
	size_t group_at; /* index of the group */
};

struct ib_contract_target {
	const char *group, *cell, *metric, *direction; /* cell, direction: NULL where unset */
	double value, tolerance;                       /* or NAN */
};

struct ib_contract_withhold {
	const char *path, *reason;
};

struct ib_contract {
	json_t *json; /* the whole typed form */
	const char *study, *question, *boundary, *decision, *permission, *server_log, *next; /* NULL where unset, but for study */
	const char *source_sha256;
	const char *endpoint; /* serving.endpoint, or NULL */
	struct {
		const char *url;
		const json_t *command;
		int64_t timeout_ns, interval_ns;
	} readiness; /* url and command NULL: not asked */
	struct ib_contract_workload *workloads;
	size_t workloads_n;
	struct ib_contract_group *groups;
	size_t groups_n;
	struct ib_contract_slot *slots;
	size_t slots_n;
	struct ib_contract_target *targets;
	size_t targets_n;
	struct ib_contract_withhold *withhold;
	size_t withhold_n;
	const json_t *server_logs, *nodes; /* arrays of objects in their typed form, or NULL */
	const json_t *quality;             /* object in its typed form, or NULL */
	bool sample;
	int64_t sample_interval_ns;
	int64_t stop_failed_runs, stop_refused_runs, stop_contradicted_runs; /* 0: never */
	int64_t stop_after_ns;                                               /* 0: never */
};

struct ib_contract_options {
	/* What secret text holds ("an API key"), or NULL. ib_contract_parse() refuses such a contract. NULL: not asked. */
	const char *(*secret)(void *arg, const char *text);
	void *arg;
};

/* Parses contract.yaml (n bytes; name for messages). IB_E_USAGE with "name:line:column: …" for whatever is wrong with it.
 * ret is cleared with ib_contract_clear(). */
IB_MUST int ib_contract_parse(const char *data, size_t n, const char *name, const struct ib_contract_options *options, struct ib_contract *ret,
			      struct ib_err *err);

/* The same from the typed form, as kept in contracts/<sha256>.json; where is its name. IB_E_SYNTAX, IB_E_UNSUPPORTED. Checks
 * shapes and that the plan's slots are those that its groups give. json is borrowed (a reference is taken). */
IB_MUST int ib_contract_from_json(json_t *json, const char *where, struct ib_contract *ret, struct ib_err *err);
void ib_contract_clear(struct ib_contract *c);
#define ib_auto_contract __attribute__((cleanup(ib_contract_clear)))

/* The bytes of the typed form (pretty, as they are stored) and their digest. */
IB_MUST int ib_contract_write(const struct ib_contract *c, struct ib_buf *ret, char ret_sha256[IB_HEX_LEN], struct ib_err *err);

/* The number of metrics URLs, and the one at i. */
size_t ib_evidence_urls(const struct ib_contract_evidence *e);
const char *ib_evidence_url(const struct ib_contract_evidence *e, size_t i);

/* The group called name, or NULL. */
const struct ib_contract_group *ib_contract_group(const struct ib_contract *c, const char *name);
/* The workload called name, or NULL. */
const struct ib_contract_workload *ib_contract_workload(const struct ib_contract *c, const char *name);

#endif
