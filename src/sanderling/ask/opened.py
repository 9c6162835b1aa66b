"""Archives that are there: those that are named, and those that are declared and have been written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sanderling.language import parse_script
from sanderling.language.statements import CreateStream
from sanderling.plan.planner import Planner
from sanderling.storage.about import NAME
from sanderling.storage.archive import Archive
from sanderling.storage.place import exists, place_of


def opened_for(planner: Planner, named: Iterable[str | Path] = (), script: str = "") -> dict[str, Archive]:
    """By the folded name of a stream. Of a named one the stream is declared too, if it is not yet, and a
    script that is run later does not do it.

    A stream with files is read from these, unless its archive is named: they go as far as there is anything.
    """
    found: dict[str, Archive] = {}
    for stream in planner.streams.values():
        archiving = planner.archive_of(stream.name)
        if archiving is not None and stream.path is None and exists(place_of(archiving.path) / NAME):
            found[stream.name.casefold()] = Archive.open(archiving.path)
    for path in named:
        archive = Archive.open(path)
        stream = archive.stream
        if stream.name not in planner.streams and stream.name.casefold() not in _declared_in(script):
            planner.streams.put(stream.name, replace(stream, path=None))
        found[stream.name.casefold()] = archive
    return found


def _declared_in(script: str) -> set[str]:
    statements = parse_script(script) if script else ()
    return {s.name.text.casefold() for s in statements if isinstance(s, CreateStream)}
