/* SPDX-License-Identifier: Apache-2.0 */
/* The loopback example from inside: tokens, prefix cache, faults, hostile requests to the endpoint, hostile replies to the client. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"
#include "examples/loopback/load.h"
#include "examples/loopback/loopback.h"
#include "unit.h"

static void count_token(void *arg, uint32_t id)
{
	(void)id;
	++*(size_t *)arg;
}

static void test_loopback_prompts_have_the_asked_length(void)
{
	static const size_t lengths[] = {1, 2, 3, 64, 1000};

	for (size_t i = 0; i < IB_LEN(lengths); i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
		size_t n = 0;

		lb_prompt(7, i, lengths[i], &b);
		lb_tokens(b.data, b.len, count_token, &n);
		CU_ASSERT_EQUAL(n, lengths[i]);
	}
}

static void test_loopback_prompts_differ_in_their_first_word(void)
{
	ib_auto_strv struct ib_strv words = {0};

	for (size_t i = 0; i < 2000; i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

		lb_prompt(7, i, 2, &b);
		ib_strv_add(&words, ib_buf_str(&b));
	}
	ib_strv_sort(&words);
	for (size_t i = 1; i < words.n; i++)
		CU_ASSERT_STRING_NOT_EQUAL(words.v[i - 1], words.v[i]);
}

static void test_loopback_long_words_are_several_tokens(void)
{
	static const char text[] = "twelve_bytes thirteen_byte \t\n twenty_four_bytes_in_all";
	size_t n = 0;

	lb_tokens(text, strlen(text), count_token, &n);
	CU_ASSERT_EQUAL(n, 1 + 2 + 2);
}

static void fill(uint32_t *v, size_t n, uint32_t first)
{
	for (size_t i = 0; i < n; i++)
		v[i] = first + (uint32_t)i;
}

static void test_loopback_cache_never_holds_the_last_token(void)
{
	struct lb_cache *c = lb_cache_new(100, 4);
	uint32_t v[9];

	fill(v, 9, 1);
	CU_ASSERT_EQUAL(lb_cache_use(c, v, 8), 0);
	CU_ASSERT_EQUAL(lb_cache_use(c, v, 8), 4); /* the second block ends with the last token */
	CU_ASSERT_EQUAL(lb_cache_use(c, v, 9), 8);
	CU_ASSERT_EQUAL(lb_cache_use(c, v, 3), 0);
	v[0] = 99; /* another beginning: nothing behind it counts */
	CU_ASSERT_EQUAL(lb_cache_use(c, v, 9), 0);
	lb_cache_reset(c);
	CU_ASSERT_EQUAL(lb_cache_use(c, v, 9), 0);
	lb_cache_free(&c);
	CU_ASSERT_PTR_NULL(c);
}

static void test_loopback_cache_drops_the_least_recently_used(void)
{
	struct lb_cache *c = lb_cache_new(3, 2);
	uint32_t a[3], b[3], d[3], e[3];

	fill(a, 3, 10);
	fill(b, 3, 20);
	fill(d, 3, 30);
	fill(e, 3, 40);
	CU_ASSERT_EQUAL(lb_cache_use(c, a, 3) + lb_cache_use(c, b, 3) + lb_cache_use(c, d, 3), 0);
	CU_ASSERT_EQUAL(lb_cache_use(c, a, 3), 2); /* a is the newest now, b the oldest */
	CU_ASSERT_EQUAL(lb_cache_use(c, e, 3), 0);
	CU_ASSERT_EQUAL(lb_cache_use(c, a, 3), 2);
	CU_ASSERT_EQUAL(lb_cache_use(c, d, 3), 2);
	CU_ASSERT_EQUAL(lb_cache_use(c, b, 3), 0);
	lb_cache_free(&c);
}

static void test_loopback_fault_share_is_exact(void)
{
	for (int64_t seed = 0; seed < 20; seed++) {
		struct lb_server s = {.config = {.seed = seed, .fault_ppm[LB_FAULT_HTTP500] = 250000}, .lock = PTHREAD_MUTEX_INITIALIZER};
		int window = 0;
		bool faults[1000];

		for (int i = 0; i < 1000; i++) {
			struct lb_job job = {0};

			faults[i] = lb_engine_arrive(&s, &job) == LB_FAULT_HTTP500;
			window += faults[i] - (i >= 40 ? faults[i - 40] : 0);
			if (i >= 39)
				CU_ASSERT_EQUAL(window, 10);
		}
	}
}

