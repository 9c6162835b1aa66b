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
from sanderling.errors import QueryError
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.storage.archive import Archive

PIECE = Slice(0, "", "", 0, 0, 0, is_last=False)


@dataclass(slots=True)
class ArchivePast:
    """Reads archives; what they do not have, `live` is asked for: shards, or files.

    Promise (tests/ask/test_archive.py): an answer is that of the whole stream, however little of it is read.
    """

    archives: Mapping[str, Archive]  # by the folded name of a stream
    live: Past | None = None
    is_live_now: bool = False  # whether now is as `live` has it

    def now(self, streams: Sequence[Stream]) -> int | None:
        if self.live is not None and (self.is_live_now or not any(map(self._of, streams))):
            return self.live.now(streams)
        ends = [archive.archived_to for stream in streams if (archive := self._of(stream)) is not None]
        return min((end for end in ends if end is not None), default=None)

    def upto(self, stream: Stream, last: int | None, reach: int | None) -> Pieces:
        archive = self._of(stream)
        is_there = archive is not None and archive.archived_to is not None
        if is_there and last is not None and last <= (archive.archived_to or 0):  # type: ignore[union-attr]
            assert archive is not None
            self._refuse_snapshots(archive)
            return _pieces(archive, last, reach)
        if self.live is not None and (archive is None or self.is_live_now):
            return self._live(stream, last, reach, archive)
        raise _not_yet(stream, archive)

    def _live(self, stream: Stream, last: int | None, reach: int | None, archive: Archive | None) -> Pieces:
        assert self.live is not None
        try:
            return self.live.upto(stream, last, reach)
        except QueryError as e:
            if archive is not None and e.code == "history.none":
                raise _not_yet(stream, archive) from e
            raise

    def between(self, stream: Stream, first: int, last: int | None) -> pa.Table:
        archive = self._of(stream)
        if archive is None:
            if self.live is None:
                raise no_archive(stream)
            return self.live.between(stream, first, last)
        self._refuse_snapshots(archive)
        archive.keyframe_before(first)  # refuses what is not kept any more
        end = archive.archived_to or 0
        if last is not None and last > end:
            raise _not_yet(stream, archive)
        tables = [
            pa.Table.from_batches([b]) for b in archive.readings(first - 1, end if last is None else last)
        ]
        found = pa.concat_tables([archive.schema.empty_table(), *tables])
        return present(stream, found)

    def last(self, stream: Stream) -> pa.Table:
        archive = self._of(stream)
        if archive is None:
            raise no_archive(stream)
        return archive.last()

    def snapshot(self, stream: Stream, last: int) -> tuple[int, Pieces]:
        archive = self._of(stream)
        if archive is None:
            raise no_archive(stream)
        at, keyframe = archive.keyframe_before(last)
        return at, [_piece(keyframe.sort_by(TS))]

    def _of(self, stream: Stream) -> Archive | None:
        return self.archives.get(stream.name.casefold())

    def _refuse_snapshots(self, archive: Archive) -> None:
        if archive.about.archiving.detail == "snapshots":
            raise QueryError(
                "history.not_exact", f"{archive.folder} has snapshots, and not what was between them",
                "write AS OF SNAPSHOT '…', which takes the last one before",
            )  # fmt: skip


def _pieces(archive: Archive, last: int, reach: int | None) -> Iterator[tuple[Slice, Ingested]]:
    """Each object's last reading before, then all since then; from the first on if nobody knows better."""
    since, first = since_of(archive, last, reach)
    rest = archive.readings(since, last)
    found = False
    for table in (first, *(pa.Table.from_batches([batch]) for batch in rest)):
        if table.num_rows:
            found = True
            yield _piece(table)
    # All are gone: that there was somebody makes a difference to COUNT(*).
    if not found and since > (archive.kept_from or 0):
        yield from _pieces(archive, last, None)


def since_of(archive: Archive, last: int, reach: int | None) -> tuple[int, pa.Table]:
    """From when on readings are needed, and each object's last one before."""
    begin = archive.kept_from
    if begin is None or last < begin:
        begin = archive.keyframe_before(last)[0]  # which refuses it
    since = begin if reach is None else max(begin, last - reach)
    first = archive.now(since) if since > begin else archive.keyframe_before(begin)[1]
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


__all__ = ["ArchivePast", "since_of"]
