"""What is written at the end, of all that was told: answers, or one file of CSV, GeoJSON or Parquet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.deliver.render import text_of
from sanderling.deliver.sheet import Rows, Sheet, answers
from sanderling.deliver.sinks.tables import QueryFolders
from sanderling.deliver.targets import Form, Targets
from sanderling.deliver.written import answer_lines, csv_head, csv_lines, feature_lines
from sanderling.plans.plan import Plan
from sanderling.state.sealed import named

WHOLE = "whole"
OVER = ".over"


class Gathered:
    """What was told, as it came; a batch written again overwrites itself.

    Promises (tests/command/test_forms.py): the file appears complete, under its name, or not at all.
    """

    def __init__(self, folder: Path, plan: Plan, targets: Targets):
        self.folder, self.plan, self.targets = folder, plan, targets

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: int, rows: dict[int, pa.Table]) -> None:
        for number, table in rows.items():
            path = self.folder / f"{batch:08d}-{number}.parquet"
            with named(path):
                pq.write_table(table, path)

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self._over, ignore_errors=True)

    @property
    def _over(self) -> Path:
        return self.folder.with_name(self.folder.name + OVER)

    def publish(self, target: Path) -> None:
        """Killed in the middle, it is done again, and gives the same."""
        whole, rows = self.folder / WHOLE, self._rows()
        if self.targets.is_folder:
            shutil.rmtree(whole, ignore_errors=True)
            folders = QueryFolders(whole, self.plan, is_final=True)
            folders.prepare()
            folders.write(0, rows)
            folders.publish(target)
        else:
            self._write(whole, rows)
            os.replace(whole, target)
        shutil.rmtree(self._over, ignore_errors=True)
        os.replace(self.folder, self._over)  # half removed it would look like less than there was
        self.discard()

    def _rows(self) -> Rows:
        """By template."""
        parts: dict[int, list[pa.Table]] = {}
        for path in sorted(self.folder.glob("*.parquet")):
            parts.setdefault(int(path.stem.split("-")[1]), []).append(pq.read_table(path))
        rows = {number: pa.concat_tables(tables) for number, tables in parts.items()}
        return answers(self.plan, rows) if self.targets.is_final else rows

    def _write(self, path: Path, rows: Rows) -> None:
        sheet = Sheet.of(self.plan, self.targets.is_final)
        match self.targets.form:
            case Form.PARQUET:
                with named(path):
                    pq.write_table(sheet.table(rows), path)
            case Form.CSV:
                _write_text(path, [csv_head(sheet.schema.names), csv_lines(sheet.table(rows))])
            case Form.GEOJSON:
                _write_text(
                    path, ['{"type": "FeatureCollection", "features": [\n', *_features(sheet, rows), "]}\n"]
                )
            case Form.LINES:
                _write_text(path, answer_lines(self.plan, rows).chunks)


def _features(sheet: Sheet, rows: Rows) -> Iterable[pa.Array | str]:
    """With commas between, and none behind the last."""
    lines = feature_lines(sheet, rows)
    if not len(lines):
        return []
    last = str(lines[-1]).removesuffix(",\n") + "\n"
    return [*lines.slice(0, len(lines) - 1).chunks, last]


def _write_text(path: Path, pieces: Iterable[pa.Array | str]) -> None:
    with named(path), open(path, "wb") as file:
        for piece in pieces:
            file.write(piece.encode() if isinstance(piece, str) else text_of(piece))
        file.flush()
        os.fsync(file.fileno())
