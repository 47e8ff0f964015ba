/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/sign: keys and signatures against public vectors, trust files, bundles, Statements. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "sign/bundle.h"
#include "sign/point.h"
#include "sign/statement.h"
#include "sign/trust.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static size_t unhex(const char *s, uint8_t *out, size_t max)
{
	size_t n = strlen(s) / 2;

	CU_ASSERT_FATAL(n <= max);
	for (size_t i = 0; i < n; i++) {
		char two[3] = {s[2 * i], s[2 * i + 1], '\0'};

		out[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	return n;
}

/* An Ed25519 key of 32 bytes in hex. */
static int key_of(const char *hex, struct ib_pubkey *k)
{
	uint8_t der[44] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

	return unhex(hex, der + 12, 32) == 32 ? ib_pubkey_from_der(der, sizeof(der), k, NULL) : IB_E_KEY;
}

static json_t *vectors(const char *path)
{
	ib_auto_free char *full = ib_vectors() ? ib_asprintf("%s/conformance/%s", ib_vectors(), path) : NULL;
	json_t *j = NULL;

	if (!full || ib_json_load_file(AT_FDCWD, full, &j, NULL) < 0)
		ib_skip("the public vectors are not there (IBTOOLS_VECTORS)");
	return j;
}

static void test_sign_wycheproof_gives_the_expected_verdicts(void)
{
	ib_auto_json json_t *j = vectors("wycheproof/testvectors_v1/ed25519_test.json");
	json_t *group, *t;
	size_t i, k, n = 0;

	json_array_foreach(json_object_get(j, "testGroups"), i, group) {
		struct ib_pubkey key;
		int known = key_of(json_string_value(json_object_get(json_object_get(group, "publicKey"), "pk")), &key);

		json_array_foreach(json_object_get(group, "tests"), k, t) {
			uint8_t sig[256], msg[4096];
			size_t sig_n = unhex(json_string_value(json_object_get(t, "sig")), sig, sizeof(sig));
			size_t msg_n = unhex(json_string_value(json_object_get(t, "msg")), msg, sizeof(msg));
			bool want = strcmp(json_string_value(json_object_get(t, "result")), "valid") == 0;
			bool got = known == 0 && ib_pubkey_verify(&key, msg, msg_n, sig, sig_n, NULL) == 0;

			if (got != want)
				printf("# test %lld\n", (long long)json_integer_value(json_object_get(t, "tcId")));
			CU_ASSERT_EQUAL(got, want);
			n++;
		}
	}
	CU_ASSERT(!j || n == 151);
}

static bool has_flag(const json_t *t, const char *flag)
{
	size_t i;
	json_t *f;

	json_array_foreach(json_object_get(t, "flags"), i, f)
		if (strcmp(json_string_value(f), flag) == 0)
			return true;
	return false;
}

static void test_sign_edge_points_are_refused(void)
{
	ib_auto_json json_t *j = vectors("cctv-ed25519/ed25519/ed25519vectors.json");
	size_t i, taken = 0;
	json_t *t;

	json_array_foreach(j, i, t) {
		const char *msg = json_string_value(json_object_get(t, "msg"));
		struct ib_pubkey key;
		uint8_t sig[64];
		bool bad_a = has_flag(t, "low_order_A") || has_flag(t, "non_canonical_A"), bad_r = has_flag(t, "low_order_R") || has_flag(t, "non_canonical_R");
		int known = key_of(json_string_value(json_object_get(t, "key")), &key);

		CU_ASSERT_EQUAL(known == 0, !bad_a);
		CU_ASSERT_EQUAL(unhex(json_string_value(json_object_get(t, "sig")), sig, sizeof(sig)), 64);
		CU_ASSERT_EQUAL(ib_ed25519_point_ok(sig), !bad_r);
		if (known == 0 && ib_pubkey_verify(&key, msg, strlen(msg), sig, sizeof(sig), NULL) == 0) {
			CU_ASSERT_FALSE(bad_r);
			taken++;
		}
	}
	CU_ASSERT(!j || (json_array_size(j) == 914 && taken > 0));
}

static void test_sign_malleable_scalars_are_refused(void)
{
	static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};
	ib_auto_privkey struct ib_privkey *k = NULL;
	ib_auto_free uint8_t *sig = NULL;
	size_t n;
	unsigned carry = 0;

	CU_ASSERT_EQUAL_FATAL(ib_privkey_new(IB_KEY_ED25519, &k, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_privkey_sign(k, "x", 1, &sig, &n, NULL), 0);
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, sig, n, NULL), 0);
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "y", 1, sig, n, NULL), IB_E_SIG);
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, sig, n - 1, NULL), IB_E_SIG);
	for (int i = 0; i < 32; i++) { /* S + L */
		carry += sig[32 + i] + order[i];
		sig[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, sig, n, NULL), IB_E_SIG);
	CU_ASSERT_FALSE(ib_ed25519_scalar_ok(order));
}

