"""A folder of Parquet files under a Delta log. The only imports of deltalake.

Files are written first, then one commit names them: a reader sees all of a commit or nothing of it, and
what no commit names is not there.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction

from sanderling.errors import StateError
from sanderling.storage.place import Place, make

# Files that no version names any more are kept for so long: somebody may be reading that version.
KEPT_US = 3_600_000_000
CONFIGURATION = {
    "delta.checkpointInterval": "100",
    "delta.logRetentionDuration": "interval 1 days",
    "delta.deletedFileRetentionDuration": "interval 1 hours",
}


@dataclass(frozen=True, slots=True)
class File:
    """One of a version, with what is known of it without opening it."""

    path: str  # below the table's folder
    part: str  # the value of the column that folders are named by
    rows: int
    bytes: int
    first: int | None  # the least and the greatest time in it, in microseconds
    last: int | None
    bounds: tuple[float, float, float, float] | None = None  # of places: x1, y1, x2, y2


class Files:
    """Promises (tests/storage/test_delta.py):
    all or none  what is added and removed by one commit is seen at once
    one version  whoever opened it goes on seeing what was there then
    """

    def __init__(self, folder: Place, part_column: str, time_column: str, geometry: str):
        self.folder, self.part_column = folder, part_column
        self._time, self._geometry = time_column, geometry
        self._turn = threading.Lock()
        self._table: DeltaTable | None = None

    @property
    def exists(self) -> bool:
        if isinstance(self.folder, Path):
            return (self.folder / "_delta_log").is_dir()
        return self._table is not None or DeltaTable.is_deltatable(str(self.folder))

    def create(self, schema: pa.Schema) -> None:
        """With nothing in it, if there is none yet."""
        if not self.exists:
            make(self.folder)
            whole = pa.schema([*schema.remove_metadata(), pa.field(self.part_column, pa.string())])
            DeltaTable.create(
                str(self.folder), whole, mode="ignore", partition_by=[self.part_column],
                configuration=CONFIGURATION,
            )  # fmt: skip

    def refresh(self) -> None:
        """From now on the newest version."""
        if self.exists:
            try:
                self._table = DeltaTable(str(self.folder))
            except (DeltaError, OSError) as e:
                raise _broken(self.folder, str(e)) from e

    def _opened(self) -> DeltaTable | None:
        if self._table is None:
            self.refresh()
        return self._table

    @property
    def version(self) -> int:
        table = self._opened()
        return -1 if table is None else int(table.version())

    def told(self, name: str) -> int | None:
        """The number that a commit told under this name, the last one."""
        table = self._opened()
        found = None if table is None else table.transaction_version(name)
        return None if found is None else int(found)

    def all(self) -> list[File]:
        """Of this version, in order of time."""
        table = self._opened()
        if table is None:
            return []
        said = pa.table(table.get_add_actions(flatten=True))
        found = [self._file(row) for row in _micros(said).to_pylist()]
        return sorted(found, key=lambda file: (file.part, file.first or 0, file.path))

    def _file(self, row: Mapping[str, object]) -> File:
        sides = [row.get(f"{side}.{self._geometry}.{axis}") for side in ("min", "max") for axis in "xy"]
        known = [float(side) for side in sides if isinstance(side, (int, float))]
        first, last = (row.get(f"{side}.{self._time}") for side in ("min", "max"))
        return File(
            str(row["path"]), str(row[f"partition.{self.part_column}"]), _whole(row["num_records"]) or 0,
            _whole(row["size_bytes"]) or 0, _whole(first), _whole(last),
            (known[0], known[1], known[2], known[3]) if len(known) == 4 else None,
        )  # fmt: skip

    def path_of(self, file: File) -> Place:
        return self.folder / file.path

    def commit(
        self, add: Sequence[File], remove: Sequence[File] = (), tell: Mapping[str, int] | None = None,
        is_new_data: bool = True,
    ) -> None:  # fmt: skip
        """One version further; `tell` are numbers that hold from it on. Safe on disk when it returns."""
        now = int(time.time() * 1000)
        came = [self._added(file, now, is_new_data) for file in add]
        went = [
            RemoveAction(_quoted(f.path), is_new_data, now, f.bytes, {self.part_column: f.part})
            for f in remove
        ]
        told = [Transaction(name, number) for name, number in (tell or {}).items()]
        with self._turn:
            self.refresh()
            table = self._opened()
            assert table is not None, "nothing is committed to what was not created"
            table.create_write_transaction(
                [*came, *went], mode="append", schema=table.schema(), partition_by=[self.part_column],
                commit_properties=CommitProperties(app_transactions=told),
            )  # fmt: skip
            self.refresh()

    def _added(self, file: File, now: int, is_new_data: bool) -> AddAction:
        parts = {self.part_column: file.part}
        return AddAction(_quoted(file.path), file.bytes, parts, now, is_new_data, self._stats(file))

    def _stats(self, file: File) -> str:
        said: dict[str, dict[str, object]] = {"minValues": {}, "maxValues": {}}
        if file.first is not None and file.last is not None:
            for side, time_us in (("minValues", file.first), ("maxValues", file.last)):
                said[side][self._time] = _iso(time_us)
        if file.bounds is not None:
            x1, y1, x2, y2 = file.bounds
            said["minValues"][self._geometry] = {"x": x1, "y": y1}
            said["maxValues"][self._geometry] = {"x": x2, "y": y2}
        return json.dumps({"numRecords": file.rows, **said, "nullCount": {}})

    def vacuum(self, kept_us: int = KEPT_US) -> list[str]:
        """Removes files that no version names, and none has named for so long."""
        table = self._opened()
        if table is None:
            return []
        self.refresh()
        hours = kept_us // 3_600_000_000
        assert self._table is not None
        return list(self._table.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True))


def _quoted(path: str) -> str:
    return quote(path, safe="/=-_.")


def _micros(said: pa.Table) -> pa.Table:
    """With times as numbers."""
    for i, field in enumerate(said.schema):
        if pa.types.is_timestamp(field.type):
            column = said.column(i).cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())
            said = said.set_column(i, field.name, column)
    return said


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _iso(us: int) -> str:
    return f"{np.datetime64(us, 'us')}Z"


def _broken(folder: Place, why: str) -> StateError:
    return StateError(
        "history.broken", f"{folder} cannot be read: {why}", "bring the archive back from a copy"
    )
