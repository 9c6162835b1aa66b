"""The benchmarks as pictures, for docs/benchmarks/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt

matplotlib.use("svg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
BLUE, ORANGE, GREY = "#2f6f9f", "#d9822b", "#b8c0c8"

plt.rcParams |= {
    "svg.hashsalt": "sanderling", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif",
    "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True,
}  # fmt: skip


def save(figure: Figure, name: str) -> None:
    """Without a date: the same figures give the same file."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def follow_kernel(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3))
    labels = [r["objects that moved"] for r in rows]
    for shift, key, color in ((-0.2, "kernel, seconds a tick", BLUE), (0.2, "STRtree, seconds a tick", GREY)):
        bars = axes.bar([i + shift for i in range(len(rows))], [r[key] for r in rows], 0.4, color=color)
        axes.bar_label(bars, [f"{r[key]:.3g} s" for r in rows], padding=2, fontsize=8)
    axes.set_yscale("log")
    axes.set_xticks(
        range(len(rows)),
        [f"{label}\n{r['times faster']:.0f} × faster" for label, r in zip(labels, rows, strict=True)],
    )
    axes.set_xlabel("objects, and their squares, that moved")
    axes.set_ylabel("seconds a tick")
    names = ["the kernel", "STRtree rebuilt, queried, diffed"]
    figure.legend(names, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    save(figure, "follow_kernel")


def company_kernel(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(6, 3.2))
    x = np.arange(len(rows))
    for shift, name, label, color in ((-0.2, "tree", "k-d tree", GREY), (0.2, "kernel", "company", BLUE)):
        bars = axes.bar(x + shift, [r[f"{name}, ms"] for r in rows], 0.4, label=label, color=color)
        axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.set_xticks(x, [f"{100 * r['moving']:g} % moving" for r in rows])
    axes.set_yscale("log")
    axes.set_ylabel("milliseconds a tick")
    axes.legend(frameon=False)
    save(figure, "company_kernel")


def pass_within(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 1.6))
    (row,) = rows
    names = {"k-d tree": "k-d tree over all places of the window", "ours, seconds a tick": "PASS_WITHIN"}
    bars = axes.barh(list(names.values()), [row[name] for name in names], color=[GREY, BLUE])
    axes.bar_label(bars, [f"{row[name]:.2g} s" for name in names], padding=3, fontsize=8)
    axes.set_xlabel(f"seconds of the processor a tick: {row['times faster']:.0f} × as fast")
    axes.margins(x=0.12)
    save(figure, "pass_within")


def windows(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 2.6))
    labels = [f"{r['window']}\nbeside {r['beside']}" for r in rows]
    bars = axes.barh(labels, [r["times the other"] for r in rows], color=BLUE)
    axes.bar_label(
        bars,
        [
            f"{r['times the other']:.2f} ×   {r['ms a tick']:,.0f} : {r['the other, ms']:,.0f} ms"
            for r in rows
        ],
        padding=6,
        fontsize=8,
    )
    for y, r in enumerate(rows):
        if r["at most"]:
            axes.plot([r["at most"]] * 2, [y - 0.45, y + 0.45], color=ORANGE, linewidth=2)
    axes.axvline(1, color=GREY, linewidth=0.8, zorder=0)
    axes.invert_yaxis()
    axes.set_xlim(right=1.6 * max(max(r["times the other"], r["at most"] or 0) for r in rows))
    axes.set_xlabel("times the processor time of the other way; orange: what it may be at most")
    save(figure, "windows")


def company_on_spark(rows: list[dict[str, Any]], most: float) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 1.8))
    bars = axes.barh(
        [r["pipeline"] for r in rows], [r["seconds a tick"] for r in rows], color=[GREY, GREY, BLUE]
    )
    axes.bar_label(bars, [f"{r['seconds a tick']:.2f} s" for r in rows], padding=3, fontsize=8)
    axes.axvline(most * rows[0]["seconds a tick"], color=ORANGE, linewidth=2)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(f"seconds a tick; orange: {most:g} × echo")
    save(figure, "company_on_spark")


def berlinmod(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(7, 3.4))
    labels = [r["queries"] for r in rows]
    colors = [BLUE if r["at once"] == 1 else ORANGE if r["at once"] else GREY for r in rows]
    bars = axes.barh(labels, [r["readings a second"] for r in rows], color=colors)
    axes.bar_label(bars, [f"{r['readings a second']:,.0f}" for r in rows], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.14)
    axes.set_xlabel("readings a second of processor time, on one core")
    save(figure, "berlinmod")


