/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and URLs of a contract: placeholders, ${env:NAME}, and whether a host is private. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_internal.h"

struct commands {
	const char *file;
	struct ib_template_var vars[IB_YAML_KEYS_MAX + 16];
	struct ib_template t; /* names that are known where we are */
	bool permission;
};

static bool private_v4(const uint8_t a[4])
{
	static const uint8_t any[4];

	return a[0] == 127 || a[0] == 10 || (a[0] == 172 && (a[1] & 0xF0) == 16) || (a[0] == 192 && a[1] == 168) || (a[0] == 169 && a[1] == 254) ||
	       memcmp(a, any, 4) == 0;
}

static bool private_v6(const uint8_t a[16])
{
	static const uint8_t loopback[16] = {[15] = 1}, mapped[12] = {[10] = 0xFF, [11] = 0xFF};

	if (memcmp(a, mapped, 12) == 0)
		return private_v4(a + 12);
	return memcmp(a, loopback, 16) == 0 || (a[0] & 0xFE) == 0xFC || (a[0] == 0xFE && (a[1] & 0xC0) == 0x80);
}

static bool private_name(const char *host)
{
	static const char *const suffixes[] = {".localhost", ".local", ".internal", ".lan", ".home.arpa"};
	size_t n = strlen(host);

	/* Only letters, digits, dashes and dots; a name that looks like a number is one (127.1, 0x7f.1, 2130706433): not judged here. */
	if (n == 0 || strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != n || (host[0] >= '0' && host[0] <= '9'))
		return false;
	if (!strchr(host, '.'))
		return true;
	for (size_t i = 0; i < IB_LEN(suffixes); i++) {
		size_t k = strlen(suffixes[i]);

		if (n > k && strcasecmp(host + n - k, suffixes[i]) == 0)
			return true;
	}
	return false;
}

bool ib_url_private(const char *url)
{
	const char *start = strstr(url, "://");
	char host[256];
	uint8_t v4[4], v6[16];
	size_t n;

	if (!start)
		return false;
	start += 3;
	n = strcspn(start, "/?#\\");
	for (size_t i = 0; i < n; i++)
		if (start[i] == '@') { /* what follows a user name is the host */
			start += i + 1;
			n -= i + 1;
			i = (size_t)-1;
		}
	if (*start == '[') {
		start++;
		n = strcspn(start, "]%/");
	} else {
		size_t port = strcspn(start, ":");

		n = port < n ? port : n;
	}
	if (n == 0 || n >= sizeof(host))
		return false;
	memcpy(host, start, n);
	host[n] = '\0';
	if (inet_pton(AF_INET, host, v4) == 1)
		return private_v4(v4);
	if (inet_pton(AF_INET6, host, v6) == 1)
		return private_v6(v6);
	return start[-1] != '[' && private_name(host);
}

static void ignore_name(void *arg, const char *name)
{
	(void)arg;
	(void)name;
}

/* URLs within a text. */
static int check_hosts(const struct commands *c, const struct ib_yaml *y, struct ib_err *err)
{
	if (c->permission)
		return 0;
	for (const char *p = strstr(y->text, "://"); p; p = strstr(p + 3, "://")) {
		size_t before = (size_t)(p - y->text);
		const char *start = before >= 5 && strncasecmp(p - 5, "https", 5) == 0 ? p - 5 : before >= 4 && strncasecmp(p - 4, "http", 4) == 0 ? p - 4 : NULL;

		if (start && !ib_url_private(start))
			return ib_yaml_fail(err, c->file, y->at, "'%.80s' is neither this machine nor on a private network: say in 'permission' who allowed load on it",
					    start);
	}
	return 0;
}

static int check_text(struct commands *c, const struct ib_yaml *y, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1);
	struct ib_err why;

	if (c->t.n > 0 && ib_template_expand(&c->t, y->text, &b, &why) < 0)
		return ib_yaml_fail(err, c->file, y->at, "%s", why.text);
	if (ib_template_env(y->text, ignore_name, NULL, &why) < 0)
		return ib_yaml_fail(err, c->file, y->at, "%s", why.text);
	return check_hosts(c, y, err);
}

/* A text or a list of texts, or nothing. */
static int check_any(struct commands *c, const struct ib_yaml *y, struct ib_err *err)
{
	int r = 0;

	if (!y)
		return 0;
	if (y->kind == IB_YAML_SCALAR)
		return check_text(c, y, err);
	for (const struct ib_yaml *a = y->child; r == 0 && a; a = a->next)
		r = check_text(c, a, err);
	return r;
}

