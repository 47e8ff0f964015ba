/* SPDX-License-Identifier: Apache-2.0 */
/* Result files of load generators. One const struct ib_client a client, in its own file, pointed to by one table. A file is
 * recognised by its content, never by its name, and read into columns and claims. */
#ifndef IB_CLIENTS_CLIENT_H
#define IB_CLIENTS_CLIENT_H

#include "clients/result.h"

#define IB_CLIENT_MAX (16u << 20) /* bytes of one result file */

struct ib_head; /* clients/head.h: the first bytes of a file, with the top-level keys found in them */

struct ib_client {
	const char *name;              /* stable: stands in documents */
	const char *title;             /* for people */
	const char *const *schema_ids; /* all that read() can give, NULL-terminated */
	bool (*recognise)(const struct ib_head *head);
	/* Adds one result for each that the file holds. Results added before an error stay in ret. */
	int (*read)(const char *data, size_t n, const char *name, struct ib_results *ret, struct ib_err *err);
};

extern const struct ib_client ib_client_requests, ib_client_vllm_bench;
extern const struct ib_client *const ib_clients[]; /* ends with NULL */

/* The client that wrote these bytes (a beginning of 64 KiB is enough), or NULL. */
const struct ib_client *ib_client_recognise(const char *data, size_t n);

/* Reads a whole result file. name is used in messages only. ret gets at least one result, each with its claims derived. Unknown keys are
 * ignored, missing ones are listed in the result. IB_E_UNSUPPORTED: of no known client; IB_E_JSON, IB_E_SYNTAX, IB_E_LIMIT: recognised but
 * torn or malformed; ret is then empty. Clear with ib_results_clear(). */
IB_MUST int ib_client_read(const char *data, size_t n, const char *name, struct ib_results *ret, struct ib_err *err);

/* What a directory tree of outputs holds. */
struct ib_outputs {
	struct ib_results results; /* of all files, in byte order of their paths; ib_result.file is the path below the directory */
	size_t files;              /* files that a client recognised, readable or not */
	size_t unreadable;         /* of these, torn, malformed or too large */
	struct ib_err first;       /* why, for the first of them */
};

/* Reads all result files below dirfd (regular files, no links followed, at most 10,000 entries, 16 levels). No result file at all is not an error. */
IB_MUST int ib_client_read_dir(int dirfd, struct ib_outputs *ret, struct ib_err *err);
void ib_outputs_clear(struct ib_outputs *o);
#define ib_auto_outputs __attribute__((cleanup(ib_outputs_clear)))

#endif
