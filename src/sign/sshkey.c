/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys in OpenSSH's form, those of hardware tokens ("sk-") among them. */
#include <string.h>

#include "sign/keys.h"
#include "sign/wire.h"

static const struct ssh_type {
	enum ib_key_type type;
	const char *name;
	bool token;
} types[] = {
	{IB_KEY_ED25519, "ssh-ed25519", false},
	{IB_KEY_P256, "ecdsa-sha2-nistp256", false},
	{IB_KEY_SK_ED25519, "sk-ssh-ed25519@openssh.com", true},
	{IB_KEY_SK_P256, "sk-ecdsa-sha2-nistp256@openssh.com", true},
};

const char *ib_pubkey_ssh_type(const struct ib_pubkey *k)
{
	return types[k->type].name;
}

bool ib_key_is_ed25519(enum ib_key_type t)
{
	return t == IB_KEY_ED25519 || t == IB_KEY_SK_ED25519;
}

void ib_pubkey_ssh_blob(const struct ib_pubkey *k, struct ib_buf *b)
{
	const struct ssh_type *t = &types[k->type];

	ib_wire_add_string(b, t->name, strlen(t->name));
	if (!ib_key_is_ed25519(k->type))
		ib_wire_add_string(b, "nistp256", 8);
	if (ib_key_is_ed25519(k->type))
		ib_wire_add_string(b, k->der + 12, 32);
	else
		ib_wire_add_string(b, k->der + 26, 65);
	if (t->token)
		ib_wire_add_string(b, k->application, strlen(k->application));
}

static bool take_application(struct ib_wire *w, char ret[IB_APPLICATION_MAX + 1])
{
	const uint8_t *s;
	size_t n;

	if (!ib_wire_string(w, &s, &n) || n == 0 || n > IB_APPLICATION_MAX || memchr(s, 0, n))
		return false;
	memcpy(ret, s, n);
	ret[n] = '\0';
	return true;
}

int ib_pubkey_from_ssh(const uint8_t *blob, size_t n, struct ib_pubkey *ret, struct ib_err *err)
{
	struct ib_wire w = {blob, n};
	char application[IB_APPLICATION_MAX + 1] = "";
	const struct ssh_type *t = NULL;
	const uint8_t *point;
	size_t point_n;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types) && !t; i++)
		t = ib_wire_is(&w, types[i].name) ? &types[i] : NULL;
	if (!t)
		return ib_fail(err, IB_E_KEY, 0, "the key is neither Ed25519 nor ECDSA P-256 in OpenSSH's form");
	if ((!ib_key_is_ed25519(t->type) && !ib_wire_is(&w, "nistp256")) || !ib_wire_string(&w, &point, &point_n) ||
	    (t->token && !take_application(&w, application)) || w.left)
		return ib_fail(err, IB_E_KEY, 0, "the key is not in OpenSSH's form for '%s'", t->name);
	return ib_pubkey_from_point(t->type, point, point_n, application, ret, err);
}
