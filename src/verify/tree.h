/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a study's tree, as a seal holds it. */
#ifndef IB_VERIFY_TREE_H
#define IB_VERIFY_TREE_H

#include "verify/study.h"

/* SHA-256 of the sorted lines "<hex>  data/<path>\n" of all files that a seal covers (ib_tree_covers()) and withheld.json does not
 * declare. false: a file has no digest. The view must be ended. */
IB_MUST bool ib_study_tree(const struct ib_study_view *v, char ret_hex[IB_HEX_LEN]);
/* Is the file at path part of the tree? */
bool ib_study_in_tree(const struct ib_study_view *v, const char *path);

#endif
