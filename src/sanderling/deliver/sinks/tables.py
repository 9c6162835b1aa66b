"""Typed Parquet, a folder a query: `folder/query=trucks/…`, a file a batch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from sanderling.errors import ConfigError
from sanderling.plans.columns import by_places
from sanderling.plans.plan import OutputColumn, Plan

LONGEST_NAME = 255  # bytes


class QueryFolders:
    """Parquet files by query, in order of tick, then − before +; a batch written again overwrites itself."""

    def __init__(self, folder: Path, plan: Plan, is_final: bool = False):
        """`is_final`: answers, without ticks and signs."""
        self.folder, self.plan, self.is_final = folder, plan, is_final

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: int, rows: Mapping[int, pa.Table]) -> None:
        names = self.plan.queries.names
        templates = self.plan.templates()
        for number, table in sorted(rows.items()):
            outputs = templates[number].outputs
            shown = by_places(len(outputs))
            table = table.sort_by([(n, "ascending") for n in ("query", "tick", "sign", *shown)])
            tick = pc.cast(table.column("tick"), pa.timestamp("us", tz="UTC"))
            query = names.take(table.column("query").combine_chunks())
            own = [_shown(table.column(n)) for n in shown]
            columns = [query, *own] if self.is_final else [query, tick, table.column("sign"), *own]
            labels = ["query", *column_names(outputs)[2 if self.is_final else 0 :]]
            ds.write_dataset(
                pa.table(columns, names=labels), self.folder, format="parquet",
                partitioning=ds.partitioning(pa.schema([("query", pa.string())]), flavor="hive"),
                basename_template=f"batch-{batch:08d}-{number}-{{i}}.parquet",
                existing_data_behavior="overwrite_or_ignore", preserve_order=True,
                max_partitions=max(1024, len(self.plan.queries)),
            )  # fmt: skip

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def publish(self, target: Path) -> None:
        if target.is_dir() and not any(target.iterdir()):
            target.rmdir()
        os.replace(self.folder, target)


def _shown(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A timestamp says that it is in UTC, as the lines of JSON do with their Z."""
    is_time = pa.types.is_timestamp(column.type)
    return column.cast(pa.timestamp("us", tz="UTC")) if is_time else column


def column_names(outputs: tuple[OutputColumn, ...]) -> list[str]:
    """The columns of a file: tick, sign and the select list; no two the same, whatever their case.

    Our own step aside where a select list uses their name, except the query, which is in the folder's.
    """
    taken = {o.name.casefold() for o in outputs} | {"query"}
    shown = []
    for output in outputs:
        is_query = output.name.casefold() == "query"
        shown.append(_free(output.name, taken) if is_query else output.name)
    return [_free("tick", taken), _free("sign", taken), *shown]


def _free(name: str, taken: set[str]) -> str:
    while name.casefold() in taken:
        name = "_" + name
    taken.add(name.casefold())
    return name


def refuse_long_names(plan: Plan) -> None:
    """A query's name becomes a folder's, and file systems have a limit."""
    for name in plan.queries.names.to_pylist():
        if len(f"query={quote(name, safe='')}") > LONGEST_NAME:
            raise ConfigError(
                "config.not_writable", f'no folder can be named after the query "{name}"',
                "give it a shorter name, or write lines of JSON",
            )  # fmt: skip