static void test_sign_p256_takes_one_der_form(void)
{
	ib_auto_privkey struct ib_privkey *k = NULL;
	ib_auto_free uint8_t *sig = NULL;
	uint8_t longer[120];
	size_t n;

	CU_ASSERT_EQUAL_FATAL(ib_privkey_new(IB_KEY_P256, &k, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_privkey_sign(k, "x", 1, &sig, &n, NULL), 0);
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, sig, n, NULL), 0);
	memcpy(longer, sig, n);
	longer[n] = 0;
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, longer, n + 1, NULL), IB_E_SIG);
	longer[0] = 0x30; /* length in two bytes */
	longer[1] = 0x81;
	memcpy(longer + 2, sig + 1, n - 1);
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, longer, n + 1, NULL), IB_E_SIG);
	CU_ASSERT_EQUAL(ib_pubkey_verify(ib_privkey_public(k), "x", 1, (const uint8_t *)"\x30\x06\x02\x01\x00\x02\x01\x01", 8, NULL), IB_E_SIG);
}

static void test_sign_keys_survive_their_pem(void)
{
	for (int type = IB_KEY_ED25519; type <= IB_KEY_P256; type++) {
		ib_auto_privkey struct ib_privkey *k = NULL, *again = NULL;
		ib_auto_buf struct ib_buf pem = IB_BUF(4096), public = IB_BUF(4096);
		struct ib_pubkey p;

		CU_ASSERT_EQUAL_FATAL(ib_privkey_new((enum ib_key_type)type, &k, NULL), 0);
		CU_ASSERT_EQUAL(ib_privkey_pem(k, &pem, NULL), 0);
		CU_ASSERT_TRUE(ib_starts(pem.data, "-----BEGIN PRIVATE KEY-----\n"));
		CU_ASSERT_EQUAL_FATAL(ib_privkey_from_pem(pem.data, pem.len, "k", &again, NULL), 0);
		CU_ASSERT_TRUE(ib_pubkey_equal(ib_privkey_public(k), ib_privkey_public(again)));
		ib_pubkey_pem(ib_privkey_public(k), &public);
		CU_ASSERT_EQUAL(ib_pubkey_from_pem(public.data, public.len, &p, NULL), 0);
		CU_ASSERT_STRING_EQUAL(p.fingerprint, ib_privkey_public(k)->fingerprint);
		CU_ASSERT_EQUAL(ib_pubkey_from_pem(public.data, public.len - 1, &p, NULL), IB_E_KEY);
		ib_buf_addc(&public, '\n');
		CU_ASSERT_EQUAL(ib_pubkey_from_pem(public.data, public.len, &p, NULL), IB_E_KEY);
		ib_wipe(&pem);
	}
	for (int i = 0; i < 2; i++) {
		static const char *const bad[] = {"", "-----BEGIN OPENSSH PRIVATE KEY-----\n"};
		ib_auto_privkey struct ib_privkey *k = NULL;

		CU_ASSERT_EQUAL(ib_privkey_from_pem(bad[i], strlen(bad[i]), "k", &k, NULL), i ? IB_E_UNSUPPORTED : IB_E_KEY);
	}
}

