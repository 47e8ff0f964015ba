/* SPDX-License-Identifier: Apache-2.0 */
/* libibtools: verify benchmark evidence from a program, as ib-verify(1) does. Link with -libtools.
 *
 *	char why[256];
 *	ibv_verdict *v = ibv_verify("packet.tar.zst", NULL, why, sizeof(why));
 *
 *	if (!v)
 *		errx(3, "%s", why);
 *	puts(ibv_screen(v));
 *	int status = ibv_exit(v);
 *	ibv_free(v);
 *
 * The library never prints, keeps no global state and starts no thread or process; it ends the process (abort) when memory is out. It does not lock
 * itself down: a program that reads evidence of strangers does that itself. Texts from the evidence are UTF-8 and otherwise unchecked: escape
 * them before they reach a terminal or a page; ibv_screen() is escaped. */
#ifndef IB_VERIFY_H
#define IB_VERIFY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ibv_verdict ibv_verdict;

enum ibv_question { IBV_INTACT, IBV_SIGNED, IBV_TRUSTED, IBV_TIME_STAMPED, IBV_CONSISTENT };
enum ibv_answer { IBV_NOT_CHECKABLE, IBV_YES, IBV_NO };
enum ibv_status { IBV_OPEN, IBV_PASS, IBV_FAIL }; /* open: not checkable */

struct ibv_options {
	size_t size;                    /* sizeof(struct ibv_options): later versions add members at the end */
	const char *const *trust_files; /* files of public keys, n_trust_files of them */
	size_t n_trust_files;
	const char *const *fingerprints; /* "SHA256:…" */
	size_t n_fingerprints;
	const char *expect_head; /* SHA-256 of the ledger's last line, or NULL */
	int unsigned_ok, strict; /* 0 or 1, as the options of ib-verify */
};

struct ibv_finding { /* texts live as long as the verdict; each but id and message may be NULL */
	const char *id;
	char level; /* 'E', 'W' or 'I' */
	enum ibv_status status;
	const char *class_name; /* "E_HASH" … */
	const char *file, *where, *expected, *found, *message;
};

/* Verifies a packet, a study or a run's directory; options may be NULL. NULL when nothing could be looked at: one line is written to error (size bytes,
 * NUL-terminated). */
ibv_verdict *ibv_verify(const char *path, const struct ibv_options *options, char *error, size_t size);
/* The exit status of ib-verify: 0 holds, 1 does not hold, 3 not decided, 4 refused. */
int ibv_exit(const ibv_verdict *v);
enum ibv_answer ibv_ask(const ibv_verdict *v, enum ibv_question q);
size_t ibv_finding_count(const ibv_verdict *v);
/* 0 and *ret filled, or 1 when there is no finding i. */
int ibv_finding_get(const ibv_verdict *v, size_t i, struct ibv_finding *ret);
const char *ibv_json(const ibv_verdict *v);   /* the findings document, urn:ibtools:findings:v1 */
const char *ibv_screen(const ibv_verdict *v); /* the verdict screen, printable ASCII */
void ibv_free(ibv_verdict *v);
/* Version of the library, "1.0.0". */
const char *ibv_version(void);

#ifdef __cplusplus
}
#endif

#endif
