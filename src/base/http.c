/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request through libcurl. */
#include "base/http.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

static void free_easy(CURL **c)
{
	if (*c)
		curl_easy_cleanup(*c);
}

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
	struct ib_buf *b = arg;

	ib_buf_add(b, data, size * n);
	return b->overflow ? 0 : size * n;
}

/* What no proxy is used for: the environment's list and this machine. */
static char *no_proxy(void)
{
	const char *env = getenv("no_proxy");

	if (!env)
		env = getenv("NO_PROXY");
	return ib_asprintf("%s%slocalhost,127.0.0.1,::1", env ? env : "", env && *env ? "," : "");
}

static CURLcode only_http(CURL *c)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	return curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	return curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void free_list(struct curl_slist **l)
{
	curl_slist_free_all(*l);
}

/* "Expect: 100-continue" would cost a second with servers that do not know it. */
static CURLcode set_body(CURL *c, const struct ib_http *request, struct curl_slist **headers)
{
	CURLcode e = curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)(request->body ? request->body_n : 0));

	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_POSTFIELDS, request->body ? request->body : "");
	if (e == CURLE_OK && request->body) {
		ib_auto_free char *type = ib_asprintf("Content-Type: %s", request->type ? request->type : "application/json");

		*headers = curl_slist_append(NULL, type);
		if (*headers && curl_slist_append(*headers, "Expect:"))
			e = curl_easy_setopt(c, CURLOPT_HTTPHEADER, *headers);
		else
			e = CURLE_OUT_OF_MEMORY;
	}
	return e;
}

static CURLcode set_up(CURL *c, const struct ib_http *request, struct ib_buf *body, char *text, const char *direct, struct curl_slist **headers)
{
	int64_t ms = request->timeout_ns / 1000000;
	CURLcode e = curl_easy_setopt(c, CURLOPT_URL, request->url);

	if (e == CURLE_OK)
		e = only_http(c);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_NOPROXY, direct);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, ms < 1 ? 1L : ms > 86400000 ? 86400000L : (long)ms);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	if (e == CURLE_OK && request->post)
		e = set_body(c, request, headers);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_USERAGENT, "ibtools/" PACKAGE_VERSION);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_WRITEDATA, body);
	if (e == CURLE_OK)
		e = curl_easy_setopt(c, CURLOPT_ERRORBUFFER, text);
	return e;
}

static int describe(CURLcode e, const char *text, const struct ib_buf *body, struct ib_err *err)
{
	const char *what = text[0] ? text : curl_easy_strerror(e);

	if (body->overflow)
		return ib_fail(err, IB_E_LIMIT, 0, "the answer is larger than %zu bytes", body->max);
	if (e == CURLE_OPERATION_TIMEDOUT)
		return ib_fail(err, IB_E_TIMEOUT, 0, "no whole answer in time: %s", what);
	if (e == CURLE_URL_MALFORMAT || e == CURLE_UNSUPPORTED_PROTOCOL)
		return ib_fail(err, IB_E_USAGE, 0, "not a URL that can be asked: %s", what);
	return ib_fail(err, IB_E_IO, 0, "no answer: %s", what);
}

void ib_http_end(void **session)
{
	if (*session)
		curl_easy_cleanup(*session);
	*session = NULL;
}

int ib_http_fetch(const struct ib_http *request, struct ib_buf *body, int *ret_status, struct ib_err *err)
{
	__attribute__((cleanup(free_easy))) CURL *own = NULL;
	__attribute__((cleanup(free_list))) struct curl_slist *headers = NULL;
	CURL *c = request->session && *request->session ? *request->session : curl_easy_init();
	ib_auto_free char *direct = no_proxy();
	char text[CURL_ERROR_SIZE] = "";
	long status = 0;
	CURLcode e;

	if (!c)
		return ib_fail(err, IB_E_INTERNAL, 0, "cannot start the HTTP client");
	if (request->session)
		*request->session = c;
	else
		own = c;
	e = set_up(c, request, body, text, direct, &headers);
	if (e == CURLE_OK)
		e = curl_easy_perform(c);
	if (e == CURLE_OK)
		e = curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (e != CURLE_OK)
		return describe(e, text, body, err);
	*ret_status = (int)status;
	return 0;
}
