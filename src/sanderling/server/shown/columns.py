"""The columns of a query as a map wants to know them: which is the key, and which are the place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sanderling.catalog import Stream
from sanderling.plan.many.cohorts import Member
from sanderling.plans.columns import of_reading

KINDS, HEADINGS = ("type", "kind"), ("heading", "course")


@dataclass(frozen=True, slots=True)
class ShownColumn:
    name: str
    type: str
    role: str | None = None

    def shown(self) -> dict[str, str | None]:
        return {"name": self.name, "type": self.type, "role": self.role}


def kind_column(stream: Stream) -> str | None:
    """What tells objects of a stream apart by colour, if there is such a column."""
    return next((c.name for c in stream.columns if c.name.lower() in KINDS and c.type.name == "STRING"), None)


def heading_column(stream: Stream) -> str | None:
    """Where they are going, in degrees."""
    return next((c.name for c in stream.columns if c.name.lower() in HEADINGS and c.type.is_number), None)


def columns_of(member: Member) -> tuple[ShownColumn, ...]:
    """Of a plain query by what a column shows, of a composed one by what it is called. Each role once."""
    stream = member.query.stream
    names = {
        stream.key: "key", stream.x: "x", stream.y: "y", kind_column(stream): "kind",
        heading_column(stream): "heading",
    }  # fmt: skip
    found, taken = [], set[str]()
    for output in member.query.outputs:
        column: str | None = output.name
        if member.query.is_scan:
            column = output.expression.column if output.expression.is_plain else None
            column = next((n for n in names if n and column == of_reading(n)), None)
        role = names.get(column) if column else None
        role = None if role in taken else role
        taken |= {role} if role else set()
        found.append(ShownColumn(output.name, output.type.name, role))
    return tuple(found)


def place_columns(columns: Sequence[ShownColumn]) -> tuple[int, int] | None:
    """By number those of x and y."""
    at = {c.role: number for number, c in enumerate(columns)}
    return (at["x"], at["y"]) if {"x", "y"} <= at.keys() else None


def key_column(columns: Sequence[ShownColumn]) -> int | None:
    return next((number for number, c in enumerate(columns) if c.role == "key"), None)
