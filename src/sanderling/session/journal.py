"""What a session was told, call by call, on disk: after a restart it is told the same again.

A program that starts again says again what it said; what the journal knows already is not done twice.

journal.jsonl        8f12ab03 {"kind": "said", …}    a line a call, with its checksum
journal.jsonl.end    how many lines there are: one that was cut off behind its end tells less, but looks whole
"""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from sanderling.deliver.sinks.lines import write_all
from sanderling.state.sealed import broken, named, other_format, read_json, write_json

SAID, STARTED, STATE = "said", "started", "state"
KIND = "journal"


@dataclass(frozen=True, slots=True)
class Line:
    """A call: what was said, and a digest of what it came to, since files are read again."""

    kind: str
    text: str = ""
    digest: str = ""


class Journal:
    """Lines in order; a line that is cut off was never said."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = _read(path)
        self._known = Counter(line.text for line in self.lines if line.kind == SAID)

    @property
    def is_new(self) -> bool:
        return not self.lines

    def is_known(self, text: str) -> bool:
        """Whether this was said before the restart; each time counts once."""
        if self._known[text] > 0:
            self._known[text] -= 1
            return True
        return False

    def forget_known(self) -> None:
        """From now on whatever is said is new."""
        self._known.clear()

    def append(self, line: Line) -> None:
        """Safely on disk when this returns."""
        text = json.dumps(asdict(line)).encode()
        with named(self.path), open(self.path, "ab", buffering=0) as file:
            before = file.tell()
            try:
                write_all(file, memoryview(b"%08x %s\n" % (zlib.crc32(text), text)))
                os.fsync(file.fileno())
                write_json(_end(self.path), KIND, len(self.lines) + 1)
            except OSError:
                file.truncate(before)  # no room: the next line is not to stand behind a half one
                raise
        self.lines.append(line)


def _read(path: Path) -> list[Line]:
    if not path.exists():
        return _whole(path, [])
    whole, newline, rest = path.read_bytes().rpartition(b"\n")
    lines = _whole(path, [_line(path, line) for line in whole.split(b"\n") if line])
    if rest:  # killed while writing
        os.truncate(path, len(whole + newline))
    return lines


def _line(path: Path, text: bytes) -> Line:
    total, _, said = text.partition(b" ")
    try:
        if text.startswith(b"{") and json.loads(text).keys() == {"kind", "text", "digest"}:
            raise other_format("7 or older")  # there were no sums
        if total != b"%08x" % zlib.crc32(said):
            raise ValueError("the checksum of a line does not fit: a byte has changed")
        return Line(**json.loads(said))
    except (ValueError, TypeError) as e:
        raise broken(str(path), str(e)) from e


def _whole(path: Path, lines: list[Line]) -> list[Line]:
    """Killed between a line and its number, we have one more; never less."""
    number = read_json(_end(path), KIND) if _end(path).exists() else 0
    if number not in (len(lines), len(lines) - 1):
        raise broken(str(path), f"it has {len(lines)} lines, not {number}")
    if number < len(lines):
        write_json(_end(path), KIND, len(lines))
    return lines


def _end(path: Path) -> Path:
    return path.with_name(path.name + ".end")
