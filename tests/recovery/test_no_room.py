"""A disk that is full: a clear error, nothing half-published, and with room again it goes on.

A limit on the size of files stands for it: a write beyond it fails as one does where there is no room.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from sanderling.batches import Batch, Kind
from sanderling.deliver.sinks.files import Delivery
from sanderling.deliver.targets import Targets
from sanderling.errors import ConfigError
from sanderling.plan.planner import Planner
from sanderling.session.connect import connect
from tests.long import IS_LONG
from tests.recovery.runs import output, run, run_without_room
from tests.session.test_versions import STREAM, moving

# In bytes: somewhere in the first batches, in the middle, and at the end, where the lines become one file.
LIMITS = (4_000, 20_000, 40_000, 80_000, 110_000)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def deltas(batch: int) -> list[Batch]:
    ids = [f"car {batch} {n}" for n in range(9)]
    rows = {"query": pa.array([0] * 9, pa.int32()), "tick": [batch] * 9, "sign": pa.array([1] * 9, pa.int8())}
    return [Batch(Kind.DELTAS, pa.table({**rows, "c0": ids}), "cars", 0)]


def delivery(folder: Path) -> Delivery:
    planner = Planner()
    planner.run_script(STREAM + "REGISTER QUERY q AS SELECT id FROM cars")
    (folder / "checkpoint").mkdir(parents=True, exist_ok=True)
    return Delivery(planner.plan(), Targets(folder / "u.jsonl", False, None), folder / "checkpoint")


def delivered(folder: Path, sizes: list[int]) -> bytes:
    """Six batches, by as many runs as there are limits and one more."""
    for size in (*sizes, None):
        ours = delivery(folder)
        try:
            with room_for(size or resource.RLIM_INFINITY):
                ours.prepare()
                for batch in range(6):
                    ours.deliver(batch, deltas(batch))
                ours.finish()
        except OSError as e:
            assert size is not None and e.filename and not (folder / "u.jsonl").exists()
        finally:
            ours.close()
    return (folder / "u.jsonl").read_bytes()


def test_a_delivery_without_room_goes_on_when_there_is_some(tmp_path: Path) -> None:
    right = delivered(tmp_path / "right", [])
    assert right.count(b"\n") == 54
    for size in (10, 100, 300, 500, 1000, 2000):
        assert delivered(tmp_path / str(size), [size, size]) == right


def test_a_session_without_room_knows_what_it_was_told_before(tmp_path: Path) -> None:
    for size in (1, 64, 100, 300, 500, 1500):
        place = tmp_path / str(size)
        with connect(checkpoint=place) as session:
            session.execute(STREAM)
            session._note_start()
            session.execute(moving("one", "a"))
            with room_for(size), pytest.raises(ConfigError) as e:
                session.execute(moving("two", "b"))
            assert e.value.code == "config.not_writable" and str(place) in e.value.message and e.value.hint
            with pytest.raises(ConfigError, match="not_writable"):
                session.execute(moving("three", "c"))
        with connect(checkpoint=place) as session:
            assert session.queries == ["one"]
            session.execute(moving("two", "b"))
        with connect(checkpoint=place) as session:
            assert session.queries == ["one", "two"]


@pytest.mark.skipif(not IS_LONG, reason="make test has some of it in one story (test_stories.py)")
@pytest.mark.parametrize("size", LIMITS)
def test_a_run_without_room_goes_on_when_there_is_some(
    size: int, world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    run_without_room(world, tmp_path, size)
    again = run(world, tmp_path)
    assert again.returncode == 0, again.stderr
    assert output(tmp_path) == undisturbed
