"""What a client has prepared, and what it has bound: statements and portals, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from sanderling.errors import ServerError
from sanderling.server.postgres import wire
from sanderling.server.postgres.parameters import constant
from sanderling.server.postgres.pieces import Piece
from sanderling.server.postgres.translate import Question
from sanderling.server.postgres.types import KNOWN, STRING, UNKNOWN, oid_of

# Of one connection: a client that forgets to close them gets no further.
MOST_NAMES = 1_000


@dataclass(slots=True)
class Prepared:
    piece: Piece
    question: Question | None  # of a SELECT
    oids: list[int]

    @property
    def parameters(self) -> list[int]:
        """Their types; a text where the client did not say."""
        count = max(len(self.oids), self.question.parameters if self.question else 0)
        said = [*self.oids, *[0] * (count - len(self.oids))]
        return [STRING if oid in UNKNOWN else oid for oid in said]


@dataclass(slots=True)
class Portal:
    prepared: Prepared
    parameters: Sequence[exp.Expr]
    forms: list[int]
    rows: pa.Table | None = None  # if it has been asked
    at: int = 0  # rows that were sent
    is_done: bool = False

    def forms_of(self, count: int) -> list[int]:
        return forms_of(self.forms, count)


@dataclass(slots=True)
class Names:
    prepared: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)

    def prepare(self, name: str, prepared: Prepared) -> None:
        _refuse_too_many(self.prepared, name)
        self.prepared[name] = prepared

    def bind(self, fields: wire.Fields) -> None:
        """A portal of a statement, with its parameters."""
        name, prepared = fields.text(), self.statement(fields.text())
        forms = fields.many16()
        values = [fields.value() for _ in range(fields.int16())]
        if len(forms) > 1 and len(forms) != len(values):
            raise wire.bad("parameters without a form")
        oids = [*prepared.oids, *[0] * (len(values) - len(prepared.oids))]
        parameters = [
            constant(value, oid, form)
            for value, oid, form in zip(values, oids, forms_of(forms, len(values)), strict=False)
        ]
        _refuse_too_many(self.portals, name)
        self.portals[name] = Portal(prepared, parameters, fields.many16())

    def statement(self, name: str) -> Prepared:
        if name not in self.prepared:
            raise ServerError("request.no_such", f'no statement is prepared as "{name[:60]}"')
        return self.prepared[name]

    def portal(self, name: str) -> Portal:
        if name not in self.portals:
            raise ServerError("request.no_such", f'nothing is bound as "{name[:60]}"')
        return self.portals[name]

    def close(self, kind: bytes, name: str) -> None:
        (self.prepared if kind == b"S" else self.portals).pop(name, None)


def _refuse_too_many(names: dict[str, Prepared] | dict[str, Portal], name: str) -> None:
    if len(names) >= MOST_NAMES and name not in names:
        raise ServerError("limit.statements", f"at most {MOST_NAMES:,} names at a time", "close some of them")


def forms_of(forms: Sequence[int], count: int) -> list[int]:
    """None is text for all, one is for all."""
    if len(forms) > 1 and len(forms) != count:
        raise wire.bad(f"{len(forms)} forms for {count} columns")
    return list(forms) if len(forms) == count else [forms[0] if forms else wire.TEXT] * count


def described(schema: pa.Schema, forms: Sequence[int]) -> bytes:
    oids = [oid_of(type_) for type_ in schema.types]
    sizes = [KNOWN[oid][1] for oid in oids]
    return wire.columns(schema.names, oids, sizes, forms_of(forms, len(oids)))
