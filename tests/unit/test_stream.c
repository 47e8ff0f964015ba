/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the streaming JSON reader and of the tables that stand on it. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/pick.h"

#define TEXT_MAX 65536

/* All documents of text as one line: "{ 'a' 1 [ ] } ;". An error adds "! " and its text. */
static int trace(const char *text, size_t n, const struct ib_stream_opts *opts, struct ib_buf *out, struct ib_stream_notes *notes)
{
	static const char *const marks[] = {";", "{", "}", "[", "]", NULL, NULL, NULL, "true", "false", "null"};
	struct ib_source_mem mem = {.data = text, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", opts);
	struct ib_err err = {0};
	struct ib_token t = {.kind = IB_TOKEN_END};
	bool more = false;
	int r = 0;

	while (r == 0) {
		if (t.kind == IB_TOKEN_END) {
			r = ib_stream_document(s, &more, &err);
			if (r == 0 && !more)
				break;
		}
		if (r == 0)
			r = ib_stream_next(s, &t, &err);
		if (r < 0)
			ib_buf_addf(out, "! %s", err.text);
		else if (t.kind == IB_TOKEN_KEY)
			ib_buf_addf(out, "'%s' ", t.text);
		else if (t.kind == IB_TOKEN_STRING)
			ib_buf_addf(out, "\"%s\"%llu ", t.text, (unsigned long long)t.bytes);
		else if (t.kind == IB_TOKEN_NUMBER)
			ib_buf_addf(out, t.whole ? "%.0fi " : "%.17g ", t.real);
		else
			ib_buf_addf(out, "%s ", marks[t.kind]);
	}
	if (notes)
		*notes = *ib_stream_notes(s);
	return r;
}

static void expect(const char *text, const struct ib_stream_opts *opts, const char *wanted)
{
	ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);

	trace(text, strlen(text), opts, &b, NULL);
	if (strcmp(ib_buf_str(&b), wanted) != 0)
		printf("# %s\n#  gave %s\n#  not  %s\n", text, ib_buf_str(&b), wanted);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), wanted);
}

static void test_stream_tokens(void)
{
	expect("{\"a\": [true, false,null , -1.5, 2e3], \"\": {}}", NULL, "{ 'a' [ true false null -1.5 2000 ] '' { } } ; ");
	expect(" [\"x\\ny\\u00e4\\ud83d\\ude00\", \"\xC3\xA4\xE2\x82\xAC\"] ", NULL, "[ \"x\ny\xC3\xA4\xF0\x9F\x98\x80\"9 \"\xC3\xA4\xE2\x82\xAC\"5 ] ; ");
	expect("0.25", NULL, "0.25 ; ");
	expect("[[],[[]]]", NULL, "[ [ ] [ [ ] ] ] ; ");
	expect("", NULL, "");
}

