/* SPDX-License-Identifier: Apache-2.0 */
/* ib-verify --extract DIR: the files of a packet that was found intact, read and judged once more while they are written. DIR appears whole or not at all. */
#ifndef IB_VERIFY_EXTRACT_H
#define IB_VERIFY_EXTRACT_H

#include "base/source.h"
#include "base/str.h"
#include "verify/packet.h"

struct ib_extract {
	char *path, *name;       /* as given; its last part */
	char part[32];           /* the directory beside it that the files are written to: a new one of ours */
	int parent, dir;         /* open: of path, of part; -1 */
	struct ib_strv made;     /* files and directories in it, in the order of making; directories end with '/' */
	bool done;               /* it has its name */
};
#define IB_EXTRACT_NONE ((struct ib_extract){.parent = -1, .dir = -1})

/* Makes the directory that the files will be written to. To be called before the packet is read. IB_E_EXISTS: path is there already; IB_E_IO;
 * IB_E_USAGE: path has no last part. *x is to be ended in any case. */
IB_MUST int ib_extract_begin(const char *path, struct ib_extract *x, struct ib_err *err);
/* Reads the packet from in again, which first was the verdict of, writes its files and gives them their directory's name. Signals that would end the
 * process wait until nothing is left behind. IB_E_IO: the system said no, or interrupted; IB_E_STATE: no longer the packet that was judged. */
IB_MUST int ib_extract_packet(const struct ib_source *in, const struct ib_packet_opts *opts, const struct ib_packet_result *first, struct ib_extract *x,
			      struct ib_err *err);
/* Removes what was written, unless it has its name. */
void ib_extract_end(struct ib_extract *x);
#define ib_auto_extract __attribute__((cleanup(ib_extract_end)))

#endif
