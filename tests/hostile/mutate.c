/* SPDX-License-Identifier: Apache-2.0 */
/* mutate COUNT SEED TRUST PACKET…: COUNT single changes, drawn from SEED, of each packet in turn. Fails when a changed packet holds, with every anchor of
 * TRUST given, and its uncompressed archive is not that of the packet it was made from. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "store/codec.h"
#include "verify/packet.h"

#define PACKET_MAX (64u << 20)
#define TRIES 50

enum kind { FLIP, BYTE, INSERT, DELETE, SWAP, TRUNCATE, KINDS };

static const char *const kind_names[KINDS] = {"bit flips", "bytes", "inserts", "deletes", "block swaps", "truncations"};

struct packet {
	const char *name;
	struct ib_buf bytes, tar;
};

struct tally {
	uint64_t state; /* of the generator */
	size_t made[KINDS], same, accepted;
	size_t codes[256];
};

/* xorshift64*: the same everywhere. */
static uint64_t draw(struct tally *t, uint64_t below)
{
	t->state ^= t->state >> 12;
	t->state ^= t->state << 25;
	t->state ^= t->state >> 27;
	return (t->state * 2685821657736338717u >> 11) % below;
}

static void decode(const char *data, size_t n, struct ib_buf *b)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	char chunk[65536];
	size_t k = 1;

	*b = IB_BUF(PACKET_MAX);
	if (ib_unpacker_open(&in, &u, NULL) < 0)
		return;
	while (k && ib_unpacker_read(u, chunk, sizeof(chunk), &k, NULL) == 0)
		ib_buf_add(b, chunk, k);
}

static enum ib_code judge(const char *data, size_t n, const struct ib_trust *trust)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_packet_result struct ib_packet_result result;
	struct ib_findings f = {0};
	struct ib_err err;
	int r = ib_packet_verify(&in, &(struct ib_packet_opts){.trust = trust}, &result, &f, &err);

	ib_findings_clear(&f);
	return r < 0 ? err.code : result.code;
}

static void swap_blocks(char *p, size_t n, struct tally *t)
{
	size_t size = draw(t, 2) ? 512 : 1 + (size_t)draw(t, 64), blocks = n / size, a, b;
	char tmp[512];

	if (blocks < 2)
		return;
	a = (size_t)draw(t, blocks) * size;
	b = (size_t)draw(t, blocks) * size;
	memcpy(tmp, p + a, size);
	memcpy(p + a, p + b, size);
	memcpy(p + b, tmp, size);
}

/* A changed copy (allocated) and its length. */
static char *change(const struct ib_buf *from, enum kind kind, struct tally *t, size_t *ret_n)
{
	size_t n = from->len, at = (size_t)draw(t, n), k = 1 + (size_t)draw(t, draw(t, 4) ? 4 : 2048);
	char *p = ib_alloc(n + k);

	memcpy(p, from->data, n);
	*ret_n = n;
	switch (kind) {
	case FLIP:
		p[at] = (char)(p[at] ^ (1 << draw(t, 8)));
		break;
	case BYTE:
		p[at] = (char)draw(t, 256);
		break;
	case INSERT:
		memmove(p + at + k, p + at, n - at);
		for (size_t i = 0; i < k; i++)
			p[at + i] = draw(t, 2) ? (char)draw(t, 256) : from->data[draw(t, n)];
		*ret_n = n + k;
		break;
	case DELETE:
		k = k < n - at ? k : n - at;
		memmove(p + at, p + at + k, n - at - k);
		*ret_n = n - k;
		break;
	case SWAP:
		swap_blocks(p, n, t);
		break;
	default:
		*ret_n = at;
	}
	return p;
}

/* One change that changes something; false when none was found. */
static bool one(const struct packet *p, size_t i, const struct ib_trust *trust, struct tally *t)
{
	enum kind kind = (enum kind)(i % KINDS);

	for (int tries = 0; tries < TRIES; tries++) {
		uint64_t before = t->state;
		size_t n;
		ib_auto_free char *data = change(&p->bytes, kind, t, &n);
		ib_auto_buf struct ib_buf tar = {0};
		enum ib_code code;

		if (n == p->bytes.len && memcmp(data, p->bytes.data, n) == 0)
			continue;
		code = judge(data, n, trust);
		t->made[kind]++;
		t->codes[(unsigned)-(int)code % IB_LEN(t->codes)]++;
		if (code != IB_OK)
			return true;
		decode(data, n, &tar);
		if (tar.len == p->tar.len && memcmp(tar.data, p->tar.data, tar.len) == 0) {
			t->same++;
			return true;
		}
		t->accepted++;
		printf("not ok - %s: change %zu (%s, state %" PRIu64 ") is accepted, and its archive is another\n", p->name, i, kind_names[kind], before);
		return true;
	}
	return false;
}

static int load(const char *path, struct packet *p, const struct ib_trust *trust)
{
	p->name = path;
	p->bytes = IB_BUF(PACKET_MAX);
	if (ib_read_file(AT_FDCWD, path, &p->bytes, NULL) < 0 || !p->bytes.len)
		return 0;
	decode(ib_buf_str(&p->bytes), p->bytes.len, &p->tar);
	return judge(p->bytes.data, p->bytes.len, trust) == IB_OK;
}

static void report(const struct tally *t, size_t count, size_t packets)
{
	printf("# %zu changes of %zu packets:", count, packets);
	for (int k = 0; k < KINDS; k++)
		printf(" %zu %s", t->made[k], kind_names[k]);
	printf("; %zu give the same archive by another frame, %zu wrongly accepted\n#", t->same, t->accepted);
	for (unsigned c = 1; c < IB_LEN(t->codes); c++)
		if (t->codes[c])
			printf(" %s %zu", ib_code_name((enum ib_code)-(int)c), t->codes[c]);
	printf("\n%sok - no changed packet holds\n", t->accepted ? "not " : "");
}

int main(int argc, char **argv)
{
	ib_auto_trust struct ib_trust trust = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	struct packet p[16] = {0};
	size_t n = argc > 4 ? (size_t)argc - 4 : 0, count = argc > 4 ? strtoul(argv[1], NULL, 10) : 0;
	struct tally t = {.state = argc > 4 ? strtoul(argv[2], NULL, 10) * 2 + 1 : 1};

	if (!n || n > IB_LEN(p) || ib_read_file(AT_FDCWD, argv[3], &b, NULL) < 0 || ib_trust_add(&trust, ib_buf_str(&b), b.len, argv[3], NULL) < 0)
		return 2;
	for (size_t i = 0; i < n; i++)
		if (!load(argv[4 + i], &p[i], &trust)) {
			printf("Bail out! '%s' does not hold\n", argv[4 + i]);
			return 99;
		}
	for (size_t i = 0; i < count; i++)
		if (!one(&p[i % n], i / n, &trust, &t)) {
			printf("Bail out! no change of '%s' changes it\n", p[i % n].name);
			return 99;
		}
	report(&t, count, n);
	for (size_t i = 0; i < n; i++) {
		ib_buf_clear(&p[i].bytes);
		ib_buf_clear(&p[i].tar);
	}
	return t.accepted > 0;
}
