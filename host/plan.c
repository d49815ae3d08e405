/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan.h"

#include <stdio.h>
#include <string.h>

#include "images/ini_file.h"
#include "loads/load.h"
#include "results/base/cleanup.h"
#include "results/columns.h"

#define PLAN_MAX_BYTES (256 * 1024)
#define BLANKS " \t\r\n"
#define SEPARATORS ", \t\n"
#define TARGET_MAX 1000
#define TARGET_CHARS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+"
#define COMMAND_MAX 1900

void plan_init(struct plan *p)
{
	*p = (struct plan){
		.profile = xstrdup("osdl-up"),
		.job = xstrdup("quick"),
		.boots = 1,
		.runs = 1,
		.lead_ms = 3000,
		.run_timeout_s = 1800,
	};
}

void plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->kernels.n; i++) {
		struct plan_kernel *k = &p->kernels.v[i];

		free(k->label);
		free(k->image);
		free(k->modules);
		free(k->config);
		free(k->cmdline);
	}
	plan_kernels_free(&p->kernels);
	plan_tunables_free(&p->tunables);
	for (size_t i = 0; i < p->loads.n; i++)
		free(p->loads.v[i].name);
	plan_loads_free(&p->loads);
	plan_bench_free(&p->bench);
	free(p->name);
	free(p->profile);
	free(p->job);
	free(p->job_target);
	free(p->job_tree);
	free(p->job_command);
	free(p->job_prepare);
	free(p->text);
	*p = (struct plan){ 0 };
}

static void replace(char **s, const char *value)
{
	free(*s);
	*s = xstrdup(value);
}

static void known_loads(struct buf *names)
{
	const struct load_ops *l;

	for (size_t i = 0; (l = load_nth(i)); i++)
		buf_printf(names, "%s%s", i ? ", " : "", l->name);
}

static struct plan_load *find_load(struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->loads.n; i++)
		if (!strcmp(p->loads.v[i].name, name))
			return &p->loads.v[i];
	return NULL;
}

/* A load that the plan names only in [size] keeps runs = 0 and is not run. */
static struct plan_load *get_load(struct plan *p, const char *name,
				  struct error *err)
{
	struct plan_load *l = find_load(p, name);
	CLEANUP(buf_free) struct buf names = { 0 };

	if (l)
		return l;
	if (!load_find(name)) {
		known_loads(&names);
		error_set(err, 0, "there is no load '%s'; there are %s", name,
			  names.data);
		return NULL;
	}
	return plan_loads_add(&p->loads,
			      (struct plan_load){ .name = xstrdup(name) });
}

/* Runs of a load that gives no number of its own: worked out in plan_finish(). */
#define RUNS_OF_PLAN (~0u)

static int set_loads(struct plan *p, const char *value, struct error *err)
{
	cleanup_free char *copy = xstrdup(value);
	char *save = NULL;
	struct plan_loads kept = p->loads;
	int ret = 0;

	/* The order is that of the list, sizes set before are kept. */
	p->loads = (struct plan_loads){ 0 };
	for (char *w = strtok_r(copy, SEPARATORS, &save); w && !ret;
	     w = strtok_r(NULL, SEPARATORS, &save)) {
		char *colon = strchr(w, ':');
		uint64_t runs = RUNS_OF_PLAN;
		struct plan_load *l;

		if (colon) {
			*colon = '\0';
			if (!parse_u64(colon + 1, &runs) || !runs || runs > 1000) {
				ret = error_set(err, 0, "load '%s': ':%s' is no number of runs from 1 to 1000",
						w, colon + 1);
				break;
			}
		}
		l = get_load(p, w, err);
		if (!l) {
			ret = -1;
		} else if (l->runs) {
			ret = error_set(err, 0, "load '%s' is named twice: write %s:2 for two runs",
					w, w);
		} else {
			l->runs = (unsigned int)runs;
		}
	}
	for (size_t i = 0; i < kept.n; i++) {
		struct plan_load *l = find_load(p, kept.v[i].name);

		if (l)
			l->size = kept.v[i].size;
		else if (kept.v[i].size)
			plan_loads_add(&p->loads, (struct plan_load){
				.name = xstrdup(kept.v[i].name),
				.size = kept.v[i].size });
		free(kept.v[i].name);
	}
	plan_loads_free(&kept);
	if (!ret && !p->loads.n)
		return error_set(err, 0, "loads is empty: name at least one");
	return ret;
}

