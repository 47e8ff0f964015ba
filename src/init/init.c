/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a study: values are checked, the contract is composed, parsed as ib-run will, and written to a new file. */
#include "init/init.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "init/inside.h"
#include "model/contract.h"
#include "redact/redact.h"

#define TEXT_MAX 4096

/* --- what was given --- */

static int check_text(const char *what, const char *text, struct ib_err *err)
{
	const char *rule;

	if (!text)
		return 0;
	if (!*text || strlen(text) > TEXT_MAX || !ib_utf8_valid(text, strlen(text)))
		return ib_fail(err, IB_E_USAGE, 0, "%s must be a text in UTF-8 of at most %d bytes", what, TEXT_MAX);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return ib_fail(err, IB_E_USAGE, 0, "%s holds a control character", what);
	if (strspn(text, " ") == strlen(text))
		return ib_fail(err, IB_E_USAGE, 0, "%s is blank", what);
	rule = ib_scan_value(text, strlen(text));
	if (rule)
		return ib_fail(err, IB_E_USAGE, 0, "%s holds a secret (%s): write ${env:NAME} in a command, which is never recorded", what, rule);
	return 0;
}

static int check_endpoint(const char *text, struct ib_err *err)
{
	if (!text)
		return 0;
	if (!ib_starts(text, "http://") && !ib_starts(text, "https://"))
		return ib_fail(err, IB_E_USAGE, 0, "--endpoint is written http://HOST:PORT, not '%.200s'", text);
	if (strpbrk(text, " \"'<>\\?#@"))
		return ib_fail(err, IB_E_USAGE, 0, "--endpoint is only scheme, host, port and path, not '%.200s'", text);
	return 0;
}

/* Names of the table. */
static int check_known(const struct ib_init_options *o, struct ib_err *err)
{
	if (o->client && !ib_init_client_find(o->client))
		return ib_fail(err, IB_E_USAGE, 0, "no client is called '%.60s'; known: vllm, guidellm, aiperf, sglang, inference-perf, llama-bench, command", o->client);
	if (o->server && !ib_init_server_find(o->server))
		return ib_fail(err, IB_E_USAGE, 0, "no server is called '%.60s'; known: vllm, sglang, llamacpp, other", o->server);
	if (o->command && o->client && strcmp(o->client, "command") != 0)
		return ib_fail(err, IB_E_USAGE, 0, "a command of your own goes with --client command");
	return 0;
}

/* A name that stands in commands: no variable, and nothing that the client's own syntax takes apart. */
static int check_name(const struct ib_init_options *o, const char *what, const char *name, struct ib_err *err)
{
	if (!name)
		return 0;
	if (strstr(name, "${env:"))
		return ib_fail(err, IB_E_USAGE, 0, "%s must be the name itself", what);
	if (o->client && strcmp(o->client, "guidellm") == 0 && strchr(name, ','))
		return ib_fail(err, IB_E_USAGE, 0, "%s: GuideLLM's options cannot hold a name with a comma", what);
	return 0;
}

int ib_init_check(const struct ib_init_options *o, struct ib_err *err)
{
	const struct {
		const char *what, *text;
	} texts[] = {{"--endpoint", o->endpoint}, {"--model", o->model}, {"--tokenizer", o->tokenizer}, {"--permission", o->permission}};
	int r = check_known(o, err);

	for (size_t i = 0; r == 0 && i < IB_LEN(texts); i++)
		r = check_text(texts[i].what, texts[i].text, err);
	for (char *const *w = o->command; r == 0 && w && *w; w++)
		r = check_text("a word of the command", *w, err);
	if (r == 0)
		r = check_endpoint(o->endpoint, err);
	if (r == 0)
		r = check_name(o, "--model", o->model, err);
	return r < 0 ? r : check_name(o, "--tokenizer", o->tokenizer, err);
}

/* --- the document --- */

/* Without slashes at the end, and without the /v1 that some clients want in it. */
static char *base_url(const char *url)
{
	char *s = ib_strdup(url);

	for (size_t n = strlen(s); n > 8; n = strlen(s)) {
		if (s[n - 1] == '/')
			s[n - 1] = '\0';
		else if (n > 11 && strcmp(s + n - 3, "/v1") == 0)
			s[n - 3] = '\0';
		else
			break;
	}
	return s;
}

