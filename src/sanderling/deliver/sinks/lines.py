"""Files that grow batch by batch, and appear under their name only when they are complete."""

from __future__ import annotations

import heapq
import io
import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from sanderling.deliver.render import text_of
from sanderling.errors import StateError
from sanderling.state.sealed import named


class GrowingFiles:
    """One growing file of lines per stream, in a folder beside the file they will become.

    Promises (tests/recovery): after `cut_to` the files are as they were when those sizes were
    recorded; `sizes` and checksums are of what is safely on disk.
    """

    def __init__(self, folder: Path, streams: list[str]):
        self.folder = folder
        self.paths = {name: folder / f"{number}.jsonl" for number, name in enumerate(streams)}
        self.sums = dict.fromkeys(streams, 0)

    @classmethod
    def named(cls, paths: Mapping[str, Path]) -> GrowingFiles:
        """Files that grow under their own names."""
        files = cls(Path(), [])
        files.paths, files.sums = dict(paths), dict.fromkeys(paths, 0)
        return files

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.paths.values():
            path.touch()

    def cut_to(self, sizes: dict[str, int], sums: dict[str, int]) -> None:
        for name, path in self.paths.items():
            size = sizes.get(name, 0)
            if path.stat().st_size < size:  # truncating would fill it up with zeros
                raise self._lost("is gone")
            os.truncate(path, size)
            self.sums[name] = sums.get(name, 0)

    def check(self, sums: dict[str, int]) -> None:
        """That they are what was written, as far as they are there."""
        for name, path in self.paths.items():
            if path.exists() and sum_of(path) != sums.get(name, 0):
                raise self._lost("has changed")

    def _lost(self, how: str) -> StateError:
        return StateError(
            "state.output_gone", f"a part of {self.folder}, what this run had written, {how}",
            "use a new checkpoint",
        )  # fmt: skip

    def append(self, stream: str, lines: Iterable[pa.Array]) -> None:
        path = self.paths[stream]
        with named(path), open(path, "ab", buffering=0) as file:
            for piece in lines:
                text = text_of(piece)
                self.sums[stream] = zlib.crc32(text, self.sums[stream])
                write_all(file, text)
            os.fsync(file.fileno())

    def sizes(self) -> dict[str, int]:
        return {name: path.stat().st_size for name, path in self.paths.items()}

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def publish(self, target: Path, is_merged: bool) -> None:
        """Makes the files one, under its name; `is_merged`: by tick and query over all streams."""
        paths = list(self.paths.values())
        if len(paths) == 1:
            # Gone already where we were killed between this and the next line.
            if paths[0].exists():
                os.replace(paths[0], target)
        else:
            whole = self.folder / "whole.jsonl"
            if not all(p.exists() for p in paths):
                self.discard()  # published before, and killed while clearing up
                return
            with named(whole), open(whole, "w", encoding="utf-8", newline="\n") as out:
                if is_merged:
                    out.writelines(line for _, line in heapq.merge(*(_keyed(p) for p in paths)))
                else:
                    for path in paths:
                        with open(path, encoding="utf-8", newline="\n") as part:
                            shutil.copyfileobj(part, out)
                out.flush()
                os.fsync(out.fileno())
            os.replace(whole, target)
        self.discard()


def sum_of(path: Path) -> int:
    """The checksum of a whole file."""
    total = 0
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            total = zlib.crc32(chunk, total)
    return total


def write_all(file: io.FileIO, text: memoryview) -> None:
    """A single write may take less than all."""
    while len(text):
        text = text[file.write(text) :]


def _keyed(path: Path) -> Iterator[tuple[tuple[int, str, bytes], str]]:
    """Lines with what they are ordered by. Streams share no query, so ties are within one file."""
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            update = json.loads(line)
            yield (*_instant(update["tick"]), update["query"].encode()), line


def _instant(tick: str) -> tuple[int, str]:
    """Ordered as time is: without the Z a whole second is before its fractions; a long year is later."""
    return tick.index("-"), tick.removesuffix("Z")
