/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers and the writer of ib-requests(5) share: the fields of a request, and the rules that hold for every one. */
#ifndef IB_CLIENTS_IB_REQUESTS_H
#define IB_CLIENTS_IB_REQUESTS_H

#include "clients/client.h"
#include "json/stream.h"

#define IB_REQUESTS_SCHEMA "urn:ibtools:requests:v1"
#define IB_REQUESTS_MAX ((int64_t)1 << 53) /* every integer is below */
#define IB_REQUESTS_NS 1e9

/* Whole numbers of a request, in the order of ib_requests_fields. */
enum ib_requests_number {
	IB_REQUESTS_START,
	IB_REQUESTS_QUEUE,
	IB_REQUESTS_TTFT,
	IB_REQUESTS_LAST,
	IB_REQUESTS_E2E,
	IB_REQUESTS_IN_ASKED,
	IB_REQUESTS_IN,
	IB_REQUESTS_IN_SERVER,
	IB_REQUESTS_OUT_ASKED,
	IB_REQUESTS_OUT,
	IB_REQUESTS_OUT_SERVER,
	IB_REQUESTS_CHUNKS,
	IB_REQUESTS_NUMBERS,
};

struct ib_requests_field {
	const char *name;
	bool time;         /* nanoseconds; in the columns seconds */
	size_t in_columns; /* offset of the pointer in struct ib_columns */
	size_t in_row;     /* offset in struct ib_row */
};

extern const struct ib_requests_field ib_requests_fields[IB_REQUESTS_NUMBERS];

/* One request as read; IB_NOT_IN_FILE and NULL where nothing is recorded. */
struct ib_requests_row {
	int64_t index;
	bool warmup;
	int64_t v[IB_REQUESTS_NUMBERS];
	char *outcome, *error_class, *prompt, *output; /* prompt: its digest or identity, in hex */
	struct ib_reals gaps; /* ns */
	bool has_gaps;
};

/* Empties it for the next request; memory of gaps is kept. */
void ib_requests_row_reset(struct ib_requests_row *row);
void ib_requests_row_clear(struct ib_requests_row *row);

/* A file while it is read. */
struct ib_requests_file {
	const char *name;
	uint64_t line;     /* for messages */
	json_t *head;      /* owned */
	bool samples;      /* timings of another kind of benchmark: no tokens */
	bool converted;    /* made from another client's records: what that client did not record is null */
	struct ib_columns columns;
	uint64_t *ids;     /* of the rows, to find two of the same */
	size_t room;
	bool unordered;    /* ids are not ascending */
	bool gaps_missing; /* a succeeded request has none recorded */
	int64_t first_start; /* counted from here: epoch times would lose digits in a double */
	int64_t no_output;
};

int ib_requests_fail(const struct ib_requests_file *f, struct ib_err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Takes the header object (steals head), after a look at its schema. */
IB_MUST int ib_requests_head(struct ib_requests_file *f, json_t *head, struct ib_err *err);
/* Checks a request against the rules and appends it. */
IB_MUST int ib_requests_add(struct ib_requests_file *f, const struct ib_requests_row *row, struct ib_err *err);
/* After the last request: makes the result. notes may be NULL. */
IB_MUST int ib_requests_finish(struct ib_requests_file *f, const struct ib_stream_notes *notes, struct ib_results *ret, struct ib_err *err);
void ib_requests_file_clear(struct ib_requests_file *f);
/* Sets what the header says of the run. */
IB_MUST int ib_requests_describe(const struct ib_requests_file *f, struct ib_result *r, int64_t *ret_warmups, struct ib_err *err);

/* --- ib_requests_csv.c --- */
bool ib_requests_is_csv(const char *data, size_t n);
IB_MUST int ib_requests_read_csv(const struct ib_source *in, struct ib_requests_file *f, struct ib_stream_notes *notes, struct ib_err *err);

#endif
