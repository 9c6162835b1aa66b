"""What reading one statement taught: which literal becomes which constant, size or focal object.

With it, statements that differ in such literals only become a cohort without being read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import Bools
from sanderling.language.grammar.nearest import is_count
from sanderling.language.statements import Spot, Value
from sanderling.plan.build.areas import areas_like, numbers_of
from sanderling.plan.build.asked import Asked, Written
from sanderling.plan.build.nearest import neighbours_like, written
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.times import time_of
from sanderling.plan.logical import Query, Scan
from sanderling.plan.many.cohorts import Cohort
from sanderling.plan.query.relations import focal_of
from sanderling.types import SqlType

# The values of a literal in many statements, all of one kind.
Column = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Slot:
    """A literal by its number, and the sign before it."""

    literal: int
    sign: int

    def numbers(self, columns: Sequence[Column]) -> npt.NDArray[Any]:
        return self.sign * np.array(columns[self.literal])


@dataclass(frozen=True, slots=True)
class ScanSlots:
    """Where the literals of one scan went, and what its author wrote in the statement that was read."""

    written: Written
    key: SqlType
    numbers: tuple[Slot | None, ...]
    focal: Slot | None
    nearest: tuple[Slot | None, ...]  # of k and the place
    nearest_focal: Slot | None

    @property
    def slots(self) -> tuple[Slot | None, ...]:
        return (*self.numbers, self.focal, *self.nearest, self.nearest_focal)

    def unsure(self, columns: Sequence[Column], n: int) -> Bools:
        unsure = np.zeros(n, np.bool_)
        for focal in (self.focal, self.nearest_focal):
            if focal is not None and self.key.is_integer:
                focals, bounds = focal.numbers(columns), np.iinfo(self.key.arrow.to_pandas_dtype())
                unsure |= (focals < bounds.min) | (focals > bounds.max)
        if self.nearest and self.nearest[0] is not None:
            unsure |= [not is_count(k) for k in columns[self.nearest[0].literal]]
        return unsure

    def asked(self, columns: Sequence[Column], n: int) -> Asked:
        shape, target = self.written.shape, self.written.nearest
        areas = areas_like(shape, _numbers(numbers_of(shape), self.numbers, columns, n), n)
        nearest = None
        if target is not None:
            numbers = _numbers([float(v.value) for v in written(target)], self.nearest, columns, n)
            nearest = neighbours_like(numbers, self._focals(target.focal, self.nearest_focal, columns, n))
        return Asked(areas, self._focals(focal_of(shape), self.focal, columns, n), nearest)

    def _focals(
        self, focal: Value | None, slot: Slot | None, columns: Sequence[Column], n: int
    ) -> pa.Array | None:
        if focal is None:
            return None
        if slot is None:
            return pa.repeat(pa.scalar(focal.value, self.key.arrow), n)
        keys = slot.numbers(columns) if self.key.is_integer else columns[slot.literal]
        return pa.array(keys, self.key.arrow)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A query, and where the literals of its statement went; None: this part is the same for all."""

    query: Query
    constants: tuple[Slot | None, ...]
    scans: tuple[ScanSlots, ...]

    @property
    def slots(self) -> list[Slot]:
        slots = (*self.constants, *(slot for scan in self.scans for slot in scan.slots))
        return [slot for slot in slots if slot is not None]

    @property
    def literals(self) -> frozenset[int]:
        """Those that may differ."""
        return frozenset(slot.literal for slot in self.slots)

    def unsure(self, columns: Sequence[Column], n: int) -> Bools:
        """Statements whose literals have a value that somebody has to look at."""
        unsure = np.zeros(n, np.bool_)
        for scan in self.scans:
            unsure |= scan.unsure(columns, n)
        for constant, slot in zip(self.query.constants, self.constants, strict=True):
            if slot is not None and constant.type.name == "TIMESTAMP":
                unsure |= [time_of(text) is None for text in columns[slot.literal]]
        return unsure

    def cohort(
        self, columns: Sequence[Column], names: Sequence[str], sql: Sequence[str],
        begin: npt.NDArray[np.int64],
    ) -> Cohort:  # fmt: skip
        """The statements with these literals, none of them unsure."""
        n = len(names)
        constants = [
            _constants(constant, slot, columns, n)
            for constant, slot in zip(self.query.constants, self.constants, strict=True)
        ]
        asked = [scan.asked(columns, n) for scan in self.scans]
        return Cohort.new(self.query, names, sql, begin, constants, asked)


def _numbers(
    same: Sequence[float], slots: Sequence[Slot | None], columns: Sequence[Column], n: int
) -> list[npt.NDArray[np.float64]]:
    """A column for each number: what it is in all statements, or in each of them."""
    return [
        np.full(n, number) if slot is None else slot.numbers(columns).astype(np.float64)
        for number, slot in zip(same, slots, strict=True)
    ]


def _constants(constant: Constant, slot: Slot | None, columns: Sequence[Column], n: int) -> pa.Array:
    type_ = constant.type
    if slot is None:
        return pa.repeat(pa.scalar(constant.value, type_.arrow), n)
    if type_.name == "TIMESTAMP":
        return pa.array([time_of(text) for text in columns[slot.literal]], type_.arrow)
    return pa.array(slot.numbers(columns) if type_.is_number else columns[slot.literal], type_.arrow)


def recipe_of(query: Query, ends: Sequence[int], free: Collection[int]) -> Recipe | None:
    """Of a query whose literals end there, of which those that are free may differ; None: of no use."""
    # What other queries and tables say stands in other statements.
    if query.queries or any(scan.table is not None for scan in query.scans):
        return None
    number_of = {ends[number]: number for number in free}

    def slot(spot: Spot | None) -> Slot | None:
        return None if spot is None or spot.end not in number_of else Slot(number_of[spot.end], spot.sign)

    def slots(scan: Scan, asked: Asked) -> ScanSlots:
        assert asked.written is not None
        shape, target = asked.written.shape, asked.written.nearest
        focal = focal_of(shape)
        # The numbers of a named region stand in another statement.
        spots = () if scan.regions_used else getattr(shape, "spots", ())
        return ScanSlots(
            asked.written, scan.stream.key_type,
            tuple(map(slot, spots)) if spots else (None,) * len(numbers_of(shape)),
            slot(focal.spot) if focal else None,
            tuple(slot(v.spot) for v in written(target)) if target else (),
            slot(target.focal.spot) if target and target.focal else None,
        )  # fmt: skip

    scans = tuple(slots(scan, asked) for scan, asked in zip(query.scans, query.asked, strict=True))
    recipe = Recipe(query, tuple(slot(c.spot) for c in query.constants), scans)
    used = [s.literal for s in recipe.slots]
    return recipe if len(used) == len(set(used)) else None  # one literal must not have gone to two places
