/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to a written report. */
#include "report/produce.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"

int ib_report_produce(const struct ib_ctx *ctx, const char *path, const struct ib_report_opts *opts, FILE *out, int *ret_exit, struct ib_err *err)
{
	const struct ib_report_format *format = opts->format ? opts->format : &ib_report_text;
	ib_auto_buf struct ib_buf b = IB_BUF(IB_REPORT_MAX);
	ib_auto_verdict struct ib_verdict v = {0};
	ib_auto_report struct ib_report report = {0};
	struct stat st;
	int r;

	if (opts->output && lstat(opts->output, &st) == 0)
		return ib_fail_at(err, IB_E_EXISTS, opts->output, "'%s' exists and is not overwritten; name a new file", opts->output);
	r = ib_verify_path(ctx, path, &opts->verify, &v, err);
	if (r < 0)
		return r;
	if (v.kind != IB_KIND_PACKET && v.kind != IB_KIND_STUDY && v.kind != IB_KIND_RUN)
		return ib_fail_at(err, IB_E_UNSUPPORTED, path, "'%s' is no study, run or packet of ib-run", path);
	ib_report_build(&v, &report);
	format->render(&report, &b);
	r = ib_buf_check(&b, "the report", err);
	if (r < 0)
		return r;
	*ret_exit = v.exit;
	if (opts->output)
		return ib_write_file(AT_FDCWD, opts->output, b.data, b.len, 0644, false, err);
	if (fwrite(ib_buf_str(&b), 1, b.len, out) != b.len)
		return ib_fail(err, IB_E_IO, errno, "cannot write the report");
	return 0;
}
