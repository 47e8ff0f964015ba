/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic studies for the tests of verify: a contract with a plan, a ledger, records, a client's results; sound until a test breaks them. */
#ifndef IB_TESTS_MAKE_STUDY_H
#define IB_TESTS_MAKE_STUDY_H

#include <stdbool.h>
#include <stddef.h>

struct study_spec {
	size_t runs;       /* finished runs, repeats of one cell after the other */
	bool ad_hoc;       /* no contract */
	bool sealed;
	bool overlapping;  /* every run begins before the last one ended */
	bool contradicted; /* the cache label of the first run */
	bool unfinished;   /* one more run is started and never ended */
	bool adopted;      /* the last run's finish is not in the ledger */
	bool wrong_counts; /* in the seal */
	bool wrong_requests; /* the record of the first run counts one success more than its client */
	bool wrong_workload; /* the first run was measured with another workload */
	bool two_results;    /* every run writes its result twice, and its record counts both */
	bool torn;           /* the first run failed and left half a result, as its record says */
	bool torn_counted;   /* the same, but its record counts requests */
	bool kept;           /* a quality check, a recorded workload and a ceiling beside the runs */
	const char *analysis; /* text of an analysis.json that the ledger holds, or NULL */
	bool cut_off;        /* the first run was interrupted: of 24 requests asked for, 10 are in its result */
};

/* Writes the study below dir, which must exist and be empty. Exits the process on an I/O error: this is a test tool. */
void make_study(const char *dir, const struct study_spec *spec);
/* ID of run i (static buffer of 4 uses). */
const char *study_run_id(size_t i);
/* Overwrites (or makes) a file with text, relative to dir. */
void study_put(const char *dir, const char *path, const char *text);
/* Writes a new ledger without line number drop (from 1), chained anew as someone who rewrites it would; 0: only chains anew. */
void study_rechain(const char *dir, size_t drop);

#endif
