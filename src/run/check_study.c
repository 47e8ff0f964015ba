/* SPDX-License-Identifier: Apache-2.0 */
/* --check: what stands around the plan on this machine: addresses, environment, workloads, disk. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/read.h"
#include "run/check.h"

#define LEDGER_MAX (1u << 30)
#define DISK_UNKNOWN (INT64_C(1) << 30) /* wanted where no earlier run says how much one takes */

/* --- addresses --- */

static void look_origin(struct ib_preflight *p, struct ib_strv *done, const char *url)
{
	ib_auto_free char *origin = url ? ib_preflight_origin(url) : NULL;

	if (!origin || strchr(origin, '{'))
		return;
	for (size_t i = 0; i < done->n; i++)
		if (strcmp(done->v[i], origin) == 0)
			return;
	ib_strv_add(done, origin);
	if (ib_url_private(origin))
		ib_preflight_say(p, IB_CHECKED_OK, "%s is this machine or on a private network", origin);
	else if (p->contract->permission)
		ib_preflight_say(p, IB_CHECKED_OK, "%s is permitted: %.200s", origin, p->contract->permission);
	else
		ib_preflight_say(p, IB_CHECKED_FAIL, "%s is neither this machine nor on a private network: say in 'permission' who allowed load on it", origin);
}

static void look_address(struct ib_preflight *p)
{
	ib_auto_strv struct ib_strv done = {0};
	const char *endpoint = p->contract->endpoint;

	look_origin(p, &done, endpoint);
	for (size_t i = 0; i < p->view->n; i++) {
		const char *url = p->view->cells[i].settings.v[IB_SET_ENDPOINT];
		ib_auto_free char *ours = endpoint ? ib_preflight_origin(endpoint) : NULL, *its = url ? ib_preflight_origin(url) : NULL;
		size_t before = done.n;

		look_origin(p, &done, url);
		if (ours && its && done.n > before && strcmp(ours, its) != 0)
			ib_preflight_say(p, IB_CHECKED_FAIL, "the command of %s.%s sends to %s, the contract's endpoint is %s", p->view->cells[i].group->name,
					 p->view->cells[i].slot->cell, its, ours);
	}
	look_origin(p, &done, p->contract->readiness.url);
	if (!done.n)
		ib_preflight_say(p, IB_CHECKED_NOT, "neither the contract nor a command says where requests go");
}

const struct ib_plan_check ib_plan_check_address = {.name = "address", .title = "load goes where it may go, and where the contract says", .look = look_address};

/* --- environment --- */

static void look_environment(struct ib_preflight *p)
{
	struct ib_err err = {0};

	if (ib_plan_env(p->ctx, p->contract, &err) < 0)
		ib_preflight_say(p, IB_CHECKED_FAIL, "%s", err.text);
	else
		ib_preflight_say(p, IB_CHECKED_OK, "every ${env:NAME} of the contract is set");
}

const struct ib_plan_check ib_plan_check_environment = {.name = "environment", .title = "variables that the contract names are set", .look = look_environment};

/* --- workloads --- */

