"""Times as a pattern says: `dd/MM/yyyy HH:mm:ss`, in the letters that Spark has for it."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.ingest.types.times import (
    DAY_US,
    FIRST_US,
    LAST_US,
    days_of,
    microseconds_of,
    number_of,
    parts_of,
)
from sanderling.ingest.types.typed import Typed, judged, mask, trimmed

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
NAMES = "(?i:January|February|March|April|May|June|July|August|September|October|November|December)"
ZONE = r"(?:[Zz]|UTC|(?P<sign>[+-])(?P<zone_hour>[01][0-9]|2[0-3])(?::?(?P<zone_minute>[0-5][0-9]))?)"

# What a run of a letter stands for, by the letter and how often it stands, up to the last.
LETTERS: dict[str, tuple[str, ...]] = {
    "y": (r"(?P<year>[0-9]{4})", r"(?P<short>[0-9]{2})", r"(?P<year>[0-9]{4})", r"(?P<year>[0-9]{4})"),
    "M": (
        r"(?P<month>0?[1-9]|1[0-2])", r"(?P<month>0[1-9]|1[0-2])",
        rf"(?P<name>(?i:{'|'.join(MONTHS)}))", rf"(?P<name>{NAMES})",
    ),
    "d": (r"(?P<day>0?[1-9]|[12][0-9]|3[01])", r"(?P<day>0[1-9]|[12][0-9]|3[01])"),
    "H": (r"(?P<hour>1[0-9]|2[0-3]|0?[0-9])", r"(?P<hour>[01][0-9]|2[0-3])"),
    "h": (r"(?P<half>1[0-2]|0?[1-9])", r"(?P<half>0[1-9]|1[0-2])"),
    "m": (r"(?P<minute>[1-5][0-9]|0?[0-9])", r"(?P<minute>[0-5][0-9])"),
    "s": (r"(?P<second>[1-5][0-9]|0?[0-9])", r"(?P<second>[0-5][0-9])"),
    "S": (r"(?P<fraction>[0-9]{1,9})",) * 9,
    "a": (r"(?P<noon>(?i:am|pm))",),
    "E": (r"[A-Za-z]+\.?",) * 4,
    "X": (ZONE,) * 3,
    "x": (ZONE,) * 3,
    "Z": (ZONE,) * 3,
}  # fmt: skip
# A text in quotes, a run of one letter, or any other character.
PIECE = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|.", re.S)
HINT = "as in 'dd/MM/yyyy HH:mm:ss.SSS', also yy, MMM (Jan), h and a (AM), XXX (+02:00); texts in quotes"


@lru_cache(maxsize=64)
def regex_of(pattern: str) -> str:
    """A pattern as a regular expression with named parts; ValueError says what is not understood."""
    found = "".join(_piece(m[0]) for m in PIECE.finditer(pattern))
    try:
        names = set(re.compile(found).groupindex)
    except re.error as e:
        raise ValueError(f"something stands twice in it, or a bracket is open: {e}") from e
    if not names & {"year", "short"} or not names & {"month", "name"} or "day" not in names:
        raise ValueError("it needs a year, a month and a day")
    return rf"\A{found}\z"


def _piece(piece: str) -> str:
    if piece[0] == "'":
        if len(piece) < 2:
            raise ValueError("a quote is not closed")
        return re.escape(piece[1:-1].replace("''", "'") or "'")
    if piece in "[]":
        return "(?:" if piece == "[" else ")?"
    if not piece[0].isalpha() or not piece[0].isascii():
        return re.escape(piece)
    known = LETTERS.get(piece[0], ())
    if len(piece) > len(known):
        raise ValueError(f'"{piece}" stands for nothing')
    return known[len(piece) - 1]


def parse_by(texts: pa.Array, pattern: str) -> Typed:
    """Timestamps; without a zone in UTC. What is not of the pattern is marked."""
    clean = trimmed(texts)
    parts = parts_of(clean, regex_of(pattern))
    none = pa.nulls(len(texts), pa.string())

    def number(name: str) -> np.ndarray:
        return number_of(parts.get(name, none))

    if "short" in parts:
        parts["year"] = pc.binary_join_element_wise("20", parts["short"], "")
    if "name" in parts:
        short = pc.ascii_lower(pc.utf8_slice_codeunits(parts["name"], 0, 3))
        at = pc.add(pc.index_in(short, pa.array(MONTHS)), 1)
        parts["month"] = at.cast(pa.string())
    days, is_good = days_of(parts)
    hour = number("hour")
    if "half" in parts:
        is_late = mask(pc.equal(pc.ascii_lower(parts.get("noon", none)), "pm"))
        hour = number("half") % 12 + 12 * is_late
    zone = (number("zone_hour") * 60 + number("zone_minute")) * 60
    zone[mask(pc.equal(parts.get("sign", none), "-"))] *= -1
    seconds = (hour * 60 + number("minute")) * 60 + number("second")
    us = days * DAY_US + (seconds - zone) * 1_000_000
    if "fraction" in parts:
        us += microseconds_of(parts["fraction"])
    is_good &= (us >= FIRST_US) & (us <= LAST_US)
    return judged(us, mask(pc.is_null(clean)), is_good, pa.timestamp("us"))
