"""NN(a, b, 'k=2'): that b is among the k of its window that are nearest to a."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.language.grammar.nearest import LARGEST_K, is_count
from sanderling.plan.names.sides import RowScope, Side, Uses

FORMS = "write NN(a.location, b.location, 'k=2'), NN(a, b, 2), or 'k=1, other' to leave out a itself"
ASKED = re.compile(r"\s*k\s*=\s*(\d{1,9})\s*(,\s*other\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows of `ranked` in order of how far they are from each of `seeker`: the first k of them."""

    seeker: Side
    ranked: Side
    k: int
    is_other: bool

    @property
    def ties(self) -> list[str]:
        """Columns of who is ranked that say who comes first where distances are equal.

        No two readings of a stream have the same key and time.
        """
        relation = self.ranked.relation
        return [relation.key, relation.time] if isinstance(relation, Stream) else _names(self.ranked)

    @property
    def keys(self) -> tuple[str, str] | None:
        one, other = self.seeker.relation, self.ranked.relation
        if not self.is_other or not isinstance(one, Stream) or not isinstance(other, Stream):
            return None
        return one.key, other.key

    @property
    def words(self) -> str:
        other = ", other" if self.is_other else ""
        return f"NN({self.seeker.alias}, {self.ranked.alias}, 'k={self.k}{other}')"

    def uses(self, scope: RowScope) -> Uses:
        """The columns that it reads."""
        assert self.seeker.place and self.ranked.place
        one, other = scope.all.index(self.seeker), scope.all.index(self.ranked)
        keys = self.keys
        mine = [*self.seeker.place, *([keys[0]] if keys else [])]
        return {*((one, name) for name in mine), *((other, n) for n in (*self.ranked.place, *self.ties))}


def _names(side: Side) -> list[str]:
    return [column.name for column in side.columns]


def is_nn(node: object) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "NN"


def ranking_of(node: exp.Expr, scope: RowScope) -> Ranking:
    """What NN asks for, checked."""
    parts = node.expressions
    if len(parts) != 3:
        raise scope.refuse(node, "query.wrong_argument_count", "NN takes two and how many", FORMS)
    seeker, ranked = (_side(part, scope) for part in parts[:2])
    k, is_other = _asked(parts[2], scope)
    if seeker is ranked:
        message, hint = "NN is between two of FROM", "name the stream twice: FROM cars a, cars b"
        raise scope.refuse(node, "query.unsupported", message, hint)
    found = Ranking(seeker, ranked, k, is_other)
    if is_other and found.keys is None:
        message, hint = "'other' is about the keys of streams", "name two streams, or leave it out"
        raise scope.refuse(parts[2], "query.unsupported", message, hint)
    if found.keys is not None and _kind(seeker) != _kind(ranked):
        message, hint = "keys of these two are of different types", "leave out 'other': none are equal"
        raise scope.refuse(parts[2], "query.wrong_type", message, hint)
    return found


def _kind(side: Side) -> bool:
    return isinstance(side.relation, Stream) and side.relation.key_type.is_integer


def _side(part: exp.Expr, scope: RowScope) -> Side:
    column = part.unnest()
    name = ""
    if isinstance(column, exp.Column):
        name = column.table if column.name.casefold() == "location" and column.table else column.name
    found = next((side for side in scope.all if side.alias.casefold() == name.casefold()), None)
    if found is None or found.place is None:
        message = "NN takes what has a location"
        raise scope.refuse(part, "query.wrong_type", message, "name two of FROM: NN(a, b, 'k=2')")
    if found.is_of_tables or found.is_outer:
        message = f'"{found.alias}" is a table, or right of LEFT JOIN: NN takes streams and queries of them'
        raise scope.refuse(part, "query.unsupported", message, "kNN (k, x, y) finds the nearest to a place")
    return found


def _asked(part: exp.Expr, scope: RowScope) -> tuple[int, bool]:
    """How many, and whether of others only."""
    bare = part.unnest()
    if isinstance(bare, exp.Neg):
        raise _bad_k(part, f"-{bare.this.name}", scope)
    if not isinstance(bare, exp.Literal):
        raise scope.refuse(part, "query.wrong_type", "NN needs how many, as a constant", FORMS)
    asked = ASKED.fullmatch(bare.name) if bare.is_string else None
    if bare.is_string and asked is None:
        raise scope.refuse(part, "query.bad_k", f"NN does not know '{bare.name}'", FORMS)
    text = asked[1] if asked else bare.name
    if not text.isdigit() or not is_count(int(text)):
        raise _bad_k(part, text, scope)
    return int(text), bool(asked and asked[2])


def _bad_k(part: exp.Expr, text: str, scope: RowScope) -> Exception:
    hint = f"k is a whole number from 1 to {LARGEST_K}"
    return scope.refuse(part, "query.bad_k", f"NN cannot give {text} of them", hint)
