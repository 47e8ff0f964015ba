/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run directory: list with digests, and the end of writing. */
#ifndef IB_RUN_FILES_H
#define IB_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/err.h"
#include "model/record.h"

/* Adds every regular file below the run directory but record.json to r->files, sorted, with size and SHA-256. What is no
 * regular file, has a name that is not UTF-8, or lies in output/ and is older than start (by the clock of its file system;
 * tv_sec 0: not compared) becomes a note; so does what cannot be listed or read, since nothing that a command leaves may cost the run its
 * record. More files than a record has room for make the run "failed" with the reason "truncated_output". */
IB_MUST int ib_run_files(int dir_fd, const struct timespec *start, struct ib_record *r, struct ib_err *err);

/* Takes the write permission from all files and directories below, and from the directory itself. Returns how many did not let
 * it go (files of another user). */
size_t ib_run_files_freeze(int dir_fd);

/* Was a file last written before the command started? start 0: it is not known when it did. */
bool ib_run_file_older(const struct timespec *file, const struct timespec *start);

#endif
