"""The lines of a slice with their numbers, cut and sorted out without a loop over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import Slice
from sanderling.ingest.letters import Faults
from sanderling.ingest.slices import shorter

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

# With LARGEST_SLICE, what a slice holds stays below Arrow's 2 GiB.
LONGEST_LINE = 256 << 20
SHOWN_OF_LONG_LINE = 1000

NEWLINE, RETURN, SPACE, TAB = b"\n\r \t"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines as bytes, each with its end, back to back in one buffer; a newline always ends a line."""

    texts: pa.Array  # large_binary
    numbers: Numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def keep(self, mask: Mask) -> Lines:
        if mask.all():
            return self
        return Lines(self.texts.filter(pa.array(mask)), self.numbers[mask])

    def part(self, start: int, stop: int) -> Lines:
        return Lines(self.texts.slice(start, stop - start), self.numbers[start:stop])

    def offsets(self) -> Numbers:
        """Where each line begins in the buffer, and where the last one ends."""
        buffer = self.texts.buffers()[1]
        # Arrow may leave out the offsets of no lines at all.
        if not len(self):
            return np.zeros(1, np.int64)
        return np.frombuffer(buffer, np.int64)[self.texts.offset :][: len(self) + 1]

    def buffer(self) -> pa.Buffer:
        """All lines together, as a file would hold them."""
        offsets = self.offsets()
        whole = self.texts.buffers()[2]
        if whole is None:
            return pa.py_buffer(b"")
        return whole.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))

    def bytes(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self.buffer(), np.uint8)

    def holding(self, marks: Mask) -> Mask:
        """Which lines hold a marked byte; `marks` has one entry for each byte of the buffer."""
        offsets = self.offsets()
        if not len(self):
            return np.zeros(0, np.bool_)
        return np.maximum.reduceat(marks.view(np.uint8), offsets[:-1] - offsets[0]).astype(np.bool_)

    def raw(self, numbers: Numbers) -> list[str]:
        """The texts of the lines with these numbers, without their ends."""
        at = np.searchsorted(self.numbers, numbers)
        return [_shown(line) for line in self.texts.take(pa.array(at)).to_pylist()]


def read_lines(piece: Slice) -> Lines:
    """All lines of the slice."""
    with open(piece.path, "rb") as file:
        file.seek(piece.start)
        data = file.read(piece.stop - piece.start)
    if len(data) != piece.stop - piece.start:
        raise shorter(piece.file)
    return split(data, piece.first_row)


def split(data: bytes, first_row: int) -> Lines:
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE) + 1
    # The last line of a file may lack its newline.
    last = [] if not data or data.endswith(b"\n") else [len(data)]
    offsets = np.concatenate(([0], ends, last)).astype(np.int64)
    count = len(offsets) - 1
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    texts = pa.Array.from_buffers(pa.large_binary(), count, buffers)
    return Lines(texts, np.arange(first_row, first_row + count, dtype=np.int64))


def sound(lines: Lines, too_long: str, faults: Faults) -> Lines:
    """The lines that can be looked into: not blank, not endless (the reason is then `too_long`), in UTF-8."""
    lines = lines.keep(~is_blank(lines))
    is_long = np.diff(lines.offsets()) > LONGEST_LINE
    faults.add(lines.numbers[is_long], too_long, f"the line is longer than {LONGEST_LINE} bytes")
    lines = lines.keep(~is_long)
    is_broken = is_not_utf8(lines)
    faults.add(lines.numbers[is_broken], "bad_encoding", "the line is not UTF-8")
    return lines.keep(~is_broken)


def is_blank(lines: Lines) -> Mask:
    """Lines of nothing but white space."""
    mask = np.zeros(len(lines), np.bool_)
    if len(lines):
        firsts = lines.bytes()[lines.offsets()[:-1] - lines.offsets()[0]]
        maybe = np.flatnonzero(np.isin(firsts, (NEWLINE, RETURN, SPACE, TAB)))
        if len(maybe):
            mask[maybe] = pc.match_substring_regex(lines.texts.take(pa.array(maybe)), r"\A[ \t\r\n]*\z")
    return mask


def is_not_utf8(lines: Lines) -> Mask:
    mask = np.zeros(len(lines), np.bool_)
    try:
        # As one text: a newline never belongs to a longer character.
        whole = [None, pa.py_buffer(np.array([0, lines.buffer().size])), lines.buffer()]
        pa.Array.from_buffers(pa.large_binary(), 1, whole).cast(pa.large_string())
    except pa.ArrowInvalid:
        maybe = np.flatnonzero(lines.holding(lines.bytes() >= 0x80))
        mask[maybe] = [not _is_utf8(line) for line in lines.texts.take(pa.array(maybe)).to_pylist()]
    return mask


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(line: bytes) -> str:
    if len(line) > LONGEST_LINE:
        return line[:SHOWN_OF_LONG_LINE].decode("utf-8", "replace") + "…"
    return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
