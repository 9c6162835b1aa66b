"""The page of the demo: it fits the terminal, whatever its size.

Sanderling's city    in it   last 5 ticks
market                  42   +1 −2   +0 −0   +3 −1   …
  SELECT id FROM city INSIDE (-300, -300, 300, 300)
"""

from __future__ import annotations

import textwrap

from rich.text import Text

from sanderling.demo.scene import TICKS_KEPT, Scene
from sanderling.plans.plan import PlannedQuery

TITLE = "Sanderling's city"
NAME_WIDTH = 20
SIZE_WIDTH = 8
TICK_WIDTH = 10
# Heads of the columns, an empty line, the foot, and the line the cursor stands on.
OTHER_LINES = 4


def page(scene: Scene, alive: int, width: int, height: int) -> Text:
    """As many lines of each query's SQL as there is room for; as many ticks as fit beside each other."""
    queries = list(scene.plan.queries)
    room = height - OTHER_LINES
    sql_lines = max(0, room // max(len(queries), 1) - 1)
    shown = queries if len(queries) <= room else queries[: max(room - 1, 0)]
    ticks = max(1, min(TICKS_KEPT, (width - NAME_WIDTH - SIZE_WIDTH) // TICK_WIDTH))
    lines = [_heads(ticks)]
    for query in shown:
        lines.append(_numbers(scene, query.name, ticks))
        lines += [Text(f"  {line}", "dim") for line in _sql(query, width - 2, sql_lines)]
    if len(shown) < len(queries):
        lines.append(Text(f"… and {len(queries) - len(shown)} more", "dim"))
    lines += [Text(), Text(foot(scene, alive))]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n").join(lines)


def foot(scene: Scene, alive: int) -> str:
    if not scene.began_at:
        return f"waiting for the first tick · {alive:,} objects alive · Ctrl-C ends"
    p50, p99 = scene.latency_s()
    return (
        f"{scene.readings_a_second():,.0f} readings/s · latency p50 {p50:.1f} s, p99 {p99:.1f} s · "
        f"{alive:,} alive · Ctrl-C ends"
    )


def _heads(ticks: int) -> Text:
    said = "last tick" if ticks == 1 else f"last {ticks} ticks"
    heads = Text(f"{TITLE:<{NAME_WIDTH}}", "bold")
    return heads.append(f"{'in it':>{SIZE_WIDTH}}   {said}", "not bold dim")


def _numbers(scene: Scene, name: str, ticks: int) -> Text:
    line = Text(f"{name:<{NAME_WIDTH}}", "bold")
    if not scene.began_at:
        return line.append(f"{'…':>{SIZE_WIDTH}}", "dim")  # a 0 would say that nobody is in it
    line.append(f"{scene.held[name]:>{SIZE_WIDTH},}", "cyan")
    for changes in scene.recent[-ticks:]:
        came, went = changes[name, 1], changes[name, -1]
        lost = "   " if name in scene.triggers else f" −{went}"  # an alert is never taken back
        line.append(" " * (TICK_WIDTH - len(f"+{came}{lost}")))
        line.append(f"+{came}", "green" if came else "dim").append(lost, "red" if went else "dim")
    return line


def _sql(query: PlannedQuery, width: int, lines: int) -> list[str]:
    if not lines:
        return []
    text = " ".join(query.sql.split())
    return textwrap.wrap(text, max(width, 10), max_lines=lines, placeholder=" …")
