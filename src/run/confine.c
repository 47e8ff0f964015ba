/* SPDX-License-Identifier: Apache-2.0 */
/* What surrounds a run's command: control group, network, terminal, standard input; and what the record says of them. */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/execute.h"

void ib_execution_limit(struct ib_execution *x)
{
	ib_auto_free char *parent = ib_cgroup_find(), *name = ib_asprintf("ib-run-%s", x->run->id);

	ib_cgroup_make(parent, name, x->run->spec->memory_bytes ? x->run->spec->memory_bytes : IB_NONE, &x->cgroup);
	x->spec.cgroup_procs_fd = x->cgroup.procs_fd;
	x->spec.cgroup_kill_fd = x->cgroup.kill_fd;
}

static const char *stdin_kind(const struct ib_execution *x)
{
	struct stat st;

	if (x->spec.terminal && x->spec.stdin_fd >= 0)
		return "pseudo-terminal";
	if (fstat(STDIN_FILENO, &st) < 0)
		return "closed";
	if (isatty(STDIN_FILENO))
		return "terminal";
	if (S_ISCHR(st.st_mode))
		return st.st_rdev == makedev(1, 3) ? "null" : "device";
	return S_ISREG(st.st_mode) ? "file" : S_ISFIFO(st.st_mode) ? "pipe" : S_ISSOCK(st.st_mode) ? "socket" : "other";
}

void ib_execution_isolation(const struct ib_execution *x)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "network", x->spec.no_network ? "none" : "host");
	ib_json_set_str(o, "terminal", x->spec.terminal ? "pseudo-terminal" : "none");
	ib_json_set_str(o, "stdin", stdin_kind(x));
	ib_json_set_str(o, "stderr", x->spec.terminal ? "stdout.log" : "stderr.log");
	ib_record_set(x->run->record, IB_SECTION_ISOLATION, o);
}

void ib_execution_resources(struct ib_execution *x, const struct ib_child_result *res)
{
	struct ib_record *r = x->run->record;
	int64_t kills;
	json_t *o;

	if (res->cgroup_errno)
		ib_cgroup_unused(&x->cgroup, "the command could not be put into its control group");
	o = ib_cgroup_report(&x->cgroup, &kills);
	ib_record_set(r, IB_SECTION_RESOURCES, o);
	if (x->cgroup.why_no_limit)
		ib_strv_take(&r->notes, ib_asprintf("the memory limit was not enforced: %s", x->cgroup.why_no_limit));
	if (kills == IB_NONE || kills == 0)
		return;
	ib_strv_take(&r->notes, ib_asprintf("out of memory: the kernel killed %lld processes of the command", (long long)kills));
	if (!res->interrupted_by)
		ib_record_fail(r, "out_of_memory");
}
