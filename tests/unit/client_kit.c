/* SPDX-License-Identifier: Apache-2.0 */
/* What the suites of single clients share. */
#include "client_kit.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "unit.h"

#define SETS "tests/data/clients/sets/"

void kit_set(const char *name, struct ib_outputs *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	ib_auto_fd int fd = open(ib_src(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ib_err err = {0};

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(ib_client_read_dir(fd, ret, &err) == 0);
	CU_ASSERT(ret->unreadable == 0);
}

void kit_load(const char *name, struct ib_buf *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	struct ib_err err = {0};

	*ret = IB_BUF(IB_SLURP_MAX);
	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, ib_src(path), ret, &err) == 0);
}

int kit_add(const char *text, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_source_mem mem = {.data = text, .n = strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_results struct ib_results one = {0};
	int r = ib_client_read_source(&in, name, &one, err);

	if (r == 0)
		ib_results_move(ret, &one);
	return r;
}

enum ib_code kit_read(const char *text, struct ib_results *ret)
{
	struct ib_err err = {0};

	return ib_client_read(text, strlen(text), "result.json", ret, &err) < 0 ? err.code : IB_OK;
}

void kit_batter(const char *text, size_t n, size_t step)
{
	static const char others[] = {'0', '-', '"', '{', ']', 'e', '\0', '\n'};
	ib_auto_free char *copy = ib_strndup(text, n);

	for (size_t i = 0; i < n; i += step) {
		ib_auto_results struct ib_results cut = {0}, turned = {0};
		struct ib_err err = {0};
		char was = copy[i];

		CU_ASSERT(ib_client_read(text, i, "cut", &cut, &err) == 0 || cut.n == 0);
		copy[i] = others[(i / step) % sizeof(others)];
		CU_ASSERT(ib_client_read(copy, n, "turned", &turned, &err) == 0 || turned.n == 0);
		copy[i] = was;
	}
}

char *kit_edit(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	CU_ASSERT_FATAL(at != NULL);
	return ib_asprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

const struct ib_result *kit_result(const struct ib_results *all, const char *schema_id, const char *label)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].schema_id, schema_id) == 0 && (!label || (all->v[i].label && strcmp(all->v[i].label, label) == 0)))
			return &all->v[i];
	CU_FAIL_FATAL("no such result");
	return NULL;
}

size_t kit_status(const struct ib_result *r, enum ib_claim_status s)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_claims; i++)
		n += r->claims[i].status == s;
	return n;
}

double kit_derived(const struct ib_result *r, const char *claim)
{
	const struct ib_claim *c = ib_result_find_claim(r, claim);

	return c ? c->derived.value : NAN;
}

enum ib_claim_status kit_claim(const struct ib_result *r, const char *claim)
{
	const struct ib_claim *c = ib_result_find_claim(r, claim);

	CU_ASSERT_FATAL(c != NULL);
	return c->status;
}

const struct ib_hint *kit_hint(const struct ib_result *r, const char *check)
{
	for (size_t i = 0; i < r->n_hints; i++)
		if (strcmp(r->hints[i].check, check) == 0)
			return &r->hints[i];
	return NULL;
}

bool kit_near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}
