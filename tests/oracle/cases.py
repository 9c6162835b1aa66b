"""Readings and queries made by hand, for the tests of the oracle."""

from . import Query, Reading, run, run_fast

TICK = 10
SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def at(key, ts, x, y, gone=False, **values) -> Reading:
    return Reading(key, ts, x, y, {"id": key, "ts": ts, "x": x, "y": y, **values}, gone)


def of(*columns):
    return lambda values: tuple(values[column] for column in columns)


def inside(shape, name="q", **rest) -> Query:
    return Query(name, [(shape, {})], **{"select": of("id"), **rest})


def told(readings, queries, **chosen):
    """The updates as (tick, query, sign, row), from both versions."""
    plain = run(readings, queries, TICK, **chosen)
    assert run_fast(readings, queries, TICK, **chosen) == plain
    return plain.updates
