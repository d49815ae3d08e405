/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt.h - Debian packages through the host's own apt configuration, as any user
 *
 * Sources, keys, proxies are the host's; state and archives are in the cache,
 * so that nothing is installed and nothing of the host's is touched.
 */
#ifndef KONTEST_APT_H
#define KONTEST_APT_H

#include "images/cache.h"
#include "results/base/digest.h"
#include "results/base/text.h"

/* struct package - one line of a lock file; strings owned */
struct package {
	char *name;
	char *version;
	char *arch;
	char sha256[SHA256_HEX];
	uint64_t size;
	char *path;	/* of the fetched .deb, NULL before */
};
DEFINE_VECTOR(packages, struct package)
void packages_clear(struct packages *p);

/* apt_resolve() - the named packages ("name" or "name=version") with all that
 * they depend on, as if nothing was installed; recommends not followed. With
 * @only, the named packages alone. Sorted by name. */
int apt_resolve(const struct cache *c, const char *const names[], bool only,
		struct packages *out, struct error *err);
/* apt_fetch() - bring each package's .deb into the cache, check size and SHA-256 */
int apt_fetch(const struct cache *c, struct packages *p, struct error *err);
/* apt_gone() - which packages are neither in the cache nor offered by the mirror
 * in that very version and SHA-256: @gone gets "NAME VERSION" for each */
int apt_gone(const struct cache *c, struct packages *p, struct strings *gone,
	     struct error *err);
/* apt_meta() - follow a meta-package to the one package named by prefix in its
 * Depends: linux-image-cloud-amd64 -> linux-image-6.1.0-57-cloud-amd64 */
int apt_meta(const struct cache *c, const char *name, const char *prefix,
	     char **real, struct error *err);

#endif
