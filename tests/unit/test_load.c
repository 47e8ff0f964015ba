/* SPDX-License-Identifier: Apache-2.0 */
/* What the audit makes of the load that was sampled: A14, A26, energy per output token. */
#include <math.h>
#include <string.h>

#include "audit_world.h"
#include "base/auto.h"
#include "unit.h"
#include "verify/coverage.h"
#include "verify/load.h"

static void set_load(struct world *w, const char *text)
{
	json_t *j = NULL;

	CU_ASSERT_EQUAL_FATAL(ib_json_load(text, strlen(text), "load", &j, NULL), 0);
	ib_record_set(&w->study_runs[0].record, IB_SECTION_LOAD, j);
}

static void test_load_saturated_client(void)
{
	struct world w;

	world_begin(&w, 1, true);
	world_setting(&w, 0, IB_SET_RATE, "10");
	CU_ASSERT_EQUAL(world_check(&w, "A14"), IB_PASS);
	set_load(&w, "{\"client_saturated\": false, \"client_saturated_share\": 0.1}");
	CU_ASSERT_EQUAL(world_check(&w, "A14"), IB_PASS);
	set_load(&w, "{\"client_saturated\": null, \"client_saturated_share\": null}");
	CU_ASSERT_EQUAL(world_check(&w, "A14"), IB_PASS);
	set_load(&w, "{\"client_saturated\": true, \"client_saturated_share\": 0.75}");
	CU_ASSERT_EQUAL(world_check(&w, "A14"), IB_FAIL);
	CU_ASSERT(world_says(&w, "saturated in 75 %"));
	world_end(&w);
}

static void test_load_disturbed_machine(void)
{
	struct world w;

	world_begin(&w, 1, true);
	set_load(&w, "{\"cpus\": 8, \"outside_cores\": {\"mean\": 0.5, \"max\": 8, \"samples\": 9}, \"steal_cores\": {\"mean\": 0.01}, \"throttles\": 0, "
		     "\"gpus\": {\"throttle_reasons\": 5}}");
	world_check(&w, "A26");
	CU_ASSERT_FALSE(world_says(&w, "while the command ran")); /* idle and power limit are no fault */
	set_load(&w, "{\"cpus\": 8, \"outside_cores\": {\"mean\": 0.9}, \"busiest_outside\": {\"name\": \"backup\"}, \"steal_cores\": {\"mean\": 0.2}, "
		     "\"throttles\": 3, \"gpus\": {\"throttle_reasons\": 64}}");
	world_check(&w, "A26");
	CU_ASSERT(world_says(&w, "others used 0.9 of 8 processors"));
	CU_ASSERT(world_says(&w, "backup"));
	CU_ASSERT(world_says(&w, "hypervisor took 0.2"));
	CU_ASSERT(world_says(&w, "3 times"));
	CU_ASSERT(world_says(&w, "reasons 0x40"));
	/* shapes that nobody writes */
	set_load(&w, "{\"cpus\": \"8\", \"outside_cores\": 3, \"throttles\": -1, \"gpus\": [], \"energy\": {}, \"busiest_outside\": 7}");
	world_check(&w, "A26");
	CU_ASSERT_FALSE(world_says(&w, "while the command ran"));
	world_end(&w);
}

#define RAPL "{\"joules\": 200.0, \"source\": \"RAPL package\", \"scope\": \"processors\", \"covered_ns\": 50000000000}"
#define GPU "{\"joules\": 500.0, \"source\": \"NVML total energy\", \"scope\": \"GPUs\", \"covered_ns\": 49000000000}"
#define SHORT "{\"joules\": 500.0, \"source\": \"NVML total energy\", \"scope\": \"GPUs\", \"covered_ns\": 1000000000}"

static struct ib_stat energy(struct world *w, const char *text)
{
	set_load(w, text);
	return ib_load_energy_per_token(&w->runs[0], world_result(w, 0));
}

static void test_load_energy_per_token(void)
{
	struct world w;
	struct ib_stat st;

	world_begin(&w, 1, true);
	CU_ASSERT_EQUAL(ib_load_energy_per_token(&w.runs[0], world_result(&w, 0)).state, IB_STAT_NOT_RECORDED); /* no section */
	st = energy(&w, "{\"energy\": [" RAPL ", " GPU "], \"colocated\": true}");
	CU_ASSERT_EQUAL(st.state, IB_STAT_VALUE);
	CU_ASSERT_DOUBLE_EQUAL(st.value, 500.0 / 100, 1e-12); /* the GPU's, 20 requests of 5 tokens */
	st = energy(&w, "{\"energy\": [" RAPL "], \"colocated\": null, \"colocated_why\": \"no endpoint is known\"}");
	CU_ASSERT_DOUBLE_EQUAL(st.value, 2, 1e-12);
	CU_ASSERT_EQUAL(energy(&w, "{\"energy\": [" GPU "], \"colocated\": false}").state, IB_STAT_NOT_RECORDED); /* another machine's */
	CU_ASSERT_EQUAL(energy(&w, "{\"energy\": [" GPU "], \"colocated\": null, \"colocated_why\": \"a name\"}").state, IB_STAT_NOT_RECORDED);
	CU_ASSERT_EQUAL(energy(&w, "{\"energy\": [" SHORT "], \"colocated\": true}").state, IB_STAT_NOT_RECORDED); /* a part of the run */
	CU_ASSERT_EQUAL(energy(&w, "{\"energy\": [], \"colocated\": true}").state, IB_STAT_NOT_RECORDED);
	world_end(&w);
}

static void test_load_energy_is_covered(void)
{
	struct world w;
	struct ib_coverage c;
	json_t *contract = NULL;
	static const char text[] = "{\"metrics\": [\"energy_per_output_token\"]}";

	world_begin(&w, 1, true);
	CU_ASSERT_EQUAL_FATAL(ib_json_load(text, strlen(text), "contract", &contract, NULL), 0);
	w.s.contract = contract;
	ib_coverage(&w.v, &c);
	CU_ASSERT_EQUAL(c.metrics[0].how, IB_COVERED_MISSING);
	ib_coverage_clear(&c);
	set_load(&w, "{\"energy\": [" GPU "], \"colocated\": true}");
	ib_coverage(&w.v, &c);
	CU_ASSERT_EQUAL(c.metrics[0].how, IB_COVERED_DERIVED);
	CU_ASSERT_STRING_EQUAL(c.metrics[0].formula, "energy_per_output_token");
	ib_coverage_clear(&c);
	json_decref(contract);
	world_end(&w);
}

static const struct ib_test tests[] = {
	IB_TEST(test_load_saturated_client), IB_TEST(test_load_disturbed_machine), IB_TEST(test_load_energy_per_token), IB_TEST(test_load_energy_is_covered), {0},
};

const struct ib_test_suite ib_suite = {"load", tests};
