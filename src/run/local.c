/* SPDX-License-Identifier: Apache-2.0 */
/* Where an endpoint is: on this machine? */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "run/listener.h"
#include "run/local.h"

bool ib_url_place(const char *url, char host[256], unsigned *ret_port)
{
	const char *p = strstr(url, "://"), *at, *end;
	size_t n;

	if (!p)
		return false;
	*ret_port = strncmp(url, "https", 5) == 0 ? 443 : 80;
	p += 3;
	n = strcspn(p, "/?#");
	at = memrchr(p, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - p);
		p = at + 1;
	}
	if (*p == '[') {
		end = memchr(p, ']', n);
		if (!end || end - p > 200)
			return false;
		snprintf(host, 256, "%.*s", (int)(end - p - 1), p + 1);
		n -= (size_t)(end + 1 - p);
		p = end + 1;
	} else {
		size_t k = strcspn(p, ":/?#");

		snprintf(host, 256, "%.*s", (int)(k < 255 ? k : 255), p);
		n -= k;
		p += k;
	}
	if (n && *p == ':')
		*ret_port = (unsigned)strtoul(p + 1, NULL, 10);
	return *ret_port > 0 && *ret_port < 65536 && host[0];
}

static bool is_ours(const void *address, int family)
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != family)
			continue;
		if (family == AF_INET)
			found = memcmp(&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, address, 4) == 0;
		else
			found = memcmp(&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr, address, 16) == 0;
	}
	freeifaddrs(all);
	return found;
}

enum ib_local ib_host_local(struct ib_root *root, const char *host)
{
	unsigned char a[16];

	if (strcmp(host, "localhost") == 0)
		return IB_LOCAL_YES;
	if (inet_pton(AF_INET, host, a) == 1)
		return a[0] == 127 || a[0] == 0 || (!root && is_ours(a, AF_INET)) ? IB_LOCAL_YES : IB_LOCAL_NO;
	if (inet_pton(AF_INET6, host, a) == 1)
		return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)(const void *)a) || (!root && is_ours(a, AF_INET6)) ? IB_LOCAL_YES : IB_LOCAL_NO;
	return IB_LOCAL_UNKNOWN;
}

enum ib_local ib_colocated(struct ib_root *root, const char *url, const char **ret_why)
{
	char host[256];
	unsigned port;
	enum ib_local local;

	*ret_why = NULL;
	if (!url)
		*ret_why = "no endpoint is known";
	else if (!ib_url_place(url, host, &port))
		*ret_why = "the endpoint's address is not understood";
	else if ((local = ib_host_local(root, host)) == IB_LOCAL_UNKNOWN)
		*ret_why = "the endpoint is given by a name, which is not looked up";
	else if (local == IB_LOCAL_NO || ib_listens(root, port))
		return local;
	else
		*ret_why = "the endpoint's address is this machine's, but nothing was seen to listen there: it may be forwarded";
	return IB_LOCAL_UNKNOWN;
}
