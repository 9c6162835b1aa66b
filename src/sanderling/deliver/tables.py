"""Typed Parquet, a folder a query: `folder/query=trucks/…`, a file a batch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from sanderling.plan.plans import OutputColumn, Plan


class QueryFolders:
    """Parquet files by query; a batch written again overwrites itself."""

    def __init__(self, folder: Path, plan: Plan):
        self.folder = folder
        self.plan = plan

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: int, rows: dict[int, pa.Table]) -> None:
        names = pa.array([q.name for q in self.plan.queries])
        templates = self.plan.templates()
        for number, table in sorted(rows.items()):
            outputs = templates[number].outputs
            shown = [f"c{i}" for i in range(len(outputs))]
            table = table.sort_by([(n, "ascending") for n in ("query", "tick", "sign", *shown)])
            tick = pc.cast(table.column("tick"), pa.timestamp("us", tz="UTC"))
            query = names.take(table.column("query").combine_chunks())
            columns = [query, tick, table.column("sign"), *(table.column(n) for n in shown)]
            labels = ["query", _free("tick", outputs), _free("sign", outputs), *(o.name for o in outputs)]
            ds.write_dataset(
                pa.table(columns, names=labels), self.folder, format="parquet",
                partitioning=ds.partitioning(pa.schema([("query", pa.string())]), flavor="hive"),
                basename_template=f"batch-{batch:08d}-{number}-{{i}}.parquet",
                existing_data_behavior="overwrite_or_ignore",
                max_partitions=max(1024, len(self.plan.queries)),
            )  # fmt: skip

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def publish(self, target: Path) -> None:
        if target.is_dir() and not any(target.iterdir()):
            target.rmdir()
        os.replace(self.folder, target)


def _free(name: str, outputs: tuple[OutputColumn, ...]) -> str:
    """Our own columns step aside where a select list uses their name."""
    taken = {o.name.casefold() for o in outputs}
    return f"_{name}" if name in taken else name
