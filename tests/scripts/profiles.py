"""How a script is cut, placed and interrupted; none of it is to show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sanderling.operate.where.orders import ByCounts, Chooser
from sanderling.plan.logical import Rule
from sanderling.plan.rules import RULES
from sanderling.plan.rules.finish import finish
from sanderling.plan.rules.fold import fold
from sanderling.plan.rules.look import look
from sanderling.plan.rules.push_down import push_down
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
    "a few rows a batch, an empty one between any two, many shards, rewrites off, pair by pair": Profile(
        shards=7, slice_bytes=60, empty_between=True, rules=(), chooser=ByPair
    ),
}
# A session plans its statements as they come.
IN_A_SESSION = {
    "one row a batch, copies of a shard take turns, restart after every feed": Profile(
        shards=2, slice_bytes=1, takes_turns=True, restart_each=True
    ),
}
KNOWN = ALL | TOGETHER | IN_A_SESSION
# Of a script that is planned beforehand, of a session's, and of any script as one of a session.
# What makes conditions those of scans: what a query may go on as depends on it (plan/grow/replacing.py).
DOWN = (look, push_down, fold, finish)


def rules_for(script: Path, profile: Profile) -> tuple[Rule, ...]:
    return profile.rules or (DOWN if script.stem.startswith("replace") else ())


PROFILES = so_many(TOGETHER, ALL)
SESSION_PROFILES = so_many(TOGETHER | IN_A_SESSION, ALL)
OTHER_PROFILES = so_many(tuple(IN_A_SESSION), ("many shards", "copies of a shard take turns"))