static int trust(const char *text)
{
	ib_auto_trust struct ib_trust t = {0};

	return ib_trust_add(&t, text, strlen(text), "trust", NULL);
}

static void test_sign_trust_files_have_three_forms(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4096);
	ib_auto_trust struct ib_trust t = {0};
	const char *principal;

	CU_ASSERT_EQUAL_FATAL(ib_read_file(AT_FDCWD, ib_src("tests/fuzz/corpus/trust/lines.txt"), &b, NULL), 0);
	CU_ASSERT_EQUAL(ib_trust_add(&t, b.data, b.len, "lines", NULL), 0);
	CU_ASSERT_EQUAL_FATAL(t.n, 2);
	CU_ASSERT_TRUE(ib_trust_has(&t, &t.v[1].key, &principal));
	CU_ASSERT_STRING_EQUAL(principal, "reviewer@example.org");
	CU_ASSERT_TRUE(ib_trust_has(&t, &t.v[0].key, &principal));
	CU_ASSERT_PTR_NULL(principal);
	ib_buf_reset(&b);
	CU_ASSERT_EQUAL_FATAL(ib_read_file(AT_FDCWD, ib_src("tests/fuzz/corpus/trust/two.pem"), &b, NULL), 0);
	CU_ASSERT_EQUAL(ib_trust_add(&t, b.data, b.len, "pem", NULL), 0);
	CU_ASSERT_EQUAL(t.n, 4);
	CU_ASSERT_TRUE(ib_pubkey_equal(&t.v[0].key, &t.v[2].key));
	CU_ASSERT_TRUE(ib_pubkey_equal(&t.v[1].key, &t.v[3].key));
}

