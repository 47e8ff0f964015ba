/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run, but its record, as a study's sink takes them. */
#ifndef IB_VERIFY_RUN_FILES_H
#define IB_VERIFY_RUN_FILES_H

#include "verify/study.h"

/* Are the bytes of the file at runs/<id>/… wanted? */
bool ib_run_file_wants(const struct ib_study_view *v, const char *path, uint64_t size);
/* One of them (rest: its path below the run): its results, settings, facts, samples, refusals go into run. data NULL: its bytes were not wanted. */
void ib_run_file_take(struct ib_study_view *v, struct ib_study_run *run, const char *path, const char *rest, const char *sha256, const char *data,
		      uint64_t size);

#endif