static void test_loopback_fault_share_of_all_and_none(void)
{
	static const int64_t shares[] = {0, 1000000};

	for (size_t k = 0; k < IB_LEN(shares); k++) {
		struct lb_server s = {.config = {.seed = 5, .fault_ppm[LB_FAULT_HANG] = shares[k]}, .lock = PTHREAD_MUTEX_INITIALIZER};

		for (int i = 0; i < 100; i++) {
			struct lb_job job = {0};

			CU_ASSERT_EQUAL(lb_engine_arrive(&s, &job), shares[k] ? LB_FAULT_HANG : LB_FAULT_NONE);
		}
	}
}

static void test_loopback_faults_share_the_requests(void)
{
	struct lb_config config = {.seed = 9};
	int seen[LB_FAULTS] = {0};
	struct ib_err err;

	CU_ASSERT_EQUAL(lb_fault_parse("http503=0.25", &config, &err), 0);
	CU_ASSERT_EQUAL(lb_fault_parse("hang=0.5", &config, &err), 0);
	CU_ASSERT_EQUAL(lb_fault_parse("early_stop=0.3", &config, &err), IB_E_USAGE); /* together above 1 */
	config.fault_ppm[LB_FAULT_EARLY_STOP] = 0;
	CU_ASSERT_EQUAL(lb_fault_parse("early_stop=0.25", &config, &err), 0);
	for (uint64_t i = 0; i < 1000; i++)
		seen[lb_fault_of(&config, i)]++;
	CU_ASSERT_EQUAL(seen[LB_FAULT_NONE], 0);
	CU_ASSERT_EQUAL(seen[LB_FAULT_HTTP503], 250);
	CU_ASSERT(seen[LB_FAULT_HANG] >= 499 && seen[LB_FAULT_HANG] <= 501);
	CU_ASSERT_EQUAL(seen[LB_FAULT_HTTP503] + seen[LB_FAULT_HANG] + seen[LB_FAULT_EARLY_STOP], 1000);
}

static void test_loopback_fault_words(void)
{
	static const char *const wrong[] = {"", "http500", "http500=", "http500=x", "http500=1.1", "http500=-0.1", "http500=nan", "http50=1", "slow_start=1", "=1"};
	struct lb_config config = {0};
	struct ib_err err;

	for (size_t i = 0; i < IB_LEN(wrong); i++)
		CU_ASSERT_EQUAL(lb_fault_parse(wrong[i], &config, &err), IB_E_USAGE);
}

/* --- the endpoint on a real socket --- */

static void *serve(void *arg)
{
	struct ib_err err;

	CU_ASSERT_EQUAL(lb_server_run(arg, &err), 0);
	return NULL;
}

