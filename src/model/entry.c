/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of the ledger, to and from JSON. */
#include "model/entry.h"

#include <string.h>

#include "base/auto.h"
#include "base/clock.h"

static const char *const kind_names[IB_ENTRY_KINDS] = {
	[IB_ENTRY_CONTRACT] = "contract",   [IB_ENTRY_AMENDMENT] = "amendment", [IB_ENTRY_START] = "start",         [IB_ENTRY_FINISH] = "finish",
	[IB_ENTRY_ABANDONED] = "abandoned", [IB_ENTRY_EXCLUSION] = "exclusion", [IB_ENTRY_NOTE] = "note",           [IB_ENTRY_IMPORT] = "import",
	[IB_ENTRY_ANALYSIS] = "analysis",   [IB_ENTRY_TORN] = "torn",           [IB_ENTRY_SEAL] = "seal",
	[IB_ENTRY_QUALITY] = "quality",     [IB_ENTRY_RECORDING] = "recording", [IB_ENTRY_CEILING] = "ceiling",
};

const char *ib_entry_kind_name(enum ib_entry_kind k)
{
	return (unsigned)k < IB_ENTRY_KINDS ? kind_names[k] : "unknown";
}

static const struct {
	const char *key;
	size_t offset;
} count_keys[] = {
	{"planned", offsetof(struct ib_run_counts, planned)},         {"started", offsetof(struct ib_run_counts, started)},
	{"completed", offsetof(struct ib_run_counts, completed)},     {"failed", offsetof(struct ib_run_counts, failed)},
	{"timed_out", offsetof(struct ib_run_counts, timed_out)},     {"interrupted", offsetof(struct ib_run_counts, interrupted)},
	{"abandoned", offsetof(struct ib_run_counts, abandoned)},     {"refused", offsetof(struct ib_run_counts, refused)},
	{"excluded", offsetof(struct ib_run_counts, excluded)},       {"imported", offsetof(struct ib_run_counts, imported)},
};

json_t *ib_run_counts_json(const struct ib_run_counts *c)
{
	json_t *o = ib_json_object();

	for (size_t i = 0; i < IB_LEN(count_keys); i++)
		ib_json_set_int(o, count_keys[i].key, *(const int64_t *)((const char *)c + count_keys[i].offset));
	return o;
}

int ib_run_counts_from_json(const json_t *j, const char *where, struct ib_run_counts *ret, struct ib_err *err)
{
	for (size_t i = 0; i < IB_LEN(count_keys); i++) {
		int r = ib_get_int(j, where, count_keys[i].key, 0, INT64_MAX, (int64_t *)((char *)ret + count_keys[i].offset), err);

		if (r < 0)
			return r;
	}
	return 0;
}

void ib_entry_clear(struct ib_entry *e)
{
	char *const texts[] = {e->boot, e->study, e->reason, e->run, e->group, e->cell, e->text, e->file};

	for (size_t i = 0; i < IB_LEN(texts); i++)
		free(texts[i]);
	ib_strv_clear(&e->captures);
	*e = (struct ib_entry){0};
}

static void set_hex(json_t *o, const char *key, const char *hex)
{
	ib_json_set_str(o, key, *hex ? hex : NULL);
}

static void set_contract(json_t *o, const struct ib_entry *e)
{
	json_t *c = NULL;

	if (e->source_sha256[0]) {
		c = ib_json_object();
		ib_json_set_str(c, "source_sha256", e->source_sha256);
		ib_json_set_str(c, "json_sha256", e->json_sha256);
	}
	ib_json_set_str(o, "study", e->study);
	ib_json_set(o, "contract", c);
}

static void set_start(json_t *o, const struct ib_entry *e)
{
	ib_json_set_str(o, "run", e->run);
	ib_json_set_str(o, "group", e->group);
	ib_json_set_str(o, "cell", e->cell);
	ib_json_set_int(o, "repeat", e->repeat);
	ib_json_set_int(o, "attempt", e->attempt);
	set_hex(o, "capture", e->capture);
}

static void set_finish(json_t *o, const struct ib_entry *e)
{
	json_t *captures = ib_json_array();

	for (size_t i = 0; i < e->captures.n; i++)
		ib_json_add_str(captures, e->captures.v[i]);
	ib_json_set_str(o, "run", e->run);
	ib_json_set_str(o, "state", ib_state_name(e->state));
	ib_json_set_str(o, "record_sha256", e->record_sha256);
	ib_json_set(o, "captures", captures);
}

