/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/verify_bundle.h"

#include "images/bundle.h"
#include "images/minisign.h"
#include "results/base/cleanup.h"

int bundle_signature(const char *path, const char *pubkey, FILE *out,
		     struct error *err)
{
	char id[MINISIGN_ID_HEX], comment[MINISIGN_COMMENT_MAX];
	struct minisign_public key;
	int signed_by = minisign_signer(path, id, err);

	if (signed_by < 0)
		return -1;
	if (!signed_by && pubkey)
		return error_set(err, 0, "'%s' is unsigned: there is no '%s" MINISIGN_SUFFIX "', and --pubkey demands a signature",
				 path, path);
	if (!signed_by) {
		fprintf(out, "%s: unsigned: nobody vouches for what is in it\n", path);
		return 0;
	}
	if (!pubkey) {
		fprintf(out, "%s: signed by the key %s, not checked: no --pubkey\n", path, id);
		return 0;
	}
	if (minisign_public_read(pubkey, &key, err) < 0 ||
	    minisign_verify(path, &key, comment, err) < 0)
		return -1;
	fprintf(out, "%s: signature good, by the key %s (%s)\n", path, id, comment);
	return 0;
}

int verify_bundle(const char *path, const char *pubkey, FILE *out,
		  struct error *err)
{
	CLEANUP(bundle_close) struct bundle b = { 0 };

	if (bundle_signature(path, pubkey, out, err) < 0 ||
	    bundle_open(&b, path, err) < 0 || bundle_check(&b, err) < 0)
		return -1;
	fprintf(out, "%s: whole: run %s, %s, %zu members and %zu files made of them as the manifest says, manifest %.12s\n",
		path, b.m.run_id, b.m.full ? "with its images" : "results only",
		b.m.members.n, b.m.files.n, b.digest);
	return 0;
}
