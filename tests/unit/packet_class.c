/* SPDX-License-Identifier: Apache-2.0 */
/* packet_class TRUST PACKET…: prints what the packet layer alone says of each packet, "FILE CLASS", for tests that compare with another implementation. */
#include <fcntl.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/io.h"
#include "verify/packet.h"

static int print_class(const char *path, const struct ib_trust *trust)
{
	ib_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ib_auto_packet_result struct ib_packet_result result;
	struct ib_source_fd file = {.fd = fd, .name = path};
	const struct ib_source in = ib_source_from_fd(&file);
	struct ib_findings f = {0};
	struct ib_err err;
	int r = ib_packet_verify(&in, &(struct ib_packet_opts){.trust = trust}, &result, &f, &err);

	if (r == 0)
		printf("%s %s\n", path, result.code ? ib_code_name(result.code) : "holds");
	ib_findings_clear(&f);
	return r;
}

int main(int argc, char **argv)
{
	ib_auto_trust struct ib_trust trust = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

	if (argc < 3 || ib_read_file(AT_FDCWD, argv[1], &b, NULL) < 0 || ib_trust_add(&trust, ib_buf_str(&b), b.len, argv[1], NULL) < 0)
		return 2;
	for (int i = 2; i < argc; i++)
		if (print_class(argv[i], &trust) < 0)
			return 3;
	return 0;
}
