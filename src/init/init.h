/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a study: a commented contract for one client, with a matrix that answers something. */
#ifndef IB_INIT_INIT_H
#define IB_INIT_INIT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct ib_init_options {
	const char *client;               /* a name of ib_init_clients[]; NULL: command */
	const char *server;               /* a name of ib_init_servers[]; NULL: the client's own */
	const char *endpoint, *model, *tokenizer, *permission; /* NULL: to be edited, or not needed */
	int64_t prompts, input_tokens, output_tokens;          /* 0: ours */
	char *const *command;             /* of client "command": its words, or NULL */
};

/* Texts that go into a contract: IB_E_USAGE names the option whose value is no text, holds a secret, or is otherwise unfit. */
IB_MUST int ib_init_check(const struct ib_init_options *o, struct ib_err *err);

/* The bytes of contract.yaml for a study of that name. They parse, or this fails: IB_E_USAGE for values that no contract takes. */
IB_MUST int ib_init_compose(const struct ib_init_options *o, const char *study, struct ib_buf *ret, struct ib_err *err);

/* Makes dir where it is missing, and writes dir/contract.yaml, whose path it gives (allocated). IB_E_EXISTS: never over another file. */
IB_MUST int ib_init_write(const struct ib_init_options *o, const char *dir, char **ret_path, struct ib_err *err);

#endif
