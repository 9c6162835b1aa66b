"""What is gone when we are need not be waited for until it is on the disk; all else is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sanderling.spark.checkpoint import working_in
from sanderling.state.sealed import write_atomically


@pytest.mark.parametrize("is_kept", [True, False])
def test_only_what_is_kept_is_waited_for(
    is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(os, "fsync", waited.append)
    with working_in(tmp_path / "kept" if is_kept else None) as work:
        (work / "states").mkdir()
        write_atomically(work / "states" / "17", b"some", b"thing")
        assert (work / "states" / "17").read_bytes() == b"something"
    assert bool(waited) == is_kept == (work / "states").exists()
