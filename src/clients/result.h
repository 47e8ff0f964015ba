/* SPDX-License-Identifier: Apache-2.0 */
/* What a result file says: how many requests, the per-request columns, and its claims beside the same numbers derived by us. */
#ifndef IB_CLIENTS_RESULT_H
#define IB_CLIENTS_RESULT_H

#include "base/str.h"
#include "json/json.h"
#include "metrics/columns.h"
#include "metrics/formula.h"
#include "metrics/interval.h"
#include "metrics/stat.h"

#define IB_CLAIM_TOLERANCE 1e-12 /* relative; counts must be equal */
#define IB_CLAIMS_MAX 4096       /* of one result: so many are too many */
#define IB_RESULTS_MAX 1000      /* in one file */

/* Each a count, or IB_NOT_IN_FILE. Warm-up requests are in none of them. */
struct ib_requests {
	int64_t asked;          /* that the client was told to send */
	int64_t attempted;      /* sent, or asked where the file does not say how many were sent */
	int64_t succeeded;      /* no error and at least one output token */
	int64_t failed;         /* all that were attempted and are in no other group */
	int64_t timed_out;
	int64_t incomplete;     /* cut off by the end of the run */
	int64_t without_output; /* no error recorded, yet no output token; counted as failed */
	int64_t short_output;   /* succeeded with fewer output tokens than asked; an early stop is one, too */
};

enum ib_claim_status {
	IB_CLAIM_NOT_DERIVABLE, /* why says what is missing */
	IB_CLAIM_EXACT,
	IB_CLAIM_WITHIN, /* the tolerance */
	IB_CLAIM_DIFFERS,
};

/* Which number of a formula a client states. */
enum ib_measure {
	IB_MEASURE_GIVEN,      /* derived by the client's reader itself */
	IB_MEASURE_SCALAR,     /* the formula's one number */
	IB_MEASURE_MEAN,
	IB_MEASURE_STD,        /* ddof 0; of one sample 0, as numpy gives */
	IB_MEASURE_STD_SAMPLE, /* ddof 1 */
	IB_MEASURE_MIN,
	IB_MEASURE_MAX,
	IB_MEASURE_SUM,
	IB_MEASURE_COUNT,      /* of samples */
	IB_MEASURE_PERCENTILE,
};

struct ib_claim {
	char *name;  /* as the client calls it */
	char *key;   /* JSON pointer within the result's object */
	const struct ib_formula *formula;
	enum ib_measure measure;
	double p;           /* of a percentile, in percent */
	enum ib_rule rule;  /* of a percentile */
	double scale;       /* the formula's unit times this is the client's: 1000 for seconds as ms */
	double claimed;         /* in the client's unit */
	struct ib_stat derived; /* in the client's unit; not recorded until ib_results_derive() */
	enum ib_claim_status status;
	bool settled;     /* derived already, by ib_result_derive() */
	double identity;  /* what the client's own totals give, in its unit: compared with where there are no records; 0: nothing */
	double tolerance; /* relative; 0: must be equal */
	double step;      /* the same in the client's unit, of a number that is written with few decimals; 0: nothing. Beside the tolerance */
	double doubt;     /* relative, of a number that the records only bound from below (0: none): above the derived one by more than the tolerance
			   * and no more than this, it is not derivable, for why */
	bool headline;    /* one of the numbers that people quote of this client */
	char *why;        /* or NULL */
};

/* What a client was told to do, from its file, its command line or its printed configuration. */
enum ib_setting_key {
	IB_SET_NOTHING, /* ends the list; also for flags that take a value of no interest */
	IB_SET_MODEL,
	IB_SET_MODEL_REVISION,
	IB_SET_TOKENIZER,
	IB_SET_ENDPOINT,
	IB_SET_DATASET,
	IB_SET_SEED,
	IB_SET_REQUESTS,    /* number asked for */
	IB_SET_WARMUPS,     /* number */
	IB_SET_CONCURRENCY, /* cap; also worker or stream counts */
	IB_SET_RATE,        /* requests/s; "inf" */
	IB_SET_INPUT_LEN,   /* tokens a request */
	IB_SET_OUTPUT_LEN,
	IB_SET_DURATION,    /* s: limit of the run */
	IB_SET_IGNORE_EOS,
	IB_SET_TEMPERATURE,
	IB_SET_GOODPUT,     /* thresholds, as given: "ttft:200 tpot:50" (ms) */
	IB_SET_BACKEND,
	IB_SET_LENGTH_RANGE, /* random share by which lengths vary */
	IB_SET_READY_CHECK, /* s: how long the client tries whether the endpoint answers, before it begins */
	IB_SETTINGS,
};

