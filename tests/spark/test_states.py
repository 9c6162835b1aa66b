"""States on disk: a batch begins with that of the one before it, and only with that."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.errors import StateError
from sanderling.spark.engines.states import STATES_KNOWN, States


def states(folder: Path, least: int = 1000) -> States:
    return States(folder / "shard-0", least)


def take(states: States, batch: int, delta: bytes, whole: bytes | None = None) -> None:
    states.save(states.before(batch), batch, f"tag {batch}", delta, whole)


def test_a_state_is_restored_from_the_last_whole_one_and_the_deltas_since(tmp_path: Path) -> None:
    mine = states(tmp_path)
    for batch in range(3):
        take(mine, batch, b"%d" % batch)
    assert mine.leading_to(mine.before(3)) == (None, [b"0", b"1", b"2"])
    take(mine, 3, b"3", b"all up to 3")
    assert mine.leading_to(mine.before(4)) == (b"all up to 3", [])
    take(mine, 4, b"4")
    assert mine.leading_to(mine.before(5)) == (b"all up to 3", [b"4"])


def test_a_batch_that_is_taken_again_begins_with_the_state_before_it(tmp_path: Path) -> None:
    mine = states(tmp_path)
    take(mine, 0, b"0")
    take(mine, 1, b"of an attempt that failed", b"whole of it")
    assert mine.leading_to(mine.before(1)) == (None, [b"0"])
    take(mine, 1, b"1")
    assert mine.leading_to(mine.before(2)) == (None, [b"0", b"1"])


def test_a_batch_without_rows_leaves_the_state_as_it_is(tmp_path: Path) -> None:
    mine = states(tmp_path)
    mine.stay(mine.before(0), 0)
    assert not mine.before(1).tags
    take(mine, 1, b"1")
    before = mine.before(2)
    mine.stay(before, 2)
    take(mine, 3, b"3")
    assert mine.leading_to(mine.before(4)) == (None, [b"1", b"3"])
    assert mine.before(3).tags == before.tags
    # A keeper that was there for batch 1 has missed one delta, not two.
    assert mine.deltas(mine.before(4), 1) == [b"3"]


def test_a_state_that_is_gone_is_told(tmp_path: Path) -> None:
    mine = states(tmp_path)
    take(mine, 0, b"0")
    take(mine, 1, b"1")
    (tmp_path / "shard-0" / "1").unlink()
    with pytest.raises(StateError, match="broken_ledger"):
        mine.before(2)


def test_a_whole_state_is_due_when_the_deltas_have_grown(tmp_path: Path) -> None:
    mine = states(tmp_path, least=10)
    assert mine.room_after(mine.before(0)) == 10
    take(mine, 0, b"four")
    assert mine.room_after(mine.before(1)) == 6
    take(mine, 1, b"", b"a hundred bytes" * 10)
    assert mine.room_after(mine.before(2)) == 4 * 150


def test_what_no_batch_can_need_is_removed(tmp_path: Path) -> None:
    mine = states(tmp_path)
    for batch in range(100):
        take(mine, batch, b"%d" % batch, b"whole" if batch % 10 == 9 else None)
    left = {p.name for p in (tmp_path / "shard-0").iterdir()}
    # Those that restore the last state, and those of keepers that have missed some.
    assert len(left) <= 10 + STATES_KNOWN + 2 + 2
    assert mine.leading_to(mine.before(100)) == (b"whole", [])
    assert mine.deltas(mine.before(100), STATES_KNOWN - 1) == [b"%d" % n for n in range(93, 100)]
