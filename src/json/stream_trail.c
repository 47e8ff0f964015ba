/* SPDX-License-Identifier: Apache-2.0 */
/* Records have the same keys in the same order, one after the other: the stream remembers which key came after which, and compares in place before it
 * reads, hashes and looks for duplicates. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "json/stream_impl.h"

#define DOCUMENT 1 /* the step that leads to the first keys */

void stream_trail_clear(struct stream_trail *t)
{
	free(t->v);
	free(t->text);
}

void stream_trail_open(struct ib_stream *s)
{
	struct stream_trail *t = &s->trail;
	unsigned d = s->depth - 1;
	uint32_t from = d ? t->at[d - 1].step : DOCUMENT;
	bool object = s->is_object[d];

	if (!t->v) {
		t->v = ib_alloc(TRAIL_STEPS * sizeof(*t->v));
		t->text = ib_alloc(TRAIL_TEXT);
		t->n = DOCUMENT + 1;
	}
	t->at[d].from = from;
	t->at[d].step = object ? 0 : from;
	t->at[d].on = t->at[d].learning = object && from;
}

/* Where the step is named that comes next in the innermost object. */
static uint32_t *next(struct stream_trail *t, unsigned d)
{
	return t->at[d].step ? &t->v[t->at[d].step].next : &t->v[t->at[d].from].inside;
}

/* Is it the string at p? TRAIL_LOOK bytes are there. */
static bool is_text(const struct stream_step *step, const char *p)
{
	uint64_t a, b, differ = 0;
	size_t i;

	if (p[1 + step->n] != '"')
		return false;
	for (i = 0; i + 8 <= step->n; i += 8) {
		memcpy(&a, step->text + i, 8);
		memcpy(&b, p + 1 + i, 8);
		differ |= a ^ b;
	}
	memcpy(&a, step->text + i, 8);
	memcpy(&b, p + 1 + i, 8);
	differ |= (le64toh(a) ^ le64toh(b)) & (((uint64_t)1 << (8 * (step->n - i))) - 1);
	return !differ;
}

static uint32_t find(struct ib_stream *s, unsigned d)
{
	uint32_t i = *next(&s->trail, d);

	while (i && !is_text(&s->trail.v[i], s->p))
		i = s->trail.v[i].other;
	return i;
}

/* The object goes on where none before it did: its keys are listed, as they would have been. */
static int leave(struct ib_stream *s, unsigned d)
{
	struct stream_trail *t = &s->trail;
	int r = 0;

	t->at[d].on = false;
	for (uint32_t i = t->at[d].step; r == 0 && i; i = t->v[i].before)
		r = stream_keys_add(s, t->v[i].hash, t->v[i].text);
	return r;
}

/* The key was read letter by letter, and is listed last. */
static void learn(struct ib_stream *s, struct ib_token *key)
{
	struct stream_trail *t = &s->trail;
	unsigned d = s->depth - 1;
	uint32_t *from = next(t, d), ways = *from ? t->v[*from].ways + 1 : 1;
	size_t room = (key->kept / 8 + 1) * 8;
	struct stream_step *step = &t->v[t->n];

	/* One that is put together from escapes has another text than it has letters. */
	t->at[d].learning = key->text != s->text && key->kept <= TRAIL_KEY && ways <= TRAIL_WAYS && t->n < TRAIL_STEPS && t->text_n + room <= TRAIL_TEXT;
	if (!t->at[d].learning) {
		t->at[d].step = 0;
		return;
	}
	*step = (struct stream_step){.hash = s->keys.v[s->keys.n - 1],
				     .text = memcpy(t->text + t->text_n, key->text, key->kept),
				     .n = (uint32_t)key->kept,
				     .before = t->at[d].step,
				     .other = *from,
				     .ways = ways};
	t->text_n += room;
	key->step = &step->note;
	t->at[d].step = *from = t->n++;
}

int stream_trail_key(struct ib_stream *s, struct ib_token *t)
{
	struct stream_trail *trail = &s->trail;
	unsigned d = s->depth - 1;
	uint32_t i;
	int r;

	t->step = NULL;
	if (trail->at[d].on) {
		r = stream_ensure(s, TRAIL_LOOK);
		i = r == 0 && s->end - s->p >= TRAIL_LOOK ? find(s, d) : 0;
		if (i) {
			trail->at[d].step = i;
			t->text = trail->v[i].text;
			t->bytes = t->kept = trail->v[i].n;
			t->hash = 0;
			t->step = &trail->v[i].note;
			s->p += t->kept + 2;
			return 0;
		}
		if (r == 0)
			r = leave(s, d);
		if (r < 0)
			return r;
	}
	r = stream_string(s, t, true);
	if (r == 0 && trail->at[d].learning)
		learn(s, t);
	return r;
}
