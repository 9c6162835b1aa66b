"""Where focal objects were after a tick is what the notes up to it add up to, whatever was forgotten."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate import whereabouts as module
from sanderling.operate.whereabouts import Whereabouts

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
