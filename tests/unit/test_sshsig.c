/* SPDX-License-Identifier: Apache-2.0 */
/* SSH signatures: OpenSSH's own vectors, every bit of one, forms that are refused; allowed_signers. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "sign/sshsig.h"
#include "sign/trust.h"

static bool vector(const char *name, struct ib_buf *b)
{
	ib_auto_free char *full = ib_vectors() ? ib_asprintf("%s/%s", ib_vectors(), name) : NULL;

	if (full && ib_read_file(AT_FDCWD, full, b, NULL) == 0)
		return true;
	ib_skip("the public vectors are not there (IBTOOLS_VECTORS)");
	return false;
}

#define OPENSSH "conformance/sshsig/regress/unittests/sshsig/testdata/"

static int verify(const char *sig, size_t n, const char *namespace, const void *data, size_t data_n)
{
	ib_auto_sshsig struct ib_sshsig s;
	int r = ib_sshsig_parse(sig, n, &s, NULL);

	return r < 0 ? r : ib_sshsig_verify(&s, namespace, data, data_n, NULL);
}

static void test_sshsig_of_openssh(void)
{
	static const struct {
		const char *file;
		int want;
	} cases[] = {
		{OPENSSH "ed25519.sig", 0},
		{OPENSSH "ecdsa.sig", 0},
		{OPENSSH "ed25519_sk.sig", 0},
		{OPENSSH "ecdsa_sk.sig", 0},
		{OPENSSH "ecdsa_sk_webauthn.sig", IB_E_UNSUPPORTED},
		{OPENSSH "rsa.sig", IB_E_UNSUPPORTED},
		{OPENSSH "mldsa44-ed25519.sig", IB_E_UNSUPPORTED},
	};
	ib_auto_buf struct ib_buf data = IB_BUF(1 << 20), sig = IB_BUF(1 << 20);

	if (!vector(OPENSSH "signed-data", &data))
		return;
	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_buf_reset(&sig);
		CU_ASSERT_FATAL(vector(cases[i].file, &sig));
		CU_ASSERT_EQUAL(verify(sig.data, sig.len, "unittest", data.data, data.len), cases[i].want);
		if (cases[i].want == 0) {
			CU_ASSERT_EQUAL(verify(sig.data, sig.len, "ib-packet", data.data, data.len), IB_E_SIG);
			CU_ASSERT_EQUAL(verify(sig.data, sig.len, "unittest", data.data, data.len - 1), IB_E_SIG);
		}
	}
}

static void test_sshsig_keys_are_those_of_the_files(void)
{
	static const char *const names[] = {"ed25519", "ecdsa", "ed25519_sk", "ecdsa_sk"};

	for (size_t i = 0; i < IB_LEN(names); i++) {
		ib_auto_free char *pub = ib_asprintf(OPENSSH "%s.pub", names[i]), *sig = ib_asprintf(OPENSSH "%s.sig", names[i]);
		ib_auto_buf struct ib_buf a = IB_BUF(1 << 16), b = IB_BUF(1 << 16);
		ib_auto_trust struct ib_trust t = {0};
		ib_auto_sshsig struct ib_sshsig s = {0};

		if (!vector(pub, &a) || !vector(sig, &b))
			return;
		CU_ASSERT_EQUAL_FATAL(ib_trust_add(&t, ib_buf_str(&a), a.len, pub, NULL), 0);
		CU_ASSERT_EQUAL_FATAL(ib_sshsig_parse(b.data, b.len, &s, NULL), 0);
		CU_ASSERT(ib_trust_has(&t, &s.key, NULL));
		s.key.application[0] ^= 1; /* the same point in another token, or with one */
		CU_ASSERT_FALSE(ib_trust_has(&t, &s.key, NULL));
	}
}

/* No bit of an accepted signature may be another one. */
static void test_sshsig_no_bit_may_differ(void)
{
	static const char *const names[] = {"ed25519", "ecdsa", "ed25519_sk", "ecdsa_sk"};
	ib_auto_buf struct ib_buf data = IB_BUF(1 << 20);

	if (!vector(OPENSSH "signed-data", &data))
		return;
	for (size_t k = 0; k < IB_LEN(names); k++) {
		ib_auto_free char *name = ib_asprintf(OPENSSH "%s.sig", names[k]);
		ib_auto_buf struct ib_buf sig = IB_BUF(1 << 16);
		int taken = 0;

		CU_ASSERT_FATAL(vector(name, &sig));
		for (size_t i = 0; i < sig.len * 8; i++) {
			sig.data[i / 8] = (char)(sig.data[i / 8] ^ (1 << i % 8));
			taken += verify(sig.data, sig.len, "unittest", data.data, data.len) == 0;
			sig.data[i / 8] = (char)(sig.data[i / 8] ^ (1 << i % 8));
		}
		for (size_t n = 0; n < sig.len; n++)
			taken += verify(sig.data, n, "unittest", data.data, data.len) == 0;
		CU_ASSERT_EQUAL(taken, 0);
	}
}

