"""Gives a machine file to kerncraft, and says what is wrong with its memory hierarchy.

kerncraft is on PyPI, and not packaged everywhere (a script of its own name would be imported in its place). Where it is
missing the form alone is checked, as its examples and machinemodel.py have it: an amount is "<decimal> <prefix><unit>",
a cache has at most the keys below, which go to the cache simulator as plain numbers, and levels name the next one.
"""
import re
import sys

import yaml

AMOUNT = re.compile(r"^[0-9]+(\.[0-9]+)? [kMGTP]?(B|Hz)$")
CACHE = {"sets": int, "ways": int, "cl_size": int, "replacement_policy": str,
         "write_allocate": bool, "write_back": bool, "load_from": str, "store_to": str}
POLICIES = {"LRU", "FIFO", "MRU", "RR"}


def ask_kerncraft(path):
    """Has kerncraft read the file, build the caches in its simulator and run over each twice: its size as kerncraft
    sees it, and how often the second time misses."""
    try:
        from kerncraft.machinemodel import MachineModel
    except ImportError:
        return "not installed"
    machine = MachineModel(path)
    if any("cores per group" not in level for level in machine["memory hierarchy"][:-1]):
        return "read"
    simulator = machine.get_cachesim()
    seen = []
    for cache in simulator.levels(with_mem=False):
        for _ in range(2):
            simulator.reset_stats()
            simulator.load(range(0, cache.size(), cache.cl_size), length=1)
        seen.append((cache.size(), cache.stats()["MISS_count"]))
    return seen


def main():
    machine = yaml.safe_load(open(sys.argv[1]))
    assert machine["kerncraft version"] == "0.8.3.dev0"
    assert isinstance(machine["model name"], str)
    for key in ("clock", "cacheline size"):
        assert AMOUNT.match(machine[key]), machine[key]
    levels = machine["memory hierarchy"]
    assert levels[-1] == {"level": "MEM", "size per group": None}
    names = [level["level"] for level in levels]
    for level, following in zip(levels[:-1], names[1:]):
        assert set(level) <= {"level", "cache per group", "size per group", "cores per group"}
        assert AMOUNT.match(level["size per group"])
        cache = level["cache per group"]
        for key, value in cache.items():
            assert type(value) is CACHE[key], key
        assert cache.get("replacement_policy", "LRU") in POLICIES
        assert cache.get("load_from", "MEM") == following == cache.get("store_to", "MEM")
    print(names, levels[0]["cache per group"], levels[0]["size per group"])
    print("kerncraft:", ask_kerncraft(sys.argv[1]))


main()
