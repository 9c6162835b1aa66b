"""What a part saves of itself, and what its own parts save, as bytes and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sanderling.route.parcels import pieces_of, tables_from_bytes
from sanderling.state.sealed import NOT_OURS, broken, opened, sealed

KIND = "state"
Path = tuple[str, ...]


@dataclass(slots=True)
class Frame:
    """Tables and a few plain values by name, and the frames of parts by theirs. What is empty is left out."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Frame] = field(default_factory=dict)

    def part(self, *path: str) -> Frame:
        """Of a part; an empty one, if it saved nothing."""
        found = self
        for name in path:
            found = found.parts.get(name) or Frame()
        return found

    def put(self, frame: Frame, *path: str) -> None:
        found = self
        for name in path[:-1]:
            found = found.parts.setdefault(name, Frame())
        found.parts[path[-1]] = frame

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, Frame]]:
        """Itself and all frames below."""
        yield path, self
        for name, part in self.parts.items():
            yield from part.walk((*path, name))


def to_bytes(frame: Frame, version: int) -> bytes:
    """With the version of the plan that it was saved under."""
    tables: dict[str, pa.Table] = {}
    places: list[tuple[Path, list[str], dict[str, Any]]] = []
    for path, part in frame.walk():
        if part.tables or part.values:
            places.append((path, list(part.tables), part.values))
            tables |= {f"{len(tables) + i}": table for i, table in enumerate(part.tables.values())}
    return sealed(KIND, pieces_of(tables, {"version": version, "places": places}))


def from_bytes(data: bytes) -> tuple[Frame, int]:
    """What was saved, or an error: a state that was cut off or changed is not gone on with."""
    body = opened(data, KIND, "a saved state")
    try:
        tables, header = tables_from_bytes(body)
        frame, all_tables = Frame(), iter(tables.values())
        for path, names, values in header["places"]:
            mine = Frame({name: next(all_tables) for name in names}, values)
            if path:
                frame.put(mine, *path)
            else:
                frame = mine
        return frame, header["version"]
    except NOT_OURS as e:
        raise broken("a saved state", str(e)) from e
