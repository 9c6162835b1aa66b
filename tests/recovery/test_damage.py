"""A checkpoint of a killed run, then damaged: refused with a code, or gone on with to the right output."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.long import so_many
from tests.recovery.runs import moved, output, run

HOW = so_many(("flip",), ("flip", "cut", "empty"))


def names(killed: Path) -> list[str]:
    checkpoint = killed / "checkpoint"
    every = sorted(str(p.relative_to(checkpoint)) for p in checkpoint.rglob("*") if p.is_file())
    return [name for name in every if name != "spark.log"]


def needed(killed: Path) -> str:
    """What the next batch begins with; the rest are in `make long`."""
    done = (killed / "checkpoint" / "spark" / "commits").iterdir()
    return f"states/shard-0/{max(int(p.name) for p in done if p.name.isdigit())}"


@pytest.mark.parametrize("how", HOW)
def test_a_damaged_file_is_refused_or_does_not_matter(
    how: str, world: Path, undisturbed: tuple[bytes, bytes], killed: Path, tmp_path: Path
) -> None:
    refused = set()
    for number, name in enumerate(so_many([needed(killed)], names(killed))):
        place = tmp_path / str(number)
        shutil.copytree(killed, place)
        moved(place)
        damage(place / "checkpoint" / name, how)
        done = run(world, place)
        assert "Traceback" not in done.stderr
        if done.returncode:
            assert done.stderr.startswith(("state.broken_ledger: ", "state.output_gone: ")), done.stderr
            assert "use a new checkpoint" in done.stderr and not (place / "updates.jsonl").exists()
            refused.add(name)
        else:
            assert output(place) == undisturbed, name
    assert needed(killed) in refused


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    middle = len(data) * 3 // 4
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    path.write_bytes({"flip": flipped, "cut": data[: len(data) // 2], "empty": b""}[how])
