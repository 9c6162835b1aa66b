"""Which files a path means, where to read them, and in what format they are."""

from __future__ import annotations

import contextlib
import glob
import gzip
import hashlib
import os
import stat
import tempfile
import uuid
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from sanderling.errors import ConfigError

STREAM_FORMATS = ("csv", "json", "parquet")
TABLE_FORMATS = (*STREAM_FORMATS, "geojson")

FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".geojson": "geojson",
}

COPY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file under the name its user would recognise, and where to read it."""

    name: str
    path: str


def find_files(path: str, data: Path | None = None) -> tuple[SourceFile, ...]:
    """The files of a file, a folder or a glob, sorted by name; all of them can be read.

    With a `data` folder, paths start from there, and nothing outside is looked at, by whatever way.
    """
    names = names_now(path, data)
    if not names:
        written = _written(path, data)
        raise ConfigError(
            "config.missing_file", f'no file is found at "{path}"', _missing_hint(written, data)
        )
    return tuple(readable(name, data) for name in names)


def names_now(path: str, data: Path | None = None) -> list[str]:
    """The names that a path means at this moment, which may be none."""
    written = _written(path, data)
    if data is not None:
        _refuse_outside(path, _fixed_part(written), data)
    names = _names(written)
    for name in names if data is not None else ():
        _refuse_outside(path, name, data)
    return names


def readable(name: str, data: Path | None) -> SourceFile:
    """With a `data` folder it is read by the place that was looked at: a link may lead elsewhere by then."""
    found = _readable(name)
    return found if data is None else replace(found, path=os.path.realpath(name))


def refuse_no_place(path: str, data: Path | None = None) -> None:
    """What may come at a path has to have a folder to come to."""
    written = _written(path, data)
    is_glob = glob.has_magic(written) and not os.path.lexists(written)
    folder = _fixed_part(written) if is_glob else os.path.dirname(written)
    if folder and not os.path.isdir(folder):
        raise ConfigError(
            "config.missing_file", f'there is no folder "{folder}"', _missing_hint(written, data)
        )


def _written(path: str, data: Path | None) -> str:
    written = os.path.expanduser(path)
    return written if data is None else os.path.join(os.path.realpath(data), written)


def place_to_write(path: str, data: Path | None) -> str:
    """Where something is to be written that a statement names; it does not lead out of `data`."""
    if data is None:
        return os.path.abspath(path)
    written = os.path.normpath(os.path.join(os.path.realpath(data), path))
    _refuse_outside(path, written, data)
    return written


def refuse_no_folder(data: Path | None) -> None:
    if data is not None and not data.is_dir():
        raise ConfigError(
            "config.bad_option", f'the data folder "{data}" is no folder', "name one that is there"
        )


def _fixed_part(path: str) -> str:
    """What stands before the first folder or name with a wildcard; a path that exists has none."""
    if not glob.has_magic(path) or os.path.lexists(path):
        return path
    parts = path.split(os.sep)
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return os.sep.join(parts[:first]) or (os.sep if first else "")


def _refuse_outside(path: str, place: str, data: Path | None) -> None:
    """Says the same whether something is there or not; links and `..` are followed first."""
    root = os.path.realpath(data or ".")
    try:
        is_inside = os.path.commonpath([root, os.path.realpath(place)]) == root
    except ValueError:  # a NUL in the path: nothing has such a name
        return
    if not is_inside:
        raise ConfigError(
            "config.outside_data", f'"{path}" leads out of the data folder',
            "paths start from the data folder, and stay in it",
        )  # fmt: skip


def _names(path: str) -> list[str]:
    try:
        if os.path.isdir(path):
            return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name[0] not in "._"]
        # A name that exists is itself, also when it looks like a glob.
        if os.path.lexists(path):
            return [path]
        return sorted(glob.glob(path, recursive=True))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except ValueError:  # a NUL in the path
        return []


def _missing_hint(path: str, data: Path | None) -> str:
    if data is not None:
        return "a relative path starts from the data folder"
    if os.path.isdir(path):
        return 'the folder holds no files; names that begin with "." or "_" are ignored'
    return f"a relative path starts from {os.getcwd()}"


def _readable(name: str) -> SourceFile:
    try:
        mode = os.stat(name).st_mode
        if stat.S_ISDIR(mode):
            raise _unreadable(
                name, "it is a folder", "folders inside are read by a glob, such as 'data/*/*.csv'"
            )
        # Opening a pipe would wait for its writer for ever.
        if not stat.S_ISREG(mode):
            raise _unreadable(name, "it is not a regular file")
        with open(name, "rb"):
            return SourceFile(name, os.path.abspath(name))
    except OSError as error:
        raise _unreadable(name, error.strerror or str(error)) from error


def _unreadable(name: str, why: str, hint: str = "") -> ConfigError:
    return ConfigError("config.unreadable_file", f'"{name}" cannot be read: {why}', hint)


def unpack(files: Iterable[SourceFile], folder: Path) -> tuple[SourceFile, ...]:
    """The same files, with `.gz` ones read from a copy in `folder`: gzip cannot be read from the middle."""
    return tuple(_unpacked(file, folder) if is_packed(file.path) else file for file in files)


@contextlib.contextmanager
def unpacking_in(folder: Path | None) -> Iterator[Path]:
    """A folder for copies of `.gz` files: the given one, or one that is gone when they have been read."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="sanderling-") as passing:
        yield Path(passing)


