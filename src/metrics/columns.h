/* SPDX-License-Identifier: Apache-2.0 */
/* Per-request numbers of one result, in columns. What a file does not record is NULL (the whole column), NaN or -1 (one
 * cell): never zero. */
#ifndef IB_METRICS_COLUMNS_H
#define IB_METRICS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IB_NOT_IN_FILE (-1) /* an integer that the file does not hold */

enum ib_outcome {
	IB_OUTCOME_UNKNOWN, /* the file cannot tell */
	IB_OUTCOME_SUCCEEDED, /* no error and at least one output token */
	IB_OUTCOME_FAILED,
	IB_OUTCOME_TIMED_OUT,
	IB_OUTCOME_INCOMPLETE, /* cut off by the end of the run */
};

/* Rows stand in the order of the file. Every pointer is NULL or n long, but for itl_s (itl_n) and itl_at (n + 1). */
struct ib_columns {
	size_t n;
	double *start_s; /* origin unspecified unless the result says (ib_result.epoch): only differences mean something */
	double *ttft_s;  /* start to the first chunk */
	double *last_s;  /* start to the last token, where the client tells it from the end of the response */
	double *e2e_s;   /* start to the end as the client defines it; of a failed request, to its failure */
	double *queue_s; /* waited inside the client before the start */
	double *itl_s;   /* gaps between chunks, those of request i at itl_at[i] … itl_at[i + 1] - 1 */
	size_t *itl_at;
	size_t itl_n;
	int64_t *input_tokens, *output_tokens; /* actual, as the client counts them; -1: not recorded */
	int64_t *input_server, *output_server; /* as the server counted them, where the file holds both */
	int64_t *input_asked, *output_asked;   /* requested; -1: not recorded */
	int64_t *chunks;                       /* of the response, where the gaps do not tell */
	uint64_t *prompt_hash, *output_hash;   /* of the texts, to tell equal ones; 0: not recorded */
	uint8_t *outcome;                      /* enum ib_outcome */
	bool *warmup;                          /* NULL: no warm-up request is in the file */
};

/* One row, for readers of files that hold one record a request. */
struct ib_row {
	double start_s, ttft_s, last_s, e2e_s, queue_s;
	int64_t input_tokens, output_tokens, input_server, output_server, input_asked, output_asked, chunks;
	uint64_t prompt_hash, output_hash;
	enum ib_outcome outcome;
	bool warmup;
};

/* A row in which nothing is recorded. */
struct ib_row ib_row_empty(void);
/* Appends a row. Its gaps, if any, are those appended by ib_columns_gap() since the row before. */
void ib_columns_add(struct ib_columns *c, const struct ib_row *row);
void ib_columns_gap(struct ib_columns *c, double gap_s);
/* After the last row: columns in which nothing is recorded become NULL. */
void ib_columns_end(struct ib_columns *c);

/* Columns of n rows, filled with NaN or -1. NULL for n 0. */
double *ib_columns_reals(size_t n);
int64_t *ib_columns_ints(size_t n);
/* Is row i in the population of statistics: succeeded, and not a warm-up? */
bool ib_columns_counts(const struct ib_columns *c, size_t i);
void ib_columns_clear(struct ib_columns *c);

#endif
