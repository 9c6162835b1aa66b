"""Plans, growths and tables as bytes: the classes they are made of, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from sanderling.catalog import Archiving, Column, Stream, Written
from sanderling.plans.constraint_graph import Compare
from sanderling.plans.expression import Comparison, Expression
from sanderling.plans.growth import Gone, Growth, Replacement
from sanderling.plans.nodes import (
    Aggregate,
    Branch,
    Company,
    DistanceBound,
    Distinct,
    Exchange,
    First,
    FocalPoints,
    Join,
    Latest,
    Match,
    Near,
    Neighbours,
    Once,
    Order,
    OwnState,
    Passing,
    PatternBound,
    PatternStep,
    Persisting,
    Position,
    Recent,
    Sample,
    Select,
    SetOperation,
    ShownOfRun,
    Solve,
    Sum,
    Swelling,
    Swept,
    TableRows,
    TickBound,
    Ticking,
    TimeBound,
    Union,
    Value,
    Variable,
)
from sanderling.plans.plan import (
    Nearest,
    OutputColumn,
    Plan,
    PlannedQueries,
    PlannedTable,
    PlannedTree,
    Regions,
    Replaced,
    StreamPlan,
    Template,
)
from sanderling.plans.window import (
    Coming,
    Lasting,
    Refresh,
    Rows,
    RowsPerKey,
    There,
    Until,
    UntilNext,
    UntilThere,
)
from sanderling.state.encoding import Encoding, Unreadable
from sanderling.state.sealed import broken, read, write

T = TypeVar("T")

CLASSES: tuple[type, ...] = (
    Archiving, Column, Stream, Written, Compare, Comparison, Expression, Gone, Growth, Nearest, OutputColumn,
    Plan, PlannedQueries, PlannedTable, PlannedTree, Regions, StreamPlan, Template, Coming, Lasting, Rows,
    RowsPerKey, Until, UntilNext, Refresh, Aggregate, Branch,
    Company, Distinct, DistanceBound, Exchange, First, FocalPoints, Join, Latest, Near, Neighbours,
    Order, Persisting, Recent, Sample, Select, SetOperation, Solve, Sum, Swelling, Swept, TableRows,
    TimeBound, Union, Value, Variable, Replaced, Replacement, Match, OwnState, PatternBound, PatternStep,
    Position, ShownOfRun, TickBound, Ticking, Once, Passing, There, UntilThere,
)  # fmt: skip
PLANS = Encoding(*CLASSES)


def write_thing(path: Path, kind: str, thing: object, encoding: Encoding = PLANS) -> None:
    """Into a file of a checkpoint, safely on disk when this returns."""
    write(path, kind, encoding.encoded(thing))


def read_thing(path: Path, kind: str, wanted: type[T], encoding: Encoding = PLANS) -> T:
    """What was written, or an error that names the file."""
    try:
        return encoding.decoded(read(path, kind), wanted)
    except Unreadable as e:
        raise broken(str(path), str(e)) from e
