/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler's view of processes: those of the run, and the busiest of all others. A look at all processes is spread over samples. */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/sampler_inside.h"

#define PROC "/proc"
#define SCAN_MAX 100      /* processes looked at in one sample */
#define SCAN_AFTER_NS (IB_NS / 20) /* a short command is not worth the look */
#define TASKS_MAX 32768   /* remembered */
#define MEMBERS_MAX 256
#define THREADS_MAX 256
#define HOT_CORES 0.85    /* below it no thread of a process can be saturated */
#define YOUNG_NS (5 * IB_NS) /* of a process that is met for the first time and is not older, its whole life counts */
#define LOGGER "ib-run-logger"

/* Places among the numbers behind the state: proc(5) counts from 1, the process ID, the state being 3. */
enum { PARENT = 0, UTIME = 10, STIME, CUTIME, CSTIME, THREADS = 16, START = 18, FIELDS };

struct stat_line {
	pid_t pid, parent;
	char comm[16], state;
	int64_t own, waited, threads, start; /* ticks: of itself, of children that it waited for */
};

/* The numbers behind a process's state, as far as the time of its start; false: there are fewer. Scanning them costs a third of what sscanf() takes. */
static bool read_fields(const char *p, int64_t ret[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		char *end;

		ret[i] = strtoll(p, &end, 10);
		if (end == p)
			return false;
		p = end;
	}
	return true;
}

/* Reads dir/NAME/stat: fields behind the command's name, which may hold anything, start behind the last ')'. */
static bool read_stat(int dir, const char *name, struct stat_line *ret)
{
	char path[48], text[512];
	const char *open_at, *close_at;
	int64_t v[FIELDS];
	ib_auto_fd int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%.20s/stat", name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	open_at = strchr(text, '(');
	close_at = strrchr(text, ')');
	if (!open_at || !close_at || close_at < open_at || close_at[1] != ' ' || !close_at[2] || !read_fields(close_at + 3, v))
		return false;
	ret->pid = (pid_t)strtol(name, NULL, 10);
	ret->state = close_at[2];
	ret->parent = (pid_t)v[PARENT];
	ret->own = v[UTIME] + v[STIME];
	ret->waited = v[CUTIME] + v[CSTIME];
	ret->threads = v[THREADS];
	ret->start = v[START];
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(close_at - open_at - 1), open_at + 1);
	return true;
}

static bool read_pid(const struct ib_tasks *t, pid_t pid, struct stat_line *ret)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return t->proc >= 0 && read_stat(t->proc, name, ret);
}

void ib_tasks_open(struct ib_root *root, pid_t run, pid_t self, struct ib_tasks *ret)
{
	*ret = (struct ib_tasks){.root = root, .run = run, .self = self, .hz = sysconf(_SC_CLK_TCK), .client_ticks = IB_NONE};
	(void)ib_root_keep(root, PROC, &ret->proc);
	ret->members = ib_alloc(MEMBERS_MAX * sizeof(*ret->members));
}

void ib_tasks_close(struct ib_tasks *t)
{
	if (t->dir)
		closedir(t->dir);
	if (t->proc >= 0)
		close(t->proc);
	free(t->v);
	free(t->members);
	free(t->threads);
	*t = (struct ib_tasks){.proc = -1};
}

/* --- all processes, a part at a time --- */

static double cores(const struct ib_tasks *t, int64_t ticks, int64_t passed_ns)
{
	return passed_ns > 0 ? (double)ticks / (double)t->hz / ((double)passed_ns / IB_NS) : NAN;
}

static int by_pid(const void *a, const void *b)
{
	const struct ib_task *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Those of before are sorted; those met for the first time are added behind and sorted in when the scan is over. */
static void meet(struct ib_tasks *t, const struct stat_line *l, size_t sorted, int64_t now_ns)
{
	struct ib_task key = {.pid = l->pid}, *found = sorted ? bsearch(&key, t->v, sorted, sizeof(key), by_pid) : NULL;
	int64_t born_ns = l->start * (IB_NS / t->hz);

	if (!found) {
		if (t->n == TASKS_MAX)
			return;
		if (t->n == t->room) {
			t->room = t->room ? 2 * t->room : 256;
			t->v = ib_realloc(t->v, t->room, sizeof(*t->v));
		}
		found = &t->v[t->n++];
		*found = (struct ib_task){.pid = l->pid, .start = -1};
	}
	if (found->start == l->start && now_ns - found->seen_ns >= YOUNG_NS / 10 && l->own >= found->ticks)
		found->cores = cores(t, l->own - found->ticks, now_ns - found->seen_ns);
	else if (now_ns - born_ns >= YOUNG_NS / 10 && now_ns - born_ns <= YOUNG_NS)
		found->cores = cores(t, l->own, now_ns - born_ns); /* it has not lived longer than that */
	else
		found->cores = NAN;
	found->start = l->start;
	found->parent = l->parent;
	found->ticks = l->own;
	found->seen_ns = now_ns;
	found->scan = t->scan;
	memcpy(found->comm, l->comm, sizeof(found->comm));
}

static size_t drop_gone(struct ib_tasks *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].scan == t->scan)
			t->v[n++] = t->v[i];
	t->n = n;
	if (n)
		qsort(t->v, n, sizeof(*t->v), by_pid);
	return n;
}

