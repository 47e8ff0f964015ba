/* SPDX-License-Identifier: Apache-2.0 */
/* Settings out of the configuration that a client keeps in its result as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/settings.h"

const json_t *ib_setting_at(const json_t *j, const char *path)
{
	ib_auto_free char *copy = ib_strdup(path);
	char *rest = copy;

	for (const char *key = strsep(&rest, "/"); key && j; key = strsep(&rest, "/"))
		j = json_is_array(j) ? json_array_get(j, strtoul(key, NULL, 10)) : json_object_get(j, key);
	return j;
}

char *ib_setting_text(double v)
{
	return fabs(v) < 1e15 && !(v < floor(v)) && !(v > floor(v)) ? ib_asprintf("%.0f", v) : ib_asprintf("%.17g", v);
}
