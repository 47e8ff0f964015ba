/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a log and as commands: whatever settings come of them. */
#include "clients/client.h"
#include "fuzz.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/settings";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ib_settings s = {0};

	(void)ib_settings_from_log((const char *)data, n, &s);
	ib_settings_clear(&s);
	(void)ib_settings_from_command((const char *)data, n, &s);
	ib_settings_clear(&s);
	return 0;
}
