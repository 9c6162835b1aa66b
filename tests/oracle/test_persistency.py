"""The oracle of PERSISTENCY on cases worked out by hand; a sign is a tick."""

from __future__ import annotations

from itertools import accumulate

import pytest

from tests.oracle.oracle import Row
from tests.oracle.past import Past
from tests.oracle.persistency import Persistency, persistent
from tests.oracle.select import Expression, Persistent, Readings, Registered, Select
from tests.oracle.sql import run
from tests.oracle.test_sql_oracle import of, past, reading

SECOND = 1_000_000


def shown(asked: Persistency, told: str, tick: int = 1) -> str:
    """Rows are of one key: a digit is what it shows at a tick, a point nobody; what is told stands alike."""
    answers = dict(enumerate([] if one == "." else [("x", int(one))] for one in told))
    found = []
    for last in range(len(told)):
        seen = {tick * at: rows for at, rows in answers.items() if at <= last}
        rows: list[Row] = persistent(asked, seen, tick)
        found.append("".join(str(row[1]) for row in rows) or ".")
    return "".join(found)


@pytest.mark.parametrize(
    ("stay", "grace", "told", "wanted"),
    [
        (0, 0, "11.1", "11.1"),
        (2, 0, "1111.111", "..11...1"),
        (2, 0, "1.1.1.11", "........"),
        (2, 0, "1233..", "..33.."),  # what a key shows may change
        (0, 2, "1...1", "111.1"),
        (0, 2, "1..2.", "11122"),  # a break of up to two ticks is none; in it the last row stands
        (3, 2, "1..1..1", "...1111"),
        (3, 2, "1....", "....."),  # long enough only when it is there
        (2, 1, "1.1.1..", "..1111."),
    ],
)
def test_stays(stay: int, grace: int, told: str, wanted: str) -> None:
    assert shown(Persistency(stay, (0,), grace), told) == wanted


def test_what_is_no_multiple_of_the_tick() -> None:
    """Ticks of 2: 3 is reached at 4, and of a grace of 3 one tick is left."""
    assert shown(Persistency(3, (0,)), "11111", tick=2) == "..111"
    assert shown(Persistency(0, (0,), 3), "1.1..1", tick=2) == "1111.1"


def test_while_begins_a_new_stay_where_it_does_not_hold() -> None:
    rising = Persistency(2, (0,), goes_on=lambda before, row: row[1] >= before[1])  # type: ignore[operator]
    assert shown(rising, "1233215599") == "..33...599"
    unknown = Persistency(1, (0,), goes_on=lambda before, row: None)
    assert shown(unknown, "1122") == ".1.2"


def test_while_looks_over_a_break_and_ends_a_grace() -> None:
    rising = Persistency(1, (0,), 3, lambda before, row: row[1] >= before[1])  # type: ignore[operator]
    assert shown(rising, "11.2") == ".112"
    assert shown(rising, "22.1111") == ".22.111"


def test_each_key_by_itself_and_of_several_rows_the_smallest() -> None:
    asked = Persistency(1, (0,))
    answers: dict[int, list[Row]] = {
        0: [("a", 2), ("a", None), ("b", 1)], 1: [("a", 3), ("a", 2)], 2: [("b", 1), ("a", 2)],
    }  # fmt: skip
    told = [persistent(asked, {t: answers[t] for t in range(n + 1)}, 1) for n in range(3)]
    assert told == [[], [("a", 2)], [("a", 2)]]


def updates(told: Past, query: Persistent, begin_s: int | None = None) -> list[tuple[int, int, Row]]:
    begin = None if begin_s is None else begin_s * SECOND
    found = run(told, [Registered("q", query, begin)]).updates
    return [(u.tick // SECOND, u.sign, u.row) for u in found]


def test_silence_is_presence_until_somebody_is_stale() -> None:
    told = past(reading("a", 1), reading("b", 9), stale_s=5)
    query = Persistent(Select(of("id"), Readings("cars", "c")), 3 * SECOND, ("id",))
    assert updates(told, query) == [(4, 1, ("a",)), (7, -1, ("a",))]
    assert updates(told, query, begin_s=2) == [(5, 1, ("a",)), (7, -1, ("a",))]


def test_a_condition_on_rows_by_their_names() -> None:
    told = past(*(reading("a", t + 1, x) for t, x in enumerate(accumulate((1.0, 1.0, -5.0, 1.0, 1.0)))))
    further = Expression("x > PREVIOUS(x)", lambda row: row["x"] > row["previous x"])
    query = Persistent(Select(of("id", "x"), Readings("cars", "c")), SECOND, ("id",), 0, further)
    assert updates(told, query) == [
        (2, 1, ("a", 2.0)), (3, -1, ("a", 2.0)),
        (4, 1, ("a", -2.0)), (5, -1, ("a", -2.0)), (5, 1, ("a", -1.0)),
    ]  # fmt: skip
