/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler over recorded /proc and /sys, helpers that misbehave, and what the samples of a run together say. */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "run/sampler_inside.h"

/* A recorded machine in a directory of its own. */
struct machine {
	char dir[64];
	int fd;
	struct ib_root *root;
};

static void begin(struct machine *m)
{
	snprintf(m->dir, sizeof(m->dir), "/tmp/ib-sampler-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(m->dir));
	m->fd = open(m->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(ib_root_open(m->dir, &m->root, NULL), 0);
}

/* Written in place, as the kernel does: kept descriptors see it. */
static void put(const struct machine *m, const char *path, const char *text)
{
	ib_auto_free char *dir = ib_strndup(path, (size_t)(strrchr(path, '/') - path));
	ib_auto_fd int fd = -1;

	CU_ASSERT_EQUAL(ib_make_dirs(m->fd, dir, 0755, NULL), 0);
	fd = openat(m->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CU_ASSERT_EQUAL(ib_write_all(fd, text, strlen(text), path, NULL), 0);
}

static void end(struct machine *m)
{
	ib_auto_free char *command = ib_asprintf("%s", m->dir);
	pid_t p = fork();

	if (p == 0) {
		execlp("rm", "rm", "-rf", command, (char *)NULL);
		_exit(127);
	}
	while (p > 0 && waitpid(p, NULL, 0) < 0)
		;
	close(m->fd);
	ib_root_free(&m->root);
}

static void sample(struct ib_host *h, int64_t at_ns, struct ib_sample *s)
{
	ib_sample_init(s);
	s->monotonic_ns = at_ns;
	ib_host_read(h, s);
}

static void test_sampler_machine(void)
{
	struct machine m;
	struct ib_host h;
	struct ib_sample s;

	begin(&m);
	put(&m, "proc/stat", "cpu  100 0 100 1000 50 0 0 10 0 0\ncpu0 1 0\ncpu1 1 0\nintr 5 1 2\nctxt 1000\n");
	put(&m, "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   5 kB\nSwapTotal: 8 kB\nSwapFree: 6 kB\n");
	put(&m, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n");
	put(&m, "proc/pressure/io", "some avg10=0.00 total=0\nfull avg10=0.00 total=0\n");
	put(&m, "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1000000\n");
	put(&m, "sys/devices/system/cpu/cpufreq/policy1/scaling_cur_freq", "3000000\n");
	put(&m, "sys/class/hwmon/hwmon0/name", "nvme\n");
	put(&m, "sys/class/hwmon/hwmon0/temp1_input", "99000\n");
	put(&m, "sys/class/hwmon/hwmon1/name", "coretemp\n");
	put(&m, "sys/class/hwmon/hwmon1/temp1_input", "41500\n");
	put(&m, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n");
	ib_host_open(m.root, &h);
	sample(&h, IB_NS, &s);
	CU_ASSERT(isnan(s.busy_cores) && isnan(s.psi_cpu_some_pct) && s.throttles == IB_NONE); /* rates need two */
	CU_ASSERT_EQUAL(s.memory_available_bytes, 5 * 1024);
	CU_ASSERT_EQUAL(s.swap_used_bytes, 2 * 1024);
	CU_ASSERT_EQUAL(s.frequency_min_hz, 1000000000);
	CU_ASSERT_EQUAL(s.frequency_mean_hz, 2000000000);
	CU_ASSERT_EQUAL(s.frequency_max_hz, 3000000000);
	CU_ASSERT_DOUBLE_EQUAL(s.temperature_max_c, 41.5, 1e-9); /* the processor's, no other */
	CU_ASSERT_EQUAL(h.cpus, 2);
	put(&m, "proc/stat", "cpu  200 0 150 1000 60 0 0 30 0 0\ncpu0 1 0\ncpu1 1 0\nintr 5 1 2\nctxt 1250\n");
	put(&m, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=501000\n");
	put(&m, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "9\n");
	for (int i = 1; i < IB_SAMPLE_RARE; i++)
		sample(&h, IB_NS + i * IB_NS / 10, &s);
	put(&m, "proc/stat", "cpu  300 0 200 1000 70 0 0 50 0 0\ncpu0 1 0\ncpu1 1 0\nintr 5 1 2\nctxt 1500\n");
	put(&m, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1001000\n");
	sample(&h, IB_NS + 4 * IB_NS / 10 + IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.busy_cores, 1.5 * 100 / (double)sysconf(_SC_CLK_TCK), 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(s.steal_cores, 0.2 * 100 / (double)sysconf(_SC_CLK_TCK), 1e-6);
	CU_ASSERT_EQUAL(s.context_switches, 250);
	CU_ASSERT_DOUBLE_EQUAL(s.psi_cpu_some_pct, 50, 1e-6);
	CU_ASSERT(isnan(s.psi_memory_some_pct)); /* there is no such file */
	CU_ASSERT_EQUAL(s.throttles, 2);
	CU_ASSERT(isnan(s.package_j) && h.package.fact.status == IB_FACT_ABSENT);
	ib_host_close(&h);
	end(&m);
}

static void test_sampler_energy_goes_around(void)
{
	struct machine m;
	struct ib_host h;
	struct ib_sample s;

	begin(&m);
	put(&m, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "9000000\n");
	put(&m, "sys/class/powercap/intel-rapl:0/max_energy_range_uj", "10000000\n");
	put(&m, "sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n"); /* the same energy once more */
	put(&m, "sys/class/powercap/intel-rapl-mmio:0/energy_uj", "9000000\n");
	put(&m, "sys/class/powercap/intel-rapl:0:0/name", "core\n");
	put(&m, "sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n");
	put(&m, "sys/class/powercap/intel-rapl:0:1/name", "dram\n");
	put(&m, "sys/class/powercap/intel-rapl:0:1/energy_uj", "500000\n");
	ib_host_open(m.root, &h);
	CU_ASSERT_EQUAL(h.package.n, 1);
	sample(&h, IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.package_j, 0, 1e-9);
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "9500000\n");
	sample(&h, 2 * IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.package_j, 0.5, 1e-9);
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "250000\n");
	put(&m, "sys/class/powercap/intel-rapl:0:1/energy_uj", "400000\n");
	sample(&h, 3 * IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.package_j, 1.25, 1e-9);
	CU_ASSERT(isnan(s.dram_j)); /* it went down, and nobody knows from where it starts anew */
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "no number\n");
	sample(&h, 4 * IB_NS, &s);
	CU_ASSERT(isnan(s.package_j));
	ib_host_close(&h);
	end(&m);
}

/* pid (comm) state parent … utime stime cutime cstime … threads … start */
static void process(const struct machine *m, const char *where, int pid, const char *comm, int parent, int own, int waited, int threads)
{
	ib_auto_free char *path = ib_asprintf("proc/%s%d/stat", where, pid);
	ib_auto_free char *text = ib_asprintf("%d (%s) S %d 1 1 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 %d 0 50 0 0\n", pid, comm, parent, own, waited, threads);

	put(m, path, text);
}

static void tick(struct ib_tasks *t, int64_t at_ns, struct ib_sample *s)
{
	ib_sample_init(s);
	s->monotonic_ns = at_ns;
	s->busy_cores = 2;
	ib_tasks_read(t, NULL, s);
}

static void test_sampler_processes(void)
{
	int hz = (int)sysconf(_SC_CLK_TCK);
	struct machine m;
	struct ib_tasks t;
	struct ib_sample s;

	begin(&m);
	process(&m, "", 100, "ib-run", 1, 10, 5, 1);
	process(&m, "", 101, "ib-run-sampler", 100, 3, 0, 1);
	process(&m, "", 103, "ib-probe", 101, 3, 0, 1);
	process(&m, "", 102, "client) (x", 100, 0, 0, 3); /* a name may hold anything */
	process(&m, "", 104, "worker", 102, 0, 0, 1);
	process(&m, "", 200, "other", 1, 0, 0, 1);
	process(&m, "", 201, "idle", 1, 7, 0, 1);
	put(&m, "proc/100/task/100/children", "101 102 ");
	put(&m, "proc/102/task/102/children", "104 ");
	ib_tasks_open(m.root, 100, 101, &t);
	tick(&t, 100 * IB_NS, &s);
	CU_ASSERT_EQUAL(s.client_processes, 2);
	CU_ASSERT(isnan(s.client_cores));
	tick(&t, 101 * IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.client_cores, 0, 1e-9);
	process(&m, "", 102, "client) (x", 100, hz, 0, 3);
	process(&m, "", 104, "worker", 102, hz / 2, 0, 1);
	process(&m, "", 200, "other", 1, hz / 4, 0, 1);
	process(&m, "102/task/", 102, "client", 100, hz / 20, 0, 3);
	process(&m, "102/task/", 110, "client", 100, hz * 19 / 20, 0, 3);
	tick(&t, 102 * IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.client_cores, 1.5, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(s.outside_cores, 0.5, 1e-6);
	CU_ASSERT_EQUAL(s.busiest_n, 1); /* neither of the run, nor of its tools, nor one that does nothing */
	CU_ASSERT_STRING_EQUAL(s.busiest[0].name, "other");
	CU_ASSERT_DOUBLE_EQUAL(s.busiest[0].cores, 0.25, 1e-6);
	CU_ASSERT(isnan(s.client_thread_cores)); /* its threads are seen for the first time */
	process(&m, "", 102, "client) (x", 100, 2 * hz, 0, 3);
	process(&m, "102/task/", 110, "client", 100, hz * 19 / 20 + hz * 92 / 100, 0, 3);
	tick(&t, 103 * IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.client_thread_cores, 0.92, 1e-6);
	CU_ASSERT_EQUAL(s.busiest_n, -1); /* nobody looked */
	/* the worker ends: its time is with the client that waited for it */
	CU_ASSERT_EQUAL(unlinkat(m.fd, "proc/104/stat", 0), 0);
	process(&m, "", 102, "client) (x", 100, 2 * hz, hz / 2, 1);
	tick(&t, 104 * IB_NS, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.client_cores, 0, 1e-6);
	CU_ASSERT_EQUAL(s.client_processes, 1);
	ib_tasks_close(&t);
	end(&m);
}

static void test_sampler_limits_and_places(void)
{
	struct machine m;
	const char *why;

	begin(&m);
	CU_ASSERT(isnan(ib_limit_cores(m.root)));
	put(&m, "proc/self/cgroup", "0::/a/b\n");
	put(&m, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	put(&m, "sys/fs/cgroup/a/cpu.max", "150000 100000\n"); /* one above counts as well */
	CU_ASSERT_DOUBLE_EQUAL(ib_limit_cores(m.root), 1.5, 1e-9);
	put(&m, "proc/net/tcp", "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A 0\n   1: 0100007F:1F91 0100007F:1F90 01 0\n");
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://127.0.0.1:8080/v1", &why), IB_LOCAL_YES);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://user@localhost:8080", &why), IB_LOCAL_YES);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://127.0.0.1:8081", &why), IB_LOCAL_UNKNOWN); /* connected, not listening */
	CU_ASSERT_PTR_NOT_NULL(why);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://[2001:db8::1]:8080/", &why), IB_LOCAL_NO);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://192.0.2.1:8080", &why), IB_LOCAL_NO);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://gpu-node:8080", &why), IB_LOCAL_UNKNOWN);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://[::1", &why), IB_LOCAL_UNKNOWN);
	CU_ASSERT_EQUAL(ib_colocated(m.root, "http://127.0.0.1:99999", &why), IB_LOCAL_UNKNOWN);
	CU_ASSERT_EQUAL(ib_colocated(m.root, NULL, &why), IB_LOCAL_UNKNOWN);
	end(&m);
}

static void test_sampler_servers(void)
{
	static const char page[] = "vllm:num_requests_running{engine=\"0\"} 3.0\nvllm:num_requests_running{engine=\"1\"} 1.0\nvllm:num_requests_waiting{engine=\"0\"} NaN\n"
				   "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.5\n"
				   "vllm:generation_tokens_total{engine=\"0\"} 1e3\n";
	struct ib_sample_server s = {0};

	CU_ASSERT(ib_sample_metrics("vllm", NULL, page, true, &s));
	CU_ASSERT_DOUBLE_EQUAL(s.running, 4, 1e-9);
	CU_ASSERT(isnan(s.waiting) && isnan(s.preemptions)); /* not a number, and not there */
	CU_ASSERT_DOUBLE_EQUAL(s.kv_cache_use, 0.5, 1e-9);
	CU_ASSERT(ib_sample_metrics("vllm", NULL, "vllm:num_requests_running 2\nvllm:kv_cache_usage_perc 0.1\nvllm:generation_tokens_total 1\n", false, &s));
	CU_ASSERT_DOUBLE_EQUAL(s.running, 6, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.kv_cache_use, 0.5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.generation_tokens, 1001, 1e-9);
	CU_ASSERT_FALSE(ib_sample_metrics("unheard-of", NULL, page, true, &s));
}

static void test_sampler_gpus(void)
{
	static const char *const bad[] = {"0 1 2\n", "0 1 2 3 4 5 6 7 8 x\n", "0 1 2 3 4 5 6 7 8 9 10\n", "hello", NULL};
	struct ib_sample s;

	ib_sample_init(&s);
	CU_ASSERT(ib_sample_gpus("0 42 1 2 3 4 5 6 7 8\n1 - - - - - - - - -\n", &s));
	CU_ASSERT_EQUAL(s.gpus_n, 2);
	CU_ASSERT_EQUAL(s.gpus[0].energy_mj, 8);
	CU_ASSERT_EQUAL(s.gpus[1].utilisation_pct, IB_NONE); /* not said is not 0 */
	for (size_t i = 0; bad[i]; i++) {
		CU_ASSERT_FALSE(ib_sample_gpus(bad[i], &s));
		CU_ASSERT_EQUAL(s.gpus_n, -1);
	}
}

static void test_sampler_lines_are_json(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	ib_auto_json json_t *j = NULL;
	struct ib_sample s;

	ib_sample_init(&s);
	ib_sample_line(&s, &b);
	CU_ASSERT_EQUAL_FATAL(ib_json_load(ib_buf_str(&b), b.len - 1, "line", &j, NULL), 0);
	CU_ASSERT(json_is_null(json_object_get(j, "busy_cores")) && json_is_null(json_object_get(j, "gpus")) && json_is_null(json_object_get(j, "server")));
	json_decref(j);
	ib_buf_reset(&b);
	s.busy_cores = 0;
	s.busiest_n = s.gpus_n = 1;
	snprintf(s.busiest[0].name, sizeof(s.busiest[0].name), "x");
	s.busiest[0].cores = INFINITY;
	s.has_server = true;
	s.server.running = 12345678901.0;
	s.server.waiting = NAN;
	ib_sample_line(&s, &b);
	j = NULL;
	CU_ASSERT_EQUAL_FATAL(ib_json_load(ib_buf_str(&b), b.len - 1, "line", &j, NULL), 0);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(j, "busy_cores")), 0, 0);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(json_object_get(j, "server"), "running")), 12345678901.0, 0);
	CU_ASSERT(json_is_null(json_object_get(json_object_get(j, "server"), "waiting")));
}

static void add(struct ib_load *l, int64_t at_ns, double client, double thread, int64_t energy_mj)
{
	struct ib_sample s;

	ib_sample_init(&s);
	s.monotonic_ns = at_ns;
	s.client_cores = client;
	s.client_thread_cores = thread;
	s.outside_cores = 0.5;
	s.gpus_n = 1;
	s.gpus[0] = (struct ib_sample_gpu){.power_mw = 1000, .throttle_reasons = 1, .energy_mj = energy_mj};
	ib_load_add(l, &s);
}

static void test_sampler_load(void)
{
	struct ib_load l;
	ib_auto_json json_t *j = NULL, *few = NULL, *unknown = NULL;
	const json_t *energy;

	ib_load_init(&l, 4, IB_NS / 4);
	add(&l, IB_NS, NAN, NAN, 1000);
	few = ib_load_json(&l);
	CU_ASSERT(json_is_null(json_object_get(few, "client_saturated")) && json_is_null(json_object_get(few, "client_cores")));
	CU_ASSERT_PTR_NOT_NULL(json_string_value(json_object_get(few, "client_why")));
	add(&l, 2 * IB_NS, 1, 0.95, 2000);
	add(&l, 3 * IB_NS, 1, 0.95, 3000);
	add(&l, 4 * IB_NS, 0.2, 0.2, 4000);
	add(&l, 4 * IB_NS + 1000000, 50, 50, 5000); /* too short a time to say something */
	j = ib_load_json(&l);
	CU_ASSERT(json_is_true(json_object_get(j, "client_saturated")));
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(j, "client_saturated_share")), 2.0 / 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(json_object_get(j, "client_cores"), "mean")), 2.2 / 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(json_object_get(j, "client_cores"), "max")), 1, 1e-9);
	energy = json_array_get(json_object_get(j, "energy"), 0);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(energy, "joules")), 4, 1e-9);
	CU_ASSERT(json_is_null(json_object_get(j, "throttles")) && json_is_null(json_object_get(j, "server")));
	/* a busy client whose threads nobody could look at: not known */
	ib_load_init(&l, 4, IB_NS / 4);
	add(&l, IB_NS, NAN, NAN, 1);
	add(&l, 2 * IB_NS, 1.5, NAN, 1);
	unknown = ib_load_json(&l);
	CU_ASSERT(json_is_null(json_object_get(unknown, "client_saturated")));
}

