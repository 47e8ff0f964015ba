/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/ledger: appending, repair, sweep, reading. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "ledger/append.h"
#include "ledger/chain.h"
#include "ledger/read.h"
#include "model/record.h"

struct fixture {
	char dir[64];
	int fd;
	struct ib_ledger *l;
	struct ib_ctx ctx;
};

static int64_t fixed(void *arg)
{
	(void)arg;
	return 1764518462000000000;
}

static const struct ib_clock clock_fixed = {.wall_ns = fixed, .monotonic_ns = fixed};

static void set_up(struct fixture *f)
{
	struct ib_err err;

	memcpy(f->dir, "/tmp/ib-ledger-XXXXXX", 22);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->dir));
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->ctx = (struct ib_ctx){.clock = &clock_fixed};
	CU_ASSERT_EQUAL_FATAL(ib_ledger_open(&f->ctx, f->fd, NULL, true, &f->l, &err), 0);
}

static void run_rm(const char *dir)
{
	pid_t p = fork();

	if (p == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	waitpid(p, NULL, 0);
}

static void tear_down(struct fixture *f)
{
	ib_ledger_free(&f->l);
	close(f->fd);
	run_rm(f->dir);
}

static int add(struct fixture *f, enum ib_entry_kind kind, const char *run)
{
	ib_auto_entry struct ib_entry e = {.kind = kind, .repeat = 1, .attempt = 1, .state = IB_STATE_COMPLETED};
	struct ib_err err;

	e.study = ib_strdup("s");
	e.run = ib_strdup(run);
	e.text = ib_strdup("a note");
	memset(e.record_sha256, 'a', 64);
	return ib_ledger_append(f->l, &e, NULL, NULL, &err);
}

static void load(struct fixture *f, struct ib_buf *b)
{
	ib_buf_clear(b);
	*b = IB_BUF(1u << 20);
	CU_ASSERT_EQUAL_FATAL(ib_read_file(f->fd, "ledger.jsonl", b, NULL), 0);
}

static void check_chain(struct fixture *f, uint64_t length)
{
	ib_auto_chain struct ib_chain c;
	ib_auto_buf struct ib_buf b = IB_BUF(1);

	load(f, &b);
	ib_chain_init(&c, NULL, NULL);
	CU_ASSERT_EQUAL(ib_chain_feed(&c, b.data, b.len, NULL), 0);
	ib_chain_end(&c);
	CU_ASSERT_STRING_EQUAL(c.why, "");
	CU_ASSERT_EQUAL(c.length, length);
}

static void append_raw(struct fixture *f, const char *text)
{
	int fd = openat(f->fd, "ledger.jsonl", O_WRONLY | O_APPEND);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void test_ledger_chains_entries(void)
{
	struct fixture f;

	set_up(&f);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_NOTE, NULL), IB_E_LEDGER); /* the contract comes first */
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_CONTRACT, NULL), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_NOTE, NULL), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_START, "r1"), 0);
	check_chain(&f, 3);
	tear_down(&f);
}

static void test_ledger_first_entry_is_written_once(void)
{
	struct fixture f;
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_CONTRACT};
	bool done;

	set_up(&f);
	e.study = ib_strdup("s");
	CU_ASSERT_EQUAL(ib_ledger_append_first(f.l, &e, &done, NULL), 0);
	CU_ASSERT_TRUE(done);
	CU_ASSERT_EQUAL(ib_ledger_append_first(f.l, &e, &done, NULL), 0);
	CU_ASSERT_FALSE(done);
	check_chain(&f, 1);
	tear_down(&f);
}

static void test_ledger_torn_line_is_kept_cut_and_recorded(void)
{
	struct fixture f;
	ib_auto_buf struct ib_buf b = IB_BUF(1000), all = IB_BUF(1);

	set_up(&f);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_CONTRACT, NULL), 0);
	append_raw(&f, "{\"seq\":2,\"at\":{\"wa");
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_NOTE, NULL), 0);
	check_chain(&f, 3);
	load(&f, &all);
	CU_ASSERT_PTR_NOT_NULL(strstr(ib_buf_str(&all), "\"kind\":\"torn\",\"file\":\"ledger.torn/2\",\"bytes\":18"));
	CU_ASSERT_EQUAL_FATAL(ib_read_file(f.fd, "ledger.torn/2", &b, NULL), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "{\"seq\":2,\"at\":{\"wa");
	tear_down(&f);
}

static void test_ledger_bytes_kept_before_are_not_overwritten(void)
{
	struct fixture f;
	ib_auto_buf struct ib_buf b = IB_BUF(1000), c = IB_BUF(1000);

	set_up(&f);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_CONTRACT, NULL), 0);
	CU_ASSERT_EQUAL(ib_make_dirs(f.fd, "ledger.torn", 0755, NULL), 0);
	CU_ASSERT_EQUAL(ib_write_file(f.fd, "ledger.torn/2", "other", 5, 0444, false, NULL), 0);
	append_raw(&f, "torn");
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_NOTE, NULL), 0);
	CU_ASSERT_EQUAL(ib_read_file(f.fd, "ledger.torn/2", &b, NULL), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "other");
	CU_ASSERT_EQUAL(ib_read_file(f.fd, "ledger.torn/2.1", &c, NULL), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&c), "torn");
	check_chain(&f, 3);
	tear_down(&f);
}