static void know(struct commands *c, const struct ib_yaml *matrix)
{
	c->t = (struct ib_template){.vars = c->vars, .mode = IB_TEMPLATE_STRICT};
	for (size_t i = 0; ib_template_reserved[i]; i++)
		c->vars[c->t.n++] = (struct ib_template_var){ib_template_reserved[i], ""};
	for (const struct ib_yaml *v = matrix ? matrix->child : NULL; v; v = v->next)
		c->vars[c->t.n++] = (struct ib_template_var){v->key, ""};
}

static int check_group(struct commands *c, const struct ib_yaml *group, struct ib_err *err)
{
	const struct ib_yaml *cache = ib_yaml_get(group, "cache"), *reset = ib_yaml_get(cache, "reset");
	const struct ib_yaml *const all[] = {ib_yaml_get(group, "command"), ib_yaml_get(group, "convert"), ib_yaml_get(reset, "command"), ib_yaml_get(reset, "http"),
					     ib_yaml_get(ib_yaml_get(cache, "warmup"), "command")};
	const struct ib_yaml *evidence = ib_yaml_get(cache, "evidence"), *check = ib_yaml_get(group, "output_check");
	const struct ib_yaml *const plain[] = {ib_yaml_get(evidence, "metrics_url"), ib_yaml_get(evidence, "metrics_urls"), ib_yaml_get(check, "http"),
					       ib_yaml_get(check, "body")};
	int r = 0;

	know(c, ib_yaml_get(group, "matrix"));
	for (size_t i = 0; r == 0 && i < IB_LEN(all); i++)
		r = check_any(c, all[i], err);
	if (r == 0)
		r = check_any(c, ib_yaml_get(check, "command"), err);
	c->t.n = 0;
	for (size_t i = 0; r == 0 && i < IB_LEN(plain); i++)
		r = check_any(c, plain[i], err);
	return r;
}

/* Each of these keys of the maps in a list. */
static int check_list(struct commands *c, const struct ib_yaml *list, const char *a, const char *b, struct ib_err *err)
{
	int r = 0;

	for (const struct ib_yaml *o = list ? list->child : NULL; r == 0 && o; o = o->next) {
		r = check_any(c, ib_yaml_get(o, a), err);
		if (r == 0)
			r = check_any(c, ib_yaml_get(o, b), err);
	}
	return r;
}

/* A log's command knows the times of the run too. */
static int check_logs(struct commands *c, const struct ib_yaml *logs, struct ib_err *err)
{
	static const char *const times[] = {"since", "until", "since_unix", "until_unix"};
	int r;

	know(c, NULL);
	r = check_list(c, logs, "file", "file", err);
	for (size_t i = 0; i < IB_LEN(times); i++)
		c->vars[c->t.n++] = (struct ib_template_var){times[i], ""};
	return r < 0 ? r : check_list(c, logs, "command", "command", err);
}

int ib_contract_check_commands(const struct ib_yaml *y, const char *file, struct ib_err *err)
{
	ib_auto_free struct commands *c = ib_alloc(sizeof(*c));
	int r;

	c->file = file;
	c->permission = ib_yaml_get(y, "permission") != NULL;
	r = check_logs(c, ib_yaml_get(y, "server_logs"), err);
	know(c, NULL);
	if (r == 0)
		r = check_any(c, ib_yaml_get(ib_yaml_get(y, "readiness"), "command"), err);
	if (r == 0)
		r = check_any(c, ib_yaml_get(ib_yaml_get(y, "quality"), "command"), err);
	if (r == 0)
		r = check_list(c, ib_yaml_get(ib_yaml_get(y, "quality"), "cases"), "command", "command", err);
	c->t.n = 0;
	if (r == 0)
		r = check_list(c, ib_yaml_get(ib_yaml_get(y, "quality"), "cases"), "http", "body", err);
	if (r == 0)
		r = check_list(c, ib_yaml_get(y, "nodes"), "launch", "launch", err);
	if (r == 0)
		r = check_any(c, ib_yaml_get(ib_yaml_get(y, "readiness"), "url"), err);
	if (r == 0)
		r = check_any(c, ib_yaml_get(ib_yaml_get(y, "serving"), "endpoint"), err);
	for (const struct ib_yaml *g = ib_yaml_get(y, "groups")->child; r == 0 && g; g = g->next)
		r = check_group(c, g, err);
	return r;
}