/* Text of each setting, or NULL: not known. Numbers as their text, so that nothing is lost. */
struct ib_settings {
	char *v[IB_SETTINGS];
	const char *from[IB_SETTINGS]; /* static text: "the file", "the command line", "the printed configuration" */
};

/* A time span that a file states. */
struct ib_span {
	const char *name; /* the client's (static text) */
	double s;
};

/* Something that only the client's own reader can see wrong; the check of that id reports it. */
struct ib_hint {
	const char *check; /* "A08" (static text) */
	char *key;         /* JSON pointer or NULL */
	char *expected, *found; /* or NULL */
	char *message;     /* one plain sentence */
};

enum ib_part {
	IB_PART_WHOLE,   /* the file holds all that this client writes of a run */
	IB_PART_SUMMARY, /* claims; their records stand in another file of the directory */
	IB_PART_RECORDS, /* records; the claims stand in another file */
	IB_PART_CONFIG,  /* settings of the results beside it */
};

#define IB_SPANS_MAX 6
#define IB_HINTS_MAX 64

struct ib_client;

struct ib_result {
	const struct ib_client *client;
	char *client_version;  /* NULL: not in the file */
	const char *schema_id; /* static text */
	char *file;            /* as given to the reader */
	size_t index;          /* of the result in its file, from 0 */
	char *label;           /* which part of a sweep it is, as the client calls it ("stage 1", "streams=4"), or NULL */
	enum ib_part part;
	bool within;           /* covers requests of another result of the run too (a stage of it): its claims are checked, its counts not added to sums */
	bool unknown_version;  /* of a version that the reader does not know: nothing of it may pass */
	char *records_file;    /* of a summary that was joined with its records: where those are */
	struct ib_requests requests;
	struct ib_columns columns; /* n 0: the file has no per-request records */
	char *partial;         /* why the records are not all of the run ("records sampled"), or NULL: then nothing derives from them but their count */
	int64_t input_tokens, output_tokens; /* of the succeeded requests; derived when the columns allow, else claimed; or IB_NOT_IN_FILE */
	const struct ib_formula *ttft, *tpot, *itl, *e2e; /* which variant the columns hold; tpot and itl NULL: none can be derived */
	double duration_s;         /* the denominator of the client's rates; NaN: not in the file */
	const char *window;        /* what the duration covers (static text), or NULL */
	struct ib_span spans[IB_SPANS_MAX]; /* every duration in the file, that one too */
	size_t n_spans;
	double began_at, ended_at; /* of the measurement, seconds since 1970; NaN: not in the file */
	bool zone_unknown;         /* these were written without a time zone and taken as UTC */
	bool epoch;                /* columns.start_s is seconds since 1970 */
	char *cut;                 /* the file says that the run was cancelled or cut off: why, or NULL */
	int64_t concurrency_asked; /* cap, or IB_NOT_IN_FILE */
	double rate_asked;         /* requests/s; INFINITY: as fast as possible; NaN: not in the file */
	struct ib_settings settings;
	char *synthetic;           /* why these numbers do not come from a real endpoint, or NULL: nothing in the file says so */
	bool any_benchmark;        /* not of LLM requests (hyperfine, pyperf, llama-bench): samples, no TTFT; checks of tokens do not apply */
	struct ib_strv missing;    /* keys that this schema should have and the file lacks */
	uint64_t literals, foreign_lines; /* NaN and Infinity in it; lines that are no records */
	bool bom;
	struct ib_hint *hints;
	size_t n_hints;
	struct ib_claim *claims;
	size_t n_claims;
};

struct ib_results {
	struct ib_result *v;
	size_t n;
};

/* Appends a result with nothing known in it. Valid until the next addition. */
struct ib_result *ib_results_add(struct ib_results *r, const struct ib_client *client, const char *file);
void ib_result_clear(struct ib_result *r); /* what it holds, not itself */
void ib_results_clear(struct ib_results *r);
#define ib_auto_results __attribute__((cleanup(ib_results_clear)))
/* Moves everything from src to the end of dst. */
void ib_results_move(struct ib_results *dst, struct ib_results *src);

