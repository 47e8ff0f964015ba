/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a server's page of metrics, under each engine's names, and as what the GPU helper writes. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "model/engine.h"
#include "run/sampler_inside.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/metrics";

struct seen {
	size_t n;
	double sum;
};

static void count(void *arg, const char *value, double sample)
{
	struct seen *s = arg;

	REQUIRE(value && !strpbrk(value, "\"\\\n"));
	s->n++;
	s->sum += sample;
}

static void names(const char *page, const char *const *list)
{
	for (size_t i = 0; i < IB_ENGINE_NAMES && list[i]; i++) {
		double sum = ib_prometheus_sum(page, list[i]), max = ib_prometheus_max(page, list[i]);
		struct seen s = {0};

		REQUIRE(isnan(sum) || !isinf(max));
		REQUIRE(!isnan(max) || isnan(sum));
		ib_prometheus_each(page, list[i], "model_name", count, &s);
	}
}

static void engine(const char *page, const struct ib_engine *e)
{
	struct ib_sample_server once, twice;

	names(page, e->queries);
	names(page, e->hits);
	names(page, e->output_tokens);
	names(page, e->also);
	REQUIRE(ib_sample_metrics(e->name, NULL, page, true, &once));
	twice = once;
	REQUIRE(ib_sample_metrics(e->name, NULL, page, false, &twice));
	REQUIRE(isnan(once.running) ? isnan(twice.running) : isinf(twice.running) || twice.running == 2 * once.running);
	REQUIRE(isnan(once.kv_cache_use) ? isnan(twice.kv_cache_use) : twice.kv_cache_use == once.kv_cache_use);
}

static void gpus(const char *text)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	ib_auto_json json_t *j = NULL;
	struct ib_sample s;

	ib_sample_init(&s);
	if (!ib_sample_gpus(text, &s))
		return;
	REQUIRE(s.gpus_n >= 0 && s.gpus_n <= IB_SAMPLE_GPUS);
	ib_sample_line(&s, &b);
	REQUIRE(ib_json_load(b.data, b.len, "line", &j, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_free char *page = ib_strndup((const char *)data, strnlen((const char *)data, n));
	ib_auto_json json_t *counters = json_pack("{s:[s],s:[ss]}", "busy", "b", "output_tokens", "a", "vllm:generation_tokens_total");
	const struct ib_engine *e;
	struct ib_sample_server given;

	for (size_t i = 0; (e = ib_engine_at(i)); i++)
		engine(page, e);
	(void)ib_sample_metrics("custom", counters, page, true, &given);
	gpus(page);
	return 0;
}
