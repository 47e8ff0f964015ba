/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV form of ib-requests(5): a line with "#" and the header, the names of the columns, then one request a line. Read as it comes, as spreadsheets and
 * data frames write it: with a byte-order mark, carriage returns, quotes, whole numbers as "12.0". */
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/ib_requests.h"

#define PART (64u << 10)
#define LINE_MAX ((size_t)16 << 20) /* bytes of one line */
#define COLUMNS_MAX 256
#define MARK "\xef\xbb\xbf"

/* One record: its fields, each ended by a byte 0, one behind the other. */
struct record {
	struct ib_buf text;
	size_t at[COLUMNS_MAX], n;
};

struct csv {
	const struct ib_source *in;
	struct ib_requests_file *f;
	struct ib_stream_notes *notes;
	char part[PART];
	size_t n, at;
	bool ended;
	struct record rec;
	/* what each column is: an index into names, or -1 */
	int what[COLUMNS_MAX];
	size_t n_columns;
};

/* Columns besides the numbers. */
enum { INDEX = IB_REQUESTS_NUMBERS, WARMUP, GAPS, OUTCOME, CLASS, PROMPT_SHA256, PROMPT_ID, OUTPUT_ID, ALL };

static const char *name_of(int k)
{
	static const char *const others[] = {"index", "warmup", "itl_ns", "outcome", "error_class", "prompt_sha256", "prompt_id", "output_id"};

	return k < IB_REQUESTS_NUMBERS ? ib_requests_fields[k].name : others[k - INDEX];
}

static size_t mark_length(const char *data, size_t n)
{
	return n >= 3 && memcmp(data, MARK, 3) == 0 ? 3 : 0;
}

/* "#{"schema":…", or the same as a spreadsheet writes it back: in quotes, doubled. */
bool ib_requests_is_csv(const char *data, size_t n)
{
	static const char want[] = "#{\"schema\":\"urn:ibtools:requests:";
	size_t i = mark_length(data, n), k = 0;
	bool quoted = i < n && data[i] == '"';

	for (i += quoted; i < n && want[k]; i++) {
		if (data[i] == ' ' || data[i] == '\t')
			continue;
		if (data[i] != want[k++])
			return false;
		if (quoted && data[i] == '"' && (++i == n || data[i] != '"'))
			return false;
	}
	return !want[k];
}

/* --- bytes --- */

/* The next byte, or -1 at the end. */
static int next(struct csv *c, int *ret, struct ib_err *err)
{
	if (c->at == c->n && !c->ended) {
		int r = c->in->read(c->in->arg, c->part, PART, &c->n, err);

		if (r < 0)
			return r;
		c->at = 0;
		c->ended = c->n < PART;
	}
	*ret = c->at < c->n ? (unsigned char)c->part[c->at++] : -1;
	return 0;
}

static int line_fail(struct csv *c, struct ib_err *err, const char *what)
{
	return ib_requests_fail(c->f, err, "%s", what);
}

static int end_field(struct csv *c, struct ib_err *err)
{
	struct record *r = &c->rec;

	ib_buf_add(&r->text, "", 1);
	if (r->n == COLUMNS_MAX - 1)
		return ib_fail_at(err, IB_E_LIMIT, c->f->name, "'%s' line %llu: more than %d fields", c->f->name, (unsigned long long)c->f->line, COLUMNS_MAX - 1);
	r->at[++r->n] = r->text.len;
	return ib_buf_check(&r->text, c->f->name, err);
}

enum state { START, PLAIN, QUOTED, CLOSED, RETURN };

/* One byte of a record; *ret_done when it ends it. */
static int step(struct csv *c, int b, enum state *st, bool *ret_done, struct ib_err *err)
{
	if (b == 0)
		return line_fail(c, err, "a byte 0");
	if (*st == QUOTED) {
		if (b == '"')
			*st = CLOSED;
		else
			ib_buf_addc(&c->rec.text, (char)b);
		return 0;
	}
	if (*st == CLOSED && b == '"') {
		ib_buf_addc(&c->rec.text, '"');
		*st = QUOTED;
		return 0;
	}
	if (b == '\n') {
		*ret_done = true;
		return end_field(c, err);
	}
	if (*st == RETURN)
		return line_fail(c, err, "a carriage return within the line");
	if (b == ',') {
		*st = START;
		return end_field(c, err);
	}
	if (b == '\r') {
		c->notes->crlf = true;
		*st = RETURN;
		return 0;
	}
	if (*st == CLOSED || (*st == PLAIN && b == '"'))
		return line_fail(c, err, "a quote within a field: a field that holds one stands in quotes, and the quote is doubled");
	if (*st == START && b == '"') {
		*st = QUOTED;
		return 0;
	}
	*st = PLAIN;
	ib_buf_addc(&c->rec.text, (char)b);
	return 0;
}

