"""The demo's queries over a few steps of its city, without Spark, so that its kernels are compiled.

traffic ─► a step's file ─► reader ─► shards ─► merge partitions ─► scene

What is compiled stays on disk. `make setup` runs this, in one process; Spark's workers would all compile
the same at once, while somebody waits for the first tick.

python -m sanderling.demo.rehearse
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from sanderling.demo.run import SHARDS, demo_plan, demo_settings
from sanderling.demo.scene import Scene
from sanderling.merge.partition import Merge, merge_of, needs_merge
from sanderling.operate.shard import Shard
from sanderling.pipeline import for_shards, for_source, shard_schemas
from sanderling.plans.plan import Plan
from sanderling.route.by_space import tracts_of
from sanderling.route.parcels import Parcel
from sanderling.simulate.city import make_city
from sanderling.simulate.steps import write_step
from sanderling.simulate.traffic import Traffic
from sanderling.state import merged, saved

# As few as do: every query has some of the objects, buses meet, and a window of ten seconds loses readings.
OBJECTS, STEPS, SEED = 2000, 14, 7


def rehearse() -> Scene:
    """What the demo has told by then; its kernels are compiled."""
    scene = Scene(demo_plan())
    engines = Engines(scene.plan)
    with tempfile.TemporaryDirectory(prefix="sanderling-rehearsal-") as folder:
        for step, parcels in enumerate(_steps(scene.plan, Path(folder))):
            scene.take(engines.advance(parcels))
            if step == STEPS // 2:
                engines = engines.restored()
    return scene


class Engines:
    """Shards and merge partitions, as Spark's workers have them."""

    def __init__(self, plan: Plan):
        self.plan, slim = plan, for_shards(plan)
        versions = {plan.version: slim}
        self.shards = [Shard(slim, n, shard_schemas(slim), versions.__getitem__) for n in range(SHARDS)]
        self.merges = [Merge(slim, n, versions.__getitem__, SHARDS) for n in range(SHARDS)]

    def advance(self, parcels: list[list[Parcel]]) -> list[Parcel]:
        templates, tracts = self.plan.templates(), tracts_of(self.plan)
        said = [p for shard, mine in zip(self.shards, parcels, strict=True) for p in shard.advance(mine)]
        to_merge: list[list[Parcel]] = [[] for _ in self.merges]
        for parcel in (p for p in said if needs_merge(templates, p)):
            for number, part in merge_of(parcel, SHARDS, tracts):
                to_merge[number].append(part)
        done = [p for merge, mine in zip(self.merges, to_merge, strict=True) for p in merge.advance(mine)]
        return [p for p in said if not needs_merge(templates, p)] + done

    def restored(self) -> Engines:
        """Others, from what these save."""
        new = Engines(self.plan)
        for shard, other in zip(self.shards, new.shards, strict=True):
            saved.restore(other, saved.snapshot(shard), [])
        for merge, another in zip(self.merges, new.merges, strict=True):
            merged.restore(another, merged.snapshot(merge), [])
        return new


def _steps(plan: Plan, folder: Path) -> Iterator[list[list[Parcel]]]:
    """Of each step, what the source has for each shard."""
    from sanderling.spark.sources.live import LiveReader, LiveSpec

    reader = LiveReader(LiveSpec(for_source(plan.streams[0]), folder, tuple(range(SHARDS))))
    traffic = Traffic(make_city(SEED).centred(), demo_settings(OBJECTS, SEED))
    for step in range(STEPS):
        write_step(folder, step, traffic.step())
        found: list[list[Parcel]] = [[] for _ in range(SHARDS)]
        for shard, parcel in reader.parcels(range(step, step + 1)):
            found[shard].append(parcel)
        yield found


if __name__ == "__main__":
    rehearse()
