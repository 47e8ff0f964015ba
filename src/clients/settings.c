/* SPDX-License-Identifier: Apache-2.0 */
/* What a client was told to do: the settings, and how they are taken from its command line. */
#include "clients/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/words.h"

void ib_setting_put(struct ib_settings *s, enum ib_setting_key key, const char *text, const char *from)
{
	if (!text || s->v[key] || key == IB_SET_NOTHING)
		return;
	s->v[key] = ib_strdup(text);
	s->from[key] = from;
}

double ib_setting_number(const struct ib_settings *s, enum ib_setting_key key)
{
	const char *text = s->v[key];
	char *end;
	double v;

	if (!text || !*text)
		return NAN;
	v = strtod(text, &end);
	return *end ? NAN : v;
}

const char *ib_setting_name(enum ib_setting_key key)
{
	static const char *const names[IB_SETTINGS] = {
		[IB_SET_MODEL] = "model",
		[IB_SET_MODEL_REVISION] = "model_revision",
		[IB_SET_TOKENIZER] = "tokenizer",
		[IB_SET_ENDPOINT] = "endpoint",
		[IB_SET_DATASET] = "dataset",
		[IB_SET_SEED] = "seed",
		[IB_SET_REQUESTS] = "requests",
		[IB_SET_WARMUPS] = "warmups",
		[IB_SET_CONCURRENCY] = "concurrency",
		[IB_SET_RATE] = "rate",
		[IB_SET_INPUT_LEN] = "input_len",
		[IB_SET_OUTPUT_LEN] = "output_len",
		[IB_SET_DURATION] = "duration",
		[IB_SET_IGNORE_EOS] = "ignore_eos",
		[IB_SET_TEMPERATURE] = "temperature",
		[IB_SET_GOODPUT] = "goodput",
		[IB_SET_BACKEND] = "backend",
		[IB_SET_LENGTH_RANGE] = "length_range",
		[IB_SET_READY_CHECK] = "ready_check",
	};

	return names[key];
}

void ib_settings_clear(struct ib_settings *s)
{
	for (size_t i = 0; i < IB_SETTINGS; i++)
		free(s->v[i]);
	*s = (struct ib_settings){0};
}

bool ib_setting_same_name(const char *a, size_t n, const char *b)
{
	size_t end, at = strspn(a, "-");

	b += strspn(b, "-");
	end = strcspn(b, "/");
	if (at >= n || n - at != end)
		return false;
	for (size_t i = 0; i < end; i++)
		if (a[at + i] != b[i] && !((a[at + i] == '_' || a[at + i] == '-') && (b[i] == '_' || b[i] == '-')))
			return false;
	return true;
}

/* --- one table of flags --- */

char *ib_setting_url(const char *url)
{
	const char *host = strstr(url, "://"), *at, *end;
	size_t scheme;

	host = host ? host + 3 : url;
	scheme = (size_t)(host - url);
	end = host + strcspn(host, "?#");
	at = memrchr(host, '@', strcspn(host, "/?#"));
	host = at ? at + 1 : host;
	return ib_asprintf("%.*s%.*s", (int)scheme, url, (int)(end - host), host);
}

/* Does the flag speak of another kind of data set than the one that was used? */
static bool of_other_data(const char *name, const struct ib_settings *s)
{
	static const char *const kinds[] = {"random", "custom", "sharegpt", "sonnet", "hf", "prefix_repetition", "spec_bench", "speed_bench", "blazedit", "gsp"};
	const char *data = s->v[IB_SET_DATASET];

	name += strspn(name, "-");
	for (size_t i = 0; data && i < IB_LEN(kinds); i++) {
		size_t n = strlen(kinds[i]);

		if (strlen(name) > n && (name[n] == '_' || name[n] == '-') && ib_setting_same_name(name, n, kinds[i]))
			return strncmp(data, kinds[i], n) != 0;
	}
	return false;
}

static bool is_length(enum ib_setting_key key)
{
	return key == IB_SET_INPUT_LEN || key == IB_SET_OUTPUT_LEN || key == IB_SET_LENGTH_RANGE;
}

