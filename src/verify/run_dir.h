/* SPDX-License-Identifier: Apache-2.0 */
/* One run's directory by itself. */
#ifndef IB_VERIFY_RUN_DIR_H
#define IB_VERIFY_RUN_DIR_H

#include "verify/verify.h"

/* Checks the run in dirfd against its own record, and the record against the ledger two directories up, where there is one: without it nothing
 * vouches for the record, which is not checkable and exit 3. ret is begun by the caller. */
IB_MUST int ib_run_dir_verify(int dirfd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err);

#endif
