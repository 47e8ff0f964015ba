/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an output that a contract expects something of: what is said of it is redacted, of bounded length, and can be written as JSON; and as the
 * output of a quality command. The first byte chooses what is expected. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/answer.h"
#include "run/quality.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/answer";

#define SECRET "canary-4f91c07be2"

static const char *const answers[] = {
	"{\"exact\":\"Paris\"}",
	"{\"contains\":[\"a\",\"\\u00e9\",\"b\"]}",
	"{\"regex\":\"^[a-c]*(x|yz)+$\"}",
	"{\"json\":\"/choices/0/text\",\"equals\":\"4\"}",
	"{\"json\":\"/a~1b/~0\",\"near\":1.5,\"tolerance\":0.25}",
	"{\"json\":\"\",\"near\":0}",
	"{\"json\":\"/choices/0/text\",\"contains\":[\"4\"],\"regex\":\"[0-9]+\"}",
	"{\"json\":\"/0/1/2\",\"exact\":\"[1]\"}",
};

static const struct ib_redactor *redactor(void)
{
	static struct ib_redactor *r;
	static char key[] = "FUZZ_API_KEY=" SECRET;
	static char *env[] = {key, NULL};

	if (!r)
		r = ib_redactor_with_key((const uint8_t *)"0123456789abcdef", 16, env);
	return r;
}

static void check_shown(json_t *conditions)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	json_t *again = NULL;

	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const char *found = json_string_value(json_object_get(json_array_get(conditions, i), "found"));

		REQUIRE(!found || (strlen(found) <= IB_ANSWER_SHOWN * 3 + 3 && !strstr(found, SECRET)));
	}
	ib_json_write(conditions, &b);
	REQUIRE(ib_buf_check(&b, "conditions", NULL) == 0 && ib_json_load(b.data, b.len, "conditions", &again, NULL) == 0);
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_json json_t *answer = NULL, *conditions = ib_json_array(), *outcome = ib_json_object();
	ib_auto_free char *output = NULL, *why = NULL;
	const char *one;
	bool met;

	if (n < 1 || n > 1 << 16)
		return 0;
	one = answers[data[0] % IB_LEN(answers)];
	output = ib_alloc(n); /* with a byte 0 behind it, as buffers have */
	memcpy(output, data + 1, n - 1);
	output[n - 1] = '\0';
	REQUIRE(ib_json_load(one, strlen(one), "answer", &answer, NULL) == 0);
	met = ib_run_answer_judge(answer, output, n - 1, redactor(), conditions);
	check_shown(conditions);
	ib_json_set(outcome, "conditions", json_incref(conditions));
	why = ib_run_answer_why(outcome);
	REQUIRE(met == (strcmp(why, "nothing was compared") == 0));
	(void)ib_quality_metric(output, n - 1, data[0] & 1 ? "accuracy" : NULL);
	return 0;
}