/* Joins summaries with the records beside them (same client, same directory, ib_client.same), then derives every claim that has a measure, from the columns of
 * its result or of the records joined to it. Records that found their summary are moved into it. Once, after the last file. */
void ib_results_derive(struct ib_results *r);

/* Derives the claims that are there from the result's own columns, now: for a reader that then takes the client's zeros for missing values out of them. */
void ib_result_derive(struct ib_result *r);

/* Appends a claim whose number ib_results_derive() will derive as measure of f. name is the client's word for it, key the JSON pointer. claimed NaN: nothing is
 * added. Returned to set headline, rule and p; valid until the next addition. NULL beyond IB_CLAIMS_MAX: ib_client_read_source() then fails with IB_E_LIMIT. */
struct ib_claim *ib_result_expect(struct ib_result *r, const char *name, const char *key, const struct ib_formula *f, enum ib_measure measure, double scale,
				  double claimed, double tolerance);
/* Appends a claim that the reader derived itself; its status from claimed and derived (tolerance 0: counts). why is kept for a number that is not derivable
 * (NULL: derived.why). key is a name too. */
void ib_result_claim(struct ib_result *r, const char *key, const struct ib_formula *f, double claimed, struct ib_stat derived, double tolerance,
		     const char *why);
/* Makes it one for which only a reason can be given. c NULL: nothing. */
void ib_claim_leave_open(struct ib_claim *c, const char *why);
enum ib_claim_status ib_claim_compare(double claimed, struct ib_stat derived, double tolerance);
/* What only this reader sees wrong. key, expected and found may be NULL. At most IB_HINTS_MAX are kept. */
void ib_result_hint(struct ib_result *r, const char *check, const char *key, const char *expected, const char *found, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
void ib_result_span(struct ib_result *r, const char *name, double s); /* NaN: nothing is added */
/* Takes over what the stream met: literals, foreign lines, a byte-order mark. */
struct ib_stream_notes;
void ib_result_notes(struct ib_result *r, const struct ib_stream_notes *n);

/* --- settings.c --- */
/* Sets one (copied), unless it is there already: what the file says stands before what others say. text NULL: nothing. */
void ib_setting_put(struct ib_settings *s, enum ib_setting_key key, const char *text, const char *from);
double ib_setting_number(const struct ib_settings *s, enum ib_setting_key key); /* NaN: not there, or no number */
const char *ib_setting_name(enum ib_setting_key key); /* "output_len" */
/* What a command line, and what a printed configuration ("Namespace(…)" within a log), set. The client is told from the words; NULL: of no known client. */
const struct ib_client *ib_settings_from_argv(const char *const *argv, size_t n, struct ib_settings *s);
const struct ib_client *ib_settings_from_log(const char *text, size_t n, struct ib_settings *s);
/* The same from text that holds commands, as in a cmd.txt: of the first known client; where its commands disagree, nothing is known. */
const struct ib_client *ib_settings_from_command(const char *text, size_t n, struct ib_settings *s);
void ib_settings_clear(struct ib_settings *s);
/* --- apply.c: fills what the file itself does not say from what stands around it: settings, requests asked for, cap, rate, output lengths asked for and
 * with them requests.short_output. Before ib_results_derive(). --- */
void ib_results_apply(struct ib_results *r, const struct ib_settings *around);

/* Counts succeeded rows with fewer output tokens than columns.output_asked, or IB_NOT_IN_FILE. */
int64_t ib_columns_short(const struct ib_columns *c);
/* Counts per outcome from the columns, into r->requests, input_tokens and output_tokens. Needs columns.outcome. */
void ib_result_count(struct ib_result *r);
/* Percentile p of formula f over the result's columns, in the formula's unit, by rule linear. */
struct ib_stat ib_result_percentile(const struct ib_result *r, const struct ib_formula *f, double p);
/* The 95 % interval of the same, free of assumptions about the distribution; undefined for gaps, which are not independent of each other. */
struct ib_interval ib_result_percentile_interval(const struct ib_result *r, const struct ib_formula *f, double p);
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
