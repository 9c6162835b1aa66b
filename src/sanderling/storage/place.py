"""Where an archive is: in a folder, or at an address on an object store, s3://bucket/past/taxi.

Who has to say more of a store, keys and regions, says it in the environment, as its own tools have it
(AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, AZURE_STORAGE_ACCOUNT_NAME, GOOGLE_SERVICE_ACCOUNT, …).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa
from deltalake.exceptions import TableNotFoundError
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from sanderling.state.sealed import write_atomically

ON_DISK = "file://"
SCHEMES = ("file", "s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss")


@dataclass(frozen=True, slots=True)
class Store:
    """A place on an object store: `path` below the archive's own address, as a Path is below a folder."""

    root: str
    path: str = ""

    def __truediv__(self, name: str) -> Store:
        return Store(self.root, f"{self.path}/{name}" if self.path else name)

    def __str__(self) -> str:
        return f"{self.root}/{self.path}" if self.path else self.root

    @property
    def files(self) -> fs.FileSystem:
        return _files(self.root)


Place: TypeAlias = Path | Store


class _Written:
    """What Arrow writes in buffers of its own, the store's files take as bytes."""

    def __init__(self, raw: Any):
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def write(self, data: Any) -> int:
        return int(self._raw.write(bytes(memoryview(data))))


class _Handler(DeltaStorageHandler):
    def open_output_stream(self, path: str, metadata: dict[str, str] | None = None) -> pa.PythonFile:
        return pa.PythonFile(_Written(self._handler.open_output_stream(path, metadata)))


@cache
def _files(root: str) -> fs.FileSystem:
    return fs.PyFileSystem(_Handler(root))


def is_address(text: str) -> bool:
    """Whether somebody means an object store."""
    return "://" in text


def has_known_scheme(address: str) -> bool:
    return address.partition("://")[0].casefold() in SCHEMES


def place_of(text: str | Path) -> Place:
    return Store(str(text).rstrip("/")) if is_address(str(text)) else Path(text)


def make(place: Place) -> None:
    """A folder, so that there can be files in it. A store has none, but one that is a disk."""
    if isinstance(place, Path):
        place.mkdir(parents=True, exist_ok=True)
    elif str(place).startswith(ON_DISK):
        Path(str(place).removeprefix(ON_DISK)).mkdir(parents=True, exist_ok=True)


def exists(place: Place) -> bool:
    """Of a file."""
    if isinstance(place, Path):
        return place.exists()
    try:
        (found,) = place.files.get_file_info([place.path])
    except TableNotFoundError:
        return False
    return bool(found.type == fs.FileType.File)


def read_whole(place: Place) -> bytes:
    """Raises FileNotFoundError, where it is not there."""
    if isinstance(place, Path):
        return place.read_bytes()
    if not exists(place):
        raise FileNotFoundError(str(place))
    with place.files.open_input_file(place.path) as file:
        return bytes(file.read())


def write_whole(place: Place, data: bytes) -> None:
    """In the place of what is there; nobody ever sees half of it."""
    if isinstance(place, Path):
        write_atomically(place, data)
        return
    with place.files.open_output_stream(place.path) as file:
        file.write(data)


@contextmanager
def opened(place: Place) -> Iterator[Path | pa.NativeFile]:
    """To be read anywhere."""
    if isinstance(place, Path):
        yield place
        return
    with place.files.open_input_file(place.path) as file:
        yield file


@contextmanager
def written(place: Place) -> Iterator[BinaryIO | pa.NativeFile]:
    """To be written from the beginning to the end; safe when it is left."""
    if isinstance(place, Path):
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        return
    with place.files.open_output_stream(place.path) as stream:
        yield stream


def bytes_of(place: Place) -> int:
    """How many a file has."""
    if isinstance(place, Path):
        return place.stat().st_size
    (found,) = place.files.get_file_info([place.path])
    return int(found.size)
