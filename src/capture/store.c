/* SPDX-License-Identifier: Apache-2.0 */
/* Captures in a study: named by their digest. */
#include "capture/capture.h"

#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "redact/redact.h"

/* An equal name means equal bytes: what is there stays. */
static int put(int dir, const char *name, const char *data, size_t n, struct ib_err *err)
{
	int r = ib_write_file(dir, name, data, n, 0444, false, err);

	return r == IB_E_EXISTS ? 0 : r;
}

int ib_capture_store(const struct ib_ctx *ctx, int study_fd, const struct ib_capture *c, char ret_sha256[IB_HEX_LEN], struct ib_err *err)
{
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	ib_auto_free char *json = NULL, *xml = NULL;
	char sha256[IB_HEX_LEN];
	int r = ib_capture_text(ctx, c->doc, &text, err);

	if (r < 0)
		return r;
	if (c->xml)
		r = ib_gate(ctx->redact, c->xml, strlen(c->xml), "topology", err);
	if (r < 0)
		return r;
	ib_sha256_of(text.data, text.len, sha256);
	json = ib_asprintf("captures/%s.json", sha256);
	xml = ib_asprintf("captures/%s.xml", c->xml_sha256);
	r = ib_make_dirs(study_fd, "captures", 0777, err);
	if (r == 0 && c->xml)
		r = put(study_fd, xml, c->xml, strlen(c->xml), err);
	if (r == 0)
		r = put(study_fd, json, text.data, text.len, err);
	if (r < 0)
		return r;
	memcpy(ret_sha256, sha256, IB_HEX_LEN);
	return 0;
}