static int validate(const struct ib_buf *b, const struct ib_init_options *o, struct ib_err *err)
{
	ib_auto_contract struct ib_contract c = {0};
	char found[IB_SECRET_WORDS];
	struct ib_contract_options options = {ib_scan_words, found};
	int r = ib_contract_parse(ib_buf_str((struct ib_buf *)(uintptr_t)b), b->len, "contract.yaml", &options, &c, err);

	if (r < 0 && !o->permission && strstr(err->text, "'permission'"))
		return ib_fail(err, IB_E_USAGE, 0,
			       "the endpoint is neither this machine nor on a private network: --permission must say who allowed load on it, when and how much");
	return r < 0 ? ib_wrap(err, "these values make no contract") : 0;
}

int ib_init_compose(const struct ib_init_options *o, const char *study, struct ib_buf *ret, struct ib_err *err)
{
	const struct ib_init_client *client = ib_init_client_find(o->client ? o->client : "command");
	const struct ib_init_server *server = ib_init_server_find(o->server ? o->server : client->server);
	ib_auto_free char *endpoint = base_url(o->endpoint ? o->endpoint : server->endpoint);
	struct ib_init_values v = {
		.study = study,
		.endpoint = endpoint,
		.model = o->model ? o->model : client->in_process ? "model.gguf" : "my-model",
		.input_tokens = o->input_tokens ? o->input_tokens : 256,
		.output_tokens = o->output_tokens ? o->output_tokens : 64,
		.prompts = o->prompts ? o->prompts : 100,
		.cap = "1",
		.out = "{output_dir}",
		.workload = "workload/short.jsonl",
		.client = client,
		.server = server,
		.command = o->command,
	};
	int r;

	v.tokenizer = o->tokenizer ? o->tokenizer : v.model;
	ib_init_contract(ret, o, &v);
	r = ib_buf_check(ret, "the contract", err);
	return r < 0 ? r : validate(ret, o, err);
}

/* --- the study --- */

static char name_char(char c)
{
	c = (char)tolower((unsigned char)c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ? c : '-';
}

/* The directory's name, made into one that a contract takes. */
static void name_study(const char *dir, char ret[IB_NAME_MAX + 1])
{
	ib_auto_free char *whole = realpath(dir, NULL);
	const char *slash = whole ? strrchr(whole, '/') : NULL;
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : ""; *p && n < IB_NAME_MAX; p++) {
		char c = name_char(*p);

		if (n > 0 || (c != '-' && c != '_'))
			ret[n++] = c;
	}
	while (n > 0 && ret[n - 1] == '-')
		n--;
	ret[n] = '\0';
	if (!ib_name_valid(ret))
		snprintf(ret, IB_NAME_MAX + 1, "study");
}

static int check_free(const char *path, struct ib_err *err)
{
	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return ib_fail(err, IB_E_EXISTS, 0, "'%s' exists; it is left as it is: name another directory", path);
	return errno == ENOENT || errno == ENOTDIR ? 0 : ib_fail(err, IB_E_IO, errno, "cannot look at '%s'", path);
}

int ib_init_write(const struct ib_init_options *o, const char *dir, char **ret_path, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("%s/contract.yaml", dir);
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	char study[IB_NAME_MAX + 1];
	int r = check_free(path, err);

	if (r == 0) /* what does not parse leaves no directory behind */
		r = ib_init_compose(o, "study", &b, err);
	if (r == 0)
		r = ib_make_dirs(AT_FDCWD, dir, 0755, err);
	if (r < 0)
		return r;
	name_study(dir, study);
	ib_buf_reset(&b);
	r = ib_init_compose(o, study, &b, err);
	if (r == 0)
		r = ib_write_file(AT_FDCWD, path, ib_buf_str(&b), b.len, 0644, false, err);
	if (r == 0)
		*ret_path = ib_steal(&path);
	return r;
}