static void test_stream_integers(void)
{
	static const char text[] = "[0,-0,9223372036854775807,-9223372036854775808,9223372036854775808,12.0]";
	static const int64_t wanted[] = {0, 0, INT64_MAX, INT64_MIN};
	struct ib_source_mem mem = {.data = text, .n = strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
	struct ib_token t;
	bool more;

	CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
	for (size_t i = 0; i < 6; i++) {
		CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
		CU_ASSERT_EQUAL(t.whole, i < 4);
		if (i < 4)
			CU_ASSERT_EQUAL(t.integer, wanted[i]);
	}
	CU_ASSERT_EQUAL(t.real, 12);
}

static void test_stream_refuses(void)
{
	static const char *const bad[][2] = {
		{"[1,]", "! 'f' line 1 column 4: ']' where a value must come"},
		{"{\n \"a\":1,\n \"b\":2,\n \"a\":3}", "! 'f' line 4 column 2: key 'a' a second time in the same object"},
		{"[01]", "! 'f' line 1 column 3: a number that begins with 0"},
		{"[1.]", "! 'f' line 1 column 4: no digit after the point"},
		{"[-]", "! 'f' line 1 column 3: no digit after '-'"},
		{"[1e]", "! 'f' line 1 column 4: no digit in the exponent"},
		{"[1e999]", "! 'f' line 1 column 2: a number beyond those of a double"},
		{"[NaN]", "! 'f' line 1 column 2: NaN and Infinity are no values of JSON"},
		{"[-Infinity]", "! 'f' line 1 column 2: NaN and Infinity are no values of JSON"},
		{"[\"\\ud800\"]", "! 'f' line 1 column 3: the first half of a surrogate pair without the second"},
		{"[\"\\udc00\"]", "! 'f' line 1 column 3: the second half of a surrogate pair without the first"},
		{"[\"a\xC0\x80\"]", "! 'f' line 1 column 4: no UTF-8 (byte 0xc0)"},
		{"[\"\xED\xA0\x80\"]", "! 'f' line 1 column 3: no UTF-8 (byte 0xed)"},
		{"[\"a\nb\"]", "! 'f' line 1 column 4: control character 0x0a in a string, which must be escaped"},
		{"[\"\\x\"]", "! 'f' line 1 column 3: no escape sequence of JSON"},
		{"[\"abc", "! 'f' line 1 column 6: the text ends within a string"},
		{"[\"abc\\", "! 'f' line 1 column 6: the text ends within a string"},
		{"{\"a\" 1}", "! 'f' line 1 column 6: '1' where ':' must come"},
		{"{1:2}", "! 'f' line 1 column 2: '1' where a key or '}' must come"},
		{"{\"a\":1,}", "! 'f' line 1 column 8: '}' where a key must come"},
		{"[1}", "! 'f' line 1 column 3: '}' where ',' or ']' must come"},
		{"[1", "! 'f' line 1 column 3: the text ends where ',' or ']' must come"},
		{"[1] x", "! 'f' line 1 column 5: something follows the value"},
		{"nul", "! 'f' line 1 column 1: no value of JSON (null is one)"},
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);
		const char *why;

		CU_ASSERT_EQUAL(trace(bad[i][0], strlen(bad[i][0]), NULL, &b, NULL), IB_E_JSON);
		why = strchr(ib_buf_str(&b), '!');
		CU_ASSERT_PTR_NOT_NULL_FATAL(why);
		if (strcmp(why, bad[i][1]) != 0)
			printf("# %s gave %s\n", bad[i][0], why);
		CU_ASSERT_STRING_EQUAL(why, bad[i][1]);
	}
}

static void test_stream_error_stays(void)
{
	static const char text[] = "[1 2]";
	struct ib_source_mem mem = {.data = text, .n = strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
	struct ib_err one = {0}, two = {0};
	struct ib_token t;
	bool more;

	CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
	CU_ASSERT_EQUAL(ib_stream_skip(s, &one), IB_E_JSON);
	CU_ASSERT_EQUAL(ib_stream_next(s, &t, &two), IB_E_JSON);
	CU_ASSERT_EQUAL(ib_stream_document(s, &more, NULL), IB_E_JSON);
	CU_ASSERT_STRING_EQUAL(one.text, two.text);
}

static void test_stream_literals_are_counted(void)
{
	const struct ib_stream_opts opts = {.literals = true};
	ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);
	struct ib_stream_notes notes;
	static const char text[] = "[NaN, Infinity, -Infinity, -1]";

	CU_ASSERT_EQUAL(trace(text, strlen(text), &opts, &b, &notes), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "[ nan inf -inf -1i ] ; ");
	CU_ASSERT_EQUAL(notes.literals, 3);
}

static void test_stream_lines(void)
{
	static const char text[] = "\xEF\xBB\xBF{\"a\":1.5}\r\n\nWARNING: slow\n[INFO] x\n[2.5]\n{\"b\":[]}";
	const struct ib_stream_opts opts = {.lines = true};
	ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);
	struct ib_stream_notes notes;

	CU_ASSERT_EQUAL(trace(text, strlen(text), &opts, &b, &notes), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "{ 'a' 1.5 } ; [ 2.5 ] ; { 'b' [ ] } ; ");
	CU_ASSERT(notes.bom);
	CU_ASSERT(notes.crlf);
	CU_ASSERT(notes.torn);
	CU_ASSERT_EQUAL(notes.foreign_lines, 2);
	CU_ASSERT_EQUAL(notes.first_foreign, 3);
	expect("{\"a\":\n1}\n", &opts, "{ 'a' ! 'f' line 1 column 6: the line ends within the value");
	expect("{\"a\":1.5} {}\n", &opts, "{ 'a' 1.5 } ! 'f' line 1 column 11: something follows the value on its line");
	expect("{}\n{\"a", &opts, "{ } ; { ! 'f' line 2 column 4: the text ends within a string");
}

