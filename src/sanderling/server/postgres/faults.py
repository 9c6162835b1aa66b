"""Errors as PostgreSQL has them. The one place that knows SQLSTATE."""

from __future__ import annotations

from sanderling.errors import SanderlingError
from sanderling.server.postgres.wire import fault

STATE = {
    "query.syntax": "42601", "query.unknown_statement": "42601", "query.unknown_stream": "42P01",
    "query.unknown_table": "42P01", "query.unknown_query": "42P01", "query.unknown_column": "42703",
    "query.unknown_function": "42883", "query.unknown_type": "42704", "query.name_taken": "42P07",
    "query.unsupported": "0A000", "query.wrong_type": "42804", "query.not_grouped": "42803",
    "query.too_deep": "54001", "query.too_large": "54000", "query.ambiguous_column": "42702",
    "auth.missing": "28P01", "auth.forbidden": "42501", "limit.connections": "53300",
    "limit.time": "57014", "session.no_query": "42P01", "session.timeout": "57014",
    "request.canceled": "57014", "request.bad": "08P01", "request.not_found": "42P01",
    "request.aborted": "25P02", "request.no_such": "26000",
}  # fmt: skip
OF_FAMILY = {
    "query": "42000", "data": "22000", "config": "22023", "auth": "28000", "limit": "53400", "state": "58000",
    "session": "55000", "request": "22023",
}  # fmt: skip


def state_of(code: str) -> str:
    return STATE.get(code) or OF_FAMILY.get(code.partition(".")[0], "XX000")


def fault_of(e: SanderlingError, sql: str = "", start: int = 0, is_last: bool = False) -> bytes:
    """`sql` is what was sent, of which the statement begins at `start`; `is_last`: the connection ends."""
    severity = "FATAL" if is_last else "ERROR"
    fields = {"S": severity, "V": severity, "C": state_of(e.code), "M": f"{e.code}: {e.message}"}
    if e.hint:
        fields["H"] = e.hint
    if e.place is not None:
        fields["P"] = str(start + offset_of(sql[start:], e.place.line, e.place.column) + 1)
    return fault({**fields, "R": e.code})


def offset_of(sql: str, line: int, column: int) -> int:
    """Of a place in a text, counted from 0."""
    at = 0
    for _ in range(line - 1):
        at = sql.find("\n", at) + 1
    return at + column - 1


def warning(words: str) -> bytes:
    return fault({"S": "WARNING", "V": "WARNING", "C": "01000", "M": words}, is_notice=True)
