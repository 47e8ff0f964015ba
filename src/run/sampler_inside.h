/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the sampler. Numbers that are not known are NAN or IB_NONE, never 0. */
#ifndef IB_RUN_SAMPLER_INSIDE_H
#define IB_RUN_SAMPLER_INSIDE_H

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/root.h"
#include "json/json.h"
#include "model/record.h"
#include "run/local.h"
#include "run/run.h"

#define IB_SAMPLE_BUSIEST 3   /* processes outside the run that are named */
#define IB_SAMPLE_GPUS 16
#define IB_SAMPLE_SERVERS 8   /* URLs that are asked for metrics */
#define IB_SAMPLE_DOUBLE 7200 /* after so many samples the interval doubles, so that a file stays small */
#define IB_SAMPLE_RARE 5      /* what is dear to look at is looked at every so many samples */
#define IB_SAMPLE_NAME 32

struct ib_sample_process {
	char name[IB_SAMPLE_NAME]; /* redacted */
	double cores;
};

struct ib_sample_gpu {
	int64_t index, utilisation_pct, memory_used_bytes, memory_total_bytes, power_mw, sm_clock_hz, memory_clock_hz, temperature_c, throttle_reasons, energy_mj;
};

/* The server's own numbers, summed over all URLs. */
struct ib_sample_server {
	double running, waiting, kv_cache_use, preemptions, prompt_tokens, generation_tokens;
};

struct ib_sample {
	int64_t monotonic_ns, wall_ns;
	/* cores' worth of time since the sample before */
	double busy_cores, steal_cores, iowait_cores, client_cores, client_thread_cores, own_cores, outside_cores;
	int64_t client_processes, context_switches, throttles; /* the last two since the sample before */
	double psi_cpu_some_pct, psi_memory_some_pct, psi_memory_full_pct, psi_io_some_pct, psi_io_full_pct;
	int64_t frequency_min_hz, frequency_mean_hz, frequency_max_hz;
	double temperature_max_c;
	int64_t memory_available_bytes, swap_used_bytes;
	double package_j, dram_j; /* since the first sample */
	struct ib_sample_process busiest[IB_SAMPLE_BUSIEST];
	int busiest_n; /* -1: not looked at this time */
	struct ib_sample_gpu gpus[IB_SAMPLE_GPUS];
	int gpus_n; /* -1: no answer */
	struct ib_sample_server server;
	bool has_server;
};
void ib_sample_init(struct ib_sample *s);

/* --- sampler_host.c: files of /proc and /sys, kept open --- */

#define IB_HOST_FILES 32 /* of one sort */

/* Files of one sort, read again and again. */
struct ib_host_files {
	int fd[IB_HOST_FILES];
	int64_t last[IB_HOST_FILES], range[IB_HOST_FILES], sum[IB_HOST_FILES];
	int n;
	struct ib_fact fact; /* why there is none */
};

struct ib_host {
	int stat, meminfo, psi[3];
	struct ib_fact stat_fact, meminfo_fact, psi_fact;
	struct ib_host_files frequency, temperature, throttle, package, dram;
	int64_t cpus, hz;
	/* of the sample before */
	int64_t at_ns, busy, steal, iowait, switches, psi_us[5], throttles;
	unsigned count;
	struct ib_buf text;
};
/* Opens what is there below root (NULL: the live system). */
void ib_host_open(struct ib_root *root, struct ib_host *ret);
/* Fills in the parts of a sample that are the machine's. s->monotonic_ns is set. */
void ib_host_read(struct ib_host *h, struct ib_sample *s);
void ib_host_close(struct ib_host *h);

/* --- sampler_tasks.c: processes --- */

struct ib_task {
	pid_t pid, parent;
	int64_t start, ticks; /* ticks: utime + stime, as last seen */
	int64_t seen_ns;
	double cores;         /* since it was seen before; NAN */
	char comm[16];
	unsigned scan;        /* the last scan that met it */
	bool ours;            /* of the run, or of the tools around it */
};

struct ib_thread {
	pid_t tid;
	int64_t ticks, seen_ns;
};

/* A process that is followed from sample to sample. */
struct ib_member {
	pid_t pid;
	bool own;       /* the tools themselves; else the command's tree */
	int64_t start, ticks, seen_ns;
};

struct ib_tasks {
	struct ib_root *root;
	int proc; /* of /proc, or -1 */
	DIR *dir; /* a scan under way, or NULL */
	pid_t run, self; /* ib-run, and the sampler */
	struct ib_task *v;
	size_t n, room, sorted;
	unsigned scan, scans; /* the last scan that was begun; how many went to their end */
	int64_t hz, client_ticks, at_ns;
	struct ib_member *members;
	size_t members_n;
	struct ib_thread *threads;
	size_t threads_n;
	pid_t hot; /* the process that threads are of */
	unsigned count;
};
void ib_tasks_open(struct ib_root *root, pid_t run, pid_t self, struct ib_tasks *ret);
/* Fills in the parts of a sample that are processes'. redact may be NULL. */
void ib_tasks_read(struct ib_tasks *t, const struct ib_redactor *redact, struct ib_sample *s);
void ib_tasks_close(struct ib_tasks *t);

