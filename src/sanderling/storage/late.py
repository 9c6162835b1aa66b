"""What came too late, apart from what counted: it is in no answer, and kept for whoever wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pyarrow as pa

from sanderling.storage.blocks import blocks_of
from sanderling.storage.periods import name_of
from sanderling.storage.writer import Writer


class LateReadings:
    """Promise (tests/storage/test_late.py): each is there once, however often it is told."""

    def __init__(self, writer: Writer, run: str):
        self._writer, self._run = writer, run
        self._waiting: list[tuple[int, pa.Table]] = []  # with the batch they came with

    def add(self, batch: int, table: pa.Table) -> None:
        self._waiting.append((batch, table))

    @property
    def are_waiting(self) -> bool:
        return bool(self._waiting)

    def take(self, up_to: int) -> list[tuple[int, pa.Table]]:
        """Those of batches up to this one."""
        taken = [one for one in self._waiting if one[0] <= up_to]
        self._waiting = [one for one in self._waiting if one[0] > up_to]
        return taken

    def write(self, taken: Sequence[tuple[int, pa.Table]], up_to: int) -> None:
        """Into files of their periods; before the readings of the same batches, which a kill brings again."""
        files, form, about = self._writer.tables.late, self._writer.tables.form, self._writer.about
        done = files.told(self._run) if files.exists else None
        mine = [t.select(form.readings.names) for n, t in taken if done is None or n > done]
        if not mine:
            return
        came = []
        for begin, found in groupby(blocks_of(pa.concat_tables(mine), about), key=lambda block: block[0]):
            part = name_of(begin)
            path = f"{about.period}={part}/{self._run.replace(' ', '-')}-{up_to}.parquet"
            came.append(form.write(files.folder, path, part, [block for _, block in found]))
        files.commit(came, tell={self._run: up_to})
