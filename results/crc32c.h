/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crc32c.h - CRC-32C (Castagnoli, RFC 3720 appendix B.4), for host and guest
 */
#ifndef KONTEST_CRC32C_H
#define KONTEST_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * crc32c() - checksum of some bytes
 * @crc: 0 to begin, or the result so far to go on
 * @data: the bytes
 * @len: how many
 *
 * Return: the checksum ("123456789" gives 0xe3069283).
 */
static inline uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

#endif
