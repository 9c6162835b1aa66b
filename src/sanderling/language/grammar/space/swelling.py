"""A distance that changes by itself: STAY_WITHIN(a, b, 100 SCALE BY (0.1, 1 MINUTE) FROM '…' UNTIL '…').

A mix-in of the dialect's parser. Words and steps are those of a coverage that grows.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp

from sanderling.language.grammar.space.motion import SCALE_FORM, MotionParser
from sanderling.language.grammar.space.units import Length
from sanderling.space.moving.drift import FOREVER


class Swelling(exp.Expression, exp.Condition):
    """A number as it is at first, and how it changes: by how much of it a step, how long a step takes, from
    when on, up to when.
    """

    arg_types: ClassVar = {
        "this": True, "growth": True, "every_us": True, "begin_us": True, "until_us": True,
    }  # fmt: skip


class SwellingParser(MotionParser):
    """Reads what follows a number; to be mixed into a sqlglot parser."""

    def _parse_type(self, *args: Any, **named: Any) -> Any:
        found = super()._parse_type(*args, **named)  # type: ignore[misc]
        is_number = isinstance(found, Length) or (isinstance(found, exp.Literal) and not found.is_string)
        if not is_number or not self._is_step() or self._curr.text.upper() != "SCALE":
            return found
        step = self._parse_step()
        if not self._match_text_seq("FROM"):
            message = "SCALE BY needs FROM and a time, from which on steps are counted"
            hint = f"write 100 {SCALE_FORM} FROM '2024-05-01 08:00:00'"
            raise self.refuse("query.missing_clause", message, hint, step.first, step.last)
        begin, until = self._time(), FOREVER
        if self._match_text_seq("UNTIL"):
            start = self._curr
            until = self._time()
            if until <= begin:
                message, hint = "it ends before it begins", "UNTIL comes after FROM"
                raise self.refuse("query.bad_motion", message, hint, start, self._prev)
        (growth,) = step.numbers
        if growth > 0 and until == FOREVER:
            message, hint = (
                "it grows without end, until all are near",
                "say until when: UNTIL '…'",
            )
            raise self.refuse("query.bad_motion", message, hint, step.first, self._prev)
        swelling = Swelling(this=found, growth=growth, every_us=step.every_us, begin_us=begin, until_us=until)
        swelling.update_positions(start=step.first.start, end=self._prev.end)
        return swelling
