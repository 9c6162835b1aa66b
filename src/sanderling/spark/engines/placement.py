"""Which value of the shuffle key puts each shard into a partition of its own.

Spark places a row by its key's Murmur3 hash: keys 0 and 1 of 2 land together. So the shards get
other numbers, chosen until every partition has one.
"""

from __future__ import annotations

from itertools import count

MASK = 0xFFFFFFFF


def _rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (32 - by))) & MASK


def murmur3(value: int, seed: int = 42) -> int:
    """The hash that Spark gives an INT, as a signed number."""
    k = (_rotated((value & MASK) * 0xCC9E2D51 & MASK, 15) * 0x1B873593) & MASK
    h = (_rotated(seed ^ k, 13) * 5 + 0xE6546B64) & MASK
    h ^= 4  # the length of an INT in bytes
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & MASK
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def shard_keys(shards: int) -> list[int]:
    """For each shard, the key that lands in the partition of its number."""
    keys: dict[int, int] = {}
    for key in count():
        keys.setdefault(murmur3(key) % shards, key)
        if len(keys) == shards:
            return [keys[shard] for shard in range(shards)]
    raise AssertionError("unreachable")