/* The next record; *ret_more false at the end of the file. */
static int record(struct csv *c, bool *ret_more, struct ib_err *err)
{
	enum state st = START;
	bool done = false, newline = false;
	int b, r = 0;

	ib_buf_reset(&c->rec.text);
	c->rec.n = 0;
	c->rec.at[0] = 0;
	c->f->line++;
	*ret_more = false;
	while (r == 0 && !done) {
		r = next(c, &b, err);
		if (r < 0)
			return r;
		if (b < 0 && !*ret_more)
			return 0;
		if (b < 0)
			return line_fail(c, err, st == QUOTED ? "a quote is not closed" : "the last line is not whole: no line feed at its end");
		*ret_more = true;
		newline = st == QUOTED && b == '\n';
		r = step(c, b, &st, &done, err);
		c->f->line += newline && !done;
		if (r == 0)
			r = ib_buf_check(&c->rec.text, c->f->name, err);
	}
	return r;
}

static char *field(struct csv *c, size_t i)
{
	return c->rec.text.data + c->rec.at[i];
}

/* --- the first two lines --- */

/* Its first byte, behind a byte-order mark. */
static int first_byte(struct csv *c, int *ret, struct ib_err *err)
{
	int r = next(c, ret, err);

	c->notes->bom = r == 0 && *ret == 0xef; /* recognition saw it whole */
	for (int i = 0; r == 0 && c->notes->bom && i < 3; i++)
		r = next(c, ret, err);
	return r;
}

static int raw_line(struct csv *c, int b, struct ib_buf *ret, struct ib_err *err)
{
	int r = 0;

	c->f->line++;
	while (r == 0 && b >= 0 && b != '\n' && !ret->overflow) {
		ib_buf_addc(ret, (char)b);
		r = next(c, &b, err);
	}
	return r;
}

static int joined_cells(struct csv *c, struct ib_buf *ret, struct ib_err *err)
{
	bool more;
	int r;

	c->at--;
	r = record(c, &more, err);
	for (size_t i = 0; r == 0 && i < c->rec.n; i++)
		ib_buf_addf(ret, "%s%s", i ? "," : "", field(c, i));
	return r;
}

/* The first line as it stands, or, written back by a spreadsheet, its cells joined again. Behind the header such a program leaves empty cells. */
static int first_line(struct csv *c, struct ib_buf *ret, struct ib_err *err)
{
	int b, r = first_byte(c, &b, err);

	if (r == 0)
		r = b == '"' ? joined_cells(c, ret, err) : raw_line(c, b, ret, err);
	while (ret->len && strchr(",; \t\r", ret->data[ret->len - 1]))
		ret->len--;
	return r < 0 ? r : ib_buf_check(ret, c->f->name, err);
}

static int read_head(struct csv *c, struct ib_err *err)
{
	ib_auto_buf struct ib_buf line = IB_BUF(1u << 20);
	json_t *head = NULL;
	size_t at = 1;
	int r = first_line(c, &line, err);

	if (r < 0)
		return r;
	while (at < line.len && (line.data[at] == ' ' || line.data[at] == '\t'))
		at++;
	if (at >= line.len)
		return line_fail(c, err, "no header behind '#'");
	r = ib_json_load_foreign(line.data + at, line.len - at, c->f->name, &head, err);
	return r < 0 ? ib_wrap(err, "header line") : ib_requests_head(c->f, head, err);
}

static int name_column(struct csv *c, size_t i, struct ib_err *err)
{
	const char *name = field(c, i);

	c->what[i] = -1;
	for (int k = 0; k < ALL; k++)
		if (strcmp(name, name_of(k)) == 0)
			c->what[i] = k;
	for (size_t k = 0; k < i && c->what[i] >= 0; k++)
		if (c->what[k] == c->what[i])
			return ib_requests_fail(c->f, err, "two columns are called '%.60s'", name);
	return 0;
}

static bool has_column(const struct csv *c, int what)
{
	for (size_t i = 0; i < c->n_columns; i++)
		if (c->what[i] == what)
			return true;
	return false;
}

