/* SPDX-License-Identifier: Apache-2.0 */
/* An SSH signature that is taken is whole: every prefix of it is refused, and so is anything behind it. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "sign/sshsig.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/sshsig";

static bool taken(const char *text, size_t n)
{
	ib_auto_sshsig struct ib_sshsig s;

	return ib_sshsig_parse(text, n, &s, NULL) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_sshsig struct ib_sshsig s;
	ib_auto_free char *more = NULL;

	if (ib_sshsig_parse((const char *)data, n, &s, NULL) < 0)
		return 0;
	REQUIRE(s.namespace[0] && s.sig && s.sig_n);
	REQUIRE(ib_sshsig_verify(&s, "other", "", 0, NULL) < 0 || strcmp(s.namespace, "other") == 0);
	(void)!ib_sshsig_verify(&s, s.namespace, "message", 7, NULL);
	more = ib_alloc(n + 2);
	memcpy(more, data, n);
	more[n] = '\n';
	REQUIRE(!taken(more, n + 1) && !taken(more, n - 1));
	return 0;
}
