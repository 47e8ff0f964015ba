/* SPDX-License-Identifier: Apache-2.0 */
/* What a client was told to do: from its command line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/client.h"

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
	};

	return names[key];
}

void ib_settings_clear(struct ib_settings *s)
{
	for (size_t i = 0; i < IB_SETTINGS; i++)
		free(s->v[i]);
	*s = (struct ib_settings){0};
}

/* Is word the last part of the path or word arg? */
static bool names(const char *arg, const char *word)
{
	const char *slash = strrchr(arg, '/');

	return strcmp(slash ? slash + 1 : arg, word) == 0;
}

/* Index behind the client's words, or 0: another command. */
static size_t match(const struct ib_client *c, const char *const *argv, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; c->command && i < n; i++) {
		if (names(argv[i], c->command[k]))
			k++;
		else if (k && argv[i][0] != '-')
			k = names(argv[i], c->command[0]);
		if (k && !c->command[k])
			return i + 1;
	}
	return 0;
}

static void take(const struct ib_client *c, const char *const *argv, size_t n, size_t i, struct ib_settings *s)
{
	const char *eq = strchr(argv[i], '=');
	size_t len = eq ? (size_t)(eq - argv[i]) : strlen(argv[i]);

	for (const struct ib_client_flag *f = c->flags; f && f->name; f++) {
		const char *value = eq ? eq + 1 : i + 1 < n ? argv[i + 1] : NULL;

		if (strlen(f->name) != len || strncmp(f->name, argv[i], len) != 0)
			continue;
		if (!eq && (!value || strncmp(value, "--", 2) == 0))
			value = "true"; /* a switch */
		ib_setting_put(s, f->sets, value, "the command line");
	}
}

const struct ib_client *ib_settings_from_argv(const char *const *argv, size_t n, struct ib_settings *s)
{
	for (size_t k = 0; ib_clients[k]; k++) {
		size_t at = match(ib_clients[k], argv, n);

		if (!at)
			continue;
		for (size_t i = n; i-- > at;) /* the last of equal flags counts */
			if (argv[i][0] == '-')
				take(ib_clients[k], argv, n, i, s);
		return ib_clients[k];
	}
	return NULL;
}

const struct ib_client *ib_settings_from_log(const char *text, size_t n, struct ib_settings *s)
{
	(void)text;
	(void)n;
	(void)s;
	return NULL; /* no client's printed configuration is known yet */
}
