/* SPDX-License-Identifier: Apache-2.0 */
/* From a study to a sealed study. Nothing is written where it is right already, so that a sealed study packs from a read-only medium. */
#include "pack/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "ledger/append.h"
#include "ledger/chain.h"

#define LEDGER "ledger.jsonl"
#define WITHHELD "withheld.json"
#define LEDGER_MAX (1u << 30)

/* Nothing is appended to a chain that is broken; a torn last line is repaired by whoever appends. */
static int check_chain(struct ib_pack_study *s, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_chain struct ib_chain c;
	int r;

	ib_chain_init(&c, NULL, NULL);
	if (faccessat(s->fd, LEDGER, F_OK, 0) < 0)
		return ib_fail(err, IB_E_STATE, 0, "'%s' is not a study: there is no " LEDGER " in it", s->name);
	r = ib_read_file(s->fd, LEDGER, &b, err);
	if (r == 0)
		r = ib_chain_feed(&c, ib_buf_str(&b), b.len, err);
	if (r == 0 && c.why[0])
		return ib_fail_at(err, IB_E_LEDGER, LEDGER, "the study does not verify: the ledger's chain is broken at %s", c.why);
	return r;
}

static int load_ledger(struct ib_pack_study *s, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	int r = ib_read_file(s->fd, LEDGER, &b, err);

	if (r < 0)
		return r;
	ib_ledger_view_clear(&s->ledger);
	return ib_ledger_view_load(ib_buf_str(&b), b.len, &s->ledger, err);
}

static int sweep_analyses(const struct ib_ctx *ctx, struct ib_ledger *l, struct ib_err *err)
{
	size_t adopted, abandoned;
	int r = ib_ledger_mark_analyses(l, &adopted, &abandoned, err);

	if (r == 0 && adopted + abandoned)
		ib_log(ctx, IB_LOG_INFO, "%zu %s without a ledger entry recorded", adopted + abandoned, adopted + abandoned == 1 ? "analysis" : "analyses");
	return r;
}

/* Appends what is due; not possible on a read-only medium, which is no error yet. */
static int sweep(const struct ib_ctx *ctx, struct ib_pack_study *s, struct ib_err *err)
{
	ib_auto_ledger struct ib_ledger *l = NULL;
	size_t adopted = 0, abandoned = 0;
	int r = ib_ledger_open(ctx, s->fd, NULL, false, &l, err);

	if (r == IB_E_IO && (err->sys == EROFS || err->sys == EACCES || err->sys == EPERM))
		return 0;
	if (r == 0)
		r = ib_ledger_mark_abandoned(l, &adopted, &abandoned, err);
	if (r == 0 && abandoned)
		ib_log(ctx, IB_LOG_INFO, "%zu %s without an end recorded as abandoned", abandoned, abandoned == 1 ? "run" : "runs");
	if (r == 0 && adopted)
		ib_log(ctx, IB_LOG_INFO, "%zu %s with a record but no ledger entry adopted", adopted, adopted == 1 ? "run" : "runs");
	return r < 0 ? r : sweep_analyses(ctx, l, err);
}

int ib_pack_account(const struct ib_ctx *ctx, struct ib_pack_study *s, struct ib_err *err)
{
	int r = check_chain(s, err);

	if (r == 0)
		r = sweep(ctx, s, err);
	if (r == 0)
		r = load_ledger(s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->ledger.runs_n; i++)
		if (s->ledger.runs[i].open)
			return ib_fail_at(err, IB_E_STATE, s->ledger.runs[i].id, "run '%s' has no end yet; wait for it, or end it, and pack then", s->ledger.runs[i].id);
	return 0;
}

/* The version of the contract that the last contract or amendment entry registered. */
static int load_contract(struct ib_pack_study *s, struct ib_err *err)
{
	const struct ib_ledger_contract *c = s->ledger.contracts_n ? &s->ledger.contracts[s->ledger.contracts_n - 1] : NULL;
	ib_auto_free char *path = NULL;
	ib_auto_json json_t *j = NULL;
	int r;

	if (!c || !c->source_sha256[0])
		return 0;
	path = ib_asprintf("contracts/%s.json", c->source_sha256);
	r = ib_json_load_file(s->fd, path, &j, err);
	if (r == 0)
		r = ib_contract_from_json(j, path, &s->contract, err);
	s->has_contract = r == 0;
	return r;
}

/* The question of contract.yaml as it lies in the study, if that version was registered. */
static int load_question(struct ib_pack_study *s, struct ib_err *err)
{
	const struct ib_tree_file *yaml = ib_tree_find(&s->tree, "contract.yaml");
	ib_auto_free char *path = yaml ? ib_asprintf("contracts/%s.json", yaml->sha256) : NULL;
	ib_auto_json json_t *j = NULL;
	const char *question = NULL;
	int r;

	if (!path || !ib_tree_find(&s->tree, path))
		return 0;
	r = ib_json_load_file(s->fd, path, &j, err);
	if (r == 0)
		r = ib_get_str_opt(j, path, "question", &question, err);
	s->question = ib_strdup(question);
	return r;
}

