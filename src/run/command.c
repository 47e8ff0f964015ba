/* SPDX-License-Identifier: Apache-2.0 */
/* command.json: what was run, redacted. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/inside.h"

#define COMMAND_SCHEMA "urn:ibtools:command:v1"

static json_t *redacted(const struct ib_redactor *r, const char *s)
{
	ib_auto_free char *text = ib_redact_text(r, s);

	return ib_json_str(text);
}

static json_t *argv_json(const struct ib_run *run)
{
	ib_auto_strv struct ib_strv list = {0};
	json_t *a = ib_json_array();

	ib_redact_argv(run->study->redactor, run->spec->argv, &list);
	for (size_t i = 0; i < list.n; i++)
		ib_json_add_str(a, list.v[i]);
	return a;
}

static json_t *cwd_json(const struct ib_run *run)
{
	ib_auto_free char *cwd = getcwd(NULL, 0);

	return cwd ? redacted(run->study->redactor, cwd) : NULL;
}

/* Allowed values, names of what is only present, and a count of all others. */
static json_t *environment_json(const struct ib_run *run)
{
	json_t *o = ib_json_object(), *values = ib_json_object(), *present = ib_json_array();
	int64_t others = 0;

	for (char *const *e = run->env; *e; e++) {
		size_t n = strcspn(*e, "=");
		ib_auto_free char *name = ib_strndup(*e, n);

		if (!(*e)[n] || !n)
			continue;
		switch (ib_env_rule(name)) {
		case IB_ENV_VALUE:
			ib_json_set(values, name, redacted(run->study->redactor, *e + n + 1));
			break;
		case IB_ENV_PRESENCE:
			ib_json_add_str(present, name);
			break;
		default:
			others++;
		}
	}
	ib_json_set(o, "values", values);
	ib_json_set(o, "present", present);
	ib_json_set_int(o, "others", others);
	return o;
}

/* Paths of the run are given below the study, so that they hold nothing of the machine. */
static json_t *placeholders_json(const struct ib_run *run)
{
	json_t *o = ib_json_object(), *all = ib_run_placeholders(run), *v;
	size_t n = strlen(run->study->path) + 1;
	const char *name;

	json_object_foreach(all, name, v)
		ib_json_set(o, name, redacted(run->study->redactor, json_string_value(v)));
	ib_json_set_str(o, "run_id", run->id);
	ib_json_set_str(o, "run_dir", run->dir + n);
	ib_json_set_str(o, "output_dir", run->output_dir + n);
	json_decref(all);
	return o;
}

static json_t *document(const struct ib_run *run, const char *withheld)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "schema", COMMAND_SCHEMA);
	ib_json_set(o, "argv", withheld ? NULL : argv_json(run));
	ib_json_set(o, "cwd", withheld ? NULL : cwd_json(run));
	ib_json_set(o, "environment", withheld ? NULL : environment_json(run));
	ib_json_set(o, "placeholders", withheld ? NULL : placeholders_json(run));
	ib_json_set_str(o, "withheld", withheld);
	return o;
}

int ib_run_write_command(struct ib_run *run, struct ib_err *err)
{
	ib_auto_json json_t *j = document(run, NULL);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	struct ib_err refused;
	int r;

	ib_json_write_pretty(j, &b);
	if (ib_buf_check(&b, "command.json", &refused) < 0 || ib_gate(run->study->redactor, b.data, b.len, "command.json", &refused) < 0) {
		ib_auto_json json_t *less = document(run, refused.text);

		ib_strv_take(&run->record->notes, ib_asprintf("the command is withheld: %s", refused.text));
		ib_buf_clear(&b);
		b = IB_BUF(IB_JSON_MAX);
		ib_json_write_pretty(less, &b);
	}
	r = ib_write_file(run->dir_fd, "command.json", b.data, b.len, 0644, false, err);
	if (r == 0)
		ib_sha256_of(b.data, b.len, run->record->command_sha256);
	return r;
}
