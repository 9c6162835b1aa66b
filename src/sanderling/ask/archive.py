"""The past of streams that have an archive: as at any time that is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sanderling.ask.answer import Past
from sanderling.ask.files import no_archive, present
from sanderling.ask.once import Pieces
from sanderling.batches import ROW, TS, Slice
from sanderling.catalog import Stream
from sanderling.clock import show_time
from sanderling.errors import QueryError, StateError
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.plan.last_queries import ROWS
from sanderling.storage.archive import Archive
from sanderling.storage.lately import Bounds

PIECE = Slice(0, "", "", 0, 0, 0, is_last=False)


@dataclass(slots=True)
class ArchivePast:
    """Reads archives; what they do not have, `live` is asked for: shards, or files.

    Promise (tests/ask/test_archive.py): an answer is that of the whole stream, however little of it is read.
    """

    archives: Mapping[str, Archive]  # by the folded name of a stream
    live: Past | None = None
    is_live_now: bool = False  # whether now is as `live` has it
    _now: int | None = None  # as it has told

    def now(self, streams: Sequence[Stream]) -> int | None:
        if self.live is not None and (self.is_live_now or not any(map(self._of, streams))):
            self._now = self.live.now(streams)
            return self._now
        ends = [archive.archived_to for stream in streams if (archive := self._of(stream)) is not None]
        return min((end for end in ends if end is not None), default=None)

    def upto(
        self, stream: Stream, last: int | None, reach: int | None, bounds: Bounds | None = None
    ) -> Pieces:
        archive = self._of(stream)
        end = None if archive is None else archive.archived_to
        is_there = end is not None and last is not None and last <= end
        if is_there and not self._is_live(archive, last, reach):
            assert archive is not None and last is not None
            self._refuse_snapshots(archive)
            return pieces_of(archive, last, last, reach, bounds)
        if self.live is not None and (archive is None or self.is_live_now):
            return self._live(stream, last, reach, archive)
        raise _not_yet(stream, archive)

    def _is_live(self, archive: Archive | None, last: int | None, reach: int | None) -> bool:
        """Whether who is live has all that is asked for at hand, or has it alone."""
        is_now = self.is_live_now and last is not None and last == self._now
        return is_now and (reach == 0 or (archive is not None and _has_snapshots(archive)))

    def _live(self, stream: Stream, last: int | None, reach: int | None, archive: Archive | None) -> Pieces:
        assert self.live is not None
        try:
            return self.live.upto(stream, last, reach)
        except QueryError as e:
            if archive is not None and e.code == "history.none":
                raise _not_yet(stream, archive) from e
            raise

    def between(self, stream: Stream, first: int, last: int | None, bounds: Bounds | None = None) -> pa.Table:
        archive = self._of(stream)
        if archive is None:
            if self.live is None:
                raise no_archive(stream)
            return self.live.between(stream, first, last, bounds)
        self._refuse_snapshots(archive)
        archive.keyframe_before(first)  # refuses what is not kept any more
        end = archive.archived_to or 0
        if last is not None and last > end:
            raise _not_yet(stream, archive)
        tables = archive.scattered(first - 1, end if last is None else last, bounds)
        found = pa.concat_tables([archive.schema.empty_table(), *tables])
        return present(stream, found)

    def last(self, stream: Stream) -> pa.Table:
        archive = self._of(stream)
        if archive is None:
            raise no_archive(stream)
        return archive.last()

    def queries(self) -> pa.Table:
        """Each once, though it reads several streams. Where something runs, it knows by itself."""
        if self.is_live_now:
            return ROWS.empty_table()
        found = [rows for archive in self.archives.values() if (rows := archive.queries()) is not None]
        whole = pa.concat_tables([ROWS.empty_table(), *found])
        _, first = np.unique(whole.column("name").to_numpy(zero_copy_only=False), return_index=True)
        return whole.take(pa.array(np.sort(first)))

    def snapshot(self, stream: Stream, last: int) -> tuple[int, Pieces]:
        archive = self._of(stream)
        if archive is None:
            raise no_archive(stream)
        at, keyframe = archive.keyframe_before(last)
        return at, [_piece(keyframe.sort_by(TS))]

    def _of(self, stream: Stream) -> Archive | None:
        return self.archives.get(stream.name.casefold())

    def _refuse_snapshots(self, archive: Archive) -> None:
        if _has_snapshots(archive):
            raise QueryError(
                "history.not_exact", f"{archive.folder} has snapshots, and not what was between them",
                "write AS OF SNAPSHOT '…', which takes the last one before",
            )  # fmt: skip


def _has_snapshots(archive: Archive) -> bool:
    """Whether what was between them is not kept."""
    return archive.about.archiving.detail == "snapshots"


def pieces_of(
    archive: Archive, begin: int, last: int, reach: int | None, bounds: Bounds | None = None
) -> Pieces:
    """What a query that begins at a tick may depend on, up to another tick.

    Each object's last reading before, then all since then; from the first on if nobody knows better.
    """
    since, first = since_of(archive, begin, reach, bounds)
    rest = archive.readings(since, last)
    found = False
    for table in (first, *(pa.Table.from_batches([batch]) for batch in rest)):
        if table.num_rows:
            found = True
            yield _piece(table)
    if not found and bounds is not None:
        yield from map(_piece, _somebody(archive, last, bounds))
        return
    # All are gone: that there was somebody makes a difference to COUNT(*).
    if not found and since > (archive.kept_from or 0):
        yield from pieces_of(archive, begin, last, None)


def _somebody(archive: Archive, last: int, bounds: Bounds) -> Iterator[pa.Table]:
    """A reading elsewhere, where a box is empty: that there was somebody makes a difference to COUNT(*)."""
    begin, lately = archive.kept_from or 0, last - 2 * archive.about.archiving.flush_us
    for since in dict.fromkeys((max(begin, lately), begin)):
        for table in archive.scattered(since - 1, last):
            elsewhere = table.filter(pa.array(~archive.are_in(table, bounds)))
            if elsewhere.num_rows:
                yield elsewhere.slice(0, 1)
                return


def since_of(
    archive: Archive, last: int, reach: int | None, bounds: Bounds | None = None
) -> tuple[int, pa.Table]:
    """From when on readings are needed, and each object's last one before; of those in a box, if nobody else
    matters, and nothing is needed since then."""
    begin = archive.kept_from
    if begin is None or last < begin:
        begin = archive.keyframe_before(last)[0]  # which refuses it
    if reach and last - reach < begin and archive.has_forgotten:
        told = (
            f"{archive.folder} keeps what was from {show_time(begin)} on, and so long a window begins before"
        )
        raise StateError("history.not_kept", told, f"ask for {show_time(begin + reach)}, or later")
    since = begin if reach is None else max(begin, last - reach)
    if since > begin:
        first = archive.now(since, bounds if since == last else None)
    else:
        first = archive.keyframe_before(begin)[1]
    return since, first.sort_by(TS)  # a reading behind a later one would be late


def _piece(table: pa.Table) -> tuple[Slice, Ingested]:
    table = table.append_column(ROW, pa.array(np.arange(table.num_rows)))
    return PIECE, Ingested(table.combine_chunks(), LETTERS.empty_table(), table.num_rows)


def _not_yet(stream: Stream, archive: Archive | None) -> QueryError:
    if archive is None:
        return no_archive(stream)
    end = archive.archived_to
    said = "nothing is archived yet" if end is None else f"it is archived up to {show_time(end)}"
    return QueryError("history.not_yet", f'of "{stream.name}" {said}', "ask for an earlier time, or later")


__all__ = ["ArchivePast", "pieces_of", "since_of"]
