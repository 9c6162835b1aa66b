"""The versions of a plan, as files beside the checkpoint that every worker can read.

0.plan ── 1.growth ── 2.growth ── … ── 64.plan ── 65.growth ── …
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from sanderling.plans.growth import Growth, grown
from sanderling.plans.parts import for_shards
from sanderling.plans.plan import Plan, Template
from sanderling.spark.code import code_of, kind_in
from sanderling.state.plans import read_thing, write_thing
from sanderling.state.sealed import read, write, write_atomically

# A whole plan is written at every so manieth version: whoever needs one has no long way to it.
VERSIONS_PER_PLAN = 64
# The file that says whose run the folder is.
MARK = "mark"
PLAN, GROWTH, STATES = "plan", "growth", "states"


@dataclass(frozen=True, slots=True)
class PlanFolder:
    """Where the versions are; `mark` tells one run's from another's in the memory of a worker.

    Shards need no names and no texts of queries; where others need them, they `are_named`.
    """

    path: str
    mark: str
    are_named: bool = False

    @classmethod
    def in_(cls, folder: Path, are_named: bool = False) -> PlanFolder:
        folder.mkdir(parents=True, exist_ok=True)
        mark = uuid.uuid4().hex
        write_atomically(folder / MARK, mark.encode())
        return cls(str(folder.resolve()), mark, are_named)

    # ----- on the driver

    def keep(self, plan: Plan, growth: Growth | None = None) -> None:
        """Leaves a version for the workers: the plan itself, or how it grew."""
        if growth is None or plan.version % VERSIONS_PER_PLAN == 0:
            write_thing(self._path(plan.version, PLAN), PLAN, self._wanted(plan))
        else:
            growth = replace(growth, added=self._wanted(growth.added))
            write_thing(self._path(plan.version, GROWTH), GROWTH, growth)

    def keep_state(self, name: str, kind: type) -> None:
        """A state that the program brings: its code, for the workers. A later one of the name replaces it."""
        folder = Path(self.path) / STATES
        folder.mkdir(parents=True, exist_ok=True)
        write(self._state(name), STATES, code_of(kind))

    def _state(self, name: str) -> Path:
        return Path(self.path) / STATES / hashlib.blake2s(name.casefold().encode(), digest_size=8).hexdigest()

    def _wanted(self, plan: Plan) -> Plan:
        return plan if self.are_named else for_shards(plan)

    def _path(self, version: int, kind: str) -> Path:
        return Path(self.path) / f"{version}.{kind}"

    def end(self) -> None:
        """The run has ended, though its folder may stay."""
        (Path(self.path) / MARK).unlink(missing_ok=True)

    def forget_after(self, version: int) -> None:
        """A run that was killed may have left a version that was never announced: its number is free."""
        for path in Path(self.path).iterdir():
            if path.suffix in (".plan", ".growth") and int(path.stem) > version:
                path.unlink()

    # ----- in a worker

    def state(self, name: str) -> type[Any]:
        """The code of a state that the program brought."""
        return _kind(self, name)

    def is_over(self) -> bool:
        """Whether the run has ended, or another has begun in its folder."""
        try:
            return (Path(self.path) / MARK).read_bytes() != self.mark.encode()
        except OSError:
            return True

    def plan(self, version: int) -> Plan:
        return _plan(self, version)

    def followed(self, stream: str) -> pa.Array:
        """Keys of all focal objects that any version follows: a source may send too much, never too little.

        What was announced is on disk before it is announced, so the newest version is enough.
        """
        return _followed(self, stream, self.newest())

    def templates(self, version: int) -> dict[int, Template]:
        """All templates that there have been up to a version."""
        return _templates(self, version)

    def is_merged(self, version: int) -> bool:
        """Whether there has been anything for merge partitions up to a version: once there was, there may be
        more, though nobody asks any longer."""
        return _is_merged(self, version)

    def newest(self) -> int:
        return max(int(p.stem) for p in Path(self.path).iterdir() if p.suffix in (".plan", ".growth"))


@lru_cache(maxsize=8)
def _plan(folder: PlanFolder, version: int) -> Plan:
    whole = folder._path(version, PLAN)
    if whole.exists():
        return read_thing(whole, PLAN, Plan)
    growth = read_thing(folder._path(version, GROWTH), GROWTH, Growth)
    return grown(folder.plan(version - 1), growth)


@lru_cache(maxsize=64)
def _kind(folder: PlanFolder, name: str) -> type[Any]:
    return kind_in(read(folder._state(name), STATES).to_pybytes())


@lru_cache(maxsize=16)
def _followed(folder: PlanFolder, stream: str, version: int) -> pa.Array:
    """Those of the versions before, and those of this one."""
    kept = _kept_for(_FOLLOWED, (folder, stream))
    while kept.version < version:
        kept.version += 1
        plan = _added(folder, kept.version)
        mine: pa.Array = next(s.focals for s in plan.streams if s.stream.name == stream)
        if kept.value is None:
            kept.value = mine
        elif len(mine):
            kept.value = pa.concat_arrays([kept.value, mine]).unique()
    return kept.value


@lru_cache(maxsize=8)
def _templates(folder: PlanFolder, version: int) -> dict[int, Template]:
    kept = _kept_for(_TEMPLATES, folder)
    while kept.version < version:
        kept.version += 1
        kept.value = (kept.value or {}) | _added(folder, kept.version).templates()
    return kept.value or {}


@lru_cache(maxsize=8)
def _is_merged(folder: PlanFolder, version: int) -> bool:
    kept = _kept_for(_MERGED, folder)
    while kept.version < version and not kept.value:
        kept.version += 1
        kept.value = (_added(folder, kept.version) if kept.version else folder.plan(0)).is_merged
    return bool(kept.value)


@dataclass(slots=True)
class _Kept:
    """What has been gathered up to a version: the next one goes on from there."""

    version: int = -1
    value: Any = None


_FOLLOWED: dict[Hashable, _Kept] = {}
_TEMPLATES: dict[Hashable, _Kept] = {}
_MERGED: dict[Hashable, _Kept] = {}
KEPT = 8


def _kept_for(memory: dict[Hashable, _Kept], key: Hashable) -> _Kept:
    if key not in memory:
        while len(memory) >= KEPT:
            del memory[next(iter(memory))]
        memory[key] = _Kept()
    return memory[key]


def _added(folder: PlanFolder, version: int) -> Plan:
    """What a version has brought, or the whole of it."""
    growth = folder._path(version, GROWTH)
    if growth.exists():
        return read_thing(growth, GROWTH, Growth).added
    return read_thing(folder._path(version, PLAN), PLAN, Plan)
