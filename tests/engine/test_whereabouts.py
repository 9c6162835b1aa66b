"""Where focal objects were after a tick is what the notes up to it add up to, whatever was forgotten."""

from __future__ import annotations

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

HELD = (
    "5 SECONDS", "2 ROWS PER KEY", "UNTIL NEXT",
    pytest.param("2 ROWS", marks=pytest.mark.xfail(
        strict=True, reason="a shard with few readings holds older ones of the last n, and knows more of then"
    )),
)  # fmt: skip


@pytest.mark.parametrize("held", HELD)
def test_a_window_that_comes_later_begins_alike_in_any_number_of_shards(held: str, tmp_path: Path) -> None:
    """With last readings that are older than what is held."""
    assert len({began_with(held, shards, tmp_path) for shards in (1, 2, 3, 7)}) == 1


def began_with(held: str, shards: int, folder: Path) -> tuple[str, ...]:
    living = LivingPlan()
    around = "SELECT id FROM cars INSIDE ('M', 'bus', 2) WINDOW"
    living.execute(
        "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
        f"REGISTER QUERY lately AS {around} {held}"
    )
    run = DirectRun(living.start().plan, shards, living=living)
    met = "".join(f"{key},4,1,0\n" for key in "abcde")
    feed(run, folder, f"bus,3,0,0\n{met}e,6,9,9\nbus,8,5,5\nbus,10,6,6\nbus,11,6,6\n")
    run.execute(f"REGISTER QUERY later AS {around} UNTIL NEXT")
    feed(run, folder, "bus,12,7,7\nbus,13,7,7\n")
    return tuple(line for line in run.updates if '"later"' in line)


def feed(run: DirectRun, folder: Path, rows: str) -> None:
    path = folder / "cars.csv"
    path.write_text(f"id,ts,x,y\n{rows}")
    run.feed_file("cars", path)
