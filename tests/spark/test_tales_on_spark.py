"""Random tales of queries that come and go, all of them in one session on Spark, against the oracle."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hypothesis import Phase, given, settings
from pyspark.sql import SparkSession

import sanderling
from sanderling.clock import show_time
from tests import oracle
from tests.oracle.oracle import comparable
from tests.properties.runs import declarations, fences, write_csv
from tests.properties.test_living import KINDS, Chronicle, Pause, Tale
from tests.properties.worlds import MANY_KEYS, SECOND, Ask, World, ask

__all__ = ["fences"]

COLUMNS = "id {key}, ts double, x double, y double, gone boolean, speed double, kind string"
TALES = 8


def some_tales() -> list[Tale]:
    """The same ones each time. Hypothesis would draw far smaller ones, and Spark is slow to begin."""
    asked = some_asks()
    return [_tale(random.Random(number), asked) for number in range(TALES)]


def some_asks() -> list[Ask]:
    drawn: list[Ask] = []

    @settings(max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
    @given(ask(0, is_integer=False, kinds=KINDS, has_nearest=True))
    def draw(asked: Ask) -> None:
        drawn.append(asked)

    draw()
    return drawn


def _tale(rng: random.Random, asked: list[Ask]) -> Tale:
    lateness = rng.choice([0, 0, 4])
    readings = [_reading(rng, n * SECOND // 3 - rng.randint(0, lateness) * SECOND) for n in range(75)]
    world = World(readings, [], rng.choice([1, 2, 5]), lateness, rng.choice([None, None, 3]), False)
    cuts = [0, *sorted(rng.sample(range(10, 70), 3)), len(readings)]
    pieces = tuple(readings[a:b] for a, b in pairwise(cuts))
    return Tale(world, pieces, tuple(_pause(rng, asked) for _ in range(len(pieces) + 1)))


def _pause(rng: random.Random, asked: list[Ask]) -> Pause:
    drops = rng.sample([f"q{n}" for n in range(5)], rng.randint(0, 2))
    comes = [
        replace(found, query=replace(found.query, name=f"q{n}"))
        for n, found in zip(rng.sample(range(5), 3), rng.sample(asked, 3), strict=True)
    ]
    return Pause(tuple(drops), tuple(comes), is_slow=False, restart="never")


def _reading(rng: random.Random, ts: int) -> oracle.Reading:
    key, x, y = rng.choice(MANY_KEYS), *(float(rng.randint(-1, 6)) for _ in range(2))
    values = {
        "id": key, "x": x, "y": y, "gone": rng.random() < 0.1,
        "speed": rng.choice([None, 0.0, 1.0, 2.0, 3.0]), "kind": rng.choice([None, "bus", "cab", "boat"]),
    }  # fmt: skip
    return oracle.Reading(key, ts, x, y, values, bool(values["gone"]))


class Told:
    """One tale as a stream of the session, under names of its own."""

    def __init__(self, number: int, tale: Tale, folder: Path):
        self.number, self.tale = number, tale
        self.folder = folder / str(number)
        self.chronicle = Chronicle(tale.world)

    def named(self, text: str) -> str:
        text = re.sub(r"\bobjects\b", f"objects{self.number}", text)
        return re.sub(r"\bq(\d)\b", rf"t{self.number}q\1", text)

    def stream(self, session: sanderling.Session) -> None:
        world = self.tale.world
        self.folder.mkdir()
        key = "bigint" if world.is_integer_key else "string"
        reader = session.spark.readStream.schema(COLUMNS.format(key=key)).option("header", "true")
        stale = None if world.stale_after_s is None else f"{world.stale_after_s} seconds"
        session.stream(
            reader.csv(str(self.folder)), name=f"objects{self.number}", key="id", time="ts",
            location=("x", "y"), gone="gone", tick=f"{world.tick_s} seconds",
            lateness=f"{world.lateness_s} seconds", stale_after=stale,
        )  # fmt: skip

    def statements(self, here: Pause) -> list[str]:
        chronicle = self.chronicle
        drops = [name for name in here.drops if name in chronicle.names()]
        comes = [a for a in here.comes if a.query.name in drops or a.query.name not in chronicle.names()]
        for name in drops:
            chronicle.goes(name)
        for asked in comes:
            chronicle.comes(asked, is_waiting=False)
        said = [f"DROP QUERY {name}" for name in drops] + [s for a in comes for s in a.statements()]
        return [self.named(s) for s in said]

    def piece(self, step: int) -> list[oracle.Reading]:
        return self.tale.pieces[step] if step < len(self.tale.pieces) else []

    def feed(self, step: int) -> None:
        piece = self.piece(step)
        if piece:
            hidden = write_csv(self.folder / f".{step}", piece)
            hidden.rename(self.folder / f"{step}.csv")
            self.chronicle.seen += piece

    def wanted(self) -> Counter[tuple[object, ...]]:
        world, closed = self.tale.world, self.chronicle.closed_to()
        if closed is None:
            return Counter()
        result = oracle.run(
            world.readings, self.chronicle.queries(), self.chronicle.tick_us,
            lateness_us=self.chronicle.lateness_us,
            stale_after_us=None if world.stale_after_s is None else world.stale_after_s * SECOND,
        )  # fmt: skip
        return Counter(
            (show_time(t), self.named(q), s, row) for t, q, s, row in result.updates if t <= closed
        )


def test_random_tales_in_one_session(spark: SparkSession, fences: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    told = [Told(n, tale, tmp_path / "in") for n, tale in enumerate(some_tales())]
    _, *shared = declarations(told[0].tale.world, fences)
    with sanderling.connect(spark, tmp_path / "checkpoint", shards=3) as session:
        session.execute(";\n".join(shared))
        for tale in told:
            tale.stream(session)
        session.start()
        for step in range(max(len(t.tale.pauses) for t in told)):
            said = [s for t in told if step < len(t.tale.pauses) for s in t.statements(t.tale.pauses[step])]
            if said:
                session.execute(";\n".join(said))
            session.process_all()
            for tale in told:
                tale.feed(step)
            session.process_all()
        sink = session.updates().writeStream.format("parquet").option("path", str(tmp_path / "out"))
        sink = sink.option("checkpointLocation", str(tmp_path / "sink")).trigger(availableNow=True)
        sink.start().awaitTermination()
        rows = spark.read.parquet(str(tmp_path / "out")).toArrow()
    got = Counter(
        (show_time(t), q, s, tuple(comparable(v) for v in json.loads(row).values()))
        for t, q, s, row in zip(
            rows.column("tick").cast("int64").to_pylist(), *(rows.column(c).to_pylist() for c in
            ("query", "sign", "row")), strict=True,
        )
    )  # fmt: skip
    wanted = sum((t.wanted() for t in told), Counter())
    assert got == wanted and len(wanted) > 100
