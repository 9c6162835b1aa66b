"""States of patterns that a program brings: session.state("Slow", Slow), then FROM a USING Slow(120).

rows of the step that came, went ─► right_status_update ─┐
runs that came to wait, that end ─► left_status_update  ─┴─► forward_condition ─► forward_action ─► rows
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.catalog import BroughtState, Column
from sanderling.errors import ConfigError, SessionError, did_you_mean
from sanderling.types import TYPES, SqlType, type_named

RUN, QUERY = "run", "query"
MOST_CONSTANTS = 64


class Events(Protocol):
    """What happened to a set by a tick: rows that came and went; all that are there, if one looks at them."""

    tick: datetime
    came: pa.Table
    went: pa.Table

    @property
    def rows(self) -> pa.Table: ...


class State:
    """One that begins runs has no `left`; one that runs wait in says which columns of theirs it wants.

    Schemas are dictionaries from columns to types of SQL. `kept` names Arrow tables, attributes of the state,
    which are all that it may remember between calls; whatever else `initialize` sets is set by it again.
    Promises (tests/operate/test_own_states.py): it is called at a tick at which something came or went, and
    at that which `wake_at` names, and at no other; what is kept is saved and comes back with the pattern.
    """

    left: ClassVar[Mapping[str, str] | None] = None
    right: ClassVar[Mapping[str, str]] = {}
    output: ClassVar[Mapping[str, str]] = {}
    kept: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    shares: ClassVar[bool] = False  # one for all patterns of a shape: tables have a column `query`
    tick: datetime  # that it is called at

    def initialize(self, *constants: Any, metadata: pa.Table | None = None) -> None:
        """Once, with the constants of USING; with a `left`, `metadata` are the first runs that wait."""

    def right_status_update(self, events: Any) -> None:
        """Rows of the step have come or gone."""

    def left_status_update(self, events: Any) -> None:
        """Runs have come to wait here, or have ended while they did; each row has its `run`."""

    def forward_condition(self) -> bool:
        """Whether there is something to tell now."""
        return True

    def forward_action(self) -> pa.Table:
        """Rows of `output`: each begins a run, or lets that of its `run` go on."""
        raise NotImplementedError

    def wake_at(self) -> datetime | None:
        """When to be called though nothing comes; asked after each call."""
        return None

    # ----- what most of them need

    def is_due(self, table: pa.Table, column: str, interval: timedelta) -> pa.ChunkedArray:
        """Of each row whether a time in it is so long ago."""
        return pc.less_equal(table.column(column), pa.scalar(self.tick - interval, pa.timestamp("us")))

    @staticmethod
    def stamped(rows: pa.Table, **columns: object) -> pa.Table:
        """With columns more, each of one value."""
        for name, value in columns.items():
            rows = rows.append_column(name, pa.repeat(pa.scalar(value), rows.num_rows))
        return rows

    @staticmethod
    def without(table: pa.Table, rows: pa.Table, on: str | Sequence[str]) -> pa.Table:
        """Rows of a table but those that agree with one of `rows` in some columns."""
        names = [on] if isinstance(on, str) else list(on)
        others = set(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
        mine = zip(*(table.column(name).to_pylist() for name in names), strict=True)
        return table.filter(pa.array(np.array([key not in others for key in mine], np.bool_)))


def brought(name: str, kind: object) -> BroughtState:
    """What a class declares; it is looked at before anything else is done with it."""
    if not isinstance(kind, type) or not issubclass(kind, State):
        raise _refused(name, f"{kind!r} is no class of sanderling.State", "derive it from sanderling.State")
    left = kind.left if kind.left is None else _columns(name, "left", kind.left)
    right, output = _columns(name, "right", kind.right), _columns(name, "output", kind.output)
    if not isinstance(kind.kept, Mapping):
        raise _refused(name, "kept is no dictionary of tables", _EXAMPLE)
    kept = tuple((str(table), _columns(name, f"kept[{table!r}]", of)) for table, of in kind.kept.items())
    if not right or (not output and left is None):
        what = "output is empty: its runs have no key" if right else "right is empty: it would see nothing"
        raise _refused(name, what, _EXAMPLE)
    for column in (*(left or ()), *right, *output):
        if column.name.casefold() in (RUN, QUERY):
            raise _refused(name, f'a column is named "{column.name}", which is ours', "name it otherwise")
    least, most = _constants(kind)
    return BroughtState(name, left, right, output, kept, bool(kind.shares), least, most)


def states_in(module: str) -> dict[str, type[State]]:
    """All that a module has, by their names; it may stand in the folder that we were started in."""
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except Exception as e:  # whatever its author does in it
        raise ConfigError(
            "config.bad_states", f"--states {module}: {type(e).__name__}: {e}", "name a module of Python"
        ) from e
    finally:
        sys.path.remove(os.getcwd())
    kinds = {n: k for n, k in vars(found).items() if isinstance(k, type) and issubclass(k, State)}
    return {name: kind for name, kind in kinds.items() if kind is not State}


def as_data(state: BroughtState) -> dict[str, Any]:
    """For the journal."""

    def said(columns: Sequence[Column]) -> list[list[str]]:
        return [[c.name, c.type.name] for c in columns]

    return {
        "name": state.name, "left": None if state.left is None else said(state.left),
        "right": said(state.right), "output": said(state.output),
        "kept": [[table, said(of)] for table, of in state.kept],
        "shares": state.shares, "least": state.least, "most": state.most,
    }  # fmt: skip


def of_data(said: dict[str, Any]) -> BroughtState:
    def columns(of: Sequence[tuple[str, str]]) -> tuple[Column, ...]:
        return tuple(Column(name, TYPES[type_]) for name, type_ in of)

    state = BroughtState(**{**said, "right": columns(said["right"]), "output": columns(said["output"])})
    kept = tuple((table, columns(of)) for table, of in said["kept"])
    return replace(state, left=None if said["left"] is None else columns(said["left"]), kept=kept)


def _columns(name: str, what: str, said: object) -> tuple[Column, ...]:
    if not isinstance(said, Mapping):
        raise _refused(name, f"{what} is no dictionary of columns and types", _EXAMPLE)
    return tuple(Column(str(column), _type(name, what, column, type_)) for column, type_ in said.items())


def _type(name: str, what: str, column: object, type_: object) -> SqlType:
    found = type_named(type_) if isinstance(type_, str) else None
    if found is None:
        hint = did_you_mean(str(type_), TYPES) or "types are those of SQL"
        raise _refused(name, f'{what}: "{column}" has no type {type_!r}', hint)
    return found


_EXAMPLE = 'write right = {"id": "STRING"}, output = {"id": "STRING"}, kept = {"table": {"id": "STRING"}}'


def _constants(kind: type[State]) -> tuple[int, int]:
    """How many constants `initialize` takes."""
    given = list(inspect.signature(kind.initialize).parameters.values())[1:]
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    mine = [p for p in given if p.kind in by_place and p.name != "metadata"]
    is_open = any(p.kind == p.VAR_POSITIONAL for p in given)
    return sum(p.default is p.empty for p in mine), MOST_CONSTANTS if is_open else len(mine)


def _refused(name: str, message: str, hint: str) -> SessionError:
    return SessionError("session.bad_state", f'state "{name}": {message}', hint)
