"""What columns are called where expressions are evaluated. Nobody else spells these names.

r:speed            of a reading, and r:previous(speed), of the same object's reading before; planning knows
                   within(speed), too: the same as long as the reading before is in the window
n:speed            of a later reading of the object, which SQL calls NEXT
q:p0, q:p1, …      of a query: its constants
t:name             of the table that a query joins
c0, c1, …          of a row of signed rows, or of the tree, by place
"""

from __future__ import annotations

READING, NEXT, TABLE = "r:", "n:", "t:"
CONSTANT, PLACE = "q:p", "c"
PREVIOUS, WITHIN = "previous(", "within("


def of_reading(name: str) -> str:
    return READING + name


def of_next(name: str) -> str:
    return NEXT + name


def of_table(name: str) -> str:
    return TABLE + name


def constant_name(number: int) -> str:
    """The constant of a query that has this number."""
    return f"{CONSTANT}{number}"


def by_place(place: int) -> str:
    return f"{PLACE}{place}"


def by_places(n: int) -> list[str]:
    """The first n."""
    return [by_place(place) for place in range(n)]


def is_of_reading(column: str) -> bool:
    return column.startswith(READING)


def is_of_next(column: str) -> bool:
    return column.startswith(NEXT)


def is_of_query(column: str) -> bool:
    """Whether it is the same for all readings: a constant, or of the table that a query joins."""
    return column.startswith((CONSTANT, TABLE))


def is_constant(column: str) -> bool:
    return column.startswith(CONSTANT)


def is_by_place(column: str) -> bool:
    return column.startswith(PLACE)


def name_of(column: str) -> str:
    """What a reading, or a table, calls it."""
    return column[len(READING) :]


def place_of(column: str) -> int:
    return int(column[len(PLACE) :])


def previous_of(name: str) -> str:
    """The name, in a store of readings, of what a column was in the same object's reading before."""
    return f"{PREVIOUS}{name})"


def within_of(name: str) -> str:
    """The same, but nothing once the window has lost the reading before."""
    return f"{WITHIN}{name})"


def without_within(name: str) -> str | None:
    """The column that such a name is of; None: it is no such name."""
    return name[len(WITHIN) : -1] if name.startswith(WITHIN) else None


def without_previous(name: str) -> str | None:
    """The column that such a name is of; None: it is no such name."""
    return name[len(PREVIOUS) : -1] if name.startswith(PREVIOUS) else None


def quoted(name: str) -> str:
    """A name as a DuckDB identifier."""
    return '"' + name.replace('"', '""') + '"'
