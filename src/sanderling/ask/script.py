"""The SELECTs of a script, each asked of the catalog as it is at its place."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from sanderling.ask.answer import Past, answered
from sanderling.ask.question import Question, question_of
from sanderling.language.statements import Ask, Value
from sanderling.plan.once import OncePlanner
from sanderling.plan.planner import Planner


@dataclass(slots=True)
class Asked:
    """Takes a planner's SELECTs, and refuses at once what cannot be planned.

    Promise (tests/ask/test_script.py): what a script says behind a SELECT does not show in its answer.
    """

    planner: Planner
    found: list[tuple[OncePlanner, Question]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.planner.asked = self.take

    def take(self, ask: Ask, text: str, at: Value | None) -> None:
        known = OncePlanner(self.planner)
        question = question_of(known, ask, text, at)
        OncePlanner(known, [rows.stream for rows in question.rows]).planned(ask.query, text)
        self.found.append((known, question))

    def answers(self, past: Past) -> list[pa.Table]:
        return [answered(known, question, past) for known, question in self.found]