static int write_withheld(struct ib_pack_study *s, dev_t key_dev, ino_t key_ino, struct ib_err *err)
{
	ib_auto_buf struct ib_buf want = IB_BUF(IB_JSON_MAX), have = IB_BUF(IB_JSON_MAX);
	int r;

	ib_tree_withheld_json(&s->tree, &want);
	r = ib_buf_check(&want, WITHHELD, err);
	if (r < 0)
		return r;
	if (ib_tree_find(&s->tree, WITHHELD)) {
		r = ib_read_file(s->fd, WITHHELD, &have, err);
		if (r < 0)
			return r;
		if (have.len == want.len && memcmp(ib_buf_str(&have), ib_buf_str(&want), want.len) == 0)
			return 0;
	}
	r = ib_write_file(s->fd, WITHHELD, want.data, want.len, 0644, true, err);
	if (r < 0)
		return r;
	ib_tree_clear(&s->tree);
	r = ib_tree_walk(s->fd, key_dev, key_ino, &s->tree, err);
	if (r == 0 && s->has_contract)
		r = ib_tree_withhold(&s->tree, &s->contract, err);
	return r < 0 ? r : ib_tree_digest(s->fd, &s->tree, err);
}

int ib_pack_gather(const struct ib_ctx *ctx, struct ib_pack_study *s, dev_t key_dev, ino_t key_ino, struct ib_err *err)
{
	int r = load_contract(s, err);

	if (r == 0)
		r = ib_tree_walk(s->fd, key_dev, key_ino, &s->tree, err);
	if (r == 0 && s->has_contract)
		r = ib_tree_withhold(&s->tree, &s->contract, err);
	for (size_t i = 0; r == 0 && s->has_contract && i < s->contract.withhold_n; i++)
		if (!ib_tree_matched(&s->tree, s->contract.withhold[i].path))
			ib_log(ctx, IB_LOG_WARNING, "the contract withholds '%s', which no file of the study matches", s->contract.withhold[i].path);
	if (r == 0)
		r = ib_tree_check_names(&s->tree, strlen(s->ledger.study ? s->ledger.study : "") + 18, err);
	if (r == 0)
		r = ib_tree_digest(s->fd, &s->tree, err);
	if (r == 0)
		r = write_withheld(s, key_dev, key_ino, err);
	return r < 0 ? r : load_question(s, err);
}

static int append_seal(const struct ib_ctx *ctx, struct ib_pack_study *s, const struct ib_run_counts *counts, const char *tree, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_SEAL, .runs = *counts};
	ib_auto_ledger struct ib_ledger *l = NULL;
	int r = ib_ledger_open(ctx, s->fd, NULL, false, &l, err);

	memcpy(e.tree_sha256, tree, IB_HEX_LEN);
	if (r == 0)
		r = ib_ledger_append(l, &e, NULL, NULL, err);
	if (r < 0)
		return ib_wrap(err, "cannot seal the study");
	s->sealed_now = true;
	return 0;
}

int ib_pack_seal(const struct ib_ctx *ctx, struct ib_pack_study *s, const struct ib_run_counts *counts, struct ib_err *err)
{
	struct ib_tree_file *file = ib_tree_find(&s->tree, LEDGER);
	struct ib_tree one;
	char tree[IB_HEX_LEN];
	int r = 0;

	ib_tree_sha256(&s->tree, tree);
	if (!s->ledger.sealed_seq || strcmp(s->ledger.seal_tree, tree) != 0) {
		r = append_seal(ctx, s, counts, tree, err);
		if (r == 0)
			r = load_ledger(s, err);
	}
	if (r < 0)
		return r;
	if (!file || !s->ledger.sealed_seq || strcmp(s->ledger.seal_tree, tree) != 0)
		return ib_fail(err, IB_E_STATE, 0, "the study changed while it was sealed; pack again when nothing writes to it");
	s->sealed_at = (uint64_t)(s->ledger.seal_wall_ns / IB_NS);
	one = (struct ib_tree){.v = file, .n = 1};
	return ib_tree_digest(s->fd, &one, err);
}

void ib_pack_study_clear(struct ib_pack_study *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->name);
	free(s->question);
	ib_tree_clear(&s->tree);
	ib_ledger_view_clear(&s->ledger);
	if (s->has_contract)
		ib_contract_clear(&s->contract);
	*s = (struct ib_pack_study){.fd = -1};
}