static int read_names(struct csv *c, struct ib_err *err)
{
	bool more;
	int r = record(c, &more, err);

	if (r < 0)
		return r;
	if (!more)
		return line_fail(c, err, "the line that names the columns is not there");
	if (c->rec.n == 1 && strchr(field(c, 0), ';'))
		return line_fail(c, err, "the columns are separated by ';': save the file with commas");
	c->n_columns = c->rec.n;
	for (size_t i = 0; r == 0 && i < c->n_columns; i++)
		r = name_column(c, i, err);
	if (r == 0 && (!has_column(c, INDEX) || !has_column(c, OUTCOME)))
		return line_fail(c, err, "no column is called 'index', or none 'outcome'");
	return r;
}

/* --- one request --- */

/* Digits, also as a data frame with gaps in it writes them: "12.0". */
static int read_number(struct csv *c, int k, const char *text, int64_t *ret, struct ib_err *err)
{
	size_t n = strspn(text, "0123456789"), end = n;

	if (text[n] == '.' && text[n + 1] == '0')
		end = n + 1 + strspn(text + n + 1, "0");
	if (!n || n > 16 || text[end])
		return ib_requests_fail(c->f, err, "column '%s' holds '%.40s': it takes a whole number in digits, without separators, or nothing", name_of(k),
					text);
	*ret = 0;
	for (size_t i = 0; i < n; i++)
		*ret = *ret * 10 + (text[i] - '0');
	return *ret < IB_REQUESTS_MAX ? 0 : ib_requests_fail(c->f, err, "column '%s' holds '%.40s', which is above 2^53-1", name_of(k), text);
}

static int read_warmup(struct csv *c, const char *text, bool *ret, struct ib_err *err)
{
	*ret = strcasecmp(text, "true") == 0;
	if (!*ret && strcasecmp(text, "false") != 0)
		return ib_requests_fail(c->f, err, "column 'warmup' holds '%.40s': it takes true or false, or nothing", text);
	return 0;
}

static int read_gaps(struct csv *c, char *text, struct ib_requests_row *row, struct ib_err *err)
{
	int64_t v;
	int r = 0;

	row->has_gaps = true;
	if (strcmp(text, "-") == 0)
		return 0;
	while (r == 0 && text) {
		char *one = strsep(&text, ";");

		r = read_number(c, GAPS, one, &v, err);
		if (r == 0)
			ib_reals_add(&row->gaps, (double)v);
	}
	return r;
}

static int take(struct csv *c, int k, char *text, struct ib_requests_row *row, struct ib_err *err)
{
	switch (k) {
	case INDEX:
		return read_number(c, k, text, &row->index, err);
	case WARMUP:
		return read_warmup(c, text, &row->warmup, err);
	case GAPS:
		return read_gaps(c, text, row, err);
	case OUTCOME:
		row->outcome = ib_strdup(text);
		return 0;
	case CLASS:
		row->error_class = ib_strdup(text);
		return 0;
	case PROMPT_SHA256:
	case PROMPT_ID:
		if (!row->prompt)
			row->prompt = ib_strdup(text);
		return 0;
	case OUTPUT_ID:
		row->output = ib_strdup(text);
		return 0;
	default:
		return read_number(c, k, text, &row->v[k], err);
	}
}

static int read_request(struct csv *c, struct ib_requests_row *row, struct ib_err *err)
{
	if (c->rec.n != c->n_columns)
		return ib_requests_fail(c->f, err, "%zu fields where %zu columns have a name (a number with a comma in it makes two)", c->rec.n, c->n_columns);
	ib_requests_row_reset(row);
	for (size_t i = 0; i < c->n_columns; i++) {
		char *text = field(c, i);
		int r = *text && c->what[i] >= 0 ? take(c, c->what[i], text, row, err) : 0;

		if (r < 0)
			return r;
	}
	return ib_requests_add(c->f, row, err);
}

static int read_all(struct csv *c, struct ib_err *err)
{
	struct ib_requests_row row = {0};
	bool more = true;
	int r = read_head(c, err);

	if (r == 0)
		r = read_names(c, err);
	while (r == 0) {
		r = record(c, &more, err);
		if (r < 0 || !more)
			break;
		r = read_request(c, &row, err);
	}
	ib_requests_row_clear(&row);
	return r;
}

int ib_requests_read_csv(const struct ib_source *in, struct ib_requests_file *f, struct ib_stream_notes *notes, struct ib_err *err)
{
	struct csv *c = ib_alloc(sizeof(*c));
	int r;

	c->in = in;
	c->f = f;
	c->notes = notes;
	c->rec.text = IB_BUF(LINE_MAX);
	r = read_all(c, err);
	ib_buf_clear(&c->rec.text);
	free(c);
	return r;
}