static int set_number(unsigned int *out, const char *key, const char *value,
		      uint64_t min, uint64_t max, struct error *err)
{
	uint64_t n;

	if (!parse_u64(value, &n) || n < min || n > max)
		return error_set(err, 0, "%s = %s: give a whole number from %llu to %llu",
				 key, value, (unsigned long long)min,
				 (unsigned long long)max);
	*out = (unsigned int)n;
	return 0;
}

/* More often than that, the samples would be what is measured. */
#define SAMPLE_MS_MIN 100

static int set_sample_ms(struct plan *p, const char *value, struct error *err)
{
	if (set_number(&p->sample_ms, "sample-ms", value, 0, 3600000, err) < 0)
		return -1;
	if (p->sample_ms && p->sample_ms < SAMPLE_MS_MIN)
		return error_set(err, 0, "sample-ms = %s: give 0 for no samples, or at least %d",
				 value, SAMPLE_MS_MIN);
	return 0;
}

/* "linux:kernel/sched/": a job and what of it is made */
static int set_job(struct plan *p, const char *value, struct error *err)
{
	const char *colon = strchr(value, ':');

	free(steal_ptr(p->job));
	free(steal_ptr(p->job_target));
	p->job = colon ? xstrndup(value, (size_t)(colon - value)) : xstrdup(value);
	if (!colon)
		return 0;
	/* It becomes an argument of make: no option, no assignment, no blank. */
	if (!colon[1] || colon[1] == '-' || colon[1] == '/' ||
	    strlen(colon + 1) > TARGET_MAX || strstr(colon + 1, "..") ||
	    strspn(colon + 1, TARGET_CHARS) != strlen(colon + 1))
		return error_set(err, 0, "job = %s: '%s' is no target: give one such as kernel/sched/ or mm/slob.o, of letters, digits and _-./+",
				 value, colon + 1);
	p->job_target = xstrdup(colon + 1);
	return 0;
}

static int job_key(struct plan *p, const char *key, const char *value,
		   struct error *err)
{
	char **to = !strcmp(key, "tree") ? &p->job_tree
		  : !strcmp(key, "command") ? &p->job_command
		  : !strcmp(key, "prepare") ? &p->job_prepare : NULL;

	if (!to)
		return error_set(err, 0, "unknown key '%s' in [job]: there are tree, command and prepare",
				 key);
	if (!*value || strlen(value) > COMMAND_MAX || strpbrk(value, "\n\r"))
		return error_set(err, 0, "[job] %s: give one line of 1 to %d bytes",
				 key, COMMAND_MAX);
	return replace(to, value), 0;
}

/* What the job needs is there, and nothing that it knows nothing of. */
static int check_job(const struct plan *p, struct error *err)
{
	const struct job_ops *j = job_find(p->job);

	if (p->job_target && !j->takes_target)
		return error_set(err, 0, "job '%s' has no targets: leave ':%s' out, or take job = linux:%s",
				 p->job, p->job_target, p->job_target);
	if (j->takes_command && (!p->job_tree || !p->job_command))
		return error_set(err, 0, "job '%s' needs a section [job] with tree = DIR and command = LINE",
				 p->job);
	if (!j->takes_command &&
	    (p->job_tree || p->job_command || p->job_prepare))
		return error_set(err, 0, "section [job] is for job = command, and the plan's job is '%s'",
				 p->job);
	return 0;
}

