"""Traffic on a network, step by step: who appears, drives, reports, arrives and is gone.

  ┌───────────── next step ─────────────┐
  ▼                                     │
drive ──► arrived? ──► gone ──► left out ┘
  new objects ──► report: id, ts, x, y (or lon, lat), speed, heading, type, gone
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import F64, I64
from sanderling.kernels.drive import drive, look, pick_goals
from sanderling.simulate.globe import on_globe
from sanderling.simulate.network import LIMIT_MPS, Network
from sanderling.simulate.routes import Arcs, draw_goals, next_arcs
from sanderling.simulate.settings import TrafficSettings

KINDS = ("car", "truck", "bus", "bike")
CAR, TRUCK, BUS, BIKE = range(4)
TOP_MPS = np.array([38.0, 22.0, 16.0, 6.0])
# What an object is follows from its number, so that a script can name a bus. Of twenty:
KIND_BY_NUMBER = np.array([BUS] + [CAR, BIKE, CAR, TRUCK, CAR, BIKE, CAR, CAR, BIKE] * 2 + [CAR], np.int8)

# How many objects stand on a metre of road when nothing moves any more: lanes, and 8 m for each object.
JAM_PER_M = np.array([3, 2, 2, 1, 1, 1, 1]) / 8
# On short roads too there is room for some, and even in a jam something moves.
LEAST_ROOM = 3.0
CRAWL = 0.1

# How long the first objects have been on their way, at most.
HEAD_START_S = 900.0


KIND_NAMES = pa.array(KINDS)
SCHEMA = pa.schema(
    [("id", pa.int64()), ("ts", pa.timestamp("us")), ("x", pa.float64()), ("y", pa.float64()),
     ("speed", pa.float64()), ("heading", pa.float64()), ("type", pa.dictionary(pa.int8(), pa.string())),
     ("gone", pa.bool_())]
)  # fmt: skip
# On the globe a reading says where it is in degrees.
ON_GLOBE = pa.schema([f.with_name({"x": "lon", "y": "lat"}.get(f.name, f.name)) for f in SCHEMA])


@dataclass(slots=True)
class Objects:
    """Who is there: a row each."""

    object_id: I64
    kind: npt.NDArray[np.int8]
    stays: npt.NDArray[np.bool_]
    arc: npt.NDArray[np.int32]
    at_m: F64
    goal: npt.NDArray[np.int32]
    trip: npt.NDArray[np.int32]

    def keep(self, is_kept: npt.NDArray[np.bool_]) -> Objects:
        return Objects(*(getattr(self, f.name)[is_kept] for f in fields(self)))

    def with_more(self, more: Objects) -> Objects:
        return Objects(
            *(np.concatenate([getattr(self, f.name), getattr(more, f.name)]) for f in fields(self))
        )


@dataclass(slots=True)
class Traffic:
    """A network in motion. Each `step()` gives the readings of one moment.

    Promises (tests/simulate/test_traffic.py):
      seeded    the same network and settings give the same readings
      on roads  without noise every reading lies on an edge
      gone      an object that arrives says so once, at its goal, and is not heard of again
      globe     a town on the globe has the same traffic: the place of each reading is only said otherwise
    """

    network: Network
    settings: TrafficSettings
    steps: int = 0
    appeared: int = 0
    arcs: Arcs = field(init=False)
    goal_node: I64 = field(init=False)
    next_arc: npt.NDArray[np.int32] = field(init=False)
    room: F64 = field(init=False)
    limit_mps: F64 = field(init=False)  # of each arc, as crowded as it is now
    there: Objects = field(init=False)
    chance: np.random.Generator = field(init=False)
    report_chance: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        seed = self.settings.seed
        self.network = self.network.largest_part()
        self.arcs = Arcs.of(self.network)
        # Of its own: how objects report does not change how they drive.
        self.chance, self.report_chance = (np.random.default_rng([seed, n]) for n in (2, 3))
        n_nodes = len(self.network.x)
        self.goal_node = draw_goals(n_nodes, len(KINDS), self.chance)
        ways = [next_arcs(self.arcs, n_nodes, self.goal_node, top) for top in TOP_MPS]
        self.next_arc = np.stack(ways)
        self.room = np.maximum(LEAST_ROOM, self.arcs.length_m * JAM_PER_M[self.arcs.arc_class])
        self.limit_mps = LIMIT_MPS[self.arcs.arc_class]
        self.there = self._at_first()
        self.limit_mps = self._limits()

    @property
    def schema(self) -> pa.Schema:
        """The columns of a reading."""
        return SCHEMA if self.settings.at is None else ON_GLOBE

    @property
    def alive(self) -> int:
        """How many are on their way."""
        return len(self.there.object_id)

    def step(self) -> pa.Table:
        """Everybody's readings at the next moment; the first are from before anybody has moved."""
        settings, everybody = self.settings, self.there
        is_gone = np.zeros(self.alive, np.bool_)
        if self.steps:
            is_gone = self._drive(everybody, np.full(self.alive, settings.step_us / 1e6))
            new = self._new(settings.new)
            everybody = everybody.with_more(new)
            is_gone = np.concatenate([is_gone, np.zeros(len(new.arc), np.bool_)])
            self.there = everybody.keep(~is_gone)
            self.limit_mps = self._limits()
        readings = self._report(everybody, is_gone)
        self.steps += 1
        return readings

    def _at_first(self) -> Objects:
        """Everybody is somewhere on the way already."""
        objects = self._new(self.settings.objects)
        stays = objects.stays
        objects.stays = np.ones(len(stays), np.bool_)
        self._drive(objects, self.chance.random(len(stays)) * HEAD_START_S)
        objects.stays = stays
        return objects

    def _drive(self, objects: Objects, time_s: F64) -> npt.NDArray[np.bool_]:
        arcs = self.arcs
        return drive(
            objects.object_id, objects.kind, objects.stays, objects.arc, objects.at_m, objects.goal,
            objects.trip, arcs.head, arcs.length_m, self.limit_mps, TOP_MPS, self.goal_node, self.next_arc,
            time_s, self.settings.seed,
        )  # fmt: skip

    def _limits(self) -> F64:
        """What may be driven on each arc, as crowded as it is now."""
        others = np.maximum(np.bincount(self.there.arc, minlength=len(self.arcs)) - 1, 0)
        return np.asarray(LIMIT_MPS[self.arcs.arc_class] * np.maximum(CRAWL, 1 - others / self.room))

    def _new(self, count: int) -> Objects:
        """Objects somewhere on a road, each with a goal; buses are there from the beginning."""
        object_id = np.arange(self.appeared, self.appeared + count)
        kind = KIND_BY_NUMBER[object_id % len(KIND_BY_NUMBER)]
        if self.steps:
            kind[kind == BUS] = CAR
        start = self.chance.integers(0, len(self.network.x), count)
        goal = pick_goals(self.settings.seed, object_id, start, self.goal_node)
        arc = self.next_arc[kind, goal, start]
        at_m = self.chance.random(count) * self.arcs.length_m[arc]
        stays = (kind == BUS) | self.settings.keeps_going
        self.appeared += count
        return Objects(object_id, kind, stays, arc, at_m, goal, np.zeros(count, np.int32))

    def _report(self, objects: Objects, is_gone: npt.NDArray[np.bool_]) -> pa.Table:
        settings, arcs, network = self.settings, self.arcs, self.network
        if settings.skip:
            is_heard = (self.report_chance.random(len(is_gone)) >= settings.skip) | is_gone
            objects, is_gone = objects.keep(is_heard), is_gone[is_heard]
        x, y, speed, heading = look(
            objects.kind, objects.arc, objects.at_m, network.x, network.y, arcs.tail, arcs.head,
            arcs.length_m, arcs.heading, self.limit_mps, TOP_MPS,
        )  # fmt: skip
        if settings.noise_m:
            x += self.report_chance.normal(0, settings.noise_m, len(x))
            y += self.report_chance.normal(0, settings.noise_m, len(y))
        if settings.at is not None:
            x, y = on_globe(x, y, settings.at)
        ts = np.full(len(x), settings.start_us + self.steps * settings.step_us)
        kinds = pa.DictionaryArray.from_arrays(pa.array(objects.kind), KIND_NAMES)
        columns = [objects.object_id, ts.view("datetime64[us]"), x, y, speed, heading, kinds, is_gone]
        return pa.Table.from_arrays([pa.array(c) for c in columns], schema=self.schema)