/* The same tokens wherever the buffer ends. */
static void test_stream_across_the_buffer(void)
{
	static const char text[] = "{\"k\xC3\xA4y\": [-12.5e-3, \"a\\u00e4\\ud83d\\ude00\\n\xE2\x82\xAC\", true, null], \"n\": 0.1234567890123456789, \"NaN\": NaN}";
	const struct ib_stream_opts opts = {.literals = true};
	const size_t buffer = 262144, n = strlen(text);
	ib_auto_buf struct ib_buf wanted = IB_BUF(TEXT_MAX);
	ib_auto_free char *padded = ib_alloc(buffer + n);

	CU_ASSERT_EQUAL_FATAL(trace(text, n, &opts, &wanted, NULL), 0);
	for (size_t k = 0; k <= n; k++) {
		ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);

		memset(padded, ' ', buffer - k);
		memcpy(padded + buffer - k, text, n);
		CU_ASSERT_EQUAL(trace(padded, buffer - k + n, &opts, &b, NULL), 0);
		CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), ib_buf_str(&wanted));
	}
}

static void add_key(struct ib_buf *b, size_t i)
{
	ib_buf_addf(b, "%s\"key number %zu\":%zu", i ? "," : "{", i, i);
}

static void test_stream_finds_duplicates_among_many(void)
{
	ib_auto_buf struct ib_buf good = IB_BUF(64u << 20), b = IB_BUF(64u << 20);
	const size_t n = 100000;

	for (size_t i = 0; i < n; i++)
		add_key(&good, i);
	ib_buf_adds(&good, ",\"o\":{\"key number 7\":1,\"x\":[{\"key number 7\":2}]}");
	ib_buf_add(&b, good.data, good.len);
	ib_buf_adds(&good, "}");
	ib_buf_adds(&b, ",\"key number 4711\":1}");
	for (int bad = 0; bad < 2; bad++) {
		struct ib_source_mem mem = {.data = bad ? b.data : good.data, .n = bad ? b.len : good.len};
		const struct ib_source in = ib_source_from_mem(&mem);
		ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
		struct ib_err err = {0};
		bool more;

		CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
		CU_ASSERT_EQUAL(ib_stream_skip(s, &err), bad ? IB_E_JSON : 0);
		CU_ASSERT(!bad || strstr(err.text, "'key number 4711' a second time"));
	}
}

/* Objects within each other, each with many keys that come before and after the inner one. */
static void test_stream_finds_duplicates_at_any_depth(void)
{
	for (int bad = -1; bad < 8; bad++) {
		ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

		for (int d = 0; d < 8; d++) {
			for (size_t i = 0; i < 40; i++)
				add_key(&b, i);
			ib_buf_adds(&b, ",\"inner\":");
		}
		ib_buf_adds(&b, "{}");
		for (int d = 7; d >= 0; d--) {
			for (size_t i = 40; i < 80; i++)
				ib_buf_addf(&b, ",\"key number %zu\":0", i);
			if (d == bad)
				ib_buf_adds(&b, ",\"key number 41\":0");
			ib_buf_adds(&b, "}");
		}
		struct ib_source_mem mem = {.data = b.data, .n = b.len};
		const struct ib_source in = ib_source_from_mem(&mem);
		ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
		bool more;

		CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
		CU_ASSERT_EQUAL(ib_stream_skip(s, NULL), bad < 0 ? 0 : IB_E_JSON);
	}
}

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

