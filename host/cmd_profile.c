/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cmd.h"
#include "images/profile.h"
#include "results/base/cleanup.h"

static int is_ini(const struct dirent *e)
{
	return str_ends(e->d_name, ".ini");
}

static int list(struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/images/profiles", share_dir());
	struct dirent **names;
	int n = scandir(dir, &names, is_ini, alphasort);
	int ret = 0;

	if (n < 0)
		return error_set(err, errno, "read directory '%s'", dir);
	for (int i = 0; i < n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names[i]->d_name);
		struct profile p;

		free(names[i]);
		if (ret || profile_load(path, &p, err) < 0) {
			ret = -1;
			continue;
		}
		printf("%-12s %s\n", p.name, p.description ? p.description : "");
		profile_free(&p);
	}
	free(names);
	return ret;
}

static int show(const char *name, struct error *err)
{
	struct profile p;

	if (profile_load(name, &p, err) < 0)
		return -1;
	fputs(p.text, stdout);
	profile_free(&p);
	return 0;
}

static int run(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return cmd_help(&cmd_profile);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list(&err) < 0 ? cmd_fail(&err) : 0;
	if (argc == 3 && !strcmp(argv[1], "show"))
		return show(argv[2], &err) < 0 ? cmd_fail(&err) : 0;
	return cmd_usage(&cmd_profile, "say `kontest profile list` or `kontest profile show NAME`");
}

const struct cmd cmd_profile = {
	.name = "profile",
	.args = "list | show NAME",
	.summary = "the machines that can be imitated",
	.help =
"A profile is an INI file. Copy what `kontest profile show` prints, change it,\n"
"and name your file with a '/': --profile ./mine.ini\n",
	.run = run,
};
