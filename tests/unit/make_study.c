/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic studies. As a program: make_study DIR RUNS [ad_hoc] [sealed] [overlapping] … makes one; make_study --rechain DIR N cuts a ledger line. */
#include "make_study.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/str.h"
#include "model/contract.h"
#include "model/entry.h"
#include "verify/study.h"
#include "verify/dir.h"
#include "verify/tree.h"

#define START 1764518462000000000LL
#define SPACING 22000000 /* ns from the start of a request to that of the next */
#define REQUESTS 24

struct maker {
	const char *dir;
	int fd;
	const struct study_spec *spec;
	struct ib_buf ledger;
	int64_t seq, now;
	char prev[IB_HEX_LEN], source[IB_HEX_LEN], json[IB_HEX_LEN], capture[IB_HEX_LEN], workload[IB_HEX_LEN];
};

static void must(int r, const struct ib_err *err)
{
	if (r < 0) {
		fprintf(stderr, "make_study: %s\n", err->text);
		exit(99);
	}
}

static void put(int fd, const char *path, const char *data, size_t n, char ret_sha[IB_HEX_LEN])
{
	ib_auto_free char *dir = ib_strdup(path);
	char *slash = strrchr(dir, '/');
	ib_auto_fd int file = -1;
	struct ib_err err;

	if (slash) {
		*slash = '\0';
		must(ib_make_dirs(fd, dir, 0755, &err), &err);
	}
	file = openat(fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); /* not synced: thousands of them are made */
	if (file < 0)
		exit(99);
	must(ib_write_all(file, data, n, path, &err), &err);
	if (ret_sha)
		ib_sha256_of(data, n, ret_sha);
}

void study_put(const char *dir, const char *path, const char *text)
{
	ib_auto_fd int fd = -1;
	struct ib_err err;

	must(ib_open_dir(AT_FDCWD, dir, &fd, &err), &err);
	put(fd, path, text, strlen(text), NULL);
}

const char *study_run_id(size_t i)
{
	static char ids[4][80];
	static unsigned at;
	char *id = ids[at++ % 4];

	snprintf(id, sizeof(ids[0]), "20261130T160102Z-baseline.cap-%d-r%02zu-%08zx", i % 2 ? 4 : 1, i / 2 + 1, i + 0x9f3a0000);
	return id;
}

static void append(struct maker *m, struct ib_entry *e)
{
	struct ib_buf line = IB_BUF(IB_ENTRY_MAX);
	json_t *j;

	e->seq = ++m->seq;
	e->wall_ns = e->monotonic_ns = m->now += 1000000;
	memcpy(e->prev, m->prev, IB_HEX_LEN);
	j = ib_entry_to_json(e);
	ib_json_write(j, &line);
	ib_sha256_of(line.data, line.len, m->prev);
	ib_buf_add(&m->ledger, line.data, line.len);
	ib_buf_addc(&m->ledger, '\n');
	ib_buf_clear(&line);
	json_decref(j);
}

static void contract(struct maker *m)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_CONTRACT, .study = ib_strdup("loopback")};
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 26), yaml = IB_BUF(1u << 16);
	ib_auto_free char *json_path = NULL, *yaml_path = NULL;
	ib_auto_contract struct ib_contract c = {0};
	struct ib_err err;

	if (m->spec->ad_hoc) {
		append(m, &e);
		return;
	}
	put(m->fd, "workload/prompts.jsonl", "{}\n", 3, m->workload);
	ib_buf_addf(&yaml,
		    "study: loopback\nquestion: does a cap of 4 help?\nworkloads:\n  - name: prompts\n    file: workload/prompts.jsonl\n    sha256: %s\n"
		    "groups:\n  - name: baseline\n    matrix:\n      cap: [1, 4]\n    repeats: %zu\n    workload: prompts\n    command: [\"true\"]\n",
		    m->workload, m->spec->runs > 1 ? (m->spec->runs + 1) / 2 : 1);
	put(m->fd, "contract.yaml", yaml.data, yaml.len, m->source);
	yaml_path = ib_asprintf("contracts/%s.yaml", m->source);
	json_path = ib_asprintf("contracts/%s.json", m->source);
	put(m->fd, yaml_path, yaml.data, yaml.len, NULL);
	must(ib_contract_parse(yaml.data, yaml.len, "contract.yaml", NULL, &c, &err), &err);
	must(ib_contract_write(&c, &b, m->json, &err), &err);
	put(m->fd, json_path, b.data, b.len, NULL);
	memcpy(e.source_sha256, m->source, IB_HEX_LEN);
	memcpy(e.json_sha256, m->json, IB_HEX_LEN);
	append(m, &e);
}

