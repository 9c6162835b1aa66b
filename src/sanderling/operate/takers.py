"""Takers: parts that are given batches of some kinds, remember, and tell others. Nobody knows one by name.

batches ──► a taker ──► what it tells ──► the next taker ──► … ──► what nobody takes goes on
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from sanderling.arrays import I64
from sanderling.batches import Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.plans.plan import Plan, Template
from sanderling.state.frame import Frame

# What a batch is by its kind, and whose: of a template, or, where it has none, of a stream.
Key = tuple[Kind, int | str]


class Taker:
    """It has its own part of a plan, and saves itself; what remembers nothing has nothing to save."""

    takes: Sequence[Key]  # what it is given; others may be given the same

    def turn_to(self, plan: Plan) -> None:
        """Goes on under this plan; nothing is left of queries that it does not have."""

    def advance(self, came: list[Batch]) -> list[Batch]:
        """What came in a turn, if something did."""
        raise NotImplementedError

    def answer(self, asked: list[Batch], whole: list[Batch]) -> list[Batch]:
        """Whole answers, of whole answers of what it takes."""
        return whole

    def told(self, template: Template, rows: pa.Table) -> list[Batch]:
        """These as rows of a template; nothing, where there are none."""
        return [Batch(Kind.DELTAS, rows, template.stream, template.id)] if rows.num_rows else []

    def answers(
        self, template: Template, asked: list[Batch], answer: Callable[[I64, int], pa.Table]
    ) -> list[Batch]:
        """Of queries at a tick; each stream of a composed query asks, for its own branches."""
        mine = [ask for ask in asked if ask.stream == template.stream]
        found = [(ask.ask, answer(ask.table.column("query").to_numpy(), ask.closed_to)) for ask in mine]
        return [
            Batch(Kind.ANSWER, rows, template.stream, template.id, ask=number)
            for number, rows in found
            if rows.num_rows
        ]

    def saved(self, is_whole: bool) -> Frame:
        """All that is remembered; or what leads there from what was saved before."""
        return Frame()

    def restore(self, frame: Frame) -> None:
        """Goes on from what was saved, whole or not."""

    def count_anew(self) -> None:
        """A turn begins."""

    def count_into(self, figures: Figures) -> None:
        """What its operators did in the turn, where it has not told that already."""


New = Callable[[], Taker]
# Whether somebody else takes a batch, whoever takes it here.
Asks = Callable[[Batch], bool]


def nobody(batch: Batch) -> bool:
    return False


class Takers:
    """Walks takers in their order."""

    def __init__(self) -> None:
        self.by_name: dict[str, Taker] = {}

    def __iter__(self) -> Iterator[Taker]:
        return iter(self.by_name.values())

    def follow(self, plan: Plan, wanted: Mapping[str, New]) -> None:
        """From now on these; those that were there go on."""
        before, self.by_name = self.by_name, {}
        for name, new in wanted.items():
            if name in before:
                before[name].turn_to(plan)
            self.by_name[name] = before[name] if name in before else new()

    def advance(self, batches: Iterable[Batch], goes_on: Asks = nobody) -> list[Batch]:
        """One turn: what takers tell, and what nobody takes, or others take too."""
        pool = Pool(batches)
        for taker in self:
            came = pool.taken(taker.takes)
            if came:
                pool.put(taker.advance(came))
        return pool.left(goes_on)

    def answer(self, asked: list[Batch], answers: Iterable[Batch], goes_on: Asks = nobody) -> list[Batch]:
        """The same of whole answers."""
        pool = Pool(answers)
        for taker in self:
            whole = pool.taken((Kind.ANSWER, whose) for whose in dict.fromkeys(w for _, w in taker.takes))
            pool.put(taker.answer(asked, whole))
        return pool.left(goes_on)

    def saved(self, is_whole: bool) -> Frame:
        return Frame(parts={name: taker.saved(is_whole) for name, taker in self.by_name.items()})

    def restore(self, frame: Frame) -> None:
        for name, part in frame.parts.items():
            self.by_name[name].restore(part)


class Pool:
    """Batches that may be taken, also by several; those that nobody took are left."""

    def __init__(self, batches: Iterable[Batch]):
        self._by_key: dict[Key, list[Batch]] = {}
        self._taken: set[int] = set()
        self.put(batches)

    def put(self, batches: Iterable[Batch]) -> None:
        for batch in batches:
            key = (batch.kind, batch.stream if batch.template < 0 else batch.template)
            self._by_key.setdefault(key, []).append(batch)

    def taken(self, keys: Iterable[Key]) -> list[Batch]:
        found = [batch for key in keys for batch in self._by_key.get(key, ())]
        self._taken.update(map(id, found))
        return found

    def left(self, goes_on: Asks) -> list[Batch]:
        return [b for some in self._by_key.values() for b in some if id(b) not in self._taken or goes_on(b)]
