/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/paths.h"

#include <stdlib.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

static char *xdg(const char *variable, const char *below_home,
		 struct error *err)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	char *dir;

	/* The specification has relative paths ignored. */
	if (base && *base == '/') {
		dir = xasprintf("%s/kontest", base);
	} else if (home && *home == '/') {
		dir = xasprintf("%s/%s/kontest", home, below_home);
	} else {
		error_set(err, 0, "neither %s nor HOME names a directory: set HOME",
			  variable);
		return NULL;
	}
	if (make_dirs(dir, err) < 0) {
		error_prefix(err, "%s", variable);
		free(dir);
		return NULL;
	}
	return dir;
}

char *cache_home(struct error *err)
{
	return xdg("XDG_CACHE_HOME", ".cache", err);
}

char *data_home(struct error *err)
{
	return xdg("XDG_DATA_HOME", ".local/share", err);
}
