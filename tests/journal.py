# SPDX-License-Identifier: GPL-2.0-or-later
"""journal.py - results/journal.h for scripts that make journals: the head with plan and
context, and records behind it"""
import hashlib, json, struct

RECEIPT, RUN_START, RUN_END, END, VERDICT = 1, 3, 4, 8, 9

def _table():
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82f63b78 & -(i & 1))
        yield i

_CRC = list(_table())

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff

def head(run, plan, context):
    """Superblock, plan and context, as long as all that is before the first record"""
    text = json.dumps(context).encode()
    plan = plan.encode()
    block = lambda crc: struct.pack("<8sIIII40s72s", b"KONTESTJ", 1, len(plan), len(text), crc,
                                    run.encode(), hashlib.sha256(plan).hexdigest().encode())
    data = bytearray(256 * 1024)
    first = block(crc32c(block(0)))
    data[:len(first)] = first
    data[4096:4096 + len(plan)] = plan
    data[65536:65536 + len(text)] = text
    return data

def record(kind, seq, payload):
    text = json.dumps(payload).encode()
    block = lambda crc: struct.pack("<IIIIQQ", 0x4352544b, kind, len(text), crc, seq, seq * 1000)
    data = block(crc32c(block(0) + text)) + text
    return data + bytes(-len(data) % 4096)
