/* SPDX-License-Identifier: Apache-2.0 */
/* Where the helper programs of libexec are. */
#ifndef IB_BASE_HELPER_H
#define IB_BASE_HELPER_H

/* Path of the helper called name: beside the running program (a build tree), else in ../libexec/ibtools of its directory, else in the
 * directory that was configured. Allocated; the file may be missing. */
char *ib_helper_path(const char *name);

#endif