static void take(const struct ib_client_flag *f, const struct ib_given *given, struct ib_settings *s)
{
	ib_auto_free char *value = NULL, *url = NULL;

	if (f->sets == IB_SET_NOTHING || s->v[f->sets] || (is_length(f->sets) && of_other_data(f->name, s)))
		return;
	value = given->find(given->arg, f->name, f->sets == IB_SET_GOODPUT);
	if (!value || strlen(value) > IB_SETTING_MAX || (is_length(f->sets) && value[0] == '-'))
		return;
	if (f->sets == IB_SET_ENDPOINT)
		url = ib_setting_url(value);
	ib_setting_put(s, f->sets, url ? url : value, given->from);
}

/* Clients that are given host and port instead of an address. */
static void take_host(const struct ib_given *given, struct ib_settings *s)
{
	ib_auto_free char *host = given->find(given->arg, "--host", false), *port = given->find(given->arg, "--port", false), *url = NULL;

	if (s->v[IB_SET_ENDPOINT] || !host || !port || strlen(host) + strlen(port) > IB_SETTING_MAX)
		return;
	url = ib_asprintf("http://%s:%s", host, port);
	free(host);
	host = ib_setting_url(url);
	ib_setting_put(s, IB_SET_ENDPOINT, host, given->from);
}

void ib_settings_apply(const struct ib_client *c, const struct ib_given *given, struct ib_settings *s)
{
	bool host = false;

	for (const struct ib_client_flag *f = c->flags; f && f->name; f++)
		if (f->sets == IB_SET_DATASET) /* first: lengths depend on it */
			take(f, given, s);
	for (const struct ib_client_flag *f = c->flags; f && f->name; f++) {
		take(f, given, s);
		host = host || strcmp(f->name, "--host") == 0;
	}
	if (host)
		take_host(given, s);
}

void ib_settings_agree(struct ib_settings *s, struct ib_settings *other, bool first)
{
	for (size_t i = 0; i < IB_SETTINGS; i++) {
		if (first) {
			ib_setting_put(s, (enum ib_setting_key)i, other->v[i], other->from[i]);
		} else if (s->v[i] && !ib_streq(s->v[i], other->v[i])) {
			free(s->v[i]);
			s->v[i] = NULL;
			s->from[i] = NULL;
		}
	}
	ib_settings_clear(other);
}

/* --- command lines --- */

struct args {
	const char *const *v;
	size_t n;
	bool text; /* not the words that a process got, but what a person wrote: "$x" stands for a value that is not known */
};

/* Is one of the words in want (separated by "|") the last part of the path or word arg? */
static bool names(const char *arg, const char *want)
{
	const char *slash = strrchr(arg, '/'), *word = slash ? slash + 1 : arg;
	size_t len = strlen(word);

	for (const char *at = want; *at;) {
		size_t n = strcspn(at, "|");

		if (n == len && strncmp(at, word, n) == 0)
			return true;
		at += n + (at[n] == '|');
	}
	return false;
}

/* Index behind the words, which end with NULL or "", or 0: another command. */
static size_t match_words(const char *const *words, const struct args *a)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (names(a->v[i], words[k]))
			k++;
		else if (k && a->v[i][0] != '-')
			k = names(a->v[i], words[0]);
		if (k && (!words[k] || !*words[k]))
			return i + 1;
	}
	return 0;
}

static size_t match(const struct ib_client *c, const struct args *a)
{
	const char *const *words = c->command;
	size_t at = 0;

	while (words && *words && !at) {
		at = match_words(words, a);
		while (*words && **words)
			words++;
		words += *words != NULL;
	}
	return at;
}

/* The value of key in "key=value,key=value". */
static char *part(const char *list, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = list; *at;) {
		size_t len = strcspn(at, ",");

		if (len > n && at[n] == '=' && strncmp(at, key, n) == 0)
			return ib_strndup(at + n + 1, len - n - 1);
		at += len + (at[len] == ',');
	}
	return NULL;
}

/* What follows flag i, to the next flag. */
static char *joined(const struct args *a, size_t i)
{
	ib_auto_buf struct ib_buf b = IB_BUF(2 * IB_SETTING_MAX);

	for (size_t k = i + 1; k < a->n && a->v[k][0] != '-'; k++)
		ib_buf_addf(&b, "%s%s", b.len ? " " : "", a->v[k]);
	return ib_buf_steal(&b);
}