int plan_set(struct plan *p, const char *key, const char *value,
	     struct error *err)
{
	if (!strcmp(key, "name"))
		return replace(&p->name, value), 0;
	if (!strcmp(key, "profile"))
		return replace(&p->profile, value), 0;
	if (!strcmp(key, "job"))
		return set_job(p, value, err);
	if (!strcmp(key, "loads"))
		return set_loads(p, value, err);
	if (!strcmp(key, "bench"))
		return plan_bench_set(&p->bench, value, err);
	if (plan_auto_key(key, value)) {
		p->boots = strcmp(key, "boots") ? p->boots : 0;
		return plan_auto_set(&p->more, key, value, err);
	}
	if (!strcmp(key, "boots")) {
		plan_auto_number(&p->more);
		return set_number(&p->boots, key, value, 1, 1000, err);
	}
	if (!strcmp(key, "runs"))
		return set_number(&p->runs, key, value, 1, 1000, err);
	if (!strcmp(key, "jobs"))
		return set_number(&p->jobs, key, value, 1, 4096, err);
	if (!strcmp(key, "lead-ms"))
		return set_number(&p->lead_ms, key, value, 0, 600000, err);
	if (!strcmp(key, "run-timeout"))
		return set_number(&p->run_timeout_s, key, value, 1, 86400, err);
	if (!strcmp(key, "sample-ms"))
		return set_sample_ms(p, value, err);
	if (!strcmp(key, "accel")) {
		if (!accel_parse(value, &p->accel))
			return error_set(err, 0, "accel = %s: give auto, kvm, tcg or exact",
					 value);
		p->accel_set = true;
		return 0;
	}
	if (!strcmp(key, "order-seed")) {
		if (!parse_u64(value, &p->order_seed))
			return error_set(err, 0, "order-seed = %s: give a whole number",
					 value);
		p->seed_set = true;
		return 0;
	}
	return error_set(err, 0, "unknown key '%s' in [plan]", key);
}

static struct plan_kernel *find_kernel(struct plan *p, const char *label)
{
	for (size_t i = 0; i < p->kernels.n; i++)
		if (p->kernels.v[i].label && !strcmp(p->kernels.v[i].label, label))
			return &p->kernels.v[i];
	return NULL;
}

int plan_add_kernel(struct plan *p, const char *label, const char *image,
		    struct error *err)
{
	if (label && (!*label || strpbrk(label, "\n\t")))
		return error_set(err, 0, "a kernel's label must not be empty or hold tabs");
	if (label && find_kernel(p, label))
		return error_set(err, 0, "two kernels are labelled '%s'", label);
	plan_kernels_add(&p->kernels, (struct plan_kernel){
		.label = label ? xstrdup(label) : NULL,
		.image = image ? xstrdup(image) : NULL });
	return 0;
}

static int kernel_key(struct plan *p, const char *label, const char *key,
		      const char *value, struct error *err)
{
	struct plan_kernel *k = find_kernel(p, label);

	if (!k) {
		if (plan_add_kernel(p, label, NULL, err) < 0)
			return -1;
		k = &p->kernels.v[p->kernels.n - 1];
	}
	if (!strcmp(key, "image"))
		return replace(&k->image, value), 0;
	if (!strcmp(key, "modules"))
		return replace(&k->modules, value), 0;
	if (!strcmp(key, "config"))
		return replace(&k->config, value), 0;
	if (!strcmp(key, "cmdline"))
		return replace(&k->cmdline, value), 0;
	return error_set(err, 0, "unknown key '%s' in [kernel %s]: there are image, modules, config and cmdline",
			 key, label);
}

static int size_key(struct plan *p, const char *name, const char *value,
		    struct error *err)
{
	struct plan_load *l = get_load(p, name, err);

	if (!l)
		return -1;
	if (!parse_size(value, &l->size) || !l->size)
		return error_set(err, 0, "%s = %s: give a size such as 128MiB",
				 name, value);
	return 0;
}