def growth(rows: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), width_ratios=[2.2, 1])
    labels = [r["case"].replace(", ", ",\n") for r in rows]
    bars = left.barh(labels, [r["times"] for r in rows], color=[GREY, *[BLUE] * 4, ORANGE][: len(rows)])
    left.bar_label(
        bars,
        [f"{r['times']:.2f} ×   {r['updates a tick']:,.0f} updates" for r in rows],
        padding=3,
        fontsize=8,
    )
    left.set_xlim(right=1.7 * max(r["times"] for r in rows))
    left.invert_yaxis()
    left.set_xlabel("time a tick, times that of 100,000 objects and queries")
    names = ("bytes an object", "bytes a query")
    bars = right.bar([n.removeprefix("bytes ") for n in names], [facts[n] for n in names], 0.5, color=BLUE)
    right.bar_label(bars, [f"{facts[n]:,.0f}" for n in names], padding=2)
    right.set_ylabel("bytes of memory, over two shards")
    save(figure, "growth")


def answer_size(rows: list[dict[str, Any]]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4))
    shares = [r for r in rows if r["varied"] == "share"]
    x = [100 * r["share that moved"] for r in shares]
    left.plot(x, [r["complete answer, rows"] for r in shares], "o-", color=GREY, label="complete answer")
    left.plot(
        x, [r["incremental answer, rows"] for r in shares], "o-", color=BLUE, label="incremental answer"
    )
    left.set_yscale("log")
    left.set_xlabel("objects that moved within 5 seconds, %")
    left.set_ylabel("rows, over all queries")
    left.legend(frameon=False, fontsize=8)
    sides = [r for r in rows if r["varied"] == "side"]
    for share, color in zip(sorted({r["share that moved"] for r in sides}), (BLUE, ORANGE), strict=False):
        some = [r for r in sides if r["share that moved"] == share]
        label = f"{share:.0%} of the objects moved"
        right.plot([r["side"] for r in some], [r["times"] for r in some], "o-", color=color, label=label)
    right.axhline(7, color=GREY, linestyle="--", label="PLACE: up to seven times")
    right.set_yscale("log")
    ticks = [1, 2, 3, 5, 7, 10, 20, 50]
    right.set_yticks(ticks, [f"{n} ×" for n in ticks])
    right.minorticks_off()
    right.set_ylim(1, 70)
    right.set_xlabel("side of the square, of the map's")
    right.set_ylabel("complete : incremental")
    right.legend(frameon=False, fontsize=8, loc="upper left")
    save(figure, "answer_size")


def pipeline_rows(rows: list[dict[str, Any]]) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
    lists = [k.removeprefix("INSIDE, ") for k in rows[0] if k.startswith("INSIDE, ")]
    for axes, work, number in zip(panels, ("select", "join"), (7, 8), strict=True):
        mine = [r for r in rows if r["operator"] == work]
        for region, line in (("stationary", "o-"), ("moving", "s--")):
            some = [r for r in mine if r["region"] == region]
            x = [100 * r["selectivity"] for r in some]
            if region == "stationary":
                axes.plot(x, [r["above the engine"] for r in some], color=GREY, label="above the engine")
            for told, color in zip(lists, (BLUE, ORANGE), strict=True):
                y = [r[f"INSIDE, {told}"] for r in some]
                axes.plot(x, y, line, color=color, label=f"INSIDE, {region}, {told}", markersize=4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(x, [f"{v:g} %" for v in x])
        axes.minorticks_off()
        axes.set_xlabel("of all objects are in the region")
        axes.set_title(f"with a {work} (PLACE's figure {number})", fontsize=10)
    panels[0].set_ylabel("rows a tick and query")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=8)
    save(figure, "pipeline_rows")