static void test_ledger_torn_first_line_leaves_the_contract_first(void)
{
	struct fixture f;
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_CONTRACT};
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	ib_auto_buf struct ib_buf all = IB_BUF(1);
	bool done;

	set_up(&f);
	append_raw(&f, "{\"seq\"");
	e.study = ib_strdup("s");
	CU_ASSERT_EQUAL(ib_ledger_append_first(f.l, &e, &done, NULL), 0);
	CU_ASSERT_TRUE(done);
	check_chain(&f, 2);
	load(&f, &all);
	CU_ASSERT_EQUAL(ib_ledger_view_load(all.data, all.len, &v, NULL), 0);
	CU_ASSERT_EQUAL(v.torn, 1);
	tear_down(&f);
}

static void test_ledger_foreign_file_is_not_appended_to(void)
{
	struct fixture f;
	ib_auto_buf struct ib_buf all = IB_BUF(1);

	set_up(&f);
	append_raw(&f, "not a ledger\n");
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_NOTE, NULL), IB_E_JSON);
	load(&f, &all);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&all), "not a ledger\n");
	tear_down(&f);
}

static void make_run_dir(struct fixture *f, const char *run)
{
	ib_auto_free char *path = ib_asprintf("runs/%s", run);

	CU_ASSERT_EQUAL(ib_make_dirs(f->fd, path, 0755, NULL), 0);
}

static void write_record(struct fixture *f, const char *run)
{
	struct ib_record r;
	ib_auto_json json_t *j = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(100000);
	ib_auto_free char *path = ib_asprintf("runs/%s/record.json", run);

	ib_record_init(&r);
	r.run_id = ib_strdup(run);
	r.study = ib_strdup("s");
	r.state = IB_STATE_FAILED;
	memset(r.command_sha256, 'b', 64);
	j = ib_record_to_json(&r);
	ib_json_write_pretty(j, &b);
	CU_ASSERT_EQUAL(ib_write_file(f->fd, path, b.data, b.len, 0644, false, NULL), 0);
	ib_record_clear(&r);
}

static void test_ledger_sweep_abandons_adopts_and_leaves_running(void)
{
	struct fixture f;
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	ib_auto_buf struct ib_buf all = IB_BUF(1);
	size_t adopted, abandoned;
	int busy;

	set_up(&f);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_CONTRACT, NULL), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_START, "gone"), 0); /* died before its directory was made */
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_START, "killed"), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_START, "recorded"), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_START, "running"), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_START, "done"), 0);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_FINISH, "done"), 0);
	make_run_dir(&f, "killed");
	make_run_dir(&f, "recorded");
	make_run_dir(&f, "running");
	write_record(&f, "recorded");
	busy = openat(f.fd, "runs/running", O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(flock(busy, LOCK_EX), 0);
	CU_ASSERT_EQUAL(ib_ledger_mark_abandoned(f.l, &adopted, &abandoned, NULL), 0);
	CU_ASSERT_EQUAL(adopted, 1);
	CU_ASSERT_EQUAL(abandoned, 2);
	CU_ASSERT_TRUE(ib_ledger_any_abandoned(f.l));
	CU_ASSERT_EQUAL(ib_ledger_mark_abandoned(f.l, &adopted, &abandoned, NULL), 0);
	CU_ASSERT_EQUAL(adopted + abandoned, 0);
	load(&f, &all);
	CU_ASSERT_EQUAL_FATAL(ib_ledger_view_load(all.data, all.len, &v, NULL), 0);
	CU_ASSERT_EQUAL(v.counts.started, 5);
	CU_ASSERT_EQUAL(v.counts.completed, 1);
	CU_ASSERT_EQUAL(v.counts.failed, 1);
	CU_ASSERT_EQUAL(v.counts.abandoned, 3); /* the running one has no end yet */
	CU_ASSERT_TRUE(ib_ledger_view_find(&v, "running")->open);
	CU_ASSERT_FALSE(ib_ledger_view_find(&v, "killed")->open);
	CU_ASSERT_EQUAL(ib_ledger_view_find(&v, "recorded")->state, IB_STATE_FAILED);
	close(busy);
	check_chain(&f, 10);
	tear_down(&f);
}