static struct sockaddr_in address(int64_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

/* Sends raw bytes, ends the sending side, returns all that comes back. */
static char *talk(int64_t port, const char *raw, size_t n)
{
	struct sockaddr_in a = address(port);
	struct timeval limit = {.tv_sec = 20};
	ib_auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ib_buf b = IB_BUF(8u << 20);
	ssize_t k;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)!send(fd, raw, n, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	do {
		char *room = ib_buf_room(&b, 65536);

		k = room ? recv(fd, room, 65536, 0) : 0;
		if (k > 0)
			b.len += (size_t)k;
	} while (k > 0);
	ib_buf_addc(&b, '\0');
	return ib_buf_steal(&b);
}

static const struct {
	const char *name, *raw;
	const char *want; /* start of the answer; "": none */
	size_t n;         /* bytes of raw where it holds a NUL */
} requests[] = {
	{"health", "GET /health HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200"},
	{"HTTP/1.0 needs no host", "GET /health HTTP/1.0\r\n\r\n", "HTTP/1.1 200"},
	{"two in a row", "GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"},
	{"nothing", "", ""},
	{"half a request line", "GET /hea", ""},
	{"half a body", "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"pro", ""},
	{"only an empty line", "\r\n\r\n", "HTTP/1.1 400"},
	{"garbage", "\x16\x03\x01\x02\x00\x01\r\n\r\n", "HTTP/1.1 400", 10},
	{"no host", "GET /health HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
	{"no version", "GET /health\r\n\r\n", "HTTP/1.1 400"},
	{"HTTP/2", "GET /health HTTP/2.0\r\nHost: x\r\n\r\n", "HTTP/1.1 505"},
	{"no path", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"},
	{"an absolute path only", "GET health HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"},
	{"a long method", "GETGETGETGETGET /health HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"},
	{"an unknown method", "BREW /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 405"},
	{"bare line feeds", "GET /health HTTP/1.1\nHost: x\n\r\n\r\n", "HTTP/1.1 400"},
	{"a NUL in a header", "GET /health HTTP/1.1\r\nHost: x\0y\r\n\r\n", "HTTP/1.1 400", 35},
	{"a header without colon", "GET /health HTTP/1.1\r\nHost x\r\n\r\n", "HTTP/1.1 400"},
	{"a folded header", "GET /health HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", "HTTP/1.1 400"},
	{"a blank before the colon", "GET /health HTTP/1.1\r\nHost : x\r\n\r\n", "HTTP/1.1 400"},
	{"two lengths", "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 400"},
	{"a negative length", "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n{}", "HTTP/1.1 400"},
	{"a length with a sign", "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\n{}", "HTTP/1.1 400"},
	{"a huge length", "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n{}", "HTTP/1.1 400"},
	{"a large length", "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n\r\n{}", "HTTP/1.1 413"},
	{"a chunked body", "POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 411"},
	{"no JSON", "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{]", "HTTP/1.1 400"},
	{"no object", "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 400"},
	{"no body", "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"},
	{"a prompt of the wrong type", "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{\"prompt\":7}", "HTTP/1.1 400"},
	{"negative token ids", "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 15\r\n\r\n{\"prompt\":[-1]}", "HTTP/1.1 400"},
	{"a message without content",
	 "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 30\r\n\r\n{\"messages\":[{\"role\":\"user\"}]}",
	 "HTTP/1.1 400"},
	{"no tokens asked",
	 "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 29\r\n\r\n{\"prompt\":\"a\",\"max_tokens\":0} ",
	 "HTTP/1.1 400"},
};

static void many_headers(int64_t port)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	char *got;

	ib_buf_adds(&b, "GET /health HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < 100; i++)
		ib_buf_addf(&b, "X-%d: y\r\n", i);
	ib_buf_adds(&b, "\r\n");
	got = talk(port, b.data, b.len);
	CU_ASSERT(ib_starts(got, "HTTP/1.1 431"));
	free(got);
}

static void large_header(int64_t port)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	char *got;

	ib_buf_adds(&b, "GET /health HTTP/1.1\r\nHost: ");
	for (int i = 0; i < 20000; i++)
		ib_buf_addc(&b, 'x');
	ib_buf_adds(&b, "\r\n\r\n");
	got = talk(port, b.data, b.len);
	CU_ASSERT(ib_starts(got, "HTTP/1.1 431"));
	free(got);
}

static void deep_body(int64_t port)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	char *got;

	ib_buf_adds(&b, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n");
	for (int i = 0; i < 100000; i++)
		ib_buf_addc(&b, '[');
	got = talk(port, b.data, b.len);
	CU_ASSERT(ib_starts(got, "HTTP/1.1 400"));
	free(got);
}

static void test_loopback_endpoint_survives_hostile_requests(void)
{
	struct lb_config config = {.block_tokens = 16, .cache_blocks = 64, .max_running = 2, .max_model_len = 100, .model = "m"};
	struct lb_server server;
	struct ib_err err;
	pthread_t thread;
	sigset_t set, before;
	int64_t port;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	CU_ASSERT_EQUAL_FATAL(lb_server_open(&server, &config, &port, &err), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, serve, &server), 0);
	for (size_t i = 0; i < IB_LEN(requests); i++) {
		char *got = talk(port, requests[i].raw, requests[i].n ? requests[i].n : strlen(requests[i].raw));
		bool good = requests[i].want[0] ? ib_starts(got, requests[i].want) : !*got;

		if (!good)
			printf("# %s: %.60s\n", requests[i].name, got);
		CU_ASSERT(good);
		free(got);
	}
	many_headers(port);
	large_header(port);
	deep_body(port);
	kill(getpid(), SIGTERM);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(server.connections, 0);
	lb_server_close(&server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- the client against replies written here --- */

struct script {
	int listen_fd;
	const char *reply;
};

static void *play(void *arg)
{
	const struct script *s = arg;
	char buf[65536];
	int fd = accept(s->listen_fd, NULL, NULL);

	(void)!recv(fd, buf, sizeof(buf), 0);
	(void)!send(fd, s->reply, strlen(s->reply), MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		;
	close(fd);
	return NULL;
}

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
#define PIECE "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"length\"}]}\n\n"
#define USAGE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n"
#define DONE "data: [DONE]\n\n"

static const struct {
	const char *name, *reply;
	enum ld_outcome outcome;
	const char *class;
	int64_t pieces, tokens;
} replies[] = {
	{"a body until the end", OK_HEAD "\r\n" PIECE PIECE USAGE DONE, LD_OK, "", 2, 2},
	{"lines that end with CR LF", OK_HEAD "\r\ndata: {\"choices\":[{\"text\":\"a\"}]}\r\n\r\ndata: [DONE]\r\n\r\n", LD_OK, "", 1, LD_NONE},
	{"chunks cut anywhere",
	 OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\nd\r\n5;x=y\r\nata: \r\n2e\r\n{\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n    \r\n0\r\n\r\n",
	 LD_OK, "", 1, LD_NONE},
	{"the interim reply before", "HTTP/1.1 100 Continue\r\n\r\n" OK_HEAD "\r\n" PIECE USAGE DONE, LD_OK, "", 1, 2},
	{"nothing at all", "", LD_ERROR, "stream_cut", 0, LD_NONE},
	{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a status of letters", "HTTP/1.1 2x0 OK\r\n\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a header without colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a chunk size that is none", OK_HEAD "Transfer-Encoding: chunked\r\n\r\nzz\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a chunk of 16 EiB", OK_HEAD "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a chunk longer than said", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", LD_ERROR, "malformed", 0, LD_NONE},
	{"a status 500", "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}", LD_ERROR, "http_status", 0, LD_NONE},
	{"bytes behind the reply", "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n", LD_ERROR, "http_status", 0, LD_NONE},
	{"a status 503 without a reason", "HTTP/1.1 503\r\nContent-Length: 0\r\n\r\n", LD_ERROR, "http_status", 0, LD_NONE},
	{"an error inside the stream", OK_HEAD "\r\n" PIECE "data: {\"error\":{\"message\":\"no\"}}\n\n" DONE, LD_ERROR, "stream_error", 1, LD_NONE},
	{"a stream without its end mark", OK_HEAD "\r\n" PIECE PIECE, LD_ERROR, "stream_cut", 2, LD_NONE},
	{"a chunked stream that is cut", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n3e\r\ndata: ", LD_ERROR, "stream_cut", 0, LD_NONE},
	{"an end mark and no token", OK_HEAD "\r\n" DONE, LD_ERROR, "no_output", 0, LD_NONE},
	{"only the role", OK_HEAD "\r\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" DONE, LD_ERROR, "no_output", 0, LD_NONE},
	{"an event that is no JSON", OK_HEAD "\r\n" PIECE "data: {]\n\n" DONE, LD_ERROR, "malformed", 1, LD_NONE},
	{"an event with a key twice", OK_HEAD "\r\ndata: {\"a\":1,\"a\":2}\n\n" DONE, LD_ERROR, "malformed", 0, LD_NONE},
	{"events of odd types", OK_HEAD "\r\ndata: 7\n\ndata: {\"choices\":7,\"usage\":[]}\n\ndata: {\"choices\":[7]}\n\n" DONE, LD_ERROR, "no_output", 0, LD_NONE},
	{"usage of odd numbers", OK_HEAD "\r\n" PIECE "data: {\"choices\":[],\"usage\":{\"completion_tokens\":-4}}\n\n" DONE, LD_OK, "", 1, LD_NONE},
};

static void play_one(size_t i)
{
	struct sockaddr_in a = address(0);
	socklen_t n = sizeof(a);
	struct script script = {.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .reply = replies[i].reply};
	struct ld_config config = {.timeout_ns = 20 * IB_NS};
	struct ld_run run = {.config = &config, .host = "x", .stop_fd = eventfd(0, EFD_CLOEXEC)};
	char prompt[] = "a";
	struct ld_request q = {.prompt = prompt, .output_tokens_asked = 2, .due_ns = LD_NONE, .output_tokens = LD_NONE, .input_tokens = LD_NONE};
	struct ld_link link = {.run = &run, .fd = -1};
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(bind(script.listen_fd, (struct sockaddr *)&a, sizeof(a)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(script.listen_fd, 1), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(script.listen_fd, (struct sockaddr *)&a, &n), 0);
	memcpy(&run.addr, &a, sizeof(a));
	run.addr_n = sizeof(a);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, play, &script), 0);
	ld_request_send(&link, &q);
	CU_ASSERT(link.fd < 0 || !strstr(replies[i].reply, "{}HTTP")); /* what is left over starts no other reply */
	ld_link_close(&link);
	pthread_join(thread, NULL);
	if (q.outcome != replies[i].outcome || strcmp(q.error_class, replies[i].class) != 0)
		printf("# %s: %d '%s' '%s'\n", replies[i].name, q.outcome, q.error_class, q.error);
	CU_ASSERT_EQUAL(q.outcome, replies[i].outcome);
	CU_ASSERT_STRING_EQUAL(q.error_class, replies[i].class);
	CU_ASSERT_EQUAL(q.pieces, replies[i].pieces);
	CU_ASSERT_EQUAL(q.output_tokens, replies[i].tokens);
	free(q.itl_ns);
	close(run.stop_fd);
	close(script.listen_fd);
}

static void test_loopback_client_judges_hostile_replies(void)
{
	for (size_t i = 0; i < IB_LEN(replies); i++)
		play_one(i);
}

static void test_loopback_arrivals_fit_their_type(void)
{
	const struct ld_config slow = {.num_prompts = 3, .request_rate_hz = 1e-300, .input_tokens = 1, .output_tokens = 1};
	struct ib_err err = {0};
	struct ld_plan p;

	CU_ASSERT_EQUAL_FATAL(ld_plan_make(&p, &slow, &err), 0);
	CU_ASSERT(p.v[0].due_ns > 0 && p.v[2].due_ns >= p.v[0].due_ns && p.v[2].due_ns <= 1000000000 * IB_NS);
	ld_plan_clear(&p);
}

static void test_loopback_prompts_have_a_limit_together(void)
{
	const struct ld_config many = {.num_prompts = 1000000, .input_tokens = 1 << 20, .output_tokens = 1};
	struct ib_err err = {0};
	struct ld_plan p;

	CU_ASSERT_EQUAL(ld_plan_make(&p, &many, &err), IB_E_USAGE);
	ld_plan_clear(&p);
}

/* All options at their ends: long, not negative. */
static void test_loopback_costs_do_not_overflow(void)
{
	struct lb_server s = {.config = {.prefill_token_ns = 60 * IB_NS, .slowdown_pct = 1000, .max_running = 128}, .metrics = {.running = 127}};
	struct lb_job job = {.tokens_n = 1 << 20};

	job.tokens = ib_alloc(job.tokens_n * sizeof(*job.tokens));
	s.cache = lb_cache_new(16, 4096);
	pthread_mutex_init(&s.lock, NULL);
	pthread_cond_init(&s.turn, NULL);
	atomic_store(&s.stopping, true);
	CU_ASSERT(!lb_engine_start(&s, &job));
	CU_ASSERT(job.due_ns > 30000000 * IB_NS);
	lb_cache_free(&s.cache);
	free(job.tokens);
}

static const struct ib_test tests[] = {
	IB_TEST(test_loopback_prompts_have_the_asked_length),
	IB_TEST(test_loopback_prompts_differ_in_their_first_word),
	IB_TEST(test_loopback_long_words_are_several_tokens),
	IB_TEST(test_loopback_cache_never_holds_the_last_token),
	IB_TEST(test_loopback_cache_drops_the_least_recently_used),
	IB_TEST(test_loopback_fault_share_is_exact),
	IB_TEST(test_loopback_fault_share_of_all_and_none),
	IB_TEST(test_loopback_faults_share_the_requests),
	IB_TEST(test_loopback_fault_words),
	IB_TEST(test_loopback_endpoint_survives_hostile_requests),
	IB_TEST(test_loopback_client_judges_hostile_replies),
	IB_TEST(test_loopback_arrivals_fit_their_type),
	IB_TEST(test_loopback_prompts_have_a_limit_together),
	IB_TEST(test_loopback_costs_do_not_overflow),
	{0},
};

const struct ib_test_suite ib_suite = {"loopback", tests};
