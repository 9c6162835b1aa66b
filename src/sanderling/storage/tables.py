"""The Delta tables of an archive: where each lies, and what its columns are."""

from __future__ import annotations

import pyarrow as pa

from sanderling.storage.about import About, free_name
from sanderling.storage.delta import Files
from sanderling.storage.geoparquet import Form
from sanderling.storage.place import Place

# Of the last store: how many readings of its object had been seen, where not every one is kept.
SEEN = "__seen"
# Its parts.
BASE, DELTA = "base", "delta"


class Tables:
    """Readings by period, keyframes by time, and the last store by kind."""

    def __init__(self, folder: Place, about: About):
        self._keeps_late = about.archiving.late == "keep"
        self.form = Form(about.stream, about.geometry)
        time, geometry = self.form.time, about.geometry
        self.readings = Files(folder / "readings", about.period, time, geometry)
        self.last_form = Form(about.stream, about.geometry, (pa.field(SEEN, pa.int64()),))
        self.last = Files(folder / "last", free_name("kind", about.stream), time, geometry)
        self.late = Files(folder / "late", about.period, time, geometry)
        self.snapshots = Files(folder / "snapshots", free_name("at", about.stream), time, geometry)

    @property
    def all(self) -> tuple[Files, ...]:
        return self.readings, self.snapshots, self.last, self.late

    def create(self) -> None:
        self.readings.create(self.form.stored)
        self.snapshots.create(self.form.stored)
        self.last.create(self.last_form.stored)
        if self._keeps_late:
            self.late.create(self.form.stored)
