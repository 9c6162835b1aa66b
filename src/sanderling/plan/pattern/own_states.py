"""step USING state (constant, …): what a program has declared of its state, and what the step has for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sanderling.catalog import BroughtState, Column, Names
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.statements import PatternGroup, PatternStep, Span, Using
from sanderling.plan.names.sides import Derived
from sanderling.plans import nodes

Refuse = Callable[[str, str, str, Span], QueryError]
# Of a step before, by the name of a column: its number and the column's place there.
Find = Callable[[str], tuple[int, int, Column] | None]


class UsedStates:
    """Those of one statement; `refuse` points into its text."""

    def __init__(self, known: Names[BroughtState], refuse: Refuse):
        self.known, self.refuse = known, refuse

    def named(self, using: Using) -> BroughtState:
        found = self.known.get(using.name.text)
        if found is None:
            names = [state.name for state in self.known.values()]
            hint = did_you_mean(using.name.text, names) or f'session.state("{using.name.text}", …) before it'
            message = f'the program has brought no state "{using.name.text}"'
            raise self.refuse("query.unknown_state", message, hint, using.name.span)
        if not found.least <= len(using.constants) <= found.most:
            wanted = f"{found.least}" if found.least == found.most else f"{found.least} to {found.most}"
            message = f'"{found.name}" takes {wanted} constants, not {len(using.constants)}'
            hint = f"write USING {found.name}({', '.join('?' * found.least)})"
            raise self.refuse("query.wrong_argument_count", message, hint, using.span)
        return found

    def refuse_clauses(
        self, step: PatternStep, group: PatternGroup, state: BroughtState, is_first: bool
    ) -> None:
        """What the state itself decides, and where it can stand."""
        using = step.using
        assert using is not None
        words = {
            "ENTERING": step.is_entering, "LEAVING": step.is_leaving, "FOR": step.stay_us is not None,
            "TIMES": step.times is not None, "ON": bool(step.on),
        }  # fmt: skip
        for word in (word for word, is_said in words.items() if is_said):
            message = f"{word} cannot stand beside USING: the state decides when the step is reached"
            raise self.refuse("query.bad_pattern", message, "leave one of them out", using.span)
        if group.is_not or len(group.steps) > 1:
            word = "NOT" if group.is_not else "a group"
            hint = "let it stand behind THEN by itself"
            raise self.refuse("query.unsupported", f"a state cannot stand in {word}", hint, using.span)
        if is_first == (state.left is not None):
            message = (
                f'"{state.name}" takes runs of a step before, and cannot stand first' if is_first
                else f'"{state.name}" begins runs, and stands first: it has no left'
            )  # fmt: skip
            hint = "write FROM step THEN other USING it" if is_first else "give its class a left = {…}"
            raise self.refuse("query.bad_pattern", message, hint, using.span)

    def right(self, state: BroughtState, given: Derived, span: Span) -> tuple[int, ...]:
        """Where in the step's rows the columns are that it takes."""
        names = [c.name.casefold() for c in given.columns]
        for column in state.right:
            if column.name.casefold() not in names:
                hint = did_you_mean(column.name, [c.name for c in given.columns]) or "show it there"
                message = f'"{state.name}" takes a column "{column.name}", which the step has not'
                raise self.refuse("query.unknown_column", message, hint, span)
            own = given.columns[names.index(column.name.casefold())]
            self._refuse_type(state, column, own, span)
        return tuple(names.index(column.name.casefold()) for column in state.right)

    def left(self, state: BroughtState, find: Find, span: Span) -> tuple[tuple[str, int, int], ...]:
        """Of which steps before come the columns that it wants of runs: of the nearest that has one."""
        found = []
        for column in state.left or ():
            place = find(column.name)
            if place is None:
                message = f'"{state.name}" wants "{column.name}" of its runs, which no step before has'
                raise self.refuse("query.unknown_column", message, "show it in a step before", span)
            self._refuse_type(state, column, place[2], span)
            found.append((column.name, place[0], place[1]))
        return tuple(found)

    def _refuse_type(self, state: BroughtState, wanted: Column, own: Column, span: Span) -> None:
        if wanted.type.name != own.type.name:
            message = f'"{state.name}" takes {wanted.name} as {wanted.type.name}, and it is {own.type.name}'
            raise self.refuse("query.wrong_type", message, f"CAST ({own.name} AS {wanted.type.name})", span)


def keys_of(state: BroughtState, given: Derived, key: Sequence[int]) -> tuple[int, ...]:
    """A run's key among what it tells: the step's own, where all of it is told, else all."""
    told = [column.name.casefold() for column in state.output]
    names = [given.columns[place].name.casefold() for place in key]
    if names and all(name in told for name in names):
        return tuple(told.index(name) for name in names)
    return tuple(range(len(told)))


def own_state(
    state: BroughtState, using: Using, keys: tuple[int, ...], left: tuple[tuple[str, int, int], ...]
) -> nodes.OwnState:
    right = tuple(column.name for column in state.right)
    return nodes.OwnState(
        state.name, using.constants, right, left, state.output, keys, state.kept, state.shares
    )
