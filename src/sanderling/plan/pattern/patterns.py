"""REGISTER PATTERN, checked: its steps as trees, and above them what finds the matches.

WITH ──► steps: each a query, without its own PERSISTENCY, which is counted from where its turn comes
FROM ──► positions: which steps are waited for, by which key, for how long
SELECT ► what is shown of a run
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sanderling.catalog import BroughtState, Column, Names
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.parse import deep_recursion, too_deep
from sanderling.language.statements import (
    PatternBound,
    PatternGroup,
    PatternStep,
    RegisterPattern,
    RegisterQuery,
    Span,
)
from sanderling.plan.declarations import Declarations
from sanderling.plan.expressions.check import Constant, span_of
from sanderling.plan.expressions.distances import uses_of
from sanderling.plan.logical import Query, Scan, finished, nodes_of
from sanderling.plan.names.sides import Derived, Uses
from sanderling.plan.pattern.bounds import Wait, bind
from sanderling.plan.pattern.own_states import UsedStates, keys_of, own_state
from sanderling.plan.pattern.scope import OUTCOME, TIMES, PatternScope, side_of
from sanderling.plan.query.compose import QueryReader, Work, refuse_other_ticks
from sanderling.plan.query.grouping import Grouping, has_aggregates
from sanderling.plan.query.persistency import key_of
from sanderling.plan.query.with_clause import given_names, refuse_too_large
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name
from sanderling.plans.expression import Expression
from sanderling.space.outlines.outline import motion_of
from sanderling.types import TYPES, SqlType

MOST_POSITIONS = 16
FEEDBACK = ("on", "off")


def read_pattern(
    reader: QueryReader, statement: RegisterPattern, text: str, states: Names[BroughtState]
) -> Query:
    try:
        with deep_recursion():
            return Pattern(reader, statement, text, states).query()
    except RecursionError as e:
        raise too_deep(text, statement.name.span.start, statement.name.span.end) from e


class Placed:
    """A step where it stands: its rows, what its clause asks, and by which columns it is waited for."""

    def __init__(self, written: PatternStep, derived: Derived, clause: nodes.Persisting | None):
        self.written, self.clause = written, clause
        self.derived = derived if clause is None else replace(derived, node=clause.child)
        self.keys: tuple[int, ...] = ()
        self.of: list[tuple[int, int]] = []  # by key the step before, and its column
        self.presence = 0
        self.state: BroughtState | None = None  # a program's own, which tells other columns than the step
        self.given = self.derived
        self.run_keys: tuple[int, ...] = ()  # of its own state: a run's key among what that tells
        self.left: tuple[tuple[str, int, int], ...] = ()

    def use(self, state: BroughtState) -> None:
        """Its rows are that state's, and their key is all of them that it takes; a clause is part of it."""
        self.state, self.derived = state, replace(self.given, columns=state.output, place=None)

    @property
    def key_places(self) -> tuple[int, ...]:
        """The key, among the columns that others see."""
        return self.keys if self.state is None else self.run_keys

    @property
    def name(self) -> str:
        return self.written.name.text


