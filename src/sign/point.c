/* SPDX-License-Identifier: Apache-2.0 */
/* Ed25519 (RFC 8032, 5.1): decoding of a point, only to judge it. All values are public, so nothing needs constant time. */
#include "sign/point.h"

#include <openssl/bn.h>
#include <stdlib.h>
#include <string.h>

struct field {
	BN_CTX *ctx;
	BIGNUM *p, *d, *one;
};

struct point {
	BIGNUM *x, *y;
};

static const char prime[] = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed";
static const char curve_d[] = "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3";
static const char order[] = "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed";

/* Memory is all that can fail in these; ends the process then, as every allocation does. */
static void must(int good)
{
	if (!good)
		abort();
}

static void field_init(struct field *f)
{
	memset(f, 0, sizeof(*f));
	f->ctx = BN_CTX_new();
	f->one = BN_new();
	must(f->ctx && f->one && BN_one(f->one) && BN_hex2bn(&f->p, prime) && BN_hex2bn(&f->d, curve_d));
}

static void field_clear(struct field *f)
{
	BN_free(f->p);
	BN_free(f->d);
	BN_free(f->one);
	BN_CTX_free(f->ctx);
}

/* r = a / b; false when b is 0. */
static bool divide(const struct field *f, BIGNUM *r, const BIGNUM *a, const BIGNUM *b)
{
	if (!BN_mod_inverse(r, b, f->p, f->ctx))
		return false;
	must(BN_mod_mul(r, r, a, f->p, f->ctx));
	return true;
}

/* x from y: x^2 = (y^2 - 1) / (d y^2 + 1). False when there is none. */
static bool recover_x(const struct field *f, struct point *p)
{
	BIGNUM *yy, *num, *den, *xx;
	bool good;

	BN_CTX_start(f->ctx);
	yy = BN_CTX_get(f->ctx);
	num = BN_CTX_get(f->ctx);
	den = BN_CTX_get(f->ctx);
	xx = BN_CTX_get(f->ctx);
	must(xx && BN_mod_sqr(yy, p->y, f->p, f->ctx) && BN_mod_sub(num, yy, f->one, f->p, f->ctx) && BN_mod_mul(den, yy, f->d, f->p, f->ctx) &&
	     BN_mod_add(den, den, f->one, f->p, f->ctx));
	good = divide(f, xx, num, den) && (BN_is_zero(xx) || BN_kronecker(xx, f->p, f->ctx) == 1) && BN_mod_sqrt(p->x, xx, f->p, f->ctx);
	BN_CTX_end(f->ctx);
	return good;
}

/* p = 2p, affine; false only for values off the curve. */
static bool twice(const struct field *f, struct point *p)
{
	BIGNUM *xx, *yy, *k, *a, *b, *x, *y;
	bool good;

	BN_CTX_start(f->ctx);
	xx = BN_CTX_get(f->ctx);
	yy = BN_CTX_get(f->ctx);
	k = BN_CTX_get(f->ctx);
	a = BN_CTX_get(f->ctx);
	b = BN_CTX_get(f->ctx);
	x = BN_CTX_get(f->ctx);
	y = BN_CTX_get(f->ctx);
	must(y && BN_mod_sqr(xx, p->x, f->p, f->ctx) && BN_mod_sqr(yy, p->y, f->p, f->ctx) && BN_mod_mul(k, xx, yy, f->p, f->ctx) &&
	     BN_mod_mul(k, k, f->d, f->p, f->ctx));
	must(BN_mod_mul(a, p->x, p->y, f->p, f->ctx) && BN_mod_lshift1(a, a, f->p, f->ctx) && BN_mod_add(b, f->one, k, f->p, f->ctx));
	good = divide(f, x, a, b);
	must(BN_mod_add(a, yy, xx, f->p, f->ctx) && BN_mod_sub(b, f->one, k, f->p, f->ctx));
	good = divide(f, y, a, b) && good;
	must(BN_copy(p->x, x) && BN_copy(p->y, y));
	BN_CTX_end(f->ctx);
	return good;
}

/* Eight times the point is the neutral element (0, 1) exactly for the points of low order. */
static bool low_order(const struct field *f, struct point *p)
{
	for (int i = 0; i < 3; i++)
		if (!twice(f, p))
			return true;
	return BN_is_zero(p->x) && BN_is_one(p->y);
}

bool ib_ed25519_point_ok(const uint8_t in[32])
{
	uint8_t bytes[32];
	struct field f;
	struct point p;
	bool sign = in[31] >> 7, good;

	memcpy(bytes, in, sizeof(bytes));
	bytes[31] &= 0x7f;
	field_init(&f);
	p.x = BN_new();
	p.y = BN_lebin2bn(bytes, sizeof(bytes), NULL);
	must(p.x && p.y);
	good = BN_cmp(p.y, f.p) < 0 && recover_x(&f, &p) && !(BN_is_zero(p.x) && sign) && !low_order(&f, &p);
	BN_free(p.x);
	BN_free(p.y);
	field_clear(&f);
	return good;
}

bool ib_ed25519_scalar_ok(const uint8_t s[32])
{
	BIGNUM *l = NULL, *v = BN_lebin2bn(s, 32, NULL);
	bool good;

	must(v && BN_hex2bn(&l, order));
	good = BN_cmp(v, l) < 0;
	BN_free(l);
	BN_free(v);
	return good;
}
