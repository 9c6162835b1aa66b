"""SINCE through the engine against all that ever came, however it is cut, placed and interrupted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from tests.oracle import Box, Reading
from tests.oracle.brackets import Refresh
from tests.oracle.oracle import Row, signed, tick_end
from tests.properties.chance import Chance, made_of
from tests.properties.runs import fences, pairing
from tests.properties.scenes import SECOND, Scene
from tests.properties.test_sql import MANY, Case, case, declarations, updates_of

__all__ = ["fences"]

BOX = Box(0, 0, 4, 4)
Answer = Callable[[list[Reading]], Sequence[Row]]


def values(rows: list[Reading], name: str) -> list[Any]:
    return [r.values[name] for r in rows if r.values[name] is not None]


def totals(rows: list[Reading]) -> list[Row]:
    n = values(rows, "n")
    return [(len(rows), len(set(values(rows, "kind"))), max(n, default=None), min(n, default=None))]


def by_kind(rows: list[Reading]) -> list[Row]:
    kinds = {r.values["kind"] for r in rows}
    parts = {kind: [r for r in rows if r.values["kind"] == kind] for kind in kinds}
    return [(kind, sum(found) if (found := values(some, "n")) else None) for kind, some in parts.items()]


def latest(rows: list[Reading]) -> list[Row]:
    """By time, the last first, then by key."""
    found = sorted(rows, key=lambda r: (-r.ts, r.key))[:2]
    return [(r.key, r.values["ts"]) for r in found]


ASKED: dict[str, Answer] = {
    "SELECT DISTINCT id, kind FROM {s}": lambda rows: list({(r.key, r.values["kind"]) for r in rows}),
    "SELECT COUNT(*) AS c, COUNT(DISTINCT kind) AS k, MAX(n) AS m, MIN(n) AS l FROM {s}": totals,
    "SELECT kind, SUM(n) AS n FROM {s} GROUP BY kind": by_kind,
    "SELECT id, ts FROM {s} ORDER BY ts DESC, id LIMIT 2": latest,
    "SELECT id, COUNT(*) AS n FROM {s} GROUP BY id": lambda rows: list(Counter(r.key for r in rows).items()),
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT id FROM {s}) q": lambda rows: [(len({r.key for r in rows}),)],
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A query, in words and in parts."""

    name: str
    stream: str
    select: str
    since_s: float
    is_in_box: bool
    every_s: int
    begin_s: int | None

    @property
    def statement(self) -> str:
        extent = "EXTENT (0, 0, 4, 4) " if self.is_in_box else ""
        every = f" EVERY {self.every_s} SECONDS" if self.every_s else ""
        at = "" if self.begin_s is None else f"AT {self.begin_s} "
        source = f"{self.stream} [{extent}SINCE {self.since_s}{every}]"
        return f"{at}REGISTER QUERY {self.name} AS {self.select.format(s=source)}"

    def updates(self, scene: Scene, end: int | None) -> Counter[tuple[Any, ...]]:
        """The difference of answers at all ticks; what came before the query began is not known."""
        stream, tick_us = scene.streams[self.stream], scene.tick_s * SECOND
        if stream.first_tick is None or stream.closed_to is None:
            return Counter()
        begin = tick_end((-100 if self.begin_s is None else self.begin_s) * SECOND, tick_us)
        first = max(stream.first_tick, begin)
        came = [r for r in stream.told if not r.gone and r.ts > self.since_s * SECOND]
        came = [r for r in came if stream.tick_of(r) >= first and (not self.is_in_box or BOX.holds(r.x, r.y))]
        found: Counter[tuple[Any, ...]] = Counter()
        before: Counter[Row] = Counter()
        for tick in range(first, max(stream.closed_to, end or stream.closed_to) + 1, tick_us):
            seen = [r for r in came if r.ts <= (tick if not self.every_s else self._looked_at(tick, tick_us))]
            now = Counter(ASKED[self.select](seen))
            change = Counter(now)
            change.subtract(before)
            found.update((show_time(t), q, s, row) for t, q, s, row in signed(tick, self.name, change))
            before = now
        return found

    def _looked_at(self, tick: int, tick_us: int) -> int:
        return Refresh(self.every_s * SECOND).last(tick, tick_us)


def asks(chance: Chance, number: int) -> Asked:
    return Asked(
        f"q{number}", chance.choice(["objects", "others"]), chance.choice(list(ASKED)),
        chance.constant([0.0, -5.0, 2.0, 3.5]), chance.flip(), chance.choice([0, 0, 3]),
        chance.choice([None, None, 4]),
    )  # fmt: skip


@MANY
@given(chance=made_of(lambda chance: chance))
def test_what_ever_came_is_what_is_told(chance: Chance, fences: Path, tmp_path: Path) -> None:
    one = case(chance, has_changes=False)
    check(one, [asks(chance, n) for n in range(chance.choice([1, 2, 3]))], fences, tmp_path, chance.flip())


def check(one: Case, asked: list[Asked], fences: Path, folder: Path, has_rules: bool) -> None:
    planner = Planner(rules=RULES if has_rules else ())
    said = [a.statement for a in asked]
    planner.run_script(";\n".join([*declarations(folder, fences, one.scene), *said]))
    got = [json.loads(line) for line in updates_of(one, planner.plan(), folder)]
    told = [(u["tick"], u["query"], u["sign"], tuple(u["row"].values())) for u in got]
    end = None if one.has_ends else one.scene.last_tick()
    wanted = sum((a.updates(one.scene, end) for a in asked), Counter[tuple[Any, ...]]())
    assert Counter(told) == wanted, said
    pairing(told)
