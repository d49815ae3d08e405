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
	/* By half bytes: the guest does this while it measures. Entry n is what
	 * four shifts with the polynomial 0x82f63b78 make of n. */
	static const uint32_t half[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const unsigned char *p = data;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ half[crc & 15];
		crc = crc >> 4 ^ half[crc & 15];
	}
	return ~crc;
}

#endif
