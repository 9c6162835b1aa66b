"""The oracle of patterns on cases worked out by hand. A step is a line: who is there, tick by tick."""

from __future__ import annotations

from tests.oracle.oracle import Row
from tests.oracle.patterns import Answers, Pattern, Position, Run, Step, told
from tests.oracle.persistency import Persistency


def there(line: str) -> Answers:
    """Each word is a tick: keys as letters, each with a digit behind it if it shows another value than 0."""
    return {
        tick: [] if word == "." else [_row(word[i : i + 2]) for i in range(len(word)) if word[i].isalpha()]
        for tick, word in enumerate(line.split())
    }


def _row(word: str) -> Row:
    return word[0], int(word[1:]) if word[1:].isdigit() else 0


def step(
    name: str, line: str, stay: int = 0, *, is_first: bool = False, grace: int = 0, **how: object
) -> Step:
    of = () if is_first else (("a", 0),)
    return Step(name, there(line), Persistency(stay, (0,), grace), of, **how)  # type: ignore[arg-type]


def first(line: str, stay: int = 0, **how: object) -> Step:
    return step("a", line, stay, is_first=True, **how)  # type: ignore[arg-type]


def then(*steps: Step, within: int | None = None, of: str = "", **how: object) -> Position:
    return Position(steps, within_us=within, of=of, **how)  # type: ignore[arg-type]


def shown(run: Run) -> str:
    ticks = " ".join(f"{name}{reached.since}-{reached.tick}" for name, reached in run.reached.items())
    return f"@{run.tick} {run.key[0]} {run.outcome}: {ticks}"


def runs(first: Step, *positions: Position, tick: int = 1, **how: object) -> list[str]:
    return [shown(run) for run in told(Pattern(first, positions, tick, **how))]  # type: ignore[arg-type]


def test_one_step_tells_each_stay_once() -> None:
    """2.4, row 3: who stays is told once; 'again' is a stay of its own. Row 4: at b + d, whoever reports."""
    assert runs(first("a ab ab . b b b", 1)) == [
        "@1 a matched: a0-1",
        "@2 b matched: a1-2",
        "@5 b matched: a4-5",
    ]


def test_entering_passes_over_who_is_there_when_the_pattern_begins() -> None:
    assert runs(first("a a . a", is_entering=True)) == ["@3 a matched: a3-3"]


def test_a_step_may_have_begun_before_and_is_counted_from_the_one_before() -> None:
    """2.4, row 1: nested conditions work, and nothing of before counts."""
    nested = step("b", "a a a a a a", 2)
    assert runs(first(". . a a . .", 1), then(nested, within=5)) == ["@5 a matched: a2-3 b3-5"]
    entering = step("b", "a a a a . a a a", 2, is_entering=True)
    assert runs(first(". . a . . . . .", 0), then(entering, within=9)) == ["@7 a matched: a2-2 b5-7"]


def test_both_ends_count() -> None:
    """A step may be reached at the tick of the one before, and at its bound."""
    assert runs(first("a ."), then(step("b", "a ."), within=0)) == ["@0 a matched: a0-0 b0-0"]
    assert runs(first("a . ."), then(step("b", ". . a"), within=2)) == ["@2 a matched: a0-0 b2-2"]
    assert runs(first("a . ."), then(step("b", ". . a"), within=1)) == []


def test_entering_is_later_than_the_step_before() -> None:
    again = step("b", "a a . a", is_entering=True)
    assert runs(first("a . . ."), then(again, within=3)) == ["@3 a matched: a0-0 b3-3"]


def test_not_is_asked_until_the_next_step_is_reached() -> None:
    """2.4, row 2: also at its very tick; before the step ahead of it, nobody asks."""
    way = first("a . . .")
    assert runs(way, then(step("c", ". . a a"), nots=(step("b", ". a . ."),), within=3)) == []
    assert runs(way, then(step("c", ". . a a"), nots=(step("b", ". . a ."),), within=3)) == []
    assert runs(way, then(step("c", ". . a a"), nots=(step("b", ". . . a"),), within=3)) == [
        "@2 a matched: a0-0 c2-2"
    ]
    late = first(". . a .")
    assert runs(late, then(step("c", ". . . a"), nots=(step("b", "a a . ."),), within=3)) != []


def test_a_not_has_its_own_persistency() -> None:
    passing = step("b", ". a . . . .", 1)
    staying = step("b", ". a a . . .", 1)
    assert runs(first("a . . . . ."), then(step("c", ". . . a ."), nots=(passing,), within=5)) != []
    assert runs(first("a . . . . ."), then(step("c", ". . . a ."), nots=(staying,), within=5)) == []


def test_a_last_not_is_told_at_its_bound() -> None:
    assert runs(first("a b . . . ."), then(nots=(step("b", ". . a . . ."),), within=3)) == [
        "@4 b matched: a1-1"
    ]
    assert runs(first("a . ."), then(nots=(step("b", ". . ."),), within=3)) == []  # it has not passed yet


def test_within_is_of_being_reached() -> None:
    """2.4, row 5: the persistency is a part of it. Bounds that are no whole ticks end before."""
    assert runs(first("a . . . ."), then(step("b", ". a a a ."), within=3)) != []
    assert runs(first("a . . . ."), then(step("b", ". a a a .", 2), within=2)) == []
    assert runs(first("a . . . ."), then(step("b", ". a a a .", 2), within=3)) != []


