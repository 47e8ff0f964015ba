/* SPDX-License-Identifier: Apache-2.0 */
/* Result files of load generators. One const struct ib_client a client, in its own file, pointed to by one table. A file is
 * recognised by its content, never by its name, and read into columns and claims. */
#ifndef IB_CLIENTS_CLIENT_H
#define IB_CLIENTS_CLIENT_H

#include "base/source.h"
#include "clients/result.h"

struct ib_head; /* clients/head.h: the first bytes of a file, with the top-level keys found in them */

/* A flag of the client's command line, or a key of its configuration as printed: what it sets. */
struct ib_client_flag {
	const char *name; /* "--random-output-len", which is also "random_output_len" in a Namespace(…) line; "--data/prompt_tokens": within "k=v,k=v" */
	enum ib_setting_key sets;
};

/* What a summary was computed from, where that is not simply its records. */
struct ib_view {
	struct ib_columns columns; /* those of the records; arrays may be replaced by the ones below, not changed */
	bool *warmup;              /* allocated, or NULL: rows that the summary does not cover are taken for warm-ups */
	int64_t *output_tokens;    /* allocated, or NULL */
	const char *why;           /* it cannot be told (static text), or NULL */
};

struct ib_client {
	const char *name;              /* stable: stands in documents */
	const char *title;             /* for people: what it reads, and of which versions */
	const char *const *schema_ids; /* all that read() can give, NULL-terminated */
	bool (*recognise)(const struct ib_head *head);
	/* Reads the file to its end and adds one result for each that it holds, with its claims (ib_result_expect(), ib_result_claim()). Most open a
	 * struct ib_stream on in. Results added before an error are dropped. */
	int (*read)(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err);
	/* May be NULL. Of two results of this client from one directory, one with records (IB_PART_RECORDS) and one with claims (IB_PART_SUMMARY): do they
	 * belong together? Asked only where there is a choice. */
	bool (*same)(const struct ib_result *summary, const struct ib_result *records);
	/* May be NULL. Looks at the records through the eyes of one summary of theirs; all are the results of the directory tree. */
	void (*view)(const struct ib_results *all, const struct ib_result *summary, const struct ib_result *records, struct ib_view *view);
	/* Its command line: words that one of its commands must hold, in order, NULL-terminated ("vllm|vllm-rs", "bench", "serve"), matched against the last
	 * parts of paths; another way to call it follows behind "". NULL: unknown. */
	const char *const *command;
	/* Ends with name NULL; the first that sets a key wins. A printed configuration is that of the client whose table knows most of its names: a name
	 * without dashes that sets IB_SET_NOTHING may mark it ("bench_type"). NULL: unknown. */
	const struct ib_client_flag *flags;
	/* May be NULL: never. With these settings, does every request ask for exactly IB_SET_OUTPUT_LEN tokens and no fewer? */
	bool (*fixed_output)(const struct ib_settings *s);
};

extern const struct ib_client *const ib_clients[]; /* ends with NULL */

/* The client that wrote these bytes (a beginning of 64 KiB is enough, decompressed), or NULL. */
const struct ib_client *ib_client_recognise(const char *data, size_t n);

/* Reads a whole result file of any size from its (decompressed) bytes. name is used in messages and becomes ib_result.file. ret gets at least one result. Their
 * claims are not yet derived: call ib_results_derive() once all files of a directory are read. Unknown keys are ignored, missing ones are listed in the result.
 * IB_E_UNSUPPORTED: of no known client; IB_E_JSON, IB_E_SYNTAX, IB_E_LIMIT: recognised but torn or malformed; ret is then empty. Clear with
 * ib_results_clear(). */
IB_MUST int ib_client_read_source(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err);
/* The same for bytes at hand, with the claims derived: a file that stands alone. */
IB_MUST int ib_client_read(const char *data, size_t n, const char *name, struct ib_results *ret, struct ib_err *err);

/* What a directory tree of outputs holds. */
struct ib_outputs {
	struct ib_results results; /* of all files, in byte order of their paths; ib_result.file is the path below the directory */
	size_t files;              /* files that a client recognised, readable or not */
	size_t unreadable;         /* of these, torn or malformed */
	struct ib_err first;       /* why, for the first of them */
};

/* Reads all result files below dirfd (regular files, no links followed, at most 10,000 entries, 16 levels) and derives their claims. No result file at all is
 * not an error. */
IB_MUST int ib_client_read_dir(int dirfd, struct ib_outputs *ret, struct ib_err *err);
void ib_outputs_clear(struct ib_outputs *o);
#define ib_auto_outputs __attribute__((cleanup(ib_outputs_clear)))

#endif
