"""The same scripts on real Spark: what comes out over a whole story is what the engine alone gives.

All stories run at once, each with streams and queries under names of its own: starting a streaming
query costs more than any of them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from tests.engine.direct import DirectRun
from tests.engine.own_states import KINDS
from tests.scripts.steps import read_script
from tests.scripts.stories import Story, csv_text, tell
from tests.scripts.test_scripts import SCRIPTS, script_id
from tests.spark.together import named_apart, together

FED = [path for path in SCRIPTS if any(step.kind == "feed" for step in read_script(path).steps)]


@dataclass
class Told:
    """A story with names of its own, its feeds written to files, and what came out."""

    story: Story
    plan: Plan
    last: dict[str, int]
    updates: list[dict[str, Any]] = field(default_factory=list)
    letters: list[dict[str, Any]] = field(default_factory=list)


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
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Told]:
    folder = tmp_path_factory.mktemp("stories")
    stories: dict[Path, Told] = {}
    told = [tell(read_script(path)) for path in FED]
    plans = named_apart([story.plan for story in told], "s")
    for number, (path, story, plan) in enumerate(zip(FED, told, plans, strict=True)):
        stories[path] = written(story, f"s{number}", plan, folder)
    whole = together([t.plan for t in stories.values()])
    # A few rows a slice, so that batches end in the middle of ticks.
    options = RunOptions(
        Targets(folder / "updates.jsonl", False, folder / "letters.jsonl"), "local[2]", 2, None,
        Settings(slice_bytes=60, slices_per_shard=2, are_states_checked=True), states=KINDS,
    )  # fmt: skip
    run_plan(whole, "all stories", options, spark)
    updates = by_story(folder / "updates.jsonl", "query")
    letters = by_story(folder / "letters.jsonl", "stream")
    for number, path in enumerate(FED):
        stories[path].updates, stories[path].letters = updates[f"s{number}"], letters[f"s{number}"]
    return stories


def by_story(path: Path, column: str) -> dict[str, list[dict[str, Any]]]:
    """Its lines, by the prefix of a column."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        told = json.loads(line)
        prefix, _, told[column] = told[column].partition("/")
        found[prefix].append(told)
    return found


@pytest.mark.parametrize("path", FED, ids=script_id)
def test_script_on_spark(path: Path, told: dict[Path, Told], tmp_path: Path) -> None:
    story, last, mine = told[path].story, told[path].last, told[path].updates
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
    order = [(u["tick"], u["query"].encode(), u["sign"]) for u in mine]
    assert order == sorted(order)
    assert Counter(json.dumps(u) for u in mine) == Counter(
        json.dumps(json.loads(line)) for line in alone.updates
    )
    reasons = Counter((v["reason"], v["raw"]) for v in told[path].letters)
    assert reasons == Counter((reason, raw) for _, reason, raw in alone.letters)
