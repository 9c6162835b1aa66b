"""An archive for whoever reads it: another process may be writing it meanwhile.

past/vehicles/  about.json     what it is of                                   (about.py)
                readings/      period=2024-05-01T08/…parquet   what counted, in blocks
                snapshots/     at=2024-05-01T08/…parquet       keyframes
                last/          each object's last reading      late/   what came too late, if it is kept
                queries.parquet   the queries that read the stream, as at the last flush
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sanderling.arrays import F64, I64, Bools, flat, float64_of, int64_of
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, show_time
from sanderling.errors import StateError
from sanderling.storage import queries
from sanderling.storage.about import About
from sanderling.storage.delta import File, Files
from sanderling.storage.geoparquet import Form
from sanderling.storage.keyframes import in_order, last_of_each, moved_on, without_gone
from sanderling.storage.lately import Bounds, Piece, last_in
from sanderling.storage.periods import begin_of, time_in
from sanderling.storage.place import Place, opened, place_of
from sanderling.storage.tables import BASE, DELTA, SEEN, Tables

# What commits tell beside files, in microseconds.
ARCHIVED_TO, KEPT_FROM = "archived_to", "kept_from"


# So many row groups are read together: two million readings.
AT_ONCE = 16


class Group(NamedTuple):
    """A row group, and which times are in it."""

    first: int
    last: int
    file: File
    number: int
    rows: int


class Archive:
    """What an archive holds, as at the moment it was opened; `refresh` goes on to the newest.

    Promises (tests/storage):
      one version  compaction and retention beside it change nothing that it gives
      order        readings come by time, and at one time by key, each once
      whole ticks  up to `archived_to` everything is there, behind it nothing
      no seam      what is in no file yet is each reading once, like the rest (tests/storage/test_flusher.py)
    """

    def __init__(self, folder: Place, about: About):
        self.folder, self.about = folder, about
        self.tables = Tables(folder, about)
        self.form: Form = self.tables.form
        self._behind: pa.Table | None = None  # what is not in files yet, and up to which tick that is all
        self._to: int | None = None
        self.refresh()

    @classmethod
    def open(cls, path: str | Path) -> Archive:
        """Of the folder, or the address, that about.json is in. `history.none`: there is none."""
        folder = place_of(path)
        return cls(folder, About.read(folder))

    def refresh(self) -> None:
        # Keyframes first: those of this version are made of readings that the other has.
        self.tables.snapshots.refresh()
        self.tables.readings.refresh()
        self._files = self.tables.readings.all()
        self.keyframes: dict[int, list[File]] = {}  # by time
        for file in self.tables.snapshots.all():
            self.keyframes.setdefault(time_in(file.part), []).append(file)

    def going_on(self, readings: Iterable[pa.Table], up_to: int) -> Archive:
        """With all readings up to this tick, though some of them are in no file yet; what is in files may be
        among them."""
        done = self.archived_to
        if done is None or up_to > done:
            tables = [table.select(self.schema.names) for table in readings]
            behind = pa.concat_tables([self.schema.empty_table(), *tables])
            ts = int64_of(behind, TS)
            is_new = ts <= up_to if done is None else (ts > done) & (ts <= up_to)
            self._behind, self._to = behind.filter(pa.array(is_new)), up_to
        return self

    # ----- what there is

    @property
    def stream(self) -> Stream:
        """As it was declared: columns, key, time, place, tick, stale_after."""
        return self.about.stream

    @property
    def tick_us(self) -> int:
        return self.stream.tick_us

    @property
    def schema(self) -> pa.Schema:
        """Of all that readers get: the declared columns, and __ts, the time in microseconds."""
        return self.form.readings

    @property
    def archived_to(self) -> int | None:
        """The last tick that is in; None: nothing is yet."""
        return self.tables.readings.told(ARCHIVED_TO) if self._to is None else self._to

    @property
    def kept_from(self) -> int | None:
        """From this time on (it included) any time can be asked for; None: nothing is there yet."""
        told = self.tables.readings.told(KEPT_FROM)
        if told is None and self._behind is not None and self._behind.num_rows:
            first = int(int64_of(self._behind, TS).min())
            return begin_of(first, self.about.archiving.snapshot_us)
        return told

    @property
    def has_forgotten(self) -> bool:
        """Whether there was something before `kept_from`."""
        return self.kept_from in self.keyframes

    @property
    def files(self) -> Sequence[File]:
        """Of readings, in order of time."""
        return self._files

    # ----- what was

    def keyframe_before(self, time: int) -> tuple[int, pa.Table]:
        """The last keyframe at `time` or before, and when that is: each present object's last reading.

        Where there is none yet it is empty, at `kept_from`. `history.not_kept`: before that. Stale objects
        are in it. In order of time and key.
        """
        begin = self._kept_from(time)
        at = max((at for at in self.keyframes if at <= time), default=None)
        if at is None:
            return begin, self.schema.empty_table()
        found = [self._read(self.tables.snapshots, file) for file in self.keyframes[at]]
        return at, in_order(pa.concat_tables(found), self.stream.key)

    def _kept_from(self, time: int) -> int:
        begin = self.kept_from
        if begin is None or time < begin:
            when = "nothing yet" if begin is None else f"what was from {show_time(begin)} on"
            raise StateError("history.not_kept", f"{self.folder} keeps {when}", "ask for a later time")
        return begin

    def readings(
        self, after: int, up_to: int, bounds: Bounds | None = None, keys: pa.Array | None = None
    ) -> Iterator[pa.RecordBatch]:
        """All with after < time <= up_to, those that say GONE too, batch by batch in order of (time, key).

        A batch ends where a block does. `bounds`: only those whose place is in this box; `keys`: only
        those of these objects.
        """
        groups = list(self._groups(after, up_to, bounds))
        for cluster in clusters(groups):
            table = self._of(cluster, after, up_to, bounds, keys)
            if table.num_rows:
                yield from in_order(table, self.stream.key).to_batches()
        if self._behind is not None:
            behind = self._that_are(self._behind, after, up_to, bounds, keys)
            if behind.num_rows:
                yield from in_order(behind, self.stream.key).to_batches()

    def scattered(self, after: int, up_to: int, bounds: Bounds | None = None) -> Iterator[pa.Table]:
        """The same in no order, many together: for who sorts them anyway."""
        groups = list(self._groups(after, up_to, bounds))
        for some in _runs(groups):
            yield self._of(some, after, up_to, bounds, None)
        if self._behind is not None:
            yield self._that_are(self._behind, after, up_to, bounds, None)

    def now(self, time: int, bounds: Bounds | None = None) -> pa.Table:
        """Each present object's last reading as at the end of the tick `time`, those that are stale too.

        `bounds`: only those whose place is in this box; in no order.
        """
        if bounds is not None:
            return self._now_in(time, bounds)
        at, keyframe = self.keyframe_before(time)
        return moved_on(keyframe, self.scattered(at, time), self.stream)

    def _now_in(self, time: int, bounds: Bounds) -> pa.Table:
        """Of whoever was elsewhere all the time nothing is read but key, time and place."""
        at, keyframe = self.keyframe_before(time)
        whole = [keyframe, *([] if self._behind is None else [self._behind])]
        whole = [self._that_are(table, NOTHING_YET, time, None, None) for table in whole]
        pieces = [
            Piece(flat(t.column(self.stream.key)), int64_of(t, TS), self.are_in(t, bounds)) for t in whole
        ]
        groups = list(self._groups(at, time, None))
        for group, (key, ts, x, y) in zip(groups, self._narrow(groups), strict=True):
            is_in = (x >= bounds[0]) & (y >= bounds[1]) & (x <= bounds[2]) & (y <= bounds[3])
            is_now = (ts > at) & (ts <= time)
            if group.last > time or group.first <= at:
                key, ts, is_in = key.filter(pa.array(is_now)), ts[is_now], is_in[is_now]
            pieces.append(Piece(key, ts, is_in))
        found = [self.schema.empty_table()]
        for number, rows in last_in(pieces):
            if number < len(whole):
                table = whole[number]
            else:
                table = self._of([groups[number - len(whole)]], at, time, None, None)
            found.append(table.take(pa.array(rows)))
        return without_gone(pa.concat_tables(found), self.stream)

    def _narrow(self, groups: Sequence[Group]) -> Iterator[tuple[pa.Array, I64, F64, F64]]:
        """Key, time and place, group by group."""
        for some in _runs(groups):
            path = self.tables.readings.path_of(some[0].file)
            yield from self.form.narrow(path, [group.number for group in some])

    def last(self, bounds: Bounds | None = None) -> pa.Table:
        """Level 2: each present object's last reading as at the last flush, in order of key.

        With `sample` = k the last of its every k-th. `bounds`: only those whose place is in this box.
        """
        files, form, key = self.tables.last, self.tables.last_form, self.stream.key
        files.refresh()
        parts = {
            part: [form.read(files.path_of(f)) for f in files.all() if f.part == part]
            for part in (BASE, DELTA)
        }
        nothing = form.readings.empty_table()
        newer = last_of_each(pa.concat_tables([nothing, *parts[DELTA]]), key)
        older = pa.concat_tables([nothing, *parts[BASE]])
        is_newer = pc.is_in(older.column(key), value_set=newer.column(key).combine_chunks())
        found = pa.concat_tables([newer, older.filter(pc.invert(is_newer))]).drop_columns([SEEN])
        found = last_of_each(without_gone(found, self.stream), key)
        return found if bounds is None else found.filter(pa.array(self.are_in(found, bounds)))

    def queries(self) -> pa.Table | None:
        """Level 2 of queries: those that read the stream, as at the last flush; None: nobody told of any."""
        return queries.read(self.folder)

    def are_in(self, table: pa.Table, bounds: Bounds) -> Bools:
        """By row whether its place is in a box."""
        x, y = (float64_of(table, name) for name in (self.stream.x, self.stream.y))
        is_in: Bools = (x >= bounds[0]) & (y >= bounds[1]) & (x <= bounds[2]) & (y <= bounds[3])
        return is_in

    def only(self, files: Sequence[File]) -> Archive:
        """Readings of these files alone."""
        self._files = list(files)
        return self

    def late(self) -> pa.Table:
        """What came too late to count, if the archive keeps it; in order of time and key."""
        files = self.tables.late
        found = [self._read(files, file) for file in files.all()]
        return in_order(pa.concat_tables([self.schema.empty_table(), *found]), self.stream.key)

    # ----- files and row groups

    def _groups(self, after: int, up_to: int, bounds: Bounds | None) -> Iterator[Group]:
        for file in self._files:
            if file.first is None or file.last is None or file.last <= after or file.first > up_to:
                continue
            if bounds is not None and file.bounds is not None and not _meet(bounds, file.bounds):
                continue
            for group in self.groups_of(file):
                if group.last > after and group.first <= up_to:
                    yield group

    def groups_of(self, file: File) -> Iterator[Group]:
        """Its row groups, by what the footer says of their times."""
        with opened(self.tables.readings.path_of(file)) as source, pq.ParquetFile(source) as parquet:
            meta = parquet.metadata
        names = [meta.schema.column(i).path for i in range(meta.num_columns)]
        at = names.index(self.form.time)
        for number in range(meta.num_row_groups):
            stats = meta.row_group(number).column(at).statistics
            yield Group(stats.min_raw, stats.max_raw, file, number, meta.row_group(number).num_rows)

    def _of(
        self, groups: Sequence[Group], after: int, up_to: int, bounds: Bounds | None, keys: pa.Array | None
    ) -> pa.Table:
        by_file: dict[File, list[int]] = {}
        for group in groups:
            by_file.setdefault(group.file, []).append(group.number)
        table = pa.concat_tables(
            [self._read(self.tables.readings, file, numbers) for file, numbers in by_file.items()]
        )
        return self._that_are(table, after, up_to, bounds, keys)

    def _that_are(
        self, table: pa.Table, after: int, up_to: int, bounds: Bounds | None, keys: pa.Array | None
    ) -> pa.Table:
        ts = int64_of(table, TS)
        is_it = (ts > after) & (ts <= up_to)
        if bounds is not None:
            is_it &= self.are_in(table, bounds)
        if keys is not None:
            is_it &= pc.is_in(table.column(self.stream.key), value_set=keys).to_numpy()
        return table if is_it.all() else table.filter(pa.array(is_it))

    def _read(self, files: Files, file: File, groups: list[int] | None = None) -> pa.Table:
        return self.form.read(files.path_of(file), groups)


def clusters(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups whose times meet, together; in order of time."""
    found: list[Group] = []
    end = 0
    for group in sorted(groups, key=lambda g: (g.first, g.last)):
        if found and group.first > end:
            yield found
            found = []
        end = max(end, group.last) if found else group.last
        found.append(group)
    if found:
        yield found


def _runs(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Some groups of one file at a time."""
    for _, mine in groupby(groups, key=lambda group: group.file):
        run = list(mine)
        for first in range(0, len(run), AT_ONCE):
            yield run[first : first + AT_ONCE]


def _meet(a: Bounds, b: Bounds) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]
