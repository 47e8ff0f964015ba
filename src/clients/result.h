/* SPDX-License-Identifier: Apache-2.0 */
/* What a result file says: how many requests, the per-request columns, and its claims beside the same numbers derived by us. */
#ifndef IB_CLIENTS_RESULT_H
#define IB_CLIENTS_RESULT_H

#include "base/str.h"
#include "json/json.h"
#include "metrics/columns.h"
#include "metrics/formula.h"
#include "metrics/stat.h"

#define IB_CLAIM_TOLERANCE 1e-12 /* relative; counts must be equal */

/* Each a count, or IB_NOT_IN_FILE. Warm-up requests are in none of them. */
struct ib_requests {
	int64_t asked;          /* that the client was told to send */
	int64_t attempted;      /* sent, or asked where the file does not say how many were sent */
	int64_t succeeded;      /* no error and at least one output token */
	int64_t failed;         /* all that were attempted and are in no other group */
	int64_t timed_out;
	int64_t incomplete;     /* cut off by the end of the run */
	int64_t without_output; /* no error recorded, yet no output token; counted as failed */
	int64_t short_output;   /* succeeded with fewer output tokens than asked */
};

enum ib_claim_status {
	IB_CLAIM_NOT_DERIVABLE, /* why says what is missing */
	IB_CLAIM_EXACT,
	IB_CLAIM_WITHIN, /* the tolerance */
	IB_CLAIM_DIFFERS,
};

struct ib_claim {
	char *name;  /* as the client calls it */
	char *key;   /* JSON pointer within the result's object */
	const struct ib_formula *formula;
	double claimed;         /* in the client's unit */
	struct ib_stat derived; /* in the client's unit */
	enum ib_claim_status status;
	double tolerance; /* relative; 0: must be equal */
	char *why;        /* or NULL */
};

struct ib_client;

struct ib_result {
	const struct ib_client *client;
	char *client_version;  /* NULL: not in the file */
	const char *schema_id; /* static text */
	char *file;            /* as given to the reader */
	size_t index;          /* of the result in its file, from 0 */
	struct ib_requests requests;
	struct ib_columns columns; /* n 0: the file has no per-request records */
	int64_t input_tokens, output_tokens; /* of the succeeded requests; derived when the columns allow, else claimed; or IB_NOT_IN_FILE */
	const struct ib_formula *ttft, *itl, *e2e; /* which variant the columns hold */
	double duration_s;         /* NaN: not in the file */
	const char *window;        /* what the duration covers (static text), or NULL */
	int64_t concurrency_asked; /* cap, or IB_NOT_IN_FILE */
	double rate_asked;         /* requests/s; INFINITY: as fast as possible; NaN: not in the file */
	char *synthetic;           /* why these numbers do not come from a real endpoint, or NULL: nothing in the file says so */
	struct ib_strv missing;    /* keys that this schema should have and the file lacks */
	struct ib_claim *claims;
	size_t n_claims;
};

struct ib_results {
	struct ib_result *v;
	size_t n;
};

/* Appends a result with nothing known in it. Valid until the next addition. */
struct ib_result *ib_results_add(struct ib_results *r, const struct ib_client *client, const char *file);
void ib_results_clear(struct ib_results *r);
#define ib_auto_results __attribute__((cleanup(ib_results_clear)))
/* Moves everything from src to the end of dst. */
void ib_results_move(struct ib_results *dst, struct ib_results *src);

/* Appends a claim, sets its status from claimed and derived (tolerance 0: counts). why is kept for a number that is not derivable (NULL: derived.why). */
void ib_result_claim(struct ib_result *r, const char *key, const struct ib_formula *f, double claimed, struct ib_stat derived, double tolerance,
		     const char *why);
/* Counts per outcome from the columns, into r->requests, input_tokens and output_tokens. Needs columns.outcome. */
void ib_result_count(struct ib_result *r);
/* Percentile p of formula f over the result's columns, in the formula's unit, by rule linear. */
struct ib_stat ib_result_percentile(const struct ib_result *r, const struct ib_formula *f, double p);
struct ib_stat ib_result_scalar(const struct ib_result *r, const struct ib_formula *f);
/* The claim called name, or NULL. */
const struct ib_claim *ib_result_find_claim(const struct ib_result *r, const char *name);
const char *ib_claim_status_name(enum ib_claim_status s); /* "exact", "within", "differs", "not_derivable" */

/* One member of "results" in the findings document; run_id may be NULL. */
json_t *ib_result_json(const struct ib_result *r, const char *run_id);
/* The counts alone, as in the findings document and the report: null where the file does not say. New reference. */
json_t *ib_requests_json(const struct ib_requests *q);
/* The object "requests" of a record: client, schema_id, attempted, succeeded, failed, timed_out, output_tokens; r NULL: all null. */
json_t *ib_result_record_json(const struct ib_result *r);

#endif