def is_packed(path: str) -> bool:
    return path.casefold().endswith(".gz")


def _unpacked(file: SourceFile, folder: Path) -> SourceFile:
    copy = folder / _copy_name(file)
    if not _is_whole(copy):
        half = folder / f".{copy.name}.{uuid.uuid4().hex}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            total = _decompress(file, half)
            # A kill before these lines leaves no copy, after them a whole one.
            os.replace(half, copy)
            _sum_path(copy).write_text(total)
        except OSError as error:
            raise ConfigError("config.cannot_unpack", f'"{file.name}" cannot be unpacked: {error}') from error
        finally:
            with contextlib.suppress(OSError):
                half.unlink()
    return SourceFile(file.name, str(copy.absolute()))


def _is_whole(copy: Path) -> bool:
    """Whether a run before this one has left a copy, and it is still what it was."""
    try:
        with open(copy, "rb") as plain, open(os.devnull, "wb") as nothing:
            return _sum_path(copy).read_bytes() == _copied(plain, nothing).encode()
    except OSError:
        return False


def _sum_path(copy: Path) -> Path:
    return copy.with_name(f".{copy.name}.sum")


def _copied(source: BinaryIO, target: BinaryIO) -> str:
    """Copies, and gives the checksum of what it was."""
    total = 0
    while chunk := source.read(COPY_BYTES):
        total = zlib.crc32(chunk, total)
        target.write(chunk)
    return f"{total:08x}"


def _copy_name(file: SourceFile) -> str:
    """Another name when the source has another place, size or time, so that an old copy is never used."""
    status = os.stat(file.path)
    place = hashlib.sha256(os.fsencode(file.path)).hexdigest()[:16]
    # Cut, so that the longest name a file system allows still has room for the prefix.
    return f"{place}-{status.st_size}-{status.st_mtime_ns}-{Path(file.path).name[:-3][-100:]}"


def _decompress(file: SourceFile, target: Path) -> str:
    """Gives the checksum of what it has unpacked."""
    try:
        # To Python an empty file is a good gzip of nothing; to its sender it is one cut off.
        if os.path.getsize(file.path) == 0:
            raise EOFError("it is empty")
        with gzip.open(file.path, "rb") as packed, open(target, "wb") as plain:
            return _copied(cast(BinaryIO, packed), plain)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ConfigError(
            "config.broken_gzip",
            f'"{file.name}" is not a whole gzip file: {error}',
            f'"gzip -t {file.name}" tells more; a download may have been cut off',
        ) from error


def format_of(
    path: str, declared: str | None, known: tuple[str, ...] = TABLE_FORMATS, data: Path | None = None
) -> str:
    """The declared format, or the one the path's name tells; for a folder, its files' names."""
    if declared is not None:
        return _known(declared.casefold(), known, f'"{declared}" is not a format')
    found = format_of_name(path)
    if found is None:
        formats = {format_of_name(file.name) for file in find_files(path, data)}
        found = formats.pop() if len(formats) == 1 else None
    return _known(found, known, f'the format of "{path}" cannot be told from its name')


def format_of_name(name: str) -> str | None:
    name = name[:-3] if is_packed(name) else name
    return FORMAT_OF_SUFFIX.get(os.path.splitext(name)[1].casefold())


def _known(format: str | None, known: tuple[str, ...], trouble: str) -> str:
    if format in known:
        return format
    hint = "say it with format = '…', one of " + ", ".join(known)
    raise ConfigError("config.unknown_format", trouble, hint)
