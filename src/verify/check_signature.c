/* SPDX-License-Identifier: Apache-2.0 */
/* A02: a signature vouches for the packet, and what stands outside it is said. */
#include "verify/check.h"

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	ib_check_hints(self, v, f);
	if (f->n > before)
		return;
	if (!v->study)
		ib_check_skip(self, f, NULL, "loose files carry no signature over all of them: only a packet does");
	else if (!v->packet)
		ib_check_skip(self, f, NULL, "a study is signed when it is packed");
	else if (!v->is_signed)
		ib_check_skip(self, f, NULL, "the packet carries no signature that verifies");
	else
		ib_check_say(self, f, NULL, v->trusted ? "signed by a key that you trust: everything but other signatures and time stamps is under it"
							: "signed by a key of which you said nothing: everything but other signatures and time stamps is under it");
}

const struct ib_check ib_check_signature = {
	.id = "A02",
	.level = IB_FINDING_E,
	.title = "a signature vouches for it",
	.reads = "the packet's signatures and the keys that --trust and --fingerprint name; signatures inside clients' files",
	.means = "a signature does not fit what it is said to sign",
	.todo = "get the packet anew from its author, and the key's fingerprint by another way than the packet",
	.audit = run,
};
