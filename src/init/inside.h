/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write a contract. */
#ifndef IB_INIT_INSIDE_H
#define IB_INIT_INSIDE_H

#include "base/buf.h"
#include "init/init.h"
#include "init/table.h"

#define IB_INIT_SEED 20261 /* any; fixed, so that two beginnings of the same study are alike */

/* What @name@ stands for, in one command of one group. */
struct ib_init_values {
	const char *study;
	const char *endpoint, *model, *tokenizer;
	int64_t input_tokens, output_tokens, prompts;
	const char *cap;      /* "{cap}", or a number where it is fixed */
	const char *out;      /* directory of results */
	const char *workload; /* file */
	const struct ib_init_client *client;
	const struct ib_init_server *server;
	char *const *command; /* the user's words, or NULL */
};

enum ib_init_use { IB_INIT_MEASURE, IB_INIT_WARM_UP };

/* --- words.c --- */
/* A scalar of YAML that stands for exactly this text: plain where nothing can be misread, else in double quotes. */
void ib_init_scalar(struct ib_buf *b, const char *text);
/* A value as it stands in a command of a contract: "{" doubled, but not that of ${env:NAME}. Allocated. */
char *ib_init_literal(const char *value);
/* "key: [words]" behind an indent, a row a line; comments: with the reasons of the rows. */
void ib_init_argv(struct ib_buf *b, int indent, const char *key, const struct ib_init_values *v, enum ib_init_use use, bool comments);
/* The same of some words of the table ("cp {run_dir}/a b"). */
void ib_init_words(struct ib_buf *b, int indent, const char *key, const struct ib_init_values *v, const char *words);

/* --- groups.c --- */
/* The workloads, and the groups that use them. */
void ib_init_workloads(struct ib_buf *b, const struct ib_init_values *v);
void ib_init_groups(struct ib_buf *b, const struct ib_init_values *v);

/* --- contract.c --- */
/* The whole document. o: what was given and what is to be edited. */
void ib_init_contract(struct ib_buf *b, const struct ib_init_options *o, const struct ib_init_values *v);

#endif
