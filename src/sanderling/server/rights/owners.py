"""Whose query is whose: on disk before the query is registered, so no restart gives it to anybody else."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from sanderling.state.sealed import named, write_atomically


class Owners:
    """By name of query, without regard to case; a query that nobody claimed is the operators'.

    Promise (tests/server/test_start.py): what was claimed is known after a restart, also if we are killed.
    """

    def __init__(self, path: Path):
        self._path, self._lock = path, threading.Lock()
        self._owners = _read(path)

    def of(self, name: str) -> str | None:
        return self._owners.get(name.casefold())

    def count(self, owner: str) -> int:
        with self._lock:
            return Counter(self._owners.values())[owner]

    def claim(self, names: Iterable[str], owner: str) -> None:
        self._note({name.casefold(): owner for name in names})

    def give(self, owners: dict[str, str | None]) -> None:
        """By name; None is nobody."""
        self._note({name.casefold(): owner for name, owner in owners.items()})

    def forget(self, names: Iterable[str]) -> None:
        """Nobody's any more."""
        self._note({name.casefold(): None for name in names})

    def keep_only(self, names: Collection[str]) -> None:
        """What is not there any more, or never came to be, is forgotten."""
        there = {name.casefold() for name in names}
        with self._lock:
            self._owners = {name: owner for name, owner in self._owners.items() if name in there}
            lines = (json.dumps([name, owner]) + "\n" for name, owner in self._owners.items())
            write_atomically(self._path, "".join(lines).encode())

    def _note(self, changes: dict[str, str | None]) -> None:
        if not changes:
            return
        with self._lock:
            text = "".join(json.dumps([name, owner]) + "\n" for name, owner in changes.items())
            with named(self._path), open(self._path, "ab", buffering=0) as file:
                file.write(text.encode())
                os.fsync(file.fileno())
            for name, owner in changes.items():
                if owner is None:
                    self._owners.pop(name, None)
                else:
                    self._owners[name] = owner


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    if not path.exists():
        return found
    whole, newline, _ = path.read_bytes().rpartition(b"\n")  # what is cut off was never said
    os.truncate(path, len(whole + newline))
    for line in whole.splitlines():
        name, owner = json.loads(line)
        if owner is None:
            found.pop(name, None)
        else:
            found[name] = owner
    return found
