"""Writes an archive: flush by flush, each in one commit, so that every reading is in it once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.batches import TS
from sanderling.catalog import Archiving
from sanderling.errors import ConfigError
from sanderling.state import crash
from sanderling.storage.about import NAME, About
from sanderling.storage.archive import ARCHIVED_TO, KEPT_FROM
from sanderling.storage.blocks import blocks_of, grid_around, joined_blocks
from sanderling.storage.delta import File
from sanderling.storage.geoparquet import ROW_GROUP
from sanderling.storage.periods import begin_of, name_of
from sanderling.storage.place import Place, exists, make
from sanderling.storage.tables import Tables

# How the files of a closed period are called.
WHOLE = "whole"


class Writer:
    """Of one archive; one process at a time has it.

    Promises (tests/storage/test_writer.py, tests/recovery/test_archive_crash.py):
      once   what was archived before is passed over, so a flush that is done again adds nothing
      whole  a commit ends with a tick
    """

    def __init__(self, folder: Place, archiving: Archiving):
        """Goes on with what is there, if it is of the same stream."""
        self.folder = folder
        self.turn = threading.RLock()  # of those who write: flushes, what tends them, and who erases
        self.about = _about_of(folder, archiving)
        self.tables = Tables(folder, self.about)
        self.tables.create()

    @property
    def archived_to(self) -> int | None:
        return self.tables.readings.told(ARCHIVED_TO)

    def told(self, run: str) -> int:
        """The last batch of a run that is in as a whole; -1 before the first."""
        found = self.tables.readings.told(run)
        return -1 if found is None else found

    def append(
        self, tables: Sequence[pa.Table], up_to: int, tell: Mapping[str, int] | None = None
    ) -> pa.Table:
        """Adds all readings of the ticks since the last flush up to this one; those come back.

        `tables` have the columns of `Archive.schema`; their order, and that of the rows, is all the
        same. Each (time, key) is there once.
        """
        done = self.archived_to
        nothing = self.tables.form.readings.empty_table()
        if done is not None and up_to <= done and not tell:
            return nothing
        readings = pa.concat_tables([nothing, *(table.select(nothing.column_names) for table in tables)])
        ts = int64_of(readings, TS)
        is_new = ts <= up_to if done is None else (ts > done) & (ts <= up_to)
        readings = readings if is_new.all() else readings.filter(pa.array(is_new))
        self._know_where(readings)
        crash.point("archive-before-write")
        files = list(self._written(readings, done, up_to))
        crash.point("archive-before-commit")
        to = up_to if done is None else max(done, up_to)
        self.tables.readings.commit(files, tell={**self._begun(readings), ARCHIVED_TO: to, **(tell or {})})
        crash.point("archive-after-commit")
        return readings

    def _begun(self, readings: pa.Table) -> dict[str, int]:
        """From when on times can be asked for: before the first reading there was nobody."""
        if self.tables.readings.told(KEPT_FROM) is not None or not readings.num_rows:
            return {}
        first = int(int64_of(readings, TS).min())
        return {KEPT_FROM: begin_of(first, self.about.archiving.snapshot_us)}

    def _know_where(self, readings: pa.Table) -> None:
        if self.about.grid is None:
            grid = grid_around(readings, self.about)
            if grid is not None:
                self.about = replace(self.about, grid=grid)
                self.about.write(self.folder)

    def _written(self, readings: pa.Table, done: int | None, up_to: int) -> Iterator[File]:
        """A file a period; its name is that of the flush, so that one done again takes its place.

        A period that begins and closes in one flush is joined at once.
        """
        for begin, found in groupby(blocks_of(readings, self.about), key=lambda block: block[0]):
            part, blocks = name_of(begin), (block for _, block in found)
            is_whole = (done is None or done <= begin) and begin + self.about.archiving.snapshot_us <= up_to
            name = f"{WHOLE}-{name_of(up_to)}" if is_whole else name_of(up_to)
            path = f"{self.about.period}={part}/{name}.parquet"
            groups = joined_blocks(blocks, self.about, ROW_GROUP) if is_whole else blocks
            yield self.tables.form.write(self.tables.readings.folder, path, part, groups)


def _about_of(folder: Place, archiving: Archiving) -> About:
    make(folder)
    if not exists(folder / NAME):
        about = About(archiving)
        about.write(folder)
        return about
    known = About.read(folder)
    if not _is_same(known.archiving, archiving):
        raise ConfigError(
            "history.other_stream", f"the archive in {folder} is of another stream, or cut otherwise",
            "name another folder, or declare it as about.json in it says",
        )  # fmt: skip
    # How long it is kept, and what is sampled, may change from run to run.
    about = replace(known, archiving=archiving)
    if about != known:
        about.write(folder)
    return about


def _is_same(known: Archiving, new: Archiving) -> bool:
    """Whether readings of one can stand behind those of the other."""

    def shape(archiving: Archiving) -> tuple[object, ...]:
        s = archiving.stream
        columns = (s.columns, s.key, s.time, s.x, s.y, s.gone, s.is_globe, s.tick_us)
        return (*columns, archiving.flush_us, archiving.snapshot_us, archiving.detail)

    return shape(known) == shape(new)
