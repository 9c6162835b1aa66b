"""Updates come in order of tick, − before +, however many ticks a batch has: each can be applied at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import sanderling
from sanderling.session.session import Session
from tests.long import so_many
from tests.session.cars import Cars, Row

FROM = "SELECT `the ``id``` AS id FROM `the cars`"
PAIR = "a.`the ``id``` AS one, b.`the ``id``` AS other"
QUERIES = {
    "depot": f"{FROM} INSIDE (0, 0, 50, 50)",
    "three": f"{FROM} kNN (3, 50, 50)",
    "passed": "SELECT `the ``id``` AS id, x FROM `the cars` INSIDE (0, 0, 50, 50) WINDOW 4 SECONDS",
    "pairs": f"SELECT {PAIR} FROM `the cars` a, `the cars` b WHERE DISTANCE(a, b) < 20 AND a.x < b.x",
    "west": "SELECT count(*) AS n FROM `the cars` WHERE x < 50",
    "first": f"{FROM} ORDER BY x LIMIT 2",
}
CARS, SECONDS = 12, 60
Told = tuple[int, int, tuple[Any, ...]]  # second, sign, row


def test_batches_applied_one_by_one_give_the_answer_of_every_tick(
    spark: SparkSession, tmp_path: Path
) -> None:
    cars, rows = Cars(tmp_path / "cars"), drive()
    with sanderling.connect(spark, shards=3) as session:
        cars.declare(session)
        for name, select in QUERIES.items():
            session.register(name, select)
        session.start()
        readers = {name: session.subscribe(name) for name in QUERIES}
        session.process_all()
        for at in (0, CARS * SECONDS // 2):  # two batches of many ticks
            cars.come(*rows[at : at + CARS * SECONDS // 2])
            session.process_all()
        in_batches = {name: list(iter(lambda r=r: r.poll(0), None)) for name, r in readers.items()}
        for name, batches in in_batches.items():
            assert len(batches) < SECONDS / 4, "many ticks in a batch"
            check(name, rows, [list(map(as_told, batch.to_pylist())) for batch in batches])
        check_updates(session, rows)
        late = session.subscribe("passed")
        session.process_all()
        first = late.poll(0)
        assert first is not None
        assert Counter(row for _, _, row in map(as_told, first.to_pylist())) == passed(rows, SECONDS - 2)


def check_updates(session: Session, rows: list[Row]) -> None:
    """In each partition, and partitions one behind the other."""
    for name in so_many(("passed", "pairs"), tuple(QUERIES)):  # each starts a query of Spark's
        check(name, rows, [list(map(as_told, in_order(session.updates(name))))])
    told = [(row["tick"], row["query"].encode(), row["sign"]) for row in in_order(session.updates())]
    assert told == sorted(told) and len(told) > SECONDS


def in_order(frame: DataFrame) -> list[dict[str, Any]]:
    """All rows, as a sink meets them."""
    found: list[dict[str, Any]] = []

    def take(batch: DataFrame, _: int) -> None:
        found.extend(batch.toArrow().to_pylist())

    frame.writeStream.foreachBatch(take).trigger(availableNow=True).start().awaitTermination()
    return found


def check(name: str, rows: list[Row], batches: Iterable[list[Told]]) -> None:
    """The order, that nothing goes before it came, and the answer after the last row of every tick."""
    held: Counter[tuple[Any, ...]] = Counter()
    told = [one for batch in batches for one in batch]
    assert [one[:2] for one in told] == sorted(one[:2] for one in told), name
    left = Counter(tick for tick, _, _ in told)
    for tick, sign, row in told:
        held[row] += sign
        left[tick] -= 1
        assert held[row] >= 0, f"{name} at {tick}: {row} goes before it came"
        if not left[tick]:
            assert +held == ANSWERS[name](rows, tick), f"{name} at {tick}"
    last_of = [batch[-1][0] for batch in batches if batch]
    assert len(set(last_of)) == len(last_of), "a tick is in one batch"


def as_told(row: dict[str, Any]) -> Told:
    tick, sign, *values = row.values()
    return round(tick.replace(tzinfo=UTC).timestamp()), sign, tuple(values)


def drive() -> list[Row]:
    """Everybody somewhere each second."""
    chance = random.Random(7)
    return [
        (f"c{car}", second, chance.random() * 100, 25.0 + car, False)
        for second in range(SECONDS)
        for car in range(CARS)
    ]


# ----- the answers, from scratch


def now(rows: list[Row], second: int) -> list[Row]:
    return [row for row in rows if row[1] == second]


def depot(rows: list[Row], second: int) -> Counter[tuple[Any, ...]]:
    return Counter((key,) for key, _, x, _, _ in now(rows, second) if x is not None and x <= 50)


def three(rows: list[Row], second: int) -> Counter[tuple[Any, ...]]:
    near = sorted(now(rows, second), key=lambda r: ((r[2] or 0) - 50) ** 2 + (r[3] - 50) ** 2)
    return Counter((row[0],) for row in near[:3])


def passed(rows: list[Row], second: int) -> Counter[tuple[Any, ...]]:
    held = [r for r in rows if r[1] is not None and second - 4 < r[1] <= second]
    return Counter((r[0], r[2]) for r in held if r[2] is not None and r[2] <= 50)


def pairs(rows: list[Row], second: int) -> Counter[tuple[Any, ...]]:
    here = [(r[0], r[2] or 0, r[3]) for r in now(rows, second)]
    return Counter(
        (a, b)
        for a, ax, ay in here
        for b, bx, by in here
        if ax < bx and (ax - bx) ** 2 + (ay - by) ** 2 < 400
    )


def west(rows: list[Row], second: int) -> Counter[tuple[Any, ...]]:
    return Counter([(sum((r[2] or 0) < 50 for r in now(rows, second)),)])


def first(rows: list[Row], second: int) -> Counter[tuple[Any, ...]]:
    return Counter((row[0],) for row in sorted(now(rows, second), key=lambda r: r[2] or 0)[:2])


ANSWERS: dict[str, Callable[[list[Row], int], Counter[tuple[Any, ...]]]] = {
    "depot": depot, "three": three, "passed": passed, "pairs": pairs, "west": west, "first": first,
}  # fmt: skip