static void test_sshsig_one_armour_and_nothing_else(void)
{
	ib_auto_buf struct ib_buf data = IB_BUF(1 << 20), sig = IB_BUF(1 << 16);
	ib_auto_free char *before = NULL, *after = NULL, *twice = NULL, *crlf = NULL, *one = NULL, *no_end = NULL;

	if (!vector("interop/sshsig/r.json", &data) || !vector("interop/sshsig/r.json.sig", &sig))
		return;
	before = ib_asprintf("x\n%s", ib_buf_str(&sig));
	after = ib_asprintf("%sx\n", ib_buf_str(&sig));
	twice = ib_asprintf("%s%s", ib_buf_str(&sig), ib_buf_str(&sig));
	no_end = ib_strndup(sig.data, sig.len - 1);
	crlf = ib_alloc(2 * sig.len + 1);
	one = ib_alloc(sig.len + 1);
	for (size_t i = 0, n = 0, m = 0; i < sig.len; i++) {
		if (sig.data[i] == '\n')
			crlf[n++] = '\r';
		crlf[n++] = sig.data[i];
		if (sig.data[i] != '\n' || i < 30 || i > sig.len - 30)
			one[m++] = sig.data[i];
	}
	CU_ASSERT_EQUAL(verify(sig.data, sig.len, "ib-packet@v1", data.data, data.len), 0);
	CU_ASSERT_EQUAL(verify(before, strlen(before), "ib-packet@v1", data.data, data.len), IB_E_SIG);
	CU_ASSERT_EQUAL(verify(after, strlen(after), "ib-packet@v1", data.data, data.len), IB_E_SIG);
	CU_ASSERT_EQUAL(verify(twice, strlen(twice), "ib-packet@v1", data.data, data.len), IB_E_SIG);
	CU_ASSERT_EQUAL(verify(no_end, strlen(no_end), "ib-packet@v1", data.data, data.len), IB_E_SIG);
	CU_ASSERT_EQUAL(verify(crlf, strlen(crlf), "ib-packet@v1", data.data, data.len), IB_E_SIG);
	CU_ASSERT_EQUAL(verify(one, strlen(one), "ib-packet@v1", data.data, data.len), IB_E_SIG);
	CU_ASSERT_EQUAL(verify("", 0, "ib-packet@v1", data.data, data.len), IB_E_SIG);
}

/* --- allowed_signers --- */

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH8j9/Lu+tcbTike+UjtpgQie0UFpN4t32paE2R5ZiQP"

/* "" when the key is trusted for packets, why it is not, or the error of the file. */
static const char *judged(const char *options, const char *principal, const char *at)
{
	static char text[512];
	ib_auto_trust struct ib_trust t = {0};
	ib_auto_free char *line = ib_asprintf("%s " KEY " comment\n", options), *why = NULL;
	struct ib_err err;
	int64_t ns = 0;

	CU_ASSERT_EQUAL_FATAL(ib_time_parse(at, &ns, NULL), 0);
	t.principal = principal;
	t.at = ns / IB_NS;
	if (ib_trust_add(&t, line, strlen(line), "f", &err) < 0) {
		snprintf(text, sizeof(text), "%s", err.text);
		return text;
	}
	CU_ASSERT_EQUAL_FATAL(t.n, 1);
	if (ib_trust_has(&t, &t.v[0].key, NULL))
		return "";
	why = ib_trust_why(&t, &t.v[0].key);
	snprintf(text, sizeof(text), "%s", why ? why : "no reason");
	return text;
}

#define NOW "2026-11-30T16:00:00Z"