static void set_kind(json_t *o, const struct ib_entry *e)
{
	switch (e->kind) {
	case IB_ENTRY_CONTRACT:
		set_contract(o, e);
		break;
	case IB_ENTRY_AMENDMENT:
		set_contract(o, e);
		ib_json_set_str(o, "reason", e->reason);
		ib_json_set_bool(o, "results_known", e->results_known);
		break;
	case IB_ENTRY_START:
		set_start(o, e);
		break;
	case IB_ENTRY_FINISH:
		set_finish(o, e);
		break;
	case IB_ENTRY_EXCLUSION:
		ib_json_set_str(o, "run", e->run);
		ib_json_set_str(o, "reason", e->reason);
		break;
	case IB_ENTRY_ABANDONED:
	case IB_ENTRY_IMPORT:
		ib_json_set_str(o, "run", e->run);
		break;
	case IB_ENTRY_NOTE:
		ib_json_set_str(o, "text", e->text);
		break;
	case IB_ENTRY_TORN:
	case IB_ENTRY_ANALYSIS:
	case IB_ENTRY_QUALITY:
	case IB_ENTRY_RECORDING:
	case IB_ENTRY_CEILING:
		ib_json_set_str(o, "file", e->file);
		ib_json_set_int(o, "bytes", e->bytes);
		ib_json_set_str(o, "sha256", e->sha256);
		break;
	case IB_ENTRY_SEAL:
		ib_json_set_str(o, "tree_sha256", e->tree_sha256);
		ib_json_set(o, "runs", ib_run_counts_json(&e->runs));
		break;
	default:
		break;
	}
}

json_t *ib_entry_to_json(const struct ib_entry *e)
{
	json_t *o = ib_json_object(), *at = ib_json_object();
	char wall[IB_TIME_LEN];

	ib_time_text(e->wall_ns, 9, wall);
	ib_json_set_str(at, "wall_at", wall);
	ib_json_set_int(at, "monotonic_ns", e->monotonic_ns);
	ib_json_set_str(at, "boot", e->boot);
	ib_json_set_int(o, "seq", e->seq);
	ib_json_set(o, "at", at);
	ib_json_set_str(o, "kind", ib_entry_kind_name(e->kind));
	set_kind(o, e);
	set_hex(o, "prev", e->prev);
	return o;
}

/* --- reading --- */

static int read_contract(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	const json_t *c;
	int r;

	if ((r = ib_get_dup(o, where, "study", &e->study, err)) < 0 || (r = ib_get_obj_opt(o, where, "contract", &c, err)) < 0)
		return r;
	if (!c)
		return json_object_get(o, "contract") ? 0 : ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key 'contract' is missing", where);
	if ((r = ib_get_hex_copy(c, where, "source_sha256", e->source_sha256, err)) < 0)
		return r;
	return ib_get_hex_copy(c, where, "json_sha256", e->json_sha256, err);
}

static int read_amendment(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	int r;

	if ((r = read_contract(o, where, e, err)) < 0 || (r = ib_get_dup(o, where, "reason", &e->reason, err)) < 0)
		return r;
	return ib_get_bool(o, where, "results_known", &e->results_known, err);
}

static int read_start(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	int r;

	if ((r = ib_get_dup(o, where, "run", &e->run, err)) < 0 || (r = ib_get_dup_opt(o, where, "group", &e->group, err)) < 0 ||
	    (r = ib_get_dup_opt(o, where, "cell", &e->cell, err)) < 0 || (r = ib_get_int(o, where, "repeat", 1, 1000000, &e->repeat, err)) < 0 ||
	    (r = ib_get_int(o, where, "attempt", 1, 1000000, &e->attempt, err)) < 0)
		return r;
	return ib_get_hex_copy_opt(o, where, "capture", e->capture, err);
}

