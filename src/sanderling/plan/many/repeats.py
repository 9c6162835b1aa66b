"""Statements that repeat become cohorts; whatever is not sure is run as a statement by itself.

Promise (tests/language/test_repeats.py): the same queries, or the same error after the same
queries, as if each statement had been read and run by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sanderling.arrays import I64
from sanderling.clock import tick_end
from sanderling.errors import QueryError
from sanderling.language.moulds import Form, Repeat, constant_of, literal_ends
from sanderling.language.script import read_repeat
from sanderling.language.statements import At, CreateTrigger, RegisterQuery, Statement
from sanderling.plan.logical import Query
from sanderling.plan.many.cohorts import Cohort, Queries
from sanderling.plan.many.recipes import Column, Recipe, recipe_of
from sanderling.plans.plan import ALWAYS

READ: dict[str, Callable[[str], object]] = {"i": int, "d": float, "s": constant_of}


@dataclass(slots=True)
class Alike:
    """Rows of a run of repeats that share a recipe, and their literals as columns."""

    recipe: Recipe
    rows: I64
    columns: list[Column]

    def between(self, start: int, stop: int) -> Alike:
        first, last = np.searchsorted(self.rows, (start, stop))
        return Alike(self.recipe, self.rows[first:last], [c[first:last] for c in self.columns])


@dataclass(slots=True)
class Run:
    """Repeats that follow each other, with the times they hold from."""

    text: str
    repeats: Sequence[Repeat]
    times: Sequence[int | None]

    def begin(self, rows: I64, tick_us: int) -> I64:
        times = (self.times[row] for row in rows)
        return np.array([ALWAYS if t is None else tick_end(t, tick_us) for t in times], np.int64)


@dataclass(slots=True)
class Repeats:
    """Registers runs of repeats."""

    read: Callable[[RegisterQuery | CreateTrigger, str], Query]
    queries: Queries
    is_taken: Callable[[set[str]], bool]
    kind_of: Callable[[str], str | None]
    # By form, then by the literals that the reader passes on and the template keeps.
    _recipes: dict[Form, tuple[tuple[int, ...], dict[tuple[str, ...], Recipe | None]]] = field(
        default_factory=dict
    )

    def forget(self) -> None:
        """Names may mean something else from now on."""
        self._recipes.clear()

    def register(self, run: Run, by_itself: Callable[[Statement, str], object]) -> None:
        """In order; `by_itself` is for one that nobody is sure of, and may refuse it."""
        alike, doubtful = self._grouped(run)
        doubtful |= self._first_clash(run.repeats)
        start = 0
        for stop in sorted(doubtful):
            self._add(run, alike, start, stop)
            by_itself(read_repeat(run.text, run.repeats[stop]), run.text)
            start = stop + 1
        self._add(run, alike, start, len(run.repeats))

    def _first_clash(self, repeats: Sequence[Repeat]) -> set[int]:
        """The first row whose name is taken, if there is one: there the run ends."""
        folded = [repeat.name.casefold() for repeat in repeats]
        distinct = set(folded)
        if len(distinct) == len(folded) and not self.is_taken(distinct):
            return set()
        seen: set[str] = set()
        for row, name in enumerate(folded):
            if name in seen or self.kind_of(name):
                return {row}
            seen.add(name)
        return set()

    def _grouped(self, run: Run) -> tuple[list[Alike], set[int]]:
        """Rows by recipe, and those that have to be run by themselves."""
        by_form: dict[Form, list[int]] = {}
        for row, repeat in enumerate(run.repeats):
            by_form.setdefault(repeat.form, []).append(row)
        groups: list[Alike] = []
        doubtful: set[int] = set()
        for form, rows in by_form.items():
            for recipe, mine in self._by_recipe(run, form, rows):
                if recipe is None:
                    doubtful.update(mine)
                    continue
                columns = _columns(form, recipe, [run.repeats[row].literals for row in mine])
                alike = Alike(recipe, np.array(mine), columns)
                doubtful.update(alike.rows[recipe.unsure(columns, len(mine))].tolist())
                groups.append(alike)
        return groups, doubtful

    def _by_recipe(
        self, run: Run, form: Form, rows: list[int]
    ) -> Iterator[tuple[Recipe | None, Sequence[int]]]:
        if form not in self._recipes:
            recipe = self._recipe(run, form, rows[0])
            kept = tuple(sorted(form.free - recipe.literals)) if recipe else ()
            self._recipes[form] = kept, {_picked(run.repeats[rows[0]], kept): recipe}
        kept, recipes = self._recipes[form]
        by_kept: dict[tuple[str, ...], list[int]] = {}
        for row in rows if kept else ():
            by_kept.setdefault(_picked(run.repeats[row], kept), []).append(row)
        for literals, mine in by_kept.items() if kept else [((), rows)]:
            if literals not in recipes:
                recipe = self._recipe(run, form, mine[0])
                is_alike = recipe is not None and form.free - recipe.literals <= set(kept)
                recipes[literals] = recipe if is_alike else None
            yield recipes[literals], mine

    def _recipe(self, run: Run, form: Form, row: int) -> Recipe | None:
        """From reading one statement; None where that fails, which is told when it is run."""
        repeat = run.repeats[row]
        statement = read_repeat(run.text, repeat)
        register = statement.statement if isinstance(statement, At) else statement
        assert isinstance(register, RegisterQuery | CreateTrigger)
        try:
            query = self.read(register, run.text)
        except QueryError:
            return None
        return recipe_of(query, literal_ends(register.sql, register.span.end - len(register.sql)), form.free)

    def _add(self, run: Run, groups: list[Alike], start: int, stop: int) -> None:
        here = (group.between(start, stop) for group in groups)
        self.queries.add([(alike.rows, _cohort(run, alike)) for alike in here if len(alike.rows)])


def _cohort(run: Run, alike: Alike) -> Cohort:
    mine = [run.repeats[row] for row in alike.rows]
    begin = run.begin(alike.rows, alike.recipe.query.stream.tick_us)
    return alike.recipe.cohort(alike.columns, [r.name for r in mine], [r.sql for r in mine], begin)


def _picked(repeat: Repeat, numbers: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(repeat.literals[number] for number in numbers)


def _columns(form: Form, recipe: Recipe, literals: Sequence[tuple[str, ...]]) -> list[Column]:
    """By literal what it says in each statement; of those that differ."""
    return [
        [READ[kind](texts[number]) for texts in literals] if number in recipe.literals else []
        for number, kind in enumerate(form.kinds)
    ]
