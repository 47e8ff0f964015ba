/* SPDX-License-Identifier: Apache-2.0 */
/* The redactor: its key, what it replaces in texts and command lines, and the last gate. */
#include "redact/redact.h"
#include "redact/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/io.h"

#define KEY_LEN 32

struct ib_redactor {
	uint8_t key[KEY_LEN];
	char *home;             /* without a slash at its end; NULL: none worth hiding */
	struct ib_strv secrets; /* literal values that the gate looks for */
};

/* Names whose values say nothing although the name rule calls them secret: sockets, files, session kinds. */
static bool harmless(const char *name, size_t n)
{
	static const char *const ends[] = {"_FILE", "_PATH", "_DIR", "_SOCK", "_TYPE", "_CLASS", "_ADDRESS", NULL};
	static const char *const names[] = {"DESKTOP_SESSION", "GDMSESSION", "SESSION_MANAGER", "XDG_SESSION_DESKTOP", "XDG_SESSION_PATH", NULL};

	for (size_t i = 0; ends[i]; i++)
		if (n > strlen(ends[i]) && memcmp(name + n - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return true;
	for (size_t i = 0; names[i]; i++)
		if (n == strlen(names[i]) && memcmp(name, names[i], n) == 0)
			return true;
	return false;
}

/* Every value that counts as a literal secret: eight bytes or more, not only a placeholder. Each line of a longer text, too. */
static void add_secret(struct ib_redactor *r, const char *value)
{
	const char *line = value;

	if (strlen(value) < 8)
		return;
	ib_strv_add(&r->secrets, value);
	while (strchr(line, '\n')) {
		const char *end = strchr(line, '\n');

		if (end - line >= 16)
			ib_strv_take(&r->secrets, ib_strndup(line, (size_t)(end - line)));
		line = end + 1;
	}
}

void ib_redactor_add_env(struct ib_redactor *r, char *const *env)
{
	for (; env && *env; env++) {
		const char *equals = strchr(*env, '=');
		size_t n = equals ? (size_t)(equals - *env) : 0;

		if (n && ib_name_secret(*env, n) && !harmless(*env, n))
			add_secret(r, equals + 1);
	}
}

static void set_home(struct ib_redactor *r, const char *home)
{
	size_t n = home ? strlen(home) : 0;

	while (n > 1 && home[n - 1] == '/')
		n--;
	if (n > 1 && home[0] == '/')
		r->home = ib_strndup(home, n);
}

struct ib_redactor *ib_redactor_with_key(const uint8_t *key, size_t n, char *const *env)
{
	struct ib_redactor *r = ib_alloc(sizeof(*r));
	const struct ib_ctx ctx = {.env = env};

	ib_hmac_sha256(key, n, "ibtools", 7, r->key);
	ib_redactor_add_env(r, env);
	set_home(r, ib_env(&ctx, "HOME"));
	return r;
}

/* Key bytes of fd's file; false unless exactly KEY_LEN bytes are there. */
static bool load_key(int dir, const char *name, uint8_t key[KEY_LEN])
{
	ib_auto_buf struct ib_buf b = IB_BUF(KEY_LEN);

	if (ib_read_file(dir, name, &b, NULL) < 0 || b.len != KEY_LEN)
		return false;
	memcpy(key, b.data, KEY_LEN);
	return true;
}

/* $XDG_STATE_HOME/ibtools/keys, made with mode 0700. */
static int open_key_dir(const struct ib_ctx *ctx, int *ret_fd, struct ib_err *err)
{
	const char *state = ib_env(ctx, "XDG_STATE_HOME"), *home = ib_env(ctx, "HOME");
	ib_auto_free char *path = NULL;
	int r;

	if (state && state[0] == '/')
		path = ib_asprintf("%s/ibtools/keys", state);
	else if (home && home[0] == '/')
		path = ib_asprintf("%s/.local/state/ibtools/keys", home);
	else
		return ib_fail(err, IB_E_IO, 0, "neither XDG_STATE_HOME nor HOME is set");
	r = ib_make_dirs(AT_FDCWD, path, 0700, err);
	return r < 0 ? r : ib_open_dir(AT_FDCWD, path, ret_fd, err);
}

/* The key's file: one for the machine, one for each study's real path. */
static char *key_name(const char *scope_dir)
{
	char hex[IB_HEX_LEN];
	ib_auto_free char *path = scope_dir ? realpath(scope_dir, NULL) : NULL;

	if (!scope_dir)
		return ib_strdup("machine");
	ib_sha256_of(path ? path : scope_dir, strlen(path ? path : scope_dir), hex);
	return ib_asprintf("study-%.32s", hex);
}

/* Loads the key or makes it; two processes that start together agree on the one that was first. */
static int keep_key(const struct ib_ctx *ctx, const char *scope_dir, uint8_t key[KEY_LEN], struct ib_err *err)
{
	ib_auto_free char *name = key_name(scope_dir);
	ib_auto_fd int dir = -1;
	uint8_t made[KEY_LEN];
	int r = open_key_dir(ctx, &dir, err);

	if (r < 0)
		return r;
	if (load_key(dir, name, key))
		return 0;
	if (getrandom(made, sizeof(made), 0) != sizeof(made))
		return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
	r = ib_write_file(dir, name, made, sizeof(made), 0600, false, err);
	if (r < 0 && r != IB_E_EXISTS)
		return r;
	if (!load_key(dir, name, key))
		return ib_fail(err, IB_E_IO, 0, "key '%s' is not a file of %d bytes; remove it", name, KEY_LEN);
	return 0;
}

int ib_redactor_new(const struct ib_ctx *ctx, const char *scope_dir, struct ib_redactor **ret, struct ib_err *err)
{
	struct ib_redactor *r;
	uint8_t key[KEY_LEN];
	struct ib_err why;

	if (keep_key(ctx, scope_dir, key, &why) < 0) {
		if (getrandom(key, sizeof(key), 0) != sizeof(key))
			return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
		ib_log(ctx, IB_LOG_WARNING, "no key is kept, so that labels cannot be compared with other captures: %s", why.text);
	}
	r = ib_redactor_with_key(key, sizeof(key), ctx->env);
	explicit_bzero(key, sizeof(key));
	*ret = r;
	return 0;
}

void ib_redactor_free(struct ib_redactor **r)
{
	if (!*r)
		return;
	explicit_bzero((*r)->key, KEY_LEN);
	free((*r)->home);
	ib_strv_clear(&(*r)->secrets);
	free(*r);
	*r = NULL;
}

void ib_pseudonym(const struct ib_redactor *r, const char *kind, const void *data, size_t n, char ret[IB_PSEUDONYM_LEN])
{
	ib_auto_buf struct ib_buf b = IB_BUF(SIZE_MAX / 4);
	uint8_t mac[IB_SHA256_LEN];

	ib_buf_add(&b, kind, strlen(kind) + 1); /* with its NUL, so that kind and data cannot run together */
	ib_buf_add(&b, data, n);
	ib_hmac_sha256(r->key, KEY_LEN, b.data, b.len, mac);
	explicit_bzero(b.data, b.len);
	ib_hex(mac, (IB_PSEUDONYM_LEN - 1) / 2, ret);
}

char *ib_redact_mark(const struct ib_redactor *r, const char *rule, const char *value, size_t n)
{
	char label[IB_PSEUDONYM_LEN];

	ib_pseudonym(r, "redacted", value, n, label);
	return ib_asprintf(IB_MARK "%s:%zu:%s>", rule, n, label);
}

static void add_mark(const struct ib_redactor *r, struct ib_buf *b, const char *rule, const char *value, size_t n)
{
	ib_auto_free char *mark = ib_redact_mark(r, rule, value, n);

	ib_buf_adds(b, mark);
}

/* The first literal secret at or behind from. */
static bool next_literal(const struct ib_redactor *r, const char *s, size_t n, size_t from, struct ib_hit *ret)
{
	bool any = false;

	for (size_t i = 0; i < r->secrets.n; i++) {
		const char *secret = r->secrets.v[i];
		const char *p = memmem(s + from, n - from, secret, strlen(secret));
		size_t at = p ? (size_t)(p - s) : 0, len = strlen(secret);

		if (p && (!any || at < ret->at || (at == ret->at && len > ret->n))) {
			*ret = (struct ib_hit){"literal", at, len};
			any = true;
		}
	}
	return any;
}

/* True where a path starts: "/root" in "system/root" is none. */
static bool path_starts(const char *s, const char *p)
{
	return p == s || (!ib_scan_alnum(p[-1]) && !strchr("_-.~/", p[-1]));
}

/* The home directory, where a path starts and a component ends behind it. */
static bool next_home(const struct ib_redactor *r, const char *s, size_t from, struct ib_hit *ret)
{
	size_t n = r->home ? strlen(r->home) : 0;

	for (const char *p = n ? strstr(s + from, r->home) : NULL; p; p = strstr(p + 1, r->home))
		if (path_starts(s, p) && strchr("/:;,\"' \n", p[n])) { /* or the end: strchr finds the NUL */
			*ret = (struct ib_hit){NULL, (size_t)(p - s), n};
			return true;
		}
	return false;
}

char *ib_redact_text(const struct ib_redactor *r, const char *s)
{
	size_t n = strlen(s), at = 0;
	struct ib_buf b = IB_BUF(SIZE_MAX / 4);

	for (;;) {
		struct ib_hit hit = {0}, other;
		bool any = ib_scan_next(s, n, at, IB_SCAN_STRICT | IB_SCAN_ENTROPY, &hit);

		if (next_literal(r, s, n, at, &other) && (!any || other.at <= hit.at)) {
			hit = other;
			any = true;
		}
		if (next_home(r, s, at, &other) && (!any || other.at < hit.at)) {
			hit = other;
			any = true;
		}
		if (!any)
			break;
		ib_buf_add(&b, s + at, hit.at - at);
		if (hit.rule)
			add_mark(r, &b, hit.rule, s + hit.at, hit.n);
		else
			ib_buf_addc(&b, '~');
		at = hit.at + hit.n;
	}
	ib_buf_add(&b, s + at, n - at);
	return ib_buf_steal(&b);
}

/* Length of the flag's or variable's name in an argument: "--api-key=x" gives 9 with *ret_name behind the dashes. */
static size_t name_in(const char *arg, const char **ret_name)
{
	const char *name = arg + strspn(arg, "-");

	*ret_name = name;
	return strcspn(name, "= \t\n\"'");
}

/* What follows a flag: nothing, one argument, or all up to the next flag. */
enum masks { MASK_NONE, MASK_ONE, MASK_ALL, MASK_USER };

static enum masks flag_masks(const char *arg)
{
	const char *name;
	size_t n = name_in(arg, &name);

	if (arg[0] != '-' || name[n] != '\0' || n == 0)
		return MASK_NONE;
	if (strcmp(arg, "-u") == 0 || strcmp(arg, "--user") == 0 || strcmp(arg, "--proxy-user") == 0)
		return MASK_USER;
	if (!ib_name_secret(name, n))
		return MASK_NONE;
	return strcasecmp(name, "api-key") == 0 || strcasecmp(name, "api_key") == 0 ? MASK_ALL : MASK_ONE;
}

/* NAME=VALUE and --flag=VALUE with a secret name: the whole value, whatever it holds. */
static char *redact_arg(const struct ib_redactor *r, const char *arg)
{
	const char *name, *value;
	size_t n = name_in(arg, &name);

	if (n == 0 || name[n] != '=' || !ib_name_secret(name, n) || name[n + 1] == '\0')
		return ib_redact_text(r, arg);
	value = name + n + 1;
	ib_auto_free char *mark = ib_redact_mark(r, "named-secret", value, strlen(value));

	return ib_asprintf("%.*s%s", (int)(value - arg), arg, mark);
}

/* True when an argument behind a secret flag is its value: also one that starts with a dash but is no long flag and no secret
 * flag itself. A flag that follows is rather masked than a secret kept. */
static bool is_value(const char *arg, enum masks masks)
{
	if (masks == MASK_NONE || masks == MASK_USER || !arg[0])
		return false;
	if (arg[0] != '-')
		return true;
	return masks == MASK_ONE && arg[1] && !ib_starts(arg, "--") && flag_masks(arg) == MASK_NONE;
}

/* "user:password" behind -u */
static char *redact_user(const struct ib_redactor *r, const char *arg)
{
	const char *colon = strchr(arg, ':');

	if (!colon || !colon[1])
		return ib_redact_text(r, arg);
	ib_auto_free char *mark = ib_redact_mark(r, "named-secret", colon + 1, strlen(colon + 1));

	return ib_asprintf("%.*s%s", (int)(colon + 1 - arg), arg, mark);
}

void ib_redact_argv(const struct ib_redactor *r, char *const *argv, struct ib_strv *ret)
{
	enum masks masks = MASK_NONE;

	for (; argv && *argv; argv++) {
		const char *arg = *argv;

		if (is_value(arg, masks)) {
			ib_strv_take(ret, ib_redact_mark(r, "named-secret", arg, strlen(arg)));
			masks = masks == MASK_ALL ? MASK_ALL : MASK_NONE;
			continue;
		}
		ib_strv_take(ret, masks == MASK_USER ? redact_user(r, arg) : redact_arg(r, arg));
		masks = flag_masks(arg);
	}
}

/* A text as JSON writes it between quotes. */
static char *json_escaped(const char *s)
{
	struct ib_buf b = IB_BUF(strlen(s) * 6 + 1);

	for (; *s; s++) {
		static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
		const char *p = strchr(named, *s);

		if (p)
			ib_buf_addf(&b, "\\%c", letters[p - named]);
		else if ((unsigned char)*s < 0x20)
			ib_buf_addf(&b, "\\u%04x", (unsigned char)*s);
		else
			ib_buf_addc(&b, *s);
	}
	return ib_buf_steal(&b);
}

static uint64_t line_of(const char *data, size_t at)
{
	uint64_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += data[i] == '\n';
	return line;
}

int ib_gate(const struct ib_redactor *r, const void *data, size_t n, const char *name, struct ib_err *err)
{
	struct ib_hit hit;

	if (n == 0)
		return 0;
	if (ib_scan_next(data, n, 0, 0, &hit))
		return ib_fail(err, IB_E_STATE, 0, "'%s' would hold a secret in line %llu (rule %s); nothing is written", name,
			       (unsigned long long)line_of(data, hit.at), hit.rule);
	for (size_t i = 0; i < r->secrets.n; i++) {
		ib_auto_free char *escaped = json_escaped(r->secrets.v[i]);
		const char *p = memmem(data, n, r->secrets.v[i], strlen(r->secrets.v[i]));

		if (!p)
			p = memmem(data, n, escaped, strlen(escaped));
		if (p)
			return ib_fail(err, IB_E_STATE, 0, "'%s' would hold the value of a secret variable in line %llu; nothing is written", name,
				       (unsigned long long)line_of(data, (size_t)(p - (const char *)data)));
	}
	return 0;
}