static int read_finish(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	const json_t *captures, *v;
	const char *state;
	size_t i;
	int r;

	if ((r = ib_get_dup(o, where, "run", &e->run, err)) < 0 || (r = ib_get_str(o, where, "state", &state, err)) < 0 ||
	    (r = ib_get_hex_copy(o, where, "record_sha256", e->record_sha256, err)) < 0 || (r = ib_get_arr(o, where, "captures", &captures, err)) < 0)
		return r;
	if (!ib_state_parse(state, &e->state) || e->state == IB_STATE_ABANDONED)
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key 'state' is '%.60s', which no record can hold", where, state);
	json_array_foreach(captures, i, v) {
		if (!json_is_string(v) || !ib_is_hex(json_string_value(v), 64))
			return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key 'captures' holds something that is not a SHA-256", where);
		ib_strv_add(&e->captures, json_string_value(v));
	}
	return 0;
}

static int read_run(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	return ib_get_dup(o, where, "run", &e->run, err);
}

static int read_exclusion(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	int r = read_run(o, where, e, err);

	return r < 0 ? r : ib_get_dup(o, where, "reason", &e->reason, err);
}

static int read_note(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	return ib_get_dup(o, where, "text", &e->text, err);
}

static int read_file(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	int r;

	if ((r = ib_get_dup(o, where, "file", &e->file, err)) < 0 || (r = ib_get_int(o, where, "bytes", 1, INT64_MAX, &e->bytes, err)) < 0)
		return r;
	return ib_get_hex_copy(o, where, "sha256", e->sha256, err);
}

static int read_seal(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	const json_t *runs;
	int r;

	if ((r = ib_get_hex_copy(o, where, "tree_sha256", e->tree_sha256, err)) < 0 || (r = ib_get_obj(o, where, "runs", &runs, err)) < 0)
		return r;
	return ib_run_counts_from_json(runs, where, &e->runs, err);
}

static int read_import(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	return ib_get_dup_opt(o, where, "run", &e->run, err);
}

static int read_common(const json_t *o, const char *where, struct ib_entry *e, struct ib_err *err)
{
	const json_t *at;
	const char *kind, *wall;
	int r;

	if ((r = ib_get_int(o, where, "seq", 1, INT64_MAX, &e->seq, err)) < 0 || (r = ib_get_obj(o, where, "at", &at, err)) < 0 ||
	    (r = ib_get_str(at, where, "wall_at", &wall, err)) < 0 || (r = ib_time_parse(wall, &e->wall_ns, err)) < 0 ||
	    (r = ib_get_int(at, where, "monotonic_ns", 0, INT64_MAX, &e->monotonic_ns, err)) < 0 || (r = ib_get_dup_opt(at, where, "boot", &e->boot, err)) < 0 ||
	    (r = ib_get_hex_copy_opt(o, where, "prev", e->prev, err)) < 0 || (r = ib_get_str(o, where, "kind", &kind, err)) < 0)
		return r;
	for (unsigned k = 0; k < IB_ENTRY_KINDS; k++)
		if (strcmp(kind, kind_names[k]) == 0) {
			e->kind = (enum ib_entry_kind)k;
			return 0;
		}
	return ib_fail_at(err, IB_E_UNSUPPORTED, where, "'%s': kind '%.60s' is not known to this version", where, kind);
}

int ib_entry_from_json(const json_t *j, const char *where, struct ib_entry *ret, struct ib_err *err)
{
	static int (*const readers[IB_ENTRY_KINDS])(const json_t *, const char *, struct ib_entry *, struct ib_err *) = {
		[IB_ENTRY_CONTRACT] = read_contract, [IB_ENTRY_AMENDMENT] = read_amendment, [IB_ENTRY_START] = read_start,
		[IB_ENTRY_FINISH] = read_finish,     [IB_ENTRY_ABANDONED] = read_run,       [IB_ENTRY_EXCLUSION] = read_exclusion,
		[IB_ENTRY_NOTE] = read_note,         [IB_ENTRY_IMPORT] = read_import,       [IB_ENTRY_ANALYSIS] = read_file,
		[IB_ENTRY_TORN] = read_file,         [IB_ENTRY_SEAL] = read_seal,
		[IB_ENTRY_QUALITY] = read_file,      [IB_ENTRY_RECORDING] = read_file,   [IB_ENTRY_CEILING] = read_file,
	};
	int r;

	*ret = (struct ib_entry){0};
	if (!json_is_object(j))
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s' is not a JSON object", where);
	r = read_common(j, where, ret, err);
	if (r == 0)
		r = readers[ret->kind](j, where, ret, err);
	if (r < 0)
		ib_entry_clear(ret);
	return r;
}
