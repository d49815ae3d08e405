# SPDX-License-Identifier: GPL-2.0-or-later
"""make_journals.py OUTDIR KIND - journals of a run that nobody made, for reports:
	many	three kernels, six boots of two runs, some of which went wrong
	sweep	a kernel and five values of a knob, two boots each
	bench	two kernels, tiobench and chat, four boots each
	evil	labels, loads and messages that would like to be something else
Figures come from a fixed seed."""
import hashlib, random, sys
from journal import END, RECEIPT, RUN_END, RUN_START, VERDICT, head, record

out, kind = sys.argv[1:3]
RUN = {"many": "0aaaaaaa", "sweep": "0bbbbbbb", "bench": "0ccccccc",
       "evil": "0ddddddd"}[kind] + "-2222-4333-8444-555555555555"
rng = random.Random(20030603)
written = 0

def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()

def journal(kernel, order, number, boots, kernels, runs, loads, benches=(), plan="made",
            verdict="ok", evidence="", accel="kvm", load_runs=1):
    """@runs: RUN_ENDs; one without a verdict was not begun"""
    global written
    guest = "".join(f"bench={r['bench']}\n" if "bench" in r else f"run={r['load']}\n"
                    for r in runs)
    text = f"[plan]\nname = {plan}\nboots = {boots}\n"
    context = {
        "kontest": "0.1.0", "run_id": RUN,
        "plan": {"name": plan, "text": text, "digest": sha(text), "order_seed": 1,
                 "boots": boots, "runs": load_runs, "kernels": kernels},
        "boot": {"index": (number - 1) * len(kernels) + order + 1, "number": number,
                 "seed": number},
        "kernel": {**kernel, "release": "6.1", "package": None, "version": None,
                   "digest": sha(kernel["spec"]), "order": order},
        "profile": {"name": "small", "digest": sha("p"), "text": "[machine]\ncpus = 1\n",
                    "cpus": 1, "memory": 167772160},
        "loads": loads, "job": {"name": "quick-1", "digest": sha("job"), "jobs": 4},
        "image": {"system": sha(kernel["label"]), "base": sha("base"), "lock": sha("lock"),
                  "initramfs": sha("i" + kernel["label"]), "guest": sha("guest"),
                  "work": sha("work"), "other": None, "swap": sha("swap"), "cmdline": "quiet"},
        "accel": accel, "disk_bus": "virtio",
        "qemu": {"version": "7.2.0", "package": "p", "machine": "pc-q35-7.2",
                 "cpu": "Opteron_G1-v1", "shift": 1},
        "host": {"start": f"2003-06-03T{number:02d}:{order:02d}:00.000000Z", "libvirt": "9.0.0",
                 "kernel": "6.1", "cpu": "c", "nested": False, "machine": "x86_64"},
    }
    if benches:
        context["benches"] = list(benches)
    data = head(RUN, guest, context)
    data += record(RECEIPT, 0, {"format": 1})
    seq = 1
    for i, run in enumerate(runs):
        if run.get("verdict") is None:
            continue
        run = {"run": i + 1, **run}
        data += record(RUN_START, seq, {k: run[k] for k in ("run", "load", "bench", "index") if k in run})
        data += record(RUN_END, seq + 1, run)
        seq += 2
    if verdict == "ok":
        data += record(END, seq, {"runs": len(runs)})
        seq += 1
    data += record(VERDICT, seq, {"verdict": verdict, "evidence": evidence,
                                "console": [evidence] if evidence else []})
    written += 1
    with open(f"{out}/{kind}-{written}", "wb") as f:
        f.write(data)

def ns(seconds):
    return max(1, int(seconds * 1e9))

def window(wall, load_share=0.0):
    cpu = wall * 0.8
    return {"wall_ns": ns(wall),
            "job": {"user_ns": ns(cpu * 0.8), "system_ns": ns(cpu * 0.2), "exit": 0},
            "load_cpu": {"user_ns": ns(wall * load_share), "system_ns": 0},
            "cpu": {"user_ns": ns(wall * .6), "nice_ns": 0, "system_ns": ns(wall * .2),
                    "idle_ns": ns(wall * .1), "iowait_ns": ns(wall * .1), "irq_ns": 0,
                    "softirq_ns": 0, "steal_ns": 0},
            "vm": {"pswpin": 3, "pswpout": 5, "pgfault": 9, "pgmajfault": 1}, "ctxt": 1000,
            "psi": {"cpu_some_us": int(wall * 3e5), "memory_some_us": 10, "memory_full_us": 5,
                    "io_some_us": int(wall * 1e5), "io_full_us": 10}}

def good(load, index, wall, loads=0.0):
    return {"load": load, "index": index, "verdict": "ok", **window(wall, loads and .15),
            "count": {"done": int(loads * 1000), "per_load": 1000 if loads else 0,
                      "unit": "file of RAM size written" if loads else "nothing runs"}}