static void look_workload(struct ib_preflight *p, const struct ib_contract_workload *w)
{
	ib_auto_fd int fd = p->view->study_fd < 0 ? -1 : openat(p->view->study_fd, w->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char sha256[IB_HEX_LEN];
	struct ib_err err = {0};
	uint64_t bytes;

	if (fd < 0)
		ib_preflight_say(p, IB_CHECKED_FAIL, "workload '%s': '%s' cannot be opened; make it with the generator of the contract", w->name, w->file);
	else if (ib_sha256_fd(fd, w->file, sha256, &bytes, &err) < 0)
		ib_preflight_say(p, IB_CHECKED_FAIL, "workload '%s': %s", w->name, err.text);
	else if (!w->sha256)
		ib_preflight_say(p, IB_CHECKED_NOT, "workload '%s' is there; the contract has no sha256 of it", w->name);
	else if (strcmp(sha256, w->sha256) != 0)
		ib_preflight_say(p, IB_CHECKED_FAIL, "workload '%s': '%s' has SHA-256 %s, the contract says %s", w->name, w->file, sha256, w->sha256);
	else
		ib_preflight_say(p, IB_CHECKED_OK, "workload '%s' is there and has the digest of the contract", w->name);
}

static void look_workloads(struct ib_preflight *p)
{
	for (size_t i = 0; i < p->contract->workloads_n; i++)
		if (p->contract->workloads[i].file)
			look_workload(p, &p->contract->workloads[i]);
}

const struct ib_plan_check ib_plan_check_workloads = {.name = "workload", .title = "workload files are there and unchanged", .look = look_workloads};

/* --- disk --- */

/* Bytes of the files below a directory, at most 16 levels deep. */
static int64_t tree_bytes(int at, const char *name, int depth)
{
	ib_auto_dir DIR *d = ib_list_dir(at, name);
	int64_t n = 0;

	if (!d)
		return 0;
	for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			n += st.st_blocks * 512;
		else if (S_ISDIR(st.st_mode) && depth < 16)
			n += tree_bytes(dirfd(d), e->d_name, depth + 1);
	}
	return n;
}

/* The most that one of the last few runs took, or 0: there is none. */
static int64_t run_bytes(const struct ib_preflight *p)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	int64_t most = 0;

	if (p->view->study_fd < 0 || ib_read_file(p->view->study_fd, "ledger.jsonl", &b, NULL) < 0 || ib_ledger_view_load(ib_buf_str(&b), b.len, &v, NULL) < 0)
		return 0;
	for (size_t i = v.runs_n > 5 ? v.runs_n - 5 : 0; i < v.runs_n; i++) {
		ib_auto_free char *path = ib_asprintf("runs/%s", v.runs[i].id);
		int64_t n = tree_bytes(p->view->study_fd, path, 0);

		most = n > most ? n : most;
	}
	return most;
}

/* The study, or what will hold it. */
static int stat_disk(const char *study, struct statvfs *ret)
{
	ib_auto_free char *path = ib_strdup(study);

	for (;;) {
		char *slash = strrchr(path, '/');

		if (statvfs(*path ? path : "/", ret) == 0)
			return 0;
		if (!slash)
			return statvfs(".", ret);
		*slash = '\0';
	}
}

static void look_disk(struct ib_preflight *p)
{
	int64_t each = run_bytes(p), wanted = each ? each * (int64_t)p->slots_open : DISK_UNKNOWN, free_bytes;
	struct statvfs vfs;

	if (stat_disk(p->study, &vfs) < 0 || !vfs.f_blocks) {
		ib_preflight_say(p, IB_CHECKED_NOT, "the file system of '%s' does not say how much is free", p->study);
		return;
	}
	free_bytes = (int64_t)((uint64_t)vfs.f_bavail * vfs.f_frsize > INT64_MAX ? INT64_MAX : (uint64_t)vfs.f_bavail * vfs.f_frsize);
	if (each)
		ib_preflight_say(p, free_bytes < wanted ? IB_CHECKED_FAIL : IB_CHECKED_OK, "%.1f MiB are free, %zu runs take about %.1f MiB, as the largest of "
				 "the last ones did", (double)free_bytes / 1048576, p->slots_open, (double)wanted / 1048576);
	else
		ib_preflight_say(p, free_bytes < wanted ? IB_CHECKED_FAIL : IB_CHECKED_OK, "%.1f MiB are free; no earlier run says how much one takes, 1 GiB "
				 "is wanted",
				 (double)free_bytes / 1048576);
}

const struct ib_plan_check ib_plan_check_disk = {.name = "disk", .title = "there is room for the runs that are left", .look = look_disk};

static void look_health(struct ib_preflight *p)
{
	ib_preflight_say(p, IB_CHECKED_NOT, "nothing here judges the health of this machine yet; captures record its state with each run");
}

const struct ib_plan_check ib_plan_check_health = {.name = "machine", .title = "the machine is healthy", .look = look_health};
