/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler's view of the machine. Files are opened once and read from their beginning each time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "run/sampler_inside.h"

#define TEXT_MAX (1u << 20)
#define CPUFREQ "/sys/devices/system/cpu/cpufreq"
#define POWERCAP "/sys/class/powercap"
#define HWMON "/sys/class/hwmon"
#define POLICIES_MAX 16 /* reading one may interrupt the processor that it asks about */

/* The text of a kept file, from its beginning; NULL where it cannot be read. */
static const char *text_of(struct ib_buf *b, int fd)
{
	ib_buf_reset(b);
	while (fd >= 0) {
		char *room = ib_buf_room(b, 16384);
		ssize_t k = room ? pread(fd, room, 16384, (off_t)b->len) : -1;

		if (k < 0)
			return NULL;
		b->len += (size_t)k;
		b->data[b->len] = '\0';
		if (k < 16384) /* these files end with the first read that is short; another would make the kernel write them anew */
			return ib_buf_str(b);
	}
	return NULL;
}

/* The whole number that a kept file holds. */
static int64_t number_of(int fd)
{
	char text[32];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	char *end;
	int64_t v;

	if (n <= 0)
		return IB_NONE;
	text[n] = '\0';
	v = strtoll(text, &end, 10);
	return end == text || (*end && *end != '\n') ? IB_NONE : v;
}

static void keep(struct ib_root *root, struct ib_host_files *f, const char *path)
{
	int fd;
	struct ib_fact fact;

	if (f->n == IB_HOST_FILES)
		return;
	fact = ib_root_keep(root, path, &fd);
	if (fact.status == IB_FACT_OK && number_of(fd) == IB_NONE) {
		close(fd);
		fact = (struct ib_fact){IB_FACT_ERROR, 0};
	}
	if (fact.status != IB_FACT_OK) {
		if (!f->n && f->fact.status != IB_FACT_DENIED)
			f->fact = fact;
		return;
	}
	f->last[f->n] = number_of(fd);
	f->range[f->n] = IB_NONE;
	f->sum[f->n] = 0;
	f->fd[f->n++] = fd;
	f->fact = fact;
}

static void list(struct ib_root *root, const char *dir, struct ib_strv *ret)
{
	if (root) {
		(void)ib_root_list(root, dir, ret);
		return;
	}
	ib_auto_dir DIR *d = opendir(dir);

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		if (e->d_name[0] != '.')
			ib_strv_add(ret, e->d_name);
	ib_strv_sort(ret);
}

static void open_frequencies(struct ib_root *root, struct ib_host *h)
{
	ib_auto_strv struct ib_strv names = {0};

	list(root, CPUFREQ, &names);
	for (size_t i = 0; i < names.n && h->frequency.n < POLICIES_MAX; i++) {
		ib_auto_free char *file = ib_asprintf(CPUFREQ "/%s/scaling_cur_freq", names.v[i]);

		if (ib_starts(names.v[i], "policy"))
			keep(root, &h->frequency, file);
	}
}

