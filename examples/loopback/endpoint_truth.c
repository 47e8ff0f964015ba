/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint's own log of what it sent, against which a client's records can be held. */
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "examples/loopback/endpoint.h"

void lb_truth(struct lb_server *s, json_t *line)
{
	ib_auto_json json_t *owned = line;
	ib_auto_buf struct ib_buf b = IB_BUF(64u << 10);
	struct ib_err err;

	pthread_mutex_lock(&s->lock);
	if (s->truth_fd >= 0) {
		ib_json_set_int(owned, "line", (int64_t)s->truth_lines++);
		ib_json_write(owned, &b);
		ib_buf_addc(&b, '\n');
		if (ib_buf_check(&b, "truth line", &err) < 0 || ib_write_all(s->truth_fd, b.data, b.len, "truth log", &err) < 0) {
			/* a log with a hole would lie: it ends here, aloud */
			fprintf(stderr, "ib-loopback: %s; the truth log ends\n", err.text);
			close(s->truth_fd);
			s->truth_fd = -1;
		}
	}
	pthread_mutex_unlock(&s->lock);
}
