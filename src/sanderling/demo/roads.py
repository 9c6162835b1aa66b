"""The roads of the city as GeoJSON, to lie beneath its objects on the map."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sanderling.simulate.globe import At, on_globe
from sanderling.simulate.network import N_CLASSES, Network

DIGITS = 6  # of degrees: a tenth of a metre


def write_roads(network: Network, at: At, path: Path) -> Path:
    """A feature a class of roads: all of them as one shape, on the globe."""
    ends = np.stack(on_globe(network.x, network.y, at), axis=1).round(DIGITS)
    features = []
    for class_ in range(N_CLASSES):
        mine = network.edge_class == class_
        lines = np.stack([ends[network.from_node[mine]], ends[network.to_node[mine]]], axis=1)
        geometry = {"type": "MultiLineString", "coordinates": lines.tolist()}
        features.append({"type": "Feature", "properties": {"class": class_}, "geometry": geometry})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path