static void capture(struct maker *m)
{
	static const char text[] = "{\"schema\":\"urn:ibtools:capture:v1\"}\n";
	char path[100];

	ib_sha256_of(text, strlen(text), m->capture);
	snprintf(path, sizeof(path), "captures/%s.json", m->capture);
	put(m->fd, path, text, strlen(text), NULL);
}

/* One request after the other, so that a cap of 1 is used; no two runs have the same bytes or times. */
static void requests(struct ib_buf *b, int64_t n, size_t run)
{
	ib_buf_addf(b, "{\"schema\":\"urn:ibtools:requests:v1\",\"client\":{\"name\":\"ib-load\",\"version\":\"0.1\"},\"converter\":null,\"origin_at\":null,"
		       "\"window\":{\"start_ns\":0,\"end_ns\":%" PRId64 "},\"complete\":true,\"synthetic\":true,\"endpoint\":null,\"workload\":null,"
		       "\"args\":{\"num_prompts\":24,\"num_warmups\":0,\"max_concurrency\":1}}\n",
		       n * SPACING);
	for (int64_t i = 0; i < n; i++) {
		int64_t first = 18000000 + i * 100000 + 10 * (int64_t)run;

		ib_buf_addf(b,
			    "{\"index\":%" PRId64 ",\"warmup\":false,\"start_ns\":%" PRId64 ",\"queue_ns\":%zu,\"ttft_ns\":%" PRId64 ","
			    "\"itl_ns\":[800000,800000],\"e2e_ns\":%" PRId64 ","
			    "\"input_tokens_asked\":64,\"input_tokens\":64,\"output_tokens_asked\":3,\"output_tokens\":3,\"token_source\":\"usage\","
			    "\"outcome\":\"ok\",\"http_status\":200,\"error_class\":null,\"error\":null,\"finish_reason\":\"length\"}\n",
			    i, i * SPACING, run, first, first + 1600000);
	}
}

static void file_of_run(struct maker *m, struct ib_record *r, const char *id, const char *path, const char *data, size_t n)
{
	ib_auto_free char *full = ib_asprintf("runs/%s/%s", id, path);
	char sha[IB_HEX_LEN];

	put(m->fd, full, data, n, sha);
	ib_record_add_file(r, path, n, sha);
	if (strcmp(path, "command.json") == 0)
		memcpy(r->command_sha256, sha, IB_HEX_LEN);
}

static void workload(struct maker *m, struct ib_record *r, bool wrong)
{
	struct ib_record_workload *w = ib_record_add_workload(r, "prompts", "workload/prompts.jsonl");

	memcpy(w->expected_sha256, m->workload, IB_HEX_LEN);
	memcpy(w->sha256, wrong ? m->capture : m->workload, IB_HEX_LEN);
	w->status = wrong ? IB_WORKLOAD_MISMATCH : IB_WORKLOAD_OK;
}

static void count_requests(const struct maker *m, struct ib_record *r, bool first)
{
	struct ib_record_requests *q = &r->requests;
	int64_t n = first && m->spec->cut_off ? 10 : m->spec->two_results ? 2 * REQUESTS : REQUESTS;

	q->attempted = n;
	q->succeeded = n + (first && m->spec->wrong_requests);
	q->failed = q->timed_out = 0;
	q->output_tokens = 3 * n;
	if (first && m->spec->cut_off)
		r->state = IB_STATE_INTERRUPTED;
	if (first && (m->spec->torn || m->spec->torn_counted))
		ib_record_fail(r, "truncated_output");
	if (!first || !m->spec->torn) {
		q->client = ib_strdup("ib-requests");
		q->schema_id = ib_strdup("urn:ibtools:requests:v1");
		return;
	}
	q->attempted = q->succeeded = q->failed = q->timed_out = q->output_tokens = IB_NONE;
}

