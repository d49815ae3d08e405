/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_bundle.h - is a bundle whole, and whose is it?
 */
#ifndef KONTEST_VERIFY_BUNDLE_H
#define KONTEST_VERIFY_BUNDLE_H

#include <stdio.h>

#include "results/base/error.h"

/**
 * bundle_signature() - check and say who signed a bundle
 * @path: FILE.kontest; its signature is FILE.kontest.minisig
 * @pubkey: public key of minisign, file or base64 text; NULL: then a signature
 *          is named, and said to be unchecked
 * @out: gets one line, "unsigned" too
 * @err: reason of a failure: with @pubkey, no signature or one that does not fit
 *
 * Return: 0, or -1.
 */
int bundle_signature(const char *path, const char *pubkey, FILE *out,
		     struct error *err);

/**
 * verify_bundle() - check a bundle's signature and every member of it
 * @path: FILE.kontest
 * @pubkey: as in bundle_signature()
 * @out: gets what it is
 * @err: the member and the reason
 *
 * Return: 0 when all of it is what its manifest (and signature) says, or -1.
 */
int verify_bundle(const char *path, const char *pubkey, FILE *out,
		  struct error *err);

#endif
