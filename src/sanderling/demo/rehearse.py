"""The demo's queries, and some more, over a few steps of its city, without Spark: kernels are compiled.

traffic ─► a step's file ─► reader ─► shards ─► merge partitions ─► scene

What is compiled stays on disk. `make setup` runs this, in one process; Spark's workers would all compile
the same at once, while somebody waits for the first tick.

python -m sanderling.demo.rehearse
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from sanderling.batches import Batch
from sanderling.demo.run import SHARDS, demo_plan, demo_settings
from sanderling.demo.scene import Scene
from sanderling.pipeline import Engine
from sanderling.plan.planner import Planner
from sanderling.plans.parts import for_shards, for_source
from sanderling.plans.plan import Plan
from sanderling.route.pack import pack
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.steps import write_step
from sanderling.simulate.traffic import Traffic
from sanderling.state import saved

# As few as do: every query has some of the objects, buses meet, and a window of ten seconds loses readings.
OBJECTS, STEPS, SEED = 2000, 14, 7


def rehearse() -> Scene:
    """What the demo has told by then; the kernels are compiled, also those that only a plane has."""
    planner = Planner()
    planner.run_script((files("sanderling.demo") / "plane.sql").read_text())
    settings = demo_settings(OBJECTS, SEED)
    _told(Scene(planner.plan()), replace(settings, at=None))
    return _told(Scene(demo_plan("rehearsal.sql")), settings)


def _told(scene: Scene, settings: TrafficSettings) -> Scene:
    engine = new_engine(scene.plan)
    with tempfile.TemporaryDirectory(prefix="sanderling-rehearsal-") as folder:
        for step, batches in enumerate(_steps(scene.plan, settings, Path(folder))):
            scene.deliver(step, engine.advance(batches))
            if step == STEPS // 2:
                engine = restored(engine, scene.plan)
    return scene


def restored(engine: Engine, plan: Plan) -> Engine:
    """Another, from what this one saves."""
    new = new_engine(plan)
    for part, other in zip(engine.parts, new.parts, strict=True):
        saved.restore(other, saved.snapshot(part), [])
    return new


def new_engine(plan: Plan) -> Engine:
    slim = for_shards(plan)
    return Engine.of(slim, SHARDS, SHARDS, {plan.version: slim}.__getitem__)


def _steps(plan: Plan, settings: TrafficSettings, folder: Path) -> Iterator[list[list[Batch]]]:
    """Of each step, what the source has for each shard."""
    from sanderling.spark.sources.simulator import Steps
    from sanderling.spark.sources.source import Packing

    stream = for_source(plan.streams[0])
    steps = Steps(Packing(stream, tuple(range(SHARDS)), None), str(folder))
    traffic = Traffic(make_city(SEED).centred(), settings)
    for step in range(STEPS):
        write_step(folder, step, traffic.step())
        found: list[list[Batch]] = [[] for _ in range(SHARDS)]
        some = range(step, step + 1)
        for shard, batch in pack(stream, steps.slice(some), steps.ingested(some), SHARDS):
            found[shard].append(batch)
        yield found


if __name__ == "__main__":
    rehearse()
