/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that have no bounds or no error report: their use is a compile error (forced into every file of ours). */
#ifndef IB_BASE_BANNED_H
#define IB_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang's fortified headers make macros of these, which cannot be poisoned */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets atoi atol atoll system popen tmpnam mktemp strtok

#endif