static void add_record(struct ib_buf *b, unsigned *seed, unsigned depth)
{
	static const char *const keys[] = {"a", "ab", "abc", "b", "\\u0061", "\xC3\xA9", "", "value", "a key of more than the fifty-six bytes that a stream remembers"};
	unsigned n = 1 + draw(seed, 5);
	unsigned at = 0;

	ib_buf_adds(b, "{");
	for (unsigned i = 0; i < n; i++) {
		at = draw(seed, 4) ? (at + 1) % IB_LEN(keys) : draw(seed, IB_LEN(keys));
		ib_buf_addf(b, "%s\"%s\":", i ? "," : "", keys[at]);
		if (depth && draw(seed, 3) == 0)
			add_record(b, seed, depth - 1);
		else
			ib_buf_adds(b, draw(seed, 3) ? "1" : "[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4,\"ab\":5}]");
	}
	ib_buf_adds(b, "}\n");
}

/* Whatever records a stream read before, it takes and refuses the next one as if it came first. */
static void test_stream_remembers_keys(void)
{
	static const struct ib_stream_opts opts = {.sequence = true};
	ib_auto_buf struct ib_buf before = IB_BUF(1u << 20);
	unsigned seed = 7, refused = 0, taken = 0;

	for (int i = 0; i < 2000; i++) {
		ib_auto_buf struct ib_buf one = IB_BUF(TEXT_MAX), all = IB_BUF(1u << 20), a = IB_BUF(TEXT_MAX), b = IB_BUF(1u << 20), c = IB_BUF(1u << 20);
		int r, after;

		add_record(&one, &seed, 3);
		r = trace(one.data, one.len, &opts, &a, NULL);
		trace(before.data ? before.data : "", before.len, &opts, &c, NULL);
		ib_buf_add(&all, before.data, before.len);
		ib_buf_add(&all, one.data, one.len);
		after = trace(all.data, all.len, &opts, &b, NULL);
		CU_ASSERT_EQUAL(after, r);
		taken += r == 0;
		refused += r == IB_E_JSON;
		if (r == 0) {
			CU_ASSERT(strncmp(ib_buf_str(&b), ib_buf_str(&c), c.len) == 0);
			CU_ASSERT_STRING_EQUAL(ib_buf_str(&b) + c.len, ib_buf_str(&a));
		}
		if (r == 0 && all.len < 4000) {
			before.len = 0;
			ib_buf_add(&before, all.data, all.len);
		} else if (all.len >= 4000) {
			before.len = 0;
		}
	}
	CU_ASSERT(taken > 100 && refused > 100);
	expect("{\"a\":1,\"b\":2}{\"a\":1,\"b\":2,\"a\":3}", &opts,
	       "{ 'a' 1i 'b' 2i } ; { 'a' 1i 'b' 2i ! 'f' line 1 column 27: key 'a' a second time in the same object");
	expect("{\"a\":1,\"b\":2}{\"a\":1,\"a\":3}", &opts,
	       "{ 'a' 1i 'b' 2i } ; { 'a' 1i ! 'f' line 1 column 21: key 'a' a second time in the same object");
}

static void test_stream_limits(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20), out = IB_BUF(1u << 20);
	const struct ib_stream_opts opts = {0};

	for (int i = 0; i < IB_STREAM_DEPTH; i++)
		ib_buf_adds(&b, "[");
	for (int i = 0; i < IB_STREAM_DEPTH; i++)
		ib_buf_adds(&b, "]");
	CU_ASSERT_EQUAL(trace(b.data, b.len, &opts, &out, NULL), 0);
	ib_buf_reset(&b);
	for (int i = 0; i <= IB_STREAM_DEPTH; i++)
		ib_buf_adds(&b, "[");
	CU_ASSERT_EQUAL(trace(b.data, b.len, &opts, &out, NULL), IB_E_LIMIT);
}