static void fill(struct maker *m, struct ib_record *r, const char *id, size_t i)
{
	bool first = i == 0;

	r->run_id = ib_strdup(id);
	r->study = ib_strdup("loopback");
	r->group = ib_strdup("baseline");
	r->cell = ib_strdup(i % 2 ? "cap-4" : "cap-1");
	r->repeat = (int64_t)(i / 2 + 1);
	memcpy(r->contract_sha256, m->json, IB_HEX_LEN);
	memcpy(r->capture_node, m->capture, IB_HEX_LEN);
	r->state = IB_STATE_COMPLETED;
	r->exit.status = 0;
	r->time.started_ns = m->now;
	r->time.finished_ns = m->now + (m->spec->overlapping ? 900000000000 : 3000000);
	r->time.monotonic_ns = r->time.finished_ns - r->time.started_ns;
	r->cache.condition = ib_strdup("reset");
	r->cache.evidence = first && m->spec->contradicted ? IB_CONTRADICTED : IB_CONFIRMED;
	count_requests(m, r, first);
	r->synthetic = 1;
	if (!m->spec->ad_hoc)
		workload(m, r, first && m->spec->wrong_workload);
	file_of_run(m, r, id, "after.json", "{}\n", 3);
	file_of_run(m, r, id, "before.json", "{}\n", 3);
	file_of_run(m, r, id, "command.json", "{}\n", 3);
}

static void one_run(struct maker *m, size_t i)
{
	ib_auto_buf struct ib_buf out = IB_BUF(1u << 20), text = IB_BUF(1u << 20);
	ib_auto_record struct ib_record r;
	const char *id = study_run_id(i);
	ib_auto_free char *path = ib_asprintf("runs/%s/record.json", id), *log = ib_asprintf("run %zu\n", i);
	ib_auto_entry struct ib_entry start = {.kind = IB_ENTRY_START, .run = ib_strdup(id), .group = ib_strdup("baseline"), .attempt = 1};
	ib_auto_entry struct ib_entry finish = {.kind = IB_ENTRY_FINISH, .run = ib_strdup(id), .state = IB_STATE_COMPLETED};
	json_t *j;

	start.cell = ib_strdup(i % 2 ? "cap-4" : "cap-1");
	start.repeat = (int64_t)(i / 2 + 1);
	memcpy(start.capture, m->capture, IB_HEX_LEN);
	append(m, &start);
	ib_record_init(&r);
	fill(m, &r, id, i);
	finish.state = r.state;
	m->now += 5000000;
	requests(&out, i == 0 && m->spec->cut_off ? 10 : REQUESTS, i);
	file_of_run(m, &r, id, "output/requests.jsonl", out.data, r.requests.attempted == IB_NONE || (i == 0 && m->spec->torn_counted) ? out.len - 20 : out.len);
	if (m->spec->two_results)
		file_of_run(m, &r, id, "output/second.jsonl", out.data, out.len);
	file_of_run(m, &r, id, "stderr.log", "", 0);
	file_of_run(m, &r, id, "stdout.log", log, strlen(log));
	j = ib_record_to_json(&r);
	ib_json_write_pretty(j, &text);
	json_decref(j);
	put(m->fd, path, text.data, text.len, finish.record_sha256);
	ib_strv_add(&finish.captures, m->capture);
	if (!m->spec->adopted || i + 1 < m->spec->runs)
		append(m, &finish);
}

/* What the ledger holds besides runs. */
static void keep(struct maker *m, enum ib_entry_kind kind, const char *path, const char *text)
{
	ib_auto_entry struct ib_entry e = {.kind = kind, .file = ib_strdup(path), .bytes = (int64_t)strlen(text)};

	put(m->fd, path, text, strlen(text), e.sha256);
	append(m, &e);
}

