/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines, and what programs print between them. */
#include <string.h>

#include "json/stream_impl.h"

/* Passes over the rest of the line. */
static int pass_line(struct ib_stream *s)
{
	for (;;) {
		char *lf = memchr(s->p, '\n', (size_t)(s->end - s->p));
		int r;

		s->p = lf ? lf : s->end;
		if (lf) {
			stream_line(s);
			return 0;
		}
		r = stream_more(s);
		if (r <= 0) {
			s->notes.torn = true;
			return r;
		}
	}
}

/* "[INFO] started" begins like an array. A line that is wholly in the buffer is tried; a longer one is taken for what it seems. */
static int is_array(struct ib_stream *s, bool *ret)
{
	int r = stream_ensure(s, STREAM_BUFFER / 2);
	const struct ib_stream_opts opts = {.literals = s->opts.literals};
	struct ib_source_mem mem = {.data = s->p, .n = (size_t)(s->end - s->p)};
	const struct ib_source in = ib_source_from_mem(&mem);
	const char *lf;

	*ret = true;
	if (r < 0)
		return r;
	mem.data = s->p;
	mem.n = (size_t)(s->end - s->p);
	lf = memchr(s->p, '\n', mem.n);
	if (!lf && !s->eof)
		return 0;
	if (lf)
		mem.n = (size_t)(lf - s->p);
	ib_auto_stream struct ib_stream *trial = ib_stream_new(&in, s->name, &opts);
	bool more = false;

	/* Too deep or too many keys: an array all the same. */
	r = ib_stream_document(trial, &more, NULL);
	if (r == 0)
		r = ib_stream_skip(trial, NULL);
	*ret = r == 0 || r == IB_E_LIMIT;
	return 0;
}

int stream_next_line(struct ib_stream *s, bool *ret_more)
{
	for (;;) {
		int c = stream_byte(s), r;
		bool taken = c == '{';

		*ret_more = false;
		if (c < 0 || c == STREAM_EOF)
			return c < 0 ? c : 0;
		if (c == '[') {
			r = is_array(s, &taken);
			if (r < 0)
				return r;
		}
		*ret_more = taken;
		if (taken)
			return 0;
		s->notes.foreign_lines++;
		if (!s->notes.first_foreign)
			s->notes.first_foreign = s->line;
		r = pass_line(s);
		if (r < 0)
			return r;
	}
}

int stream_end_line(struct ib_stream *s)
{
	for (;;) {
		int r;

		while (*s->p == ' ' || *s->p == '\t' || *s->p == '\r')
			s->p++;
		if (*s->p == '\n') {
			stream_line(s);
			return 0;
		}
		if (s->p < s->end)
			return stream_refuse(s, IB_E_JSON, "something follows the value on its line");
		r = stream_more(s);
		if (r <= 0) {
			s->notes.torn = true;
			return r;
		}
	}
}
