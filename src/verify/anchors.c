/* SPDX-License-Identifier: Apache-2.0 */
/* Loading the reviewer's trust. */
#include "verify/anchors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

/* When a key must be valid, and whose it must be: the same for every anchor. */
static void ask(const struct ib_ctx *ctx, const struct ib_verify_opts *opts, struct ib_trust *t)
{
	t->at = (opts->at_ns ? opts->at_ns : ib_wall_ns(ctx->clock)) / IB_NS;
	t->principal = opts->principal;
}

static struct ib_trust *add(struct ib_anchors *a, const char *option, const char *value)
{
	a->each = ib_realloc(a->each, a->n + 1, sizeof(*a->each));
	a->names = ib_realloc(a->names, a->n + 1, sizeof(*a->names));
	a->each[a->n] = (struct ib_trust){0};
	a->names[a->n] = ib_asprintf("%s %s", option, value);
	return &a->each[a->n++];
}

static int load_file(struct ib_anchors *a, const char *path, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_KEY_FILE_MAX + 1);
	bool input = strcmp(path, "-") == 0;
	int r;

	if (input) {
		r = ib_read_all(STDIN_FILENO, "standard input", &b, err);
	} else {
		ib_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC); /* may be a link, or a pipe of the shell */

		r = fd < 0 ? ib_fail(err, IB_E_IO, errno, "cannot open trust file '%s'", path) : ib_read_all(fd, path, &b, err);
	}
	if (r == IB_E_LIMIT) /* what is too large is not the subject */
		return ib_fail(err, IB_E_USAGE, 0, "trust file '%s' is larger than 1 MiB", path);
	if (r == 0)
		r = ib_trust_add(&a->all, ib_buf_str(&b), b.len, input ? "standard input" : path, err);
	return r < 0 ? r : ib_trust_add(add(a, "--trust", path), ib_buf_str(&b), b.len, path, err);
}

int ib_anchors_load(const struct ib_ctx *ctx, const struct ib_verify_opts *opts, struct ib_anchors *ret, struct ib_err *err)
{
	int r = 0;

	*ret = (struct ib_anchors){0};
	if (opts->principal && !opts->n_trust)
		return ib_fail(err, IB_E_USAGE, 0, "'--principal %s' needs a file that says whose a key is: --trust with an allowed_signers file", opts->principal);
	for (size_t i = 0; r == 0 && i < opts->n_trust; i++)
		r = load_file(ret, opts->trust[i], err);
	for (size_t i = 0; r == 0 && i < opts->n_fingerprints; i++) {
		r = ib_trust_add_fingerprint(&ret->all, opts->fingerprints[i], err);
		if (r == 0)
			r = ib_trust_add_fingerprint(add(ret, "--fingerprint", opts->fingerprints[i]), opts->fingerprints[i], err);
	}
	ask(ctx, opts, &ret->all);
	for (size_t i = 0; i < ret->n; i++)
		ask(ctx, opts, &ret->each[i]);
	return r;
}

void ib_anchors_clear(struct ib_anchors *a)
{
	for (size_t i = 0; i < a->n; i++) {
		ib_trust_clear(&a->each[i]);
		free(a->names[i]);
	}
	free(a->each);
	free(a->names);
	ib_trust_clear(&a->all);
	*a = (struct ib_anchors){0};
}
