"""Runs as tables, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from sanderling.operate.pattern.presence import Values
from sanderling.operate.pattern.runs import Automaton, Reached, Run, Watch
from sanderling.plans.columns import by_places
from sanderling.plans.nodes import Match

RUNS = pa.schema(
    {"run": pa.int64(), "query": pa.int64(), "ticks": pa.list_(pa.int64()), "deadline": pa.int64(),
     "due": pa.int64()}
)  # fmt: skip
WATCHES = pa.schema(
    {"run": pa.int64(), "step": pa.int64(), "u": pa.int64(), "count": pa.int64(), "since": pa.int64(),
     "is_blocked": pa.bool_()}
)  # fmt: skip


def runs_saved(node: Match, runs: Iterable[Run]) -> dict[str, pa.Table]:
    """By step a table of where it was reached: `is_whole` where the position was, too."""
    all_runs = list(runs)
    rows = [
        {"run": r.number, "query": r.query, "ticks": r.ticks, "deadline": r.deadline, "due": r.due}
        for r in all_runs
    ]
    watches = [
        {name: getattr(w, name) for name in ("step", "u", "count", "since", "is_blocked")} | {"run": r.number}
        for r in all_runs
        for w in r.watches
    ]
    tables = {
        "runs": pa.Table.from_pylist(rows, schema=RUNS),
        "watches": pa.Table.from_pylist(watches, schema=WATCHES),
    }
    return tables | {f"step{n}": _reached_saved(node, n, all_runs) for n in range(len(node.steps))}


def _reached_saved(node: Match, number: int, runs: list[Run]) -> pa.Table:
    types = [type_.arrow for type_ in node.kept_types(number)]
    names = by_places(len(types))
    found = [(r.number, True, r.reached[number]) for r in runs if number in r.reached]
    found += [(r.number, False, w.done) for r in runs for w in r.watches if w.step == number and w.done]
    none: Values = (None,) * len(types)
    columns = list(zip(*(reached.values or none for *_, reached in found), strict=True)) or [()] * len(types)
    return pa.table(
        {
            "run": pa.array([run for run, *_ in found], pa.int64()),
            "is_whole": pa.array([is_whole for _, is_whole, _ in found], pa.bool_()),
            "tick": pa.array([reached.tick for *_, reached in found], pa.int64()),
            "since": pa.array([reached.since for *_, reached in found], pa.int64()),
            "is_there": pa.array([reached.values is not None for *_, reached in found], pa.bool_()),
            **{n: pa.array(c, t) for n, c, t in zip(names, columns, types, strict=True)},
        }
    )


def runs_restored(automaton: Automaton, tables: dict[str, pa.Table]) -> Iterator[Run]:
    node = automaton.node
    reached: dict[tuple[int, bool], dict[int, Reached]] = {}
    for number in range(len(node.steps)):
        for row in tables[f"step{number}"].to_pylist():
            names = by_places(len(node.kept_types(number)))
            values = tuple(row[name] for name in names) if row["is_there"] else None
            mine = reached.setdefault((row["run"], row["is_whole"]), {})
            mine[number] = Reached(row["tick"], row["since"], values)
    watches: dict[int, list[dict[str, object]]] = {}
    for row in tables["watches"].to_pylist():
        watches.setdefault(row["run"], []).append(row)
    for row in tables["runs"].to_pylist():
        whole = reached[row["run"], True]
        key = whole[0].values
        assert key is not None
        run = Run(row["run"], row["query"], key_of(node, key), row["ticks"], whole)
        run.deadline, run.due = row["deadline"], row["due"]
        for kept in watches.get(run.number, ()):
            run.watches.append(_watch(automaton, run, kept, reached.get((run.number, False), {})))
        yield run


def _watch(automaton: Automaton, run: Run, kept: dict[str, object], done: dict[int, Reached]) -> Watch:
    watch = Watch(int(str(kept["step"])), None, int(str(kept["u"])))
    watch.key = automaton.key_for(watch.step, run)
    watch.count, watch.since = int(str(kept["count"])), int(str(kept["since"]))
    watch.is_blocked = bool(kept["is_blocked"])
    watch.done = done.get(watch.step)
    return watch


def key_of(node: Match, values: Values) -> Values:
    """The key of a run, of what it keeps of its first step."""
    own = node.steps[0].own
    if own is not None:
        return tuple(values[place] for place in own.keys)
    kept = node.kept[0]
    return tuple(values[kept.index(place)] for place in node.presences[0].keys)
