/* SPDX-License-Identifier: Apache-2.0 */
/* Other addresses in a command line. */
#include "run/readdress.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/buf.h"

static const char *const local_names[] = {"127.0.0.1", "localhost", "[::1]", "0.0.0.0", NULL};

int ib_readdress_init(struct ib_readdress *r, const char *endpoint, int port, struct ib_err *err)
{
	const char *start = strstr(endpoint, "://"), *colon;
	bool https = strncasecmp(endpoint, "https", 5) == 0;
	size_t n, host;

	*r = (struct ib_readdress){0};
	if (!start)
		return ib_fail(err, IB_E_USAGE, 0, "the contract's endpoint is no URL");
	start += 3;
	n = strcspn(start, "/?#");
	if (memchr(start, '@', n))
		return ib_fail(err, IB_E_USAGE, 0, "the contract's endpoint has a user name: its host cannot be told");
	host = *start == '[' ? strcspn(start, "]") + 1 : strcspn(start, ":");
	if (host > n)
		host = n;
	colon = host < n && start[host] == ':' ? start + host + 1 : NULL;
	if (host == 0 || (colon && strspn(colon, "0123456789") != n - host - 1))
		return ib_fail(err, IB_E_USAGE, 0, "the host of the contract's endpoint cannot be told");
	r->host = ib_strndup(start, host);
	r->port = colon && n > host + 1 ? ib_strndup(colon, n - host - 1) : ib_strdup(https ? "443" : "80");
	r->default_port = !colon;
	for (size_t i = 0; local_names[i]; i++)
		r->local |= strcasecmp(r->host, local_names[i]) == 0;
	r->local |= strncmp(r->host, "127.", 4) == 0;
	snprintf(r->to, sizeof(r->to), "127.0.0.1:%d", port);
	return 0;
}

void ib_readdress_clear(struct ib_readdress *r)
{
	free(r->host);
	free(r->port);
	*r = (struct ib_readdress){0};
}

/* Could c be part of a host's name? */
static bool of_name(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '-' || c == '_';
}

static size_t name_at(const char *s, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(s, name, n) == 0 ? n : 0;
}

/* Length of one of the server's names at s, or 0. */
static size_t host_at(const struct ib_readdress *r, const char *s)
{
	size_t n = name_at(s, r->host);

	for (size_t i = 0; !n && r->local && local_names[i]; i++)
		n = name_at(s, local_names[i]);
	return n;
}

/* Length of "HOST:PORT" at s (of "HOST" too when bare, the scheme's port being the server's), or 0. */
static size_t address_at(const struct ib_readdress *r, const char *s, bool bare)
{
	size_t n = host_at(r, s), port = strlen(r->port);

	if (!n)
		return 0;
	if (s[n] == ':' && strncmp(s + n + 1, r->port, port) == 0 && !isdigit((unsigned char)s[n + 1 + port]))
		return n + 1 + port;
	return bare && r->default_port && s[n] != ':' && !of_name(s[n]) ? n : 0;
}

char *ib_readdress_text(const struct ib_readdress *r, const char *text, size_t *n)
{
	ib_auto_buf struct ib_buf b = IB_BUF(2u << 20);

	for (const char *p = text; *p;) {
		bool after_name = p > text && of_name(p[-1]);
		size_t scheme = strncasecmp(p, "http://", 7) == 0 ? 7 : strncasecmp(p, "https://", 8) == 0 ? 8 : 0;
		size_t k = after_name ? 0 : address_at(r, p + scheme, scheme > 0);

		if (!k) {
			ib_buf_addc(&b, *p++);
			continue;
		}
		ib_buf_addf(&b, "%s%s", scheme ? "http://" : "", r->to);
		p += scheme + k;
		++*n;
	}
	return ib_buf_steal(&b);
}

/* --- --host and --port --- */

/* The value of an option given as "NAME VALUE" or "NAME=VALUE": place of the argument that holds it, or argv->n. */
static size_t option(const struct ib_strv *argv, const char *name, size_t *ret_skip)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < argv->n; i++) {
		if (strcmp(argv->v[i], name) == 0 && i + 1 < argv->n) {
			*ret_skip = 0;
			return i + 1;
		}
		if (strncmp(argv->v[i], name, len) == 0 && argv->v[i][len] == '=') {
			*ret_skip = len + 1;
			return i;
		}
	}
	return argv->n;
}

static void put(struct ib_strv *argv, size_t at, size_t skip, const char *value)
{
	char *text = ib_asprintf("%.*s%s", (int)skip, argv->v[at], value);

	free(argv->v[at]);
	argv->v[at] = text;
}

static int replace_pair(const struct ib_readdress *r, struct ib_strv *argv, size_t *n, struct ib_err *err)
{
	size_t host_skip = 0, port_skip = 0, host = option(argv, "--host", &host_skip), port = option(argv, "--port", &port_skip);
	bool host_ours = host < argv->n && host_at(r, argv->v[host] + host_skip) == strlen(argv->v[host] + host_skip);
	bool port_ours = port < argv->n && strcmp(argv->v[port] + port_skip, r->port) == 0;

	if (host == argv->n && port == argv->n)
		return 0;
	if (host < argv->n && !host_ours)
		return 0; /* what is left is looked at */
	if (!port_ours)
		return ib_fail(err, IB_E_USAGE, 0, "the command names the endpoint's host with --host, but not its port %s with --port: where its load goes is not known",
			       r->port);
	if (host < argv->n)
		put(argv, host, host_skip, "127.0.0.1");
	put(argv, port, port_skip, strrchr(r->to, ':') + 1);
	++*n;
	return 0;
}

/* --- what is left --- */

static bool names_server(const struct ib_readdress *r, const char *text)
{
	size_t n = strlen(r->host), port = strlen(r->port);

	for (const char *p = text; !r->local && (p = strcasestr(p, r->host)); p++)
		if ((p == text || !of_name(p[-1])) && !of_name(p[n]))
			return true;
	for (const char *p = text; r->local && (p = strstr(p, r->port)); p++)
		if (p > text && p[-1] == ':' && !isdigit((unsigned char)p[port]))
			return true;
	return false;
}

int ib_readdress_argv(const struct ib_readdress *r, struct ib_strv *argv, struct ib_err *err)
{
	size_t n = 0;
	int e;

	for (size_t i = 0; i < argv->n; i++) {
		char *text = ib_readdress_text(r, argv->v[i], &n);

		free(argv->v[i]);
		argv->v[i] = text;
	}
	e = replace_pair(r, argv, &n, err);
	if (e < 0)
		return e;
	for (size_t i = 0; i < argv->n; i++)
		if (names_server(r, argv->v[i]))
			return ib_fail(err, IB_E_USAGE, 0, "argument %zu still names the endpoint %s:%s after its address was replaced: nothing is run, so that no load reaches it",
				       i, r->host, r->port);
	if (!n)
		return ib_fail(err, IB_E_USAGE, 0, "no argument names the endpoint %s:%s: the client would send its load to the server itself, so nothing is run; "
						   "give it the address on its command line",
			       r->host, r->port);
	return 0;
}
