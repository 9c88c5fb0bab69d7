"""Reads a machine file the way kerncraft does, and says what is wrong with its memory hierarchy.

kerncraft is not packaged; its form is documented in its examples and in machinemodel.py: an amount
is "<decimal> <prefix><unit>", a cache has at most the keys below, and levels name the next one.
"""
import re
import sys

import yaml

AMOUNT = re.compile(r"^[0-9]+(\.[0-9]+)? [kMGTP]?(B|Hz)$")
CACHE = {"sets": int, "ways": int, "cl_size": str, "replacement_policy": str,
         "write_allocate": bool, "write_back": bool, "load_from": str, "store_to": str}
POLICIES = {"LRU", "FIFO", "MRU", "RR"}


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
        assert AMOUNT.match(cache["cl_size"])
        assert cache.get("replacement_policy", "LRU") in POLICIES
        assert cache.get("load_from", "MEM") == following == cache.get("store_to", "MEM")
    print(names, levels[0]["cache per group"], levels[0]["size per group"])


main()
