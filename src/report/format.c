/* SPDX-License-Identifier: Apache-2.0 */
/* The table of report formats. */
#include <string.h>

#include "report/report.h"

const struct ib_report_format *const ib_report_formats[] = {
	&ib_report_text,
	&ib_report_markdown,
	&ib_report_json,
	NULL,
};

const struct ib_report_format *ib_report_format_find(const char *name)
{
	for (size_t i = 0; ib_report_formats[i]; i++)
		if (strcmp(ib_report_formats[i]->name, name) == 0)
			return ib_report_formats[i];
	return NULL;
}