/* Does a small file hold one of these words? */
static bool says(struct ib_root *root, const char *path, const char *const *words)
{
	char text[64];
	int fd;
	ssize_t n;

	if (ib_root_keep(root, path, &fd).status != IB_FACT_OK)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (; *words; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

/* The processors' own sensors. */
static void open_temperatures(struct ib_root *root, struct ib_host *h)
{
	static const char *const chips[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", NULL};
	ib_auto_strv struct ib_strv names = {0};

	list(root, HWMON, &names);
	for (size_t i = 0; i < names.n; i++) {
		ib_auto_free char *name = ib_asprintf(HWMON "/%s/name", names.v[i]);

		if (!says(root, name, chips))
			continue;
		for (int k = 1; k <= 4; k++) {
			ib_auto_free char *file = ib_asprintf(HWMON "/%s/temp%d_input", names.v[i], k);

			if (h->temperature.n < 8)
				keep(root, &h->temperature, file);
		}
	}
}

static void open_throttles(struct ib_root *root, struct ib_host *h)
{
	static const char *const counters[] = {"core_throttle_count", "package_throttle_count"};

	for (int cpu = 0; cpu < IB_HOST_FILES / 2; cpu++) {
		int before = h->throttle.n;

		for (int k = 0; k < 2; k++) {
			ib_auto_free char *file = ib_asprintf("/sys/devices/system/cpu/cpu%d/thermal_throttle/%s", cpu, counters[k]);

			keep(root, &h->throttle, file);
		}
		if (h->throttle.n == before) /* the first processor that has none ends the row */
			return;
	}
}

/* One zone of RAPL: the counter goes back to 0 beyond max_energy_range_uj. */
static void open_zone(struct ib_root *root, struct ib_host_files *f, const char *zone)
{
	ib_auto_free char *file = ib_asprintf(POWERCAP "/%s/energy_uj", zone), *range = ib_asprintf(POWERCAP "/%s/max_energy_range_uj", zone);
	int before = f->n, fd;

	keep(root, f, file);
	if (f->n > before && ib_root_keep(root, range, &fd).status == IB_FACT_OK) {
		f->range[before] = number_of(fd);
		close(fd);
	}
}

static void open_energy(struct ib_root *root, struct ib_host *h)
{
	static const char *const packages[] = {"package-0", "package-1", "package-2", "package-3", "package-4", "package-5", "package-6", "package-7", NULL};
	static const char *const dram[] = {"dram", NULL};
	ib_auto_strv struct ib_strv zones = {0};

	list(root, POWERCAP, &zones);
	for (size_t i = 0; i < zones.n; i++) {
		ib_auto_free char *name = ib_asprintf(POWERCAP "/%s/name", zones.v[i]);

		if (!ib_starts(zones.v[i], "intel-rapl:")) /* intel-rapl-mmio counts the same energy once more */
			continue;
		if (says(root, name, packages))
			open_zone(root, &h->package, zones.v[i]);
		else if (says(root, name, dram))
			open_zone(root, &h->dram, zones.v[i]);
	}
}

void ib_host_open(struct ib_root *root, struct ib_host *h)
{
	static const char *const resources[] = {"/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io"};
	const struct ib_fact absent = {IB_FACT_ABSENT, 0};

	*h = (struct ib_host){.text = IB_BUF(TEXT_MAX), .hz = sysconf(_SC_CLK_TCK)};
	h->frequency.fact = h->temperature.fact = h->throttle.fact = h->package.fact = h->dram.fact = absent;
	h->stat_fact = ib_root_keep(root, "/proc/stat", &h->stat);
	h->meminfo_fact = ib_root_keep(root, "/proc/meminfo", &h->meminfo);
	for (int i = 0; i < 3; i++)
		h->psi_fact = ib_root_keep(root, resources[i], &h->psi[i]);
	open_frequencies(root, h);
	open_temperatures(root, h);
	open_throttles(root, h);
	open_energy(root, h);
	h->busy = h->steal = h->iowait = h->switches = h->throttles = IB_NONE;
	for (size_t i = 0; i < IB_LEN(h->psi_us); i++)
		h->psi_us[i] = IB_NONE;
}

static void close_files(struct ib_host_files *f)
{
	for (int i = 0; i < f->n; i++)
		close(f->fd[i]);
	f->n = 0;
}

void ib_host_close(struct ib_host *h)
{
	ib_auto_fd_fn(&h->stat);
	ib_auto_fd_fn(&h->meminfo);
	for (int i = 0; i < 3; i++)
		ib_auto_fd_fn(&h->psi[i]);
	close_files(&h->frequency);
	close_files(&h->temperature);
	close_files(&h->throttle);
	close_files(&h->package);
	close_files(&h->dram);
	ib_buf_clear(&h->text);
}

/* --- reading --- */

/* What was added to *last, as a share of the time since; *last becomes now. */
static double rate(int64_t now, int64_t *last, double per, int64_t passed_ns)
{
	double r = now == IB_NONE || *last == IB_NONE || passed_ns <= 0 || now < *last ? NAN : (double)(now - *last) / per / ((double)passed_ns / IB_NS);

	*last = now;
	return r;
}

static int64_t count_cpus(const char *text)
{
	int64_t n = 0;

	for (const char *line = text; (line = strstr(line, "\ncpu")); line += 4)
		n += line[4] >= '0' && line[4] <= '9';
	return n;
}

static void read_stat(struct ib_host *h, struct ib_sample *s, int64_t passed_ns)
{
	const char *text = text_of(&h->text, h->stat), *switches = text ? strstr(text, "\nctxt ") : NULL;
	int64_t v[8] = {0}, busy = IB_NONE, steal = IB_NONE, iowait = IB_NONE, now = IB_NONE;
	int n = 0;

	if (text)
		n = sscanf(text, "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &v[0], &v[1], &v[2], &v[3], &v[4],
			   &v[5], &v[6], &v[7]);
	if (n >= 7) {
		busy = v[0] + v[1] + v[2] + v[5] + v[6];
		iowait = v[4];
	}
	if (n == 8)
		steal = v[7];
	if (switches)
		now = strtoll(switches + 6, NULL, 10);
	if (text && !h->cpus)
		h->cpus = count_cpus(text);
	if (now != IB_NONE && h->switches != IB_NONE)
		s->context_switches = now - h->switches;
	h->switches = now;
	s->busy_cores = rate(busy, &h->busy, (double)h->hz, passed_ns);
	s->steal_cores = rate(steal, &h->steal, (double)h->hz, passed_ns);
	s->iowait_cores = rate(iowait, &h->iowait, (double)h->hz, passed_ns);
}

static int64_t pressure_total(const char *text, const char *word)
{
	const char *line = text ? strstr(text, word) : NULL, *total = line ? strstr(line, "total=") : NULL;

	return total ? strtoll(total + 6, NULL, 10) : IB_NONE;
}

static void read_pressure(struct ib_host *h, struct ib_sample *s, int64_t passed_ns)
{
	double *const to[5] = {&s->psi_cpu_some_pct, &s->psi_memory_some_pct, &s->psi_memory_full_pct, &s->psi_io_some_pct, &s->psi_io_full_pct};
	int k = 0;

	for (int i = 0; i < 3; i++) {
		const char *text = text_of(&h->text, h->psi[i]);

		for (int word = 0; word < (i ? 2 : 1); word++, k++) /* µs of a second, in percent */
			*to[k] = rate(pressure_total(text, word ? "full" : "some"), &h->psi_us[k], 1e4, passed_ns);
	}
}

static int64_t memory_field(const char *text, const char *name)
{
	const char *line = text ? strstr(text, name) : NULL;

	return line ? strtoll(line + strlen(name), NULL, 10) * 1024 : IB_NONE;
}

static void read_memory(struct ib_host *h, struct ib_sample *s)
{
	const char *text = text_of(&h->text, h->meminfo);
	int64_t total = memory_field(text, "\nSwapTotal:"), left = memory_field(text, "\nSwapFree:");

	s->memory_available_bytes = memory_field(text, "\nMemAvailable:");
	if (total != IB_NONE && left != IB_NONE)
		s->swap_used_bytes = total - left;
}

static void read_frequencies(struct ib_host *h, struct ib_sample *s)
{
	int64_t low = INT64_MAX, high = 0, sum = 0, n = 0;

	for (int i = 0; i < h->frequency.n; i++) {
		int64_t khz = number_of(h->frequency.fd[i]);

		if (khz <= 0 || khz > INT64_MAX / 1000 / IB_HOST_FILES)
			continue;
		n++;
		sum += khz;
		low = khz < low ? khz : low;
		high = khz > high ? khz : high;
	}
	if (!n)
		return;
	s->frequency_min_hz = low * 1000;
	s->frequency_mean_hz = sum * 1000 / n;
	s->frequency_max_hz = high * 1000;
}

static void read_temperatures(struct ib_host *h, struct ib_sample *s)
{
	for (int i = 0; i < h->temperature.n; i++) {
		int64_t milli = number_of(h->temperature.fd[i]);

		if (milli != IB_NONE && !((double)milli / 1000 <= s->temperature_max_c))
			s->temperature_max_c = (double)milli / 1000;
	}
}

static void read_throttles(struct ib_host *h, struct ib_sample *s)
{
	int64_t sum = 0;

	for (int i = 0; i < h->throttle.n; i++) {
		int64_t v = number_of(h->throttle.fd[i]);

		sum += v == IB_NONE ? 0 : v;
	}
	if (!h->throttle.n)
		return;
	if (h->throttles != IB_NONE && sum >= h->throttles)
		s->throttles = sum - h->throttles;
	h->throttles = sum;
}

/* Joules since the files were opened. A counter that went down went around once, where its range is known. */
static double read_energy(struct ib_host_files *f)
{
	double j = 0;

	for (int i = 0; i < f->n; i++) {
		int64_t now = number_of(f->fd[i]);

		if (now == IB_NONE || (now < f->last[i] && (f->range[i] == IB_NONE || f->range[i] < f->last[i])))
			return NAN;
		f->sum[i] += now < f->last[i] ? f->range[i] - f->last[i] + now : now - f->last[i];
		f->last[i] = now;
		j += (double)f->sum[i] / 1e6;
	}
	return f->n ? j : NAN;
}

void ib_host_read(struct ib_host *h, struct ib_sample *s)
{
	int64_t passed_ns = h->count ? s->monotonic_ns - h->at_ns : 0;

	read_stat(h, s, passed_ns);
	read_pressure(h, s, passed_ns);
	read_memory(h, s);
	read_frequencies(h, s);
	read_temperatures(h, s);
	if (h->count % IB_SAMPLE_RARE == 0)
		read_throttles(h, s);
	s->package_j = read_energy(&h->package);
	s->dram_j = read_energy(&h->dram);
	h->at_ns = s->monotonic_ns;
	h->count++;
}
