/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/modules.h"

#include <errno.h>
#include <fts.h>
#include <gelf.h>
#include <string.h>

#include "images/unpack.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* The biggest module known (an unstripped amdgpu.ko) has some 400 MiB. */
#define MODULE_MAX_BYTES ((size_t)1 << 30)

enum { MARK_NEW, MARK_OPEN, MARK_DONE };

struct modules {
	struct module_list all;		/* sorted by name once @sorted */
	struct strings builtin;		/* names, sorted */
	bool sorted;
	bool aliases_read;
};

static const char *const suffixes[] = { ".ko", ".ko.gz", ".ko.xz", ".ko.zst" };

static const char *ko_suffix(const char *path)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (str_ends(path, suffixes[i]))
			return suffixes[i];
	return NULL;
}

bool modules_is_ko(const char *path)
{
	return ko_suffix(path) != NULL;
}

bool modules_never_needed(const char *path)
{
	static const char *const dirs[] = {
		"/drivers/gpu/", "/drivers/media/", "/drivers/net/",
		"/drivers/infiniband/", "/sound/",
	};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (strstr(path, dirs[i]))
			return true;
	return false;
}

/* "kernel/drivers/misc/pvpanic/pvpanic-pci.ko.xz" -> "pvpanic_pci" */
static char *name_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *suffix = ko_suffix(base);
	char *name = xstrndup(base, strlen(base) - (suffix ? strlen(suffix) : 0));

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

struct modules *modules_new(void)
{
	return xcalloc(1, sizeof(struct modules));
}

static void module_free(struct module *mod)
{
	free(mod->name);
	free(mod->path);
	free(mod->file);
	free(mod->data);
	free(mod->release);
	strings_clear(&mod->depends);
	strings_clear(&mod->pre);
	strings_clear(&mod->post);
	strings_clear(&mod->aliases);
	free(mod);
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->all.n; i++)
		module_free(m->all.v[i]);
	module_list_free(&m->all);
	strings_clear(&m->builtin);
	free(m);
}

static struct module *add(struct modules *m, const char *path)
{
	struct module *mod = xcalloc(1, sizeof(*mod));
	const char *suffix = ko_suffix(path);
	size_t stem = strlen(path) - (suffix ? strlen(suffix) : 0);

	mod->name = name_of_path(path);
	mod->path = xasprintf("%.*s.ko", (int)stem, path);
	module_list_add(&m->all, mod);
	m->sorted = false;
	m->aliases_read = false;
	return mod;
}

void modules_add(struct modules *m, const char *path, void *data, size_t size)
{
	struct module *mod = add(m, path);

	mod->data = data;
	mod->size = size;
}

void modules_add_file(struct modules *m, const char *path, const char *file)
{
	add(m, path)->file = xstrdup(file);
}

int modules_add_dir(struct modules *m, const char *dir, struct error *err)
{
	cleanup_free char *top = xstrdup(dir);
	char *paths[] = { top, NULL };
	size_t skip;
	FTSENT *e;

	for (skip = strlen(top); skip > 1 && top[skip - 1] == '/'; skip--)
		top[skip - 1] = '\0';
	cleanup_fts FTS *f = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!f)
		return error_set(err, errno, "read directory '%s'", dir);
	while (errno = 0, (e = fts_read(f))) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR ||
		    e->fts_info == FTS_NS)
			return error_set(err, e->fts_errno, "read '%s'", e->fts_path);
		if (e->fts_info == FTS_F && modules_is_ko(e->fts_name))
			modules_add_file(m, e->fts_path + skip + 1, e->fts_path);
	}
	if (errno)
		return error_set(err, errno, "read directory '%s'", dir);
	return 0;
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void modules_set_builtin(struct modules *m, const char *text)
{
	strings_clear(&m->builtin);
	while (*text) {
		size_t len = strcspn(text, "\n");
		cleanup_free char *line = xstrndup(text, len);

		if (modules_is_ko(line))
			strings_add(&m->builtin, name_of_path(line));
		text += len + (text[len] == '\n');
	}
	if (m->builtin.n)
		qsort(m->builtin.v, m->builtin.n, sizeof(char *), by_string);
}

/* Two files may have one name (a backport below updates/): the path decides,
 * so that the order in which a directory is read does not. */
