"""EXPLAIN: the plan of one query as a tree, with what it shares and where each part runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from sanderling.figures.figures import Tally
from sanderling.plan.explain.outline import Note, Outline, drawn
from sanderling.plan.explain.shards import merged_words, parts_of
from sanderling.plan.explain.tree import TreeWords
from sanderling.plan.listing import Listing
from sanderling.plans import operator_ids
from sanderling.plans.plan import ALWAYS, Plan, PlannedQuery

FINISHED = "nothing to do, each shard finishes its own rows"
FIGURES = ("rows in", "rows out", "rows held", "seconds")


def explain_query(plan: Plan, name: str, figures: Tally | None = None) -> Listing:
    """A tree from the subscriber down to the stream; read it from the bottom up. With figures: ANALYZE."""
    names = pc.equal(plan.queries.names, name).to_numpy(zero_copy_only=False)
    query = plan.queries[int(np.flatnonzero(names)[-1])]
    outline = Outline("deliver: signed rows in order of tick", below=(_merge(plan, query, figures),))
    if figures is None:
        return Listing(f"plan of {name}", ("plan",), tuple((line,) for line, _ in drawn(outline)))
    rows = tuple((line, *_figures(part, figures)) for line, part in drawn(outline))
    return Listing(f"plan of {name}, with what was done", ("plan", *FIGURES), rows)


def _figures(part: Outline | Note | None, figures: Tally) -> tuple[str, str, str, str]:
    if part is None or not part.operators:
        return "", "", "", ""
    found = figures.of(part.operators)
    held = "" if found.held is None else f"{found.held:,}"
    return f"{found.rows_in:,}", f"{found.rows_out:,}", held, f"{found.seconds:.3f}"


def _merge(plan: Plan, query: PlannedQuery, figures: Tally | None) -> Outline:
    is_there = plan.queries.end != ALWAYS
    sharing = int((is_there & (plan.queries.template == query.template)).sum())
    shared = f"template {query.template}, shared by {sharing} {'query' if sharing == 1 else 'queries'}"
    tree = next((t for t in plan.trees if t.template.id == query.template), None)
    if tree is not None:
        outputs = [o.name for o in tree.template.outputs]
        below = TreeWords(plan, tree, query, figures).outline(tree.root, outputs)
        if tree.is_merged:
            return Outline(f"merge: {shared}", below=(below,))
        return Outline(f"merge: {FINISHED}", below=(replace(below, notes=(shared, *below.notes)),))
    template = plan.templates()[query.template]
    stream = next(s for s in plan.streams if s.stream.name == query.stream)
    merged = merged_words(stream, template, query)
    if merged is None:
        merged = FINISHED if template.is_keyed else "equal rows cancel"
    done = (operator_ids.merge(template.id),) if template.is_merged else ()
    return Outline(
        f"merge: {merged}", below=parts_of(stream, template, query, shared, figures), operators=done
    )