static int plan_line(void *data, const char *section, const char *key,
		     const char *value, struct error *err)
{
	struct plan *p = data;

	if (!strcmp(section, "plan"))
		return plan_set(p, key, value, err);
	if (!strcmp(section, "size"))
		return size_key(p, key, value, err);
	if (!strcmp(section, "job"))
		return job_key(p, key, value, err);
	if (str_starts(section, "tunable ") && section[8])
		return plan_tunable_key(&p->tunables, section + 8, key, value, err);
	if (str_starts(section, "kernel ") && section[7])
		return kernel_key(p, section + 7, key, value, err);
	if (bench_find(section))
		return plan_bench_key(&p->bench, section, key, value, err);
	return error_set(err, 0, "unknown section [%s]: there are [plan], [job], [size], [tiobench], [chat], [qsbench], [tunable NAME] and [kernel LABEL]",
			 section);
}

int plan_read(struct plan *p, const char *path, struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	const struct ini_format format = {
		.what = "plan", .max_bytes = PLAN_MAX_BYTES, .unique = true,
		.key = plan_line,
	};

	if (ini_file_read(path, &format, p, &text, err) < 0)
		return -1;
	if (!p->name) {
		const char *base = strrchr(path, '/');

		base = base ? base + 1 : path;
		p->name = xstrndup(base, strlen(base) -
					 (str_ends(base, ".plan") ? 5 : 0));
	}
	return 0;
}

int plan_job(struct plan *p, struct error *err)
{
	const struct job_ops *j, *best = NULL;
	size_t len = strlen(p->job);

	if (job_find(p->job))
		return 0;
	for (size_t i = 0; (j = job_nth(i)); i++)
		if (!strncmp(j->name, p->job, len) && j->name[len] == '-')
			best = j;
	if (!best)
		return error_set(err, 0, "there is no job '%s'; there are quick, linux, linux:TARGET and command",
				 p->job);
	replace(&p->job, best->name);
	return 0;
}

/* The kernel tells of its command line without them, and the plan is compared
 * with that; nothing but blanks is no command line. */
static void trim_cmdline(struct plan_kernel *k)
{
	const char *s = k->cmdline ? k->cmdline : "";
	size_t len;
	char *rest;

	s += strspn(s, BLANKS);
	for (len = strlen(s); len && strchr(BLANKS, s[len - 1]); len--)
		;
	rest = len ? xstrndup(s, len) : NULL;
	free(k->cmdline);
	k->cmdline = rest;
}

static void write_text(struct plan *p)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	buf_printf(&b, "[plan]\nname = %s\nprofile = %s\nboots = ", p->name,
		   p->profile);
	if (p->more.boots)
		buf_adds(&b, "auto\n");
	else
		buf_printf(&b, "%u\n", p->boots);
	plan_auto_text(&p->more, &b);
	buf_printf(&b, "runs = %u\nloads =", p->runs);
	for (size_t i = 0; i < p->loads.n; i++)
		if (p->loads.v[i].runs)
			buf_printf(&b, " %s:%u", p->loads.v[i].name,
				   p->loads.v[i].runs);
	plan_bench_text(&p->bench, &b);
	buf_printf(&b, "\njob = %s%s%s\nlead-ms = %u\nrun-timeout = %u\n", p->job,
		   p->job_target ? ":" : "", p->job_target ? p->job_target : "",
		   p->lead_ms, p->run_timeout_s);
	if (p->sample_ms)
		buf_printf(&b, "sample-ms = %u\n", p->sample_ms);
	if (p->jobs)
		buf_printf(&b, "jobs = %u\n", p->jobs);
	if (p->accel_set)
		buf_printf(&b, "accel = %s\n", accel_name(p->accel));
	if (p->seed_set)
		buf_printf(&b, "order-seed = %llu\n",
			   (unsigned long long)p->order_seed);
	if (p->job_command)
		buf_printf(&b, "[job]\ntree = %s\ncommand = %s\n", p->job_tree,
			   p->job_command);
	if (p->job_prepare)
		buf_printf(&b, "prepare = %s\n", p->job_prepare);
	buf_adds(&b, "[size]\n");
	for (size_t i = 0; i < p->loads.n; i++)
		if (p->loads.v[i].size)
			buf_printf(&b, "%s = %llu\n", p->loads.v[i].name,
				   (unsigned long long)p->loads.v[i].size);
	plan_bench_sections(&p->bench, &b);
	for (size_t i = 0; i < p->kernels.n; i++) {
		struct plan_kernel *k = &p->kernels.v[i];

		buf_printf(&b, "[kernel %s]\nimage = %s\n",
			   k->label ? k->label : "", k->image);
		if (k->cmdline)
			buf_printf(&b, "cmdline = %s\n", k->cmdline);
	}
	plan_tunables_text(&p->tunables, &b);
	replace(&p->text, b.data);
	sha256_of(p->text, strlen(p->text), p->digest);
}

