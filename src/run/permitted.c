/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run's requests go, with variables replaced and names resolved. */
#include "run/permitted.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "base/str.h"
#include "run/inside.h"
#include "run/probe.h"

#define RESOLVE_NS (10 * IB_NS)

/* In a child of its own: what resolves names may hang, and loads what it likes. Prints an address a line; status 1: the name is not known. */
static int resolve(void *arg, int fd)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;

	if (getaddrinfo(arg, NULL, &hints, &found) != 0)
		_exit(1);
	for (struct addrinfo *a = found; a; a = a->ai_next) {
		char text[NI_MAXHOST];

		if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
			dprintf(fd, "%s\n", text);
	}
	_exit(0);
}

static bool address_private(const char *address)
{
	ib_auto_free char *url = ib_asprintf(strchr(address, ':') ? "http://[%s]/" : "http://%s/", address);

	return ib_url_private(url);
}

static int refuse(struct ib_err *err, const char *host, const char *what)
{
	return ib_fail(err, IB_E_STATE, 0, "'%.200s' %s: say in the contract's 'permission' who allowed load on it", host, what);
}

/* In its usual spelling: others ("127.1", "0x7f000001") are left to who resolves names, as clients leave them. */
static bool is_address(const char *host)
{
	struct in_addr v4;

	return strchr(host, ':') || inet_pton(AF_INET, host, &v4) == 1;
}

static int judge_name(char *host, struct ib_err *err)
{
	ib_auto_buf struct ib_buf out = IB_BUF(1u << 16);
	ib_auto_free char *url = ib_asprintf("http://%s/", host);
	struct ib_child_end end;
	int r = ib_child_call(resolve, host, RESOLVE_NS, &out, &end, err);

	if (r < 0)
		return r;
	if (end.timed_out || end.status != 0 || !out.len)
		return ib_url_private(url) ? 0 : refuse(err, host, "cannot be resolved, so that nobody knows whose it is");
	for (const char *line = ib_buf_str(&out); *line; line += strcspn(line, "\n"), line += *line == '\n') {
		ib_auto_free char *address = ib_strndup(line, strcspn(line, "\n"));
		ib_auto_free char *what = ib_asprintf("is %s, neither this machine nor on a private network", address);

		if (!address_private(address))
			return refuse(err, host, what);
	}
	return 0;
}

static int judge_host(const char *start, size_t n, struct ib_err *err)
{
	ib_auto_free char *host = ib_strndup(start, n);

	if (n == 0)
		return 0;
	if (!is_address(host))
		return judge_name(host, err);
	return address_private(host) ? 0 : refuse(err, host, "is neither this machine nor on a private network");
}

/* The host of what follows "://": behind a user's name, before a port. */
static int judge_authority(const char *start, struct ib_err *err)
{
	size_t n = strcspn(start, "/?#\\ \t\"'<>,;");
	const char *at = memrchr(start, '@', n);
	const char *host = at ? at + 1 : start;

	n -= (size_t)(host - start);
	if (*host == '[')
		return judge_host(host + 1, strcspn(host + 1, "]%"), err);
	return judge_host(host, strcspn(host, ":") < n ? strcspn(host, ":") : n, err);
}

static int judge_text(const char *text, struct ib_err *err)
{
	int r = 0;

	for (const char *p = strstr(text, "://"); p && r == 0; p = strstr(p + 3, "://")) {
		size_t before = (size_t)(p - text);

		if ((before >= 4 && strncasecmp(p - 4, "http", 4) == 0) || (before >= 5 && strncasecmp(p - 5, "https", 5) == 0) ||
		    (before >= 4 && strncasecmp(p - 4, "grpc", 4) == 0))
			r = judge_authority(p + 3, err);
	}
	return r;
}

static int judge_url(const struct ib_run *run, const char *url, bool placeholders, struct ib_err *err)
{
	ib_auto_free char *text = NULL;
	int r = !url ? 0 : placeholders ? ib_run_expand(run, url, true, &text, err) : ib_probe_url(run, url, &text, err);

	return r < 0 || !text ? r : judge_text(text, err);
}

/* "--host NAME" and "--host=NAME" of a client, too. */
static int judge_command(const struct ib_run *run, struct ib_err *err)
{
	ib_auto_strv struct ib_strv argv = {0};
	int r = ib_run_expand_all(run, run->spec->argv, run->spec->strict_placeholders, &argv, err);

	for (size_t i = 0; i < argv.n && r == 0; i++) {
		const char *arg = argv.v[i], *host = ib_starts(arg, "--host=") ? arg + 7 : i && ib_streq(argv.v[i - 1], "--host") ? arg : NULL;

		r = judge_text(arg, err);
		if (r == 0 && host && !strstr(host, "://"))
			r = judge_authority(host, err);
	}
	return r;
}

int ib_permitted(const struct ib_run *run, const struct ib_contract *c, const struct ib_contract_group *g, struct ib_err *err)
{
	const json_t *pages = g->evidence.metrics_urls;
	int r;

	if (c->permission)
		return 0;
	r = judge_url(run, c->endpoint, false, err);
	if (r == 0)
		r = judge_url(run, c->readiness.url, false, err);
	for (size_t i = 0; i < json_array_size(pages) && r == 0; i++)
		r = judge_url(run, json_string_value(json_array_get(pages, i)), false, err);
	if (r == 0)
		r = judge_url(run, g->reset.http, true, err);
	if (r == 0)
		r = judge_url(run, g->warmup.http, true, err);
	if (r == 0)
		r = judge_url(run, json_string_value(json_object_get(g->output_check, "http")), true, err);
	return r < 0 ? r : judge_command(run, err);
}
