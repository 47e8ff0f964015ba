/* SPDX-License-Identifier: Apache-2.0 */
/* The installed interface of libibtools over ib_verify_path(). */
#include <ib/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "verify/verify.h"

#define TEXT_MAX (256u << 20)

struct ibv_verdict {
	struct ib_verdict v;
	struct ib_verify_opts opts;
	char *json, *screen;
};

static void take_options(const struct ibv_options *from, struct ib_verify_opts *to)
{
	struct ibv_options o = {0};

	if (from) /* a caller of an older version has a shorter struct */
		memcpy(&o, from, from->size < sizeof(o) ? from->size : sizeof(o));
	*to = (struct ib_verify_opts){
		.trust = o.trust_files,
		.n_trust = o.n_trust_files,
		.fingerprints = o.fingerprints,
		.n_fingerprints = o.n_fingerprints,
		.expect_head = o.expect_head,
		.unsigned_ok = o.unsigned_ok != 0,
		.strict = o.strict != 0,
	};
}

ibv_verdict *ibv_verify(const char *path, const struct ibv_options *options, char *error, size_t size)
{
	const struct ib_ctx ctx = {.clock = &ib_clock_system};
	struct ibv_verdict *v = ib_alloc(sizeof(*v));
	struct ib_buf text = IB_BUF(TEXT_MAX);
	struct ib_err err;
	json_t *j;

	take_options(options, &v->opts);
	if (ib_verify_path(&ctx, path, &v->opts, &v->v, &err) < 0) {
		if (size)
			snprintf(error, size, "%s", err.text);
		ibv_free(v);
		return NULL;
	}
	ib_verdict_screen(&v->v, &v->opts, false, &text);
	v->screen = ib_buf_steal(&text);
	text = IB_BUF(TEXT_MAX);
	j = ib_verdict_json(&v->v);
	ib_json_write_pretty(j, &text);
	json_decref(j);
	v->json = ib_buf_steal(&text);
	v->opts = (struct ib_verify_opts){0}; /* the caller's texts need not live any longer */
	v->v.study.expect_head = NULL;
	return v;
}

int ibv_exit(const ibv_verdict *v)
{
	return v->v.exit;
}

enum ibv_answer ibv_ask(const ibv_verdict *v, enum ibv_question q)
{
	const enum ib_holds answers[] = {[IBV_INTACT] = v->v.intact,
					 [IBV_SIGNED] = v->v.is_signed,
					 [IBV_TRUSTED] = v->v.trusted,
					 [IBV_TIME_STAMPED] = v->v.time_stamped,
					 [IBV_CONSISTENT] = v->v.consistent};

	if ((unsigned)q >= sizeof(answers) / sizeof(answers[0]))
		return IBV_NOT_CHECKABLE;
	return answers[q] == IB_HOLDS_YES ? IBV_YES : answers[q] == IB_HOLDS_NO ? IBV_NO : IBV_NOT_CHECKABLE;
}

size_t ibv_finding_count(const ibv_verdict *v)
{
	return v->v.findings.n;
}

int ibv_finding_get(const ibv_verdict *v, size_t i, struct ibv_finding *ret)
{
	const struct ib_finding *f = i < v->v.findings.n ? &v->v.findings.v[i] : NULL;

	if (!f)
		return 1;
	*ret = (struct ibv_finding){
		.id = f->id,
		.level = "EWI"[f->level],
		.status = f->status == IB_PASS ? IBV_PASS : f->status == IB_FAIL ? IBV_FAIL : IBV_OPEN,
		.class_name = f->code ? ib_code_name(f->code) : NULL,
		.file = f->file,
		.where = f->where,
		.expected = f->expected,
		.found = f->found,
		.message = f->message,
	};
	return 0;
}

const char *ibv_json(const ibv_verdict *v)
{
	return v->json;
}

const char *ibv_screen(const ibv_verdict *v)
{
	return v->screen;
}

void ibv_free(ibv_verdict *v)
{
	if (!v)
		return;
	ib_verdict_clear(&v->v);
	free(v->json);
	free(v->screen);
	free(v);
}

const char *ibv_version(void)
{
	return PACKAGE_VERSION;
}
