/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "images/esp.h"
#include "images/gpt.h"
#include "images/grub.h"
#include "images/manifest.h"
#include "images/uki.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* To be raised whenever this code would make other bytes of the same inputs. */
#define FORMAT "system-2"

#define MIB (1ull << 20)
#define BIOS_OFF (1 * MIB)
#define BIOS_SIZE (1 * MIB)
/* The root lies before the ESP: so it lies at the same place for every kernel,
 * and its digest can be worked out while the ESP is still being made. */
#define ROOT_OFF (BIOS_OFF + BIOS_SIZE)
/* Backup table: 128 entries of 128 bytes, and its header. */
#define BACKUP_SIZE (33 * GPT_SECTOR)
/* Linux takes an NVDIMM in units of 2 MiB. */
#define DISK_UNIT (2 * MIB)
#define FILE_MAX (1u << 30)
/* FAT begins with 1980. */
#define FAT_EPOCH 315532800u
#define FILES 8

/**
 * struct parts - everything that goes on the disk, and where
 * @stub, @vmlinuz, @initrd, @uki, @core, @grub_cfg: contents
 * @manifest, @list: contents: manifest.json, files.mtree
 * @recipe, @lock: the base's texts
 * @files: of the ESP; @n: how many
 * @esp: its geometry
 * @esp_off: where it starts, bytes
 * @size: of the disk, bytes
 *
 * @vmlinuz and @initrd are mapped files.
 */
struct parts {
	struct buf stub, vmlinuz, initrd, uki, core, grub_cfg;
	struct buf manifest, list, recipe, lock;
	char *osrel;
	struct esp_file files[FILES];
	size_t n;
	struct esp_layout esp;
	uint64_t esp_off, size;
};

static void parts_free(struct parts *p)
{
	buf_free(&p->stub);
	buf_free(&p->uki);
	buf_free(&p->core);
	buf_free(&p->grub_cfg);
	buf_free(&p->manifest);
	buf_free(&p->list);
	buf_free(&p->recipe);
	buf_free(&p->lock);
	free(p->osrel);
	if (p->vmlinuz.data)
		munmap(p->vmlinuz.data, p->vmlinuz.len);
	if (p->initrd.data)
		munmap(p->initrd.data, p->initrd.len);
}

static int map_file(const char *path, struct buf *out, struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode) || !st.st_size || st.st_size > FILE_MAX)
		return error_set(err, 0, "'%s' is empty or larger than %u bytes: neither a kernel nor an initramfs",
				 path, FILE_MAX);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return error_set(err, errno, "map '%s'", path);
	out->data = map;
	out->len = (size_t)st.st_size;
	return 0;
}

static void role_uuid(const struct base *b, const char *role, uint8_t uuid[16])
{
	char seed[UUID_TEXT];

	uuid_text(b->uuid, seed);
	uuid5(seed, role, uuid);
}

void system_root_partuuid(const struct base *b, char text[UUID_TEXT])
{
	uint8_t uuid[16];

	role_uuid(b, "system/root", uuid);
	uuid_text(uuid, text);
}

static int read_stub(struct buf *stub, struct error *err)
{
	if (!file_read(UKI_STUB, FILE_MAX, stub, err))
		return 0;
	if (err && err->errnum == ENOENT)
		return error_set(err, 0, "there is no '%s', which boots the image by UEFI; install the Debian package systemd-boot-efi (`make deps` installs all that kontest needs)",
				 UKI_STUB);
	return -1;
}

/* What the image is made of. @grub: digest of GRUB's share, by itself. */
static int make_key(const struct base *b, const struct kernel *k,
		    const struct initramfs *i, const struct parts *p,
		    char grub[SHA256_HEX], char key[SHA256_HEX],
		    struct error *err)
{
	struct sha256 s;
	int ret;

	sha256_init(&s);
	ret = grub_inputs(&s, err);
	sha256_final(&s, grub);
	if (ret < 0)
		return -1;
	sha256_init(&s);
	sha256_adds(&s, FORMAT);
	sha256_adds(&s, SYSTEM_CMDLINE);
	sha256_adds(&s, b->digest);
	sha256_add(&s, b->uuid, sizeof(b->uuid));
	sha256_add(&s, &b->epoch, sizeof(b->epoch));
	sha256_adds(&s, k->digest);
	sha256_adds(&s, k->release ? k->release : "");
	sha256_adds(&s, k->package ? k->package : "");
	sha256_adds(&s, k->package_version ? k->package_version : "");
	sha256_adds(&s, b->recipe_digest);
	sha256_adds(&s, b->lock_digest);
	sha256_adds(&s, b->files_digest);
	sha256_adds(&s, KONTEST_VERSION);
	sha256_adds(&s, i->digest);
	sha256_adds(&s, grub);
	sha256_add(&s, p->stub.data, p->stub.len);
	ret = esp_inputs(&s, err);
	sha256_final(&s, key);
	return ret;
}

