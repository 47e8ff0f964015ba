/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: one caller-owned struct that gathers context on its way up. Only ib_fail() makes a negative. */
#ifndef IB_BASE_ERR_H
#define IB_BASE_ERR_H

#define IB_MUST __attribute__((warn_unused_result))

/* Codes from IB_E_HASH on are the classes of man/ib-packet.5; ib_code_name() gives their stable strings. */
enum ib_code {
	IB_OK = 0,
	IB_E_INTERNAL = -1, /* a bug of ours */
	IB_E_USAGE = -2,    /* wrong command line or contract */
	IB_E_IO = -3,       /* the system said no; sys holds errno */
	IB_E_SYNTAX = -4,   /* a document does not parse or has the wrong shape */
	IB_E_EXISTS = -5,   /* something that must not be overwritten is there */
	IB_E_STATE = -6,    /* the study or run is not in a state that allows this */
	IB_E_TIMEOUT = -7,
	/* the evidence does not hold: exit 1 */
	IB_E_HASH = -20,
	IB_E_MISSING = -21,
	IB_E_EXTRA = -22,
	IB_E_MANIFEST = -23,
	IB_E_SIG = -24,
	IB_E_KEY = -25,
	IB_E_LEDGER = -26,
	IB_E_BINDING = -27,
	/* could not decide: exit 3 */
	IB_E_TRUST = -40,
	IB_E_UNSUPPORTED = -41,
	/* input refused: exit 4 */
	IB_E_CONTAINER = -60,
	IB_E_TAR = -61,
	IB_E_TRUNC = -62,
	IB_E_TRAILING = -63,
	IB_E_PATH = -64,
	IB_E_TYPE = -65,
	IB_E_MODE = -66,
	IB_E_DUP = -67,
	IB_E_LIMIT = -68,
	IB_E_JSON = -69,
	IB_E_DSSE = -70,
};

struct ib_err {
	enum ib_code code;
	int sys;         /* errno, or 0 */
	char where[256]; /* the file, key or member at fault, or "" */
	char text[768];  /* lower case, no full stop, subject quoted */
};

/* Sets *err and returns code. sys is an errno value whose text is appended, or 0. err may be NULL. */
int ib_fail(struct ib_err *err, enum ib_code code, int sys, const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));

/* Prepends context ("context: text") to an error that is set; returns its code. */
int ib_wrap(struct ib_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Like ib_fail() without errno, and records the place at fault in err->where. */
int ib_fail_at(struct ib_err *err, enum ib_code code, const char *where, const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));

/* "E_HASH", "E_TAR" …; "E_INTERNAL" for anything unknown. Never NULL. */
const char *ib_code_name(enum ib_code code);

/* The exit status (base/exit.h) that a code stands for in ib-verify, ib-pack and ib-report. */
int ib_code_exit(enum ib_code code);

#endif
