"""The pages of the server are true: their programs print what is shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.session.connect import connect
from tests.architecture.examples import ROOT
from tests.examples.test_programs_in_documents import programs


@pytest.mark.parametrize("page", ["server.md", "postgres.md"])
def test_the_pages_of_the_server_are_true(
    page: str,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sanderling, "connect", partial(connect, spark), raising=False)
    names: dict[str, Any] = {}
    for block, shown in programs(ROOT / "docs" / page):
        exec(block.text, names)
        assert capsys.readouterr().out == shown, f"{page}:{block.line}"
