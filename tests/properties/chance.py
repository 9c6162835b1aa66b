"""Choices for what is made at random, read from one string of bytes.

Hypothesis draws the bytes and makes them small when something is found: 0 is the first choice, so what is
simple stands first. Drawn one by one, five examples of six would be another one with its parts repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
LENGTH = 600


class Chance:
    """Constants have bytes of their own: what is made again from a place on differs in nothing else.

    Promises: the same bytes give the same choices; where they end, the first is always chosen.
    """

    def __init__(self, tape: bytes, at: int = 0, constant_at: int = 0):
        half = len(tape) // 2
        self.tape, self.at = tape[:half], at
        self.constants, self.constant_at = tape[half:], constant_at
        self.whole = tape

    def __repr__(self) -> str:
        return f"Chance({self.whole.hex()[: 2 * self.at]}…)"

    def again(self, at: int) -> Chance:
        """The same choices as from a place on, but other constants."""
        return Chance(self.whole, at, self.constant_at)

    def constant(self, options: Sequence[T]) -> T:
        """A value that queries of one shape may differ in."""
        self.constant_at += 1
        at = self.constant_at - 1
        return options[self.constants[at] % len(options) if at < len(self.constants) else 0]

    def integer(self, least: int, most: int) -> int:
        return least + self._next() % (most - least + 1)

    def choice(self, options: Sequence[T]) -> T:
        return options[self._next() % len(options)]

    def flip(self) -> bool:
        return self.choice((False, True))

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """So many of them, in any order, maybe the same twice."""
        return [self.choice(options) for _ in range(self.integer(least, most))]

    def random(self) -> Random:
        """For what need not become simple."""
        return Random(self._next() * 256 + self._next())

    def _next(self) -> int:
        self.at += 1
        return self.tape[self.at - 1] if self.at <= len(self.tape) else 0


def made_of(function: Callable[[Chance], T]) -> st.SearchStrategy[T]:
    """What a function makes of chance, for Hypothesis to draw."""
    return st.binary(min_size=LENGTH, max_size=LENGTH).map(lambda tape: function(Chance(tape)))