/* Is the image there? Its digest is written last, so then it is whole. */
static bool find_image(const char *path, const char *sidecar,
		       struct system_image *out)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct stat st;

	if (file_read(sidecar, 4096, &b, NULL) < 0 || stat(path, &st) < 0 ||
	    b.len < SHA256_HEX || strspn(b.data, "0123456789abcdef") != SHA256_HEX - 1 ||
	    !st.st_size || st.st_size % (off_t)DISK_UNIT)
		return false;
	memcpy(out->digest, b.data, SHA256_HEX - 1);
	out->digest[SHA256_HEX - 1] = '\0';
	out->size = (uint64_t)st.st_size;
	return true;
}

/* GRUB's core is the same for every kernel and takes 0.1 s to make. */
static int load_core(const struct cache *c, const char *grub, struct parts *p,
		     struct error *err)
{
	cleanup_free char *path = cache_path(c, "grub", grub, ".core");
	cleanup_close int lock = -1;
	struct error none = { 0 };

	if (!file_read(path, BIOS_SIZE, &p->core, &none) && p->core.len)
		return 0;
	p->core.len = 0;
	lock = cache_lock(c, "grub", grub, err);
	if (lock < 0)
		return -1;
	if (grub_core(&p->core, err) < 0)
		return -1;
	return file_write(path, p->core.data, p->core.len, err);
}

static void plan_files(struct parts *p, const struct kernel *k,
		       const struct initramfs *i)
{
	p->osrel = xasprintf("ID=kontest\nNAME=kontest\nVERSION_ID=\"%s\"\nPRETTY_NAME=\"kontest on Linux %s\"\n",
			     k->release ? k->release : "",
			     k->release ? k->release : "");
	buf_adds(&p->grub_cfg, "linux /vmlinuz " SYSTEM_CMDLINE "\n"
			       "initrd /initrd\n"
			       "boot\n");
	p->files[0] = (struct esp_file){ GRUB_CFG, NULL, &p->grub_cfg,
					 p->grub_cfg.len };
	p->files[1] = (struct esp_file){ "vmlinuz", k->vmlinuz, NULL,
					 p->vmlinuz.len };
	p->files[2] = (struct esp_file){ "initrd", i->path, NULL,
					 p->initrd.len };
	p->files[3] = (struct esp_file){ "EFI/BOOT/BOOTX64.EFI", NULL, &p->uki,
					 p->uki.len };
	p->n = 4;
}

static void add_text(struct parts *p, const char *name, const struct buf *text)
{
	p->files[p->n++] = (struct esp_file){ name, NULL, text, text->len };
}

/* What others need to make this very image again, and to look through it. */
static int describe(const struct base *b, const struct kernel *k,
		    const struct initramfs *i, struct parts *p,
		    struct error *err)
{
	char grub[SHA256_HEX], stub[SHA256_HEX];

	if (b->files && file_read(b->files, MANIFEST_TEXT_MAX_BYTES, &p->list, err) < 0)
		return -1;
	buf_adds(&p->recipe, b->recipe ? b->recipe : "");
	buf_adds(&p->lock, b->lock ? b->lock : "");
	sha256_of(p->core.data, p->core.len, grub);
	sha256_of(p->stub.data, p->stub.len, stub);
	manifest_write(b, k, i, grub, stub, SYSTEM_CMDLINE, &p->manifest);
	add_text(p, MANIFEST_JSON, &p->manifest);
	add_text(p, MANIFEST_RECIPE, &p->recipe);
	add_text(p, MANIFEST_LOCK, &p->lock);
	add_text(p, MANIFEST_FILES, &p->list);
	return 0;
}

static int gather(const struct cache *c, const struct base *b,
		  const struct kernel *k, const struct initramfs *i,
		  const char *grub, struct parts *p, struct error *err)
{
	struct uki_parts u = { &p->stub, UKI_STUB, &p->vmlinuz, &p->initrd,
			       SYSTEM_CMDLINE, NULL };
	uint64_t end;
	struct step step;

	step_begin(&step, c, "uki");
	if (load_core(c, grub, p, err) < 0 ||
	    map_file(k->vmlinuz, &p->vmlinuz, err) < 0 ||
	    map_file(i->path, &p->initrd, err) < 0)
		return -1;
	plan_files(p, k, i);
	u.osrel = p->osrel;
	if (uki_build(&u, &p->uki, err) < 0)
		return -1;
	p->files[3].size = p->uki.len;
	if (describe(b, k, i, p, err) < 0 ||
	    esp_plan(p->files, p->n, &p->esp, err) < 0)
		return -1;
	p->esp_off = (ROOT_OFF + b->size + MIB - 1) / MIB * MIB;
	end = p->esp_off + p->esp.size + BACKUP_SIZE;
	p->size = (end + DISK_UNIT - 1) / DISK_UNIT * DISK_UNIT;
	step_end(&step, false, "%.1f MB", (double)p->uki.len / 1e6);
	return 0;
}

