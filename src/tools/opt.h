/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the tools: one table row is parser, --help and completion; a test compares it with the manual. */
#ifndef IB_TOOLS_OPT_H
#define IB_TOOLS_OPT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct ib_opt {
	int id;              /* returned by ib_opt_next(), > 0 */
	char letter;         /* short form, or 0 */
	const char *name;    /* long form without dashes, or NULL */
	const char *metavar; /* name of the argument, or NULL for a flag */
	const char *help;    /* one sentence, lower case, no full stop */
};

/* --help (1000) and --version (1001) are added to every tool by the parser itself. */
struct ib_tool {
	const char *name;            /* "ib-run" */
	const char *summary;         /* one line */
	const char *const *synopsis; /* argument lines behind the name, NULL-terminated */
	const struct ib_opt *opts;   /* ends with id 0 */
	const char *const *exits;    /* lines of exit statuses, NULL-terminated */
	bool stop_at_operand;        /* everything from the first operand on belongs to a command */
};

struct ib_opt_state {
	const struct ib_tool *tool;
	int argc, at;
	char **argv;
	const char *letters; /* rest of a cluster of short flags */
	bool operands_only;  /* after "--" */
};

enum { IB_OPT_END = 0, IB_OPT_OPERAND = 999, IB_OPT_HELP = 1000, IB_OPT_VERSION = 1001 };

void ib_opt_init(struct ib_opt_state *s, const struct ib_tool *tool, int argc, char **argv);
/* Next option's id, with its argument in *ret_arg; IB_OPT_OPERAND with the operand in *ret_arg; IB_OPT_END; or a negative
 * code (IB_E_USAGE: unknown option, with the nearest known one, missing or needless argument). With stop_at_operand, or after "--", the first
 * operand ends the parsing: s->at is its index and IB_OPT_END is returned. */
IB_MUST int ib_opt_next(struct ib_opt_state *s, const char **ret_arg, struct ib_err *err);

/* Handles IB_OPT_HELP and IB_OPT_VERSION: prints to stdout. Returns the exit status (a full stdout is an error: 3). */
int ib_opt_info(const struct ib_tool *tool, int id);

/* "NAME: text" and "try 'NAME --help'" on stderr; returns status. */
int ib_tool_usage(const struct ib_tool *tool, const struct ib_err *err, int status);
/* "NAME: prefix text" on stderr, untrusted bytes escaped: chatter. */
void ib_tool_say(const struct ib_tool *tool, const char *prefix, const char *text);
/* "NAME: text" on stderr, untrusted bytes escaped; returns ib_code_exit(err->code). */
int ib_tool_error(const struct ib_tool *tool, const struct ib_err *err);
/* Flushes stdout; a failure becomes a message and IB_EXIT_UNDECIDED instead of status. */
int ib_tool_finish(const struct ib_tool *tool, int status);

#endif
