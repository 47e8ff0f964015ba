/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders in texts of a contract: {name} from a list of known names, {{ for a brace, ${env:NAME} from the environment. */
#ifndef IB_MODEL_TEMPLATE_H
#define IB_MODEL_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct ib_template_var {
	const char *name, *value;
};

enum ib_template_mode {
	IB_TEMPLATE_STRICT,  /* an unknown name is an error, {{ becomes one brace */
	IB_TEMPLATE_ENV,     /* only ${env:NAME} is replaced: URLs */
	IB_TEMPLATE_PARTIAL, /* known names are replaced, everything else stays, so that the result can be expanded again: braces of values are doubled */
};

struct ib_template {
	const struct ib_template_var *vars;
	size_t n;
	char *const *env;   /* NULL-terminated, for ${env:NAME}; NULL: ${env:NAME} stays as it is (what is recorded) */
	enum ib_template_mode mode;
};

/* Appends text, expanded, to out (check it with ib_buf_check). IB_E_USAGE: unknown name, lone brace, variable not set in env. */
IB_MUST int ib_template_expand(const struct ib_template *t, const char *text, struct ib_buf *out, struct ib_err *err);

/* Calls use(arg, NAME) for each ${env:NAME} of text. IB_E_USAGE when one is malformed. */
IB_MUST int ib_template_env(const char *text, void (*use)(void *arg, const char *name), void *arg, struct ib_err *err);

/* Names that are replaced when a run starts ("run_id" …); ends with NULL. No variable of a matrix may have one. */
extern const char *const ib_template_reserved[];

#endif
