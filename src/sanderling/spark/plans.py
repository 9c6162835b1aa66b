"""The versions of a plan, as files beside the checkpoint that every worker can read.

0.plan ── 1.growth ── 2.growth ── … ── 64.plan ── 65.growth ── …
"""

from __future__ import annotations

import pickle
import uuid
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from sanderling.deliver.ledger import write_atomically
from sanderling.pipeline import for_shards
from sanderling.plan.growth import Growth, grown
from sanderling.plan.plans import Plan

# A whole plan is written at every so manieth version: whoever needs one has no long way to it.
VERSIONS_PER_PLAN = 64


@dataclass(frozen=True, slots=True)
class PlanFolder:
    """Where the versions are; `mark` tells one run's from another's in the memory of a worker."""

    path: str
    mark: str

    @classmethod
    def in_(cls, folder: Path) -> PlanFolder:
        folder.mkdir(parents=True, exist_ok=True)
        return cls(str(folder.resolve()), uuid.uuid4().hex)

    # ----- on the driver

    def keep(self, plan: Plan, growth: Growth | None = None, is_whole: bool = False) -> None:
        """Leaves a version for the workers; without its growth, or if it `is_whole`, the plan itself.

        They need no names and no texts of queries.
        """
        if growth is None or is_whole or plan.version % VERSIONS_PER_PLAN == 0:
            self._write(f"{plan.version}.plan", for_shards(plan))
        else:
            self._write(f"{plan.version}.growth", replace(growth, added=for_shards(growth.added)))

    def _write(self, name: str, thing: Plan | Growth) -> None:
        write_atomically(Path(self.path) / name, pickle.dumps(thing))

    # ----- in a worker

    def plan(self, version: int) -> Plan:
        return _plan(self, version)

    def followed(self, stream: str) -> pa.Array | None:
        """Keys of all focal objects that any version follows: a source may send too much, never too little.

        What was announced is on disk before it is announced, so the newest version is enough.
        """
        versions = sorted(int(p.stem) for p in Path(self.path).iterdir() if p.suffix in (".plan", ".growth"))
        return _followed(self, stream, versions[-1]) if versions else None


@lru_cache(maxsize=8)
def _plan(folder: PlanFolder, version: int) -> Plan:
    whole = Path(folder.path) / f"{version}.plan"
    if whole.exists():
        plan = _read(whole)
        assert isinstance(plan, Plan)
        return plan
    return grown(folder.plan(version - 1), _read(whole.with_suffix(".growth")))


@lru_cache(maxsize=8)
def _followed(folder: PlanFolder, stream: str, version: int) -> pa.Array:
    """Those of the version before, and those of this one."""
    path = Path(folder.path)
    growth, whole = path / f"{version}.growth", path / f"{version}.plan"
    plan = _read(growth).added if growth.exists() else _read(whole)
    mine: pa.Array = next(s.focals for s in plan.streams if s.stream.name == stream)
    is_first = not any((path / f"{version - 1}{kind}").exists() for kind in (".plan", ".growth"))
    if is_first:
        return mine
    before = _followed(folder, stream, version - 1)
    return before if not len(mine) else pa.concat_arrays([before, mine]).unique()


def _read(path: Path) -> Any:
    return pickle.loads(path.read_bytes())
