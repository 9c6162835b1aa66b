"""The updates of a session as a Spark source: the log of what was said, read by as many as like to.

An offset is the number of a batch. The log keeps a batch for some time, so a sink that starts again
goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from sanderling.batches import Batch, Kind
from sanderling.catalog import Stream
from sanderling.deliver.changes import REFUSED, refused_letters
from sanderling.deliver.log import Log
from sanderling.deliver.order import sort_order
from sanderling.deliver.render import joined, json_objects
from sanderling.errors import StateError
from sanderling.ingest.letters import LETTERS as LETTER_COLUMNS
from sanderling.plans.columns import by_place, by_places
from sanderling.plans.plan import Template
from sanderling.spark.plans import PlanFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "sanderling-updates"
TICK = pa.timestamp("us", tz="UTC")
UPDATES = pa.schema([("query", pa.string()), ("tick", TICK), ("sign", pa.int32()), ("row", pa.string())])

Offset = dict[str, int]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of the log: the updates of all queries, those of one, or the dead letters."""

    log: str
    plans: PlanFolder
    query: int | None = None
    are_letters: bool = False

    def encoded(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def decoded(cls, text: str) -> Wanted:
        said = json.loads(text)
        return cls(said["log"], PlanFolder(**said["plans"]), said["query"], said["are_letters"])

    def schema(self) -> pa.Schema:
        if self.are_letters:
            return LETTER_COLUMNS
        return UPDATES if self.query is None else typed_schema(self._template(self.query))

    def _template(self, query: int) -> Template:
        newest = self.plans.newest()
        return self.plans.templates(newest)[int(self.plans.plan(newest).queries.template[query])]

    def rows(self, batches: list[Batch]) -> Iterator[pa.Table]:
        """Of one batch: updates in order of tick, then of query, then − before +, then of row."""
        if self.are_letters:
            streams = {s.stream.name: s.stream for s in self.plans.plan(0).streams}
            yield from _letters(streams, batches)
            return
        said = [b for b in batches if b.kind == Kind.DELTAS and b.table.num_rows]
        found = list(self._as_text(said) if self.query is None else self._of_query(self.query, said))
        if found:
            whole = pa.concat_tables(found)
            # By place: a query may have a column "tick" of its own.
            keys = whole.columns if self.query is not None else [whole.column(i) for i in (1, 0, 2, 3)]
            yield whole.take(pa.array(sort_order(keys)))

    def _as_text(self, said: list[Batch]) -> Iterator[pa.Table]:
        newest = self.plans.newest()
        names, templates = self.plans.plan(newest).queries.names, self.plans.templates(newest)
        for batch in said:
            yield _as_text(names, templates[batch.template], batch.table)

    def _of_query(self, query: int, said: list[Batch]) -> Iterator[pa.Table]:
        template = self._template(query)
        for batch in said:
            if batch.template == template.id:
                yield typed(template, batch.table.filter(pc.equal(batch.table.column("query"), query)))


def typed_schema(template: Template) -> pa.Schema:
    """Columns of a query's updates under their names."""
    fields = [(o.name, _with_zone(o.type.arrow)) for o in template.outputs]
    return pa.schema([("tick", TICK), ("sign", pa.int32()), *fields])


def typed(template: Template, rows: pa.Table) -> pa.Table:
    """Signed rows with the columns of the query under their names."""
    columns = [rows.column(name) for name in ("tick", "sign", *by_places(len(template.outputs)))]
    schema = typed_schema(template)
    return pa.Table.from_arrays([c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _with_zone(type_: pa.DataType) -> pa.DataType:
    """All times are UTC; Spark wants to be told."""
    return TICK if pa.types.is_timestamp(type_) else type_


def _as_text(names: pa.Array, template: Template, rows: pa.Table) -> pa.Table:
    shown = [(o.name, by_place(i)) for i, o in enumerate(template.outputs)]
    columns = [
        names.take(rows.column("query").combine_chunks()),
        rows.column("tick").cast(TICK),
        rows.column("sign").cast(pa.int32()),
        joined(*json_objects(shown, rows)),
    ]
    return pa.Table.from_arrays(columns, schema=UPDATES)


def _letters(streams: dict[str, Stream], batches: list[Batch]) -> Iterator[pa.Table]:
    for batch in batches:
        if batch.kind == Kind.LETTERS:
            yield batch.table
        elif batch.kind in REFUSED:
            yield refused_letters(streams[batch.stream], batch)


def updates_of(spark: SparkSession, wanted: Wanted) -> DataFrame:
    """A part of the log as a streaming DataFrame."""
    spark.dataSource.register(UpdateSource)
    return spark.readStream.format(FORMAT).option("wanted", wanted.encoded()).load()


class UpdateSource(DataSource):
    """The Spark data source `sanderling-updates`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(Wanted.decoded(self.options["wanted"]).schema())

    def streamReader(self, schema: Any) -> UpdateReader:
        return UpdateReader(Wanted.decoded(self.options["wanted"]))


class UpdateReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, wanted: Wanted):
        self.wanted = wanted
        self._until: int | None = None

    @property
    def log(self) -> Log:
        return Log(Path(self.wanted.log))

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now; the log goes on growing."""
        self._until = max([0, *(n + 1 for n in self.log.numbers())])

    def initialOffset(self) -> Offset:
        return {"batch": min(self.log.numbers(), default=0)}

    def latestOffset(self, start: Offset, limit: Any) -> Offset:
        last = max([start["batch"], *(n + 1 for n in self.log.numbers())])
        return {"batch": last if self._until is None else max(start["batch"], min(last, self._until))}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        batches = range(start["batch"], end["batch"])
        gone = sorted(set(batches) - set(self.log.numbers()))
        if gone:
            raise StateError(
                "state.updates_gone", f"batch {gone[0]} of the updates is kept no longer",
                "begin the sink anew, and let the session keep updates longer: connect(keep='1 day')",
            )  # fmt: skip
        return [InputPartition(number) for number in batches]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        for rows in self.wanted.rows(self.log.read(partition.value)):
            yield from rows.combine_chunks().to_batches()
