/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a stranger's record: refused, or read, written and read back to the same bytes; and the verdict on its cache drawn from whatever shapes
 * its sections have. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "json/json.h"
#include "model/cache_verdict.h"
#include "model/engine.h"
#include "model/record.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/record";

static void read_back(const struct ib_record *r)
{
	ib_auto_json json_t *first = ib_record_to_json(r), *second = NULL, *loaded = NULL;
	ib_auto_buf struct ib_buf a = IB_BUF(IB_JSON_MAX), b = IB_BUF(IB_JSON_MAX);
	ib_auto_record struct ib_record again;

	ib_record_init(&again);
	ib_json_write(first, &a);
	if (ib_buf_check(&a, "record", NULL) < 0 || ib_json_load(a.data, a.len, "record", &loaded, NULL) < 0)
		return; /* larger than a record may be */
	REQUIRE(ib_record_from_json(loaded, "record", &again, NULL) == 0);
	second = ib_record_to_json(&again);
	ib_json_write(second, &b);
	REQUIRE(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
}

static void verdicts(const struct ib_record *r, const json_t *whole)
{
	struct ib_contract_evidence e = {.hit_share_min = NAN, .resident_share_min = 0.5, .resident_share_max = NAN, .queries = IB_UNSET};
	const struct ib_engine *engine;

	/* a contract's typed form may stand beside it */
	if (ib_cache_evidence(json_object_get(whole, "evidence"), &e)) {
		ib_auto_free char *why = NULL;

		(void)ib_cache_verdict(&e, IB_CACHE_RESET, r, &why);
		REQUIRE(why && why[0]);
	}
	for (size_t i = 0; (engine = ib_engine_at(i)); i++)
		for (enum ib_condition c = IB_CACHE_UNSPECIFIED; c <= IB_CACHE_REUSE; c++) {
			ib_auto_free char *why = NULL;

			e.engine = engine->name;
			(void)ib_cache_verdict(&e, c, r, &why);
			REQUIRE(why && why[0]);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_json json_t *j = NULL;
	ib_auto_record struct ib_record r;
	struct ib_err err = {0};

	ib_record_init(&r);
	if (ib_json_load((const char *)data, n, "record.json", &j, &err) < 0 || ib_record_from_json(j, "record.json", &r, &err) < 0)
		return 0;
	read_back(&r);
	verdicts(&r, j);
	return 0;
}
