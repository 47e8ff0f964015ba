/* SPDX-License-Identifier: Apache-2.0 */
/* Files in the page cache: how much of each is there, and dropping them from it. No privileges are needed for one's own files. */
#ifndef IB_RUN_RESIDENCY_H
#define IB_RUN_RESIDENCY_H

#include "json/json.h"
#include "run/run.h"

/* Drops each file (paths below the study, or absolute): its dirty pages are written, then the kernel is asked to let go of it. The record's section residency
 * says what stayed, pages that another process has mapped for example. IB_E_STATE: a file cannot be opened. */
IB_MUST int ib_residency_drop(struct ib_run *run, const json_t *files, struct ib_err *err);

enum ib_residency_moment { IB_RESIDENCY_BEFORE, IB_RESIDENCY_AFTER };
/* Looks at each file and adds what is found to the section. files NULL: nothing. */
void ib_residency_look(struct ib_run *run, const json_t *files, enum ib_residency_moment moment);

/* Bytes of a regular file that are in the page cache; IB_NONE with *ret_status "denied", "unsupported" or "error". *ret_method: "cachestat" or "mincore". */
int64_t ib_residency_of(int fd, uint64_t bytes, const char **ret_method, const char **ret_status);

#endif