static int by_name(const void *a, const void *b)
{
	const struct module *x = *(struct module *const *)a;
	const struct module *y = *(struct module *const *)b;
	int d = strcmp(x->name, y->name);

	return d ? d : strcmp(x->path, y->path);
}

static void sort(struct modules *m)
{
	if (!m->sorted && m->all.n)
		qsort(m->all.v, m->all.n, sizeof(m->all.v[0]), by_name);
	m->sorted = true;
}

size_t modules_count(const struct modules *m)
{
	return m->all.n;
}

static int name_cmp(const char *key, const char *name)
{
	for (; *key && (*key == '-' ? '_' : *key) == *name; key++)
		name++;
	return (unsigned char)(*key == '-' ? '_' : *key) - (unsigned char)*name;
}

static int find_module(const void *key, const void *elem)
{
	return name_cmp(key, (*(struct module *const *)elem)->name);
}

static int find_string(const void *key, const void *elem)
{
	return name_cmp(key, *(char *const *)elem);
}

struct module *modules_find(struct modules *m, const char *name)
{
	struct module **hit;

	sort(m);
	if (!m->all.n)
		return NULL;
	hit = bsearch(name, m->all.v, m->all.n, sizeof(m->all.v[0]), find_module);
	while (hit && hit > m->all.v && strcmp(hit[-1]->name, (*hit)->name) == 0)
		hit--;
	return hit ? *hit : NULL;
}

bool modules_builtin(const struct modules *m, const char *name)
{
	return m->builtin.n && bsearch(name, m->builtin.v, m->builtin.n,
				       sizeof(char *), find_string);
}

static void add_words(struct strings *to, const char *text, const char *sep)
{
	while (*text) {
		size_t len = strcspn(text, sep);

		if (len)
			strings_add(to, xstrndup(text, len));
		text += len + (text[len] != '\0');
	}
}

/* softdep=pre: a b post: c */
static void add_softdep(struct module *mod, const char *text)
{
	struct strings words = { 0 }, *to = NULL;

	add_words(&words, text, " \t");
	for (size_t i = 0; i < words.n; i++) {
		if (strcmp(words.v[i], "pre:") == 0)
			to = &mod->pre;
		else if (strcmp(words.v[i], "post:") == 0)
			to = &mod->post;
		else if (to)
			strings_add(to, xstrdup(words.v[i]));
	}
	strings_clear(&words);
}

static void take_modinfo(struct module *mod, const char *text, size_t len)
{
	for (const char *p = text, *end = text + len; p < end;) {
		size_t n = strnlen(p, (size_t)(end - p));
		cleanup_free char *line = xstrndup(p, n);

		if (str_starts(line, "depends="))
			add_words(&mod->depends, line + 8, ",");
		else if (str_starts(line, "softdep="))
			add_softdep(mod, line + 8);
		else if (str_starts(line, "alias="))
			strings_add(&mod->aliases, xstrdup(line + 6));
		else if (str_starts(line, "vermagic=") && !mod->release)
			mod->release = xstrndup(line + 9, strcspn(line + 9, " "));
		p += n + 1;
	}
}

static void elf_endp(Elf **e)
{
	if (*e)
		elf_end(*e);
}

static int read_modinfo(struct module *mod, const char *what, struct error *err)
{
	CLEANUP(elf_endp) Elf *elf = NULL;
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	size_t names;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_set(err, 0, "libelf: %s", elf_errmsg(-1));
	elf = elf_memory(mod->data, mod->size);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
	    elf_getshdrstrndx(elf, &names) < 0)
		return error_set(err, 0, "'%s': not a kernel module (no ELF file); build or install the modules again",
				 what);
	if (eh.e_machine != EM_X86_64)
		return error_set(err, 0, "'%s': a module for another architecture (ELF machine %u); kontest measures x86-64 kernels",
				 what, eh.e_machine);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) ||
		    !(name = elf_strptr(elf, names, sh.sh_name)) ||
		    strcmp(name, ".modinfo") != 0)
			continue;
		d = elf_getdata(scn, NULL);
		if (d && d->d_buf) {
			take_modinfo(mod, d->d_buf, d->d_size);
			return 0;
		}
	}
	return error_set(err, 0, "'%s': not a kernel module (no section .modinfo); build or install the modules again",
			 what);
}

