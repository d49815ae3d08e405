# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile_bundle.py CASE OUT - a bundle that must be refused, made without kontest:
tarfile and libzstd by ctypes"""
import ctypes, hashlib, io, json, struct, sys, tarfile

case, out = sys.argv[1:3]
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
zstd.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                               ctypes.c_int]
MIB = 1 << 20

def frame(data):
    size = zstd.ZSTD_compressBound(len(data))
    buf = ctypes.create_string_buffer(size)
    n = zstd.ZSTD_compress(buf, size, data, len(data), 3)
    return buf.raw[:n]

def table(entries):
    body = b"".join(struct.pack("<II", *e) for e in entries)
    body += struct.pack("<IBI", len(entries), 0, 0x8F92EAB1)
    return struct.pack("<II", 0x184D2A5E, len(body)) + body

def frames(data, said=None):
    parts = [data[i:i + 4 * MIB] for i in range(0, len(data), 4 * MIB)]
    packed = [frame(p) for p in parts]
    return b"".join(packed) + table([(len(z), said or len(p)) for z, p in zip(packed, parts)])

def member(path, data, role="plan"):
    return {"path": path, "role": role, "size": len(data), "mode": "0644",
            "sha256": hashlib.sha256(data).hexdigest()}

def archive(entries):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for path, data, kind in entries:
            info = tarfile.TarInfo(path)
            info.mode = 0o644
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(data)
            else:
                info.linkname = data.decode()
            t.addfile(info, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    data = stream.getvalue().rstrip(b"\0")
    return data + bytes(-len(data) % 512 + 1024)

R = tarfile.REGTYPE
members, files, extra = [member("a", b"aaa")], [], []
body = [("a", b"aaa", R)]
if case == "dotdot":
    members.append(member("../../evil", b"x")); body.append(("../../evil", b"x", R))
elif case == "absolute":
    members.append(member("/evil", b"x")); body.append(("/evil", b"x", R))
elif case == "symlink":
    # A link first, then a file through it.
    members.append(member("d/evil", b"x"))
    body += [("d", b"/tmp", tarfile.SYMTYPE), ("d/evil", b"x", R)]
elif case == "hardlink":
    members.append(member("b", b"x")); body.append(("b", b"/etc/passwd", tarfile.LNKTYPE))
elif case == "device":
    body.append(("null", b"", tarfile.CHRTYPE))
elif case == "fifo":
    body.append(("fifo", b"", tarfile.FIFOTYPE))
elif case == "duplicate":
    body.append(("a", b"aaa", R))
elif case == "unlisted":
    body.append(("evil", b"x", R))
elif case == "missing":
    members.append(member("b", b"x"))
elif case == "size":
    members[0]["size"] = 2
elif case == "hole":
    # 300 GiB out of nothing
    files.append({"path": "w.img", "role": "work", "size": 300 << 30, "sha256": "0" * 64, "pieces": []})
elif case == "pieces":
    # 1 MiB written a hundred and fifty thousand times
    piece = b"z" * MIB
    members.append(member("p", piece, "piece")); body.append(("p", piece, R))
    files.append({"path": "w.img", "role": "work", "size": 250 << 30, "sha256": "0" * 64,
                  "pieces": [[i << 20, 1] for i in range(150000)]})
elif case == "assembled":
    # Every member is right, the disk that they make is not: one bit of the hole.
    members.append(member("p", b"piece", "piece")); body.append(("p", b"piece", R))
    disk = hashlib.sha256(b"piece" + bytes(8 * MIB) + b"\1").hexdigest()
    files.append({"path": "w.img", "role": "work", "size": 8 * MIB + 6, "sha256": disk,
                  "pieces": [[0, 1]]})
elif case == "content":
    body[0] = ("a", b"aab", R)
manifest = json.dumps({"format": "kontest-bundle", "version": 1, "kind": "full",
                       "run": "0badcafe-2222-4333-8444-555555555555", "tools": {},
                       "members": members, "files": files}).encode()
if case == "manifest-huge":
    manifest = b" " * (64 * MIB)
elif case == "manifest-deep":
    manifest = b"[" * (4 * MIB)
elif case == "manifest-wide":
    manifest = b"[" + b"0," * (2 * MIB - 10) + b"0]"
data = archive([("manifest.json", manifest, R)] + body)
if case == "bomb":
    # One frame of 4 GiB: a thousand times the same 128 KiB block of one byte. The
    # window is 2 GiB, its decoder would ask for that much.
    block = struct.pack("<I", (128 * 1024) << 3 | 1 << 1)[:3] + b"\0"
    n = 32768
    z = b"\x28\xb5\x2f\xfd" + bytes([0x00, (31 - 10) << 3]) + block * (n - 1)
    z += struct.pack("<I", (128 * 1024) << 3 | 1 << 1 | 1)[:3] + b"\0"
    result = z + table([(len(z), 4 * MIB)])
elif case == "bomb-many":
    # 64 GiB of zeros behind the end of the archive, in honest frames.
    z, zeros = frame(data), frame(bytes(4 * MIB))
    n = 16384
    result = z + zeros * n + table([(len(z), len(data))] + [(len(zeros), 4 * MIB)] * n)
elif case == "frames":
    result = struct.pack("<IBI", 0xffffffff, 0, 0x8F92EAB1)
elif case == "said":
    result = frames(data, 4 * MIB)
elif case == "trailing":
    result = frames(data) + b"trailing"
elif case == "truncated":
    result = frames(data)[:-30]
else:
    result = frames(data)
with open(out, "wb") as f:
    f.write(result)
