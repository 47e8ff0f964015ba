/* SPDX-License-Identifier: Apache-2.0 */
/* Where the helper programs of libexec are. */
#include "base/helper.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

char *ib_helper_path(const char *name)
{
	static const char *const below[] = {"", "../libexec/ibtools/"};
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	/* libtool keeps the real program of a build tree in .libs */
	if (slash && slash - exe > 6 && memcmp(slash - 6, "/.libs", 6) == 0)
		slash -= 6;
	for (size_t i = 0; slash && i < 2; i++) {
		char *path = ib_asprintf("%.*s/%s%s", (int)(slash - exe), exe, below[i], name);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return ib_asprintf("%s/%s", IB_LIBEXECDIR, name);
}
