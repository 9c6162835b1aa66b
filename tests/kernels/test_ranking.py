"""Search trees against sorted lists."""

from __future__ import annotations

import bisect

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.sql.ranking import change, neighbour, outermost
from sanderling.operate.sql.rows.ranking import Ranking
from sanderling.plans.nodes import Order

words = st.text(alphabet="ab", max_size=3)


@given(st.lists(st.tuples(st.integers(0, 1), words), max_size=40), words)
def test_rows_come_and_go_in_order(moves: list[tuple[int, str]], asked: str) -> None:
    """A word that is there goes, another comes."""
    ranking = Ranking([pa.string()], [Order(0, is_descending=False, is_null_first=False)])
    held: dict[int, list[str]] = {0: [], 1: []}
    owners = np.array([owner for owner, _ in moves] + [0, 1], np.int64)
    rows = ranking.number(owners, [pa.array([word for _, word in moves] + [asked, asked], pa.string())])
    forest = ranking.forest(2)

    def word(row: int) -> str | None:
        return ranking.columns(np.array([row]))[0][0].as_py() if row >= 0 else None

    for (owner, text), row in zip(moves, rows.tolist(), strict=False):
        words = held[owner]
        change(forest, owner, row, -1 if text in words else 1)
        if text in words:
            words.remove(text)
        else:
            bisect.insort(words, text)
    for owner, words in held.items():
        first, last = (word(outermost(forest, owner, side)) for side in (0, 1))
        assert (first, last) == ((words[0], words[-1]) if words else (None, None))
        row = int(rows[len(moves) + owner])
        before, behind = [w for w in words if w < asked], [w for w in words if w > asked]
        assert word(neighbour(forest, owner, row, 0)) == (before[-1] if before else None)
        assert word(neighbour(forest, owner, row, 1)) == (behind[0] if behind else None)
