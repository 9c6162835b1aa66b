"""Networks from files: what is read, and what is refused with a code and the row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sanderling.errors import ConfigError
from sanderling.simulate.city import make_city
from sanderling.simulate.read_network import read_network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

NODES = "node_id,x,y\n1,0,0\n2,30,40\nc,60,0\n"
EDGES = "edge_id,from_node,to_node,edge_class,length\n10,1,2,0,50\n11,2,c,6,50.5\n"


def read(folder: Path, nodes: str | bytes = NODES, edges: str | bytes = EDGES) -> object:
    for name, text in (("nodes.csv", nodes), ("edges.csv", edges)):
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_network(folder / "nodes.csv", folder / "edges.csv")


def test_a_network_is_two_files(tmp_path: Path) -> None:
    network = read(tmp_path)
    assert network.x.tolist() == [0, 30, 60] and network.y.tolist() == [0, 40, 0]  # type: ignore[attr-defined]
    assert network.from_node.tolist() == [0, 1] and network.to_node.tolist() == [1, 2]  # type: ignore[attr-defined]
    assert network.edge_class.tolist() == [0, 6] and network.length_m.tolist() == [50, 50.5]  # type: ignore[attr-defined]


def test_columns_may_stand_in_any_order_and_more_are_ignored(tmp_path: Path) -> None:
    nodes = "\ufeffname,y,x,node_id\r\nA,0,0,1\r\nB,40,30,2\r\n\r\n"
    edges = "length,edge_class,to_node,from_node\n5e1, 3, 2, 1 \n"
    network = read(tmp_path, nodes, edges)
    assert network.x.tolist() == [0, 30] and network.length_m.tolist() == [50]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "nodes", "edges"),
    [
        ("config.missing_column", NODES.replace("node_id", "id"), EDGES),
        ("config.missing_column", NODES, EDGES.replace("length", "metres")),
        ("config.missing_column", NODES.replace("node_id", "x"), EDGES),
        ("config.unreadable_number", NODES.replace("30,40", "30,north"), EDGES),
        ("config.unreadable_number", NODES.replace("30,40", "nan,40"), EDGES),
        ("config.unreadable_number", NODES.replace("30,40", "-inf,40"), EDGES),
        ("config.unreadable_number", NODES.replace("30,40", ",40"), EDGES),
        ("config.unreadable_number", NODES, EDGES.replace("50.5", "NaN")),
        ("config.unreadable_number", NODES, EDGES.replace("50.5", "1e999")),
        ("config.unknown_node", NODES, EDGES.replace("2,c", "2,d")),
        ("config.unknown_node", NODES, EDGES.replace("1,2", ",2")),
        ("config.duplicate_node", NODES + "1,5,5\n", EDGES),
        ("config.bad_length", NODES, EDGES.replace("50.5", "0")),
        ("config.bad_length", NODES, EDGES.replace("50.5", "-3")),
        ("config.bad_edge_class", NODES, EDGES.replace("c,6", "c,7")),
        ("config.bad_edge_class", NODES, EDGES.replace("c,6", "c,1.5")),
        ("config.empty_network", "node_id,x,y\n", EDGES),
        ("config.empty_network", NODES, EDGES.splitlines()[0] + "\n"),
        ("config.broken_network", "", EDGES),
        ("config.broken_network", NODES + "1,2\n", EDGES),
        ("config.broken_network", NODES.encode() + b"\xff\xfe,1,1\n", EDGES),
    ],
)
def test_what_is_wrong_is_refused(code: str, nodes: str | bytes, edges: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        read(tmp_path, nodes, edges)
    assert error.value.code == code and error.value.hint


def test_the_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'edges\.csv, row 2: length "0" is not above 0'):
        read(tmp_path, edges=EDGES.replace("50.5", "0"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODES)
    for nodes, edges in (("nodes.csv", "edges.csv"), ("none.csv", "nodes.csv"), (".", "nodes.csv")):
        with pytest.raises(ConfigError) as error:
            read_network(tmp_path / nodes, tmp_path / edges)
        assert error.value.code == "config.missing_file"


def test_objects_stay_in_the_largest_part(tmp_path: Path) -> None:
    nodes = NODES + "far,1000,1000\nfarther,2000,2000\nalone,9,9\n"
    network = read(tmp_path, nodes, EDGES + "12,far,farther,3,1414.3\n13,alone,alone,3,5\n")
    traffic = Traffic(network, TrafficSettings(objects=200, new=3, keeps_going=True))  # type: ignore[arg-type]
    assert max(np.max(traffic.step().column("x").to_numpy()) for _ in range(20)) <= 60


def test_a_network_that_leads_nowhere(tmp_path: Path) -> None:
    network = read(tmp_path, edges=EDGES.splitlines()[0] + "\n1,c,c,3,5\n")
    with pytest.raises(ConfigError) as error:
        Traffic(network, TrafficSettings())  # type: ignore[arg-type]
    assert error.value.code == "config.empty_network"


def test_a_city_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    one, same, other = make_city(5), make_city(5), make_city(6)
    assert all(np.array_equal(getattr(one, n), getattr(same, n)) for n in ("x", "y", "from_node", "length_m"))
    assert not np.array_equal(one.length_m, other.length_m)


@pytest.mark.parametrize("seed", [0, 1, 7, 2**63 - 1])
def test_a_city_looks_like_one(seed: int) -> None:
    city = make_city(seed)
    assert 2_500 < len(city.x) < 10_000 and len(city.largest_part().x) == len(city.x)
    assert set(city.edge_class.tolist()) == set(range(7)) and city.length_m.min() > 0
    ends = np.hypot(
        city.x[city.from_node] - city.x[city.to_node], city.y[city.from_node] - city.y[city.to_node]
    )
    assert np.allclose(ends, city.length_m)
    assert 4_000 < np.abs(city.x).max() < 7_000
