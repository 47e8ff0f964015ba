/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a run (urn:ibtools:record:v1, schemas/record-v1.schema.json): what happened, in one struct. */
#ifndef IB_MODEL_RECORD_H
#define IB_MODEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

#define IB_RECORD_SCHEMA "urn:ibtools:record:v1"
#define IB_NONE INT64_MIN /* a number that is not known: null in JSON, never 0 */

enum ib_state {
	IB_STATE_COMPLETED,
	IB_STATE_FAILED,
	IB_STATE_TIMED_OUT,
	IB_STATE_INTERRUPTED,
	IB_STATE_REFUSED,   /* nothing was measured */
	IB_STATE_IMPORTED,
	IB_STATE_ABANDONED, /* said by the ledger alone, never by a record */
	IB_STATE_COUNT,
};

/* "completed" …; never NULL. */
const char *ib_state_name(enum ib_state s);
/* false when name is no state. */
bool ib_state_parse(const char *name, enum ib_state *ret);

struct ib_var {
	char *name, *value;
};

struct ib_record_workload {
	char *name, *path;
	char expected_sha256[IB_HEX_LEN], sha256[IB_HEX_LEN]; /* "" is null */
	enum ib_workload_status { IB_WORKLOAD_OK, IB_WORKLOAD_MISMATCH, IB_WORKLOAD_MISSING } status;
	int64_t records, unique; /* of a file of prompts: how many, how many of them no two alike; or IB_NONE */
};

struct ib_record_hook {
	char *name; /* "00-reset" */
	int64_t exit_status, signal; /* or IB_NONE */
	bool timed_out;
	int64_t duration_ns;
};

struct ib_record_counter {
	char *name;
	double before, after; /* NAN is null; delta is derived */
};

struct ib_record_expectation {
	char *key, *expected, *found; /* found may be NULL */
	enum ib_expectation_status { IB_EXPECT_UNKNOWN, IB_EXPECT_MET, IB_EXPECT_UNMET } status;
};

struct ib_record_file {
	char *path; /* below the run directory */
	uint64_t bytes;
	char sha256[IB_HEX_LEN];
	bool older; /* than the start of the command: lies in output/, but was not produced there */
};

/* Counts of requests as the client's own records give them; IB_NONE where they do not say. */
struct ib_record_requests {
	char *client, *schema_id; /* may be NULL */
	int64_t attempted, succeeded, failed, timed_out, output_tokens;
	int64_t incomplete;     /* cut off by the end of the run */
	int64_t unaccounted;    /* asked for or sent, and in none of these */
	int64_t without_output; /* no error recorded, yet no output token; among the failed */
	int64_t short_output;   /* succeeded with fewer output tokens than asked for */
};

/* Parts of a record that one module alone fills and knows; schemas/record-v1.schema.json has their shapes. */
enum ib_record_section {
	IB_SECTION_SAMPLER,         /* object: how the load was sampled, and what that cost */
	IB_SECTION_LOAD,            /* object: what the samples say of client, machine and server */
	IB_SECTION_SERVER_IDENTITY, /* object: is it one and the same server process? */
	IB_SECTION_SERVER_LOGS,     /* array: slices of the server's logs */
	IB_SECTION_NODES,           /* array: captures of other nodes */
	IB_SECTION_OUTPUT_CHECK,    /* object: an answer before the load */
	IB_SECTION_RESOURCES,       /* object: limits of the command, and what it used of them */
	IB_SECTION_ISOLATION,       /* object: network, terminal, standard input */
	IB_SECTION_RESIDENCY,       /* array: files in the page cache */
	IB_SECTION_COUNT,
};

