/* SPDX-License-Identifier: Apache-2.0 */
/* The BagIt files of a packet. */
#include "store/bag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"

const char *const ib_tag_files[IB_TAG_FILES] = {"bagit.txt", "bag-info.txt", "VERIFY.md", "manifest-sha256.txt", "tagmanifest-sha256.txt"};

bool ib_top_parse(const char *s, size_t n, struct ib_top *ret)
{
	size_t study = n > 18 ? n - 18 : 0; /* "-YYYYMMDD-xxxxxxxx" */

	if (!ib_name_is_plain(s, study) || s[study] != '-' || s[study + 9] != '-')
		return false;
	*ret = (struct ib_top){0};
	memcpy(ret->name, s, n);
	memcpy(ret->study, s, study);
	memcpy(ret->date, s + study + 1, 8);
	memcpy(ret->seal, s + study + 10, 8);
	return strspn(ret->date, "0123456789") == 8 && ib_is_hex(ret->seal, 8);
}

void ib_bag_date(uint64_t mtime, char ret[IB_DATE_LEN])
{
	char text[IB_TIME_LEN];

	ib_time_text((int64_t)mtime * IB_NS, 0, text);
	memcpy(ret, text, IB_DATE_LEN - 1);
	ret[IB_DATE_LEN - 1] = '\0';
}

char *ib_bag_info(const char *top, uint64_t mtime, uint64_t bytes, uint64_t files)
{
	char date[IB_DATE_LEN];

	ib_bag_date(mtime, date);
	return ib_asprintf("Bagging-Date: %s\nExternal-Identifier: %s\nPayload-Oxum: %" PRIu64 ".%" PRIu64 "\n", date, top, bytes, files);
}

/* Decimal number without leading zeros of at most 15 digits. */
static bool number(const char **p, uint64_t *ret)
{
	const char *start = *p;

	*ret = 0;
	while (**p >= '0' && **p <= '9' && *p - start < 15)
		*ret = *ret * 10 + (uint64_t)(*(*p)++ - '0');
	return *p > start && (*start != '0' || *p == start + 1);
}

int ib_bag_info_parse(const char *text, size_t n, uint64_t *ret_bytes, uint64_t *ret_files, struct ib_err *err)
{
	static const char first[] = "Bagging-Date: ", second[] = "\nExternal-Identifier: ", third[] = "\nPayload-Oxum: ";
	const char *p = text;
	bool good = strlen(text) == n && ib_starts(p, first);

	if (good) {
		p += strlen(first);
		good = strspn(p, "0123456789-") == 10 && ib_starts(p + 10, second);
	}
	if (good) {
		p += 10 + strlen(second);
		n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_-");
		good = n > 0 && ib_starts(p + n, third);
	}
	if (good) {
		p += n + strlen(third);
		good = number(&p, ret_bytes) && *p++ == '.' && number(&p, ret_files) && *ret_files > 0 && strcmp(p, "\n") == 0;
	}
	return good ? 0 : ib_fail_at(err, IB_E_MANIFEST, "bag-info.txt", "'bag-info.txt' is not the three lines of a packet");
}

static int bad_line(const char *name, size_t line, const char *why, struct ib_err *err)
{
	return ib_fail_at(err, IB_E_MANIFEST, name, "'%s' line %zu: %s", name, line, why);
}

/* One line of n bytes without its newline. */
static int check_line(const char *line, size_t n, const char *name, const char *top, bool payload, struct ib_manifest *m, struct ib_names *names,
		      struct ib_err *err)
{
	const char *path = line + 66;
	char full[IB_PATH_MAX + 2];
	int r;

	if (n < 67 || line[64] != ' ' || line[65] != ' ' || strspn(line, "0123456789abcdef") != 64)
		return bad_line(name, m->n + 1, "not 64 lower-case hexadecimal digits, two spaces and a path", err);
	for (size_t i = 66; i < n; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			return bad_line(name, m->n + 1, "a control character", err);
	snprintf(full, sizeof(full), "%s/%s", top, path);
	r = ib_name_check(full, strlen(full), err);
	if (r < 0) {
		ib_wrap(err, "'%s' line %zu", name, m->n + 1);
		return r;
	}
	if (payload && !ib_starts(path, "data/"))
		return bad_line(name, m->n + 1, "a path outside data/", err);
	return ib_names_add(names, path, err);
}

int ib_manifest_parse(char *text, size_t n, const char *name, const char *top, bool payload, struct ib_manifest *ret, struct ib_err *err)
{
	ib_auto_names struct ib_names *names = ib_names_new();
	size_t cap = 0;
	bool sorted = true;

	*ret = (struct ib_manifest){.text = text};
	if (n == 0 || text[n - 1] != '\n')
		return ib_fail_at(err, IB_E_MANIFEST, name, "'%s' is empty, or has no newline at its end", name);
	for (size_t at = 0; at < n;) {
		char *end = memchr(text + at, '\n', n - at);
		size_t k = (size_t)(end - (text + at));
		int r;

		*end = '\0';
		r = check_line(text + at, k, name, top, payload, ret, names, err);
		if (r < 0)
			return r;
		if (ret->n == cap) {
			cap = cap ? cap * 2 : 64;
			ret->line = ib_realloc(ret->line, cap, sizeof(*ret->line));
		}
		sorted = sorted && (ret->n == 0 || strcmp(text + ret->line[ret->n - 1], text + at + 66) < 0);
		ret->line[ret->n++] = (uint32_t)(at + 66);
		text[at + 64] = '\0';
		at += k + 1;
	}
	return sorted ? 0 : ib_fail_at(err, IB_E_MANIFEST, name, "'%s' is not sorted by the bytes of its paths", name);
}

const char *ib_manifest_path(const struct ib_manifest *m, size_t i)
{
	return m->text + m->line[i];
}

const char *ib_manifest_sha256(const struct ib_manifest *m, size_t i)
{
	return m->text + m->line[i] - 66;
}

const char *ib_manifest_find(const struct ib_manifest *m, const char *path)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int c = strcmp(path, ib_manifest_path(m, mid));

		if (c == 0)
			return ib_manifest_sha256(m, mid);
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

void ib_manifest_clear(struct ib_manifest *m)
{
	free(m->text);
	free(m->line);
	*m = (struct ib_manifest){0};
}

bool ib_tree_covers(const char *path)
{
	return strcmp(path, "ledger.jsonl") != 0 && !ib_starts(path, "ledger.torn/") && !ib_starts(path, "report/");
}

bool ib_tree_needed(const char *path)
{
	return strcmp(path, "ledger.jsonl") == 0 || strcmp(path, "contract.yaml") == 0 || strcmp(path, "withheld.json") == 0 || ib_starts(path, "contracts/") ||
	       ib_starts(path, "ledger.torn/") || (ib_starts(path, "runs/") && ib_ends(path, "/record.json"));
}
