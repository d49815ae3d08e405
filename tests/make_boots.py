# SPDX-License-Identifier: GPL-2.0-or-later
"""make_boots.py OUTDIR RUN [--set group.member=JSON]... [--plan LINE]... LABEL:LOAD:BOOTS...
- the journals of a run, a file a boot. BOOTS are Times in s: "10,11+12,x,-" is a boot of
one run, one of two, one whose run timed out, and one that left no journal. Each kernel has
as many boots as its longest list."""
import json, os, sys
from journal import END, RECEIPT, RUN_END, RUN_START, VERDICT, head, record

def run_end(number, load, index, seconds):
    ended = {"run": number, "load": load, "index": index, "verdict": "ok"}
    if seconds == "x":
        return {**ended, "verdict": "timed-out"}
    ns = round(float(seconds) * 1e9)
    count = 0 if load == "no_load" else round(40 * float(seconds))
    return {**ended, "wall_ns": ns, "job": {"user_ns": ns // 2, "system_ns": 5, "exit": 0},
            "load_cpu": {"user_ns": 0, "system_ns": 0},
            "count": {"done": count, "per_load": 100 if count else 0, "unit": "u"}}

out, run = sys.argv[1:3]
args, changes, lines, cells, labels, loads = sys.argv[3:], [], [], {}, [], []
while args:
    arg = args.pop(0)
    if arg == "--set":
        changes.append(args.pop(0).split("=", 1))
    elif arg == "--plan":
        lines.append(args.pop(0))
    else:
        label, load, boots = arg.rsplit(":", 2)
        cells[label, load] = [b.split("+") for b in boots.split(",")]
        labels += [label] * (label not in labels)
        loads += [load] * (load not in loads)
boots = max(len(c) for c in cells.values())
os.makedirs(out, exist_ok=True)

for order, label in enumerate(labels):
    for boot in range(boots):
        mine = {l: cells[label, l][boot] for l in loads
                if boot < len(cells.get((label, l), []))}
        if not mine or ["-"] in mine.values():
            continue
        plan = ("format=1\ncpus=1\nmem=1\nexact=0\njob=quick-1\njobs=4\nseed=%d\nlead_ms=100\n"
                "run_timeout_s=1800\nsample_ms=0\n" % (boot + 1))
        plan += "".join(line + "\n" for line in lines)
        plan += "".join("run=%s\n" % l for l in mine for _ in mine[l])
        context = {
            "kontest": "0.1.0", "run_id": run,
            "plan": {"name": "made", "text": "t", "digest": "d", "order_seed": 1, "boots": boots,
                     "runs": 1, "kernels": labels},
            "boot": {"index": boot * len(labels) + order + 1, "number": boot + 1, "seed": boot + 1},
            "kernel": {"label": label, "spec": label, "release": label, "version": None,
                       "digest": "k" + label, "order": order},
            "profile": {"name": "small", "digest": "a" * 64, "text": "t", "cpus": 1, "memory": 1},
            "loads": loads, "job": {"name": "quick-1", "digest": "b" * 64, "jobs": 4},
            "image": {"system": "s" + label, "base": "c" * 64, "lock": "d" * 64,
                      "initramfs": "i" + label, "guest": "e" * 64, "work": "f" * 64,
                      "cmdline": "quiet"},
            "accel": "tcg", "disk_bus": "virtio",
            "qemu": {"version": "7.2.0", "package": "p", "machine": "pc-q35-7.2",
                     "cpu": "qemu64", "shift": 0},
            "host": {"start": "2003-06-0%sT00:00:00.000000Z" % run[0]},
        }
        for path, value in changes:
            at = context
            *groups, member = path.split(".")
            for group in groups:
                at = at[group]
            at[member] = json.loads(value)
        journal = head(run, plan, context)
        journal += record(RECEIPT, 0, {"format": 1})
        number = 0
        for load, runs in mine.items():
            for index, seconds in enumerate(runs):
                number += 1
                journal += record(RUN_START, 2 * number - 1,
                                  {"run": number, "load": load, "index": index + 1})
                journal += record(RUN_END, 2 * number, run_end(number, load, index + 1, seconds))
        journal += record(END, 2 * number + 1, {"runs": number})
        journal += record(VERDICT, 2 * number + 2, {"verdict": "ok", "evidence": "", "console": []})
        with open(f"{out}/{run[:8]}-{order}-{boot + 1}", "wb") as f:
            f.write(journal)