def bad(load, index, verdict, message):
    return {"load": load, "index": index, "verdict": verdict, "message": message}

def many():
    labels = ["2.5.70", "2.5.70-mm3", "2.5.70-mm3-deadline"]
    loads = {"no_load": (79, 0), "cacherun": (76, 0), "process_load": (108, 12),
             "io_load": (124, 40), "mem_load": (96, 52)}
    effect = {"process_load": (1, 1.004, 1.06), "io_load": (1, .84, 1.31),
              "mem_load": (1, 1.02, .97)}
    for number in range(1, 7):
        for order, label in enumerate(labels):
            runs = []
            drift = rng.gauss(0, .006)
            for load, (base, done) in loads.items():
                for index in (1, 2):
                    wall = base * effect.get(load, (1, 1, 1))[order] * \
                        (1 + drift + rng.gauss(0, .004))
                    if load == "io_load" and order == 2 and rng.random() < .3:
                        wall *= 1.25        # a second mode
                    runs.append(good(load, index, wall, done))
            verdict, evidence = "ok", ""
            if order == 2 and number == 2:
                runs[7] = bad("io_load", 2, "timed-out", "not done after 1800 s")
            if order == 1 and number == 5:
                for run in runs[8:]:
                    del run["verdict"]
                verdict, evidence = "panic", "Kernel panic - not syncing: Fatal exception"
            if (order, number) != (0, 6):   # that one left no journal
                journal({"label": label, "spec": label}, order, number, 6, labels, runs,
                        list(loads), plan="mm against mainline", verdict=verdict,
                        evidence=evidence, load_runs=2)

def sweep():
    values = [1000000, 3000000, 10000000, 30000000, 100000000]
    labels = ["6.1"] + [f"6.1_base_sl{v // 1000}" for v in values]
    for number in (1, 2):
        for order, label in enumerate(labels):
            runs, shift = [], [1, 1.09, 1.02, .98, .97, 1.05][order]
            for load, base in (("no_load", 14), ("process_load", 28)):
                effect = shift if load == "process_load" else 1
                runs.append(good(load, 1, base * effect * (1 + rng.gauss(0, .004)),
                                 5 if load == "process_load" else 0))
            kernel = {"label": label, "spec": "debian:linux"}
            if order:
                kernel["tunables"] = [{"knob": "sched/base_slice_ns",
                                       "value": str(values[order - 1]), "short": "base_sl"}]
            journal(kernel, order, number, 2, labels, runs, ["no_load", "process_load"],
                    plan="slices")

def tiobench(scale):
    rows = []
    for phase, rate in (("sequential-write", 30), ("random-write", 4), ("sequential-read", 45),
                        ("random-read", 2)):
        for threads in (1, 2, 4, 8):
            wall = 64 / (rate * scale * (1 - .03 * threads) * (1 + rng.gauss(0, .02)))
            rows.append({"phase": phase, "threads": threads, "bytes": 64 << 20,
                         "wall_ns": ns(wall), "user_ns": ns(wall * .1), "system_ns": ns(wall * .3),
                         "ops": 16384, "lat_sum_ns": ns(wall * threads),
                         "lat_max_ns": ns(wall / 50), "over_2s": 0, "over_10s": 0})
    return rows

def bench():
    labels = ["2.4.20", "2.5.51"]
    settings = {"size": 64 << 20, "block": 4096, "threads": [1, 2, 4, 8]}
    for number in range(1, 5):
        for order, label in enumerate(labels):
            runs = [{"bench": "tiobench", "index": 1, "verdict": "ok", **window(60),
                     "settings": settings, "rows": tiobench(1 + .2 * order)}]
            journal({"label": label, "spec": label}, order, number, 4, labels, runs, [],
                    ["tiobench"], plan="disks")

EVIL = "<script>alert(1)</script>\"'&]]>-->"

def evil():
    labels = [EVIL, "\u202egnp.exe \x07`rm -rf`; @0 system(\"x\")\nplot", "\u062a\u062c\u0631\u0628\u0629 6.1",
              "L" * 300]
    load = "</svg><img src=x onerror=alert(2)>"
    for number in (1, 2):
        for order, label in enumerate(labels):
            runs = [good("no_load", 1, 10 + order + rng.random()),
                    good(load, 1, 20 + order + rng.random(), 3)]
            runs[1]["count"]["unit"] = EVIL
            if order == 3:
                runs[1] = bad(load, 1, "load-failed", EVIL)
            journal({"label": label, "spec": label}, order, number, 2, labels, runs,
                    ["no_load", load], plan="</title><script>alert(3)</script>",
                    verdict="oops" if order == 3 else "ok",
                    evidence="<iframe src=//example.org>" if order == 3 else "", accel=EVIL)

globals()[kind]()
print(written)