static int partition(int fd, const char *path, const struct base *b,
		     const struct parts *p, struct error *err)
{
	struct gpt_part parts[] = {
		{ BIOS_OFF, BIOS_SIZE, GPT_TYPE_BIOS_BOOT, "kontest-bios", { 0 } },
		{ p->esp_off, p->esp.size, GPT_TYPE_ESP, "kontest-esp", { 0 } },
		{ ROOT_OFF, b->size, GPT_TYPE_ROOT_X86_64, "kontest-root", { 0 } },
	};
	uint8_t disk[16];

	role_uuid(b, "system/disk", disk);
	role_uuid(b, "system/bios", parts[0].uuid);
	role_uuid(b, "system/esp", parts[1].uuid);
	role_uuid(b, "system/root", parts[2].uuid);
	return gpt_write(fd, path, disk, parts, 3, err);
}

/**
 * struct root_job - a thread that deals with the root beside everything else
 * @base, @image: open files
 * @len: bytes of the root
 * @path, @base_path: names for error texts
 * @sha: digest of the disk so far
 * @ret, @err: how it went
 */
struct root_job {
	pthread_t thread;
	int base, image;
	uint64_t len;
	const char *path, *base_path;
	struct sha256 *sha;
	int ret;
	struct error err;
};

static void *copy_root(void *data)
{
	struct root_job *j = data;

	j->ret = file_copy_range(j->base, 0, j->image, ROOT_OFF, j->len,
				 j->path, &j->err);
	return NULL;
}

static int hash_range(struct sha256 *s, int fd, uint64_t off, uint64_t len,
		      const char *path, struct error *err)
{
	enum { CHUNK = 256 * 1024 };
	cleanup_free char *chunk = xmalloc(CHUNK);

	while (len) {
		size_t n = len < CHUNK ? (size_t)len : CHUNK;

		if (full_pread(fd, chunk, n, (off_t)off, path, err) < 0)
			return -1;
		sha256_add(s, chunk, n);
		off += n;
		len -= n;
	}
	return 0;
}

/* The root's bytes are taken from the base itself: in the image they may not
 * have arrived yet. */
static void *hash_root(void *data)
{
	struct root_job *j = data;

	j->ret = hash_range(j->sha, j->image, 0, ROOT_OFF, j->path, &j->err);
	if (!j->ret)
		j->ret = hash_range(j->sha, j->base, 0, j->len, j->base_path,
				    &j->err);
	return NULL;
}

static int make_esp(const struct cache *c, const char *path,
		    const struct base *b, const struct parts *p,
		    struct error *err)
{
	uint32_t epoch = b->epoch > FAT_EPOCH ? b->epoch : FAT_EPOCH;
	uint8_t id[16];
	struct step step;

	step_begin(&step, c, "esp");
	role_uuid(b, "system/fat", id);
	if (esp_write(path, p->esp_off, &p->esp,
		      (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 |
		      (uint32_t)id[2] << 8 | id[3], epoch, p->files, p->n, err) < 0)
		return -1;
	step_end(&step, false, "%.1f MB", (double)p->esp.size / 1e6);
	return 0;
}

/* Start a thread; when that cannot be, do its work here. */
static bool start(struct root_job *j, void *(*fn)(void *))
{
	if (!pthread_create(&j->thread, NULL, fn, j))
		return true;
	fn(j);
	return false;
}

/* Root and ESP, three things at a time: copy the root, work out the digest,
 * make the ESP. */
static int fill(const struct cache *c, const struct newfile *f, int base_fd,
		const struct base *b, const struct parts *p,
		struct sha256 *sha, struct error *err)
{
	struct root_job copy = { .base = base_fd, .image = f->fd,
				 .len = b->size, .path = f->path,
				 .base_path = b->path, .sha = sha };
	struct root_job hash = copy;
	bool copying = start(&copy, copy_root), hashing = start(&hash, hash_root);
	uint64_t end = ROOT_OFF + b->size;
	int ret = make_esp(c, f->tmp, b, p, err);

