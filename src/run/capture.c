/* SPDX-License-Identifier: Apache-2.0 */
/* Captures around a run: the node's by ib-capture, once; volatile facts in this process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "capture/capture.h"
#include "run/inside.h"

#define CAPTURE_LIMIT_NS (60 * IB_NS)

char *ib_run_capture_tool(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path, *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		path = ib_asprintf("%.*s/ib-capture", (int)(slash - self), self);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return ib_strdup("ib-capture");
}

static int run_tool(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals, struct ib_buf *out, struct ib_child_result *res,
		    struct ib_err *err)
{
	ib_auto_free char *tool = ib_run_capture_tool();
	char arg0[] = "--store";
	char *argv[] = {tool, arg0, study->path, NULL};
	ib_auto_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ib_auto_fd int file = memfd_create("ib-capture", MFD_CLOEXEC);
	struct ib_child_spec spec = {
		.argv = argv, .env = ctx->env, .stdin_fd = null, .stdout_fd = file, .stderr_fd = null, .timeout_ns = CAPTURE_LIMIT_NS, .grace_ns = IB_NS};
	int r;

	if (null < 0 || file < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot hold its output");
	r = ib_child_run(ctx, signals, &spec, res, err);
	if (r < 0)
		return r;
	if (lseek(file, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read its output");
	return ib_read_all(file, "the output of ib-capture", out, err);
}

void ib_run_capture_node(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals)
{
	ib_auto_buf struct ib_buf out = IB_BUF(4096);
	struct ib_child_result res;
	struct ib_err err = {0};
	int r;

	if (study->capture_tried)
		return;
	study->capture_tried = true;
	r = run_tool(ctx, study, signals, &out, &res, &err);
	if (r == 0 && res.exec_errno != IB_NONE)
		r = ib_fail(&err, IB_E_IO, (int)res.exec_errno, "cannot execute ib-capture");
	else if (r == 0 && res.exit_status != 0)
		r = ib_fail(&err, IB_E_STATE, 0, "ib-capture ended with status %lld", (long long)(res.exit_status == IB_NONE ? 128 + res.signal : res.exit_status));
	if (r == 0 && out.len >= 65 && out.data[64] == '\n') {
		out.data[64] = '\0';
		if (ib_is_hex(out.data, 64)) {
			memcpy(study->capture_node, out.data, IB_HEX_LEN);
			return;
		}
	}
	if (r == 0)
		r = ib_fail(&err, IB_E_STATE, 0, "ib-capture did not print a digest");
	study->capture_note = ib_asprintf("there is no capture of this node: %s", r < 0 ? err.text : "unknown");
}

static int write_volatile(struct ib_run *run, const char *name, struct ib_err *err)
{
	struct ib_ctx ctx = *run->ctx;
	ib_auto_json json_t *doc = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	int r;

	ctx.redact = run->study->redactor;
	if ((r = ib_capture_volatile(&ctx, &doc, err)) < 0 || (r = ib_capture_text(&ctx, doc, &b, err)) < 0)
		return r;
	return ib_write_file(run->dir_fd, name, b.data, b.len, 0644, false, err);
}

const char *ib_run_capture_volatile(struct ib_run *run, const char *name)
{
	struct ib_err err = {0};

	if (write_volatile(run, name, &err) == 0)
		return "ok";
	ib_strv_take(&run->record->notes, ib_asprintf("there is no '%s': %s", name, err.text));
	return "error";
}
