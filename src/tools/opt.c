/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the tools. */
#include "tools/opt.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/exit.h"
#include "base/str.h"

#define MESSAGE_MAX (64u << 10)

static const struct ib_opt common[] = {
	{.id = IB_OPT_HELP, .letter = 'h', .name = "help", .help = "print this help and exit"},
	{.id = IB_OPT_VERSION, .letter = 'V', .name = "version", .help = "print the version and exit"},
	{0},
};

void ib_opt_init(struct ib_opt_state *s, const struct ib_tool *tool, int argc, char **argv)
{
	*s = (struct ib_opt_state){.tool = tool, .argc = argc, .at = 1, .argv = argv};
}

static const struct ib_opt *find(const struct ib_tool *tool, const char *name, size_t n, char letter)
{
	const struct ib_opt *const tables[] = {tool->opts, common};

	for (size_t t = 0; t < 2; t++)
		for (const struct ib_opt *o = tables[t]; o && o->id; o++) {
			if (letter && o->letter == letter)
				return o;
			if (!letter && o->name && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
				return o;
		}
	return NULL;
}

static int unknown_long(const struct ib_tool *tool, const char *word, struct ib_err *err)
{
	const char *names[64];
	const char *near;
	size_t n = 0;

	for (const struct ib_opt *o = tool->opts; o->id && n < 60; o++)
		if (o->name)
			names[n++] = o->name;
	names[n++] = "help";
	names[n++] = "version";
	names[n] = NULL;
	near = ib_nearest(word, names);
	if (near)
		return ib_fail(err, IB_E_USAGE, 0, "unknown option '--%s'; did you mean '--%s'?", word, near);
	return ib_fail(err, IB_E_USAGE, 0, "unknown option '--%s'", word);
}

static int next_long(struct ib_opt_state *s, const char *word, const char **ret_arg, struct ib_err *err)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	const struct ib_opt *o = find(s->tool, word, n, 0);

	if (!o) {
		char *bare = ib_strndup(word, n);
		int r = unknown_long(s->tool, bare, err);

		free(bare);
		return r;
	}
	if (equals && !o->metavar)
		return ib_fail(err, IB_E_USAGE, 0, "option '--%s' takes no argument", o->name);
	if (equals)
		*ret_arg = equals + 1;
	else if (o->metavar && s->at >= s->argc)
		return ib_fail(err, IB_E_USAGE, 0, "option '--%s' needs an argument: %s", o->name, o->metavar);
	else if (o->metavar)
		*ret_arg = s->argv[s->at++];
	return o->id;
}

static int next_letter(struct ib_opt_state *s, const char **ret_arg, struct ib_err *err)
{
	const struct ib_opt *o = find(s->tool, NULL, 0, *s->letters);

	if (!o)
		return ib_fail(err, IB_E_USAGE, 0, "unknown option '-%c'", *s->letters);
	s->letters++;
	if (o->metavar) {
		if (*s->letters)
			*ret_arg = s->letters;
		else if (s->at < s->argc)
			*ret_arg = s->argv[s->at++];
		else
			return ib_fail(err, IB_E_USAGE, 0, "option '-%c' needs an argument: %s", o->letter, o->metavar);
		s->letters = NULL;
	} else if (!*s->letters) {
		s->letters = NULL;
	}
	return o->id;
}

int ib_opt_next(struct ib_opt_state *s, const char **ret_arg, struct ib_err *err)
{
	char *word;

	*ret_arg = NULL;
	if (s->letters)
		return next_letter(s, ret_arg, err);
	if (s->at >= s->argc)
		return IB_OPT_END;
	word = s->argv[s->at];
	if (!s->operands_only && strcmp(word, "--") == 0) {
		s->at++;
		s->operands_only = true;
		if (s->tool->stop_at_operand || s->at >= s->argc)
			return IB_OPT_END;
		word = s->argv[s->at];
	}
	if (s->operands_only || word[0] != '-' || !word[1]) {
		if (s->tool->stop_at_operand)
			return IB_OPT_END;
		s->at++;
		*ret_arg = word;
		return IB_OPT_OPERAND;
	}
	s->at++;
	if (word[1] == '-')
		return next_long(s, word + 2, ret_arg, err);
	s->letters = word + 1;
	return next_letter(s, ret_arg, err);
}

static void print_row(const struct ib_opt *o)
{
	char left[80];
	int n;

	n = snprintf(left, sizeof(left), "  %c%c%s%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter && o->name ? ", " : "  ",
		     o->name ? "--" : "", o->name ? o->name : "", o->metavar ? " " : "", o->metavar ? o->metavar : "");
	if (n > 28)
		printf("%s\n%30s%s\n", left, "", o->help);
	else
		printf("%-30s%s\n", left, o->help);
}

int ib_opt_info(const struct ib_tool *tool, int id)
{
	if (id == IB_OPT_VERSION) {
		printf("%s (ibtools) %s%s%s\n", tool->name, PACKAGE_VERSION, IB_COMMIT[0] ? " " : "", IB_COMMIT);
		return ib_tool_finish(tool, IB_EXIT_OK);
	}
	for (size_t i = 0; tool->synopsis[i]; i++)
		printf("%s %s %s\n", i ? "      " : "usage:", tool->name, tool->synopsis[i]);
	printf("\n%s\n\n", tool->summary);
	for (const struct ib_opt *o = tool->opts; o->id; o++)
		print_row(o);
	for (const struct ib_opt *o = common; o->id; o++)
		print_row(o);
	printf("\nexit status:\n");
	for (size_t i = 0; tool->exits[i]; i++)
		printf("  %s\n", tool->exits[i]);
	return ib_tool_finish(tool, IB_EXIT_OK);
}

/* Messages may hold bytes of hostile input: a file's name, a word of a document. */
static void print_text(const char *text)
{
	ib_auto_buf struct ib_buf b = IB_BUF(MESSAGE_MAX);

	ib_escape_text(&b, text, MESSAGE_MAX / 10); /* a character becomes 10 bytes at most */
	fputs(ib_buf_str(&b), stderr);
}

int ib_tool_usage(const struct ib_tool *tool, const struct ib_err *err, int status)
{
	fprintf(stderr, "%s: ", tool->name);
	print_text(err->text);
	fprintf(stderr, "; try '%s --help'\n", tool->name);
	return status;
}

void ib_tool_say(const struct ib_tool *tool, const char *prefix, const char *text)
{
	fprintf(stderr, "%s: %s", tool->name, prefix);
	print_text(text);
	fputc('\n', stderr);
}

int ib_tool_error(const struct ib_tool *tool, const struct ib_err *err)
{
	fprintf(stderr, "%s: ", tool->name);
	print_text(err->text);
	fputc('\n', stderr);
	return ib_code_exit(err->code);
}

int ib_tool_finish(const struct ib_tool *tool, int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write standard output: %s\n", tool->name, strerror(errno));
		return IB_EXIT_UNDECIDED;
	}
	return status;
}
