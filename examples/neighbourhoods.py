"""One rule over all neighbourhoods: who drives faster than the neighbourhood allows that they are in?

python examples/neighbourhoods.py
"""

import json
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import sanderling
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

SIDE_M = 1_500
# The town from north-west to south-east: a name and a limit in km/h for each square.
TOWN = (
    (("Heath", 50), ("Mill Row", 30), ("Harbour", 50)),
    (("Orchards", 30), ("Old Town", 20), ("Station", 40)),
    (("Meadows", 40), ("South Gate", 30), ("Works", 60)),
)

SCRIPT = """
CREATE STREAM city (id BIGINT, ts TIMESTAMP, x DOUBLE, y DOUBLE, speed DOUBLE, type STRING, gone BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE gone WITH (path = '{folder}/city.parquet');
CREATE TABLE neighbourhoods KEY name WITH (path = '{folder}/neighbourhoods.geojson');
REGISTER QUERY too_fast AS SELECT c.id, c.type, n.name FROM city c, neighbourhoods n
  WHERE c.location INSIDE n.region AND c.speed * 3.6 > n.limit_kmh;
"""


def write_neighbourhoods(path):
    features = []
    for row, squares in enumerate(TOWN):
        for column, (name, limit_kmh) in enumerate(squares):
            west, north = (column - 1.5) * SIDE_M, (1.5 - row) * SIDE_M
            east, south = west + SIDE_M, north - SIDE_M
            ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
            features.append(
                {
                    "type": "Feature",
                    "properties": {"name": name, "limit_kmh": limit_kmh},
                    "geometry": {"type": "Polygon", "coordinates": [ring]},
                }
            )
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def write_traffic(path):
    """A minute of a small town, as `sanderling simulate` makes it."""
    traffic = Traffic(make_city(seed=7), TrafficSettings(objects=2_000, new=5))
    pq.write_table(pa.concat_tables([traffic.step() for _ in range(60)]), path)


with tempfile.TemporaryDirectory() as folder, sanderling.connect() as session:
    write_neighbourhoods(Path(folder) / "neighbourhoods.geojson")
    write_traffic(Path(folder) / "city.parquet")
    session.execute(SCRIPT.format(folder=folder))
    session.start()
    session.process_all()  # the file has an end, so all its ticks close

    caught = session.answer("too_fast").to_pylist()
    for name, count in sorted(Counter(row["name"] for row in caught).items()):
        types = Counter(row["type"] for row in caught if row["name"] == name)
        print(f"{name:<12}{count:>4}   " + ", ".join(f"{n} {type_}" for type_, n in sorted(types.items())))
