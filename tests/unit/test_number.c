/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text to double, against strtod(). IB_NUMBER_VALUES=100000000 tries as many (make check: 100,000). */
#include "unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "json/number.h"

static uint64_t bits_of(double v)
{
	uint64_t b;

	memcpy(&b, &v, sizeof(b));
	return b;
}

/* Same bits as strtod() gives; the first few that are not are shown. */
static unsigned wrong(const char *text)
{
	double ours = ib_number_real(text, strlen(text)), theirs = strtod(text, NULL);

	if (bits_of(ours) == bits_of(theirs))
		return 0;
	printf("# %s gave %a, not %a\n", text, ours, theirs);
	return 1;
}

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
	z = (z ^ z >> 27) * 0x94D049BB133111EB;
	return z ^ z >> 31;
}

/* A text of some kind that clients write, or that is hard to round. */
static void make(uint64_t *state, char *out, size_t size)
{
	uint64_t a = next(state), b = next(state);
	double v;

	switch (b % 8) {
	case 0: /* any double at all */
		memcpy(&v, &a, sizeof(v));
		snprintf(out, size, "%.17g", isfinite(v) ? v : 0.1);
		break;
	case 1: /* times */
		snprintf(out, size, "%.*g", (int)(b >> 8) % 3 + 15, (double)(a >> 11) * 0x1p-53);
		break;
	case 2:
		snprintf(out, size, "%.17g", (double)(a >> 11) * 0x1p-53 * 1e6);
		break;
	case 3: /* digits and a power */
		snprintf(out, size, "%s%" PRIu64 "e%d", b & 256 ? "-" : "", a >> (b >> 10) % 64, (int)((b >> 20) % 80) - 40);
		break;
	case 4: /* right between two doubles, or beside that */
		snprintf(out, size, "%" PRIu64, ((a >> 11 | (uint64_t)1 << 52) * 2 + 1) * ((uint64_t)1 << (b >> 8) % 9) + (b >> 16) % 3 - 1);
		break;
	case 5: /* the same, with fractions: m / 2^k has the digits of m * 5^k */
		snprintf(out, size, "%" PRIu64 ".%s", (a >> 14 | (uint64_t)1 << 49) * 2, b & 256 ? "125" : b & 512 ? "0625" : "124999999999");
		break;
	case 6: /* at the ends of the range */
		snprintf(out, size, "%" PRIu64 "e%d", a >> (b >> 10) % 64, b & 256 ? -(int)((b >> 20) % 30) - 310 : (int)((b >> 20) % 30) + 285);
		break;
	default: /* with a point anywhere, up to 25 digits */
		snprintf(out, size, "%" PRIu64 ".%0*" PRIu64, a >> (b >> 10) % 60, (int)((b >> 20) % 20) + 1, (b >> 25) % 1000000);
		break;
	}
}

static void test_number_equals_strtod(void)
{
	const char *wanted = getenv("IB_NUMBER_VALUES");
	uint64_t n = wanted ? strtoull(wanted, NULL, 10) : 100000, state = 1;
	unsigned bad = 0;
	char text[128];

	for (uint64_t i = 0; i < n && bad < 10; i++) {
		make(&state, text, sizeof(text));
		bad += wrong(text);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void test_number_at_the_edges(void)
{
	static const char *const texts[] = {
		"0", "-0", "0.0", "-0.0e5", "0e99999", "1", "-1", "9007199254740992", "9007199254740993", "9007199254740994", "9007199254740995", "18446744073709551615",
		"9999999999999999999", "18446744073709551616", "10000000000000000000000", "1e22", "1e23", "1e27", "1e28", "1e-22", "1e-27", "1e-28", "1e-29",
		"1.7976931348623157e308", "1.7976931348623159e308", "1e400", "-1e400", "2.2250738585072014e-308", "2.2250738585072011e-308", "4.9406564584124654e-324",
		"2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "0.1", "0.30000000000000004", "123456.789012345678", "0.000000000000000000000000123456789",
		"0.5000000000000000000000000000000000000000000000001", "1.00000000000000011102230246251565", "1.00000000000000011102230246251566", "5e-324", "1E+2",
		"0.00000000000000000000000000000000000000000000000000000000000000000000000000000000001", "8.41e+21", "9223372036854775807", "9223372036854775808",
	};
	unsigned bad = 0;

	for (size_t i = 0; i < IB_LEN(texts); i++)
		bad += wrong(texts[i]);
	for (int e = -340; e < 320; e++) {
		char text[32];

		snprintf(text, sizeof(text), "9007199254740993e%d", e);
		bad += wrong(text);
		snprintf(text, sizeof(text), "1e%d", e);
		bad += wrong(text);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

/* What stands behind the number is no part of it. */
static void test_number_ends_where_it_is_told(void)
{
	CU_ASSERT_EQUAL(ib_number_real("12345", 3), 123);
	CU_ASSERT_EQUAL(ib_number_real("1.5e10", 3), 1.5);
	CU_ASSERT_EQUAL(ib_number_real("1e400", 4), 1e40);
}

static void test_number_integers(void)
{
	static const struct {
		const char *text;
		bool fits;
		int64_t v;
	} cases[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"9223372036854775807", true, INT64_MAX},
		{"9223372036854775808", false, 0},
		{"-9223372036854775808", true, INT64_MIN},
		{"-9223372036854775809", false, 0},
		{"99999999999999999999", false, 0},
		{"1.0", false, 0},
		{"1e2", false, 0},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		int64_t v = -1;

		CU_ASSERT_EQUAL(ib_number_integer(cases[i].text, strlen(cases[i].text), &v), cases[i].fits);
		CU_ASSERT(!cases[i].fits || v == cases[i].v);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_number_equals_strtod),
	IB_TEST(test_number_at_the_edges),
	IB_TEST(test_number_ends_where_it_is_told),
	IB_TEST(test_number_integers),
	{0},
};

const struct ib_test_suite ib_suite = {"number", tests};