static struct ib_task *find(struct ib_tasks *t, pid_t pid)
{
	struct ib_task key = {.pid = pid};

	return t->n ? bsearch(&key, t->v, t->n, sizeof(key), by_pid) : NULL;
}

static void follow(struct ib_tasks *t, pid_t pid, bool own)
{
	for (size_t i = 0; i < t->members_n; i++)
		if (t->members[i].pid == pid)
			return;
	if (t->members_n < MEMBERS_MAX)
		t->members[t->members_n++] = (struct ib_member){.pid = pid, .own = own, .start = -1};
}

/* Marks what descends from ib-run: the sampler and its helpers, or else of the command's tree. */
static void find_members(struct ib_tasks *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct ib_task *at = &t->v[i];
		bool own = at->pid == t->run || strcmp(at->comm, LOGGER) == 0, tree = false;

		for (int up = 0; at && up < 64 && !own && !tree; up++) {
			own = at->pid == t->self || at->parent == t->self;
			tree = !own && at->parent == t->run;
			at = at->parent > 1 ? find(t, at->parent) : NULL;
		}
		t->v[i].ours = own || tree;
		if (t->v[i].ours)
			follow(t, t->v[i].pid, own);
	}
}

/* Goes on with a scan, or begins one. True: it is over. */
static bool scan(struct ib_tasks *t, int64_t now_ns)
{
	static const char digits[] = "123456789";
	struct dirent *e = NULL;
	int fd;

	if (!t->dir) {
		fd = t->proc < 0 ? -1 : openat(t->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		t->dir = fd < 0 ? NULL : fdopendir(fd);
		if (!t->dir)
			return false;
		t->scan++;
		t->sorted = t->n;
	}
	for (int k = 0; k < SCAN_MAX && (e = readdir(t->dir));) {
		struct stat_line l;

		if (!strchr(digits, e->d_name[0]) || !e->d_name[0])
			continue;
		k++;
		if (read_stat(t->proc, e->d_name, &l) && l.state != 'Z')
			meet(t, &l, t->sorted, now_ns);
	}
	if (e)
		return false;
	closedir(t->dir);
	t->dir = NULL;
	drop_gone(t);
	find_members(t);
	return true;
}

/* A name is what its process says of itself: only what can be shown, and without secrets. */
static void clean_name(const struct ib_redactor *redact, const char *comm, char ret[IB_SAMPLE_NAME])
{
	ib_auto_free char *text = redact ? ib_redact_text(redact, comm) : ib_strdup(comm);

	snprintf(ret, IB_SAMPLE_NAME, "%.*s", IB_SAMPLE_NAME - 1, text);
	for (char *c = ret; *c; c++)
		if (!isascii((unsigned char)*c) || !isprint((unsigned char)*c) || *c == '"' || *c == '\\')
			*c = '?';
}

static void name_busiest(const struct ib_tasks *t, const struct ib_redactor *redact, struct ib_sample *s)
{
	s->busiest_n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct ib_task *one = &t->v[i];
		int at = s->busiest_n;

		if (one->ours || !(one->cores >= 0.005))
			continue;
		while (at && s->busiest[at - 1].cores < one->cores)
			at--;
		if (at == IB_SAMPLE_BUSIEST)
			continue;
		s->busiest_n += s->busiest_n < IB_SAMPLE_BUSIEST;
		for (int k = s->busiest_n - 1; k > at; k--)
			s->busiest[k] = s->busiest[k - 1];
		s->busiest[at].cores = one->cores;
		clean_name(redact, one->comm, s->busiest[at].name);
	}
}

/* --- the run's own --- */

