"""The Delta tables of an archive: where each lies, and what its columns are."""

from __future__ import annotations

from pathlib import Path

from sanderling.storage.about import About, free_name
from sanderling.storage.delta import Files
from sanderling.storage.geoparquet import Form


class Tables:
    """Readings by period, and keyframes by time."""

    def __init__(self, folder: Path, about: About):
        self.form = Form(about.stream, about.geometry)
        time, geometry = self.form.time, about.geometry
        self.readings = Files(folder / "readings", about.period, time, geometry)
        self.snapshots = Files(folder / "snapshots", free_name("at", about.stream), time, geometry)

    @property
    def all(self) -> tuple[Files, ...]:
        return self.readings, self.snapshots

    def create(self) -> None:
        for files in self.all:
            files.create(self.form.stored)
