/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the packet layer: all vectors get their class and exit; no byte can change unseen; what is handed to a sink was verified. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "store/codec.h"
#include "verify/packet.h"

#define VECTORS "tests/data/packet/vectors/"

static void load(const char *file, struct ib_buf *b)
{
	struct ib_err err;
	ib_auto_free char *path = ib_asprintf(VECTORS "%s", file);

	*b = IB_BUF(64u << 20);
	if (ib_read_file(AT_FDCWD, ib_src(path), b, &err) < 0) {
		printf("# %s\n", err.text);
		exit(99);
	}
}

static void trust_file(const char *file, struct ib_trust *t)
{
	ib_auto_buf struct ib_buf b;
	struct ib_err err;

	load(file, &b);
	if (ib_trust_add(t, b.data, b.len, file, &err) < 0)
		exit(99);
}

/* Class of the packet in memory; why (may be NULL) takes the first failing finding's message. */
static enum ib_code verify(const char *data, size_t n, const struct ib_trust *trust, const struct ib_evidence_sink *sink, char *why, size_t why_n)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	struct ib_source in = ib_source_from_mem(&mem);
	const struct ib_packet_opts opts = {.trust = trust, .sink = sink};
	ib_auto_packet_result struct ib_packet_result r;
	struct ib_findings f = {0};
	struct ib_err err;
	enum ib_code code = IB_E_INTERNAL;

	if (ib_packet_verify(&in, &opts, &r, &f, &err) == 0)
		code = r.code;
	if (why)
		snprintf(why, why_n, "%s", f.n ? f.v[0].message : "");
	CU_ASSERT_EQUAL(code == 0, f.n == 0);
	CU_ASSERT_TRUE(code != 0 || r.complete);
	ib_findings_clear(&f);
	return code;
}

static void test_packet_vectors_get_their_class_and_exit(void)
{
	ib_auto_json json_t *expected = NULL;
	struct ib_err err;
	size_t i;
	json_t *v;

	CU_ASSERT_EQUAL_FATAL(ib_json_load_file(AT_FDCWD, ib_src(VECTORS "expected.json"), &expected, &err), 0);
	CU_ASSERT_EQUAL(json_array_size(expected), 37);
	json_array_foreach(expected, i, v) {
		const char *file = json_string_value(json_object_get(v, "file")), *want = json_string_value(json_object_get(v, "class"));
		ib_auto_trust struct ib_trust t = {0};
		ib_auto_buf struct ib_buf b;
		char why[500], hex[IB_HEX_LEN];
		enum ib_code code;

		load(file, &b);
		ib_sha256_of(b.data, b.len, hex);
		CU_ASSERT_STRING_EQUAL(hex, json_string_value(json_object_get(v, "sha256")));
		trust_file(json_string_value(json_object_get(v, "trust")), &t);
		code = verify(b.data, b.len, &t, NULL, why, sizeof(why));
		printf("# %s: %s: %s\n", file, code ? ib_code_name(code) : "holds", why);
		CU_ASSERT_STRING_EQUAL(code ? ib_code_name(code) : "holds", want ? want : "holds");
		CU_ASSERT_EQUAL(ib_code_exit(code), json_integer_value(json_object_get(v, "exit")));
	}
}

static void test_packet_trust_decides_between_holds_and_undecided(void)
{
	ib_auto_trust struct ib_trust none = {0}, other = {0}, by_print = {0};
	ib_auto_packet_result struct ib_packet_result r;
	ib_auto_buf struct ib_buf b;
	struct ib_source_mem mem;
	struct ib_source in = ib_source_from_mem(&mem);
	struct ib_findings f = {0};
	struct ib_err err;

	load("good-plain.tar", &b);
	CU_ASSERT_EQUAL(verify(b.data, b.len, NULL, NULL, NULL, 0), IB_E_TRUST);
	CU_ASSERT_EQUAL(verify(b.data, b.len, &none, NULL, NULL, 0), IB_E_TRUST);
	trust_file("p256.pub.pem", &other);
	CU_ASSERT_EQUAL(verify(b.data, b.len, &other, NULL, NULL, 0), IB_E_TRUST);
	mem = (struct ib_source_mem){b.data, b.len, 0};
	CU_ASSERT_EQUAL(ib_packet_verify(&in, &(struct ib_packet_opts){.trust = NULL}, &r, &f, &err), 0);
	CU_ASSERT_EQUAL_FATAL(r.n_signers, 1);
	CU_ASSERT_EQUAL(r.signers[0].trusted, false);
	CU_ASSERT_STRING_EQUAL(r.top.study, "demo");
	CU_ASSERT_EQUAL(r.ledger_length, 4);
	CU_ASSERT_EQUAL(r.statement.length, 4);
	CU_ASSERT_EQUAL(r.statement.runs[2], 1);
	CU_ASSERT_EQUAL(ib_trust_add_fingerprint(&by_print, r.signers[0].key.fingerprint, &err), 0);
	CU_ASSERT_EQUAL(verify(b.data, b.len, &by_print, NULL, NULL, 0), 0);
	ib_findings_clear(&f);
}