def push_down(rows: list[dict[str, Any]]) -> None:
    """Of the smallest and the largest share that passes WHERE."""
    wheres = sorted({r["WHERE"] for r in rows})
    cases = list(dict.fromkeys((r["judge"], r["conditions"]) for r in rows))
    figure, grid = plt.subplots(2, len(cases), figsize=(12, 5.2), sharex=True, sharey="row", squeeze=False)
    lines = (("WHERE first", GREY, "o-"), ("INSIDE first", ORANGE, "o-"), ("chosen", BLUE, "x:"))
    for line, what in zip(grid, ("rows", "ms"), strict=True):
        for axes, case in zip(line, cases, strict=True):
            for where, width in zip((wheres[0], wheres[-1]), (1, 2), strict=True):
                some = [r for r in rows if (r["judge"], r["conditions"], r["WHERE"]) == (*case, where)]
                x = [100 * r["region"] for r in some]
                for order, color, style in lines:
                    y = [r[f"{order}, {what}"] for r in some]
                    label = f"{order}, {100 * where:g} % pass WHERE"
                    axes.plot(x, y, style, color=color, linewidth=width, markersize=4 * width, label=label)
            axes.set_xscale("log")
            axes.set_yscale("log" if what == "rows" else "linear")
            axes.set_xticks(x, [f"{v:g} %" for v in x])
            axes.minorticks_off()
    for axes, (judge, count) in zip(grid[0], cases, strict=True):
        axes.set_title(f"{judge}, {count} distinct condition{'' if count == 1 else 's'}", fontsize=10)
    for axes in grid[1]:
        axes.set_xlabel("of all objects are in each region")
        axes.set_ylim(bottom=0)  # the last to be said: it holds the top as it is
    grid[0][0].set_ylabel("rows judged a tick")
    grid[1][0].set_ylabel("milliseconds a tick")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    save(figure, "push_down")


def tick_profile(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(9, 2.6))
    stages = [k for k in rows[0] if k not in ("pipeline", "a tick", "lines, beside")]
    colors = plt.get_cmap("tab20").colors  # type: ignore[attr-defined]
    for y, row in enumerate(rows):
        at = 0.0
        for color, stage in zip(colors, stages, strict=False):
            axes.barh(y, row[stage], left=at, color=color, label=stage if y == 0 else None)
            at += row[stage]
    axes.set_yticks(range(len(rows)), [r["pipeline"] for r in rows])
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds a tick")
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    save(figure, "tick_profile")


def live(latencies: dict[str, npt.NDArray[np.float64]], p50_s: float, p99_s: float) -> None:
    figure, axes = plt.subplots(figsize=(7, 3))
    for (label, found), color in zip(latencies.items(), (GREY, "#7fb2d6", ORANGE, BLUE), strict=False):
        axes.plot(np.sort(found), np.linspace(0, 100, len(found)), color=color, label=label)
    for share, bound in ((50, p50_s), (99, p99_s)):
        axes.plot([bound], [share], "x", color="black")
        axes.annotate(f"p{share} is to be {bound:g} s", (bound, share), (6, -10), textcoords="offset points")
    axes.set_xlabel("seconds from a reading's own time to its update")
    axes.set_ylabel("% of the readings")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    save(figure, "live")


def starts(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(7, 2.2))
    for y, row in enumerate(rows):
        at = 0.0
        for part, color in (("driver", BLUE), ("Java", ORANGE), ("Python", "#7fb2d6"), ("others", GREY)):
            axes.barh(y, row[part], left=at, color=color, label=part if y == 0 else None)
            at += row[part]
    axes.set_yticks(range(len(rows)), [r["start"] for r in rows])
    axes.invert_yaxis()
    axes.set_xlabel("seconds of the processor, to the first line")
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    save(figure, "starts")


def triggers(rows: list[dict[str, Any]]) -> None:
    figure, panels = plt.subplots(2, 3, figsize=(10, 5.4), sharex="col", sharey="row")
    named = {
        "verbosity, %": ("5 triggers", "alerts of each, % of the readings"),
        "triggers": ("1 % alerts each", "triggers"),
        "days": ("5 triggers, 1 % alerts", "days between two readings, at most"),
    }
    for column, (name, (title, label)) in enumerate(named.items()):
        for strategy, color in (("LOOSE", GREY), ("NoIndex", ORANGE), ("TIGHT", BLUE)):
            some = [r for r in rows if r["figure"] == name and r["strategy"] == strategy]
            x = [r["value"] for r in some]
            for line, key in enumerate(("events a second", "held, %")):
                y = [r[key] for r in some]
                panels[line, column].plot(x, y, "o-", color=color, label=strategy, markersize=5)
        for axes in panels[:, column]:
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(x, [f"{v:g}" for v in x])
            axes.grid(axis="y", color="#e6e9ec", linewidth=0.8)
            axes.set_axisbelow(True)
        panels[1, column].set_xlabel(label)
        panels[0, column].set_title(f"the paper's figure {5 + column}: {title}", fontsize=9)
    panels[0, 1].axhline(15_000, color=GREY, linestyle="--", linewidth=1)
    panels[0, 1].annotate(
        "the paper's best at 100", (1, 15_000), xycoords=("axes fraction", "data"), xytext=(0, 3),
        textcoords="offset points", ha="right", fontsize=8, color="#7a848e",
    )  # fmt: skip
    speeds = (10_000, 100_000, 1_000_000, 10_000_000)
    panels[0, 0].set_yticks(speeds, [f"{n:,}" for n in speeds])
    shares = (0.03, 0.1, 0.3, 1)
    panels[1, 0].set_yticks(shares, [f"{n:g}" for n in shares])
    for axes in panels.flat:
        axes.minorticks_off()
    panels[0, 0].set_ylabel("readings a second")
    panels[1, 0].set_ylabel("most readings held, % of all")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    save(figure, "triggers")