class Pattern:
    """One pattern while it is planned. Steps have numbers as they stand in FROM, NOTs among them."""

    def __init__(
        self, reader: QueryReader, statement: RegisterPattern, text: str, states: Names[BroughtState]
    ):
        self.reader, self.statement, self.text = reader, statement, text
        self.span = statement.name.span
        self.states = UsedStates(states, self._refuse)
        asked = RegisterQuery(statement.name, exp.Select(), None, statement.sql, statement.span)
        self.work = Work(reader, asked)
        self.placed: list[Placed] = []
        self.presences: list[nodes.Persisting] = []
        self.kept: list[set[int]] = []
        self.is_fed_back = self._option("feedback", FEEDBACK) == "on"

    def query(self) -> Query:
        groups = self.statement.positions
        self._refuse_shape(groups)
        with given_names(self.work, self.statement.steps, self.text):
            clauses = {cte.alias.casefold(): _clause_of(cte.this) for cte in self.statement.steps.expressions}
            for group in groups:
                self.placed += [self._place(step, clauses) for step in group.steps]
        numbers = self._numbers(groups)
        self._refuse_names()
        self._use_states(groups)
        for number, placed in enumerate(self.placed):
            self._link(number, placed, numbers)
        tick_us = self._tick_us()
        waits = self._waits(groups, numbers)
        bind(waits, tick_us, self.text)
        for placed in self.placed:
            self._present(placed, tick_us)
        shown_numbers = [n for g, mine in zip(groups, numbers, strict=True) if not g.is_not for n in mine]
        scope = self._scope(shown_numbers)
        select = self._select(scope)
        where = [] if self.statement.where is None else [scope.written(self.statement.where)]
        shown = self._shown(scope, shown_numbers, [*select.expressions, *where])
        condition = self.reader.selects.where(where, scope, self.work.constants)
        steps = tuple(self._step(placed) for placed in self.placed)
        node = nodes.Match(
            tuple(self.presences), tuple(tuple(sorted(kept)) for kept in self.kept), steps,
            tuple(self._position(wait) for wait in waits), tuple(shown), condition,
            self.statement.is_first, self.statement.has_timeouts, self.statement.is_skipping, tick_us,
            tuple(self._may_wait(number) for number in range(len(self.presences))),
        )  # fmt: skip
        node = _with_places(node)
        derived = Grouping(self.reader.selects, self.work.constants).planned(select, node, [], scope)
        refuse_too_large(derived.node, self.span, self.text)
        work = self.work
        found = finished(derived, self.reader.rules, work.constants, work.asked, work.tables, work.queries)
        refuse_other_ticks(found.scans, self.statement.name, self.text)
        return found

    def _refuse(self, code: str, message: str, hint: str, span: Span) -> QueryError:
        return QueryError(code, message, hint, span.place_in(self.text))

    def _option(self, key: str, known: Sequence[str]) -> str:
        declarations = Declarations(self.text)
        given = declarations.options(self.statement.options, (key,))
        text = (declarations.text_option(given, key) or known[0]).lower()
        if text not in known:
            hint = " or ".join(f"{key} = '{word}'" for word in known)
            raise self._refuse("query.bad_option", f'no {key} is named "{text}"', hint, given[key].span)
        return text

    # ----- FROM

    def _refuse_shape(self, groups: Sequence[PatternGroup]) -> None:
        first = groups[0]
        step = first.steps[0]
        if len(groups) > MOST_POSITIONS:
            message = f"a pattern has up to {MOST_POSITIONS} positions, this one has {len(groups)}"
            raise self._refuse("query.bad_pattern", message, "ask for fewer", self.span)
        if first.is_not or step.is_leaving:
            word = "NOT" if first.is_not else "LEAVING"
            message = f"a pattern begins with somebody who is in a step, not with {word}"
            raise self._refuse("query.bad_pattern", message, "let another step stand first", first.span)
        if len(first.steps) > 1:
            hint = "make it one step: a SELECT UNION another"
            raise self._refuse("query.unsupported", "a pattern begins with one step", hint, first.span)
        if step.times is not None or first.within is not None or step.on:
            word = "TIMES" if step.times is not None else "WITHIN" if first.within is not None else "ON"
            hint = f"write it behind a later step: {step.step.text} THEN ENTERING {step.step.text} …"
            message = f"{word} is about what follows, and cannot stand behind the first step"
            raise self._refuse("query.bad_pattern", message, hint, first.span)
        for group in groups[:-1]:
            if group.is_not and group.within is not None:
                hint = "write WITHIN behind the step that follows it"
                message = "NOT lasts up to the next step; WITHIN stands behind one at the end only"
                raise self._refuse("query.bad_pattern", message, hint, group.within.span)

    def _place(self, step: PatternStep, clauses: dict[str, bool]) -> Placed:
        name = step.step.text.casefold()
        given = self.work.names.get(name) if name in clauses else None
        if given is None:
            known = [cte.alias for cte in self.statement.steps.expressions]
            hint = did_you_mean(step.step.text, known) or f"the steps of WITH are {', '.join(known)}"
            message = f'no step of WITH is named "{step.step.text}"'
            raise self._refuse("query.bad_pattern", message, hint, step.step.span)
        node = given.node
        is_counted = clauses[name] and step.using is None  # else what a state sees has it
        return Placed(step, given, node if is_counted and isinstance(node, nodes.Persisting) else None)

    def _use_states(self, groups: Sequence[PatternGroup]) -> None:
        for group in groups:
            for placed in (placed for placed in self.placed if placed.written in group.steps):
                using = placed.written.using
                if using is not None:
                    state = self.states.named(using)
                    self.states.refuse_clauses(placed.written, group, state, placed is self.placed[0])
                    placed.use(state)

    def _link_state(self, number: int, placed: Placed, before: Sequence[int]) -> None:
        using, state = placed.written.using, placed.state
        assert using is not None and state is not None

        def find(name: str) -> tuple[int, int, Column] | None:
            for one in reversed(before):
                columns = self.placed[one].derived.columns
                for place, column in enumerate(columns):
                    if column.name.casefold() == name.casefold():
                        return one, place, column
            return None

        key = key_of(placed.given.node, self.reader.selects.relations.tables.get)
        placed.keys = self.states.right(state, placed.given, using.span)
        placed.run_keys = keys_of(state, placed.given, key or ())
        placed.left = self.states.left(state, find, using.span)

    def _numbers(self, groups: Sequence[PatternGroup]) -> list[range]:
        """Of the steps of each position."""
        found, at = [], 0
        for group in groups:
            found.append(range(at, at + len(group.steps)))
            at += len(group.steps)
        return found

    def _refuse_names(self) -> None:
        seen: set[str] = set()
        for placed in self.placed:
            if placed.name.casefold() in seen:
                message = f'two steps are named "{placed.name}"'
                hint = f"give one another name: {placed.written.step.text} AS another"
                raise self._refuse("query.duplicate_name", message, hint, placed.written.name.span)
            seen.add(placed.name.casefold())
        for before, after in zip(self.placed, self.placed[1:], strict=False):
            step = after.written
            is_same = before.written.step.text.casefold() == step.step.text.casefold()
            words = (step.is_entering, step.is_leaving, step.stay_us is not None, step.on, step.using)
            is_other = any(words)
            if is_same and not before.written.is_leaving and not is_other:
                message = f'"{step.step.text}" follows itself: who is in it has reached it already'
                hint = f"write ENTERING {step.step.text}, or LEAVING, or how long: FOR 1 HOUR"
                raise self._refuse("query.bad_pattern", message, hint, step.step.span)

    def _link(self, number: int, placed: Placed, numbers: Sequence[range]) -> None:
        """By which columns a step is waited for: those of ON, else those of the first step's key, by name."""
        mine = next(i for i, some in enumerate(numbers) if number in some)
        before = [n for some in numbers[:mine] for n in some if self._is_shown(n)]
        if placed.state is not None:
            return self._link_state(number, placed, before)
        if number == 0:
            placed.keys = self._first_key(placed)
            return None
        pairs = [self._equal(number, on, before) for on in placed.written.on] or list(
            self._by_name(number, placed)
        )
        pairs = list(dict.fromkeys(pairs))
        if len({own for own, _ in pairs}) < len(pairs):
            message, hint = "ON says one column twice", "write each column of the step once"
            raise self._refuse("query.bad_pattern", message, hint, placed.written.step.span)
        placed.keys, placed.of = tuple(own for own, _ in pairs), [other for _, other in pairs]
        return None

    def _is_shown(self, number: int) -> bool:
        at = 0
        for group in self.statement.positions:
            if at <= number < at + len(group.steps):
                return not group.is_not
            at += len(group.steps)
        return False

    def _first_key(self, placed: Placed) -> tuple[int, ...]:
        if placed.clause is not None:
            return placed.clause.keys
        tables = self.reader.selects.relations.tables
        found = key_of(placed.derived.node, tables.get)
        return tuple(range(len(placed.derived.columns))) if found is None else found

    def _by_name(self, number: int, placed: Placed) -> Iterator[tuple[int, tuple[int, int]]]:
        first = self.placed[0]
        names = [c.name.casefold() for c in placed.derived.columns]
        for key in first.key_places:
            column = first.derived.columns[key]
            if column.name.casefold() not in names:
                message = f'"{placed.written.step.text}" has no column "{column.name}" to be linked by'
                hint = f"show it there, or write ON {placed.name}.column = {first.name}.{column.name}"
                raise self._refuse("query.missing_join", message, hint, placed.written.step.span)
            own = names.index(column.name.casefold())
            self._refuse_types(placed.derived.columns[own].type, column.type, placed.written.step.span)
            yield own, (0, key)

    def _equal(self, number: int, on: exp.Expr, before: Sequence[int]) -> tuple[int, tuple[int, int]]:
        """A column of the step, and the one before that it equals, however they are written."""
        left, right = on.this, on.expression
        for one, other in ((left, right), (right, left)):
            own, others = self._column_of(one, [number]), self._column_of(other, before)
            if own and others:
                span = span_of(on) or self.span
                (_, place), found = own[0], others[0]
                types = [self.placed[n].derived.columns[c].type for n, c in (own[0], found)]
                if len(others) > 1 and not other.table:
                    message = f'"{other.name}" is in several steps'
                    hint = f"write {self.placed[found[0]].name}.{other.name}"
                    raise self._refuse("query.ambiguous_column", message, hint, span_of(other) or self.span)
                self._refuse_types(types[0], types[1], span)
                return place, found
        placed = self.placed[number]
        if on.meta.get("is_in"):
            message = f'"{placed.written.step.text}" has no column "{left.name}" to be linked by'
            hint = f"show it there, or write IN {placed.name} ON {placed.name}.column = {right.sql()}"
            raise self._refuse("query.missing_join", message, hint, span_of(right) or self.span)
        message = f'ON links a column of "{placed.name}" with one of a step before it'
        hint = f"write {placed.name}.column = {self.placed[0].name}.column"
        raise self._refuse("query.bad_pattern", message, hint, span_of(on) or self.span)

    def _column_of(self, column: exp.Column, among: Sequence[int]) -> list[tuple[int, int]]:
        found = []
        for number in among:
            placed = self.placed[number]
            names = [c.name.casefold() for c in placed.derived.columns]
            is_meant = not column.table or column.table.casefold() == placed.name.casefold()
            if is_meant and column.name.casefold() in names:
                found.append((number, names.index(column.name.casefold())))
        return found

    def _refuse_types(self, one: SqlType, other: SqlType, span: Span) -> None:
        if one.name != other.name and not (one.is_number and other.is_number):
            message = f"{one.name} is never equal to {other.name}"
            raise self._refuse("query.wrong_type", message, "CAST one of them in its step", span)

    # ----- how long

    def _waits(self, groups: Sequence[PatternGroup], numbers: Sequence[range]) -> list[Wait]:
        """The positions behind the first: a NOT belongs to what follows it."""
        found: list[Wait] = []
        nots: list[int] = []
        position_of = {self.placed[0].name.casefold(): 0}
        for group, mine in list(zip(groups, numbers, strict=True))[1:]:
            is_last = group is groups[-1]
            if group.is_not:
                nots += mine
                if not is_last:
                    continue
            within = group.within
            of = None if within is None else self._anchor(within, position_of, len(found))
            steps = () if group.is_not else tuple(mine)
            names = (" AND " if group.is_all else " OR ").join(self.placed[n].name for n in mine)
            names = f"({names})" if len(mine) > 1 else names
            least = self._least(steps)
            found.append(Wait(steps, group.is_all, tuple(nots), within, of, names, group.span, least))
            nots = []
            if len(steps) == 1:
                position_of[self.placed[steps[0]].name.casefold()] = len(found)
        return found

    def _anchor(self, within: PatternBound, position_of: dict[str, int], last: int) -> int:
        if within.of is None:
            return last
        found = position_of.get(within.of.text.casefold())
        if found is None:
            known = [p.name for p in self.placed if p.name.casefold() in position_of]
            hint = did_you_mean(within.of.text, known) or f"OF takes one of {', '.join(known)}"
            message = f'"{within.of.text}" is no step before this one that is sure to be reached'
            raise self._refuse("query.bad_pattern", message, hint, within.of.span)
        return found

    def _least(self, steps: Sequence[int]) -> list[int]:
        """How long each of the steps takes at least."""
        return [self._stay_us(self.placed[n]) * _times(self.placed[n].written) for n in steps]

    def _stay_us(self, placed: Placed) -> int:
        if placed.written.stay_us is not None:
            return placed.written.stay_us
        if placed.state is not None or placed.clause is None or placed.written.is_leaving:
            return 0
        return self._us(placed.clause.stay)

    def _tick_us(self) -> int:
        for placed in self.placed:
            for node in nodes_of(placed.derived.node):
                if isinstance(node, Scan):
                    return node.stream.tick_us
        raise self._refuse(
            "query.missing_stream", "a pattern reads a stream; its steps read only tables",
            "read a stream in a step", self.span,
        )  # fmt: skip

    # ----- the node

    def _present(self, placed: Placed, tick_us: int) -> None:
        """Steps that are looked at by the same key share who is in them."""
        if nodes.is_table(placed.derived.node):
            message, hint = f'"{placed.written.step.text}" reads only tables', "join them with a stream"
            raise self._refuse("query.unsupported", message, hint, placed.written.step.span)
        clause = None if placed.written.is_leaving or placed.state is not None else placed.clause
        goes_on = None if clause is None else clause.goes_on
        grace_us = 0 if clause is None else self._us(clause.grace)
        for number, known in enumerate(self.presences):
            is_same = known.child is placed.derived.node and known.keys == placed.keys
            if is_same and known.goes_on is goes_on and self._us(known.grace) == grace_us:
                placed.presence = number
                return
        is_first = not self.presences
        stay = self._constant(self._stay_us(placed) if is_first else 0)
        grace = self._constant(0) if clause is None else clause.grace
        placed.presence = len(self.presences)
        self.presences.append(
            nodes.Persisting(placed.derived.node, placed.keys, stay, grace, goes_on, tick_us)
        )
        self.kept.append(set(placed.keys) if is_first or placed.state is not None else set())

    def _may_wait(self, number: int) -> bool:
        """Whether who is there need not be known before a run waits for it.

        Where regions move by themselves, or with somebody, objects come into them without moving. A stay that
        goes on after a break that is forgiven is none that is entered, and WHILE looks at the row before.
        """
        presence = self.presences[number]
        steps = [placed.written for placed in self.placed if placed.presence == number]
        is_entered = any(step.is_entering for step in steps) and self._us(presence.grace) > 0
        if not self.is_fed_back or number == 0 or presence.goes_on is not None or is_entered:
            return False
        if any(placed.state is not None for placed in self.placed):
            return False
        scans = [node for node in nodes_of(presence.child) if isinstance(node, Scan)]
        return len(presence.keys) == 1 and all(self._stands_still(scan) for scan in scans)

    def _stands_still(self, scan: Scan) -> bool:
        asked = self.work.asked[scan.number]
        moves = (motion_of(wkb) is not None for wkb in asked.areas.wkb if wkb is not None)
        return asked.focals is None and not any(moves)

    def _us(self, duration: Expression) -> int:
        return int(str(next(c.value for c in self.work.constants if c.name == duration.column)))

    def _constant(self, us: int) -> Expression:
        constants = self.work.constants
        constants.append(Constant(constant_name(len(constants)), TYPES["BIGINT"], us))
        return Expression.of_column(constants[-1].name, TYPES["BIGINT"], "?")

    def _step(self, placed: Placed) -> nodes.PatternStep:
        for before, column in (*placed.of, *((of, place) for _, of, place in placed.left)):
            if self.placed[before].state is None:
                self.kept[self.placed[before].presence].add(column)
        step, own = placed.written, None
        if placed.state is not None and step.using is not None:
            own = own_state(placed.state, step.using, placed.run_keys, placed.left)
        return nodes.PatternStep(
            placed.presence, self._constant(self._stay_us(placed)), tuple(placed.of), step.is_entering,
            step.is_leaving, _times(step), placed.name, own,
        )  # fmt: skip

    def _position(self, wait: Wait) -> nodes.Position:
        bounds = tuple(nodes.PatternBound(self._constant(us), of) for us, of in wait.bounds)
        return nodes.Position(wait.steps, wait.is_all, wait.nots, bounds)

    # ----- SELECT

    def _scope(self, shown: Sequence[int]) -> PatternScope:
        mine = [self.placed[number] for number in shown]
        sides = [side_of(p.name, p.derived, p.written.name.span, p is self.placed[0]) for p in mine]
        nots = [p.name for number, p in enumerate(self.placed) if number not in shown]
        return PatternScope(self.text, self.span, sides, nots)

    def _select(self, scope: PatternScope) -> exp.Select:
        items = list(self.statement.items)
        if len(items) == 1 and isinstance(items[0], exp.Star):
            items = list(self._starred(scope))
        written = [scope.written(item) for item in items]
        if self.statement.has_timeouts and not any(_is_outcome(item) for item in items):
            outcome = scope.written(exp.Anonymous(this=OUTCOME, expressions=[]))
            written.append(exp.alias_(outcome, OUTCOME.lower()))
        select = exp.Select(expressions=written)
        if has_aggregates(select):
            hint = "list columns of steps"
            message = "a pattern's SELECT is of one match: it takes no aggregates"
            raise self._refuse("query.unsupported", message, hint, self.span)
        select.set("expressions", self.reader.selects.expanded(select, scope))
        return select

    def _starred(self, scope: PatternScope) -> Iterator[exp.Expr]:
        """The key, then when each step was reached."""
        first = self.placed[0]
        for key in first.key_places:
            name = first.derived.columns[key].name
            yield exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(first.name))
        for side in scope.all:
            call = exp.Anonymous(this="REACHED", expressions=[exp.column(side.alias)])
            yield exp.alias_(call, f"{side.alias}_reached", quoted=True)

    def _shown(
        self, scope: PatternScope, numbers: Sequence[int], read_by: Sequence[exp.Expr]
    ) -> Iterator[nodes.ShownOfRun]:
        """What is read of each step; the columns of a match get places."""
        uses: Uses = set().union(*(uses_of(node, scope) for node in read_by))
        found = []
        for side_number, number in enumerate(numbers):
            placed, side = self.placed[number], scope.all[side_number]
            for place, column in enumerate(side.columns):
                if (side_number, column.name) not in uses:
                    continue
                scope.places[side_number, column.name] = len(scope.places)
                is_own = place < len(placed.derived.columns)
                what = nodes.COLUMN if is_own else self._word(place - len(placed.derived.columns))
                if is_own and placed.state is None:
                    self.kept[placed.presence].add(place)
                found.append(nodes.ShownOfRun(number, what, place if is_own else -1, column.type))
        return iter(found)

    def _word(self, place: int) -> str:
        return [*TIMES.values(), nodes.OUTCOME][place]


