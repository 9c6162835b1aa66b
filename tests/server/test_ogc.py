"""Layers, as QGIS asks for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.server.test_contract import problem
from tests.server.town import Town


def linked(client: httpx.Client, page: dict[str, Any], rel: str) -> dict[str, Any]:
    """Where a page leads to."""
    (link,) = [found for found in page["links"] if found["rel"] == rel]
    parts = urlsplit(link["href"])
    found: dict[str, Any] = client.get(f"{parts.path}?{parts.query}").json()
    return found


def test_queries_and_streams_are_layers(town: Town) -> None:
    name, path = f"layer {town.name()}", "/api/v1/queries/"
    select = "SELECT id, x, y, seen FROM taxis INSIDE (1000, 0, 1010, 10)"
    assert town.operator.put(path + name, json={"select": select}).status_code == 201
    town.tell([("o1", 1001, 1)], [("o2", 1002, 2), ("o3", 1003, 3)])
    landing = town.operator.get("/ogc").json()
    assert any(c.endswith("conf/core") for c in linked(town.operator, landing, "conformance")["conformsTo"])
    layers = linked(town.operator, landing, "data")["collections"]
    (layer,) = [c for c in layers if c["id"] == name]
    whole = linked(town.operator, layer, "items")
    assert whole["numberMatched"] == whole["numberReturned"] == 3
    assert {f["id"]: f["geometry"]["coordinates"] for f in whole["features"]} == {
        "o1": [1001, 1], "o2": [1002, 2], "o3": [1003, 3]
    }  # fmt: skip
    items = f"/ogc/collections/{name}/items"
    first = town.operator.get(items, params={"limit": 2}).json()
    assert len(first["features"]) == 2 and len(linked(town.operator, first, "next")["features"]) == 1

    def ids(**asked: str) -> list[str]:
        return [f["id"] for f in town.operator.get(items, params=asked).json()["features"]]

    assert ids(bbox="1001.5,0,1002.5,9") == ["o2"] == ids(bbox="1001.5,0,0,1002.5,9,0")
    seen = {f["id"]: f["properties"]["seen"] for f in whole["features"]}
    assert ids(datetime=seen["o1"]) == ["o1"] == ids(datetime=f"../{seen['o1']}")
    assert ids(datetime=f"{seen['o2']}/..") == ["o2", "o3"]
    assert problem(town.operator.get(items, params={"datetime": "soon"})) == (400, "session.bad_argument")
    assert town.operator.get(f"{items}/o2").json()["properties"]["x"] == 1002
    assert problem(town.operator.get(f"{items}/o9")) == (404, "request.not_found")
    assert town.operator.get(f"/ogc/collections/{name}").json()["id"] == name

    client = town.client(town.token("mapper"))
    assert client.get("/ogc/collections").json()["collections"] == []
    for hidden in (name, "stream:taxis", "sanderling:taxis"):
        assert problem(client.get(f"/ogc/collections/{hidden}/items")) == (404, "request.not_found")
    basic = httpx.get(f"{town.server.address}ogc", auth=("qgis", town.server.token))
    assert basic.status_code == 200, "QGIS knows a name and a password"
    town.operator.delete(path + name)


def test_all_objects_of_a_stream_are_a_layer_of_operators(town: Town) -> None:
    assert town.operator.get("/ogc/collections/stream:taxis/items").status_code == 200
    town.tell([("o4", 1101, 1)])
    asked = {"bbox": "1100,0,1102,2"}
    found = town.operator.get("/ogc/collections/stream:taxis/items", params=asked).json()
    assert [f["id"] for f in found["features"]] == ["o4"]


def read_by_gdal(town: Town, layer: str, *box: float) -> dict[str, Any]:
    """Its layers, and of one of them the fields and the places. In a process of its own: it lets no other
    thread of Python run meanwhile, and our server is one."""
    asked = json.dumps({"address": f"OAPIF:{town.server.address}ogc", "layer": layer, "box": box or None})
    # What QGIS asks with: any name, and the token as its password.
    login = {"GDAL_HTTP_USERPWD": f"anybody:{town.server.token}", "GDAL_HTTP_AUTH": "BASIC"}
    done = subprocess.run(
        [sys.executable, "-c", READ, asked], env={**os.environ, **login}, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


READ = """
import json, sys
import pyogrio, shapely
asked = json.loads(sys.argv[1])
layers = pyogrio.list_layers(asked["address"])[:, 0].tolist()
box = asked["box"] and tuple(asked["box"])
meta, _, shapes, fields = pyogrio.raw.read(asked["address"], layer=asked["layer"], bbox=box)
x = shapely.get_x(shapely.from_wkb(shapes)).tolist()
ids = fields[meta["fields"].tolist().index("id")].tolist()
print(json.dumps({"layers": layers, "x": dict(zip(ids, x)), "kind": meta["geometry_type"]}))
"""


def test_gdal_reads_a_layer_as_qgis_does(town: Town) -> None:
    """Its own driver: it finds the layers, reads page after page, and asks for a box."""
    name, count = f"gdal {town.name()}", 1_500
    select = "SELECT id, x, y, seen FROM taxis INSIDE (20, 76.5, 171, 77.5)"
    town.operator.put(f"/api/v1/queries/{name}", json={"select": select})
    town.tell([(f"g{n}", 20 + n / 10, 77) for n in range(count)])
    found = read_by_gdal(town, name)
    assert name in found["layers"] and found["kind"] == "Point"
    assert found["x"] == {f"g{n}": 20 + n / 10 for n in range(count)}
    assert sorted(read_by_gdal(town, name, 20.95, 70, 21.25, 80)["x"]) == ["g10", "g11", "g12"]
    town.operator.delete(f"/api/v1/queries/{name}")
