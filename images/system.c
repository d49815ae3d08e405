/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "images/esp.h"
#include "images/gpt.h"
#include "images/grub.h"
#include "images/uki.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* To be raised whenever this code would make other bytes of the same inputs. */
#define FORMAT "system-1"

#define MIB (1ull << 20)
#define BIOS_OFF (1 * MIB)
#define BIOS_SIZE (1 * MIB)
#define ESP_OFF (BIOS_OFF + BIOS_SIZE)
/* Backup table: 128 entries of 128 bytes, and its header. */
#define BACKUP_SIZE (33 * GPT_SECTOR)
/* Linux takes an NVDIMM in units of 2 MiB. */
#define DISK_UNIT (2 * MIB)
#define FILE_MAX (1u << 30)
/* FAT begins with 1980. */
#define FAT_EPOCH 315532800u

/**
 * struct parts - everything that goes on the disk, and where
 * @stub, @vmlinuz, @initrd, @uki, @core, @grub_cfg: contents
 * @files: of the ESP
 * @esp: its geometry
 * @root_off: where p3 starts, bytes
 * @size: of the disk, bytes
 */
struct parts {
	struct buf stub, vmlinuz, initrd, uki, core, grub_cfg;
	char *osrel;
	struct esp_file files[4];
	struct esp_layout esp;
	uint64_t root_off, size;
};

static void parts_free(struct parts *p)
{
	buf_free(&p->stub);
	buf_free(&p->vmlinuz);
	buf_free(&p->initrd);
	buf_free(&p->uki);
	buf_free(&p->core);
	buf_free(&p->grub_cfg);
	free(p->osrel);
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
	cleanup_free char *path = cache_path(c, "images", grub, ".grub");
	struct error none = { 0 };

	if (!file_read(path, BIOS_SIZE, &p->core, &none) && p->core.len)
		return 0;
	p->core.len = 0;
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
	    file_read(k->vmlinuz, FILE_MAX, &p->vmlinuz, err) < 0 ||
	    file_read(i->path, FILE_MAX, &p->initrd, err) < 0)
		return -1;
	plan_files(p, k, i);
	u.osrel = p->osrel;
	if (uki_build(&u, &p->uki, err) < 0)
		return -1;
	p->files[3].size = p->uki.len;
	if (esp_plan(p->files, 4, &p->esp, err) < 0)
		return -1;
	p->root_off = ESP_OFF + p->esp.size;
	end = p->root_off + b->size + BACKUP_SIZE;
	p->size = (end + DISK_UNIT - 1) / DISK_UNIT * DISK_UNIT;
	step_end(&step, false, "%.1f MB", (double)p->uki.len / 1e6);
	return 0;
}

static int partition(int fd, const char *path, const struct base *b,
		     const struct parts *p, struct error *err)
{
	struct gpt_part parts[] = {
		{ BIOS_OFF, BIOS_SIZE, GPT_TYPE_BIOS_BOOT, "kontest-bios", { 0 } },
		{ ESP_OFF, p->esp.size, GPT_TYPE_ESP, "kontest-esp", { 0 } },
		{ p->root_off, b->size, GPT_TYPE_ROOT_X86_64, "kontest-root", { 0 } },
	};
	uint8_t disk[16];

	role_uuid(b, "system/disk", disk);
	role_uuid(b, "system/bios", parts[0].uuid);
	role_uuid(b, "system/esp", parts[1].uuid);
	role_uuid(b, "system/root", parts[2].uuid);
	return gpt_write(fd, path, disk, parts, 3, err);
}

/**
 * struct copier - the base on its way into the image, beside everything else
 * @in, @out: files; @off: where in @out; @len: bytes
 * @ret, @err: how it went
 */
struct copier {
	pthread_t thread;
	int in, out;
	off_t off;
	uint64_t len;
	const char *path;
	int ret;
	struct error err;
};

static void *copy_base(void *data)
{
	struct copier *c = data;

	c->ret = file_copy_range(c->in, 0, c->out, c->off, c->len, c->path,
				 &c->err);
	/* To the disk while the digest is being worked out, not afterwards. */
	if (!c->ret && fdatasync(c->out) < 0)
		c->ret = error_set(&c->err, errno, "write '%s'", c->path);
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

/* The root's bytes are taken from the base itself, which may still be on its
 * way into the image. */
static int hash_image(int fd, int base_fd, const char *path,
		      const struct base *b, const struct parts *p,
		      char hex[SHA256_HEX], struct error *err)
{
	uint64_t tail = p->root_off + b->size;
	struct sha256 s;
	int ret;

	sha256_init(&s);
	ret = hash_range(&s, fd, 0, p->root_off, path, err);
	if (!ret)
		ret = hash_range(&s, base_fd, 0, b->size, b->path, err);
	if (!ret)
		ret = hash_range(&s, fd, tail, p->size - tail, path, err);
	sha256_final(&s, hex);
	return ret;
}

/* Everything but the root. */
static int fill(const struct cache *c, int fd, int base_fd, const char *path,
		const struct base *b, struct parts *p, char hex[SHA256_HEX],
		struct error *err)
{
	uint32_t epoch = b->epoch > FAT_EPOCH ? b->epoch : FAT_EPOCH;
	uint8_t id[16];
	struct step step;

	step_begin(&step, c, "esp");
	role_uuid(b, "system/fat", id);
	if (grub_embed(fd, path, &p->core, BIOS_OFF, BIOS_SIZE, err) < 0 ||
	    esp_write(path, ESP_OFF, &p->esp,
		      (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 |
		      (uint32_t)id[2] << 8 | id[3], epoch, p->files, 4, err) < 0)
		return -1;
	step_end(&step, false, "%.1f MB", (double)p->esp.size / 1e6);
	return hash_image(fd, base_fd, path, b, p, hex, err);
}

static int assemble(const struct cache *c, const struct base *b,
		    struct parts *p, const char *path, char hex[SHA256_HEX],
		    struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	cleanup_close int base_fd = open(b->path, O_RDONLY | O_CLOEXEC);
	struct copier copier;
	struct stat st;
	int ret;

	if (base_fd < 0 || fstat(base_fd, &st) < 0)
		return error_set(err, errno, "open '%s'", b->path);
	if ((uint64_t)st.st_size != b->size || b->size % GPT_SECTOR)
		return error_set(err, 0, "'%s' should be %llu bytes long and is %lld: remove it and build again",
				 b->path, (unsigned long long)b->size,
				 (long long)st.st_size);
	if (newfile_open(&f, path, 0666, err) < 0)
		return -1;
	if (ftruncate(f.fd, (off_t)p->size) < 0 ||
	    fallocate(f.fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)p->root_off) < 0)
		if (errno != EOPNOTSUPP)
			return error_set(err, errno, "write '%s'", path);
	if (partition(f.fd, f.tmp, b, p, err) < 0)
		return -1;

	copier = (struct copier){ .in = base_fd, .out = f.fd, .len = b->size,
				  .off = (off_t)p->root_off, .path = path };
	ret = pthread_create(&copier.thread, NULL, copy_base, &copier);
	if (ret)
		return error_set(err, ret, "start a thread");
	ret = fill(c, f.fd, base_fd, f.tmp, b, p, hex, err);
	pthread_join(copier.thread, NULL);
	if (copier.ret < 0) {
		if (err)
			*err = copier.err;
		return -1;
	}
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