static void test_stream_reals(void)
{
	static const char text[] = "[[1, 2.5 ,null,-3e1],null,[],[1,\"x\"]]";
	struct ib_source_mem mem = {.data = text, .n = strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
	struct ib_reals v = {0};
	struct ib_err err = {0};
	struct ib_token t;
	bool more, null;

	CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_reals(s, "'a'", &v, &null, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(v.n, 4);
	CU_ASSERT(!null && v.v[0] == 1 && v.v[1] == 2.5 && isnan(v.v[2]) && v.v[3] == -30);
	CU_ASSERT_EQUAL(ib_stream_reals(s, "'b'", &v, &null, NULL), 0);
	CU_ASSERT(null && v.n == 4);
	CU_ASSERT_EQUAL(ib_stream_reals(s, "'c'", &v, &null, NULL), 0);
	CU_ASSERT(!null && v.n == 4);
	CU_ASSERT_EQUAL(ib_stream_reals(s, "'d'", &v, &null, &err), IB_E_SYNTAX);
	CU_ASSERT_STRING_EQUAL(err.text, "'f' line 1 column 33: element 1 of 'd' is a string, not a number");
	ib_reals_clear(&v);
}

/* The same numbers wherever the buffer ends, and however the array is laid out. */
static void test_stream_reals_across_the_buffer(void)
{
	static const char *const texts[] = {"[0.12345678901234567,-2e-3, 3,null ,5.5]", "[\n  0.12345678901234567,\n\t-2e-3,\r\n  3\n , null\n,\n 5.5\n]"};
	const size_t buffer = 262144;

	for (size_t i = 0; i < IB_LEN(texts); i++) {
		size_t n = strlen(texts[i]);
		ib_auto_free char *padded = ib_alloc(buffer + n);

		for (size_t k = 0; k <= n; k++) {
			struct ib_source_mem mem = {.data = padded, .n = buffer - k + n};
			const struct ib_source in = ib_source_from_mem(&mem);
			ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
			struct ib_reals v = {0};
			bool more;

			memset(padded, ' ', buffer - k);
			memcpy(padded + buffer - k, texts[i], n);
			CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
			CU_ASSERT_EQUAL_FATAL(ib_stream_reals(s, "'a'", &v, NULL, NULL), 0);
			CU_ASSERT_EQUAL_FATAL(v.n, 5);
			CU_ASSERT(v.v[0] == 0.12345678901234567 && v.v[1] == -0.002 && v.v[2] == 3 && isnan(v.v[3]) && v.v[4] == 5.5);
			ib_reals_clear(&v);
			CU_ASSERT_EQUAL(ib_stream_document(s, &more, NULL), IB_E_INTERNAL);
		}
	}
}

static void test_stream_reals_refuses(void)
{
	static const char *const bad[][2] = {
		{"[1,]", "'f' line 1 column 4: ']' where a value must come"},       {"[1 2]", "'f' line 1 column 4: '2' where ',' or ']' must come"},
		{"[1,1e999]", "'f' line 1 column 4: a number beyond those of a double"}, {"[1,01]", "'f' line 1 column 5: a number that begins with 0"},
		{"[1,-Infinity]", "'f' line 1 column 4: NaN and Infinity are no values of JSON"}, {"[1,\n2", "'f' line 2 column 2: the text ends where ',' or ']' must come"},
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		struct ib_source_mem mem = {.data = bad[i][0], .n = strlen(bad[i][0])};
		const struct ib_source in = ib_source_from_mem(&mem);
		ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", NULL);
		struct ib_reals v = {0};
		struct ib_err err = {0};
		bool more;

		CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
		CU_ASSERT_EQUAL(ib_stream_reals(s, "'a'", &v, NULL, &err), IB_E_JSON);
		CU_ASSERT_STRING_EQUAL(err.text, bad[i][1]);
		ib_reals_clear(&v);
	}
}

/* --- the conformance suite --- */

/* Where the RFC leaves it open: numbers that a double only holds rounded, or as 0, and a byte-order mark. */
static bool accepted(const char *name)
{
	static const char *const open[] = {
		"i_number_double_huge_neg_exp.json", "i_number_real_underflow.json",         "i_number_too_big_neg_int.json",
		"i_number_too_big_pos_int.json",     "i_number_very_big_negative_int.json", "i_structure_UTF-8_BOM_empty_object.json",
	};
	/* Names SHOULD be unique; here they must. */
	static const char *const twice[] = {"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"};

	for (size_t i = 0; i < IB_LEN(open); i++)
		if (strcmp(name, open[i]) == 0)
			return true;
	for (size_t i = 0; i < IB_LEN(twice); i++)
		if (strcmp(name, twice[i]) == 0)
			return false;
	return *name == 'y';
}

static bool reads(const char *dir, const char *name, bool skip)
{
	ib_auto_free char *path = ib_asprintf("%s/%s", dir, name);
	ib_auto_buf struct ib_buf b = IB_BUF(16u << 20);
	struct ib_source_mem mem = {0};
	bool more = false;
	int r = ib_read_file(AT_FDCWD, path, &b, NULL);

	CU_ASSERT_EQUAL_FATAL(r, 0);
	mem.data = ib_buf_str(&b);
	mem.n = b.len;
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, name, NULL);
	struct ib_token t = {.kind = IB_TOKEN_NULL};

	r = ib_stream_document(s, &more, NULL);
	if (r == 0 && skip)
		r = ib_stream_skip(s, NULL);
	while (r == 0 && t.kind != IB_TOKEN_END)
		r = ib_stream_next(s, &t, NULL);
	if (r < 0 || !more)
		return false;
	return ib_stream_document(s, &more, NULL) == 0 && !more;
}

static void test_stream_conformance(void)
{
	ib_auto_free char *path = ib_vectors() ? ib_asprintf("%s/conformance/jsontestsuite/test_parsing", ib_vectors()) : NULL;
	ib_auto_dir DIR *d = path ? opendir(path) : NULL;
	const struct dirent *e;
	size_t n = 0;

	if (!d) {
		ib_skip("the JSON test suite is not there (IBTOOLS_VECTORS)");
		return;
	}
	while ((e = readdir(d))) {
		if (!ib_ends(e->d_name, ".json"))
			continue;
		n++;
		for (int skip = 0; skip < 2; skip++) {
			bool right = reads(path, e->d_name, skip) == accepted(e->d_name);

			if (!right)
				printf("# %s\n", e->d_name);
			CU_ASSERT(right);
		}
	}
	CU_ASSERT_EQUAL(n, 318);
}

/* --- values of any size --- */

struct endless {
	uint64_t n, at;
};

static int read_endless(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct endless *e = arg;
	static const char head[] = "{\"text\":\"", tail[] = "\"}";
	uint64_t end = sizeof(head) - 1 + e->n + sizeof(tail) - 1;
	char *to = data;
	size_t k = 0;

	(void)err;
	for (; k < n && e->at < end; k++, e->at++) {
		if (e->at < sizeof(head) - 1)
			to[k] = head[e->at];
		else if (e->at < sizeof(head) - 1 + e->n)
			to[k] = 'x';
		else
			to[k] = tail[e->at - e->n - (sizeof(head) - 1)];
	}
	*ret_n = k;
	return 0;
}

static void test_stream_long_value(void)
{
	const char *wanted = getenv("IB_STREAM_BYTES");
	struct endless e = {.n = wanted ? strtoull(wanted, NULL, 10) : 64u << 20};
	const struct ib_source in = {.read = read_endless, .arg = &e};
	const struct ib_stream_opts opts = {.hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", &opts);
	struct ib_token t;
	bool more;

	CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
	CU_ASSERT_EQUAL(t.bytes, e.n);
	CU_ASSERT_EQUAL(t.kept, IB_STREAM_TEXT);
	CU_ASSERT_EQUAL(strlen(t.text), IB_STREAM_TEXT);
	CU_ASSERT_EQUAL(ib_stream_next(s, &t, NULL), 0);
	CU_ASSERT_EQUAL(t.kind, IB_TOKEN_OBJECT_END);
}

static uint64_t hash_of(const char *text, size_t pad)
{
	ib_auto_free char *padded = ib_alloc(pad + strlen(text) + 1);
	struct ib_source_mem mem = {.data = padded, .n = pad + strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	const struct ib_stream_opts opts = {.hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", &opts);
	struct ib_token t = {.hash = 0};
	bool more;

	memset(padded, ' ', pad);
	memcpy(padded + pad, text, strlen(text));
	CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_stream_next(s, &t, NULL), 0);
	return t.hash;
}

static void test_stream_hash(void)
{
	uint64_t h = hash_of("\"hello, world and all\"", 0);

	CU_ASSERT_NOT_EQUAL(h, 0);
	CU_ASSERT_EQUAL(h, hash_of("\"hello, world and \\u0061ll\"", 0));
	for (size_t i = 0; i < 24; i++)
		CU_ASSERT_EQUAL(h, hash_of("\"hello, world and all\"", 262144 - i));
	CU_ASSERT_NOT_EQUAL(h, hash_of("\"hello, world and alL\"", 0));
	CU_ASSERT_NOT_EQUAL(hash_of("\"\"", 0), hash_of("\"\\u0000\"", 0));
}

/* --- tables --- */

struct picked {
	double latency, absent;
	int64_t tokens, bytes;
	char *name;
	int8_t ok;
	uint64_t hash;
	bool error;
	struct ib_reals gaps;
	json_t *tree, *rest;
	double sum;
};

static int each_number(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct picked *p = row;
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (r == 0)
		p->sum += t.real + (key ? (double)strlen(key) : 0);
	return r;
}

static const struct ib_pick table[] = {
	{.path = "metrics/latency/value", .kind = IB_PICK_REAL, .at = offsetof(struct picked, latency), .wanted = true},
	{.path = "metrics/absent", .kind = IB_PICK_REAL, .at = offsetof(struct picked, absent), .wanted = true},
	{.path = "tokens", .kind = IB_PICK_INT, .at = offsetof(struct picked, tokens)},
	{.path = "name", .kind = IB_PICK_TEXT, .at = offsetof(struct picked, name)},
	{.path = "name", .kind = IB_PICK_BYTES, .at = offsetof(struct picked, bytes)},
	{.path = "name", .kind = IB_PICK_HASH, .at = offsetof(struct picked, hash)},
	{.path = "ok", .kind = IB_PICK_BOOL, .at = offsetof(struct picked, ok)},
	{.path = "error", .kind = IB_PICK_PRESENT, .at = offsetof(struct picked, error)},
	{.path = "gaps", .kind = IB_PICK_REALS, .at = offsetof(struct picked, gaps)},
	{.path = "tree", .kind = IB_PICK_TREE, .at = offsetof(struct picked, tree)},
	{.path = "", .kind = IB_PICK_SCALARS, .at = offsetof(struct picked, rest)},
	{.path = "each", .kind = IB_PICK_EACH, .at = 0, .each = each_number},
	{.path = "call", .kind = IB_PICK_CALL, .at = 0, .each = each_number},
	{.path = "members", .kind = IB_PICK_EACH, .at = 0, .each = each_number},
	{.path = NULL},
};

static int pick(const char *text, struct picked *p, struct ib_strv *missing, struct ib_err *err)
{
	struct ib_source_mem mem = {.data = text, .n = strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	const struct ib_stream_opts opts = {.hash = true, .literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(&in, "f", &opts);
	bool more;
	int r;

	*p = (struct picked){.latency = NAN, .absent = NAN, .ok = -1, .tokens = -1, .bytes = -1};
	CU_ASSERT_EQUAL_FATAL(ib_stream_document(s, &more, NULL), 0);
	r = ib_pick(s, table, p, missing, err);
	return r < 0 ? r : ib_stream_document(s, &more, err) == IB_E_INTERNAL ? 0 : 1;
}

static void clear(struct picked *p)
{
	free(p->name);
	ib_reals_clear(&p->gaps);
	json_decref(p->tree);
	json_decref(p->rest);
}

static void test_pick_takes_what_the_table_names(void)
{
	static const char text[] =
		"{\"other\": {\"tokens\": \"x\", \"a\": [1,{}]}, \"tokens\": 12.0, \"name\": \"abc\", \"ok\": false, \"error\": \"\", \"gaps\": [0.5, null],"
		" \"metrics\": {\"unit\": \"s\", \"latency\": {\"value\": 1.25, \"unit\": \"s\"}}, \"tree\": {\"a\": [1, {\"b\": null}]}, \"rate\": Infinity, \"n\": 7,"
		" \"each\": [1, 2, 3], \"members\": {\"abc\": 10, \"d\": 20}, \"call\": 100, \"metrics/absent\": 3, \"list\": []}";
	ib_auto_strv struct ib_strv missing = {0};
	ib_auto_json json_t *wanted = json_loads("{\"rate\": null, \"n\": 7, \"metrics/absent\": 3}", 0, NULL);
	struct ib_err err = {0};
	struct picked p;

	CU_ASSERT_EQUAL_FATAL(pick(text, &p, &missing, &err), 0);
	CU_ASSERT(p.latency == 1.25 && isnan(p.absent) && p.tokens == 12 && p.bytes == 3 && p.ok == 0 && p.hash && p.error);
	CU_ASSERT_STRING_EQUAL(p.name, "abc");
	CU_ASSERT(p.gaps.n == 2 && p.gaps.v[0] == 0.5 && isnan(p.gaps.v[1]));
	CU_ASSERT_EQUAL(p.sum, 6 + 30 + 4 + 100 + 4);
	CU_ASSERT(json_equal(p.rest, wanted));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(p.tree, "a")), 2);
	CU_ASSERT_EQUAL_FATAL(missing.n, 1);
	CU_ASSERT_STRING_EQUAL(missing.v[0], "metrics/absent");
	clear(&p);
}

static void test_pick_null_leaves_what_is_there(void)
{
	ib_auto_strv struct ib_strv missing = {0};
	struct picked p;

	CU_ASSERT_EQUAL_FATAL(pick("{\"tokens\":null,\"name\":null,\"ok\":null,\"error\":null,\"gaps\":null,\"tree\":null,\"metrics\":null,\"each\":null}", &p, &missing, NULL), 0);
	CU_ASSERT(p.tokens == -1 && !p.name && p.ok == -1 && !p.error && p.gaps.n == 0 && !p.tree && p.sum == 0);
	CU_ASSERT_EQUAL(missing.n, 2);
	clear(&p);
}

static void test_pick_refuses_other_types(void)
{
	static const char *const bad[][2] = {
		{"{\"tokens\":\"1\"}", "'f' line 1 column 11: 'tokens' is not a number"},
		{"{\"tokens\":1.5}", "'f' line 1 column 11: 'tokens' is not a whole number"},
		{"{\"name\":1}", "'f' line 1 column 9: 'name' is not a string"},
		{"{\"ok\":1}", "'f' line 1 column 7: 'ok' is not true or false"},
		{"{\"gaps\":1}", "'f' line 1 column 9: 'gaps' is a number, not an array of numbers"},
		{"{\"metrics\":{\"latency\":1}}", "'f' line 1 column 23: 'metrics/latency/value' is not in an object"},
		{"{\"each\":1}", "'f' line 1 column 9: 'each' is not an array or object"},
		{"[]", "'f' line 1 column 1: a value that is no object"},
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		struct ib_err err = {0};
		struct picked p;

		CU_ASSERT_EQUAL(pick(bad[i][0], &p, NULL, &err), IB_E_SYNTAX);
		CU_ASSERT_STRING_EQUAL(err.text, bad[i][1]);
		clear(&p);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_stream_tokens),
	IB_TEST(test_stream_integers),
	IB_TEST(test_stream_refuses),
	IB_TEST(test_stream_error_stays),
	IB_TEST(test_stream_literals_are_counted),
	IB_TEST(test_stream_lines),
	IB_TEST(test_stream_across_the_buffer),
	IB_TEST(test_stream_finds_duplicates_among_many),
	IB_TEST(test_stream_finds_duplicates_at_any_depth),
	IB_TEST(test_stream_remembers_keys),
	IB_TEST(test_stream_limits),
	IB_TEST(test_stream_reals),
	IB_TEST(test_stream_reals_across_the_buffer),
	IB_TEST(test_stream_reals_refuses),
	IB_TEST(test_stream_conformance),
	IB_TEST(test_stream_long_value),
	IB_TEST(test_stream_hash),
	IB_TEST(test_pick_takes_what_the_table_names),
	IB_TEST(test_pick_null_leaves_what_is_there),
	IB_TEST(test_pick_refuses_other_types),
	{0},
};

const struct ib_test_suite ib_suite = {"stream", tests};
