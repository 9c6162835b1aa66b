"""Runs as columns against runs one by one, which programs' own states need: they tell and hold the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.operator import Operator
from sanderling.operate.pattern.match import Match
from sanderling.operate.pattern.matching import Matching
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from tests.operate.histories import THOROUGH
from tests.operate.test_match import QUERY, TICK, TICKS, Made, changes, drawn_patterns
from tests.operate.test_replan import two_of_one_shape


def told_by(kind: Any, made: Made, cuts: set[int], restarts: set[int], other: Any = None) -> list[Any]:
    """Rows in their order; with `other` constants are those of another from the middle on."""
    node, constants = made.node(), Constants(np.array([QUERY]), pa.table(made.constants))
    operator: Operator[None, Changes, Signed] = kind(node, constants)
    any_: Any = operator
    state, told = operator.new_state(None), list[Any]()
    types = [t.arrow for t in node.presences[0].child.types]
    for first, last in pairwise([0, *sorted(cuts), TICKS]):
        if other is not None and first == min(cuts):
            constants.replace(np.array([QUERY]), pa.table(other.constants))
            any_.replan(state, np.array([QUERY]), TICK * (first + 1))
        came = [
            Signed.of(changes(made.branches[p.child.number], TICK * first, TICK * last), ["c0", "c1"], types)
            for p in node.presences
        ]
        nobody = Signed(*(np.empty(0, np.int64) for _ in range(3)), [])
        begun = Signed(np.array([QUERY]), np.array([TICK]), np.array([0]), []) if first == 0 else nobody
        rows = operator.apply(state, Changes(came, begun, TICK * last))
        told.append([tuple(row.values()) for row in rows.table().to_pylist()])
        any_.pass_time(state, TICK * last)
        told.append((any_.held(state), len(state.runs)))
        if last in restarts:
            saved, state = any_.saved(state), operator.new_state(None)
            any_.restore(state, saved)
    return told


@THOROUGH
@given(drawn_patterns(), st.sets(st.integers(1, TICKS - 1)), st.sets(st.integers(1, TICKS)))
def test_they_tell_and_hold_the_same(drawn: Any, cuts: set[int], restarts: set[int]) -> None:
    made = [Made(drawn), Made(drawn)]
    columns, one_by_one = (
        told_by(kind, mine, cuts, restarts) for kind, mine in zip((Matching, Match), made, strict=True)
    )
    assert columns == one_by_one


@THOROUGH
@given(two_of_one_shape(), st.sets(st.integers(1, TICKS - 1), min_size=1), st.sets(st.integers(1, TICKS)))
def test_with_other_durations_too(two: Any, cuts: set[int], restarts: set[int]) -> None:
    told = []
    for kind in (Matching, Match):
        one, other = Made(two[0]), Made(two[1])
        other.node()
        told.append(told_by(kind, one, cuts, restarts, other))
    assert told[0] == told[1]
