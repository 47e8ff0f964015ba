/* SPDX-License-Identifier: Apache-2.0 */
/* The hash chain of a ledger. */
#include "ledger/chain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"

void ib_chain_init(struct ib_chain *c, void (*entry)(void *arg, uint64_t seq, const char *line, size_t n, const json_t *entry), void *arg)
{
	*c = (struct ib_chain){.entry = entry, .arg = arg, .line = IB_BUF(IB_LEDGER_LINE_MAX)};
}

/* Only the first fault is kept: what follows it is unlinked anyway. */
__attribute__((format(printf, 2, 3))) static void fault(struct ib_chain *c, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	if (c->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->why_line = c->length;
	snprintf(c->why, sizeof(c->why), "line %llu: %s", (unsigned long long)c->length, text);
}

static void check_links(struct ib_chain *c, const json_t *entry)
{
	const json_t *seq = json_object_get(entry, "seq");
	const json_t *prev = json_object_get(entry, "prev");

	if (!json_is_object(entry))
		fault(c, "not a JSON object");
	else if (!json_is_integer(seq) || json_integer_value(seq) < 1 || (uint64_t)json_integer_value(seq) != c->length)
		fault(c, "'seq' is not %llu: an entry was removed, added or moved", (unsigned long long)c->length);
	else if (c->length == 1 && !json_is_null(prev))
		fault(c, "'prev' of the first entry is not null");
	else if (c->length > 1 && (!json_is_string(prev) || strcmp(json_string_value(prev), c->head) != 0))
		fault(c, "'prev' is not the digest of line %llu: one of the two was changed", (unsigned long long)(c->length - 1));
}

static void take_line(struct ib_chain *c)
{
	const char *text = ib_buf_str(&c->line);
	ib_auto_json json_t *entry = NULL;
	struct ib_err err;

	c->length++;
	if (ib_json_load(text, c->line.len, "ledger.jsonl", &entry, &err) < 0)
		fault(c, "not strict JSON");
	else
		check_links(c, entry);
	if (!c->why[0] && c->entry)
		c->entry(c->arg, c->length, text, c->line.len, entry);
	ib_sha256_of(text, c->line.len, c->head);
	ib_buf_reset(&c->line);
}

int ib_chain_feed(struct ib_chain *c, const void *data, size_t n, struct ib_err *err)
{
	const char *p = data, *end = p + n;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		ib_buf_add(&c->line, p, (size_t)((nl ? nl : end) - p));
		if (c->line.overflow)
			return ib_fail_at(err, IB_E_LIMIT, "ledger.jsonl", "line %llu of the ledger is longer than the limit of %u bytes",
					  (unsigned long long)(c->length + 1), IB_LEDGER_LINE_MAX);
		if (!nl)
			break;
		take_line(c);
		p = nl + 1;
	}
	return 0;
}

void ib_chain_end(struct ib_chain *c)
{
	if (c->line.len) {
		c->length++;
		fault(c, "no newline at its end: the line is torn");
		c->length--;
	} else if (!c->length) {
		fault(c, "the ledger is empty");
	}
}

void ib_chain_clear(struct ib_chain *c)
{
	ib_buf_clear(&c->line);
}