static void kept(struct maker *m)
{
	char sha[IB_HEX_LEN];
	ib_auto_free char *result = NULL;

	put(m->fd, "quality/20261130T160000Z-before-00000001/sum.out", "5\n", 2, sha);
	result = ib_asprintf("{\"schema\":\"urn:ibtools:quality:v1\",\"status\":\"passed\",\"cases\":[{\"name\":\"sum\",\"status\":\"passed\"}],"
			     "\"files\":[{\"path\":\"sum.out\",\"bytes\":2,\"sha256\":\"%s\"}]}\n",
			     sha);
	keep(m, IB_ENTRY_QUALITY, "quality/20261130T160000Z-before-00000001/result.json", result);
	keep(m, IB_ENTRY_RECORDING, "workload/recorded/baseline.cap-1.jsonl", "{}\n");
	keep(m, IB_ENTRY_CEILING, "ceiling/20261130T160000Z-00000002.json", "{}\n");
}

static void seal(struct maker *m)
{
	struct ib_entry e = {.kind = IB_ENTRY_SEAL};
	struct ib_findings f = {0};
	struct ib_study_view v;
	struct ib_evidence_sink sink;
	struct ib_err err;

	ib_study_view_init(&v);
	v.no_clients = true;
	sink = ib_study_view_sink(&v);
	must(ib_dir_walk(m->fd, m->dir, "S00", &sink, &f, &err), &err);
	ib_study_view_end(&v);
	ib_study_count(&v, &e.runs);
	if (!ib_study_tree(&v, e.tree_sha256) || f.n)
		exit(99);
	e.runs.completed += m->spec->wrong_counts;
	append(m, &e);
	ib_study_view_clear(&v);
	ib_findings_clear(&f);
}

void make_study(const char *dir, const struct study_spec *spec)
{
	struct maker m = {.dir = dir, .fd = -1, .spec = spec, .ledger = IB_BUF(1u << 26), .now = START};
	ib_auto_entry struct ib_entry start = {.kind = IB_ENTRY_START, .repeat = 1, .attempt = 2};
	struct ib_err err;

	must(ib_open_dir(AT_FDCWD, dir, &m.fd, &err), &err);
	contract(&m);
	capture(&m);
	if (spec->kept)
		kept(&m);
	if (spec->analysis)
		keep(&m, IB_ENTRY_ANALYSIS, "analysis/20261130T160000Z-00000004/analysis.json", spec->analysis);
	for (size_t i = 0; i < spec->runs; i++)
		one_run(&m, i);
	start.run = ib_strdup("20261130T170102Z-baseline.cap-1-r01-0badcafe");
	start.group = ib_strdup("baseline");
	start.cell = ib_strdup("cap-1");
	if (spec->unfinished)
		append(&m, &start);
	put(m.fd, "ledger.jsonl", m.ledger.data, m.ledger.len, NULL);
	if (spec->sealed) {
		seal(&m);
		put(m.fd, "ledger.jsonl", m.ledger.data, m.ledger.len, NULL);
	}
	ib_buf_clear(&m.ledger);
	close(m.fd);
}

void study_rechain(const char *dir, size_t drop)
{
	struct maker m = {.fd = -1, .ledger = IB_BUF(1u << 26)};
	ib_auto_buf struct ib_buf old = IB_BUF(1u << 26);
	struct ib_err err;
	size_t line = 0;

	must(ib_open_dir(AT_FDCWD, dir, &m.fd, &err), &err);
	must(ib_read_file(m.fd, "ledger.jsonl", &old, &err), &err);
	for (char *at = old.data, *end; (end = strchr(at, '\n')); at = end + 1) {
		ib_auto_buf struct ib_buf text = IB_BUF(IB_ENTRY_MAX);
		json_t *j = NULL;

		if (++line == drop)
			continue;
		must(ib_json_load(at, (size_t)(end - at), "ledger.jsonl", &j, &err), &err);
		ib_json_set_int(j, "seq", ++m.seq);
		ib_json_set_str(j, "prev", *m.prev ? m.prev : NULL);
		ib_json_write(j, &text);
		ib_sha256_of(text.data, text.len, m.prev);
		ib_buf_add(&m.ledger, text.data, text.len);
		ib_buf_addc(&m.ledger, '\n');
		json_decref(j);
	}
	put(m.fd, "ledger.jsonl", m.ledger.data, m.ledger.len, NULL);
	ib_buf_clear(&m.ledger);
	close(m.fd);
}