def _times(step: PatternStep) -> int:
    return 1 if step.times is None else int(str(step.times.value))


def _clause_of(query: exp.Expr) -> bool:
    """Whether a step has a PERSISTENCY of its own."""
    while isinstance(query, exp.Subquery) and (query.args.get("with_") or query.args.get("synchronize")):
        query = query.this
    return query.args.get("persistency") is not None


def _is_outcome(item: exp.Expr) -> bool:
    node = item.this if isinstance(item, exp.Alias) else item
    return isinstance(node, exp.Anonymous) and node.name.upper() == OUTCOME


def _with_places(node: nodes.Match) -> nodes.Match:
    """Columns of steps by their place among what is kept of them."""

    def place(step: int, column: int) -> int:
        """What a program's own state tells is kept as it is told."""
        of = node.steps[step]
        return column if of.own is not None else node.kept[of.presence].index(column)

    def placed(own: nodes.OwnState | None) -> nodes.OwnState | None:
        return None if own is None else replace(own, left=tuple((m, n, place(n, c)) for m, n, c in own.left))

    steps = tuple(
        replace(s, of=tuple((n, place(n, c)) for n, c in s.of), own=placed(s.own)) for s in node.steps
    )
    shown = tuple(s if s.place < 0 else replace(s, place=place(s.step, s.place)) for s in node.shown)
    return replace(node, steps=steps, shown=shown)