struct ib_record {
	char *run_id, *study, *group, *cell; /* group and cell may be NULL */
	int64_t repeat, attempt;             /* from 1 */
	struct ib_var *variables;
	size_t variables_n;
	char contract_sha256[IB_HEX_LEN]; /* digest of the contract's JSON form; "" is null */
	enum ib_state state;
	struct ib_strv reasons; /* exit_status, errors_with_status_0, no_output …, expectation:<key>; for refused: the step's name */
	struct ib_strv notes;   /* plain sentences: why refused, which capture is missing */
	struct {
		int64_t status, signal, exec_errno; /* or IB_NONE */
		bool timed_out;
	} exit;
	struct {
		int64_t started_ns, finished_ns; /* wall clock of the command; IB_NONE: it never ran */
		int64_t monotonic_ns;            /* duration, or IB_NONE */
		int64_t suspended_ns;            /* of that, how long the machine slept; or IB_NONE */
	} time;
	struct {
		int64_t user_ns, system_ns; /* user_ns IB_NONE: the whole is null */
		int64_t max_rss_bytes, voluntary_switches, involuntary_switches;
	} rusage;
	char command_sha256[IB_HEX_LEN]; /* of command.json */
	struct ib_record_workload *workloads;
	size_t workloads_n;
	struct ib_record_hook *hooks;
	size_t hooks_n;
	struct {
		enum ib_readiness { IB_NOT_ASKED, IB_READY, IB_NOT_READY } status;
		int64_t attempts, waited_ns;
	} readiness;
	struct {
		char *condition; /* cold, reset, warm, reuse, unspecified; NULL: unspecified */
		enum ib_evidence_of { IB_UNCONFIRMED, IB_CONFIRMED, IB_CONTRADICTED } evidence;
		char *why;    /* one sentence; NULL: "no evidence was collected" */
		char *engine; /* "vllm", "llamacpp" or NULL */
		struct ib_record_counter *counters;
		size_t counters_n;
		int64_t expected_queries; /* or IB_NONE */
		/* Requests that the client sent on its own, before those that it counts: how many (0: none that is known; IB_NONE: nobody looked), their
		 * prompt tokens, and those of one more that it sends in some versions only. Tokens are IB_NONE where nobody knows. */
		int64_t own_requests, own_tokens, own_perhaps_tokens;
	} cache;
	int64_t server_output_tokens; /* the server's own count during the run, or IB_NONE */
	struct ib_record_requests requests;
	struct ib_record_expectation *expectations;
	size_t expectations_n;
	json_t *section[IB_SECTION_COUNT]; /* or NULL: null */
	int64_t synthetic; /* 0, 1 or IB_NONE */
	char *synthetic_why;
	char capture_node[IB_HEX_LEN];        /* "" is null */
	char *capture_before, *capture_after; /* statuses: "ok", "absent", "error" …; NULL: "absent" */
	struct ib_record_file *files;         /* every file of the run directory but record.json, sorted by bytes */
	size_t files_n;
	int64_t survivors;   /* processes of earlier, abandoned runs alive at the start; IB_NONE: could not look */
	int64_t left_behind; /* processes of this run that outlived the command and were ended; IB_NONE: could not look */
	char *tool_name, *tool_version, *tool_commit; /* NULL in a new record: this build */
};

/* Everything "not known": numbers IB_NONE, repeat and attempt 1. Must be called before the first use. */
void ib_record_init(struct ib_record *r);
void ib_record_clear(struct ib_record *r);
#define ib_auto_record __attribute__((cleanup(ib_record_clear)))

void ib_record_add_variable(struct ib_record *r, const char *name, const char *value);
struct ib_record_workload *ib_record_add_workload(struct ib_record *r, const char *name, const char *path);
struct ib_record_hook *ib_record_add_hook(struct ib_record *r, const char *name);
void ib_record_add_counter(struct ib_record *r, const char *name, double before, double after);
void ib_record_add_expectation(struct ib_record *r, const char *key, const char *expected, const char *found, enum ib_expectation_status status);
void ib_record_add_file(struct ib_record *r, const char *path, uint64_t bytes, const char *sha256);
/* Puts value (object or array, as the section says; taken over) in place of what was there. */
void ib_record_set(struct ib_record *r, enum ib_record_section section, json_t *value);
/* Adds a reason once; a completed record becomes failed. */
void ib_record_fail(struct ib_record *r, const char *reason);

/* New reference; total: every key is there, unknown values are null. */
json_t *ib_record_to_json(const struct ib_record *r);
/* Strict: schema, types, ranges and enumerations are checked, unknown keys ignored. *ret needs no init; cleared on
 * failure. where names the document in messages. */
IB_MUST int ib_record_from_json(const json_t *j, const char *where, struct ib_record *ret, struct ib_err *err);

#endif