/* Ledgers that no ib-run writes. head is put before each. */
static void test_ledger_reading_refuses_impossible_accounts(void)
{
	static const char at[] = "\"at\":{\"wall_at\":\"2026-11-30T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null}";
	static const struct {
		const char *kinds; /* c contract, s start, f finish, a abandoned, x exclusion; all of one run */
		int code;
	} cases[] = {{"csf", 0}, {"csa", 0}, {"csfx", 0}, {"s", IB_E_LEDGER}, {"cf", IB_E_LEDGER}, {"css", IB_E_LEDGER}, {"csff", IB_E_LEDGER},
		     {"csaf", IB_E_LEDGER}, {"cx", IB_E_LEDGER}, {"cc", IB_E_LEDGER}, {"ca", IB_E_LEDGER}};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(100000);
		ib_auto_ledger_view struct ib_ledger_view v = {0};
		struct ib_err err;

		for (size_t k = 0; cases[i].kinds[k]; k++) {
			ib_buf_addf(&b, "{\"seq\":%zu,%s,", k + 1, at);
			switch (cases[i].kinds[k]) {
			case 'c':
				ib_buf_adds(&b, "\"kind\":\"contract\",\"study\":\"s\",\"contract\":null");
				break;
			case 's':
				ib_buf_adds(&b, "\"kind\":\"start\",\"run\":\"r\",\"group\":null,\"cell\":null,\"repeat\":1,\"attempt\":1,\"capture\":null");
				break;
			case 'f':
				ib_buf_addf(&b, "\"kind\":\"finish\",\"run\":\"r\",\"state\":\"completed\",\"record_sha256\":\"%064d\",\"captures\":[]", 0);
				break;
			case 'a':
				ib_buf_adds(&b, "\"kind\":\"abandoned\",\"run\":\"r\"");
				break;
			default:
				ib_buf_adds(&b, "\"kind\":\"exclusion\",\"run\":\"r\",\"reason\":\"why\"");
			}
			ib_buf_adds(&b, ",\"prev\":null}\n");
		}
		CU_ASSERT_EQUAL(ib_ledger_view_load(b.data, b.len, &v, &err), cases[i].code);
	}
}

static void test_ledger_reading_refuses_a_torn_line_and_a_gap(void)
{
	static const char gap[] = "{\"seq\":2,\"at\":{\"wall_at\":\"2026-11-30T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null},\"kind\":\"contract\",\"study\":\"s\",\"contract\":null,\"prev\":null}\n";
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	struct ib_err err;

	CU_ASSERT_EQUAL(ib_ledger_view_load(gap, strlen(gap), &v, &err), IB_E_LEDGER);
	CU_ASSERT_STRING_EQUAL(err.where, "ledger.jsonl:1");
	CU_ASSERT_EQUAL(ib_ledger_view_load(gap, strlen(gap) - 1, &v, &err), IB_E_LEDGER);
	CU_ASSERT_EQUAL(ib_ledger_view_load("", 0, &v, &err), 0);
	CU_ASSERT_EQUAL(v.length, 0);
}

/* Several processes append to one ledger at once. */
static void test_ledger_takes_concurrent_appends(void)
{
	struct fixture f;

	set_up(&f);
	CU_ASSERT_EQUAL(add(&f, IB_ENTRY_CONTRACT, NULL), 0);
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			struct ib_ledger *l = NULL;
			ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_NOTE};
			int bad = ib_ledger_open(&f.ctx, f.fd, NULL, false, &l, NULL);

			e.text = ib_strdup("x");
			for (int k = 0; k < 25 && !bad; k++)
				bad = ib_ledger_append(l, &e, NULL, NULL, NULL);
			_exit(bad != 0);
		}
	for (int i = 0; i < 4; i++) {
		int status = 1;

		wait(&status);
		CU_ASSERT_EQUAL(status, 0);
	}
	check_chain(&f, 101);
	tear_down(&f);
}

static void test_ledger_must_be_a_regular_file(void)
{
	struct fixture f;
	struct ib_ledger *l = NULL;
	struct ib_err err;

	set_up(&f);
	CU_ASSERT_EQUAL(unlinkat(f.fd, "ledger.jsonl", 0), 0);
	CU_ASSERT_EQUAL(ib_ledger_open(&f.ctx, f.fd, NULL, false, &l, &err), IB_E_STATE);
	CU_ASSERT_EQUAL(symlinkat("/etc/passwd", f.fd, "ledger.jsonl"), 0);
	CU_ASSERT_EQUAL(ib_ledger_open(&f.ctx, f.fd, NULL, true, &l, &err), IB_E_IO);
	tear_down(&f);
}

static const struct ib_test tests[] = {
	IB_TEST(test_ledger_chains_entries),
	IB_TEST(test_ledger_first_entry_is_written_once),
	IB_TEST(test_ledger_torn_line_is_kept_cut_and_recorded),
	IB_TEST(test_ledger_bytes_kept_before_are_not_overwritten),
	IB_TEST(test_ledger_torn_first_line_leaves_the_contract_first),
	IB_TEST(test_ledger_foreign_file_is_not_appended_to),
	IB_TEST(test_ledger_sweep_abandons_adopts_and_leaves_running),
	IB_TEST(test_ledger_reading_refuses_impossible_accounts),
	IB_TEST(test_ledger_reading_refuses_a_torn_line_and_a_gap),
	IB_TEST(test_ledger_takes_concurrent_appends),
	IB_TEST(test_ledger_must_be_a_regular_file),
	{0},
};

const struct ib_test_suite ib_suite = {"ledger", tests};
