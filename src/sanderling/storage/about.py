"""about.json: what an archive is of. It is written once, and again when the first readings have come."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from sanderling.catalog import Archiving, Column, Stream, Written
from sanderling.errors import StateError
from sanderling.storage.place import Place, read_whole, write_whole
from sanderling.types import TYPES

FORMAT = 1
NAME = "about.json"
# Neither readings nor the column of periods may be called like a column of the stream.
GEOMETRY, PERIOD = "geometry", "period"


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells in whose order the readings of a block lie: `side` of them each way, from `x`, `y` on."""

    x: float
    y: float
    width: float
    height: float
    side: int = 256


@dataclass(frozen=True, slots=True)
class About:
    """Promise (tests/storage/test_about.py): what is read is what was written, or it is refused."""

    archiving: Archiving
    grid: Grid | None = None  # before the first readings nobody knows where they will be

    @property
    def stream(self) -> Stream:
        return self.archiving.stream

    @property
    def geometry(self) -> str:
        """What the column of places is called."""
        return free_name(GEOMETRY, self.stream)

    @property
    def period(self) -> str:
        """What the column of periods is called, which is in the names of folders."""
        return free_name(PERIOD, self.stream)

    def write(self, folder: Place) -> None:
        write_whole(folder / NAME, json.dumps(self._said(), indent=1).encode() + b"\n")

    def _said(self) -> dict[str, Any]:
        said = asdict(replace(self.archiving, stream=None))  # type: ignore[arg-type]
        stream = {
            name: getattr(self.stream, name) for name in self.stream.__dataclass_fields__ if name != "columns"
        }
        stream["written"] = asdict(self.stream.written)
        columns = [[column.name, column.type.name] for column in self.stream.columns]
        grid = None if self.grid is None else asdict(self.grid)
        return {**said, "format": FORMAT, "stream": {**stream, "columns": columns}, "grid": grid}

    @classmethod
    def read(cls, folder: Place) -> About:
        path = folder / NAME
        try:
            said = json.loads(read_whole(path))
        except FileNotFoundError as e:
            raise StateError(
                "history.none", f"there is no archive in {folder}", "name the folder that about.json is in"
            ) from e
        except (OSError, ValueError) as e:
            raise broken(path, str(e)) from e
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            found = said.get("format") if isinstance(said, dict) else None
            raise StateError(
                "history.other_format", f"{path} is of format {found}, this version reads {FORMAT}",
                "read it with the version that wrote it",
            )  # fmt: skip
        try:
            return _about_in(said)
        except (TypeError, LookupError, ValueError, AttributeError) as e:
            raise broken(path, f"{type(e).__name__}: {e}") from e


def _about_in(said: dict[str, Any]) -> About:
    stream = said["stream"]
    columns = tuple(Column(name, TYPES[type_]) for name, type_ in stream.pop("columns"))
    written = stream.pop("written")
    written["null_tokens"] = tuple(written["null_tokens"])
    grid = said.pop("grid")
    said.pop("format")
    return About(
        Archiving(**{**said, "stream": Stream(columns=columns, written=Written(**written), **stream)}),
        None if grid is None else Grid(**grid),
    )


def free_name(name: str, stream: Stream) -> str:
    """This name, with as many underscores behind it as no column has."""
    while stream.column(name) is not None:
        name += "_"
    return name


def broken(path: Place, why: str) -> StateError:
    return StateError("history.broken", f"{path} cannot be read: {why}", "bring the archive back from a copy")