/* check_printable() - what every report shows: it must be text in JSON too, and
 * must not steer a terminal */
static int check_printable(const char *what, const char *s, struct error *err)
{
	cleanup_free char *plain = xstrdup(s ? s : ""), *clean = NULL;

	for (char *tab = plain; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	clean = text_clean(plain, NULL);
	if (strcmp(plain, clean) != 0)
		return error_set(err, 0, "%s '%s' holds bytes that are not printable UTF-8, shown as '?': write it without them",
				 what, clean);
	return 0;
}

static int check_texts(const struct plan *p, struct error *err)
{
	if (check_printable("the plan's name", p->name, err))
		return -1;
	for (size_t i = 0; i < p->tunables.n; i++)
		for (size_t k = 0; k < p->tunables.v[i].values.n; k++)
			if (check_printable("a tunable's value",
					    p->tunables.v[i].values.v[k], err))
				return -1;
	for (size_t i = 0; i < p->kernels.n; i++) {
		const struct plan_kernel *k = &p->kernels.v[i];

		if (check_printable("a kernel's label", k->label, err) ||
		    check_printable("a kernel's image", k->image, err) ||
		    check_printable("a kernel's cmdline", k->cmdline, err))
			return -1;
	}
	return 0;
}

int plan_finish(struct plan *p, struct error *err)
{
	size_t runs = 0;

	if (!p->name)
		p->name = xstrdup("unnamed");
	if (!p->kernels.n)
		return error_set(err, 0, "no kernel to test: name one with --kernel debian:linux-image-cloud-amd64, --kernel ./bzImage, or a [kernel LABEL] section in the plan");
	for (size_t i = 0; i < p->kernels.n; i++) {
		if (!p->kernels.v[i].image)
			return error_set(err, 0, "[kernel %s] has no key 'image'",
					 p->kernels.v[i].label);
		trim_cmdline(&p->kernels.v[i]);
	}
	if (plan_tunables_finish(&p->tunables, err) < 0 || check_texts(p, err))
		return -1;
	if (plan_job(p, err) < 0 || check_job(p, err) < 0 ||
	    plan_auto_finish(&p->more, err) < 0)
		return -1;
	for (size_t i = 0; i < p->loads.n; i++) {
		if (p->loads.v[i].runs == RUNS_OF_PLAN)
			p->loads.v[i].runs = p->runs;
		runs += p->loads.v[i].runs;
	}
	if (plan_bench_finish(&p->bench, p->runs, runs > 0, err) < 0)
		return -1;
	if (!runs && plan_bench_contest(&p->bench) &&
	    set_loads(p, "no_load, cacherun, process_load, io_load", err) < 0)
		return -1;
	for (size_t i = 0; i < p->loads.n; i++)
		if (p->loads.v[i].runs == RUNS_OF_PLAN)
			p->loads.v[i].runs = p->runs;
	write_text(p);
	return 0;
}