def test_outcomes() -> None:
    lines = first("ab . . . ."), then(step("c", ". . . . ."), nots=(step("b", ". b . . ."),), within=2)
    assert runs(*lines, has_timeouts=True) == ["@1 b broken: a0-0", "@2 a timed out: a0-0"]
    assert runs(*lines) == []


def test_within_of_an_earlier_step_bounds_all_up_to_it() -> None:
    way = (
        first("a . . . . ."),
        then(step("b", ". . . a . .")),
        then(step("c", ". . . . a ."), within=3, of="a"),
    )
    assert runs(*way, has_timeouts=True) == ["@3 a timed out: a0-0 b3-3"]
    early = then(step("b", ". . . . a .")), then(step("c", ". . . . a ."), within=3, of="a")
    assert runs(first("a . . . . ."), *early, has_timeouts=True) == ["@3 a timed out: a0-0"]


def test_the_key_is_what_is_the_same() -> None:
    """2.4, row 6: other columns may change; what is shown is the row of the tick it was reached at."""
    (run,) = told(Pattern(first("a1 a2 a3", 2), (), 1))
    assert run.reached["a"].row == ("a", 3)


def test_each_run_goes_on_with_the_next() -> None:
    """2.4, row 7: nothing is missed; FIRST tells one, and SKIP drops what began up to the match."""
    way = first("a . a . . a"), then(step("b", ". . . . a a"), within=9)
    all_of_them = ["@4 a matched: a0-0 b4-4", "@4 a matched: a2-2 b4-4", "@5 a matched: a5-5 b5-5"]
    assert runs(*way) == all_of_them
    assert runs(*way, is_first=True) == [all_of_them[0], all_of_them[2]]
    assert runs(*way, is_skipping=True) == [all_of_them[0], all_of_them[2]]
    long = first("a . a . . a a", 0), then(step("b", ". . . a a a a", 1), within=9)
    assert runs(*long) == ["@4 a matched: a0-0 b3-4", "@4 a matched: a2-2 b3-4", "@6 a matched: a5-5 b5-6"]


def test_skip_drops_a_stay_that_has_begun_and_is_no_run_yet() -> None:
    way = first("a a . . a a", 1), then(step("b", ". . . . a a"), within=9)
    assert runs(*way) == ["@4 a matched: a0-1 b4-4", "@5 a matched: a4-5 b5-5"]
    assert runs(*way, is_skipping=True) == ["@4 a matched: a0-1 b4-4"]


def test_or_takes_the_first_and_and_the_last() -> None:
    both = step("b", ". . a a ."), step("c", ". a a . .")
    assert runs(first("a . . . ."), then(*both, within=9)) == ["@1 a matched: a0-0 c1-1"]
    assert runs(first("a . . . ."), then(*both, is_all=True, within=9)) == ["@2 a matched: a0-0 b2-2 c1-1"]
    equal = step("b", ". . a a ."), step("c", ". . a . .")
    assert runs(first("a . . . ."), then(*equal, within=9)) == ["@2 a matched: a0-0 b2-2"]


def test_times_are_stays() -> None:
    visits = step("b", "a a . a . a a", times=3)
    assert runs(first("a . . . . . ."), then(visits, within=9)) == ["@5 a matched: a0-0 b5-5"]
    assert runs(first("a . . . . . ."), then(visits, within=4)) == []


def test_leaving_is_a_stay_elsewhere() -> None:
    line = "a a . a . . ."
    assert runs(first("a . . . . . ."), then(step("b", line, is_leaving=True), within=9)) == [
        "@2 a matched: a0-0 b2-2"
    ]
    assert runs(first("a . . . . . ."), then(step("b", line, 2, is_leaving=True), within=9)) == [
        "@6 a matched: a0-0 b4-6"
    ]


def test_on_says_who_is_meant() -> None:
    contact = Step("a", {0: [("p", "q")], 1: [], 2: []}, Persistency(0, (0, 1)))
    ward = Step("b", {0: [], 1: [("q",)], 2: [("p",)]}, Persistency(0, (0,)), (("a", 1),))
    assert [run.tick for run in told(Pattern(contact, (then(ward, within=5),), 1))] == [1]
    nobody = Step("a", {0: [("p", None)], 1: [], 2: []}, Persistency(0, (0, 1)))
    assert told(Pattern(nobody, (then(ward, within=5),), 1)) == []


def test_a_grace_forgives_a_break_and_reaches_nothing_in_it() -> None:
    graced = step("b", ". a . a . .", 2, grace=1)
    assert runs(first("a . . . . ."), then(graced, within=9)) == ["@3 a matched: a0-0 b1-3"]
    gone = step("b", ". a . . . .", 1, grace=3)
    assert runs(first("a . . . . ."), then(gone, within=9)) == []


def test_while_begins_a_new_stay() -> None:
    """2.4, row 10."""
    closer = Persistency(2, (0,), goes_on=lambda before, row: row[1] <= before[1])  # type: ignore[operator]
    found = told(Pattern(Step("a", there("a5 a4 a6 a6 a5"), closer), (), 1))
    assert [shown(run) for run in found] == ["@4 a matched: a2-4"]


def test_where_is_asked_of_what_is_told() -> None:
    """It does not change which run is skipped; FIRST chooses among those for which it holds."""
    way = first("a . a . . a"), then(step("b", ". . . . a a"), within=9)
    later = {"where": lambda run: run.reached["a"].tick > 0}
    assert runs(*way, is_first=True, **later) == ["@4 a matched: a2-2 b4-4", "@5 a matched: a5-5 b5-5"]
    assert runs(*way, is_skipping=True, **later) == ["@5 a matched: a5-5 b5-5"]
