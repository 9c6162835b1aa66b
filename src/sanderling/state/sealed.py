"""Files of a checkpoint: a line that says what is in them, with a checksum, then data.

sanderling 12 plan 1c291ca3 9579    what it is, its format, the sum and the length of what follows
{…}                                 JSON, Arrow, or both: never anything that runs when it is read

So a file that was cut off, changed, put in another's place or written by another version is refused
before anybody reads it. The sum tells damage, not intent: whoever may write here may change answers.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from sanderling.errors import StateError

# Of all that a checkpoint holds.
FORMAT = 19
MAGIC = b"sanderling"
# The line is filled up with spaces to so many bytes: what follows is aligned as Arrow likes it.
HEAD_BYTES = 64

# In a folder with a file of this name nothing outlives whoever made it.
PASSING = ".passing"

# What reading bytes can end in that were not written by us.
NOT_OURS = (
    ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, StopIteration, OSError,
    struct.error, pa.ArrowException,
)  # fmt: skip

Data: TypeAlias = "bytes | memoryview | pa.Buffer"


def head_of(kind: str, pieces: Sequence[Data]) -> bytes:
    """The line before the data."""
    total = 0
    for piece in pieces:
        total = zlib.crc32(piece, total)
    said = f"{MAGIC.decode()} {FORMAT} {kind} {total:08x} {sum(memoryview(p).nbytes for p in pieces)}"
    return said.ljust(HEAD_BYTES - 1).encode() + b"\n"


def sealed(kind: str, pieces: Sequence[Data]) -> bytes:
    """Both together."""
    return b"".join([head_of(kind, pieces), *pieces])


def opened(data: Data, kind: str, name: str) -> pa.Buffer:
    """The data of something sealed, as it was written; `name` is what an error calls it."""
    buffer = pa.py_buffer(data)
    said = buffer.slice(0, HEAD_BYTES).to_pybytes().split() if buffer.size >= HEAD_BYTES else []
    if len(said) != 5 or said[0] != MAGIC:
        raise broken(name, "it does not begin as a file of a checkpoint does")
    if said[1] != str(FORMAT).encode():
        raise other_format(said[1].decode(errors="replace"))
    body = buffer.slice(HEAD_BYTES)
    if head_of(kind, [body]) != buffer.slice(0, HEAD_BYTES).to_pybytes():
        raise broken(name, _difference(said, kind, body))
    return body


def _difference(said: list[bytes], kind: str, body: pa.Buffer) -> str:
    if said[2] != kind.encode():
        return f"it is another kind of file, not a {kind}"
    if said[4] != str(body.size).encode():
        return "it has been cut off, or has grown"
    return "its checksum does not fit: a byte has changed"


def write(path: Path, kind: str, body: Data) -> None:
    """All of it is in the file, or none of it, whenever we are killed."""
    write_atomically(path, head_of(kind, [body]), body)


def read(path: Path, kind: str) -> pa.Buffer:
    """What was written, or an error that names the file."""
    try:
        if os.path.getsize(path) < HEAD_BYTES:
            raise broken(str(path), "it has been cut off")
        with pa.memory_map(str(path)) as file:
            return opened(file.read_buffer(), kind, str(path))
    except OSError as e:
        raise broken(str(path), e.strerror or str(e)) from e


def write_json(path: Path, kind: str, thing: Any) -> None:
    write(path, kind, json.dumps(thing).encode() + b"\n")


def read_json(path: Path, kind: str) -> Any:
    try:
        return json.loads(read(path, kind).to_pybytes())
    except (ValueError, RecursionError) as e:
        raise broken(str(path), str(e)) from e


@lru_cache(maxsize=256)
def is_passing(folder: Path) -> bool:
    """Whether it is gone when we are: then nothing has to be safe from what stops the machine.

    To wait until a file is on the disk takes some milliseconds, several times a batch.
    """
    return any((place / PASSING).exists() for place in (folder, *folder.parents))


def write_atomically(path: Path, *pieces: Data) -> None:
    """All pieces are in the file, or none of them, whenever we are killed, or the machine is stopped."""
    temporary = path.with_name(path.name + ".new")
    try:
        with named(path), open(temporary, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            if not is_passing(path.parent):
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()  # where there is no room, it is not to take more of it
        raise


@contextmanager
def named(path: Path) -> Iterator[None]:
    """What goes wrong inside says of which file: a write that finds no room does not know."""
    try:
        yield
    except OSError as e:
        e.filename = e.filename or str(path)
        raise


def broken(name: str, why: str) -> StateError:
    return StateError("state.broken_ledger", f"{name} cannot be read: {why}", "use a new checkpoint")


def other_format(found: object) -> StateError:
    return StateError(
        "state.other_format", f"the checkpoint was written in format {found}, this version reads {FORMAT}",
        "go on with the version that wrote it, or start with a new checkpoint",
    )  # fmt: skip
