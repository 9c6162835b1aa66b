"""Focal objects that a version is the first to follow: their readings wait until older ones are here.

Only the shard that an object lives in knows its last reading. What comes after the version was
announced comes to every shard, and waits; what came before is said by that one shard, and is put in front.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import Bools
from sanderling.plans.plan import NEVER
from sanderling.state.frame import Frame


@dataclass(frozen=True, slots=True)
class Wait:
    """A version that has not begun."""

    version: int
    keys: pa.Array  # focal objects that nobody had followed before


class Waiting:
    """What waits in one stream of a shard.

    Promise (tests/properties/test_living.py): when a version goes on, everybody knows of its focal
    objects what they would know had they followed them all along.
    """

    def __init__(self, key: str, schema: pa.Schema):
        self.key = key
        self.waits: list[Wait] = []
        self.fills: list[int] = []  # versions whose windows are to be filled from an archive
        self.readings: pa.Table = schema.empty_table()

    @property
    def ready(self) -> int:
        """Versions from this number on may not begin yet."""
        return min((*(wait.version for wait in self.waits), *self.fills), default=NEVER)

    def begin(self, wait: Wait) -> None:
        self.waits.append(wait)

    def keep(self, focals: pa.Array) -> None:
        """Nobody waits for objects that are not followed any more."""
        for number, wait in enumerate(self.waits):
            keys = wait.keys.filter(pa.array(is_in(wait.keys, focals)))
            self.waits[number] = Wait(wait.version, keys)
        if self.readings.num_rows:
            self.readings = self.readings.filter(pa.array(is_in(self.readings.column(self.key), focals)))

    def take(self, readings: pa.Table) -> pa.Table:
        """Takes those that have to wait; the others come back."""
        if not self.waits:
            return readings
        must_wait = self.must_wait(readings)
        if must_wait.any():
            self.readings = pa.concat_tables([self.readings, readings.filter(pa.array(must_wait))])
        return readings.filter(pa.array(~must_wait))

    def must_wait(self, readings: pa.Table) -> Bools:
        must_wait = np.zeros(readings.num_rows, np.bool_)
        for wait in self.waits:
            must_wait |= is_in(readings.column(self.key), wait.keys)
        return must_wait

    def end(self, version: int, said: pa.Table) -> pa.Table:
        """A version waits no longer: all readings of its focal objects, in order of arrival."""
        keys = next((wait.keys for wait in self.waits if wait.version == version), None)
        if keys is None:
            return self.readings[:0]
        self.waits = [wait for wait in self.waits if wait.version != version]
        if said.num_rows:
            said = said.select(self.readings.column_names)
            said = said.filter(pa.array(is_in(said.column(self.key), keys)))
        is_over = is_in(self.readings.column(self.key), keys)
        waited = self.readings.filter(pa.array(is_over))
        self.readings = self.readings.filter(pa.array(~is_over))
        return pa.concat_tables([said, waited]) if said.num_rows else waited

    def saved(self) -> Frame:
        """Small, and always whole."""
        filling = {"fills": self.fills} if self.fills else {}
        if not self.waits:
            return Frame({}, filling)
        keys = {f"keys of {wait.version}": pa.table({"key": wait.keys}) for wait in self.waits}
        versions = [wait.version for wait in self.waits]
        return Frame({"readings": self.readings, **keys}, {"versions": versions, **filling})

    def restore(self, frame: Frame) -> None:
        self.waits = [
            Wait(version, frame.tables[f"keys of {version}"].column("key").combine_chunks())
            for version in frame.values.get("versions", ())
        ]
        self.fills = [int(version) for version in frame.values.get("fills", ())]
        self.readings = frame.tables.get("readings", self.readings[:0])


def is_in(keys: pa.Array | pa.ChunkedArray, known: pa.Array) -> Bools:
    return np.asarray(pc.is_in(keys, value_set=known).to_numpy(zero_copy_only=False), np.bool_)
