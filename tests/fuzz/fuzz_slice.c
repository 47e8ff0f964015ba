/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a server's log: a part of it written before the command, a part after, perhaps in a new file of the same name. The slice is whole lines
 * of what came after, redacted; no secret is in it, and nothing is left where it is refused. Its lines go past the classifier of errors, too. */
#include "fuzz.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "clients/log_errors.h"
#include "run/serverlog_file.h"
#include "scratch.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/slice";

#define SECRET "canary-4f91c07be2"

static const struct ib_redactor *redactor(void)
{
	static struct ib_redactor *r;
	static char key[] = "FUZZ_API_KEY=" SECRET;
	static char *env[] = {key, NULL};

	if (!r)
		r = ib_redactor_with_key((const uint8_t *)"0123456789abcdef", 16, env);
	return r;
}

static void append(int dir, const char *name, const uint8_t *data, size_t n)
{
	ib_auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	REQUIRE(fd >= 0 && ib_write_all(fd, data, n, name, NULL) == 0);
}

static void check_kept(int dir, const struct ib_slice *s, uint64_t total, uint64_t max)
{
	ib_auto_buf struct ib_buf kept = IB_BUF(64u << 20);

	REQUIRE(s->bytes == total);
	if (total == 0) {
		REQUIRE(faccessat(dir, "kept", F_OK, 0) != 0);
		return;
	}
	REQUIRE(ib_read_file(dir, "kept", &kept, NULL) == 0 && kept.len == s->kept_bytes);
	REQUIRE(!memmem(kept.data, kept.len, SECRET, strlen(SECRET)));
	REQUIRE(s->gap_bytes <= total && (!s->gap_bytes || total > max));
	REQUIRE(ib_log_errors(dir, "kept") <= (int64_t)kept.len / 4 + 1);
	if (!s->redacted && !s->gap_bytes) {
		char hex[IB_HEX_LEN];

		ib_sha256_of(kept.data, kept.len, hex);
		REQUIRE(kept.len == total && strcmp(hex, s->sha256) == 0);
	}
}

static void slice(int dir, const struct ib_segment *seg, size_t n, uint64_t max)
{
	struct ib_slice s;
	struct ib_err err = {0};
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++) {
		REQUIRE(seg[i].from <= seg[i].to);
		total += seg[i].to - seg[i].from;
	}
	unlinkat(dir, "kept", 0);
	if (ib_slice_keep(redactor(), seg, n, max, dir, "kept", &s, &err) == 0) {
		check_kept(dir, &s, total, max);
		return;
	}
	REQUIRE(err.code == IB_E_STATE || err.code == IB_E_LIMIT);
	REQUIRE(faccessat(dir, "kept", F_OK, 0) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_fd int dir = scratch_open();
	struct ib_log_place place;
	struct ib_log_part part;
	struct ib_segment banner;
	bool known;
	size_t before;
	uint64_t max;

	if (n < 4 || n > 1 << 18)
		return 0;
	before = (n - 4) * data[0] / 255;
	max = 1 + (uint64_t)data[1] * data[1] * (data[3] & 2 ? 1 : 1024);
	append(dir, "log", data + 4, before);
	ib_log_place(dir, "log", &place);
	if (data[2] & 1)
		REQUIRE(renameat(dir, "log", dir, data[2] & 2 ? "log.1" : "gone") == 0);
	if (data[2] & 4 && !(data[2] & 1)) {
		ib_auto_fd int fd = openat(dir, "log", O_WRONLY | O_TRUNC | O_CLOEXEC);

		REQUIRE(fd >= 0);
	}
	append(dir, "log", data + 4 + before, n - 4 - before);
	ib_log_since(&place, &part);
	slice(dir, part.seg, part.n, max);
	if (ib_log_banner(&place, &banner, &known)) {
		REQUIRE(banner.from <= banner.to && banner.to <= place.size);
		slice(dir, &banner, 1, max);
	}
	ib_log_part_clear(&part);
	ib_log_place_clear(&place);
	return 0;
}