static void test_sshsig_allowed_signers_say_whose(void)
{
	CU_ASSERT_STRING_EQUAL(judged("me@lab", NULL, NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("me@lab", "me@lab", NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("me@lab", "you@lab", NOW), "f:1: the key is of 'me@lab', not of 'you@lab'");
	CU_ASSERT_STRING_EQUAL(judged("a@x,*@lab", "you@lab", NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("*@lab,!you@lab", "you@lab", NOW), "f:1: the key is of '*@lab,!you@lab', not of 'you@lab'");
	CU_ASSERT_STRING_EQUAL(judged("!you@lab,*@lab", "me@lab", NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("m?@lab", "me@lab", NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("m?@lab", "m@lab", NOW), "f:1: the key is of 'm?@lab', not of 'm@lab'");
	CU_ASSERT_STRING_EQUAL(judged("!you@lab", "me@lab", NOW), "trust file 'f', line 1: a principal that names nobody");
	CU_ASSERT_STRING_EQUAL(judged("", "me@lab", NOW), "f:1: the key is of 'nobody named', not of 'me@lab'");
}

static void test_sshsig_allowed_signers_say_what_for_and_when(void)
{
	CU_ASSERT_STRING_EQUAL(judged("me namespaces=\"ib-packet\"", NULL, NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("me namespaces=\"git,ib-*\"", NULL, NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("me namespaces=\"git,file\"", NULL, NOW), "f:1: the key is for the namespaces 'git,file', 'ib-packet' is not among them");
	CU_ASSERT_STRING_EQUAL(judged("me NAMESPACES=\"*,!ib-packet\"", NULL, NOW), "f:1: the key is for the namespaces '*,!ib-packet', 'ib-packet' is not among them");
	CU_ASSERT_STRING_EQUAL(judged("me valid-after=\"20261130Z\"", NULL, NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("me valid-after=\"202611301601Z\"", NULL, NOW), "f:1: the key is valid only from 2026-11-30T16:01:00Z");
	CU_ASSERT_STRING_EQUAL(judged("me valid-before=\"20250101Z\"", NULL, NOW), "f:1: the key is valid only until 2025-01-01T00:00:00Z");
	CU_ASSERT_STRING_EQUAL(judged("me valid-before=\"20250101Z\"", NULL, "2024-12-31T23:59:59Z"), "");
	CU_ASSERT_STRING_EQUAL(judged("me namespaces=\"ib-packet\",valid-after=\"20260101Z\",valid-before=\"20270101000000Z\"", "me", NOW), "");
	CU_ASSERT_STRING_EQUAL(judged("me valid-before=\"20261301Z\"", NULL, NOW), "trust file 'f', line 1: valid-before is not YYYYMMDD[HHMM[SS]][Z]");
	CU_ASSERT_STRING_EQUAL(judged("me valid-after=\"2026\"", NULL, NOW), "trust file 'f', line 1: valid-after is not YYYYMMDD[HHMM[SS]][Z]");
	CU_ASSERT_STRING_EQUAL(judged("me valid-after=\"20260230Z\"", NULL, NOW), "trust file 'f', line 1: valid-after is not YYYYMMDD[HHMM[SS]][Z]");
	CU_ASSERT_PTR_NOT_NULL(strstr(judged("me cert-authority", NULL, NOW), "certificates are not judged"));
	CU_ASSERT_PTR_NOT_NULL(strstr(judged("me namespaces=\"ib-packet\",cert-authority", NULL, NOW), "certificates are not judged"));
	CU_ASSERT_PTR_NOT_NULL(strstr(judged("me colour=\"red\"", NULL, NOW), "the option 'colour=\"red\"' cannot be judged"));
	CU_ASSERT_PTR_NOT_NULL(strstr(judged("no-pty", NULL, NOW), "the option 'no-pty' cannot be judged"));
}

static void test_sshsig_a_second_line_may_trust(void)
{
	static const char lines[] = "old valid-before=\"20250101Z\" " KEY "\nnew valid-after=\"20250101Z\" " KEY "\n";
	ib_auto_trust struct ib_trust t = {.at = 1796054400};
	const char *principal;

	CU_ASSERT_EQUAL_FATAL(ib_trust_add(&t, lines, strlen(lines), "f", NULL), 0);
	CU_ASSERT(ib_trust_has(&t, &t.v[0].key, &principal));
	CU_ASSERT_STRING_EQUAL(principal, "new");
}

static const struct ib_test tests[] = {
	IB_TEST(test_sshsig_of_openssh),
	IB_TEST(test_sshsig_keys_are_those_of_the_files),
	IB_TEST(test_sshsig_no_bit_may_differ),
	IB_TEST(test_sshsig_one_armour_and_nothing_else),
	IB_TEST(test_sshsig_allowed_signers_say_whose),
	IB_TEST(test_sshsig_allowed_signers_say_what_for_and_when),
	IB_TEST(test_sshsig_a_second_line_may_trust),
	{0},
};

const struct ib_test_suite ib_suite = {"sshsig", tests};
