/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of names: what is taken is valid UTF-8 without controls, and no name is taken twice. */
#include "fuzz.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "store/names.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/names";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_free char *text = ib_strndup((const char *)data, n);
	ib_auto_names struct ib_names *names = ib_names_new();
	char *save = NULL;

	if (n > 1 << 16)
		return 0;
	REQUIRE(!n || !memchr(data, 0, n) || ib_name_check((const char *)data, n, NULL) == IB_E_PATH);
	for (char *s = strtok_r(text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		if (ib_name_check(s, strlen(s), NULL) < 0)
			continue;
		REQUIRE(ib_utf8_valid(s, strlen(s)) && strlen(s) <= IB_PATH_MAX && !strstr(s, "//") && *s != '/' && s[strlen(s) - 1] != '/');
		for (const char *p = s; *p; p++)
			REQUIRE((unsigned char)*p >= 0x20 && *p != 0x7f && *p != '\\' && *p != '%');
		if (ib_names_add(names, s, NULL) == 0)
			REQUIRE(ib_names_add(names, s, NULL) == IB_E_DUP);
	}
	return 0;
}
