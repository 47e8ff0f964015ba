/* SPDX-License-Identifier: Apache-2.0 */
/* make_study DIR RUNS [FLAG…]: a synthetic study for shell tests. make_study --rechain DIR N: its ledger without line N, chained anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make_study.h"

int main(int argc, char **argv)
{
	struct study_spec s = {0};
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"ad_hoc", &s.ad_hoc},         {"sealed", &s.sealed},   {"overlapping", &s.overlapping},   {"contradicted", &s.contradicted},
		{"unfinished", &s.unfinished}, {"adopted", &s.adopted}, {"wrong_counts", &s.wrong_counts}, {"wrong_requests", &s.wrong_requests},
		{"wrong_workload", &s.wrong_workload}, {"two_results", &s.two_results}, {"torn", &s.torn}, {"torn_counted", &s.torn_counted},
		{"cut_off", &s.cut_off},
	};

	if (argc == 4 && strcmp(argv[1], "--rechain") == 0) {
		study_rechain(argv[2], strtoul(argv[3], NULL, 10));
		return 0;
	}
	if (argc < 3)
		return 2;
	s.runs = strtoul(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++) {
		size_t k = 0;

		while (k < sizeof(flags) / sizeof(flags[0]) && strcmp(flags[k].name, argv[i]) != 0)
			k++;
		if (k == sizeof(flags) / sizeof(flags[0]))
			return 2;
		*flags[k].flag = true;
	}
	make_study(argv[1], &s);
	return 0;
}
