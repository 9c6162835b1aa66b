"""Queries that come while a stream with an archive runs: as if they had been there from the start."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.batches import Batch, Kind
from sanderling.clock import NOTHING_YET, show_time, tick_end
from sanderling.deliver.retold import retold
from sanderling.plan.grow.living import Change, LivingPlan
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.session.backfill import Backfill
from sanderling.spark.sources.control import ONCE
from sanderling.storage.archive import Archive
from sanderling.storage.writer import Writer
from tests.engine.direct import DirectRun
from tests.long import drawn
from tests.properties.runs import RELAXED, declarations, fences, write_csv
from tests.properties.test_living import KINDS
from tests.properties.test_once import told_up_to
from tests.properties.worlds import SECOND, World, worlds

__all__ = ["fences"]


class Kept(DirectRun):
    """With an archive of what was shipped so far; versions are told of it as a session does."""

    def begin(self, folder: Path) -> Kept:
        (part,) = self.plan.streams
        assert part.archive is not None
        self.writer = Writer(folder, part.archive)
        self.shipped: list[pa.Table] = []
        self.closed_to = NOTHING_YET
        self.backfill = Backfill(lambda name: self.archive(), self.shards)
        return self

    def archive(self) -> Archive:
        archive = Archive(self.writer.folder, self.writer.about)
        return archive if self.closed_to == NOTHING_YET else archive.going_on(self.shipped, self.closed_to)

    def _collect(self, out: list[Batch]) -> None:
        self.shipped += [batch.table for batch in out if batch.kind == Kind.ARCHIVED]
        self.closed_to = max([self.closed_to, *(b.closed_to for b in out if b.kind == Kind.COUNTS)])
        super()._collect(retold(out))

    def execute(self, text: str, is_activated: bool = True) -> Change:
        before = self.plan
        change = super().execute(text, is_activated=False)
        assert self.living is not None
        self.backfill.turn(before, change, self.living)
        if is_activated:
            self.fill(change.version)
        return change

    def fill(self, version: int) -> None:
        """As the desk tells it: in the same entry what is known of focal objects."""
        told = self.backfill.told(version)
        self._take_turns()
        self._advance([[b for b in told if n == 0 or b.kind not in ONCE] for n in range(self.shards)])
        self.activate()


def flush(run: Kept) -> None:
    if run.closed_to != NOTHING_YET:
        run.writer.append(run.shipped, run.closed_to)


@RELAXED
@given(
    world=st.one_of(
        worlds(has_window=True), worlds(has_window=True, kinds=KINDS), worlds(has_nearest=True)
    ),
    share=st.sampled_from([0.3, 0.6, 0.9, 1.0]), at_s=st.one_of(st.none(), st.integers(-3, 18)),
    shards=st.sampled_from([1, 3]), restart=st.sampled_from(["never", "early", "delta", "snapshot"]),
    is_slow=st.booleans(), is_flushed=st.booleans(), turns=st.booleans(),
)  # fmt: skip
def test_what_comes_later_is_as_from_the_start(
    world: World, share: float, at_s: int | None, shards: int, restart: str, is_slow: bool, is_flushed: bool,
    turns: bool, fences: Path, tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """And AT a time past, its updates since then are those."""
    texts = {ask.query.name: ask.sql for ask in world.asks}
    folder = tmp_path_factory.mktemp("world")
    as_from_the_start(
        world, texts, share, at_s, (shards, turns), restart, is_slow, is_flushed, fences, folder
    )


# What is made of windows: groups, joins, orders, sets, trajectories.
COMPOSED = (
    "SELECT kind, COUNT(*) AS n, SUM(speed) AS s FROM objects [RANGE 7 SECONDS] GROUP BY kind",
    "SELECT COUNT(DISTINCT id) AS n FROM objects [3 ROWS PER KEY] INSIDE (0, 0, 4, 4)",
    "SELECT a.id, b.id AS o FROM objects [RANGE 3 SECONDS] a, objects [NOW] b "
    "WHERE DISTANCE(a, b) < 2 AND a.id < b.id",
    "SELECT id, x FROM objects [RANGE 5 SECONDS] ORDER BY x DESC, id LIMIT 2",
    "SELECT DISTINCT kind FROM objects [RANGE 4 SECONDS] WHERE PREVIOUS(speed) < speed",
    "SELECT id FROM objects [RANGE 9 SECONDS] EXCEPT SELECT id FROM objects [NOW] INSIDE (1, 1, 5, 5)",
    "SELECT a.id, b.id AS o FROM objects [RANGE 4 SECONDS] a, objects [RANGE 4 SECONDS] b "
    "WHERE STAY_WITHIN(a, b, 4) AND a.id < b.id",
    "SELECT a.id, b.id AS o FROM objects [RANGE 4 SECONDS] a, objects [RANGE 4 SECONDS] b "
    "WHERE PASS_WITHIN(a, b, 1) AND a.id < b.id",
)


@settings(RELAXED, max_examples=drawn(4, 1000))
@given(
    world=worlds(has_window=True), texts=st.lists(st.sampled_from(COMPOSED), min_size=1, max_size=3),
    share=st.sampled_from([0.3, 0.6, 0.9]), at_s=st.one_of(st.none(), st.integers(-3, 18)),
    shards=st.sampled_from([1, 3]), restart=st.sampled_from(["never", "early", "delta", "snapshot"]),
    is_slow=st.booleans(),
)  # fmt: skip
def test_what_is_composed_of_windows_is_too(
    world: World, texts: list[str], share: float, at_s: int | None, shards: int, restart: str, is_slow: bool,
    fences: Path, tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    named, folder = {f"q{n}": text for n, text in enumerate(texts)}, tmp_path_factory.mktemp("world")
    as_from_the_start(world, named, share, at_s, (shards, False), restart, is_slow, False, fences, folder)


def as_from_the_start(
    world: World, texts: dict[str, str], share: float, at_s: int | None, placing: tuple[int, bool],
    restart: str, is_slow: bool, is_flushed: bool, fences: Path, folder: Path,
) -> None:  # fmt: skip
    shards, turns = placing
    cut = int(len(world.readings) * share)
    pieces = [
        write_csv(folder / f"{n}.csv", some)
        for n, some in enumerate((world.readings[:cut], world.readings[cut:]))
    ]
    tick_us = world.tick_s * SECOND
    at = "" if at_s is None else f"AT {at_s} "
    comes = [f"{at}REGISTER QUERY {name} AS {sql}" for name, sql in texts.items()]
    declared = declarations(world, fences)
    archive = (
        f"CREATE ARCHIVE past OF objects WITH (path = '{folder / 'past'}', flush = '{world.tick_s} seconds',"
        f" snapshot = '{5 * world.tick_s} seconds')"
    )
    living = LivingPlan()
    living.execute(";\n".join([*declared, archive]))
    run = Kept(living.start().plan, shards, 60, takes_turns=turns, living=living).begin(folder / "past")
    run.feed_file("objects", pieces[0])
    if is_flushed:
        flush(run)
    version = run.execute(";\n".join(comes), is_activated=not is_slow).version
    if restart == "early":
        run.restart()
    if is_slow:
        run.feed_file("objects", pieces[1])
        run.fill(version)
    begins = NOTHING_YET if run.closed_to == NOTHING_YET else run.closed_to + tick_us
    if restart in ("delta", "snapshot"):
        run.restart(restart == "snapshot")
    if not is_slow:
        run.feed_file("objects", pieces[1])
    full = DirectRun(from_the_start([*declared, *comes]), shards, 60)
    for piece in pieces:
        full.feed_file("objects", piece)
    for one in (run, full):
        one.close_to("objects", 40 * SECOND)
    first = begins if at_s is None else tick_end(at_s * SECOND, tick_us)
    for name, sql in texts.items():
        for tick in range(tick_end(-5 * SECOND, tick_us), 41 * SECOND, tick_us):
            if tick >= first:
                wanted = told_up_to(full.updates, name, tick)
                assert told_up_to(run.updates, name, tick) == wanted, (sql, show_time(tick))


def from_the_start(statements: list[str]) -> Plan:
    planner = Planner()
    planner.run_script(";\n".join(statements))
    return planner.plan()
