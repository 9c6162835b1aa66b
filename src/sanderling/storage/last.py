"""The last store, PLACE's second level: each object's last reading on disk, as at the last flush.

flush ──► delta: the last of each object's every k-th readings ──► as heavy as the base? ──► a new base

What is newer wins: of an object that stands in several parts the last reading counts.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools, int64_of, key_ranks, order_of
from sanderling.batches import TS
from sanderling.state import crash
from sanderling.storage.archive import ARCHIVED_TO, Archive
from sanderling.storage.blocks import joined_blocks
from sanderling.storage.delta import File
from sanderling.storage.geoparquet import ROW_GROUP
from sanderling.storage.keyframes import last_of_each, without_gone
from sanderling.storage.periods import name_of
from sanderling.storage.tables import BASE, DELTA, SEEN
from sanderling.storage.writer import Writer


class LastStore:
    """Promises (tests/storage/test_last.py):
    last     with sample = 1 it is the archive's last reading of each present object, after every flush
    sampled  else each object's last of every k-th; one that says GONE counts always. What was not sampled
             when a run ended is not counted by the next
    little   it writes at most about twice what has changed
    """

    def __init__(self, writer: Writer):
        self._files, self._form, self._about = writer.tables.last, writer.tables.last_form, writer.about
        self._writer = writer
        self._sample = writer.about.archiving.sample
        self._keys, self._seen = self._counted()
        self._catch_up()

    def _catch_up(self) -> None:
        """With what a run that was killed had archived."""
        to, done = self._writer.archived_to, self._files.told(ARCHIVED_TO)
        if to is not None and (done is None or done < to):
            archive = Archive(self._writer.folder, self._about)
            begin = archive.kept_from or 0
            missed = archive.readings(begin if done is None else done, to)
            self.add([pa.Table.from_batches([batch]) for batch in missed], to)

    def _counted(self) -> tuple[pa.Array, I64]:
        """How many readings of each object were seen."""
        stream = self._about.stream
        if self._sample == 1 or not self._files.exists:
            return pa.nulls(0, stream.key_type.arrow), np.empty(0, np.int64)
        last = last_of_each(self._read(self._files.all()), stream.key)
        return last.column(stream.key).combine_chunks(), int64_of(last, SEEN).copy()

    # ----- a flush

    def add(self, tables: Iterable[pa.Table], up_to: int) -> None:
        """The readings that were archived since the last time, up to this tick."""
        nothing = self._writer.tables.form.readings.empty_table()
        readings = pa.concat_tables([nothing, *(t.select(nothing.column_names) for t in tables)])
        delta = self._sampled(readings)
        came = [self._written(DELTA, name_of(up_to), delta)] if delta.num_rows else []
        crash.point("last-before-commit")
        self._files.commit(came, tell={ARCHIVED_TO: up_to})
        self._rebase(up_to)

    def _sampled(self, readings: pa.Table) -> pa.Table:
        """Each object's last reading that is to be kept, if it has one."""
        stream = self._about.stream
        if self._sample == 1:
            last = last_of_each(readings, stream.key)
            return last.append_column(SEEN, pa.nulls(last.num_rows, pa.int64()))
        order = order_of(key_ranks(readings.column(stream.key)), int64_of(readings, TS))
        readings = readings.take(pa.array(order)).combine_chunks()
        seen = self._count(readings.column(stream.key).combine_chunks())
        is_kept: Bools = seen % self._sample == 0
        if stream.gone is not None:
            is_kept |= readings.column(stream.gone).fill_null(False).to_numpy()
        readings = readings.append_column(SEEN, pa.array(seen)).filter(pa.array(is_kept))
        return last_of_each(readings, stream.key)

    def _count(self, keys: pa.Array) -> I64:
        """Of readings in order of object: the how manieth of its object each is."""
        encoded = pc.dictionary_encode(keys)
        numbers, distinct = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary
        edges = np.flatnonzero(np.diff(numbers, prepend=-1))
        place = np.arange(len(numbers)) - np.repeat(edges, np.diff(np.append(edges, len(numbers)))) + 1
        known = pc.index_in(distinct, value_set=self._keys).fill_null(-1).to_numpy().astype(np.int64)
        before = (
            np.where(known >= 0, self._seen[known], 0) if len(self._seen) else np.zeros(len(known), np.int64)
        )
        now = before + np.bincount(numbers, minlength=len(distinct))
        is_new = known < 0
        self._seen[known[~is_new]] = now[~is_new]
        self._keys = pa.concat_arrays([self._keys, distinct.filter(pa.array(is_new))])
        self._seen = np.concatenate([self._seen, now[is_new]])
        return np.asarray(before[numbers] + place, np.int64)

    # ----- the base

    def _rebase(self, up_to: int) -> None:
        """When deltas weigh as much as the base, one commit replaces both."""
        files = self._files.all()
        if sum(f.bytes for f in files if f.part == DELTA) < sum(f.bytes for f in files if f.part == BASE):
            return
        if not any(f.part == DELTA for f in files):
            return
        last = without_gone(last_of_each(self._read(files), self._about.stream.key), self._about.stream)
        came = [self._written(BASE, f"{name_of(up_to)}-{self._files.version}", last)]
        self._files.commit(came, files, is_new_data=False)

    def _written(self, part: str, name: str, last: pa.Table) -> File:
        path = f"{self._files.part_column}={part}/{name}.parquet"
        groups = joined_blocks([last], self._about, ROW_GROUP)
        return self._form.write(self._files.folder, path, part, groups)

    def _read(self, files: list[File]) -> pa.Table:
        tables = [self._form.read(self._files.path_of(file)) for file in files]
        return pa.concat_tables([self._form.readings.empty_table(), *tables])