static char *value_of(const struct args *a, size_t i, const char *eq, bool many)
{
	if (eq)
		return ib_strdup(eq + 1);
	if (i + 1 == a->n || strncmp(a->v[i + 1], "--", 2) == 0)
		return ib_strdup("true"); /* a switch */
	return many ? joined(a, i) : ib_strdup(a->v[i + 1]);
}

/* The last of equal flags counts. */
static char *find_arg(const void *arg, const char *name, bool many)
{
	const struct args *a = arg;
	const char *slash = strchr(name, '/');

	for (size_t i = a->n; name[0] == '-' && i-- > 0;) {
		const char *eq = strchr(a->v[i], '=');
		ib_auto_free char *value = NULL;

		if (a->v[i][0] != '-' || !ib_setting_same_name(a->v[i], eq ? (size_t)(eq - a->v[i]) : strlen(a->v[i]), name))
			continue;
		value = value_of(a, i, eq, many);
		if (a->text && strpbrk(value, "$`"))
			return NULL;
		return slash ? part(value, slash + 1) : ib_steal(&value);
	}
	return NULL;
}

static const struct ib_client *from_args(const struct args *a, struct ib_settings *s)
{
	for (size_t k = 0; a->n && ib_clients[k]; k++) {
		size_t at = match(ib_clients[k], a);
		const struct args rest = {a->v + at, a->n - at, a->text};
		const struct ib_given given = {find_arg, &rest, "the command line"};

		if (!at)
			continue;
		ib_settings_apply(ib_clients[k], &given, s);
		return ib_clients[k];
	}
	return NULL;
}

const struct ib_client *ib_settings_from_argv(const char *const *argv, size_t n, struct ib_settings *s)
{
	const struct args a = {argv, n, false};

	return from_args(&a, s);
}

const struct ib_client *ib_settings_from_command(const char *text, size_t n, struct ib_settings *s)
{
	struct ib_words w = ib_words_of(text, n);
	ib_auto_strv struct ib_strv words = {0};
	struct ib_settings all = {0}, one = {0};
	const struct ib_client *client = NULL;

	while (ib_words_command(&w, &words)) {
		const struct args a = {(const char *const *)words.v, words.n, true};
		const struct ib_client *c = from_args(&a, &one);

		if (c && (!client || c == client))
			ib_settings_agree(&all, &one, !client);
		ib_settings_clear(&one);
		client = client ? client : c;
	}
	ib_settings_agree(s, &all, true);
	return client;
}

/* Names that load generators have in common. */
static const struct ib_client_flag common[] = {
	{"--model", IB_SET_MODEL},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--base-url", IB_SET_ENDPOINT},
	{"--url", IB_SET_ENDPOINT},
	{"--seed", IB_SET_SEED},
	{"--random-seed", IB_SET_SEED},
	{"--num-prompts", IB_SET_REQUESTS},
	{"--num-requests", IB_SET_REQUESTS},
	{"--request-count", IB_SET_REQUESTS},
	{"--num-warmups", IB_SET_WARMUPS},
	{"--max-concurrency", IB_SET_CONCURRENCY},
	{"--concurrency", IB_SET_CONCURRENCY},
	{"--request-rate", IB_SET_RATE},
	{"--rate", IB_SET_RATE},
	{"--input-tokens", IB_SET_INPUT_LEN},
	{"--input-len", IB_SET_INPUT_LEN},
	{"--output-tokens", IB_SET_OUTPUT_LEN},
	{"--output-len", IB_SET_OUTPUT_LEN},
	{"--temperature", IB_SET_TEMPERATURE},
	{NULL, IB_SET_NOTHING},
};

void ib_settings_from_flags(const char *const *argv, size_t n, struct ib_settings *s)
{
	static const struct ib_client any = {.name = "any", .flags = common};
	const struct args a = {argv, n, false};
	const struct ib_given given = {find_arg, &a, "the command line"};

	ib_settings_apply(&any, &given, s);
}
