"""The same scripts on real Spark: what comes out over a whole story is what the engine alone gives.

All stories run at once, each with streams and queries under names of its own: starting a streaming
query costs more than any of them.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plan.plans import Plan, PlannedQueries, PlannedQuery, PlannedTree
from sanderling.plan.tree import Node, TableRows, Union
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from tests.engine.direct import DirectRun
from tests.scripts.steps import read_script
from tests.scripts.stories import Story, csv_text, tell
from tests.scripts.test_scripts import SCRIPTS, script_id

FED = [path for path in SCRIPTS if any(step.kind == "feed" for step in read_script(path).steps)]


@dataclass
class Told:
    """A story with names of its own, its feeds written to files."""

    story: Story
    plan: Plan
    last: dict[str, int]


def named_apart(plan: Plan, prefix: str, queries: int, templates: int) -> Plan:
    """The same plan under other names and numbers, so that many fit into one."""
    streams = []
    for s in plan.streams:
        name = f"{prefix}/{s.stream.name}"
        own = tuple(
            replace(t, id=t.id + templates, stream=name, into=None if t.into is None else t.into + templates)
            for t in s.templates
        )
        regions = replace(
            s.regions,
            query=(s.regions.query + queries).astype(np.int32),
            template=(s.regions.template + templates).astype(np.int32),
        )
        streams.append(
            replace(s, stream=replace(s.stream, name=name, format="csv"), templates=own, regions=regions)
        )
    renamed = [
        replace(
            q,
            id=q.id + queries,
            name=f"{prefix}/{q.name}",
            stream=f"{prefix}/{q.stream}",
            template=q.template + templates,
        )
        for q in plan.queries
    ]
    trees = [tree_apart(t, prefix, queries, templates) for t in plan.trees]
    tables = [replace(t, name=f"{prefix}/{t.name}") for t in plan.tables]
    return Plan(tuple(streams), in_columns(renamed), 0, tuple(tables), tuple(trees))


def tree_apart(tree: PlannedTree, prefix: str, queries: int, templates: int) -> PlannedTree:
    template = replace(
        tree.template, id=tree.template.id + templates, stream=f"{prefix}/{tree.template.stream}"
    )
    return replace(
        tree, template=template, root=renamed_tables(tree.root, prefix), queries=tree.queries + queries,
        branches=tuple(b + templates for b in tree.branches),
        streams=tuple(f"{prefix}/{s}" for s in tree.streams),
        tables=tuple(f"{prefix}/{n}" for n in tree.tables),
    )  # fmt: skip


def renamed_tables(node: Node, prefix: str) -> Node:
    """The same tree over tables of other names."""
    if isinstance(node, TableRows):
        return replace(node, table=f"{prefix}/{node.table}")
    if isinstance(node, Union):
        return replace(node, children=tuple(renamed_tables(child, prefix) for child in node.children))
    parts = {name: getattr(node, name) for name in ("child", "left", "right") if hasattr(node, name)}
    return replace(node, **{name: renamed_tables(part, prefix) for name, part in parts.items()})


def in_columns(queries: list[PlannedQuery]) -> PlannedQueries:
    streams = tuple(dict.fromkeys(q.stream for q in queries))
    return PlannedQueries(
        pa.array([q.name for q in queries], pa.string()), streams,
        np.array([streams.index(q.stream) for q in queries], np.int32),
        np.array([q.template for q in queries], np.int32), np.array([q.begin for q in queries], np.int64),
        np.array([q.end for q in queries], np.int64), pa.array([q.sql for q in queries], pa.string()),
    )  # fmt: skip


def written(story: Story, prefix: str, plan: Plan, folder: Path) -> Told:
    """Every feed as a file, in order of name; the plan that reads them, and each stream's last time."""
    last: dict[str, int] = {}
    for number, feed in enumerate(f for f in story.feeds if f.rows):
        place = folder / prefix / feed.stream
        place.mkdir(exist_ok=True, parents=True)
        (place / f"{number:03d}.csv").write_text(csv_text(story.plan, feed))
        if feed.last is not None:
            last[feed.stream] = max(feed.last, last.get(feed.stream, feed.last))
    streams = [
        replace(s, stream=replace(s.stream, path=str(folder / s.stream.name)))
        for s in plan.streams
        if s.stream.name.removeprefix(f"{prefix}/") in last
    ]
    return Told(story, replace(plan, streams=tuple(streams)), last)


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[Path, Told], Path]:
    folder = tmp_path_factory.mktemp("stories")
    stories: dict[Path, Told] = {}
    queries: list[PlannedQuery] = []
    templates = 0
    for number, path in enumerate(FED):
        story = tell(read_script(path))
        plan = named_apart(story.plan, f"s{number}", len(queries), templates)
        stories[path] = written(story, f"s{number}", plan, folder)
        queries += plan.queries
        templates = max([templates, *(t + 1 for t in plan.templates())])
    plans = [t.plan for t in stories.values()]
    whole = Plan(
        tuple(s for p in plans for s in p.streams), in_columns(queries), 0,
        tuple(t for p in plans for t in p.tables), tuple(t for p in plans for t in p.trees),
    )  # fmt: skip
    # A few rows a slice, so that batches end in the middle of ticks.
    options = RunOptions(
        Targets(folder / "updates.jsonl", False, folder / "letters.jsonl"), "local[2]", 2, None,
        Settings(slice_bytes=60, slices_per_shard=2),
    )  # fmt: skip
    run_plan(whole, "all stories", options, spark)
    return stories, folder


@pytest.mark.parametrize("path", FED, ids=script_id)
def test_script_on_spark(path: Path, told: tuple[dict[Path, Told], Path], tmp_path: Path) -> None:
    stories, folder = told
    prefix = f"s{FED.index(path)}/"
    story, last = stories[path].story, stories[path].last
    alone = DirectRun(story.plan)
    for feed in story.feeds:
        if feed.rows:
            file = tmp_path / "feed.csv"
            file.write_text(csv_text(story.plan, feed))
            alone.feed_file(feed.stream, file)
        if feed.is_closing and feed.last is not None and feed.stream in last:
            # The input ends with its last reading: time that goes on behind it is not in the files.
            alone.close_to(feed.stream, min(feed.last, last[feed.stream]))
    for stream, time in last.items():
        alone.close_to(stream, time)
    updates = [json.loads(line) for line in (folder / "updates.jsonl").read_text().splitlines()]
    mine = [u for u in updates if u["query"].startswith(prefix)]
    order = [(u["tick"], u["query"].encode(), u["sign"]) for u in mine]
    assert order == sorted(order)
    for u in mine:
        u["query"] = u["query"].removeprefix(prefix)
    assert Counter(json.dumps(u) for u in mine) == Counter(
        json.dumps(json.loads(line)) for line in alone.updates
    )
    letters = [json.loads(line) for line in (folder / "letters.jsonl").read_text().splitlines()]
    reasons = Counter((v["reason"], v["raw"]) for v in letters if v["stream"].startswith(prefix))
    assert reasons == Counter((reason, raw) for _, reason, raw in alone.letters)
