/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded roots as tar archives, on their way from one machine to another. */
#ifndef IB_CAPTURE_TARFILE_H
#define IB_CAPTURE_TARFILE_H

#include "base/err.h"
#include "base/source.h"

/* A line of this text stands before an archive that comes through a login: what a shell printed before it is passed over. */
#define IB_RECORD_MARK "ib-record-node 1"

/* Unpacks an archive into the empty directory dir_fd: ustar as every tar writes it, with or without pax headers for times and owners. The tar's
 * own header or, within the first 64 KiB, a line IB_RECORD_MARK starts it. Only directories and files; owners, modes and times do not count.
 * Refused, with nothing written outside of dir_fd: IB_E_TAR (no archive, a bad header), TYPE (links, devices), PATH (absolute, "..", odd
 * bytes), DUP, LIMIT (16 MiB a file, 256 MiB and 100000 entries in all), TRUNC, TRAILING. */
IB_MUST int ib_record_unpack(const struct ib_source *in, int dir_fd, struct ib_err *err);

/* Writes the files of a recorded root, sorted, as an archive behind IB_RECORD_MARK. */
IB_MUST int ib_record_pack(int dir_fd, const struct ib_drain *out, struct ib_err *err);

#endif
