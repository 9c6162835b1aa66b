"""Draws docs/pictures/coverages.svg and docs/pictures/windows.svg: where a window looks, and who is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt
import shapely
import shapely.ops
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from scipy.spatial import Voronoi, cKDTree
from shapely import LineString, Point, Polygon, box

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
IN, OUT, BORDER, AREA = "#d1495b", "#9aa5b1", "#1d4ed8", "#dbeafe"
MAP = box(0, 0, 10, 10)

Places = npt.NDArray[np.float64]


def places(count: int, seed: int) -> Places:
    return np.random.default_rng(seed).uniform(0.3, 9.7, (count, 2))


def fill(axes: Axes, area: shapely.Geometry) -> None:
    """An area, as far as the picture goes; holes stay empty."""
    for part in shapely.get_parts(shapely.intersection(area, MAP)):
        rings = [part.exterior, *part.interiors]
        corners = [np.asarray(ring.coords) for ring in rings]
        codes = [[Outline.MOVETO, *[Outline.LINETO] * (len(c) - 2), Outline.CLOSEPOLY] for c in corners]
        path = Outline(np.concatenate(corners), np.concatenate(codes))
        axes.add_patch(PathPatch(path, fc=AREA, ec="none", zorder=0))


def draw(axes: Axes, line: shapely.Geometry, style: str = "-") -> None:
    for part in shapely.get_parts(line):
        axes.plot(*np.asarray(part.coords).T, style, color=BORDER, lw=1.6, zorder=1)


def dots(axes: Axes, where: Places, is_in: npt.NDArray[np.bool_]) -> None:
    axes.plot(*where[~is_in].T, "o", ms=4, mfc="white", mec=OUT, mew=1.1, zorder=2)
    axes.plot(*where[is_in].T, "o", ms=4.6, color=IN, mew=0, zorder=3)


def frame(axes: Axes, title: str, sql: str) -> None:
    axes.set(xlim=(-0.1, 10.1), ylim=(-0.1, 10.1), aspect="equal", xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_color("#cbd2d9")
    axes.set_title(title, fontsize=11, fontweight="bold", color="#1f2933", loc="left")
    axes.set_xlabel(sql, fontsize=8.5, color="#52606d", family="monospace")


def extended(line: LineString) -> LineString:
    """Its two ends go on, far beyond the picture."""
    corners = np.asarray(line.coords)
    first, last = corners[0] - corners[1], corners[-1] - corners[-2]
    ends = corners[0] + first * 1000, corners[-1] + last * 1000
    return LineString([ends[0], *corners[1:-1], ends[1]] if len(corners) > 2 else [ends[0], ends[1]])


def side_of(line: LineString, is_left: bool) -> Polygon:
    far = box(-400, -400, 410, 410)
    whole = extended(line)
    parts = shapely.get_parts(shapely.ops.split(far, whole))
    start, end = np.asarray(line.coords)[:2]
    way = end - start
    beside = Point((start + end) / 2 + np.array([-way[1], way[0]]) * (0.01 if is_left else -0.01))
    return next(part for part in parts if part.contains(beside))


# ----- coverages


def spot(axes: Axes, where: Places) -> None:
    spots = where[[4, 17, 31]]
    axes.plot(*spots.T, "s", ms=11, mfc="none", mec=BORDER, mew=1.6)
    dots(axes, where, np.isin(np.arange(len(where)), [4, 17, 31]))
    frame(axes, "spots", "SPOT (x y, x y, x y)")


def surfaces(axes: Axes, where: Places) -> None:
    shapes = [
        box(0.8, 0.9, 4.2, 3.2), Point(7.3, 2.6).buffer(1.9),
        Polygon([(1, 5), (4.4, 4.6), (6, 7.3), (3.6, 9.3), (1.3, 8.2)], [[(2.4, 6), (4, 6.2), (3.3, 7.8)]]),
    ]  # fmt: skip
    area = shapely.union_all(shapes)
    fill(axes, area)
    draw(axes, shapely.union_all([s.boundary for s in shapes]))
    dots(axes, where, shapely.intersects_xy(area, *where.T))
    frame(axes, "surfaces", "RECT · CIRCLE · POLYGON, also with holes")


def border(axes: Axes, where: Places) -> None:
    river = LineString([(0.5, 1.5), (4.2, 3.6), (4.9, 6.6), (9, 8.4)])
    area = side_of(river, is_left=True)
    fill(axes, area)
    draw(axes, shapely.intersection(extended(river), MAP), "--")
    draw(axes, river)
    axes.annotate("", (9, 8.4), (8.2, 8.05), arrowprops={"arrowstyle": "->", "color": BORDER, "lw": 1.8})
    dots(axes, where, shapely.intersects_xy(area, *where.T))
    frame(axes, "a side of a line", "LEFT OF LINE (x y, x y, x y, x y)")


def band(axes: Axes, where: Places) -> None:
    lines = LineString([(1, 2), (9, 4)]), LineString([(1, 2), (6, 9)])
    area = shapely.intersection(side_of(lines[0], is_left=True), side_of(lines[1], is_left=False))
    fill(axes, area)
    for line in lines:
        draw(axes, shapely.intersection(extended(line), MAP), "--")
        draw(axes, line)
    dots(axes, where, shapely.intersects_xy(area, *where.T))
    frame(axes, "a band", "BAND (LINE (…), LINE (…))")


def corridor(axes: Axes, where: Places) -> None:
    road = LineString([(0.8, 7.6), (4, 8.2), (6.1, 4.4), (9.2, 2.2)])
    area = road.buffer(1.1)
    fill(axes, area)
    draw(axes, road)
    dots(axes, where, shapely.intersects_xy(area, *where.T))
    frame(axes, "a corridor", "ON LINE (x y, …) WITHIN 100")


def exterior(axes: Axes, where: Places) -> None:
    hole = Polygon([(2.2, 2.4), (7.4, 1.6), (8.3, 6.2), (4.6, 8.2), (1.9, 5.9)])
    area = shapely.difference(box(-1, -1, 11, 11), hole)
    fill(axes, area)
    draw(axes, hole.boundary)
    dots(axes, where, shapely.intersects_xy(area, *where.T))
    frame(axes, "an exterior", "EXTERIOR OF POLYGON (…)")


# ----- windows


def nearby(axes: Axes, where: Places) -> None:
    sites = np.array([(2.2, 2.4), (7.6, 2.0), (3.2, 7.6), (7.9, 7.2)])
    away, nearest = cKDTree(where).query(sites, 3)
    for site, reach in zip(sites, away[:, -1], strict=True):
        fill(axes, Point(site).buffer(reach))
        draw(axes, Point(site).buffer(reach).boundary, ":")
    axes.plot(*sites.T, "^", ms=8, color=BORDER, mew=0)
    dots(axes, where, np.isin(np.arange(len(where)), nearest))
    frame(axes, "the nearest to each place", "[NEARBY (SELECT location\nFROM Sites) ROWS 3]")


def within(axes: Axes, where: Places) -> None:
    sites, far = np.array([(2.4, 7.0), (4.4, 5.2), (7.4, 3.0)]), 2.2
    area = shapely.union_all([Point(site).buffer(far) for site in sites])
    fill(axes, area)
    draw(axes, area.boundary)
    axes.plot(*sites.T, "^", ms=8, color=BORDER, mew=0)
    dots(axes, where, cKDTree(sites).query(where)[0] <= far)
    frame(axes, "near some place", "[NEARBY (SELECT location\nFROM Sites) WITHIN 1 KM RANGE …]")


def shift(axes: Axes, where: Places) -> None:
    """An extent at four looks; those in it at the last of them."""
    for step in range(4):
        area = box(0.6 + 2.1 * step, 0.9 + 1.5 * step, 3.1 + 2.1 * step, 4.2 + 1.5 * step)
        if step == 3:
            fill(axes, area)
        draw(axes, area.boundary, "-" if step == 3 else ":")
    axes.annotate("", (6.0, 8.6), (1.8, 5.6), arrowprops={"arrowstyle": "->", "color": BORDER, "lw": 1.8})
    dots(axes, where, shapely.intersects_xy(area, *where.T))
    frame(axes, "an extent that shifts", "[EXTENT region NOW\nSHIFT BY (dx, dy, dt) FROM '…']")


def tiles(axes: Axes, where: Places) -> None:
    seeds = places(9, 12)
    mirrored = [seeds, seeds * (-1, 1), seeds * (1, -1), (20, 0) + seeds * (-1, 1), (0, 20) + seeds * (1, -1)]
    diagram = Voronoi(np.concatenate(mirrored))
    is_in = np.zeros(len(where), np.bool_)
    for number in range(len(seeds)):
        tile = Polygon(diagram.vertices[diagram.regions[diagram.point_region[number]]])
        draw(axes, tile.boundary)
        mine = np.flatnonzero(shapely.contains_xy(tile, *where.T))
        is_in[mine[-2:]] = True  # the last of them
    fill(axes, MAP)
    dots(axes, where, is_in)
    frame(axes, "the last in each tile", "[TESSELLATE BY (SELECT region\nFROM Districts) ROWS 2]")


def company(axes: Axes) -> None:
    """Trajectories in time: one stays in the other's cylinder, which twists as its object moves, and whose
    radius changes; one is out of it for a while.
    """
    time = np.linspace(0, 1, 60)
    one = np.stack([2.2 * np.sin(2.6 * time), 1.4 * np.cos(2.1 * time), 4 * time])
    radius = 1.15 - 0.45 * np.sin(np.pi * time)
    angle = np.linspace(0, 2 * np.pi, 40)
    ring = np.stack([np.cos(angle), np.sin(angle)])
    for step in range(0, 60, 6):
        around = one[:2, step, None] + radius[step] * ring
        axes.plot(*around, one[2, step], color=BORDER, lw=0.7, alpha=0.7)
    for way in np.linspace(0, 2 * np.pi, 9)[:-1]:
        edge = one[:2] + radius * np.array([[np.cos(way)], [np.sin(way)]])
        axes.plot(*edge, one[2], color=BORDER, lw=0.4, alpha=0.5)
    axes.plot(*one, color=BORDER, lw=2, label="a")
    beside = one + 0.55 * radius * np.stack([np.cos(7 * time), np.sin(7 * time), 0 * time])
    axes.plot(*beside, color=IN, lw=2, label="b stays within ε(t) of a")
    passing = np.stack([4 * time - 1.2, 1.6 - 2.2 * time, 4 * time])
    axes.plot(*passing, color=OUT, lw=2, label="c only passes")
    in_time(axes, "company", "STAY_WITHIN(a, b, ε SCALE BY …)")


def passed(axes: Axes) -> None:
    """Two trajectories that never meet; the one goes near a place where the other was before."""
    time = np.linspace(0, 1, 60)
    one = np.stack([4 * time - 2, 1.2 * np.sin(3 * time) - 0.4, 4 * time])
    other = np.stack([0.4 + 0.5 * np.sin(4 * time), 2.6 - 4.4 * time, 4 * time])
    apart = np.linalg.norm(one[:2, :, None] - other[:2, None, :], axis=0)
    first, second = np.unravel_index(np.argmin(apart), apart.shape)
    angle = np.linspace(0, 2 * np.pi, 40)
    place = one[:2, first]
    for at in (one[2, first], other[2, second]):
        axes.plot(place[0] + 0.5 * np.cos(angle), place[1] + 0.5 * np.sin(angle), at, color=BORDER, lw=0.9)
    axes.plot([place[0]] * 2, [place[1]] * 2, [one[2, first], other[2, second]], ":", color=BORDER, lw=1.2)
    axes.plot(*one, color=BORDER, lw=2, label="a")
    axes.plot(*other, color=IN, lw=2, label="b passes where a was, later")
    in_time(axes, "passing", "PASS_WITHIN(a, b, ε)")


def in_time(axes: Axes, title: str, sql: str) -> None:
    axes.set(xticks=[], yticks=[], zticks=[])
    axes.text2D(0.97, 0.45, "time ↑", transform=axes.transAxes, fontsize=9, ha="right")  # type: ignore[attr-defined]
    axes.view_init(22, -62)  # type: ignore[attr-defined]
    axes.set_box_aspect((1, 1, 1.1), zoom=1.2)  # type: ignore[call-arg, arg-type]
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    axes.set_title(title, fontsize=11, fontweight="bold", color="#1f2933", loc="left")
    style = {"fontsize": 8.5, "color": "#52606d", "family": "monospace", "ha": "center"}
    axes.text2D(0.5, -0.06, sql, transform=axes.transAxes, **style)  # type: ignore[attr-defined]


def save(figure: matplotlib.figure.Figure, name: str) -> None:
    target = PICTURES / name
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    # A tenth of a point is finer than anybody sees.
    text = re.sub(r"(\d+\.\d)\d+", r"\1", target.read_text())
    target.write_text(re.sub(r" +\n", "\n", text))


COVERAGES: tuple[Callable[[Axes, Places], None], ...] = (spot, surfaces, border, band, corridor, exterior)


def main() -> None:
    matplotlib.rcParams.update({"svg.hashsalt": "windows", "svg.fonttype": "none"})
    figure, all_axes = pyplot.subplots(2, 3, figsize=(10.5, 7.6), layout="constrained")
    for number, (panel, axes) in enumerate(zip(COVERAGES, all_axes.flat, strict=True)):
        panel(axes, places(60, number + 1))
    save(figure, "coverages.svg")
    figure = pyplot.figure(figsize=(10.5, 8.0), layout="constrained")
    for number, (window, count) in enumerate(((shift, 60), (nearby, 50), (within, 60), (tiles, 60)), 1):
        window(figure.add_subplot(2, 3, number), places(count, 20 + number))
    company(figure.add_subplot(2, 3, 5, projection="3d"))
    passed(figure.add_subplot(2, 3, 6, projection="3d"))
    save(figure, "windows.svg")


if __name__ == "__main__":
    main()
