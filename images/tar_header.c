/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/tar_header.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* struct header - IEEE Std 1003.1, pax, "ustar Interchange Format" */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
	char type, link[100], magic[6], version[2], owner[32], group[32];
	char major[8], minor[8], prefix[155], unused[12];
};

_Static_assert(sizeof(struct header) == TAR_BLOCK, "ustar header");

/* Of all bytes, those of the sum itself counted as blanks. */
static unsigned int checksum(const struct header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	unsigned int sum = 8 * ' ';

	for (size_t i = 0; i < sizeof(*h); i++)
		sum += p[i];
	for (size_t i = 0; i < sizeof(h->sum); i++)
		sum -= (unsigned char)h->sum[i];
	return sum;
}

void tar_header_write(char block[TAR_BLOCK], const char *name, uint64_t size,
		 unsigned int mode)
{
	struct header h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
	char digits[24];

	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	snprintf(h.mode, sizeof(h.mode), "%07o", mode & 07777);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0);
	snprintf(digits, sizeof(digits), "%011llo", (unsigned long long)size);
	memcpy(h.size, digits, sizeof(h.size));
	snprintf(h.mtime, sizeof(h.mtime), "%011o", 0);
	snprintf(h.sum, sizeof(h.sum), "%06o", checksum(&h) & 0777777);
	h.sum[7] = ' ';
	memcpy(block, &h, sizeof(h));
}

static bool octal(const char *field, size_t len, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		*out = *out << 3 | (uint64_t)(field[i] - '0');
	if (!i)
		return false;
	for (; i < len; i++)
		if (field[i] && field[i] != ' ')
			return false;
	return true;
}

static void take_name(const struct header *h, char *out)
{
	int prefix = (int)strnlen(h->prefix, sizeof(h->prefix));
	size_t len;

	snprintf(out, TAR_NAME_MAX + 157, "%.*s%s%.*s", prefix, h->prefix,
		 prefix ? "/" : "", (int)sizeof(h->name), h->name);
	len = strlen(out);
	/* It may be printed: so it has nothing that a terminal obeys. */
	for (size_t i = 0; i < len; i++)
		if (out[i] < 0x20 || out[i] > 0x7e)
			out[i] = '?';
}

static const char *type_name(char type)
{
	switch (type) {
	case '1': return "a hard link";
	case '2': return "a symbolic link";
	case '3': return "a character device";
	case '4': return "a block device";
	case '5': return "a directory";
	case '6': return "a FIFO";
	case 'x': case 'g': return "an extended header of pax";
	case 'L': case 'K': return "a long name of GNU tar";
	case 'S': return "a sparse file of GNU tar";
	default: return "no regular file";
	}
}

int tar_header_read(const char block[TAR_BLOCK], struct tar_header *u,
	       struct error *err)
{
	struct header h;
	uint64_t sum, mode;

	memcpy(&h, block, sizeof(h));
	if (!octal(h.sum, sizeof(h.sum), &sum) || sum != checksum(&h))
		return error_set(err, 0, "no member's header is where one should be: the sizes lie, or it is damaged");
	take_name(&h, u->name);
	if (memcmp(h.magic, "ustar", 5))
		return error_set(err, 0, "member '%s' is not in the ustar format", u->name);
	if (h.type != '0')
		return error_set(err, 0, "member '%s' is %s: a bundle has regular files only",
				 u->name, type_name(h.type));
	if (!octal(h.size, sizeof(h.size), &u->size) ||
	    !octal(h.mode, sizeof(h.mode), &mode))
		return error_set(err, 0, "member '%s': its size or mode is no octal number", u->name);
	u->mode = (unsigned int)mode & 07777;
	return 0;
}
