"""Asks a SELECT of files, or of shards that are driven directly, and gives the rows back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from sanderling.ask.answer import Past, answered
from sanderling.ask.files import FilesPast
from sanderling.ask.question import question_of
from sanderling.batches import Batch, Kind
from sanderling.language import parse_statement
from sanderling.language.statements import Ask, At
from sanderling.plan.once import OncePlanner
from sanderling.plan.planner import Planner
from sanderling.route.controls import recall
from sanderling.session.kept import KeptByShards
from tests.engine.direct import DirectRun


def asked(planner: Planner, sql: str, past: Past) -> pa.Table:
    statement = parse_statement(sql)
    at, statement = (statement.time, statement.statement) if isinstance(statement, At) else (None, statement)
    assert isinstance(statement, Ask)
    known = OncePlanner(planner)
    return answered(known, question_of(known, statement, sql, at), past)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def of_files(planner: Planner, sql: str, work: Path) -> list[tuple[Any, ...]]:
    return rows_of(asked(planner, sql, FilesPast(work)))


def of_shards(run: DirectRun, sql: str) -> list[tuple[Any, ...]]:
    assert run.living is not None
    return rows_of(asked(run.living, sql, KeptByShards(lambda names: kept(run, names))))


def kept(run: DirectRun, streams: list[str]) -> list[Batch]:
    return [batch for batch in run._tell(recall(1, streams)) if batch.kind == Kind.KEPT]
