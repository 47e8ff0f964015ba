/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines and environment look-ups of a context. */
#include "base/ctx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ib_log(const struct ib_ctx *ctx, enum ib_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!ctx->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ctx->log(ctx->log_arg, level, line);
}

const char *ib_env(const struct ib_ctx *ctx, const char *name)
{
	size_t n = strlen(name);

	for (char *const *e = ctx->env; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}