/* Children of one thread, where the kernel tells (CONFIG_PROC_CHILDREN): those that a scan has not met yet. */
static void add_children(struct ib_tasks *t, pid_t pid)
{
	char path[64], text[4096], *p, *end;
	ib_auto_fd int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%d/task/%d/children", (int)pid, (int)pid);
	fd = t->proc < 0 ? -1 : openat(t->proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	for (p = text;; p = end) {
		long child = strtol(p, &end, 10);

		if (end == p)
			return;
		follow(t, (pid_t)child, child == t->self);
	}
}

/* The busiest thread of a process, in cores; NAN: seen for the first time, or too many. */
static double busiest_thread(struct ib_tasks *t, const struct stat_line *l, int64_t now_ns)
{
	char path[32];
	int fd;
	ib_auto_dir DIR *d = NULL;
	struct ib_thread *list;
	size_t n = 0;
	double most = NAN;

	if (l->threads > THREADS_MAX || t->proc < 0)
		return NAN;
	snprintf(path, sizeof(path), "%d/task", (int)l->pid);
	fd = openat(t->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	list = ib_alloc(THREADS_MAX * sizeof(*list));
	for (struct dirent *e = d ? readdir(d) : NULL; e && n < THREADS_MAX; e = readdir(d)) {
		struct stat_line one;

		if (e->d_name[0] == '.' || !read_stat(fd, e->d_name, &one))
			continue;
		for (size_t i = 0; i < t->threads_n && t->hot == l->pid; i++)
			if (t->threads[i].tid == one.pid && one.own >= t->threads[i].ticks)
				most = fmax(most, cores(t, one.own - t->threads[i].ticks, now_ns - t->threads[i].seen_ns));
		list[n++] = (struct ib_thread){one.pid, one.own, now_ns};
	}
	free(t->threads);
	t->threads = list;
	t->threads_n = n;
	t->hot = l->pid;
	return most;
}

struct totals {
	int64_t client, own, living; /* client: in all; own: since the sample before */
	bool late;                   /* a process was met that had run before the sample before */
	struct stat_line hot;        /* the member that used most since it was seen */
	double hot_cores;
};

static void add_member(struct ib_tasks *t, struct ib_member *m, const struct stat_line *l, int64_t now_ns, struct totals *sum)
{
	bool fresh = m->start != l->start;
	double used = fresh ? NAN : cores(t, l->own - m->ticks, now_ns - m->seen_ns);

	if (m->own) {
		sum->own += fresh ? 0 : l->own - m->ticks;
	} else {
		sum->late |= fresh && l->start < t->at_ns / (IB_NS / t->hz);
		sum->living += l->state != 'Z';
		sum->client += l->own + l->waited;
		if (used > sum->hot_cores) {
			sum->hot_cores = used;
			sum->hot = *l;
		}
	}
	m->start = l->start;
	m->ticks = l->own;
	m->seen_ns = now_ns;
}

/* What a process used that is gone is with the one that waited for it: a process of the tree, or ib-run. */
static bool sum_members(struct ib_tasks *t, int64_t now_ns, struct totals *sum)
{
	struct stat_line l;

	follow(t, t->run, true);
	if (!read_pid(t, t->run, &l))
		return false;
	sum->client = l.waited;
	for (size_t i = 0; i < t->members_n; i++) {
		if (!read_pid(t, t->members[i].pid, &l)) {
			t->members[i--] = t->members[--t->members_n];
			continue;
		}
		if (t->members[i].pid == t->run || !t->members[i].own)
			add_children(t, l.pid);
		add_member(t, &t->members[i], &l, now_ns, sum);
	}
	return true;
}

static void set_client(struct ib_tasks *t, const struct totals *sum, int64_t passed_ns, struct ib_sample *s)
{
	s->client_processes = sum->living;
	if (t->client_ticks != IB_NONE && !sum->late && t->members_n < MEMBERS_MAX && sum->client >= t->client_ticks)
		s->client_cores = cores(t, sum->client - t->client_ticks, passed_ns);
	t->client_ticks = sum->client;
	s->own_cores = cores(t, sum->own, passed_ns);
	if (sum->hot_cores >= HOT_CORES && sum->hot.threads > 1)
		s->client_thread_cores = busiest_thread(t, &sum->hot, s->monotonic_ns);
	else if (sum->hot_cores >= 0)
		s->client_thread_cores = sum->hot_cores;
}

/* Two looks at all processes at once, then one every few samples, or as long as one takes. */
static bool time_to_scan(const struct ib_tasks *t, int64_t passed_ns)
{
	return passed_ns >= SCAN_AFTER_NS && (t->dir || t->scans < 2 || t->count % IB_SAMPLE_RARE == 0);
}

void ib_tasks_read(struct ib_tasks *t, const struct ib_redactor *redact, struct ib_sample *s)
{
	struct totals sum = {.hot_cores = -1};
	int64_t now_ns = s->monotonic_ns, passed_ns = t->count ? now_ns - t->at_ns : 0;

	if (time_to_scan(t, passed_ns) && scan(t, now_ns) && ++t->scans > 1)
		name_busiest(t, redact, s);
	if (sum_members(t, now_ns, &sum))
		set_client(t, &sum, passed_ns, s);
	if (s->busy_cores >= 0 && s->client_cores >= 0 && s->own_cores >= 0)
		s->outside_cores = fmax(0, s->busy_cores - s->client_cores - s->own_cores);
	t->at_ns = now_ns;
	t->count++;
}
