/* SPDX-License-Identifier: Apache-2.0 */
/* New signing keys. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "pack/pack.h"
#include "sign/keys.h"

int ib_pack_new_key(const char *name, bool p256, char ret_fingerprint[64], struct ib_err *err)
{
	__attribute__((cleanup(ib_wipe))) struct ib_buf secret = IB_BUF(IB_KEY_FILE_MAX);
	ib_auto_buf struct ib_buf public = IB_BUF(IB_KEY_FILE_MAX);
	ib_auto_free char *pem = ib_asprintf("%s.pem", name), *pub = ib_asprintf("%s.pub.pem", name);
	ib_auto_privkey struct ib_privkey *k = NULL;
	int r;

	if (!*name || name[strlen(name) - 1] == '/')
		return ib_fail(err, IB_E_USAGE, 0, "the new key has no name: '--new-key NAME'");
	if (faccessat(AT_FDCWD, pub, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return ib_fail_at(err, IB_E_EXISTS, pub, "'%s' exists and is not overwritten; choose another name", pub);
	r = ib_privkey_new(p256 ? IB_KEY_P256 : IB_KEY_ED25519, &k, err);
	if (r == 0)
		r = ib_privkey_pem(k, &secret, err);
	if (r < 0)
		return r;
	ib_pubkey_pem(ib_privkey_public(k), &public);
	r = ib_write_file(AT_FDCWD, pem, secret.data, secret.len, 0600, false, err);
	if (r == 0)
		r = ib_write_file(AT_FDCWD, pub, public.data, public.len, 0644, false, err);
	if (r == 0)
		snprintf(ret_fingerprint, 64, "%s", ib_privkey_public(k)->fingerprint);
	return r;
}