static void test_sign_bad_trust_files_say_so(void)
{
	CU_ASSERT_EQUAL(trust(""), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("# nothing\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("hello world\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("ssh-ed25519 AAAA\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("ssh-ed25519\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("-----BEGIN PRIVATE KEY-----\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("-----BEGIN PUBLIC KEY-----\nAAAA\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("ssh-rsa AAAAB3NzaC1yc2E=\n"), IB_E_UNSUPPORTED);
	CU_ASSERT_EQUAL(trust("a namespaces=\"x\" ssh-ed25519 AAAA\n"), IB_E_USAGE);
	CU_ASSERT_EQUAL(trust("cert-authority ssh-ed25519 AAAA\n"), IB_E_UNSUPPORTED);
	/* the neutral element: any signature with S = 0 would verify */
	CU_ASSERT_EQUAL(trust("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END PUBLIC KEY-----\n"), IB_E_USAGE);
	for (int i = 0; i < 3; i++) {
		static const char *const bad[] = {"SHA256:abc", "MD5:00", "SHA256:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop.q"};
		ib_auto_trust struct ib_trust t = {0};

		CU_ASSERT_EQUAL(ib_trust_add_fingerprint(&t, bad[i], NULL), IB_E_USAGE);
	}
}

static void test_sign_bundle_is_byte_exact(void)
{
	ib_auto_privkey struct ib_privkey *k = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(65536), again = IB_BUF(65536);
	ib_auto_bundle struct ib_bundle p = {0};
	static const char payload[] = "{\"a\":1}";
	int taken = 0;

	CU_ASSERT_EQUAL_FATAL(ib_privkey_new(IB_KEY_ED25519, &k, NULL), 0);
	CU_ASSERT_EQUAL(ib_bundle_make(k, payload, strlen(payload), &b, NULL), 0);
	CU_ASSERT_EQUAL(ib_bundle_make(k, payload, strlen(payload), &again, NULL), 0);
	CU_ASSERT_STRING_EQUAL(b.data, again.data);
	CU_ASSERT_EQUAL_FATAL(ib_bundle_parse(b.data, b.len, &p, NULL), 0);
	CU_ASSERT_STRING_EQUAL(p.payload, payload);
	CU_ASSERT_EQUAL(ib_bundle_verify(&p, ib_privkey_public(k), NULL), 0);
	for (size_t i = 0; i < b.len; i++) {
		ib_auto_bundle struct ib_bundle q = {0};

		b.data[i] ^= 1;
		taken += ib_bundle_parse(b.data, b.len, &q, NULL) == 0 && strcmp(q.keyid, p.keyid) == 0 && ib_bundle_verify(&q, ib_privkey_public(k), NULL) == 0;
		b.data[i] ^= 1;
	}
	CU_ASSERT_EQUAL(taken, 0);
}

static void test_sign_statement_says_what_the_packet_holds(void)
{
	const struct ib_statement_facts f = {.tagmanifest = HEX, .manifest = HEX, .ledger = HEX, .study = "demo", .seal = "01234567"};
	struct ib_statement_facts other = f;
	char tool[] = "ib-pack", question[] = "\xC3\xBC \"why\"\n", control[] = "a\x01";
	struct ib_statement s = {.question = question, .head = HEX, .length = 3, .has_runs = true, .tool_name = tool, .tool_version = tool};
	ib_auto_statement struct ib_statement got = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(65536);

	CU_ASSERT_EQUAL(ib_statement_make(&f, &s, &b, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_statement_check(b.data, b.len, &f, &got, NULL), 0);
	CU_ASSERT_STRING_EQUAL(got.question, question);
	CU_ASSERT_EQUAL(got.length, 3);
	CU_ASSERT_PTR_NULL(got.tool_commit);
	other.manifest = "0023456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	CU_ASSERT_EQUAL(ib_statement_check(b.data, b.len, &other, &got, NULL), IB_E_HASH);
	other = f;
	other.contract = HEX;
	CU_ASSERT_EQUAL(ib_statement_check(b.data, b.len, &other, &got, NULL), IB_E_DSSE);
	other = f;
	other.withheld = HEX;
	CU_ASSERT_EQUAL(ib_statement_check(b.data, b.len, &other, &got, NULL), IB_E_BINDING);
	other = f;
	other.study = "other";
	CU_ASSERT_EQUAL(ib_statement_check(b.data, b.len, &other, &got, NULL), IB_E_BINDING);
	other = f;
	other.seal = "76543210";
	CU_ASSERT_EQUAL(ib_statement_check(b.data, b.len, &other, &got, NULL), IB_E_BINDING);
	ib_buf_addc(&b, '\n');
	CU_ASSERT_EQUAL(ib_statement_check(b.data, b.len, &f, &got, NULL), IB_E_DSSE);
	CU_ASSERT_EQUAL(ib_statement_check(b.data, 10, &f, &got, NULL), IB_E_JSON);
	s.question = control;
	CU_ASSERT_EQUAL(ib_statement_make(&f, &s, &b, NULL), IB_E_USAGE);
}

static const struct ib_test tests[] = {
	IB_TEST(test_sign_wycheproof_gives_the_expected_verdicts),
	IB_TEST(test_sign_edge_points_are_refused),
	IB_TEST(test_sign_malleable_scalars_are_refused),
	IB_TEST(test_sign_p256_takes_one_der_form),
	IB_TEST(test_sign_keys_survive_their_pem),
	IB_TEST(test_sign_trust_files_have_three_forms),
	IB_TEST(test_sign_bad_trust_files_say_so),
	IB_TEST(test_sign_bundle_is_byte_exact),
	IB_TEST(test_sign_statement_says_what_the_packet_holds),
	{0},
};

const struct ib_test_suite ib_suite = {"sign", tests};
