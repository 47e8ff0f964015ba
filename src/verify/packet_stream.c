/* SPDX-License-Identifier: Apache-2.0 */
/* A second reading of a packet, for files that are too large to be held: whoever read the first one knows their digests. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "store/tar.h"
#include "verify/hashed.h"
#include "verify/packet.h"

/* Reads give what there is; a source fills. */
static int read_file(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	size_t got = 0, k = 1;

	while (got < n && k) {
		int r = ib_tar_read(arg, (char *)data + got, n - got, &k, err);

		if (r < 0)
			return r;
		got += k;
	}
	*ret_n = got;
	return 0;
}

int ib_packet_stream(const struct ib_source *in, const struct ib_evidence_sink *sink, struct ib_err *err)
{
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	ib_auto_tar struct ib_tar *tar = NULL;
	int r = ib_unpacker_open(in, &u, err);
	struct ib_source file;

	if (r < 0)
		return r;
	tar = ib_tar_new(u);
	file = (struct ib_source){.read = read_file, .arg = tar};
	for (;;) {
		struct ib_tar_meta m;
		const char *path;
		bool end = false;

		r = ib_tar_next(tar, &m, &end, err);
		if (r < 0 || end)
			return r;
		path = strchr(m.path, '/');
		if (path && ib_starts(path, "/data/") && sink->streams(sink->arg, path + strlen("/data/"), m.bytes))
			ib_evidence_stream(sink, path + strlen("/data/"), &file);
	}
}
