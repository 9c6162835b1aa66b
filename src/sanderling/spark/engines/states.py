"""The states of an engine, a file a batch, where every machine of a run can read and write.

states/shard-0/17         after batch 17: what changed since the state before it, and which that is
states/shard-0/17.whole   all of it, now and then

Spark calls a batch done when all of its files are there, and takes it again if it was not: then they are
written again. So a state counts for the batches after its own, and for no other.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sanderling.spark.engines.turns import Blob
from sanderling.state.sealed import NOT_OURS, broken, read, write

# A keeper that missed a few turns, which another machine took, catches up; one further back is of no use.
STATES_KNOWN = 8
# A whole state is written when the deltas since the last one are so many times larger, or so many.
DELTAS_PER_WHOLE = 4
MOST_DELTAS = 1000
DELTA, WHOLE = "delta", "whole"
NONE = -1


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a state beside the state itself."""

    batch: int = NONE
    before: int = NONE  # the batch of the state that its delta begins with
    whole: int = NONE  # the last batch with a whole state
    whole_bytes: int = 0
    deltas: int = 0  # since then
    delta_bytes: int = 0
    tags: list[tuple[int, str]] = field(default_factory=list)  # of this state and the last before it


class States:
    """Of one engine.

    Promises (tests/spark/test_states.py):
      repeatable  a batch that is taken again begins with the state before it, whatever it left
      complete    a state that is gone is told, not passed over
      bounded     what no batch can need any more is removed
    """

    def __init__(self, folder: Path, least_whole_bytes: int, since: int = 0):
        """`since`: the first batch that it took part in."""
        self.folder, self.since = folder, since
        self.least_whole_bytes = least_whole_bytes

    def before(self, batch: int) -> Head:
        """What a batch begins with: the state of the one before."""
        return self._read(batch - 1)[0] if batch > self.since else Head()

    def room_after(self, head: Head) -> int:
        """The bytes that the next delta may have before a whole state takes the place of all."""
        most = max(self.least_whole_bytes, DELTAS_PER_WHOLE * head.whole_bytes)
        return most - head.delta_bytes if head.deltas < MOST_DELTAS else 0

    def leading_to(self, head: Head) -> tuple[bytes | None, list[bytes]]:
        """What a state is restored from: a whole one, and the deltas since."""
        whole = None if head.whole == NONE else read(self._whole(head.whole), WHOLE).to_pybytes()
        return whole, self.deltas(head, head.deltas)

    def deltas(self, head: Head, count: int) -> list[bytes]:
        """The last so many, in order."""
        found: list[bytes] = []
        number = head.batch
        while len(found) < count:
            known, delta = self._read(number)
            found += [delta] if delta else []
            number = known.before
        return found[::-1]

    def save(self, head: Head, batch: int, tag: str, delta: Blob, whole: Blob | None) -> None:
        """The state that a turn led to from that of `head`."""
        tags = [*head.tags[1 - STATES_KNOWN :], (batch, tag)]
        if whole is None:
            new = replace(head, deltas=head.deltas + 1, delta_bytes=head.delta_bytes + len(delta))
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            write(self._whole(batch), WHOLE, whole)
            new = Head(whole=batch, whole_bytes=len(whole))
        self._write(head, replace(new, batch=batch, before=head.batch, tags=tags), delta)

    def stay(self, head: Head, batch: int) -> None:
        """A batch had nothing for this engine."""
        self._write(head, replace(head, batch=batch, before=head.batch), b"")

    def _write(self, before: Head, head: Head, delta: Blob) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        said = json.dumps(asdict(head)).encode()
        write(self._path(head.batch), DELTA, b"".join([struct.pack("<I", len(said)), said, delta]))
        if before.whole == before.batch != NONE:
            self._forget(min(before.whole, before.tags[0][0]))

    def _forget(self, end: int) -> None:
        """States that nothing begins with any more."""
        for path in self.folder.iterdir():
            number = path.name.removesuffix(f".{WHOLE}")
            if number.isdigit() and int(number) < end:
                path.unlink(missing_ok=True)

    def _read(self, batch: int) -> tuple[Head, bytes]:
        path = self._path(batch)
        body = memoryview(read(path, DELTA))
        try:
            (length,) = struct.unpack_from("<I", body)
            said = json.loads(bytes(body[4 : 4 + length]))
            tags = [(int(n), str(tag)) for n, tag in said.pop("tags")]
            return Head(**said, tags=tags), bytes(body[4 + length :])
        except NOT_OURS as e:
            raise broken(str(path), str(e)) from e

    def _path(self, batch: int) -> Path:
        return self.folder / str(batch)

    def _whole(self, batch: int) -> Path:
        return self.folder / f"{batch}.{WHOLE}"