/* Waits for an answer, a while. */
static bool answered(struct ib_sampler_helper *h)
{
	for (int i = 0; i < 200; i++) {
		struct pollfd p = {.fd = h->out, .events = POLLIN};

		if (ib_helper_take(h))
			return true;
		if (h->state == IB_HELPER_GONE)
			return false;
		poll(&p, 1, 20);
	}
	return false;
}

static void start(struct ib_sampler_helper *h, const char *script)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};

	ib_helper_start(h, "test", argv, environ);
}

static void test_sampler_helpers(void)
{
	struct ib_sampler_helper h;

	start(&h, "while read -r x; do printf '200 5\\nhel'; sleep 0.05; printf 'lo'; done");
	for (int i = 0; i < 2; i++) {
		ib_helper_ask(&h, i);
		CU_ASSERT(answered(&h));
		CU_ASSERT_EQUAL(h.code, 200);
		CU_ASSERT_STRING_EQUAL(ib_buf_str(&h.answer) + h.body, "hello");
	}
	ib_helper_end(&h);
	start(&h, "read -r x; exit 3"); /* it dies */
	ib_helper_ask(&h, 0);
	CU_ASSERT_FALSE(answered(&h));
	CU_ASSERT_EQUAL(h.state, IB_HELPER_GONE);
	ib_helper_ask(&h, 1); /* nobody is asked any more */
	ib_helper_end(&h);
	start(&h, "read -r x; printf 'nonsense\\n'; exec sleep 60");
	ib_helper_ask(&h, 0);
	CU_ASSERT_FALSE(answered(&h));
	CU_ASSERT_STRING_EQUAL(h.status, "error");
	start(&h, "read -r x; printf '200 2\\nabc'; exec sleep 60"); /* more than it said */
	ib_helper_ask(&h, 0);
	CU_ASSERT_FALSE(answered(&h));
	CU_ASSERT_STRING_EQUAL(h.status, "error");
	start(&h, "exec sleep 60"); /* it hangs */
	ib_helper_ask(&h, 0);
	CU_ASSERT_FALSE(ib_helper_take(&h));
	ib_helper_ask(&h, 60 * IB_NS);
	CU_ASSERT_EQUAL(h.state, IB_HELPER_GONE);
	CU_ASSERT_STRING_EQUAL(h.status, "timeout");
	ib_helper_end(&h);
}

static const struct ib_test tests[] = {
	IB_TEST(test_sampler_machine), IB_TEST(test_sampler_energy_goes_around), IB_TEST(test_sampler_processes), IB_TEST(test_sampler_limits_and_places),
	IB_TEST(test_sampler_servers), IB_TEST(test_sampler_gpus), IB_TEST(test_sampler_lines_are_json), IB_TEST(test_sampler_load),
	IB_TEST(test_sampler_helpers), {0},
};

const struct ib_test_suite ib_suite = {"sampler", tests};
