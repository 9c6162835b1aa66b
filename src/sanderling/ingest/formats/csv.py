"""CSV: a line is a row, so that no line can damage its neighbours.

lines ──► sound ──► well-formed quotes ──► pyarrow.csv ──► columns of texts
            └───────────┴───────────────────────┴──► faults
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from sanderling.batches import Slice
from sanderling.catalog import Column
from sanderling.ingest.formats.header import csv_header, find_columns
from sanderling.ingest.formats.lines import NEWLINE, RETURN, Lines, Mask, read_lines, sound
from sanderling.ingest.formats.rows import Numbers, Rows, whole
from sanderling.ingest.letters import Faults

QUOTE = ord('"')

# A field is plain and does not begin with a quote, or is quoted from its first to its last character.
# Arrow alone would go on reading an unclosed quote into the next lines, and would begin a row at a lone \r.
FIELD = r'(?:[^"{d}\r\n][^{d}\r\n]*|"(?:[^"]|"")*")?'
WELL_FORMED = rf"\A{FIELD}(?:{{d}}{FIELD})*(?:\r?\n|\r)?\z"
BROKEN = "a quote that is not closed, text after a closing quote, or a carriage return inside the row"


@dataclass(frozen=True, slots=True)
class Shape:
    """How many columns a row has, what is between them, and which of them are wanted."""

    width: int
    wanted: tuple[int, ...]
    delimiter: str


def read_csv_rows(columns: Sequence[Column], piece: Slice, delimiter: str = ",") -> Rows:
    names = csv_header(piece.path, delimiter)
    shape = Shape(len(names), find_columns(columns, names, piece.file), delimiter)
    source, faults = read_lines(piece), Faults()
    lines = sound(source, "broken_csv", faults)
    is_broken = _is_broken(lines, delimiter)
    faults.add(lines.numbers[is_broken], "broken_csv", BROKEN)
    numbers, texts = _parse(lines.keep(~is_broken), shape, faults)
    return Rows(numbers, texts, faults, source)


def _is_broken(lines: Lines, delimiter: str) -> Mask:
    """Lines that are not rows of their own; only those with a quote or a lone \\r can be."""
    mask = np.zeros(len(lines), np.bool_)
    if _holds_marks(lines):
        data = lines.bytes()
        is_mark = data == RETURN
        is_mark[:-1] &= data[1:] != NEWLINE
        is_mark |= data == QUOTE
        maybe = np.flatnonzero(lines.holding(is_mark))
        well_formed = WELL_FORMED.replace("{d}", re.escape(delimiter))
        mask[maybe] = pc.invert(pc.match_substring_regex(lines.texts.take(pa.array(maybe)), well_formed))
    return mask


def _holds_marks(lines: Lines) -> bool:
    # Searching bytes is much faster than comparing each in NumPy, and most files hold neither.
    data = lines.buffer().to_pybytes()
    return b'"' in data or (b"\r" in data and data.count(b"\r") != data.count(b"\r\n"))


def _parse(lines: Lines, shape: Shape, faults: Faults) -> tuple[Numbers, tuple[pa.Array, ...]]:
    """Row numbers and texts of the lines with the right number of columns."""
    if not len(lines):
        return lines.numbers, tuple(pa.array([], pa.string()) for _ in shape.wanted)
    try:
        return _parse_at_once(lines, shape, faults)
    except pa.ArrowInvalid as error:
        # One line Arrow cannot take must not cost the others: halve until it stands alone.
        if len(lines) == 1:
            faults.add(lines.numbers, "broken_csv", str(error))
            return _parse(lines.part(0, 0), shape, faults)
    middle = len(lines) // 2
    before = _parse(lines.part(0, middle), shape, faults)
    after = _parse(lines.part(middle, len(lines)), shape, faults)
    texts = tuple(pa.concat_arrays(pair) for pair in zip(before[1], after[1], strict=True))
    return np.concatenate((before[0], after[0])), texts


def _parse_at_once(lines: Lines, shape: Shape, faults: Faults) -> tuple[Numbers, tuple[pa.Array, ...]]:
    misfits: list[tuple[int, int]] = []

    def set_aside(row: pacsv.InvalidRow) -> str:
        misfits.append((row.number - 1, row.actual_columns))
        return "skip"

    options = pacsv.ParseOptions(
        delimiter=shape.delimiter, invalid_row_handler=set_aside, ignore_empty_lines=False
    )
    table = _read(lines.buffer(), shape, options)
    if table.num_rows + len(misfits) != len(lines):
        raise pa.ArrowInvalid("the line is not one row")
    is_row = np.ones(len(lines), np.bool_)
    is_row[[at for at, _ in misfits]] = False
    _add_misfits(misfits, lines, shape, faults)
    return lines.numbers[is_row], tuple(whole(table.column(str(i))) for i in shape.wanted)


def _read(data: pa.Buffer, shape: Shape, parse: pacsv.ParseOptions) -> pa.Table:
    names = [str(i) for i in range(shape.width)]
    wanted = [names[i] for i in shape.wanted]
    mark = codecs.BOM_UTF8
    # Arrow drops a byte order mark wherever it starts to read; in the middle of a file it belongs to the row.
    if data.size >= len(mark) and data.slice(0, len(mark)).to_pybytes() == mark:
        data = pa.py_buffer(mark + data.to_pybytes())
    return pacsv.read_csv(
        data,
        # One block: a block's end inside a quoted \r would put Arrow out of step.
        read_options=pacsv.ReadOptions(use_threads=False, column_names=names, block_size=data.size + 1),
        parse_options=parse,
        convert_options=pacsv.ConvertOptions(
            include_columns=wanted,
            column_types={name: pa.string() for name in wanted},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=False,  # the lines are sound
        ),
    )


def _add_misfits(misfits: list[tuple[int, int]], lines: Lines, shape: Shape, faults: Faults) -> None:
    for reason, is_few in (("too_few_columns", True), ("too_many_columns", False)):
        found = [(at, count) for at, count in misfits if (count < shape.width) == is_few]
        details = pa.array([f"{count} columns instead of {shape.width}" for _, count in found], pa.string())
        faults.add(lines.numbers[[at for at, _ in found]] if found else lines.numbers[:0], reason, details)