/* --- sampler_helper.c: programs that are asked for an answer each time --- */

enum ib_helper_state { IB_HELPER_UNSTARTED, IB_HELPER_IDLE, IB_HELPER_ASKED, IB_HELPER_GONE };

struct ib_sampler_helper {
	enum ib_helper_state state;
	const char *name;  /* of the program */
	const char *status; /* of the last answer: "ok", "absent", "error"; "unanswered"; "timeout": given up */
	pid_t pid;
	int in, out; /* ours: to write to, to read from */
	int64_t asked_ns;
	struct ib_buf answer; /* so far */
	size_t length;        /* of the body, once its head is there */
	int code;             /* of the head; -1: not there yet */
	size_t body;          /* where the body starts */
};
void ib_helper_start(struct ib_sampler_helper *h, const char *name, const char *const *argv, char *const *env);
/* Asks, unless an answer is still awaited; one that is overdue costs the helper its life. */
void ib_helper_ask(struct ib_sampler_helper *h, int64_t now_ns);
/* Takes what has arrived. True: an answer is whole (code and ib_buf_str(&h->answer) + h->body are valid until the next ib_helper_ask()). */
bool ib_helper_take(struct ib_sampler_helper *h);
void ib_helper_end(struct ib_sampler_helper *h);

/* --- sampler_server.c: what the answers say --- */

/* Adds a page of metrics to ret (first: puts it there). False: the engine is not known. */
bool ib_sample_metrics(const char *engine, const json_t *counters, const char *page, bool first, struct ib_sample_server *ret);
/* Lines of ib-sample-gpu to GPUs. False: malformed. */
bool ib_sample_gpus(const char *text, struct ib_sample *ret);

/* --- sampler_line.c --- */

/* The first line of samples.jsonl, and one for a sample; each with its line feed. */
void ib_sample_header(const struct ib_host *h, const struct ib_tasks *t, int64_t interval_ns, size_t urls, struct ib_buf *b);
void ib_sample_line(const struct ib_sample *s, struct ib_buf *b);

/* --- sampler_load.c: what all samples together say --- */

struct ib_mean {
	double sum, weight, max; /* of what is a rate, a sample counts for the time that it covers */
	int64_t n;               /* samples that had it */
};

/* Sent through a pipe as it stands: no pointers. */
struct ib_load {
	int64_t samples, first_ns, last_ns, cpus, short_ns;
	double limit_cores; /* what the client may use; NAN */
	int64_t saturated, judged; /* samples in which the client was saturated; in which that could be told */
	struct ib_mean client, thread, outside, busy, steal, iowait, running, waiting, kv;
	struct ib_sample_process busiest; /* the busiest sample of a process outside the run */
	int64_t throttles;         /* or IB_NONE */
	double package_j, dram_j;
	double first_preemptions, last_preemptions;
	int64_t gpus, gpu_energy_first_mj[IB_SAMPLE_GPUS], gpu_energy_last_mj[IB_SAMPLE_GPUS], gpu_first_ns, gpu_last_ns, gpu_throttle_reasons;
	double gpu_power_max_w;
};
/* Rates of a sample that covers less than short_ns are passed over: a tick of the clock says too much there. */
void ib_load_init(struct ib_load *l, int64_t cpus, int64_t short_ns);
void ib_load_add(struct ib_load *l, const struct ib_sample *s);
/* The record's section "load", without colocated. New reference. */
json_t *ib_load_json(const struct ib_load *l);

/* --- sampler_limit.c --- */

/* Cores that this process and its children may use: affinity and cgroup quotas; NAN: not known. */
double ib_limit_cores(struct ib_root *root);

/* --- sampler_loop.c: the child --- */

struct ib_sampler_job {
	struct ib_root *root; /* NULL: the live system */
	const struct ib_clock *clock;
	const struct ib_redactor *redact;
	const char *engine;
	const json_t *counters;
	char *const *const *server_env; /* one environment a URL, with the URL in it */
	size_t servers;
	char *const *env;
	int64_t interval_ns;
	int file, control, report;
	pid_t run;
};

/* What the sampler says at its end. */
struct ib_sampler_report {
	int32_t sys;          /* errno of the write that ended it, or 0 */
	int64_t samples, missed, bytes, own_cpu_ns, helpers_cpu_ns, wall_ns, interval_ns;
	char helper_status[IB_SAMPLE_SERVERS + 1][16]; /* of the servers, last of ib-sample-gpu; "" none */
	struct ib_load load;
};

/* Samples until the control descriptor says so, or ends; then sends the report. */
void ib_sampler_loop(const struct ib_sampler_job *job);

#endif
