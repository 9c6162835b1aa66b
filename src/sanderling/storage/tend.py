"""Looks after an archive beside the stream: what is done once a period has closed.

its files become few ──► keyframe at its end ──► periods before `keep` go ──► their files, an hour later

Each step is one commit, and begins where the last one that was killed ended.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pyarrow as pa

from sanderling.state import crash
from sanderling.storage.archive import ARCHIVED_TO, KEPT_FROM, Archive
from sanderling.storage.blocks import joined_blocks
from sanderling.storage.delta import File
from sanderling.storage.geoparquet import ROW_GROUP
from sanderling.storage.keyframes import moved_on
from sanderling.storage.periods import begin_of, name_of, time_in
from sanderling.storage.writer import WHOLE, Writer

# A file of a closed period has about so many readings: 128 to 256 MB.
MOST_ROWS = 16 << 20
SECONDS_BETWEEN_VACUUMS = 600.0


class Tending:
    """Promises (tests/storage/test_tend.py, tests/recovery/test_archive_crash.py):
    same      no reading comes, goes or changes by it, but those that are older than `keep`
    readers   who opened a version before goes on reading it
    bounded   a period is in a few files once it has closed
    """

    def __init__(self, writer: Writer):
        self.writer, self.tables = writer, writer.tables
        self._archiving = writer.about.archiving
        self._vacuumed_at = -SECONDS_BETWEEN_VACUUMS
        self._seen: tuple[int, int] | None = None  # how many periods had closed, and were old

    def tend(self) -> None:
        """All that is due, which can be something only where a period has closed, or is too old now."""
        to, length = self.tables.readings.told(ARCHIVED_TO), self._archiving.snapshot_us
        periods = None if to is None else (to // length, (to - (self._archiving.keep_us or 0)) // length)
        if periods == self._seen:
            return
        self._seen = periods
        for begin in self._closed():
            self._join(begin)
            self._keyframe(begin + self._archiving.snapshot_us)
        if self._archiving.keep_us is not None:
            self._forget(self._archiving.keep_us)
        if time.monotonic() - self._vacuumed_at > SECONDS_BETWEEN_VACUUMS:
            self._vacuumed_at = time.monotonic()
            for files in self.tables.all:
                files.vacuum()

    def _closed(self) -> list[int]:
        """When those periods begin that have closed and have no keyframe at their end."""
        to, length = self.tables.readings.told(ARCHIVED_TO), self._archiving.snapshot_us
        if to is None:
            return []
        last = max((time_in(file.part) for file in self.tables.snapshots.all()), default=None)
        begins = {time_in(file.part) for file in self.tables.readings.all()}
        return sorted(b for b in begins if b + length <= to and (last is None or b + length > last))

    # ----- one period

    def _join(self, begin: int) -> None:
        files = [f for f in self.tables.readings.all() if f.part == name_of(begin)]
        if self._archiving.detail == "snapshots" or all(WHOLE in file.path for file in files):
            return
        crash.point("compaction-before-write")
        joined = list(self._written(begin, files))
        crash.point("compaction-before-commit")
        self.tables.readings.commit(joined, files, is_new_data=False)
        crash.point("compaction-after-commit")

    def _written(self, begin: int, files: Sequence[File]) -> Iterator[File]:
        """Few files, each of row groups that are worth their footers."""
        archive = self._archive(files)
        length, about = self._archiving.snapshot_us, self.writer.about
        part, number, rows = name_of(begin), 0, list[pa.Table]()
        groups = joined_blocks(_tables(archive, begin, begin + length), about, ROW_GROUP)
        for group in groups:
            rows.append(group)
            if sum(table.num_rows for table in rows) >= MOST_ROWS:
                yield self._file(part, number, rows)
                number, rows = number + 1, []
        if rows:
            yield self._file(part, number, rows)

    def _file(self, part: str, number: int, rows: list[pa.Table]) -> File:
        # Of another version another name: what was deleted from it is not to come back with the old file.
        path = f"{self.writer.about.period}={part}/{WHOLE}-{self.tables.readings.version}-{number}.parquet"
        return self.tables.form.write(self.tables.readings.folder, path, part, rows)

    def _archive(self, files: Sequence[File] | None = None) -> Archive:
        archive = Archive(self.writer.folder, self.writer.about)
        return archive if files is None else archive.only(files)

    def _keyframe(self, at: int) -> None:
        archive = self._archive()
        before, keyframe = archive.keyframe_before(at)
        crash.point("keyframe-before-write")
        keyframe = moved_on(keyframe, _tables(archive, before, at), archive.stream)
        files, part = self.tables.snapshots, name_of(at)
        path = f"{files.part_column}={part}/{WHOLE}.parquet"
        groups = joined_blocks([keyframe], self.writer.about, ROW_GROUP)
        came = self.tables.form.write(files.folder, path, part, groups)
        crash.point("keyframe-before-commit")
        files.commit([came])
        crash.point("keyframe-after-commit")
        if self._archiving.detail == "snapshots":
            self._let_go(at)

    def _let_go(self, at: int) -> None:
        """PLACE's own form keeps keyframes alone."""
        gone = [f for f in self.tables.readings.all() if time_in(f.part) < at]
        if gone:
            self.tables.readings.commit([], gone)

    # ----- what is too old

    def _forget(self, keep_us: int) -> None:
        """Whole periods; never the keyframe that the first one left begins with."""
        to = self.tables.readings.told(ARCHIVED_TO)
        frames = self.tables.snapshots.all()
        cut = None if to is None else begin_of(to - keep_us + 1, self._archiving.snapshot_us)
        base = max((t for f in frames if cut is not None and (t := time_in(f.part)) <= cut), default=None)
        if base is None:
            return
        old = [f for f in self.tables.readings.all() if time_in(f.part) < base]
        if old or (self.tables.readings.told(KEPT_FROM) or base) < base:
            crash.point("retention-before-commit")
            self.tables.readings.commit([], old, {KEPT_FROM: base})
            crash.point("retention-after-commit")
        gone = [f for f in frames if time_in(f.part) < base]
        if gone:
            self.tables.snapshots.commit([], gone)


def _tables(archive: Archive, after: int, up_to: int) -> Iterator[pa.Table]:
    """Flush by flush: whoever takes them sorts them."""
    return archive.scattered(after, up_to)
