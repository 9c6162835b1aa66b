"""How a script is cut, placed and interrupted; none of it is to show."""

from __future__ import annotations

from dataclasses import dataclass

from sanderling.operate.where.orders import ByCounts, Chooser
from sanderling.plan.logical import Rule
from sanderling.plan.rules import RULES
from tests.engine.direct import ByPair
from tests.long import so_many


@dataclass(frozen=True)
class Profile:
    shards: int = 1
    slice_bytes: int = 1 << 20
    empty_between: bool = False
    restart_each: bool = False
    rules: tuple[Rule, ...] = RULES
    chooser: type[Chooser] = ByCounts
    takes_turns: bool = False


# Each by itself.
ALL = {
    "whole batches": Profile(),
    "one row a batch": Profile(slice_bytes=1),
    "an empty batch between any two": Profile(slice_bytes=1, empty_between=True),
    "many shards": Profile(shards=7),
    "restart after every feed": Profile(shards=2, restart_each=True),
    "copies of a shard take turns": Profile(shards=2, slice_bytes=1, takes_turns=True),
    "conditions judged pair by pair": Profile(chooser=ByPair),
    "rewrites off": Profile(rules=()),
}
# Several at once: what would show of one of them shows of these.
TOGETHER = {
    "whole batches": Profile(),
    "many shards, rewrites off": Profile(shards=7, rules=()),
    "one row a batch, copies of a shard take turns, pair by pair": Profile(
        shards=2, slice_bytes=1, takes_turns=True, chooser=ByPair
    ),
    "an empty batch between any two, restart after every feed": Profile(
        shards=2, slice_bytes=1, empty_between=True, restart_each=True
    ),
}
KNOWN = ALL | TOGETHER
PROFILES = so_many(TOGETHER, ALL)
