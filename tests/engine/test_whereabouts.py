"""Where focal objects were after a tick is what the notes up to it add up to, whatever was forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.window import whereabouts as module
from sanderling.operate.window.whereabouts import Whereabouts
from sanderling.plan.grow.living import LivingPlan
from tests.engine.direct import DirectRun

NOTES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.sampled_from([0.0, 1.0, np.nan])), max_size=30
)


@given(notes=NOTES, stride=st.sampled_from([1, 2, 1024]), before=st.integers(0, 9), cut=st.integers(0, 30))
def test_notes_add_up(notes: list[tuple[int, int, float]], stride: int, before: int, cut: int) -> None:
    known = Whereabouts(pa.array(["a", "b", "c", "d"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STRIDE", stride)
        for part in (notes[:cut], notes[cut:]):
            if part:
                focal, tick, x = (np.array(column) for column in zip(*part, strict=True))
                known._note(focal, tick, x, x)
        known.forget(before, is_now=True)
        known.restore(known.saved())
        known.turn_to(pa.array(["d", "x", "b"]))
    for tick in range(before, 11):
        place: dict[int, float] = {}
        for focal, at, x in sorted(notes, key=lambda note: note[1]):
            if at <= tick:
                place[focal] = x
        wanted = [place.get(3, np.nan), np.nan, place.get(1, np.nan)]
        np.testing.assert_array_equal(known.at(tick)[0], wanted)


# -- a window over a region that moves, registered while the stream runs ---------------------------------

HELD = ("5 SECONDS", "2 ROWS PER KEY", "UNTIL NEXT", "2 ROWS", "4 ROWS")
COMES = ("UNTIL NEXT", "1 ROWS PER KEY", "9 SECONDS", "3 ROWS", "9 ROWS")


@pytest.mark.parametrize("comes", COMES)
@pytest.mark.parametrize("held", HELD)
def test_a_window_that_comes_later_begins_alike_in_any_number_of_shards(
    held: str, comes: str, tmp_path: Path
) -> None:
    """With last readings that are older than what is held; also in what was saved and restored."""
    ways = [began_with(held, comes, shards, False, tmp_path) for shards in (1, 2, 3, 7)]
    ways += [began_with(held, comes, shards, True, tmp_path) for shards in (1, 7)]
    assert len(set(ways)) == 1


def test_what_n_rows_hold_is_known_to_other_n_rows(tmp_path: Path) -> None:
    """Of the last four none was near the bus; of the last nine, five were."""
    for held, wanted in (("4 ROWS", []), ("9 ROWS", ["a", "b", "c", "d", "e"])):
        for shards in (1, 7):
            told = map(json.loads, began_with(held, held, shards, False, tmp_path))
            assert [u["row"]["id"] for u in told if u["tick"] == "1970-01-01T00:00:11Z"] == wanted


def began_with(held: str, comes: str, shards: int, is_restarted: bool, folder: Path) -> tuple[str, ...]:
    living = LivingPlan()
    around = "SELECT id FROM cars INSIDE ('M', 'bus', 2) WINDOW"
    living.execute(
        "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
        f"REGISTER QUERY lately AS {around} {held}"
    )
    run = DirectRun(living.start().plan, shards, living=living)
    met = "".join(f"{key},4,1,0\n" for key in "abcde")
    feed(run, folder, f"bus,3,0,0\n{met}e,6,9,9\nbus,8,5,5\nbus,10,6,6\nbus,11,6,6\n")
    run.execute(f"REGISTER QUERY later AS {around} {comes}")
    for number, rows in enumerate(("bus,12,7,7\nbus,13,7,7\n", "a,14,7,7\nb,15,9,9\nbus,16,9,9\n")):
        if is_restarted:
            run.restart(is_snapshot=number == 0)
        feed(run, folder, rows)
        run.execute(f"REGISTER QUERY later{number} AS {around} {comes}")
    feed(run, folder, "c,17,9,9\nbus,18,9,9\n")
    return tuple(line for line in run.updates if '"later' in line)


def feed(run: DirectRun, folder: Path, rows: str) -> None:
    path = folder / "cars.csv"
    path.write_text(f"id,ts,x,y\n{rows}")
    run.feed_file("cars", path)
