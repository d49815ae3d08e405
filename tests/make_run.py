# SPDX-License-Identifier: GPL-2.0-or-later
"""make_run.py OUTDIR CACHE - the journals of a run of two kernels, one boot each,
and the images that it was made of, small ones, where `kontest run` keeps them"""
import hashlib, os, random, sys
from journal import END, RECEIPT, RUN_END, RUN_START, VERDICT, head, record

out, cache = sys.argv[1:3]
RUN = "0badcafe-2222-4333-8444-555555555555"
PLAN = ("[plan]\nname = prepared\nprofile = small\nboots = 1\nruns = 1\nloads = no_load:1\n"
        "job = quick-1\nlead-ms = 100\nrun-timeout = 1800\n[size]\n"
        "[kernel ]\nimage = debian:one\n[kernel ]\nimage = debian:two\n")
GUEST_PLAN = ("format=1\ncpus=1\nmem=167772160\nexact=1\njob=quick-1\njobs=4\nseed=1\n"
              "lead_ms=100\nrun_timeout_s=1800\nsample_ms=0\nrun=no_load\n")
PROFILE = open("images/profiles/small.ini").read()

def sha(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()

def put(kind, name, data):
    os.makedirs(f"{cache}/kontest/{kind}", exist_ok=True)
    path = f"{cache}/kontest/{kind}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)

def image(kind, data):
    put(kind, sha(kind) + ".img" if kind != "images" else sha(data) + ".img", data)
    key = sha(kind) if kind != "images" else sha(data)
    put(kind, key + ".sha256", (sha(data) + "  x.img\n").encode())
    return sha(data)

rng = random.Random(1)
MIB = 1 << 20
root = rng.randbytes(3 * MIB)
work = image("work", b"W" * 5000 + bytes(2 * MIB - 5000))
other = image("other", bytes(2 * MIB - 1) + b"O")
swap = image("swap", b"S" * 4096 + bytes(MIB))

for order, label in enumerate(("one", "two")):
    kernel = rng.randbytes(MIB // 2 + 512 * order)
    initrd = rng.randbytes(MIB // 4)
    put("kernels", sha(kernel) + "/vmlinuz", kernel)
    put("initramfs", sha(initrd) + ".cpio", initrd)
    disk = label.encode() * 100
    disk += bytes(2 * MIB - len(disk)) + root + bytes(4096) + kernel
    disk += bytes(-len(disk) % 512) + initrd
    disk += bytes(-len(disk) % (2 * MIB))
    context = {
        "kontest": "0.1.0", "run_id": RUN,
        "plan": {"name": "prepared", "text": PLAN, "digest": sha(PLAN), "order_seed": 1,
                 "boots": 1, "runs": 1, "kernels": ["one", "two"]},
        "boot": {"index": order + 1, "number": 1, "seed": 1},
        "kernel": {"label": label, "spec": "debian:" + label, "release": "6.1." + str(order),
                   "version": None, "digest": sha(kernel), "order": order},
        "profile": {"name": "small", "digest": sha(PROFILE), "text": PROFILE, "cpus": 1,
                    "memory": 167772160},
        "loads": ["no_load"], "job": {"name": "quick-1", "digest": sha("job"), "jobs": 4},
        "image": {"system": image("images", disk), "base": sha(root), "lock": sha("lock"),
                  "initramfs": sha(initrd), "guest": sha("guest"), "work": work,
                  "other": other, "swap": swap, "cmdline": "console=ttyS0,115200"},
        "accel": "exact",
        "qemu": {"version": "7.2.0", "package": "p", "machine": "pc-q35-7.2",
                 "cpu": "Opteron_G1-v1", "shift": 1},
        "host": {"start": "2003-06-03T00:00:00.000000Z", "libvirt": "9.0.0", "kernel": "6.1",
                 "cpu": "c", "nested": False, "machine": "x86_64"},
    }
    journal = head(RUN, GUEST_PLAN, context)
    run = {"run": 1, "load": "no_load", "index": 1}
    journal += record(RECEIPT, 0, {"format": 1})
    journal += record(RUN_START, 1, run)
    journal += record(RUN_END, 2, {**run, "verdict": "ok", "wall_ns": 1000000000 + order,
                             "job": {"user_ns": 900000000, "system_ns": 5, "exit": 0},
                             "load_cpu": {"user_ns": 0, "system_ns": 0},
                             "count": {"done": 0, "per_load": 1, "unit": "u"}})
    journal += record(END, 3, {"runs": 1})
    journal += record(VERDICT, 4, {"verdict": "ok", "evidence": "", "console": []})
    with open(f"{out}/journal-{order + 1}", "wb") as f:
        f.write(journal)
