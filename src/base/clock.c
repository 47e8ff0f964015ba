/* SPDX-License-Identifier: Apache-2.0 */
/* Time: wall and monotonic clocks, RFC 3339 text, durations. */
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) < 0)
		abort();
	return (int64_t)ts.tv_sec * IB_NS + ts.tv_nsec;
}

static int64_t system_wall(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_REALTIME);
}

static int64_t system_monotonic(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_BOOTTIME);
}

static int64_t system_awake(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_MONOTONIC);
}

const struct ib_clock ib_clock_system = {.wall_ns = system_wall, .monotonic_ns = system_monotonic, .awake_ns = system_awake};

int64_t ib_wall_ns(const struct ib_clock *c)
{
	return c->wall_ns(c->arg);
}

int64_t ib_monotonic_ns(const struct ib_clock *c)
{
	return c->monotonic_ns(c->arg);
}

int64_t ib_awake_ns(const struct ib_clock *c)
{
	return c->awake_ns ? c->awake_ns(c->arg) : c->monotonic_ns(c->arg);
}

static struct tm utc(int64_t wall_ns, int64_t *ret_rest)
{
	time_t s = (time_t)(wall_ns / IB_NS);
	struct tm tm;

	*ret_rest = wall_ns % IB_NS;
	if (*ret_rest < 0) {
		*ret_rest += IB_NS;
		s--;
	}
	if (!gmtime_r(&s, &tm))
		abort();
	return tm;
}

void ib_time_text(int64_t wall_ns, int digits, char ret[IB_TIME_LEN])
{
	int64_t rest;
	struct tm tm = utc(wall_ns, &rest);
	size_t n = strftime(ret, IB_TIME_LEN, "%Y-%m-%dT%H:%M:%S", &tm);

	for (int i = digits; i < 9; i++)
		rest /= 10;
	if (digits)
		snprintf(ret + n, IB_TIME_LEN - n, ".%0*lldZ", digits, (long long)rest);
	else
		snprintf(ret + n, IB_TIME_LEN - n, "Z");
}

void ib_time_compact(int64_t wall_ns, char ret[IB_TIME_LEN])
{
	int64_t rest;
	struct tm tm = utc(wall_ns, &rest);

	strftime(ret, IB_TIME_LEN, "%Y%m%dT%H%M%SZ", &tm);
}

/* Fraction ".123" at s -> ns; NULL when malformed, else the place behind it. */
static const char *fraction(const char *s, int64_t *ret_ns)
{
	int64_t v = 0;
	int n = 0;

	if (*s != '.')
		return s;
	for (s++; *s >= '0' && *s <= '9' && n < 9; s++, n++)
		v = v * 10 + (*s - '0');
	if (n == 0)
		return NULL;
	for (; n < 9; n++)
		v *= 10;
	*ret_ns = v;
	return s;
}

int ib_time_parse(const char *text, int64_t *ret_wall_ns, struct ib_err *err)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	struct tm tm = {0}, again;
	int64_t ns = 0, seconds;
	time_t t;
	const char *end;

	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
			return ib_fail(err, IB_E_SYNTAX, 0, "'%.40s' is not a time like 2026-11-30T16:01:02Z", text);
	end = fraction(text + sizeof(shape) - 1, &ns);
	if (!end || strcmp(end, "Z") != 0 || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return ib_fail(err, IB_E_SYNTAX, 0, "'%.40s' is not a time like 2026-11-30T16:01:02Z", text);
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	again = tm;
	t = timegm(&again);
	seconds = (int64_t)t;
	if (again.tm_mon != tm.tm_mon || again.tm_mday != tm.tm_mday || again.tm_hour != tm.tm_hour || again.tm_min != tm.tm_min || again.tm_sec != tm.tm_sec ||
	    seconds < -9000000000LL || seconds > 9000000000LL)
		return ib_fail(err, IB_E_SYNTAX, 0, "'%.40s' is not a time that exists", text);
	*ret_wall_ns = seconds * IB_NS + ns;
	return 0;
}

int ib_duration_parse(const char *text, int64_t *ret_ns, struct ib_err *err)
{
	static const struct {
		const char *suffix;
		int64_t ns;
	} units[] = {{"", IB_NS}, {"ms", IB_NS / 1000}, {"s", IB_NS}, {"m", 60 * IB_NS}, {"h", 3600 * IB_NS}};
	char *end;
	double v;

	if (*text < '0' || *text > '9')
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is not a duration like 90s, 10m, 2h or 250ms", text);
	v = strtod(text, &end);
	/* digits and a point only: strtod() takes 0x10 and 1e3, too */
	for (size_t i = 0; strspn(text, "0123456789.") == (size_t)(end - text) && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		if (!(v * (double)units[i].ns < 1e18))
			break;
		*ret_ns = (int64_t)(v * (double)units[i].ns);
		return 0;
	}
	return ib_fail(err, IB_E_USAGE, 0, "'%s' is not a duration like 90s, 10m, 2h or 250ms", text);
}
