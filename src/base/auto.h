/* SPDX-License-Identifier: Apache-2.0 */
/* Clean-up by attribute: what a scope owns it gives back; ib_steal() hands ownership over. */
#ifndef IB_BASE_AUTO_H
#define IB_BASE_AUTO_H

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline void ib_auto_free_fn(void *p)
{
	free(*(void **)p);
}

static inline void ib_auto_fd_fn(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void ib_auto_dir_fn(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define ib_auto_free __attribute__((cleanup(ib_auto_free_fn)))
#define ib_auto_fd __attribute__((cleanup(ib_auto_fd_fn)))
#define ib_auto_dir __attribute__((cleanup(ib_auto_dir_fn)))

#define ib_steal(p)                  \
	({                           \
		__typeof__(*(p)) *ib_steal_p_ = (p); \
		__typeof__(*(p)) ib_steal_v_ = *ib_steal_p_; \
		*ib_steal_p_ = 0;        \
		ib_steal_v_;             \
	})

/* Hands a descriptor over: returns *fd and leaves -1. */
static inline int ib_steal_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

#define IB_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