int module_load(struct module *mod, struct error *err)
{
	const char *what = mod->file ? mod->file : mod->path;
	struct buf b = { 0 };

	if (mod->loaded)
		return 0;
	if (mod->file && !mod->data) {
		if (file_read(mod->file, MODULE_MAX_BYTES, &b, err) < 0) {
			buf_free(&b);
			return -1;
		}
		mod->data = b.data;
		mod->size = b.len;
	}
	if (mod->data && unpack_method(mod->data, mod->size)) {
		struct buf plain = { 0 };

		if (unpack(mod->data, mod->size, MODULE_MAX_BYTES, &plain, what, err) < 0) {
			buf_free(&plain);
			return -1;
		}
		free(mod->data);
		mod->data = plain.data;
		mod->size = plain.len;
	}
	if (!mod->data)
		return error_set(err, 0, "'%s': an empty file; build or install the modules again", what);
	if (read_modinfo(mod, what, err) < 0)
		return -1;
	mod->loaded = true;
	return 0;
}

/* Aliases are known only from the files themselves: read those of the crypto
 * directories, and those only when a softdep asks for one. */
static int read_aliases(struct modules *m, struct error *err)
{
	if (m->aliases_read)
		return 0;
	for (size_t i = 0; i < m->all.n; i++) {
		struct module *mod = m->all.v[i];

		if (strstr(mod->path, "crypto/") &&
		    !strstr(mod->path, "drivers/") && module_load(mod, err) < 0)
			return -1;
	}
	m->aliases_read = true;
	return 0;
}

static bool has_alias(const struct module *mod, const char *alias)
{
	for (size_t i = 0; i < mod->aliases.n; i++)
		if (name_cmp(alias, mod->aliases.v[i]) == 0 ||
		    strcmp(alias, mod->aliases.v[i]) == 0)
			return true;
	return false;
}

static int visit(struct modules *m, struct module *mod, struct module_list *out,
		 struct error *err);

static int visit_soft(struct modules *m, const struct strings *names,
		      struct module_list *out, struct error *err)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->v[i];
		struct module *mod = modules_find(m, name);

		/* A circle through a softdep is no error: it is a wish. */
		if (mod) {
			if (mod->mark != MARK_OPEN && visit(m, mod, out, err) < 0)
				return -1;
			continue;
		}
		if (modules_builtin(m, name))
			continue;
		if (read_aliases(m, err) < 0)
			return -1;
		for (size_t j = 0; j < m->all.n; j++)
			if (has_alias(m->all.v[j], name) &&
			    m->all.v[j]->mark != MARK_OPEN &&
			    visit(m, m->all.v[j], out, err) < 0)
				return -1;
	}
	return 0;
}

static int visit_hard(struct modules *m, struct module *mod,
		      struct module_list *out, struct error *err)
{
	for (size_t i = 0; i < mod->depends.n; i++) {
		struct module *dep = modules_find(m, mod->depends.v[i]);

		if (dep) {
			if (visit(m, dep, out, err) < 0)
				return -1;
		} else if (!modules_builtin(m, mod->depends.v[i])) {
			return error_set(err, 0, "module '%s' needs '%s', which is not among the kernel's modules; install them all (make modules_install)",
					 mod->path, mod->depends.v[i]);
		}
	}
	return 0;
}

static int visit(struct modules *m, struct module *mod, struct module_list *out,
		 struct error *err)
{
	if (mod->mark == MARK_DONE || modules_builtin(m, mod->name))
		return 0;
	if (mod->mark == MARK_OPEN)
		return error_set(err, 0, "module '%s' depends on itself; its modules directory is damaged",
				 mod->path);
	mod->mark = MARK_OPEN;
	if (module_load(mod, err) < 0 ||
	    visit_soft(m, &mod->pre, out, err) < 0 ||
	    visit_hard(m, mod, out, err) < 0)
		return -1;
	module_list_add(out, mod);
	mod->mark = MARK_DONE;
	return visit_soft(m, &mod->post, out, err);
}

int modules_closure(struct modules *m, const char *const roots[],
		    struct module_list *out, struct error *err)
{
	sort(m);
	for (size_t i = 0; i < m->all.n; i++)
		m->all.v[i]->mark = MARK_NEW;
	for (size_t i = 0; roots[i]; i++) {
		struct module *mod = modules_find(m, roots[i]);

		if (mod && visit(m, mod, out, err) < 0)
			return -1;
	}
	return 0;
}
