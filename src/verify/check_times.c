/* SPDX-License-Identifier: Apache-2.0 */
/* S20: the times of the ledger's entries go forward. Clocks are set, so that it is a warning; what it shows the reader must weigh. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/str.h"
#include "verify/check.h"

#define SLACK_NS IB_NS /* several machines may write one ledger */

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	int64_t latest = INT64_MIN;
	size_t before = f->n, at = 0;

	for (size_t i = 0; i < v->n_entries; i++) {
		const struct ib_study_entry *e = &v->entries[i];
		struct ib_finding *one;

		if (e->why)
			continue;
		if (latest != INT64_MIN && e->e.wall_ns < latest - SLACK_NS) {
			one = ib_check_fail(self, f, IB_OK, "ledger.jsonl", "line %zu is %.3f s earlier than line %zu: a clock was set back, or a time is not true",
					    i + 1, (double)(latest - e->e.wall_ns) / 1e9, at);
			if (!one->where)
				one->where = ib_asprintf("line %zu", i + 1);
		}
		if (e->e.wall_ns > latest) {
			latest = e->e.wall_ns;
			at = i + 1;
		}
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_times = {.id = "S20", .level = IB_FINDING_W, .title = "the times of the ledger's entries go forward", .run = run};