/* The tar inside, or nothing when it does not decode. */
static void decode(const char *data, size_t n, struct ib_buf *b)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	char chunk[4096];
	size_t k = 1;

	*b = IB_BUF(1u << 20);
	if (ib_unpacker_open(&in, &u, NULL) < 0)
		return;
	while (k && ib_unpacker_read(u, chunk, sizeof(chunk), &k, NULL) == 0)
		ib_buf_add(b, chunk, k);
}

/* Each byte changed in turn. Two frames may hold the same bytes, and are the same packet then; of a plain packet no byte is free. */
static void flip_all(const char *file, bool frame)
{
	ib_auto_trust struct ib_trust t = {0};
	ib_auto_buf struct ib_buf b, good;
	int accepted = 0;

	load(file, &b);
	decode(b.data, b.len, &good);
	trust_file("ed25519.pub.pem", &t);
	for (size_t i = 0; i < b.len; i++) {
		char bit = (char)(1 << (i * 5 % 8));
		ib_auto_buf struct ib_buf again = IB_BUF(0);

		b.data[i] ^= bit;
		if (verify(b.data, b.len, &t, NULL, NULL, 0) == 0) {
			decode(b.data, b.len, &again);
			if (frame && again.len == good.len && memcmp(again.data, good.data, good.len) == 0)
				printf("# byte %zu is free: another frame of the same bytes\n", i);
			else
				accepted++;
		}
		b.data[i] ^= bit;
	}
	CU_ASSERT_EQUAL(accepted, 0);
	CU_ASSERT_EQUAL(verify(b.data, b.len, &t, NULL, NULL, 0), 0);
}

static void test_packet_every_flipped_byte_is_refused(void)
{
	flip_all("good-plain.tar", false);
}

static void test_packet_flipped_frame_is_refused_or_holds_the_same_bytes(void)
{
	flip_all("good-zstd.tar.zst", true);
}

static void test_packet_every_cut_is_refused(void)
{
	static const char *const files[] = {"good-plain.tar", "good-zstd.tar.zst"};

	for (size_t k = 0; k < IB_LEN(files); k++) {
		ib_auto_trust struct ib_trust t = {0};
		ib_auto_buf struct ib_buf b;
		int accepted = 0;

		load(files[k], &b);
		trust_file("ed25519.pub.pem", &t);
		for (size_t n = 0; n < b.len; n += k ? 1 : 37) {
			enum ib_code c = verify(b.data, n, &t, NULL, NULL, 0);

			accepted += c == 0 || ib_code_exit(c) == 3;
		}
		CU_ASSERT_EQUAL(accepted, 0);
	}
}

struct seen {
	int files, with_data;
	bool ledger;
	char path[300];
};

static bool wants(void *arg, const char *path, uint64_t size)
{
	(void)arg;
	(void)size;
	return ib_ends(path, ".json");
}

static void take(void *arg, const char *path, uint64_t size, const char *sha256, const char *data)
{
	struct seen *s = arg;
	char hex[IB_HEX_LEN];

	s->files++;
	s->ledger = s->ledger || strcmp(path, "ledger.jsonl") == 0;
	CU_ASSERT(strcmp(s->path, path) < 0);
	snprintf(s->path, sizeof(s->path), "%s", path);
	CU_ASSERT_EQUAL(data != NULL, ib_ends(path, ".json"));
	if (!data)
		return;
	s->with_data++;
	CU_ASSERT_EQUAL(data[size], '\0');
	ib_sha256_of(data, size, hex);
	CU_ASSERT_STRING_EQUAL(hex, sha256);
}

static void test_packet_sink_gets_verified_files_only(void)
{
	ib_auto_trust struct ib_trust t = {0};
	struct seen good = {0}, bad = {0}, unsig = {0};
	ib_auto_buf struct ib_buf b, c, d;

	trust_file("ed25519.pub.pem", &t);
	load("good-plain.tar", &b);
	CU_ASSERT_EQUAL(verify(b.data, b.len, &t, &(struct ib_evidence_sink){.wants = wants, .file = take, .arg = &good}, NULL, 0), 0);
	CU_ASSERT_EQUAL(good.files, 6);
	CU_ASSERT_EQUAL(good.with_data, 3);
	CU_ASSERT_TRUE(good.ledger);
	load("bad-flip-data.tar.zst", &c);
	CU_ASSERT_EQUAL(verify(c.data, c.len, &t, &(struct ib_evidence_sink){.wants = wants, .file = take, .arg = &bad}, NULL, 0), IB_E_HASH);
	CU_ASSERT_EQUAL(bad.files, 5);
	load("bad-flip-signature.tar.zst", &d);
	CU_ASSERT_EQUAL(verify(d.data, d.len, &t, &(struct ib_evidence_sink){.wants = wants, .file = take, .arg = &unsig}, NULL, 0), IB_E_SIG);
	CU_ASSERT_EQUAL(unsig.files, 0);
}

static const struct ib_test tests[] = {
	IB_TEST(test_packet_vectors_get_their_class_and_exit),
	IB_TEST(test_packet_trust_decides_between_holds_and_undecided),
	IB_TEST(test_packet_every_flipped_byte_is_refused),
	IB_TEST(test_packet_flipped_frame_is_refused_or_holds_the_same_bytes),
	IB_TEST(test_packet_every_cut_is_refused),
	IB_TEST(test_packet_sink_gets_verified_files_only),
	{0},
};

const struct ib_test_suite ib_suite = {"packet", tests};
