"""Draws docs/pictures/city.svg: the town of the default seed, and some of its objects."""

from __future__ import annotations

import re
from pathlib import Path as File

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sanderling.simulate.city import make_city
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import KINDS, Traffic

TARGET = File(__file__).resolve().parents[1] / "docs" / "pictures" / "city.svg"
WIDTHS = (2.6, 1.9, 1.7, 1.0, 0.7, 0.4, 0.4)
COLOURS = ("#33475b", "#4c6a88", "#4c6a88", "#8aa0b6", "#a9b8c8", "#bcc8d4", "#bcc8d4")
DOTS = {"car": "#d1495b", "truck": "#7b4b94", "bus": "#edae49", "bike": "#2a9d8f"}


def roads(network: Network, edge_class: int) -> Path:
    """All edges of a class as one path; an edge that goes on where the last one ended needs no new start."""
    mine = network.edge_class == edge_class
    a, b = network.from_node[mine], network.to_node[mine]
    is_new = np.r_[True, a[1:] != b[:-1]]
    nodes, codes = np.stack([a, b], axis=1).ravel(), np.tile([Path.MOVETO, Path.LINETO], len(a))
    is_kept = np.stack([is_new, np.ones(len(a), bool)], axis=1).ravel()
    places = np.stack([network.x[nodes], network.y[nodes]], axis=1)
    return Path(places[is_kept], codes[is_kept])


def draw() -> None:
    matplotlib.rcParams.update({"svg.hashsalt": "city", "svg.fonttype": "none", "path.simplify": False})
    city = make_city(7)
    traffic = Traffic(city, TrafficSettings(objects=500, new=0))
    seen = traffic.step().to_pandas()
    figure, axes = pyplot.subplots(figsize=(8, 8))
    for edge_class in reversed(range(7)):
        look = {"lw": WIDTHS[edge_class], "ec": COLOURS[edge_class], "capstyle": "round"}
        axes.add_patch(PathPatch(roads(city, edge_class), fill=False, joinstyle="round", **look))
    for kind in KINDS:
        some = seen[seen.type == kind]
        axes.plot(some.x, some.y, "o", ms=3, mew=0, color=DOTS[kind], label=kind)
    axes.legend(loc="lower left", frameon=False, fontsize=11)
    axes.autoscale()
    axes.set_aspect("equal")
    axes.axis("off")
    figure.savefig(TARGET, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    # A tenth of a point is finer than anybody sees.
    text = re.sub(r"(\d+\.\d)\d+", r"\1", TARGET.read_text())
    TARGET.write_text(re.sub(r" +\n", "\n", text))


if __name__ == "__main__":
    draw()
