/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a URL from within a run, through the helper ib-probe. */
#ifndef IB_RUN_PROBE_H
#define IB_RUN_PROBE_H

#include "base/buf.h"
#include "base/spawn.h"
#include "run/run.h"

#define IB_PROBE_URL_NAME "IB_PROBE_URL" /* the URL travels in the environment: arguments can be seen by everybody on the machine */

/* GETs url (${env:NAME} is replaced); the answer's body is added to body, within its maximum. IB_E_IO: no answer, or one with another status than
 * 200 to 299; IB_E_TIMEOUT; IB_E_LIMIT; IB_E_SYNTAX: it holds a byte 0, as no text does (compressed, for one); IB_E_STATE: a signal has arrived, which ends the
 * wait at once. The URL is in no message. */
IB_MUST int ib_probe(const struct ib_run *run, const char *url, int64_t timeout_ns, struct ib_buf *body, struct ib_err *err);

/* ib_spawn() that a signal to ib-run ends at once: IB_E_STATE. */
IB_MUST int ib_probe_spawn(const struct ib_run *run, struct ib_spawn *what, struct ib_buf *out, struct ib_child_end *ret, struct ib_err *err);

/* Keeps an answer, redacted, as endpoint/NAME of the run. */
IB_MUST int ib_probe_keep(const struct ib_run *run, const char *name, const char *text, struct ib_err *err);

/* url with ${env:NAME} replaced, allocated. It may hold a secret: it is for use, not for a message or a record. */
IB_MUST int ib_probe_url(const struct ib_run *run, const char *url, char **ret, struct ib_err *err);

/* run->env with IB_PROBE_URL for url (placeholders replaced when expand). ret is cleared by the caller. */
IB_MUST int ib_probe_env(const struct ib_run *run, const char *url, bool expand, struct ib_strv *ret, struct ib_err *err);

#endif
