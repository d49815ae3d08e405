/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/vmlinux.h"

#include <elf.h>
#include <string.h>

#include "images/vmlinux_boot.h"
#include "results/base/cleanup.h"

/* More than any kernel has; the 32-bit protocol cannot load more either. */
#define LOADED_MAX ((uint64_t)1 << 30)
#define BANNER "Linux version "

/* struct span - where the kernel lies in memory, physical addresses */
struct span {
	uint64_t start, end_file, end;
};

bool vmlinux_is(const void *data, size_t size)
{
	return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static int read_header(const struct buf *elf, const char *path, Elf64_Ehdr *eh,
		       struct error *err)
{
	if (!vmlinux_is(elf->data, elf->len) || elf->len < sizeof(*eh))
		return error_set(err, 0, "'%s': cut short: not even a whole ELF header; copy or build it again",
				 path);
	memcpy(eh, elf->data, sizeof(*eh));
	if (eh->e_ident[EI_DATA] != ELFDATA2LSB || eh->e_machine == EM_386 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_machine != EM_X86_64)
		return error_set(err, 0, "'%s': an ELF file for %s; kontest measures x86-64 kernels (CONFIG_64BIT)",
				 path, eh->e_machine == EM_386 ? "32-bit x86" :
				 "another architecture");
	if (eh->e_type != ET_EXEC || !eh->e_phnum ||
	    eh->e_phentsize != sizeof(Elf64_Phdr))
		return error_set(err, 0, "'%s': an ELF file, but no kernel (vmlinux); give the file vmlinux at the top of a kernel's build tree, or a bzImage",
				 path);
	if (eh->e_phoff > elf->len ||
	    eh->e_phnum * sizeof(Elf64_Phdr) > elf->len - eh->e_phoff)
		return error_set(err, 0, "'%s': cut short: its program headers are not in it; copy or build it again",
				 path);
	return 0;
}

/* The next segment that is loaded; *@i is where to go on. */
static bool next_load(const struct buf *elf, const Elf64_Ehdr *eh, size_t *i,
		      Elf64_Phdr *ph)
{
	while (*i < eh->e_phnum) {
		memcpy(ph, elf->data + eh->e_phoff + (*i)++ * sizeof(*ph), sizeof(*ph));
		if (ph->p_type == PT_LOAD && ph->p_memsz)
			return true;
	}
	return false;
}

static int measure(const struct buf *elf, const char *path, const Elf64_Ehdr *eh,
		   struct span *s, struct error *err)
{
	Elf64_Phdr ph;
	size_t i = 0;

	*s = (struct span){ .start = UINT64_MAX };
	while (next_load(elf, eh, &i, &ph)) {
		if (ph.p_offset > elf->len || ph.p_filesz > elf->len - ph.p_offset)
			return error_set(err, 0, "'%s': cut short: segment %zu ends behind the file's end; copy or build it again",
					 path, i - 1);
		if (ph.p_filesz > ph.p_memsz || ph.p_memsz > LOADED_MAX ||
		    ph.p_paddr < VMLINUX_LOWEST || ph.p_paddr > UINT32_MAX - LOADED_MAX)
			return error_set(err, 0, "'%s': segment %zu is loaded to 0x%llx, 0x%llx bytes: no kernel lies there (CONFIG_PHYSICAL_START); build it again or give its bzImage",
					 path, i - 1, (unsigned long long)ph.p_paddr,
					 (unsigned long long)ph.p_memsz);
		if (ph.p_paddr < s->start)
			s->start = ph.p_paddr;
		if (ph.p_paddr + ph.p_filesz > s->end_file)
			s->end_file = ph.p_paddr + ph.p_filesz;
		if (ph.p_paddr + ph.p_memsz > s->end)
			s->end = ph.p_paddr + ph.p_memsz;
	}
	if (s->end_file <= s->start || s->end - s->start > LOADED_MAX ||
	    eh->e_entry < s->start || eh->e_entry >= s->end_file)
		return error_set(err, 0, "'%s': an ELF file, but no kernel (vmlinux): its entry 0x%llx is not in what it loads; give the file vmlinux at the top of a kernel's build tree, or a bzImage",
				 path, (unsigned long long)eh->e_entry);
	return 0;
}

/* "6.1.0 (me@here) (gcc ...) #1 SMP ...", from the banner that every kernel has */
static char *version_of(const struct buf *elf)
{
	const char *p = elf->data, *limit = elf->data + elf->len;
	const size_t skip = strlen(BANNER);

	while ((p = memmem(p, (size_t)(limit - p), BANNER, skip))) {
		size_t len = 0;

		p += skip;
		while (p + len < limit && len < VMLINUX_VERSION_MAX - 1 &&
		       p[len] >= ' ' && p[len] <= '~')
			len++;
		if (len && *p >= '0' && *p <= '9')
			return xstrndup(p, len);
	}
	return NULL;
}

static void put32(char *p, uint64_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (char)(v >> 8 * i);
}

static void fill_in(char *image, const struct span *s, uint64_t entry,
		    const char *version, size_t len)
{
	char *params = image + VMLINUX_SETUP_BYTES + VMLINUX_PARAMS;
	uint64_t code = len - VMLINUX_SETUP_BYTES;
	uint64_t room = s->end - VMLINUX_LOAD;

	/* In units of 16 bytes; the length is a whole number of pages. */
	put32(image + 0x1f4, code / 16);
	put32(image + 0x24c, code - VMLINUX_CODE_BYTES);
	/* GRUB keeps all of it free: where the image is loaded, and where to. */
	put32(image + 0x260, code > room ? code : room);
	memcpy(image + VMLINUX_VERSION_OFF, version, strlen(version));
	put32(params, s->start);
	put32(params + 4, code - VMLINUX_CODE_BYTES);
	put32(params + 8, entry);
}

int vmlinux_convert(const struct buf *elf, const char *path, struct buf *image,
		    struct error *err)
{
	cleanup_free char *version = NULL;
	CLEANUP(buf_free) struct buf out = { 0 };
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	struct span s;
	size_t i = 0, head = VMLINUX_SETUP_BYTES + VMLINUX_CODE_BYTES;

	if (read_header(elf, path, &eh, err) < 0 ||
	    measure(elf, path, &eh, &s, err) < 0)
		return -1;
	version = version_of(elf);
	if (!version)
		return error_set(err, 0, "'%s': an ELF file, but no kernel (vmlinux): it does not say \"" BANNER "...\"; give the file vmlinux at the top of a kernel's build tree, or a bzImage",
				 path);
	out.len = head + (size_t)((s.end_file - s.start + 4095) / 4096 * 4096);
	out.cap = out.len + 1;
	out.data = xcalloc(out.cap, 1);
	memcpy(out.data, vmlinux_setup, VMLINUX_SETUP_BYTES);
	memcpy(out.data + VMLINUX_SETUP_BYTES, vmlinux_code, VMLINUX_CODE_BYTES);
	while (next_load(elf, &eh, &i, &ph))
		memcpy(out.data + head + (ph.p_paddr - s.start),
		       elf->data + ph.p_offset, ph.p_filesz);
	fill_in(out.data, &s, eh.e_entry, version, out.len);
	buf_add(image, out.data, out.len);
	return 0;
}
