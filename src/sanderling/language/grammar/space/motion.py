"""SHIFT BY, SCALE BY, FROM and UNTIL behind a coverage: how it changes by itself.

A mix-in of the dialect's parser, beside coverages.py. What cannot change like this (lines that would have to
grow, a region that would leave its object) is refused here, where its text is at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from sanderling.clock import UNITS_US, time_of
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.space.lines import LineParser, own_outline, unit_in
from sanderling.language.statements import Coverage, FollowingShape, OutlineShape, Value, focal_of
from sanderling.space.moving.drift import FOREVER, Motion
from sanderling.space.outlines.outline import middle_of, moving

SHIFT_FORM, SCALE_FORM = "SHIFT BY (dx, dy, 10 SECONDS)", "SCALE BY (0.1, 10 SECONDS)"
LONGEST_US = 1000 * 366 * UNITS_US["day"]


@dataclass(frozen=True, slots=True)
class Step:
    """One of SHIFT BY and SCALE BY: its numbers, and how long a step takes."""

    word: str
    numbers: tuple[float, ...]
    every_us: int
    first: Token
    last: Token


class MotionParser(LineParser):
    """Reads what follows a coverage; to be mixed into a sqlglot parser."""

    def _with_motion(self, coverage: Coverage) -> Coverage:
        """The coverage, as it changes by itself where that is said."""
        found: dict[str, Step] = {}
        while self._is_step():
            step = self._parse_step()
            if step.word in found:
                hint = f"keep one {step.word} BY"
                raise self.refuse("query.duplicate_clause", f"{step.word} BY stands twice", hint, step.first)
            found[step.word] = step
        return self._moving(coverage, found) if found else coverage

    def _refuse_motion(self) -> None:
        """Behind the name of a region."""
        if self._is_step():
            first, word = self._curr, self._curr.text.upper()
            hint = f"write {word} BY where the region is created: CREATE REGION … AS coverage {word} BY …"
            message = f"{word} BY stands behind a coverage, not behind a region's name"
            raise self.refuse("query.bad_motion", message, hint, first, self._next)

    def _is_step(self) -> bool:
        is_word = bool(self._curr) and self._curr.text.upper() in ("SHIFT", "SCALE")
        return is_word and bool(self._next) and self._next.text.upper() == "BY"

    def _parse_step(self) -> Step:
        first = self._curr
        word, wanted = first.text.upper(), 2 if first.text.upper() == "SHIFT" else 1
        self._advance(2)
        self._match_l_paren()
        numbers: list[float] = []
        every = None
        while every is None:
            start, value = self._curr, self._value("a number")
            if len(numbers) < wanted and self._unit_of_distance() is not None:
                hint = "leave the unit out: it is as coordinates are, on the globe degrees"
                raise self.refuse("query.bad_unit", "a shift has no unit", hint, start, self._prev)
            if self._is_unit() or len(numbers) == wanted:
                every = self._period(value, start)
                break
            numbers.append(self._finite_of(value, start))
            if not self._match(TokenType.COMMA):
                break
        if every is None or len(numbers) != wanted:
            form = SHIFT_FORM if word == "SHIFT" else SCALE_FORM
            message = f"{word} BY takes {wanted} number{'s' if wanted > 1 else ''} and how long a step takes"
            raise self.refuse("query.wrong_argument_count", message, form, first, self._prev)
        self._match_r_paren()
        return Step(word, tuple(numbers), every, first, self._prev)

    def _is_unit(self) -> bool:
        return bool(self._curr) and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN)

    def _period(self, value: Value, first: Token) -> int:
        unit = self._curr.text.lower() if self._is_unit() else ""
        scale = UNITS_US.get(unit) or UNITS_US.get(unit.removesuffix("s"))
        if scale is None or isinstance(value.value, str):
            hint = did_you_mean(unit, ["second", "minute", "hour", "day", "week"]) if unit else None
            last = self._curr if unit else self._prev
            message = "a step lasts some seconds, minutes, hours or days"
            raise self.refuse("query.bad_motion", message, hint or "write 10 SECONDS", first, last)
        self._advance()
        every = float(value.value) * scale
        if not 1 <= every <= LONGEST_US:
            message = "a step lasts longer than nothing, and up to 1000 years"
            raise self.refuse("query.bad_motion", message, "write 10 SECONDS", first, self._prev)
        return round(every)

    def _moving(self, coverage: Coverage, found: dict[str, Step]) -> Coverage:
        steps = list(found.values())
        first, last = steps[0].first, steps[-1].last
        if not self._match_text_seq("FROM"):
            message = f"{steps[0].word} BY needs FROM and a time, from which on steps are counted"
            hint = "add FROM '2024-05-01 08:00:00': without it an answer would depend on when it is asked for"
            raise self.refuse("query.missing_clause", message, hint, first, last)
        begin, until = self._time(), FOREVER
        if self._match_text_seq("UNTIL"):
            start = self._curr
            until = self._time()
            if until <= begin:
                message, hint = "it ends before it begins", "UNTIL comes after FROM"
                raise self.refuse("query.bad_motion", message, hint, start, self._prev)
        shift, scale = found.get("SHIFT"), found.get("SCALE")
        outline, focal = own_outline(coverage), focal_of(coverage)
        if outline is None:
            message = "an exterior of a region by its name does not change by itself"
            hint = "say how where the region is created"
            raise self.refuse("query.bad_motion", message, hint, first, last)
        if shift is not None and focal is not None:
            message, hint = "what follows an object does not leave it", "SCALE BY is for AROUND, too"
            raise self.refuse("query.bad_motion", message, hint, shift.first, shift.last)
        middle = (0.0, 0.0) if focal is not None else middle_of(outline)
        if scale is not None and middle is None:
            message, hint = "what goes on without end does not grow", "lines and bands take SHIFT BY"
            raise self.refuse("query.bad_motion", message, hint, scale.first, scale.last)
        dx, dy = shift.numbers if shift else (0.0, 0.0)
        motion = Motion(
            begin, until, shift.every_us if shift else 0, scale.every_us if scale else 0, dx, dy,
            scale.numbers[0] if scale else 0.0, *(middle or (0.0, 0.0)),
        )  # fmt: skip
        whole = moving(outline, motion)
        unit = unit_in(coverage)
        return OutlineShape(whole, unit) if focal is None else FollowingShape(focal, whole, unit)

    def _time(self) -> int:
        value: Value = self._value("a timestamp in quotes")
        time = time_of(value.value)
        if time is None:
            hint = "write '2008-05-23 19:00:00' (UTC), or a number of seconds since 1970"
            place = value.span.place_in(self.sql)
            raise QueryError("query.bad_time", f"this is not a time: {value.value}", hint, place)
        return time
