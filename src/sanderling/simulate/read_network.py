"""A road network from two files: `node_id,x,y` and `edge_id,from_node,to_node,edge_class,length`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from sanderling import relational
from sanderling.arrays import F64, I64, Bools
from sanderling.errors import ConfigError
from sanderling.simulate.network import N_CLASSES, Network

SHOWN = 40


def read_network(nodes_path: Path, edges_path: Path) -> Network:
    """All of it, checked; what is wrong is told with its row."""
    nodes = _read(nodes_path, ("node_id", "x", "y"))
    edges = _read(edges_path, ("from_node", "to_node", "edge_class", "length"))
    names = pc.utf8_trim_whitespace(nodes.column("node_id")).combine_chunks()
    _refuse_twins(nodes_path, names)
    x, y = (_numbers(nodes_path, nodes, column) for column in ("x", "y"))
    ends = [_nodes(edges_path, edges, column, names) for column in ("from_node", "to_node")]
    edge_class = _numbers(edges_path, edges, "edge_class")
    is_class = np.isin(edge_class, np.arange(N_CLASSES))
    _refuse(
        ~is_class, "config.bad_edge_class", edges_path, edges, "edge_class",
        f"is not one of 0 (fastest) to {N_CLASSES - 1} (slowest)",
    )  # fmt: skip
    length_m = _numbers(edges_path, edges, "length")
    _refuse(length_m <= 0, "config.bad_length", edges_path, edges, "length", "is not above 0")
    return Network(x, y, ends[0], ends[1], edge_class.astype(np.int64), length_m)


def _read(path: Path, columns: tuple[str, ...]) -> pa.Table:
    """The columns as texts."""
    if not path.is_file():
        raise ConfigError("config.missing_file", f"there is no file {path}", "name a CSV file")
    try:
        table = pacsv.read_csv(
            path,
            parse_options=pacsv.ParseOptions(ignore_empty_lines=True),
            convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string())),
        )
    except OSError as e:
        raise ConfigError("config.unreadable_file", f"{path}: {e.strerror or e}", "check its rights") from e
    except pa.ArrowInvalid as e:
        raise ConfigError("config.broken_network", f"{path} is not CSV: {e}", "mend it") from e
    for name in columns:
        if table.column_names.count(name) != 1:
            raise ConfigError(
                "config.missing_column",
                f'{path} has not one column "{name}"',
                f"it needs {', '.join(columns)}",
            )
    if not table.num_rows:
        raise ConfigError("config.empty_network", f"{path} has no rows", "it needs two nodes and an edge")
    return table.select(columns)


def _numbers(path: Path, table: pa.Table, column: str) -> F64:
    (values,) = relational.evaluate([f"CAST({column} AS DOUBLE)"], table)
    numbers: F64 = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    _refuse(~np.isfinite(numbers), "config.unreadable_number", path, table, column, "is not a number")
    return numbers


def _nodes(path: Path, edges: pa.Table, column: str, names: pa.Array) -> I64:
    """Where the named nodes stand."""
    found = pc.index_in(pc.utf8_trim_whitespace(edges.column(column)), value_set=names)
    _refuse(found.is_null().to_numpy(), "config.unknown_node", path, edges, column, "is not the id of a node")
    return np.asarray(found.to_numpy(), np.int64)


def _refuse_twins(path: Path, names: pa.Array) -> None:
    counts = pc.value_counts(names)
    twins = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(twins):
        raise ConfigError(
            "config.duplicate_node",
            f'{path}: two nodes have the id "{twins[0].as_py()[:SHOWN]}"',
            "remove one",
        )


def _refuse(is_bad: Bools, code: str, path: Path, table: pa.Table, column: str, fault: str) -> None:
    if is_bad.any():
        at = int(np.argmax(is_bad))
        value = table.column(column)[at].as_py()[:SHOWN]
        raise ConfigError(code, f'{path}, row {at + 1}: {column} "{value}" {fault}', "mend or remove the row")
