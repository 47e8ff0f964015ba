/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool keeps when it locks itself in: the evidence, its standard streams, and the directory of the file that it was asked to write. */
#include "tools/lockdown.h"

#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"

static int open_parent(const char *path, int *ret_fd, struct ib_err *err)
{
	const char *slash = strrchr(path, '/');
	ib_auto_free char *dir = slash ? ib_strndup(path, (size_t)(slash - path) + 1) : ib_strdup(".");

	return ib_open_dir(AT_FDCWD, dir, ret_fd, err);
}

int ib_lockdown(void *arg, const struct ib_verify_open *open, struct ib_sandbox *ret, struct ib_err *err)
{
	const struct ib_lockdown *l = arg;
	struct ib_sandbox_opts o = {.write = -1, .rename = -1, .require = l->require};
	ib_auto_fd int parent = -1;
	int r = l->writes ? open_parent(l->writes, &parent, err) : 0;

	if (r < 0)
		return r;
	if (open->file >= 0)
		o.keep[o.n_keep++] = open->file;
	for (size_t i = 0; i < open->n_dirs; i++)
		o.read[o.n_read++] = open->dirs[i];
	o.write = l->extract ? l->extract->dir : parent;
	o.rename = l->extract ? l->extract->parent : -1;
	return ib_sandbox_enter(&o, ret, err);
}