	if (copying)
		pthread_join(copy.thread, NULL);
	/* To the disk while the digest is still being worked out. Not earlier:
	 * other writes to the file would have to wait. Not checked here, since
	 * newfile_commit() syncs again and reports what failed. */
	if (!ret && !copy.ret)
		sync_file_range(f->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	if (hashing)
		pthread_join(hash.thread, NULL);
	if (copy.ret < 0 || hash.ret < 0) {
		if (err)
			*err = copy.ret < 0 ? copy.err : hash.err;
		return -1;
	}
	if (ret < 0)
		return -1;
	return hash_range(sha, f->fd, end, p->size - end, f->path, err);
}

static int open_base(const struct base *b, struct error *err)
{
	cleanup_close int fd = open(b->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open '%s'", b->path);
	if ((uint64_t)st.st_size != b->size || !b->size || b->size % GPT_SECTOR)
		return error_set(err, 0, "'%s' should be %llu bytes long and is %lld: remove it and build again",
				 b->path, (unsigned long long)b->size,
				 (long long)st.st_size);
	return steal_fd(&fd);
}

/* mtools would report a full disk in riddles: so its room is taken beforehand. */
static int reserve_esp(int fd, const char *path, const struct parts *p,
		       struct error *err)
{
	if (!fallocate(fd, 0, (off_t)p->esp_off, (off_t)p->esp.size) ||
	    errno == EOPNOTSUPP)
		return 0;
	return error_set(err, errno, "reserve %llu MiB for '%s': free some space, or choose another directory with XDG_CACHE_HOME",
			 (unsigned long long)(p->esp.size / MIB), path);
}

static int assemble(const struct cache *c, const struct base *b,
		    struct parts *p, const char *path, char hex[SHA256_HEX],
		    struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	cleanup_close int base_fd = open_base(b, err);
	struct sha256 sha;
	int ret;

	if (base_fd < 0 || newfile_open(&f, path, 0666, err) < 0)
		return -1;
	if (ftruncate(f.fd, (off_t)p->size) < 0)
		return error_set(err, errno, "write '%s'", path);
	if (reserve_esp(f.fd, path, p, err) < 0 ||
	    partition(f.fd, f.tmp, b, p, err) < 0 ||
	    grub_embed(f.fd, path, &p->core, BIOS_OFF, BIOS_SIZE, err) < 0)
		return -1;
	sha256_init(&sha);
	ret = fill(c, &f, base_fd, b, p, &sha, err);
	sha256_final(&sha, hex);
	return ret < 0 ? -1 : newfile_commit(&f, err);
}

static int make_image(const struct cache *c, const struct base *b,
		      const struct kernel *k, const struct initramfs *i,
		      struct parts *p, const char *grub, const char *sidecar,
		      struct system_image *out, struct error *err)
{
	const char *name = strrchr(out->path, '/') + 1;
	cleanup_free char *line = NULL;
	struct step step;

	if (gather(c, b, k, i, grub, p, err) < 0)
		return -1;
	step_begin(&step, c, "system image");
	if (assemble(c, b, p, out->path, out->digest, err) < 0)
		return -1;
	out->size = p->size;
	line = xasprintf("%s  %s\n", out->digest, name);
	if (file_write(sidecar, line, strlen(line), err) < 0)
		return -1;
	step_end(&step, false, "%.1f MB, %.12s", (double)p->size / 1e6,
		 out->digest);
	return 0;
}

int system_build(const struct cache *c, const struct base *b,
		 const struct kernel *k, const struct initramfs *i,
		 struct system_image *out, struct error *err)
{
	CLEANUP(parts_free) struct parts p = { 0 };
	CLEANUP(system_image_free) struct system_image s = { 0 };
	cleanup_free char *sidecar = NULL;
	cleanup_close int lock = -1;
	char grub[SHA256_HEX], key[SHA256_HEX];
	struct step step;

	step_begin(&step, c, "system image");
	if (read_stub(&p.stub, err) < 0 ||
	    make_key(b, k, i, &p, grub, key, err) < 0)
		return -1;
	s.path = cache_path(c, "images", key, ".img");
	sidecar = cache_path(c, "images", key, ".sha256");
	s.vmlinuz = xstrdup(k->vmlinuz);
	s.initrd = xstrdup(i->path);
	s.cmdline = xstrdup(SYSTEM_CMDLINE);
	if (!find_image(s.path, sidecar, &s)) {
		lock = cache_lock(c, "images", key, err);
		if (lock < 0)
			return -1;
	}
	if (lock >= 0 && !find_image(s.path, sidecar, &s)) {
		if (make_image(c, b, k, i, &p, grub, sidecar, &s, err) < 0)
			return error_prefix(err, "system image");
	} else {
		step_end(&step, true, "%.1f MB, %.12s", (double)s.size / 1e6,
			 s.digest);
	}
	*out = s;
	s = (struct system_image){ 0 };
	return 0;
}

void system_image_free(struct system_image *s)
{
	free(s->path);
	free(s->vmlinuz);
	free(s->initrd);
	free(s->cmdline);
	*s = (struct system_image){ 0 };
}