def patterns(counts: list[dict[str, Any]], rows: list[dict[str, Any]], times: list[dict[str, Any]]) -> None:
    figure, panels = plt.subplots(1, 4, figsize=(12, 3.2))
    sides = [r["side, miles"] for r in rows]
    stays = list(dict.fromkeys(r["persistency, s"] for r in counts))
    for stay, shade in zip(stays, np.linspace(1, 0.3, len(stays)), strict=True):
        matches = [r["matches"] for r in counts if r["persistency, s"] == stay]
        panels[0].plot(sides, matches, "o-", color=BLUE, alpha=shade, label=f"{stay} s", markersize=4)
    panels[0].set_title("figure 5: matches, by persistency", fontsize=9)
    held = [r for r in counts if r["persistency, s"] == 40] or counts[-len(sides) :]
    for position, color in ((1, BLUE), (2, ORANGE), (3, GREY)):
        most = [max(r[f"most held at {position}"], 0.5) for r in held]
        panels[1].plot(sides, most, "o-", color=color, label=f"position {position}", markersize=4)
    panels[1].set_title("figure 6: most entries held", fontsize=9)
    for way, color in (("complete", GREY), ("naive", ORANGE), ("feedback", BLUE)):
        panels[2].plot(sides, [max(r[way], 0.5) for r in rows], "o-", color=color, label=way, markersize=4)
    panels[2].set_title("figure 7: rows of steps 2 and 3", fontsize=9)
    for axes in panels[:3]:
        axes.set_xscale("log")
        axes.set_xticks(sides, [f"{v:g}" for v in sides])
        axes.minorticks_off()
        axes.set_xlabel("side of a square, miles")
        axes.legend(frameon=False, fontsize=8)
    panels[1].set_yscale("log")
    panels[2].set_yscale("log")
    some = [r for r in times if r["way"] != "first step alone"]
    bars = panels[3].bar([r["way"] for r in some], [r["steps 2, 3 and states, ms"] for r in some], color=BLUE)
    panels[3].bar_label(bars, fmt="%.2g", fontsize=8)
    panels[3].set_title("figure 8: ms a tick, steps 2, 3, states", fontsize=9)
    save(figure, "patterns")


def archive_asked(rows: list[dict[str, Any]]) -> None:
    sizes = sorted({r["readings"] for r in rows})
    figure, panels = plt.subplots(1, len(sizes), figsize=(11, 3.2), squeeze=False)
    for axes, size in zip(panels[0], sizes, strict=True):
        mine = [r for r in rows if r["readings"] == size]
        labels = [f"{r['asked']}: {r['way']}".replace(", ", ",\n") for r in mine]
        colors = [BLUE if r["way"] == "Sanderling" else GREY for r in mine]
        used = [r["processor's seconds"] for r in mine]
        bars = axes.barh(labels, used, color=colors)
        axes.bar_label(bars, [f"{seconds:.2g} s" for seconds in used], padding=3, fontsize=8)
        axes.tick_params(axis="y", labelsize=7)
        axes.set_xscale("log")
        axes.margins(x=0.3)
        axes.invert_yaxis()
        axes.set_xlabel("processor's seconds a question")
        axes.set_title(f"{size / 1e6:,.0f} million readings", fontsize=10)
    save(figure, "archive_asked")


def synchronized(rows: list[dict[str, Any]]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
    ks = [r["k"] for r in rows]
    for what, color in (("synchronisation", BLUE), ("transformation", ORANGE), ("pattern", GREY)):
        left.plot(ks, [r[f"{what}, µs a look"] for r in rows], "o-", color=color, label=what, markersize=4)
    left.set_ylim(bottom=0)
    left.set_title("figure 9: microseconds a look", fontsize=9)
    right.plot(ks, [r["told by a pattern"] for r in rows], "o-", color=BLUE, label="told", markersize=4)
    right.plot(
        ks, [r["most that wait"] for r in rows], "s--", color=GREY, label="most that wait", markersize=4
    )
    right.set_title("figure 10: restaurants in 15 minutes", fontsize=9)
    for axes in (left, right):
        axes.set_xlabel("k: how many nearest of each car")
        axes.legend(frameon=False, fontsize=8)
    save(figure, "synchronized")
