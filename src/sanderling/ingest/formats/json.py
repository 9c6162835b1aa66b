"""JSON lines: each line is an object, looked into by DuckDB, which parses a line at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling import relational
from sanderling.batches import Slice
from sanderling.catalog import Column
from sanderling.ingest.formats.lines import Lines, read_lines, sound
from sanderling.ingest.formats.rows import Rows, whole
from sanderling.ingest.letters import Faults


def read_json_rows(columns: Sequence[Column], piece: Slice) -> Rows:
    source, faults = read_lines(piece), Faults()
    lines = _objects(sound(source, "broken_json", faults), faults)
    return Rows(lines.numbers, extract(lines.texts, [c.name for c in columns]), faults, source)


def _objects(lines: Lines, faults: Faults) -> Lines:
    """The lines that are JSON objects."""
    found = relational.run(
        "SELECT CASE WHEN json_valid(json) THEN json_type(json) END AS kind FROM lines",
        lines=pa.table({"json": lines.texts.cast(pa.large_string())}),
    )
    kinds = whole(found.column("kind"))
    is_broken = np.asarray(pc.is_null(kinds))
    is_object = np.asarray(pc.equal(kinds, "OBJECT").fill_null(False))
    faults.add(lines.numbers[is_broken], "broken_json", "the line is not JSON")
    faults.add(lines.numbers[~is_broken & ~is_object], "broken_json", "the line is JSON, but not an object")
    return lines.keep(is_object)


def extract(objects: pa.Array, names: Sequence[str]) -> tuple[pa.Array, ...]:
    """The members of JSON objects with these names, as texts; NULL where absent or null."""
    picked = ", ".join(f"found[{i}] AS c{i}" for i in range(1, len(names) + 1))
    pointers = ", ".join(_literal(_pointer(name)) for name in names)
    found = relational.run(
        f"SELECT {picked} FROM (SELECT json_extract_string(json, [{pointers}]) AS found FROM lines)",
        lines=pa.table({"json": objects.cast(pa.large_string())}),
    )
    return tuple(whole(column).cast(pa.string()) for column in found.columns)


def _pointer(name: str) -> str:
    """The JSON pointer to a member: unlike a path, it can be written for any name."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
