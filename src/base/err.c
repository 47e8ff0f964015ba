/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: formatting, names and exit statuses of codes. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/exit.h"

static const struct {
	enum ib_code code;
	const char *name;
	int status;
} codes[] = {
	{IB_OK, "OK", IB_EXIT_OK},
	{IB_E_INTERNAL, "E_INTERNAL", IB_EXIT_UNDECIDED},
	{IB_E_USAGE, "E_USAGE", IB_EXIT_USAGE},
	{IB_E_IO, "E_IO", IB_EXIT_UNDECIDED},
	{IB_E_SYNTAX, "E_SYNTAX", IB_EXIT_USAGE},
	{IB_E_EXISTS, "E_EXISTS", IB_EXIT_USAGE},
	{IB_E_STATE, "E_STATE", IB_EXIT_USAGE},
	{IB_E_TIMEOUT, "E_TIMEOUT", IB_EXIT_UNDECIDED},
	{IB_E_HASH, "E_HASH", IB_EXIT_FAILS},
	{IB_E_MISSING, "E_MISSING", IB_EXIT_FAILS},
	{IB_E_EXTRA, "E_EXTRA", IB_EXIT_FAILS},
	{IB_E_MANIFEST, "E_MANIFEST", IB_EXIT_FAILS},
	{IB_E_SIG, "E_SIG", IB_EXIT_FAILS},
	{IB_E_KEY, "E_KEY", IB_EXIT_FAILS},
	{IB_E_LEDGER, "E_LEDGER", IB_EXIT_FAILS},
	{IB_E_BINDING, "E_BINDING", IB_EXIT_FAILS},
	{IB_E_TRUST, "E_TRUST", IB_EXIT_UNDECIDED},
	{IB_E_UNSUPPORTED, "E_UNSUPPORTED", IB_EXIT_UNDECIDED},
	{IB_E_CONTAINER, "E_CONTAINER", IB_EXIT_REFUSED},
	{IB_E_TAR, "E_TAR", IB_EXIT_REFUSED},
	{IB_E_TRUNC, "E_TRUNC", IB_EXIT_REFUSED},
	{IB_E_TRAILING, "E_TRAILING", IB_EXIT_REFUSED},
	{IB_E_PATH, "E_PATH", IB_EXIT_REFUSED},
	{IB_E_TYPE, "E_TYPE", IB_EXIT_REFUSED},
	{IB_E_MODE, "E_MODE", IB_EXIT_REFUSED},
	{IB_E_DUP, "E_DUP", IB_EXIT_REFUSED},
	{IB_E_LIMIT, "E_LIMIT", IB_EXIT_REFUSED},
	{IB_E_JSON, "E_JSON", IB_EXIT_REFUSED},
	{IB_E_DSSE, "E_DSSE", IB_EXIT_REFUSED},
};

__attribute__((format(printf, 4, 0))) static void set_text(struct ib_err *err, enum ib_code code, int sys, const char *fmt, va_list ap)
{
	size_t n;

	err->code = code;
	err->sys = sys;
	err->where[0] = '\0';
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	n = strlen(err->text);
	if (sys && n + 3 < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - n, ": %s", strerror(sys));
}

int ib_fail(struct ib_err *err, enum ib_code code, int sys, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		set_text(err, code, sys, fmt, ap);
		va_end(ap);
	}
	return code;
}

int ib_fail_at(struct ib_err *err, enum ib_code code, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		set_text(err, code, 0, fmt, ap);
		va_end(ap);
		snprintf(err->where, sizeof(err->where), "%s", where);
	}
	return code;
}

int ib_wrap(struct ib_err *err, const char *fmt, ...)
{
	char context[sizeof(err->text)];
	size_t n;
	va_list ap;

	if (!err)
		return IB_E_INTERNAL;
	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	n = strlen(context);
	if (n + 3 < sizeof(context)) {
		snprintf(context + n, sizeof(context) - n, ": %s", err->text);
		memcpy(err->text, context, sizeof(err->text));
	}
	return err->code;
}

const char *ib_code_name(enum ib_code code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code)
			return codes[i].name;
	return "E_INTERNAL";
}

int ib_code_exit(enum ib_code code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code)
			return codes[i].status;
	return IB_EXIT_UNDECIDED;
}
