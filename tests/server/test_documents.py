"""The page of the server is true: its program prints what is shown."""

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


def test_the_page_of_the_server_is_true(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sanderling, "connect", partial(connect, spark), raising=False)
    names: dict[str, Any] = {}
    for block, shown in programs(ROOT / "docs" / "server.md"):
        exec(block.text, names)
        assert capsys.readouterr().out == shown, f"server.md:{block.line}"
