"""What drafting one statement taught: which literal becomes which constant, size or focal object.

With it, statements that differ in such literals only become a cohort without being drafted.
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
from sanderling.plan.build.nearest import Neighbours, neighbours_like, written
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.times import time_of
from sanderling.plan.many.cohorts import Cohort
from sanderling.plan.query.compositions import Composition
from sanderling.plan.query.relations import focal_of
from sanderling.plan.query.selects import Draft

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
class Recipe:
    """A draft, and where the literals of its statement went; None: this part is the same for all."""

    draft: Draft | Composition
    constants: tuple[Slot | None, ...]
    numbers: tuple[Slot | None, ...] = ()
    focal: Slot | None = None
    nearest: tuple[Slot | None, ...] = ()  # of k and the place
    nearest_focal: Slot | None = None
    branches: tuple[Recipe, ...] = ()  # of composed queries

    @property
    def slots(self) -> list[Slot]:
        slots = (*self.constants, *self.numbers, self.focal, *self.nearest, self.nearest_focal)
        own = [slot for slot in slots if slot is not None]
        return [*own, *(slot for branch in self.branches for slot in branch.slots)]

    @property
    def literals(self) -> frozenset[int]:
        """Those that may differ."""
        return frozenset(slot.literal for slot in self.slots)

    def unsure(self, columns: Sequence[Column], n: int) -> Bools:
        """Statements whose literals have a value that somebody has to look at."""
        unsure = np.zeros(n, np.bool_)
        for branch in self.branches:
            unsure |= branch.unsure(columns, n)
        key = self.draft.stream.key_type
        for focal in (self.focal, self.nearest_focal):
            if focal is not None and key.is_integer:
                focals, bounds = focal.numbers(columns), np.iinfo(key.arrow.to_pandas_dtype())
                unsure |= (focals < bounds.min) | (focals > bounds.max)
        if self.nearest and self.nearest[0] is not None:
            unsure |= [not is_count(k) for k in columns[self.nearest[0].literal]]
        for constant, slot in zip(self.draft.constants, self.constants, strict=True):
            if slot is not None and constant.type.name == "TIMESTAMP":
                unsure |= [time_of(text) is None for text in columns[slot.literal]]
        return unsure

    def cohort(
        self, columns: Sequence[Column], names: Sequence[str], sql: Sequence[str],
        begin: npt.NDArray[np.int64],
    ) -> Cohort:  # fmt: skip
        """The statements with these literals, none of them unsure."""
        draft, n = self.draft, len(names)
        constants = [
            _constants(constant, slot, columns, n)
            for constant, slot in zip(draft.constants, self.constants, strict=True)
        ]
        if isinstance(draft, Composition):
            branches = [branch.cohort(columns, names, sql, begin) for branch in self.branches]
            return Cohort.composed(draft, names, sql, begin, constants, branches)
        numbers = _numbers(numbers_of(draft.shape), self.numbers, columns, n)
        focals = self._focals(focal_of(draft.shape), self.focal, columns, n)
        return Cohort.new(
            draft, names, sql, begin, areas_like(draft.shape, numbers, n), constants, focals,
            self._nearest(columns, n),
        )  # fmt: skip

    def _nearest(self, columns: Sequence[Column], n: int) -> Neighbours | None:
        assert isinstance(self.draft, Draft)
        asked = self.draft.nearest
        if asked is None:
            return None
        numbers = _numbers([float(v.value) for v in written(asked)], self.nearest, columns, n)
        return neighbours_like(numbers, self._focals(asked.focal, self.nearest_focal, columns, n))

    def _focals(
        self, focal: Value | None, slot: Slot | None, columns: Sequence[Column], n: int
    ) -> pa.Array | None:
        if focal is None:
            return None
        key = self.draft.stream.key_type
        if slot is None:
            return pa.repeat(pa.scalar(focal.value, key.arrow), n)
        keys = slot.numbers(columns) if key.is_integer else columns[slot.literal]
        return pa.array(keys, key.arrow)


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


def recipe_of(draft: Draft | Composition, ends: Sequence[int], free: Collection[int]) -> Recipe | None:
    """Of a draft whose literals end there, of which those that are free may differ; None: of no use."""
    number_of = {ends[number]: number for number in free}

    def slot(spot: Spot | None) -> Slot | None:
        return None if spot is None or spot.end not in number_of else Slot(number_of[spot.end], spot.sign)

    constants = tuple(slot(c.spot) for c in draft.constants)
    if isinstance(draft, Composition):
        branches = [recipe_of(branch, ends, free) for branch in draft.branches]
        # What other queries say stands in other statements.
        if draft.queries or None in branches:
            return None
        return _of_use(Recipe(draft, constants, branches=tuple(b for b in branches if b is not None)))
    if draft.table is not None:
        return None
    focal = focal_of(draft.shape)
    # The numbers of a named region stand in another statement.
    spots = () if draft.regions_used else getattr(draft.shape, "spots", ())
    numbers = tuple(map(slot, spots)) if spots else (None,) * len(numbers_of(draft.shape))
    asked = draft.nearest
    recipe = Recipe(
        draft, constants, numbers, slot(focal.spot) if focal else None,
        tuple(slot(v.spot) for v in written(asked)) if asked else (),
        slot(asked.focal.spot) if asked and asked.focal else None,
    )  # fmt: skip
    return _of_use(recipe)


def _of_use(recipe: Recipe) -> Recipe | None:
    """None where one literal went to two places."""
    used = [s.literal for s in recipe.slots]
    return recipe if len(used) == len(set(used)) else None
