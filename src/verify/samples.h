/* SPDX-License-Identifier: Apache-2.0 */
/* samples.jsonl of a run, read again: the sums that its record's section "load" is held against. */
#ifndef IB_VERIFY_SAMPLES_H
#define IB_VERIFY_SAMPLES_H

#include <stdint.h>

#define IB_SAMPLES_MAX (16u << 20) /* bytes; larger files are not read */

struct ib_samples {
	char *why;     /* it is not what a sampler writes: why; NULL: it is, or was not read */
	int64_t lines; /* samples; 0: not read */
	double client_mean, client_max, outside_mean, running_max, package_j, gpu_j; /* NAN: none of them says */
};
/* Adds nothing to what is known unless data begins as a sampler's file does. ret is all 0 before. */
void ib_samples_read(const char *path, const char *data, uint64_t size, struct ib_samples *ret);
void ib_samples_clear(struct ib_samples *s);

#endif
